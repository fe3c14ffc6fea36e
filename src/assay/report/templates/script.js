"use strict";
// Everything that comes from data enters the page as text nodes and attributes of our own choosing:
// no string is ever parsed as HTML.
(() => {
  const PAGE = 50;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const [ID, TEXT, TAGS, EXPECTS, EXPECTED, RETURNED, FAULTS, SCORES, TOOK, ENOUGH] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const SCORED = data.statuses.indexOf("scored");
  const MISSING = data.statuses.indexOf("missing");
  const UNASKED = data.statuses.indexOf("not_applicable");

  const make = (tag, props = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  const figure = (value) => {
    if (value === null) return "n/a";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 1e-4) return value.toExponential(2);
    return size < 999.5 ? value.toPrecision(3) : value.toFixed(0);
  };
  const signed = (value) => (value > 0 ? "+" : "") + figure(value);
  const words = (status) => data.statuses[status].replaceAll("_", " ");

  document.querySelectorAll("[data-scripted]").forEach((element) => { element.hidden = false; });

  const slicePicker = $("slice-measure");
  if (slicePicker) {
    const panels = document.querySelectorAll(".slice");
    const pick = () => panels.forEach((panel, index) => { panel.hidden = index !== Number(slicePicker.value); });
    slicePicker.addEventListener("change", pick);
    pick();
  }
  if (!data.items.length) return;

  // ------------------------------------------------------------------------------- state
  const controls = { text: $("f-text"), measure: $("f-measure"), arm: $("f-arm"), status: $("f-status"), tag: $("f-tag"), change: $("f-change") };
  const compared = data.partner.findIndex((partner) => partner >= 0);
  let order = compared >= 0 ? { key: "change", down: false } : { key: "item", down: false };
  let matching = [];
  let shown = PAGE;
  const opened = new Set();

  const options = (select, entries) => select.append(...entries.map(([value, label]) => make("option", { value }, label)));
  options(controls.measure, data.measures.map(([name, , unit], index) => [index, unit ? `${name} (${unit})` : name]));
  options(controls.arm, [["", "any"], ...data.arms.map((arm, index) => [index, arm])]);
  options(controls.status, [["", "any"], ...data.statuses.map((_, index) => [index, words(index)])]);
  const values = new Map();
  for (const item of data.items)
    for (const [tag, tagged] of Object.entries(item[TAGS])) {
      if (!values.has(tag)) values.set(tag, new Set());
      tagged.forEach((value) => values.get(tag).add(value));
    }
  options(controls.tag, [["", "any"]]);
  const tagChoices = [];
  for (const [tag, found] of values) {
    const group = make("optgroup", { label: tag });
    [...found].sort().forEach((value) => {
      group.append(make("option", { value: tagChoices.length }, value));
      tagChoices.push([tag, value]);
    });
    controls.tag.append(group);
  }

  // A value that says nothing by itself, or that several tags have, stands with its tag.
  const plainTag = (tag, value) => !/^(yes|no|true|false|none|[\d.]+)$/i.test(value) && ![...values].some(([other, found]) => other !== tag && found.has(value));
  const tagsOf = (item) => Object.entries(item[TAGS]).flatMap(([tag, tagged]) => tagged.map((value) => (plainTag(tag, value) ? value : `${tag}: ${value}`)));

  const measure = () => Number(controls.measure.value);
  const focusArm = () => (controls.arm.value !== "" && data.partner[Number(controls.arm.value)] >= 0 ? Number(controls.arm.value) : compared);
  // A bare number is a score; whatever is more than that is a pair of value and status.
  const cellOf = (item, arm, at) => { const cell = item[SCORES][arm][at]; return typeof cell === "number" ? [cell, SCORED] : cell; };
  const score = (item, arm) => cellOf(item, arm, measure());
  const counted = (cell) => (cell && (cell[1] === SCORED || cell[1] === MISSING) ? cell[0] : null);
  const change = (item) => {
    const arm = focusArm();
    if (arm < 0) return null;
    const after = counted(score(item, arm)), before = counted(score(item, data.partner[arm]));
    return after === null || before === null ? null : after - before;
  };
  const better = () => (data.measures[measure()][1] === "higher" ? 1 : -1);

  // ------------------------------------------------------------------- filtering, sorting
  const matches = (item) => {
    const text = controls.text.value.trim().toLowerCase();
    if (text && !`${item[ID]} ${item[TEXT]}`.toLowerCase().includes(text)) return false;
    if (controls.tag.value !== "") {
      const [tag, value] = tagChoices[Number(controls.tag.value)];
      if (!(item[TAGS][tag] || []).includes(value)) return false;
    }
    if (controls.status.value !== "") {
      const arms = controls.arm.value === "" ? data.arms.keys() : [Number(controls.arm.value)];
      if (![...arms].some((arm) => score(item, arm)?.[1] === Number(controls.status.value))) return false;
    }
    if (controls.change.value) {
      const gain = change(item);
      if (gain === null || Math.sign(gain * better()) !== { worse: -1, better: 1, same: 0 }[controls.change.value]) return false;
    }
    return true;
  };
  const sortKey = (index) => {
    const item = data.items[index];
    if (order.key === "item") return index;
    if (order.key === "change") { const gain = change(item); return gain === null ? null : gain * better(); }
    return counted(score(item, order.key));
  };
  const arrange = () => {
    matching = data.items.map((_, index) => index).filter((index) => matches(data.items[index]));
    const keys = new Map(matching.map((index) => [index, sortKey(index)]));
    const sign = order.down ? -1 : 1;
    matching.sort((one, other) => {
      const a = keys.get(one), b = keys.get(other);
      if (a === null || b === null) return (a === null) - (b === null) || one - other;
      return sign * (a - b) || one - other;
    });
  };

  // ----------------------------------------------------------------------------- drawing
  const columns = () => [
    ["item", "Item", ""], ["", "Tags", ""],
    ...data.arms.map((arm, index) => [index, arm, "figure"]),
    ...(focusArm() >= 0 ? [["change", `${data.arms[focusArm()]} - ${data.arms[data.partner[focusArm()]]}`, "figure"]] : []),
  ];
  const drawHead = () => {
    const held = document.activeElement?.dataset?.key;
    const cells = columns().map(([key, label, style]) => {
      const cell = make("th", { scope: "col", className: style });
      if (key === "") { cell.append(label); return cell; }
      if (key === order.key) cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      const button = make("button", { type: "button" }, typeof key === "number" ? make("span", { className: `name ${data.styles[key]}` }, label) : label);
      button.dataset.key = key;
      button.addEventListener("click", () => {
        order = { key, down: order.key === key ? !order.down : false };
        refresh();
      });
      cell.append(button);
      return cell;
    });
    $("head").replaceChildren(make("tr", {}, ...cells));
    if (held !== undefined) $("head").querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
  };
  const scoreCell = (item, arm) => {
    const cell = score(item, arm);
    if (!cell) return make("td", { className: "figure" }, "n/a");
    const plain = cell[1] === SCORED;
    const text = cell[0] === null ? words(cell[1]) : figure(cell[0]) + (plain ? "" : ` ${words(cell[1])}`);
    return make("td", { className: `figure${plain ? "" : " odd"}` }, text);
  };
  const rowOf = (index) => {
    const item = data.items[index];
    const toggle = make("button", { type: "button", className: "toggle", "aria-expanded": String(opened.has(index)) },
      make("span", { dir: "auto" }, item[TEXT].length > 160 ? `${item[TEXT].slice(0, 160)}…` : item[TEXT]), make("span", { className: "under id" }, item[ID]));
    const row = make("tr", { id: `row-${index}` }, make("th", { scope: "row", className: "question" }, toggle),
      make("td", { className: "tags" }, tagsOf(item).join(", ")),
      ...data.arms.map((_, arm) => scoreCell(item, arm)));
    if (focusArm() >= 0) {
      const gain = change(item);
      row.append(make("td", { className: "figure" }, gain === null ? "n/a" : gain === 0 ? "0" : signed(gain)));
    }
    toggle.addEventListener("click", () => {
      const open = !opened.has(index);
      toggle.setAttribute("aria-expanded", String(open));
      if (open) { opened.add(index); row.after(detailOf(index)); }
      else { opened.delete(index); row.nextElementSibling.remove(); }
    });
    return opened.has(index) ? [row, detailOf(index)] : [row];
  };
  const passage = (text, mark) => {
    const line = make("div", { className: "under", dir: "auto" });
    if (mark) line.append(text.slice(0, mark[0]), make("mark", {}, text.slice(...mark)), text.slice(mark[1]));
    else line.append(text);
    return line;
  };
  const gradeOf = (grade) => make("span", { className: grade > 0 ? "grade right" : "grade" }, grade === null ? "unjudged" : `grade ${Number(grade.toPrecision(6))}`);
  // What people said of a hit stands in the place of its grade, which is what rules say.
  const isRight = (grade, mark) => (mark ? mark === "keyword" || mark === "semantic" : grade > 0);
  const markOf = (mark) => make("span", { className: isRight(0, mark) ? "grade right" : "grade" }, mark);
  const hitOf = ([place, score, grade, needle, mark, reason, ruled], rank) => {
    const [doc, text] = data.pool[place];
    const hit = make("li", { className: isRight(grade, mark) ? "right" : "" }, `${rank + 1}. `, make("span", { className: "id" }, doc), " ",
      mark ? markOf(mark) : gradeOf(grade), make("span", { className: "quiet" }, ruled ? " a rule finds it too" : ""), make("span", { className: "quiet" }, ` score ${figure(score)}`));
    if (reason !== undefined && reason !== null) hit.append(make("div", { className: "under why" }, data.reasons[reason]));
    hit.append(passage(text, needle));
    return hit;
  };
  const armOf = (item, arm) => {
    const hits = typeof item[RETURNED][arm] === "number" ? item[RETURNED][item[RETURNED][arm]] : item[RETURNED][arm];
    const scores = data.measures.map(([name], index) => [name, cellOf(item, arm, index)]).filter(([, cell]) => cell && cell[1] !== UNASKED)
      .map(([name, cell]) => `${name} ${cell[0] === null ? words(cell[1]) : figure(cell[0])}`).join(" · ");
    const box = make("div", {}, make("h4", {}, make("span", { className: `name ${data.styles[arm]}` }, data.arms[arm])), make("div", { className: "quiet" }, scores));
    if (item[TOOK][arm]) box.append(make("div", { className: "quiet" }, item[TOOK][arm]));
    if (item[FAULTS][arm]) box.append(make("p", { className: "fault" }, item[FAULTS][arm]));
    if (hits.length) box.append(make("ol", {}, ...hits.map(hitOf)));
    else if (!item[FAULTS][arm]) box.append(make("p", { className: "quiet" }, "Nothing came back."));
    return box;
  };
  const detailOf = (index) => {
    const item = data.items[index];
    const expected = make("div", {}, make("h4", {}, "Expected"));
    if (item[EXPECTED].length) expected.append(make("ol", {}, ...item[EXPECTED].map(([place, grade]) => {
      const [doc, text] = data.pool[place];
      return make("li", { className: "right" }, make("span", { className: "id" }, doc), " ", gradeOf(grade), passage(text));
    })));
    if (item[ENOUGH]) expected.append(make("p", { className: "quiet" }, `${item[ENOUGH][0].toUpperCase()}${item[ENOUGH].slice(1)} is enough.`));
    if (item[EXPECTS]) expected.append(make("p", { className: "quiet" }, `Expects ${item[EXPECTS]}.`));
    else if (!item[EXPECTED].length) expected.append(make("p", { className: "quiet" }, "Nothing is labelled for this item."));
    const detail = make("div", { className: "detail" }, make("p", { dir: "auto" }, item[TEXT]));
    document.querySelectorAll(`template[data-item="${index}"]`).forEach((more) => detail.append(more.content.cloneNode(true)));
    detail.append(make("div", { className: "columns" }, expected, ...data.arms.map((_, arm) => armOf(item, arm))));
    return make("tr", { className: "drilldown" }, make("td", { className: "opened", colSpan: columns().length }, detail));
  };
  const drawRows = () => {
    $("rows").replaceChildren(...matching.slice(0, shown).flatMap(rowOf));
    const seen = Math.min(shown, matching.length);
    $("shown").textContent = matching.length ? `${seen} of ${matching.length} matching items, ${data.items.length} in all` : "No item matches. Clear the filters to see all.";
    $("more").hidden = seen === matching.length;
  };
  const refresh = () => { arrange(); drawHead(); drawRows(); };

  // ------------------------------------------------------------------------------ events
  const refilter = () => { shown = PAGE; refresh(); };
  $("filters").addEventListener("input", refilter);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("f-clear").addEventListener("click", () => { $("filters").reset(); refilter(); });
  $("more").addEventListener("click", () => { shown += PAGE; drawRows(); });

  const openLinked = () => {
    const linked = /^#item=(.*)$/.exec(location.hash);
    if (!linked) return;
    let wanted;
    try { wanted = decodeURIComponent(linked[1]); } catch { return; }
    const index = data.items.findIndex((item) => item[ID] === wanted);
    if (index < 0) return;
    $("filters").reset();
    opened.add(index);
    arrange();
    shown = Math.max(PAGE, matching.indexOf(index) + 1);
    drawHead();
    drawRows();
    $(`row-${index}`).scrollIntoView({ block: "start" });
    $(`row-${index}`).querySelector("button").focus({ preventScroll: true });
  };
  addEventListener("hashchange", openLinked);
  refresh();
  openLinked();
})();

// A picture that can be explored is one stop of the tab key; inside it the arrow keys go from part to part.
document.querySelectorAll(".explored").forEach((picture) => {
  const told = picture.querySelector(".spoken");
  const rows = [];
  picture.querySelectorAll(".cell").forEach((cell) => {
    const row = (rows[Number(cell.dataset.row)] ??= []);
    cell.tabIndex = -1;
    row.push(cell);
  });
  const filled = rows.filter(Boolean);
  const place = (cell) => { const box = cell.querySelector("rect").getBoundingClientRect(); return box.left + box.width / 2; };
  const tell = (cell) => { told.textContent = cell.querySelector("title").textContent; };
  const nearest = (row, cell) => row.reduce((best, other) => (Math.abs(place(other) - place(cell)) < Math.abs(place(best) - place(cell)) ? other : best));
  if (filled.length) filled[0][0].setAttribute("tabindex", "0");
  picture.addEventListener("mouseover", (event) => { const cell = event.target.closest(".cell"); if (cell) tell(cell); });
  picture.addEventListener("focusin", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    picture.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    cell.setAttribute("tabindex", "0");
    tell(cell);
  });
  picture.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    const at = filled.findIndex((row) => row.includes(cell)), beside = filled[at].indexOf(cell);
    const next = {
      ArrowLeft: () => filled[at][beside - 1], ArrowRight: () => filled[at][beside + 1],
      ArrowUp: () => filled[at - 1] && nearest(filled[at - 1], cell), ArrowDown: () => filled[at + 1] && nearest(filled[at + 1], cell),
    }[event.key]?.();
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
});
