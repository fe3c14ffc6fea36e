// The register of precedents: what was decided once is decided the same way again.
import { askPatiently, desk } from "./api.js";
import { make, openDialog, plural } from "./dom.js";
import { logInAgain } from "./login.js";
import { newId } from "./saving.js";

export const REGISTER = "~precedents"; // its address; names of steps are letters, digits and colons

const AGAIN = [
  ["none", "None"],
  ["question", "Those on the same question"],
  ["words", "Those whose text holds these words:"],
  ["all", "All of this pass"],
];

export function registerPart(entries) {
  if (!entries.length) return make("p", { class: "empty", text: desk.work?.register_open
    ? "No precedent yet. Press e at a task to set one." : "This review keeps no precedents." });
  return make("div", { class: "precedents" }, entries.map((entry) => make("section", { class: "precedent", "aria-label": entry.case_id },
    make("h2", {}, make("span", { class: "id", text: entry.case_id }), ` ${entry.situation}`),
    make("p", {}, make("b", { text: entry.decision })), make("p", { class: "quiet", text: entry.rationale }),
    entry.to_look_at ? make("p", { class: "notice again", text: `${plural(entry.to_look_at, "response")} of yours to look at again for it.` }) : null)));
}

export function openRegisterForm(step, taskId, added) {
  const field = (name, label) => make("label", { class: "field" }, make("span", { text: label }), make("textarea", { name, rows: 3, required: true, maxlength: 10000 }));
  const words = make("input", { name: "words", "aria-label": "Words", maxlength: 200,
    on: { input: () => { form.elements.again.value = "words"; } } });
  const again = make("fieldset", {}, make("legend", { text: "Which responses, scored before, are to be looked at again?" }),
    AGAIN.map(([value, label]) => make("div", { class: "again" }, make("label", { class: "flag" }, make("input", { type: "radio", name: "again", value, checked: value === "none" }), make("span", { text: label })), value === "words" ? words : null)));
  const told = make("div", { role: "alert" });
  const tell = (texts) => told.replaceChildren(...texts.map((text) => make("p", { class: "problem", text })));
  const markId = newId(); // of this precedent: sent twice, it is set once
  const form = make("form", { on: { submit: async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    try {
      const body = { mark_id: markId, step, task_id: taskId, situation: given.situation, decision: given.decision,
        rationale: given.rationale, again: given.again, words: given.words ?? "" };
      const entry = await askPatiently("POST", "/api/register", body, { wanted: () => dialog.open, logIn: logInAgain,
        watch: (error) => tell(error ? [`Not saved: ${error.message}, trying again`] : []) });
      dialog.close();
      added(entry);
    } catch (error) {
      tell([error.message, ...(error.problems ?? [])]);
    }
  } } },
  make("p", { class: "quiet", text: "A precedent holds for every rater, from now on. Others see these words, not who wrote them." }),
  field("situation", "The situation"), field("decision", "What is decided"), field("rationale", "Why"), again, told,
  make("div", { class: "row" }, make("button", { type: "submit", class: "first", text: "Set the precedent" })));
  const dialog = openDialog("New precedent", form);
  form.querySelector("textarea").focus();
}
