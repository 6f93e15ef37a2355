// Light or dark: what the system says, unless the reader chose. Runs before the first paint.
"use strict";
(function () {
  const KEY = "goalward-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];

  function chosen() {
    try {
      return localStorage.getItem(KEY);
    } catch (error) {
      return null; // A browser may forbid pages from disk to remember anything.
    }
  }

  function isDark() {
    const choice = document.documentElement.dataset.theme;
    return choice ? choice === "dark" : system.matches;
  }

  function apply(choice) {
    if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    for (const listener of listeners) listener();
  }

  function toggle() {
    const choice = isDark() ? "light" : "dark";
    try {
      // A choice that agrees with the system is none: the page goes on following it.
      if ((choice === "dark") === system.matches) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, choice);
    } catch (error) {
      // It lasts as long as the page.
    }
    apply(choice);
  }

  apply(chosen());
  system.addEventListener("change", () => listeners.forEach((listener) => listener()));
  window.goalwardTheme = { isDark, toggle, onChange: (listener) => listeners.push(listener) };
})();
