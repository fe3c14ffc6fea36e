// What opens over a task: its history, the list of all, and a conflict to be settled.
import { clock, make, openDialog, plural } from "./dom.js";
import { describe } from "./form.js";
import { allDrafts } from "./drafts.js";

/** All that was said of a task, and what brought it back. */
export function openHistory(form, task) {
  const entries = task.history.map((mark) => make("li", { class: mark.mark_id === task.mark?.mark_id ? "stands" : "" },
    make("p", { class: "quiet", text: clock(mark.time) + (mark.mark_id === task.mark?.mark_id ? ", this stands" : "") }),
    mark.withdrawn ? make("p", { text: "Taken back: nothing stood after this." }) : describe(form, mark),
    mark.case ? make("p", { class: "quiet", text: `Looked at again for ${mark.case}` }) : null));
  const again = task.queued ? make("p", { class: "notice again", text: `To look at again: ${task.queued}` }) : null;
  openDialog("What you said here", make("div", {}, again, entries.length ? make("ol", { class: "history", reversed: true }, entries.reverse())
    : make("p", { class: "empty", text: "Nothing yet. Choose a grade and press Enter." })));
}

export function openTasks(stepView, task, go) {
  const drafts = new Set(allDrafts().filter((each) => each.step === stepView.step).map((each) => each.taskId));
  const done = stepView.tasks.filter((each) => each.done).length;
  const link = (each, number) => {
    const [mark, word] = each.queued ? ["↻", "to look at again"] : drafts.has(each.task_id) ? ["✎", "not saved"] : each.done ? ["✓", "done"] : ["○", "open"];
    return make("a", { href: `#/${encodeURIComponent(stepView.step)}/${encodeURIComponent(each.task_id)}`, class: each.done ? "done" : "",
      "aria-current": each.task_id === task.task_id ? "page" : null, "aria-label": `${number}, ${word}`, on: { click: () => dialog.close() } },
    make("span", { text: String(number) }), make("span", { "aria-hidden": "true", class: "state", text: mark }));
  };
  const numbered = stepView.tasks.map((each, index) => [each, index + 1]);
  const queues = Map.groupBy ? Map.groupBy(numbered.filter(([each]) => each.queued), ([each]) => each.queued)
    : new Map([["To look at again", numbered.filter(([each]) => each.queued)]]);
  const part = (title, list) => (list.length ? make("section", {}, make("h3", { text: title }), make("div", { class: "grid" }, list.map(([each, number]) => link(each, number)))) : null);
  const dialog = openDialog(`${stepView.title}: ${done} of ${stepView.tasks.length} done`, make("div", {},
    make("p", { class: "quiet", "aria-hidden": "true", text: "✓ done, ○ open, ↻ to look at again, ✎ not saved" }),
    [...queues].map(([why, list]) => part(`${why} (${plural(list.length, "task")})`, list)), part("All", numbered)), { kind: "wide" });
  dialog.querySelector("[aria-current]")?.focus();
}

/** Two words on one task: both are shown, and the rater chooses. */
export function openConflict({ form, what, current, body, keep, mine }) {
  let settled = null;
  const side = (title, answer) => make("section", {}, make("h3", { text: title }), answer ? describe(form, answer) : make("p", { text: "Nothing stands." }));
  const choose = (act, label, kind) => make("button", { type: "button", class: kind, text: label, on: { click: () => { settled = act; dialog.close(); } } });
  const dialog = openDialog("Something else stands here now", make("div", {},
    make("p", { text: what }),
    make("div", { class: "two" }, side("What stands now", current), side("What you have", body)),
    make("div", { class: "row" }, choose(keep, "Keep what stands", ""), choose(mine, "Save mine over it", "first")),
    make("p", { class: "quiet", text: "Esc decides nothing: yours stays here as a draft, not saved." })),
  { kind: "wide", closed: () => settled?.() });
  return dialog;
}
