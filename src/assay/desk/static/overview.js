// All passes of one rater, and what is left to do.
import { desk } from "./api.js";
import { button, make, plural } from "./dom.js";
import { allDrafts } from "./drafts.js";
import { setKeys } from "./keys.js";
import { REGISTER } from "./register.js";

const STATES = { open: "Open", waiting: "Waits", done: "Done" };

function stepCard(step, current, go) {
  // The figure beside it says the same.
  const share = make("progress", { max: Math.max(step.total, 1), value: step.done, "aria-hidden": "true" });
  const label = step.state === "done" ? "Look again" : step.done ? "Go on" : "Begin";
  const isCurrent = step.step === current;
  const act = step.state === "waiting" ? null
    : button(label, isCurrent ? "Enter" : "", () => go([step.step]), { kind: isCurrent ? "first" : "" });
  act?.setAttribute("aria-label", `${label}: ${step.title}`);
  return make("li", { class: `step ${step.state}` },
    make("div", { class: "step-head" }, make("h2", { text: step.title }), make("span", { class: "word", text: STATES[step.state] })),
    make("div", { class: "step-row" }, share, make("span", { class: "figure", text: `${step.done} of ${step.total}` })),
    step.why ? make("p", { class: "quiet", text: step.why }) : null,
    step.queued ? make("p", { class: "notice again", text: `${plural(step.queued, "task")} to look at again` }) : null,
    act);
}

/** `precedents`: whether this work has any, or may have. */
export function overviewPart(work, precedents, go) {
  const drafts = allDrafts();
  const begin = () => go([work.current]);
  setKeys(work.current ? [{ keys: ["Enter"], about: "Go on with the open pass", act: begin }] : []);
  return make("div", { class: "overview" },
    make("h1", { tabIndex: -1, text: work.title }),
    make("p", { class: "lead", text: work.about }),
    work.finished ? make("p", { class: "notice finished", text: work.finished }) : null,
    drafts.length ? make("div", { class: "notice draft" }, make("p", { text: `${plural(drafts.length, "draft")} in this browser not saved:` }),
      make("ul", {}, drafts.map((each) => make("li", {}, make("a", { href: `#/${encodeURIComponent(each.step)}/${encodeURIComponent(each.taskId)}`,
        text: `${work.steps.find((step) => step.step === each.step)?.title ?? each.step}, ${each.taskId}` }))))) : null,
    make("ol", { class: "steps" }, work.steps.map((step) => stepCard(step, work.current, go))),
    make("p", { class: "quiet" }, `You score as ${desk.session.rater}. `, precedents ? make("a", { href: `#/${REGISTER}`, text: "Precedents" }) : null));
}
