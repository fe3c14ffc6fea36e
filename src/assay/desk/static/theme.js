"use strict";
// Loaded before anything is drawn, so that a chosen theme does not flash the other one first.
(() => {
  const NAMES = ["auto", "light", "dark"];
  const read = () => {
    try { return localStorage.getItem("desk-theme"); } catch { return null; }
  };
  const apply = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
  };
  const current = () => (NAMES.includes(read()) ? read() : "auto");
  window.deskTheme = {
    current,
    next() {
      const name = NAMES[(NAMES.indexOf(current()) + 1) % NAMES.length];
      try { localStorage.setItem("desk-theme", name); } catch { /* the choice lasts until the page is closed */ }
      apply(name);
      return name;
    },
  };
  apply(current());
})();
