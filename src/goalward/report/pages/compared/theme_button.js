// The button that turns a page light or dark.
"use strict";
(function () {
  const button = document.getElementById("theme-switch");

  function show() {
    const words = window.goalwardTheme.isDark() ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", words);
    button.title = words;
  }

  button.addEventListener("click", window.goalwardTheme.toggle);
  window.goalwardTheme.onChange(show);
  show();
  button.hidden = false;
})();
