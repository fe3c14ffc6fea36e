// Making elements. Data enters the page as text nodes and as attributes of our own choosing: no string is
// ever parsed as HTML.

const AS_PROPERTY = new Set(["value", "checked", "disabled", "hidden", "open", "tabIndex"]);

export function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") Object.entries(value).forEach(([event, act]) => element.addEventListener(event, act));
    else if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (AS_PROPERTY.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Whether a save or the next screen is awaited: then nothing can be marked or saved. */
export const isHeld = () => byId("main").inert;

const SPELLED = { ArrowLeft: "←", ArrowRight: "→", Enter: "Enter", Escape: "Esc" };
export const keyName = (key) => SPELLED[key] ?? key;

/** A button that shows its key and says it to screen readers; `about` tells more than the label, when pointed at. */
export function button(label, key, act, { kind = "", about = "", short = "" } = {}) {
  const words = [make("span", { class: short ? "long" : "", text: label })];
  if (short) words.push(make("span", { class: "short", "aria-hidden": "true", text: short }));
  if (key) words.push(make("kbd", { "aria-hidden": "true", text: keyName(key) }));
  return make("button", {
    type: "button",
    class: kind,
    title: about || null,
    "aria-label": short ? label : null,
    "aria-keyshortcuts": key || null,
    on: { click: act },
  }, words);
}

let saying;

/** Says something to screen readers; the same words twice are said twice, and of two at once the later. */
export function say(text) {
  const place = byId("said");
  place.textContent = "";
  clearTimeout(saying);
  saying = setTimeout(() => { place.textContent = text; }, 30);
}

/** A modal dialog with a heading. Esc closes it, and the focus goes back to where it was. */
export function openDialog(title, body, { kind = "", closed = null, closable = true } = {}) {
  const close = make("button", { type: "button", class: "plain", title: "Esc", "aria-keyshortcuts": "Escape", text: "Close",
    on: { click: () => dialog.close() } });
  const head = make("div", { class: "dialog-head" }, make("h2", { id: "dialog-title", text: title }), closable ? close : null);
  const dialog = make("dialog", { class: kind, "aria-labelledby": "dialog-title" }, head, body);
  dialog.addEventListener("cancel", (event) => { if (!closable) event.preventDefault(); });
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (closed) closed();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export const dialogOpen = () => document.querySelector("dialog[open]") !== null;

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export const clock = (seconds) => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
