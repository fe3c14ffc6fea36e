// Claims on spans of the response: the bar that takes a selection, and the list below it.
import { button, make, plural, say } from "./dom.js";
import { toUnits } from "./offsets.js";

const SHORT = 90;
const brief = (text) => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text);

export class Claims {
  constructor(categories, markable, values, changed) {
    Object.assign(this, { categories, markable, values, changed, selection: null, held: null, editing: null, problems: new Map() });
    this.hint = make("p", { id: "marking-hint", class: "quiet" });
    this.buttons = categories.map((each) => button(each.label, each.key, () => this.add(each.value, this.selection ?? this.held), { about: each.about }));
    // A press on the bar must not take the selection away before it is read: a finger's does, whatever is prevented.
    this.bar = make("div", { class: "categories", role: "group", "aria-label": "Mark the selection as",
      on: { pointerdown: (event) => { event.preventDefault(); this.held = this.selection; }, keydown: (event) => { if (event.key === "Escape") { this.select(null, null); markable.shown.focus(); } } } }, this.buttons);
    this.barElement = make("div", { class: "marking-bar" }, this.hint, this.bar);
    this.list = make("ol", { class: "claims" });
    this.count = make("h3", { id: "claims-title" });
    this.element = make("section", { class: "claims-part", "aria-labelledby": "claims-title" }, this.count, this.list);
    this.select(null, null);
    this.draw();
  }

  nameOf(category) {
    return this.categories.find((each) => each.value === category)?.label ?? category;
  }

  quoted(span) {
    const { text } = this.markable;
    return text.slice(toUnits(text, span.start), toUnits(text, span.end));
  }

  select(start, end) {
    this.selection = start === null ? null : [start, end];
    const chosen = this.selection ? this.markable.text.slice(start, end) : "";
    this.hint.textContent = chosen ? `Selected: “${brief(chosen)}”. Choose what it is:`
      : "Select text in the response, or press m to mark by keyboard.";
    this.barElement.classList.toggle("ready", Boolean(chosen));
    this.buttons.forEach((each) => each.setAttribute("aria-disabled", chosen ? "false" : "true"));
  }

  /** The bar gets the focus once a selection is taken by keyboard. */
  ask() {
    this.buttons[0]?.focus();
    say(`What is it? ${this.categories.map((each) => `${each.key}: ${each.label}`).join(", ")}`);
  }

  add(category, chosen = this.selection) {
    this.held = null;
    if (!chosen) {
      say("Select text first");
      return;
    }
    const [start, end] = chosen;
    const span = { category, ...this.markable.inPoints(start, end), claim: this.markable.text.slice(start, end), note: "" };
    this.markable.leave();
    getSelection().removeAllRanges();
    this.select(null, null);
    this.values.spans.push(span);
    this.edit(this.values.spans.length - 1);
    this.changed();
    say(`${this.nameOf(category)} added. What is claimed?`);
  }

  edit(index) {
    this.editing = index;
    this.draw();
    const field = this.list.children[index]?.querySelector("textarea");
    field?.focus();
    field?.select();
    field?.scrollIntoView({ block: "nearest" });
  }

  remove(index) {
    this.values.spans.splice(index, 1);
    this.problems.clear();
    this.editing = null;
    this.draw();
    this.changed();
    (this.list.children[Math.min(index, this.values.spans.length - 1)]?.querySelector("button") ?? this.markable.shown).focus();
    say("Claim deleted");
  }

  tell(problems) {
    this.problems = problems;
    if (problems.size) this.editing = Math.min(...problems.keys());
    this.draw();
  }

  draw() {
    const { spans } = this.values;
    this.count.textContent = spans.length ? plural(spans.length, "claim") : "No claim marked";
    this.markable.draw(spans, (category) => this.nameOf(category));
    this.list.replaceChildren(...spans.map((span, index) => make("li", { class: `tone${index % 4}` },
      index === this.editing ? this.fields(span, index) : this.summary(span, index), this.told(index))));
  }

  told(index) {
    const text = this.problems.get(index);
    return text ? make("p", { class: "problem", id: `claim-problem-${index}`, text }) : null;
  }

  summary(span, index) {
    return [
      make("p", { class: "claim-head" }, make("b", { text: this.nameOf(span.category) }), ` “${brief(this.quoted(span))}”`),
      span.claim !== this.quoted(span) ? make("p", { class: "claim-text", text: span.claim }) : null,
      make("p", { class: span.note ? "quiet" : "problem", text: span.note || "It has no note yet." }),
      make("div", { class: "row" },
        make("button", { type: "button", class: "plain", "aria-label": `Edit claim ${index + 1}`, text: "Edit", on: { click: () => this.edit(index) } }),
        make("button", { type: "button", class: "plain", "aria-label": `Delete claim ${index + 1}`, text: "Delete", on: { click: () => this.remove(index) } })),
    ];
  }

  fields(span, index) {
    const described = this.problems.has(index) ? `claim-problem-${index}` : null;
    const field = (name, label, rows) => make("label", { class: "field" }, make("span", { text: label }),
      make("textarea", { rows, value: span[name], maxlength: 10000, "aria-describedby": described, on: { input: (event) => {
        span[name] = event.target.value;
        this.changed();
      } } }));
    const category = make("select", { on: { change: (event) => {
      span.category = event.target.value;
      this.markable.draw(this.values.spans, (each) => this.nameOf(each));
      this.changed();
    } } }, this.categories.map((each) => make("option", { value: each.value, text: each.label })));
    category.value = span.category;
    return [
      make("p", { class: "claim-head" }, `“${brief(this.quoted(span))}”`),
      make("label", { class: "field" }, make("span", { text: "Category" }), category),
      field("claim", "What is claimed", 2), field("note", "Why the source does not support it", 2),
      make("div", { class: "row" },
        make("button", { type: "button", class: "plain", "aria-label": `Done with claim ${index + 1}`, text: "Done", on: { click: () => { this.editing = null; this.draw(); this.list.children[index].querySelector("button").focus(); } } }),
        make("button", { type: "button", class: "plain", "aria-label": `Delete claim ${index + 1}`, text: "Delete", on: { click: () => this.remove(index) } })),
    ];
  }
}
