// Puts the pages together: which one is shown, its title, light or dark.
"use strict";
(function () {
  const { icon } = goalward;
  const places = Object.fromEntries(["overview", "episodes", "episode", "words"].map((view) => [view, document.getElementById(`page-${view}`)]));
  const TITLES = { episodes: "Episodes · ", words: "Words · " };
  let hasOverview = false;
  // How far down each page was left.
  const left = {};

  function fail(text) {
    document.getElementById("waiting").remove();
    const problem = document.getElementById("problem");
    problem.textContent = text;
    problem.hidden = false;
  }

  function show(state, before) {
    if (before) left[before.view] = window.scrollY;
    const policy = goalward.run.front.policy;
    for (const [view, place] of Object.entries(places)) place.hidden = view !== state.view;
    for (const tab of document.querySelectorAll(".tabs a")) {
      const isHere = tab.dataset.view === (state.view === "episode" ? "episodes" : state.view);
      if (isHere) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
      tab.href = goalward.route.link({ view: tab.dataset.view, id: null, frame: null });
    }
    if (state.view !== "episode") {
      goalward.player.close();
      document.title = `${TITLES[state.view] || ""}${policy} · goalward`;
    }
    if (state.view === "overview") showOverview();
    if (state.view === "overview" && state.part) {
      goalward.overview.showPart(state.part);
      return;
    }
    if (state.view === "episodes") goalward.episodes.show(places.episodes);
    if (state.view === "words") goalward.glossary.show(places.words);
    if (state.view === "episode") goalward.player.show(places.episode, state);
    const isElsewhere = before && (before.view !== state.view || before.id !== state.id);
    if (!isElsewhere) return;
    window.scrollTo(0, (before.view === "episode" && left[state.view]) || 0);
    takeFocus(state, before);
  }

  // What was pressed is gone: the keyboard goes on at the row it came from, or at the content.
  function takeFocus(state, before) {
    if (document.activeElement && document.activeElement.closest(".top")) return;
    const row = state.view === "episodes" && before.view === "episode" ? goalward.episodes.linkTo(before.id) : null;
    (row || document.getElementById("main")).focus({ preventScroll: true });
  }

  function showOverview() {
    if (!hasOverview) goalward.overview.show(places.overview);
    hasOverview = true;
    // After the first paint: the library of charts is 5 MB.
    requestAnimationFrame(() => setTimeout(goalward.charts.drawAll, 0));
  }

  function showTheme() {
    const button = document.getElementById("theme-switch");
    const isDark = window.goalwardTheme.isDark();
    const words = isDark ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", words);
    button.title = words;
    goalward.replace(button, icon(isDark ? "sun" : "moon", 18));
    goalward.player.redraw();
    if (hasOverview && !places.overview.hidden) goalward.charts.drawAll();
  }

  function start() {
    if (!goalward.run) {
      fail("The numbers of this report, data/run.js, are not there. Run `goalward report` again.");
      return;
    }
    document.getElementById("top-policy").textContent = goalward.run.front.policy;
    document.getElementById("theme-switch").addEventListener("click", window.goalwardTheme.toggle);
    document.getElementById("skip").addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    });
    history.scrollRestoration = "manual";
    goalward.route.onChange(show);
    show(goalward.route.state());
    showTheme();
    window.goalwardTheme.onChange(showTheme);
    const waiting = document.getElementById("waiting");
    if (waiting) waiting.remove();
    document.documentElement.dataset.ready = "yes";
    goalward.notes.onChange(() => goalward.route.state().view === "episodes" && goalward.episodes.refresh());
    goalward.notes.load();
  }

  try {
    start();
  } catch (error) {
    fail(`This report cannot be shown (${error.message}). Run \`goalward report\` again.`);
    throw error;
  }
})();
