// What is shown is in the address: links can be shared, Back works, a reload changes nothing.
"use strict";
(function () {
  const VIEWS = ["overview", "episodes", "episode", "words"];
  const listeners = [];
  let current = parsed();
  // The address that `current` was read from. Where it has changed since, the reader is on the way
  // to somewhere else, and what is noted of the old place would lead back to it.
  let seen = location.hash;

  // #episode?id=12&frame=40&sort=setback -> {view: "episode", id: "12", ...}; all are texts.
  function parsed() {
    const [view, query] = location.hash.slice(1).split(/\?(.*)/s);
    const state = { view: VIEWS.includes(view) ? view : "overview" };
    for (const [key, value] of new URLSearchParams(query || "")) {
      if (key !== "view") state[key] = value;
    }
    return state;
  }

  function address(state) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
      if (key !== "view" && value !== null && value !== undefined && value !== "") query.set(key, value);
    }
    const text = query.toString();
    return `#${state.view}${text ? `?${text}` : ""}`;
  }

  // Somewhere else: a new entry in the history.
  function go(changes) {
    const next = address({ ...current, ...changes });
    if (next === location.hash) return;
    location.hash = next;
  }

  // The same place in another state: no new entry.
  function note(changes) {
    if (location.hash !== seen) return;
    current = { ...current, ...changes };
    const next = address(current);
    if (next !== location.hash) history.replaceState(null, "", next);
    seen = location.hash;
  }

  // Sorting and filters stay with the reader when an episode is opened and closed.
  function toEpisode(id, frame) {
    return { view: "episode", id, frame: frame === undefined ? null : String(frame) };
  }

  function link(changes) {
    return address({ ...current, ...changes });
  }

  window.addEventListener("hashchange", () => {
    const before = current;
    current = parsed();
    seen = location.hash;
    for (const listener of listeners) listener(current, before);
  });

  goalward.route = {
    state: () => current,
    go,
    note,
    link,
    // Nothing of what is chosen now: an answer's number leads to just so many rows.
    freshLink: address,
    toEpisode,
    toTable: { view: "episodes", id: null, frame: null },
    onChange: (listener) => listeners.push(listener),
  };
})();
