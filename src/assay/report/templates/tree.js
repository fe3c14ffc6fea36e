"use strict";
// A picture of a tree is one stop of the tab key; inside it the arrow keys go from node to node.
document.querySelectorAll(".icicle").forEach((picture) => {
  const told = picture.parentElement.querySelector(".spoken");
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
