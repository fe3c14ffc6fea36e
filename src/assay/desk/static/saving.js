// Sending marks until the server says that they are on disk, and showing where that stands.
import { Replaced, askPatiently, desk, taskPath } from "./api.js";
import { button, byId, isHeld } from "./dom.js";
import { allSending, dropDraft, dropSending, keepSending, readDraft, sameAnswer } from "./drafts.js";

const channel = "BroadcastChannel" in window ? new BroadcastChannel("desk") : null;
const under = new Map(); // "step|task" -> the entry on its way
const mine = new Set(); // the ids of marks that this page sent
let trouble = null;
let changed = false;
let refused = false;
let savedOnce = false;
let logInAgain = null;
let waiting = ""; // what for, once it is no longer a save
let focused = null;

export const setLogIn = (logIn) => { logInAgain = logIn; };
export const setChanged = (now) => { changed = now; refused = false; show(); };
export const setRefused = () => { refused = true; show(); };
export const setTrouble = (error) => { trouble = error; show(); };
export const unsaved = () => changed || under.size > 0;
export const isMine = (markId) => mine.has(markId);
export const newId = () => crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))]
  .map((byte) => byte.toString(16).padStart(2, "0")).join(""); // randomUUID is missing on plain http beyond loopback

const parts = () => [byId("main"), byId("bar")];

/** Nothing can be marked or saved from here on: a key belongs to what is on screen, not to what is on its way. */
export function hold(why = "") {
  waiting ||= why;
  if (!isHeld()) {
    focused = document.activeElement;
    if (parts().some((each) => each.contains(focused))) focused.blur(); // now: the browser does it later
    parts().forEach((each) => { each.inert = true; });
  }
  show();
}

/** The screen takes keys again; a rater who stays there is where they were. */
export function release() {
  waiting = "";
  parts().forEach((each) => { each.inert = false; });
  if (document.activeElement === document.body && focused?.isConnected) focused.focus({ preventScroll: true });
  show();
}

/** Whether a mark waits for the connection: it may still be changed, but not by a key that was meant for the next. */
const isStuck = () => trouble !== null && under.size > 0 && isHeld() && !waiting;
export const letChange = () => { if (isStuck()) release(); };
const change = button("Change it", "Escape", letChange, { kind: "plain" });

function wording() {
  const others = under.size > 1 ? ` (${under.size} waiting)` : "";
  if (trouble && under.size) return ["lost", `Not saved: ${trouble.message}, trying again${others}`];
  if (trouble) return ["lost", `No answer: ${trouble.message}, trying again`];
  if (under.size) return ["busy", `Saving…${others}`];
  if (waiting) return ["busy", waiting];
  if (changed) return ["changed", "Changed, not saved yet"];
  if (refused) return ["changed", "Not saved"];
  return savedOnce ? ["saved", "Saved"] : ["", ""];
}

export function show() {
  const place = byId("saving");
  const [kind, text] = wording();
  place.className = `saving ${kind}`;
  const told = isStuck() ? [text, change] : [text];
  if (place.textContent !== told.map((each) => each.textContent ?? each).join("")) place.replaceChildren(...told);
}

export function forgetSaved() {
  savedOnce = false;
  show();
}

/** Sends one change, the same words and the same id until it is answered. `landed` hears of it before the page says so. */
export async function send(entry, landed = () => {}) {
  const name = `${entry.step}|${entry.taskId}`;
  const key = `${desk.session.title}|${desk.session.rater}`;
  under.set(name, entry);
  mine.add(entry.body.mark_id);
  keepSending(entry.step, entry.taskId, entry);
  show();
  const wanted = () => under.get(name) === entry;
  const logIn = async () => {
    await logInAgain();
    // Somebody else has sat down: what is theirs to send is another's.
    if (`${desk.session.title}|${desk.session.rater}` !== key) { under.delete(name); throw new Error("another rater logged in"); }
  };
  try {
    const saved = await askPatiently(entry.method, `${taskPath(entry.step, entry.taskId)}/${entry.what}`, entry.body,
      { watch: setTrouble, wanted, logIn });
    if (saved.mark) mine.add(saved.mark.mark_id);
    savedOnce = true;
    settle(entry);
    channel?.postMessage({ key, step: entry.step, taskId: entry.taskId, mark: saved.mark?.mark_id ?? null });
    landed(saved);
    return saved;
  } catch (error) {
    if (error instanceof Replaced) under.delete(name); // it stays to be sent once its rater is back
    throw error;
  } finally {
    if (wanted()) {
      under.delete(name);
      dropSending(entry.step, entry.taskId);
    }
    if (!under.size) trouble = null;
    show();
  }
}

function settle(entry) {
  const draft = readDraft(entry.step, entry.taskId);
  if (draft && (entry.what === "undo" || sameAnswer(draft, entry.body))) dropDraft(entry.step, entry.taskId);
}

export const markEntry = (step, taskId, body) => ({ method: "PUT", what: "mark", step, taskId, body });
export const undoEntry = (step, taskId, base) => ({ method: "POST", what: "undo", step, taskId, body: { mark_id: newId(), base } });

/** Sends what an earlier page, closed too soon, had begun to send. What is refused stays a draft. */
export function sendLeftovers(refused) {
  for (const { step, taskId, value } of allSending())
    if (!under.has(`${step}|${taskId}`)) send(value).catch((error) => refused(step, taskId, error));
}

/** Hears of what other tabs saved. */
export function onSavedElsewhere(act) {
  channel?.addEventListener("message", ({ data }) => {
    if (desk.session && data.key === `${desk.session.title}|${desk.session.rater}`) act(data);
  });
}

addEventListener("beforeunload", (event) => {
  if (unsaved()) event.preventDefault();
});
