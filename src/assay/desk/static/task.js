// One task a screen: what is to be judged, the form beside it, and the ways to the next.
import { Refused, Unreached, ask, askPatiently, desk, stepPath, taskPath } from "./api.js";
import { byId, button, make, say } from "./dom.js";
import { Claims } from "./claims.js";
import { dropDraft, keepDraft, readDraft, sameAnswer } from "./drafts.js";
import { AnswerForm, emptyValues, valuesOf } from "./form.js";
import { setKeys } from "./keys.js";
import { readingPart, rulesPart, sourcePart } from "./reading.js";
import { openRegisterForm } from "./register.js";
import { hold, isMine, markEntry, newId, release, send, setChanged, setRefused, setTrouble, undoEntry } from "./saving.js";
import { Markable } from "./spans.js";
import { openConflict, openHistory, openTasks } from "./task_dialogs.js";

const KEEP = "Keep it as it is";
const AS_IT_IS = true;

export class TaskView {
  constructor(stepView, task, go) {
    Object.assign(this, { stepView, task, go, form: stepView.form, base: task.mark?.mark_id ?? null, over: false, touched: false });
    this.stored = task.mark ? valuesOf(task.mark) : emptyValues();
    const draft = readDraft(task.step, task.task_id);
    this.restored = Boolean(draft) && !sameAnswer(draft, this.stored);
    if (draft && !this.restored) dropDraft(task.step, task.task_id);
    if (this.restored) this.base = draft.base;
    this.values = this.restored ? { choice: draft.choice, note: draft.note, spans: draft.spans, flags: draft.flags } : valuesOf(task.mark);
    this.build();
    setChanged(this.restored);
  }

  // ------------------------------------------------------------------------------------- the screen

  build() {
    const { task, stepView } = this;
    const block = task.blocks.find((each) => each.markable);
    if (block && this.form.categories.length) {
      this.markable = new Markable(block.text, { title: block.title,
        picked: (start, end) => this.claims?.select(start, end), taken: () => this.claims.ask() });
      this.claims = new Claims(this.form.categories, this.markable, this.values, () => this.answer.claimed());
    }
    this.answer = new AnswerForm(this.form, this.values, this.claims, () => this.changed());
    this.told = make("p", { class: "told", role: "status" });
    this.element = make("div", { class: "task", "data-step": task.step, "data-task": task.task_id },
      make("div", { class: "reading" },
        make("h1", { tabIndex: -1, text: `${stepView.title}: ${task.number} of ${task.total}` }),
        this.notices(), readingPart(task.blocks, this.markable?.element, this.claims?.barElement)),
      sourcePart(task.blocks),
      make("div", { class: "beside" },
        make("section", { class: "asked", tabIndex: -1, "aria-labelledby": "asked-title" }, make("h2", { class: "unseen", id: "asked-title", text: "Your score" }),
          this.answer.element, this.told, this.sideTools()),
        rulesPart(stepView, task)));
    this.saveButton = button("Save and go on", "Enter", () => this.save(), { kind: "first" });
    this.saveWords();
    const [left, right] = [this.neighbour(-1), this.neighbour(1)];
    const previous = button("Previous", "ArrowLeft", () => this.step(-1), { short: "‹" });
    const next = button("Next", "ArrowRight", () => this.step(1), { short: "›" });
    for (const [each, there, keys] of [[previous, left, "ArrowLeft k"], [next, right, "ArrowRight j"]]) {
      each.setAttribute("aria-disabled", there ? "false" : "true");
      each.setAttribute("aria-keyshortcuts", keys);
    }
    byId("bar").replaceChildren(previous, next, button("Next open", "o", () => this.nextOpen(), { about: "The next that is not done", short: "Open" }),
      make("span", { class: "gap" }), this.saveButton);
  }

  notices() {
    const { task } = this;
    const tell = (kind, text) => make("p", { class: `notice ${kind}`, text });
    return [
      task.queued ? make("div", { class: "notice again" }, make("p", { text: `To look at again: ${task.queued}` }), this.elsewhere(),
        task.mark ? button(KEEP, "y", () => this.save(AS_IT_IS)) : null) : null,
      this.restored ? tell("draft", "This is what you had not saved. Save it, or press u to go back to what is saved.") : null,
      ...task.reminders.map((text) => tell("", text)),
    ];
  }

  /** The same task in the other passes of its round that are open: what came back may be settled there. */
  elsewhere() {
    const { step, task_id: taskId } = this.task;
    const round = (name) => name.split(":")[1];
    const others = (desk.work?.steps ?? []).filter((each) => each.step !== step && each.done && round(each.step) === round(step));
    if (!others.length) return null;
    return make("p", {}, "Open it in: ", others.flatMap((each, index) => [index ? ", " : "",
      make("a", { href: `#/${encodeURIComponent(each.step)}/${encodeURIComponent(taskId)}`, text: each.title })]));
  }

  sideTools() {
    const { task } = this;
    return make("div", { class: "row side" },
      button("Undo", "u", () => this.undo(), { kind: "plain" }),
      button("History", "h", () => openHistory(this.form, task), { kind: "plain" }),
      task.suggestion ? button("Suggestion", "s", () => this.suggest(), { kind: "plain", about: "What a rule or a model would say" }) : null,
      desk.work?.register_open ? button("New precedent", "e", () => this.precedent(), { kind: "plain" }) : null,
      button("All tasks", "l", () => openTasks(this.stepView, task, this.go), { kind: "plain" }));
  }

  keys() {
    return [
      ...this.answer.keys(),
      { keys: ["Enter"], about: "Save and go on (Ctrl+Enter inside a text field)", act: () => this.save() },
      this.task.queued && this.task.mark && { keys: ["y"], about: KEEP, act: () => this.save(AS_IT_IS) },
      { keys: ["ArrowRight", "j"], about: "Next", act: () => this.step(1) },
      { keys: ["ArrowLeft", "k"], about: "Previous", act: () => this.step(-1) },
      { keys: ["o"], about: "The next that is not done", act: () => this.nextOpen() },
      { keys: ["u"], about: "Undo", act: () => this.undo() },
      { keys: ["h"], about: "History", act: () => openHistory(this.form, this.task) },
      { keys: ["l"], about: "All tasks of this pass", act: () => openTasks(this.stepView, this.task, this.go) },
      this.task.suggestion && { keys: ["s"], about: "Show the suggestion", act: () => this.suggest() },
      this.markable && { keys: ["m"], about: "Mark text by keyboard", act: () => this.markable.enter() },
      desk.work?.register_open && { keys: ["e"], about: "New precedent", act: () => this.precedent() },
    ].filter(Boolean);
  }

  shown() {
    setKeys(this.keys());
    document.title = `${this.task.number} of ${this.task.total} · ${this.stepView.title} · ${desk.session.title}`;
    this.element.querySelector("h1").focus({ preventScroll: true });
    this.markable?.look();
  }

  close() {
    if (this.over) return;
    this.over = true;
    this.markable?.close();
    this.asking?.close(); // what it asks is of this one, and another comes: it stays a draft
    setChanged(false);
  }

  saveWords() {
    this.saveButton.querySelector("span").textContent = this.answer.saveWords();
  }

  changed() {
    this.touched = true;
    const differs = !sameAnswer(this.values, this.stored);
    if (differs) keepDraft(this.task.step, this.task.task_id, { base: this.base, ...this.values });
    else dropDraft(this.task.step, this.task.task_id);
    setChanged(differs);
    this.saveWords();
  }

  // ---------------------------------------------------------------------------------------- saving

  async save(asItIs = false) {
    if (!asItIs && !this.touched && !this.restored && this.base !== null) {
      this.unchanged();
      return;
    }
    const none = this.answer.none();
    const against = none ? this.answer.againstNone(none) : "";
    if (against) {
      this.answer.tell(against, []);
      return;
    }
    hold();
    const { step, task_id: taskId } = this.task;
    const body = { mark_id: newId(), base: this.base, ...structuredClone(this.values) };
    this.answer.clearProblems();
    // Pressed twice on the same words: the first is still on its way.
    if (this.sending && sameAnswer(this.sending, body)) return;
    this.sending = body;
    try {
      await send(markEntry(step, taskId, body), (saved) => this.took(saved, body));
    } catch (error) {
      if (this.sending !== body) return;
      this.sending = null;
      this.refused(error, body);
    }
  }

  took(saved, body) {
    if (this.sending === body) this.sending = null;
    this.note(saved);
    if (this.over) return;
    this.base = saved.mark?.mark_id ?? null;
    this.stored = saved.mark ? valuesOf(saved.mark) : emptyValues();
    if (!sameAnswer(this.values, body)) {
      this.changed(); // something was written while it was on its way: that is a draft of its own
      return;
    }
    setChanged(false);
    const next = saved.next ?? this.stepView.tasks.find((each) => each.queued && each.task_id !== this.task.task_id)?.task_id;
    if (next === this.task.task_id) {
      this.touched = false;
      release();
      this.answer.tell("Saved, but that does not settle why it came back.", []);
      return;
    }
    this.go(next ? [this.task.step, next] : []);
  }

  /** Enter by habit is not a second look: a mark that stands is kept for it by a key of its own. */
  unchanged() {
    if (this.task.queued) this.tell("Nothing is changed here. To keep it as it is, press y.");
    else this.nextOpen();
  }

  /** Keeps the list of tasks in step with what was saved. */
  note(saved) {
    const entry = this.stepView.tasks.find((each) => each.task_id === this.task.task_id);
    if (!entry) return;
    entry.done = saved.mark !== null;
    if (saved.next !== this.task.task_id) entry.queued = null;
    if (saved.step.queued !== this.stepView.tasks.filter((each) => each.queued).length) this.stepView.stale = true;
  }

  refused(error, body) {
    if (this.over || error instanceof Unreached) return;
    release();
    if (!(error instanceof Refused)) throw error;
    setRefused();
    if (error.status !== 409) {
      this.answer.tell(error.message, error.problems);
    } else if (error.current && isMine(error.current.mark_id)) {
      this.base = error.current.mark_id; // it is this page's own, sent before and answered too late
      this.save(AS_IT_IS);
    } else {
      this.conflict(error.message, error.current, body);
    }
  }

  conflict(what, current, body) {
    this.asking = openConflict({ form: this.form, what, current, body,
      keep: () => { dropDraft(this.task.step, this.task.task_id); this.go([this.task.step, this.task.task_id], true); },
      mine: () => { this.base = current?.mark_id ?? null; this.save(AS_IT_IS); } });
  }

  async undo() {
    const { step, task_id: taskId } = this.task;
    if (!sameAnswer(this.values, this.stored) || readDraft(step, taskId)) {
      dropDraft(step, taskId);
      say("Back to what is saved");
      this.go([step, taskId], true);
      return;
    }
    if (this.base === null) {
      this.tell("Nothing is saved here that could be taken back.");
      return;
    }
    hold();
    try {
      this.note(await send(undoEntry(step, taskId, this.base)));
      if (this.over) return;
      say("Taken back");
      this.go([step, taskId], true);
    } catch (error) {
      if (this.over) return;
      release();
      if (!(error instanceof Refused)) return;
      if (error.status === 409) this.conflict(error.message, error.current, this.values);
      else this.answer.tell(error.message, error.problems);
    }
  }

  // ------------------------------------------------------------------------------------ other ways

  neighbour(by) {
    const at = this.stepView.tasks.findIndex((each) => each.task_id === this.task.task_id);
    return this.stepView.tasks[at + by]?.task_id;
  }

  step(by) {
    const to = this.neighbour(by);
    if (to) this.go([this.task.step, to]);
    else this.tell(by > 0 ? `This is the last one. ${this.onwards()}` : "This is the first one.");
  }

  nextOpen() {
    const { tasks } = this.stepView;
    const at = tasks.findIndex((each) => each.task_id === this.task.task_id);
    const turned = [...tasks.slice(at + 1), ...tasks.slice(0, at)];
    const found = turned.find((each) => !each.done) ?? turned.find((each) => each.queued);
    if (found) this.go([this.task.step, found.task_id]);
    else this.tell(this.onwards());
  }

  /** What to do when there is nothing further here. */
  onwards() {
    const left = this.stepView.tasks.filter((each) => !each.done || each.queued);
    if (!left.length) return "All of this pass is done. Press g for the overview: it says what comes next.";
    return left.some((each) => each.task_id !== this.task.task_id) ? "Press o for the next that is not done." : "Only this one is left in this pass.";
  }

  /** Shows it, and thereby says it. */
  tell(text) {
    this.told.textContent = text;
    this.told.scrollIntoView({ block: "nearest" });
  }

  async suggest() {
    if (!this.task.suggestion) return;
    try {
      const { value, by, reason } = await ask("GET", `${taskPath(this.task.step, this.task.task_id)}/suggestion`);
      const choice = this.form.choices.find((each) => each.value === value);
      const word = choice ? `${choice.key} ${choice.label}` : value ?? "no grade";
      this.tell(`Suggested by ${by}: ${word}${reason ? ` (${reason.replace(/[.\s]+$/, "")})` : ""}. Only what you save counts.`);
    } catch (error) {
      this.tell(error.message);
    }
  }

  precedent() {
    openRegisterForm(this.task.step, this.task.task_id, (entry) => {
      say(`${entry.case_id} is in the register`);
      this.stepView.stale = true;
      this.go([this.task.step, this.task.task_id], true);
    });
  }
}

/** Fetches a step, unless it is the one at hand and nothing has changed it. */
export async function stepOf(step, how) {
  if (desk.view?.step !== step || desk.view.stale) desk.view = await askPatiently("GET", stepPath(step), undefined, { watch: setTrouble, ...how });
  return desk.view;
}

