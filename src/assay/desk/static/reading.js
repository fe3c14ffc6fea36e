// What there is to read: the question, the response, the reference answer, the source, the rules.
import { make } from "./dom.js";

const OPEN_RULES = 2;
const SOURCE = "Source";
const kinds = (blocks, role) => blocks.filter((block) => block.role === role);

function blockPart(block, body) {
  return make("div", { class: `block ${block.role}` }, make("h2", { text: block.title }), body ?? make("div", { class: "text", text: block.text }));
}

/** Everything but the source, in reading order. */
export function readingPart(blocks, markable, bar) {
  const facts = kinds(blocks, "fact");
  return [
    ...kinds(blocks, "question").map((block) => blockPart(block)),
    facts.length ? make("dl", { class: "facts" }, facts.map((fact) => make("div", {}, make("dt", { text: fact.title }), make("dd", { text: fact.text })))) : null,
    ...kinds(blocks, "response").map((block) => blockPart(block, block.markable && markable ? make("div", {}, markable, bar) : null)),
    ...kinds(blocks, "reference").map((block) => blockPart(block)),
  ];
}

/** The source, in a box of its own that scrolls; a closed one is opened by the browser's own search. */
export function sourcePart(blocks) {
  const sources = kinds(blocks, "source");
  if (!sources.length) return null;
  return make("div", { class: "sources" }, sources.map((block, index) => make("details", { open: true },
    make("summary", {}, make("h2", { id: `source-${index}`, text: block.title === SOURCE ? SOURCE : `${SOURCE}: ${block.title}` })),
    make("div", { class: "text scroll", tabIndex: 0, role: "region", "aria-labelledby": `source-${index}`, text: block.text }))));
}

const bare = (text) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();

/** Rules, those first whose title says in brackets what a fact of this task says: "Two parts (synthesis)". */
export function rulesPart(stepView, task) {
  if (!stepView.rules.length) return null;
  const facts = kinds(task.blocks, "fact").map((fact) => bare(fact.text));
  const fits = (rule) => {
    const named = bare(/\(([^()]+)\)$/.exec(rule.title)?.[1] ?? "");
    return named !== "" && facts.some((fact) => fact.startsWith(named));
  };
  const rules = [...stepView.rules.filter(fits), ...stepView.rules.filter((rule) => !fits(rule))];
  return make("section", { class: "rules", "aria-labelledby": "rules-title" }, make("h2", { id: "rules-title", text: "Rules" }),
    make("p", { class: "quiet", text: stepView.about }),
    rules.map((rule, index) => make("details", { open: index < OPEN_RULES }, make("summary", { text: rule.title }), make("p", { text: rule.text }))));
}
