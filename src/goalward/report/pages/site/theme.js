// Light or dark: what the system says, unless the reader chose. Runs before the first paint.
"use strict";
(function () {
  const KEY = "goalward-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];
  let choice = remembered();

  function remembered() {
    try {
      return localStorage.getItem(KEY);
    } catch (error) {
      return null; // A browser may forbid pages from disk to remember anything.
    }
  }

  function isDark() {
    return document.documentElement.dataset.theme === "dark";
  }

  function apply(name) {
    document.documentElement.dataset.theme = name;
    for (const listener of listeners) listener();
  }

  function follow() {
    const isChosen = choice === "light" || choice === "dark";
    apply(isChosen ? choice : system.matches ? "dark" : "light");
  }

  function toggle() {
    choice = isDark() ? "light" : "dark";
    // A choice that agrees with the system is none: the page goes on following it.
    if ((choice === "dark") === system.matches) choice = null;
    try {
      if (choice) localStorage.setItem(KEY, choice);
      else localStorage.removeItem(KEY);
    } catch (error) {
      // It lasts as long as the page.
    }
    follow();
  }

  follow();
  system.addEventListener("change", follow);
  // Paper is white.
  window.addEventListener("beforeprint", () => apply("light"));
  window.addEventListener("afterprint", follow);
  window.goalwardTheme = { isDark, toggle, onChange: (listener) => listeners.push(listener) };
})();
