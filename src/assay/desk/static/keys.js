// The keyboard: one table of what each key does now. A key never acts inside a text field.
import { dialogOpen, isHeld, keyName, make, openDialog } from "./dom.js";

const STORED = "desk-single-keys";
let table = [];
let general = [];

export const setKeys = (list) => { table = list; };
export const setGeneralKeys = (list) => { general = list; };

const switchedOff = () => {
  try { return localStorage.getItem(STORED) === "off"; } catch { return false; }
};

const isTyping = (target) => target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])") ?? false;
// Enter belongs to these themselves, and arrows to a radio button.
const takesEnter = (target) => target.matches?.("button, a, summary") ?? false;

/** What a step asks for comes first: its keys win over the general ones. Between two screens it takes none. */
const acting = () => [...(isHeld() ? [] : table), ...general];

function find(event) {
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return acting().find((each) => each.keys.some((key) => key.toLowerCase() === pressed.toLowerCase()));
}

function onKey(event) {
  if (event.defaultPrevented || event.isComposing || dialogOpen()) return;
  // A key that is held down acts once: the next screen may come under it.
  if (event.repeat && !event.key.startsWith("Arrow")) return;
  const target = event.target;
  if (isTyping(target)) {
    const saves = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (saves) press(acting().find((each) => each.keys.includes("Enter")), event);
    // Not merely blurred: who cannot see the page has to be somewhere on it.
    else if (event.key === "Escape") target.closest("[tabindex='-1']")?.focus({ preventScroll: true });
    return;
  }
  if (event.metaKey || event.altKey || (event.ctrlKey && event.key !== "Enter")) return;
  if (event.key === "Enter" && !event.ctrlKey && takesEnter(target)) return;
  if (event.key.startsWith("Arrow") && target.matches?.("[type=radio], .scroll")) return;
  if (event.key.length === 1 && event.key !== "?" && switchedOff()) return;
  press(find(event), event);
}

function press(found, event) {
  if (!found) return;
  event.preventDefault();
  found.act();
}

document.addEventListener("keydown", onKey);

/** All keys, and a switch: who speaks to the computer, or has an unsteady hand, does better without single keys. */
export function showKeys() {
  const rows = [...table, ...general].filter((each, at, list) => list.findIndex((other) => other.about === each.about) === at)
    .map((each) => make("tr", {}, make("th", { scope: "row" }, each.keys.map((key) => make("kbd", { text: keyName(key) }))), make("td", { text: each.about })));
  const box = make("input", { type: "checkbox", checked: !switchedOff(), on: { change: () => {
    try { localStorage.setItem(STORED, box.checked ? "on" : "off"); } catch { /* lasts as long as the page */ }
  } } });
  openDialog("Keys", make("div", {},
    make("table", { class: "keys" }, make("tbody", {}, rows)),
    make("p", { class: "quiet", text: "Inside a text field only Ctrl+Enter (save) and Esc (leave the field) act." }),
    make("label", { class: "flag" }, box, make("span", { text: "Single keys act" }))));
}
