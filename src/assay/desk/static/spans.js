// The response: its text with claims marked in it, and the two ways of marking one, by pointer and by keyboard.
import { make, say } from "./dom.js";
import { letters, pieces, toPoints, toUnits, trimmed, words } from "./offsets.js";

const STRIDE = 8; // words: less than two lines, even on a phone
const LOOKS = [[document, "scroll"], [window, "resize"]];

export class Markable {
  /** `picked(start, end)` hears of each selection in units, and of (null, null) when there is none any more. */
  constructor(text, { title, picked, taken }) {
    Object.assign(this, { text, picked, taken, marking: false, anchor: 0, focus: 0 });
    this.shown = make("div", { class: "text", role: "group", "aria-label": `${title}, to be marked`, tabIndex: 0,
      "aria-describedby": "marking-hint", on: { keydown: (event) => this.onKey(event), blur: () => this.leave(false) } });
    this.caret = make("div", { class: "caret", hidden: true });
    this.element = make("div", { class: "markable" }, this.shown, this.caret);
    this.onSelect = () => this.selected();
    document.addEventListener("selectionchange", this.onSelect);
    // Letters all along the text, and the last, that have not been on screen.
    this.unread = new Set(words(text).filter((_, at, all) => at % STRIDE === 0 || at === all.length - 1).map(([, end]) => end - 1));
    this.onLook = () => this.look();
    for (const [target, event] of LOOKS) target.addEventListener(event, this.onLook, true);
  }

  close() {
    document.removeEventListener("selectionchange", this.onSelect);
    for (const [target, event] of LOOKS) target.removeEventListener(event, this.onLook, true);
  }

  // ------------------------------------------------------------------------------------- how far read

  look() {
    this.unread.forEach((at) => { if (this.isOnScreen(at)) this.unread.delete(at); });
  }

  /** Whether all of the text has been on screen. */
  isRead() {
    this.look();
    return !this.unread.size;
  }

  /** Nothing lies over the line of a letter: no bar, no dialog, no end of a box that scrolls. */
  isOnScreen(unit) {
    const range = document.createRange();
    range.setStart(...this.placeOf(unit));
    range.setEnd(...this.placeOf(unit + 1));
    const line = [...range.getClientRects()].at(-1);
    const { left, width } = this.shown.getBoundingClientRect();
    return !line || this.shown.contains(document.elementFromPoint(left + width / 2, line.top + line.height / 2));
  }

  /** Draws the text with its claims: each in its category's colour, and with its name in words. */
  draw(spans, nameOf) {
    const inUnits = spans.map((span) => ({ start: toUnits(this.text, span.start), end: toUnits(this.text, span.end) }));
    this.shown.replaceChildren(...pieces(this.text.length, inUnits).map(([start, end, covering]) => {
      const piece = this.text.slice(start, end);
      if (!covering.length) return document.createTextNode(piece);
      const ending = covering.filter((index) => inUnits[index].end === end);
      const label = ending.map((index) => `${index + 1} ${nameOf(spans[index].category)}`).join(", ");
      return make("mark", { class: `tone${covering[0] % 4}`, "data-label": label || null, text: piece });
    }));
    if (this.marking) this.showPlace();
  }

  // ------------------------------------------------------------------------------------ by pointer

  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || !this.shown.isConnected) return;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(this.shown)) {
      // Moving on to the bar of categories does not leave the text.
      if (!document.activeElement?.closest(".marking-bar")) this.picked(null, null);
      return;
    }
    const inside = range.cloneRange();
    if (!this.shown.contains(range.startContainer)) inside.setStart(this.shown, 0);
    if (!this.shown.contains(range.endContainer)) inside.setEnd(this.shown, this.shown.childNodes.length);
    const start = this.unitOf(inside.startContainer, inside.startOffset);
    const found = trimmed(this.text, start, start + inside.toString().length);
    this.picked(...(found ?? [null, null]));
  }

  unitOf(node, offset) {
    const before = document.createRange();
    before.setStart(this.shown, 0);
    before.setEnd(node, offset);
    return before.toString().length;
  }

  /** The text node and offset at a unit. */
  placeOf(unit) {
    const walker = document.createTreeWalker(this.shown, NodeFilter.SHOW_TEXT);
    let left = unit;
    let last = null;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left <= node.length) return [node, left];
      left -= node.length;
      last = node;
    }
    return last ? [last, last.length] : [this.shown, 0];
  }

  // ----------------------------------------------------------------------------------- by keyboard

  enter() {
    this.marking = true;
    this.words = words(this.text);
    this.letters = letters(this.text);
    this.anchor = this.focus = this.words[0]?.[0] ?? 0;
    this.element.classList.add("marking");
    this.shown.focus();
    this.showPlace();
    say(`Marking. Arrow keys move by word, with Alt by letter, up and down by line. Shift selects, Enter takes it, Escape leaves. ${this.wordAt()}`);
  }

  leave(forget = true) {
    if (!this.marking) return;
    this.marking = false;
    this.element.classList.remove("marking");
    this.caret.hidden = true;
    if (!forget) return;
    getSelection().removeAllRanges();
    this.picked(null, null);
    say("Marking left");
  }

  onKey(event) {
    if (!this.marking || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") this.leave();
    else if (event.key === "Enter") this.take();
    else if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") this.move(event);
    else return; // a category's key takes what is selected at once: the page's own table knows it
    event.preventDefault();
    event.stopPropagation();
  }

  take() {
    const found = trimmed(this.text, Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus));
    if (found) this.taken();
    else say("Nothing is selected. Hold Shift and press an arrow key.");
  }

  move(event) {
    const to = this.target(event.key, event.shiftKey, event.altKey);
    this.focus = Math.max(0, Math.min(this.text.length, to));
    if (!event.shiftKey) this.anchor = this.focus;
    this.showPlace();
    const chosen = this.text.slice(Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus));
    if (chosen) say(`Selected: ${chosen}`);
    else say(event.altKey ? this.text.slice(this.focus, this.focus + 2).trim() || "space" : this.wordAt());
  }

  target(key, selecting, byLetter) {
    if (key === "Home") return 0;
    if (key === "End") return this.text.length;
    if (key === "ArrowUp" || key === "ArrowDown") return this.lineFrom(key === "ArrowUp" ? "backward" : "forward");
    const starts = byLetter ? this.letters : this.words.map((word) => word[0]);
    const ends = byLetter ? this.letters : this.words.map((word) => word[1]);
    if (key === "ArrowLeft") return starts.findLast((place) => place < this.focus) ?? 0;
    return (selecting ? ends : starts).find((place) => place > this.focus) ?? this.text.length;
  }

  /** A line up or down, as the browser has broken the lines. */
  lineFrom(direction) {
    const selection = getSelection();
    selection.setBaseAndExtent(...this.placeOf(this.focus), ...this.placeOf(this.focus));
    selection.modify("move", direction, "line");
    if (!this.shown.contains(selection.focusNode)) return direction === "forward" ? this.text.length : 0;
    return this.unitOf(selection.focusNode, selection.focusOffset);
  }

  showPlace() {
    getSelection().setBaseAndExtent(...this.placeOf(this.anchor), ...this.placeOf(this.focus));
    const range = document.createRange();
    range.setStart(...this.placeOf(this.focus));
    const box = range.getClientRects()[0] ?? this.shown.getBoundingClientRect();
    const frame = this.element.getBoundingClientRect();
    // Set through the object model, which the page's policy allows; a style attribute it would not.
    this.caret.style.left = `${box.left - frame.left}px`;
    this.caret.style.top = `${box.top - frame.top}px`;
    this.caret.style.height = `${Math.min(box.height, 28)}px`;
    this.caret.hidden = false;
    this.caret.scrollIntoView({ block: "nearest" });
    // The browser tells of a selection later; a category's key may be quicker.
    this.picked(...(trimmed(this.text, Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus)) ?? [null, null]));
  }

  wordAt() {
    const word = this.words.find(([start, end]) => start <= this.focus && this.focus < end);
    return word ? this.text.slice(...word) : "end of the text";
  }

  inPoints(start, end) {
    return { start: toPoints(this.text, start), end: toPoints(this.text, end) };
  }
}
