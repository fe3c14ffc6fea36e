// What is not saved yet, kept in this browser: drafts, and marks on their way. Each rater of each study has
// their own, so that two people at one computer never find each other's.
import { desk } from "./api.js";

const prefix = (kind) => `desk|${kind}|${desk.session.title}|${desk.session.rater}|`;
const keyOf = (kind, step, taskId) => `${prefix(kind)}${encodeURIComponent(step)}|${encodeURIComponent(taskId)}`;

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null; // storage switched off, or not ours
  }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false; // full or switched off: the page still holds it, and still warns before it is left
  }
}

function all(kind) {
  const start = prefix(kind);
  const found = [];
  try {
    for (let index = 0; index < localStorage.length; index += 1) {
      const key = localStorage.key(index);
      if (!key.startsWith(start)) continue;
      const [step, taskId] = key.slice(start.length).split("|").map(decodeURIComponent);
      found.push({ step, taskId, value: read(key) });
    }
  } catch { /* storage switched off */ }
  return found.filter((each) => each.value !== null);
}

export const readDraft = (step, taskId) => read(keyOf("draft", step, taskId));
export const keepDraft = (step, taskId, draft) => write(keyOf("draft", step, taskId), draft);
export const dropDraft = (step, taskId) => write(keyOf("draft", step, taskId), null);
export const allDrafts = () => all("draft");
export const keepSending = (step, taskId, entry) => write(keyOf("sending", step, taskId), entry);
export const dropSending = (step, taskId) => write(keyOf("sending", step, taskId), null);
export const allSending = () => all("sending");

/** The same answer, whatever else differs. */
export function sameAnswer(one, other) {
  const bare = (each) => JSON.stringify([
    each?.choice ?? null, each?.note ?? "", [...(each?.flags ?? [])].sort(),
    (each?.spans ?? []).map((span) => [span.category, span.start, span.end, span.claim, span.note]),
  ]);
  return bare(one) === bare(other);
}
