// What a reader chose last, kept by the browser where it may: speed, curve, traces, columns.
"use strict";
(function () {
  // A browser may forbid pages from disk to remember anything: then it lasts as long as the page.
  const kept = new Map();

  function remembered(key) {
    if (kept.has(key)) return kept.get(key);
    try {
      return localStorage.getItem(`goalward-${key}`);
    } catch (error) {
      return null;
    }
  }

  function remember(key, text) {
    kept.set(key, text);
    try {
      if (text === null) localStorage.removeItem(`goalward-${key}`);
      else localStorage.setItem(`goalward-${key}`, text);
    } catch (error) {
      // See above.
    }
  }

  goalward.memory = { remembered, remember };
})();
