// What a step asks for: a grade, flags, claims and a note, and what the server said against them.
import { make, say } from "./dom.js";

const BY_ITSELF = true; // the browser says what was done to a radio button or a box

export const emptyValues = () => ({ choice: null, note: "", spans: [], flags: [] });
export const valuesOf = (mark) => (mark && !mark.withdrawn
  ? { choice: mark.choice, note: mark.note, spans: mark.spans.map((span) => ({ ...span })), flags: [...mark.flags] } : emptyValues());

export class AnswerForm {
  constructor(form, values, claims, changed) {
    Object.assign(this, { form, values, claims, changed });
    this.top = make("div", { class: "problems", role: "alert" });
    this.noteProblem = make("p", { class: "problem", id: "note-problem" });
    this.needed = make("span", { class: "needed" });
    this.note = make("textarea", { id: "note", rows: 3, maxlength: 10000, value: values.note, "aria-keyshortcuts": "n",
      title: "Note (n); Ctrl+Enter saves", "aria-describedby": "note-problem", on: { input: () => { values.note = this.note.value; this.touched(); } } });
    this.radios = form.choices.map((choice, index) => make("input", { type: "radio", name: "choice", value: choice.value, "aria-label": choice.label,
      "aria-describedby": choice.about ? `choice-${index}` : null, "aria-keyshortcuts": choice.key, on: { change: () => this.choose(choice.value, BY_ITSELF) } }));
    this.boxes = form.flags.map((flag) => make("input", { type: "checkbox", "aria-keyshortcuts": flag.key, on: { change: () => this.flag(flag, BY_ITSELF) } }));
    this.element = make("div", { class: "form" }, this.top, this.choicesPart(), this.flagsPart(), claims?.element, this.notePart());
    this.draw();
  }

  choicesPart() {
    if (!this.form.choices.length) return null;
    return make("fieldset", { class: "choices" }, make("legend", { text: "Grade" }), this.form.choices.map((choice, index) =>
      make("label", { class: "choice" }, this.radios[index], make("kbd", { "aria-hidden": "true", text: choice.key }),
        make("span", {}, make("b", { text: choice.label }), choice.about ? make("span", { class: "about", id: `choice-${index}`, text: choice.about }) : null))));
  }

  flagsPart() {
    if (!this.form.flags.length) return null;
    return make("div", { class: "flags" }, this.form.flags.map((flag, index) => make("label", { class: "flag" },
      this.boxes[index], make("span", { text: flag.label }), make("kbd", { "aria-hidden": "true", text: flag.key }))));
  }

  notePart() {
    return make("div", { class: "field" }, make("label", { for: "note" }, this.form.note_label, " ", this.needed, make("kbd", { "aria-hidden": "true", text: "n" })), this.note, this.noteProblem);
  }

  draw() {
    const { values, form } = this;
    this.radios.forEach((radio) => { radio.checked = radio.value === values.choice; });
    this.boxes.forEach((box, index) => { box.checked = values.flags.includes(form.flags[index].name); });
    if (this.note.value !== values.note) this.note.value = values.note;
    this.needed.textContent = values.choice !== null && form.note_needed_for.includes(values.choice) ? "needed for this grade" : "";
  }

  touched() {
    this.draw();
    this.changed();
  }

  choose(value, byItself = false) {
    const against = this.form.flags.filter((flag) => this.values.flags.includes(flag.name) && flag.forces !== null && flag.forces !== value);
    this.values.flags = this.values.flags.filter((name) => !against.some((flag) => flag.name === name));
    this.values.choice = value;
    this.sayThat([byItself ? "" : this.chosen(value), ...against.map((flag) => `${flag.label} taken off`)]);
    this.touched();
  }

  flag(flag, byItself = false) {
    const on = !this.values.flags.includes(flag.name);
    const against = on && flag.no_claims ? this.againstNone(flag) : "";
    if (against) {
      this.draw();
      this.tell(against, []);
      return;
    }
    this.clearProblems();
    this.values.flags = on ? [...this.values.flags, flag.name] : this.values.flags.filter((name) => name !== flag.name);
    const forced = on && flag.forces !== this.values.choice ? this.chosen(flag.forces) : "";
    if (forced) this.values.choice = flag.forces;
    this.sayThat([byItself ? "" : `${flag.label} ${on ? "on" : "off"}`, forced]);
    this.touched();
  }

  /** Why it cannot be said that there is no claim: some are marked, or the text was not on screen as far as its end. */
  againstNone({ label }) {
    if (this.values.spans.length) return `Claims are marked. Delete them before you choose “${label}”.`;
    return this.claims.markable.isRead() ? "" : `Not all of the text has been on screen yet. Scroll through all of it, then choose “${label}”.`;
  }

  /** A claim was marked or changed. */
  claimed() {
    const none = this.form.flags.filter((flag) => flag.no_claims && this.values.spans.length).map((flag) => flag.name);
    this.values.flags = this.values.flags.filter((name) => !none.includes(name));
    this.touched();
  }

  chosen(value) {
    const choice = this.form.choices.find((each) => each.value === value);
    return choice ? `${choice.label} chosen` : "";
  }

  sayThat(texts) {
    const told = texts.filter(Boolean);
    if (told.length) say(told.join(". "));
  }

  keys() {
    return [
      ...this.form.choices.map((choice) => ({ keys: [choice.key], about: `Grade: ${choice.label}`, act: () => this.choose(choice.value) })),
      ...this.form.categories.map((category) => ({ keys: [category.key], about: `Mark the selection: ${category.label}`, act: () => this.claims?.add(category.value) })),
      ...this.form.flags.map((flag) => ({ keys: [flag.key], about: flag.label, act: () => this.flag(flag) })),
      { keys: ["n"], about: "Write the note", act: () => this.note.focus() },
    ];
  }

  /** Shows what the server refused, each beside what it is about, in its words. */
  tell(what, problems) {
    const ofClaims = new Map();
    const ofNote = [];
    const rest = [];
    for (const problem of problems.length ? problems : [what]) {
      const about = this.claimsOf(problem);
      about.forEach((index) => ofClaims.set(index, [ofClaims.get(index), problem].filter(Boolean).join(" ")));
      if (about.length) continue;
      (/\bnote\b/i.test(problem) ? ofNote : rest).push(problem);
    }
    this.top.replaceChildren(...rest.map((text) => make("p", { class: "problem", text })));
    if (rest.length) this.top.scrollIntoView({ block: "nearest" });
    this.noteProblem.textContent = ofNote.join(" ");
    this.note.setAttribute("aria-invalid", ofNote.length ? "true" : "false");
    this.claims?.tell(ofClaims);
    const first = Math.min(...ofClaims.keys());
    // A field that gets the focus brings its own problem with it; whatever else there is has to be said.
    const unsaid = [...ofClaims].filter(([index]) => index !== first).map(([, text]) => text);
    if (ofClaims.size) this.claims.list.children[first].querySelector("textarea:last-of-type, textarea")?.focus();
    if (ofClaims.size || document.activeElement === this.note) unsaid.push(...ofNote);
    else if (ofNote.length) this.note.focus();
    this.sayThat(unsaid);
  }

  /** The claims that a problem is about: the one it numbers, or those that are not filled in. */
  claimsOf(problem) {
    if (!this.claims || !/\bclaim/i.test(problem)) return [];
    const numbered = /\bclaim (\d+)\b/i.exec(problem);
    const bare = this.values.spans.flatMap((span, index) => (span.claim.trim() && span.note.trim() ? [] : [index]));
    return numbered ? [Number(numbered[1]) - 1].filter((index) => this.values.spans[index]) : bare;
  }

  clearProblems() {
    this.top.replaceChildren();
    this.noteProblem.textContent = "";
    this.note.setAttribute("aria-invalid", "false");
    this.claims?.tell(new Map());
  }

  /** The flag that says that there is no claim, where it is on. */
  none() {
    return this.form.flags.find((flag) => flag.no_claims && this.values.flags.includes(flag.name));
  }

  saveWords() {
    if (!this.claims) return "Save and go on";
    const count = this.values.spans.length;
    if (count) return `Save ${count === 1 ? "1 claim" : `${count} claims`}, go on`;
    return this.none() ? "Save: none found" : "Save and go on";
  }
}

/** A mark in words, for the history and for a conflict. */
export function describe(form, answer) {
  const choice = form.choices.find((each) => each.value === answer.choice);
  const lines = [];
  if (form.choices.length) lines.push(make("p", {}, make("b", { text: choice ? `${choice.key} ${choice.label}` : answer.choice ?? "No grade" })));
  for (const name of answer.flags ?? []) lines.push(make("p", { text: form.flags.find((flag) => flag.name === name)?.label ?? name }));
  if (form.categories.length) {
    const spans = answer.spans ?? [];
    if (!spans.length && !answer.flags?.length) lines.push(make("p", {}, make("b", { text: "No claim" })));
    lines.push(make("ul", { class: "told-claims" }, spans.map((span) => make("li", {},
      make("b", { text: form.categories.find((each) => each.value === span.category)?.label ?? span.category }), ` “${span.claim}” `, make("span", { class: "quiet", text: span.note })))));
  }
  lines.push(answer.note ? make("p", { text: answer.note }) : make("p", { class: "quiet", text: "No note" }));
  return lines;
}

