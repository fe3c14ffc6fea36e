// Places in a text. The browser counts UTF-16 units, the server Unicode code points: "🙂" is two and one.

export const toPoints = (text, unit) => [...text.slice(0, unit)].length;

export function toUnits(text, point) {
  let unit = 0;
  for (let seen = 0; seen < point && unit < text.length; seen += 1) unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  return unit;
}

/** The words of a text, as [start, end) in units. */
export function words(text) {
  return [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
    .filter((each) => each.isWordLike || /[^\s]/u.test(each.segment))
    .map((each) => [each.index, each.index + each.segment.length]);
}

/** Where the letters of a text begin, as people count letters, and where it ends. */
export function letters(text) {
  return [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)]
    .map((each) => each.index).concat(text.length);
}

/** [start, end) without the white space at its ends; null where nothing else is in it. */
export function trimmed(text, start, end) {
  const part = text.slice(start, end);
  const from = start + (part.length - part.trimStart().length);
  const to = end - (part.length - part.trimEnd().length);
  return from < to ? [from, to] : null;
}

/** The text cut at the ends of all spans: [start, end, indices of the spans that cover it]. */
export function pieces(length, spans) {
  const cuts = [...new Set([0, length, ...spans.flatMap((span) => [span.start, span.end])])]
    .filter((cut) => cut >= 0 && cut <= length).sort((a, b) => a - b);
  return cuts.slice(1).map((end, at) => [cuts[at], end,
    spans.flatMap((span, index) => (span.start <= cuts[at] && span.end >= end ? [index] : []))]);
}
