// Which episodes are shown and in which order: a pure function of the address.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  // Names that count: "episode 2" comes before "episode 10".
  const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

  // A goal is recorded, and no event that a value saw.
  const countedEvents = (row) => row.events.reduce((sum, count, i) => sum + (goalward.run.event_kinds[i] === "goal" ? 0 : count), 0);

  // `desc` is the direction that puts what is worth seeing on top.
  const COLUMNS = [
    { key: "id", name: "Episode", of: (row) => row.id, desc: false, about: "its name in the data" },
    { key: "task", name: "Task", of: (row) => goalward.run.front.tasks[row.task].name, desc: false, about: "what it was asked to do" },
    { key: "outcome", name: "Outcome", of: (row) => W.OUTCOMES[row.outcome], desc: false, about: "how it ended, as recorded" },
    { key: "frames", name: "Length", unit: "frames", of: (row) => row.frames, desc: true, about: "how many frames were recorded" },
    { key: "setback", name: "Largest setback", unit: "steps", of: (row) => row.setback, desc: true, about: "the most steps to go that one setback added" },
    { key: "stall", name: "Longest stall", unit: "frames", of: (row) => row.stall, desc: true, about: "the most frames without coming nearer" },
    { key: "final", name: "At the end", unit: "steps to go", of: (row) => (row.final_steps === null ? Infinity : row.final_steps), desc: true, about: "predicted steps to go in the last frame; fewer is nearer to the goal" },
    { key: "disagreement", name: "Seeds disagree", unit: "sd of value", of: (row) => row.disagreement, desc: true, about: "how far the values of the seeds (−1 to 1) lie apart on average; a large one is a guess" },
    { key: "events", name: "Events", of: countedEvents, desc: true, about: "what the value saw: setbacks, recoveries, stalls, points of no return" },
    { key: "notes", name: "Notes", of: (row) => goalward.notes.words(row.id) || null, desc: false, about: "what somebody noted of it: tags, notes, a label that is wrong" },
    { key: "audit", name: "To look at", unit: "% sure", of: (row) => goalward.marks.sure(row.id), desc: true, about: "how sure goalward audit is that somebody should look at it" },
    { key: "curation", name: "Curated", of: (row) => goalward.marks.decision(row.id), desc: false, about: "what goalward curate keeps of it to learn from" },
  ];

  function columns() {
    const run = goalward.run;
    return COLUMNS.filter(({ key }) =>
      (key !== "task" || run.front.tasks.length > 1) && (key !== "disagreement" || run.front.num_seeds > 1) && (key !== "notes" || goalward.notes.hasAny())
      && (!["audit", "curation"].includes(key) || goalward.marks.has(key)));
  }

  // The positions of the episodes to show, in order.
  function chosen(state) {
    const rows = goalward.run.episodes;
    const wanted = (state.q || "").trim().toLowerCase();
    const kind = goalward.run.event_kinds.indexOf(state.event);
    const least = Number.parseFloat(state.setback);
    const kept = [...rows.keys()].filter((i) => {
      const row = rows[i];
      if (state.outcome && row.outcome !== state.outcome) return false;
      if (state.task && String(row.task) !== state.task) return false;
      if (state.held && (state.held === "yes") !== row.held_out) return false;
      if (kind >= 0 && !row.events[kind]) return false;
      if (!Number.isNaN(least) && !(row.setback >= least)) return false;
      if (!hasNoted(row, state) || !goalward.marks.fits(row, state)) return false;
      if (!wanted) return true;
      if (goalward.notes.words(row.id).toLowerCase().includes(wanted)) return true;
      return row.id.toLowerCase().includes(wanted) || goalward.run.front.tasks[row.task].name.toLowerCase().includes(wanted);
    });
    const column = COLUMNS.find(({ key }) => key === state.sort);
    if (!column) return kept;
    const sign = isDescending(state, column) ? -1 : 1;
    return kept.sort((a, b) => compared(column.of(rows[a]), column.of(rows[b]), sign) || a - b);
  }

  // `tag:dropped`, or any of these.
  const NOTED = { any: (id) => goalward.notes.words(id) !== "", wrong: (id) => goalward.notes.of(id).wrong_label };

  function hasNoted(row, { noted }) {
    if (!noted) return true;
    if (noted.startsWith("tag:")) return goalward.notes.of(row.id).tags.includes(noted.slice(4));
    return Object.hasOwn(NOTED, noted) ? NOTED[noted](row.id) : true;
  }

  // Where to start in an episode: at what the table is sorted by.
  function startFrame(row, { sort }) {
    const frame = { setback: row.setback_frame, stall: row.stall_frame, audit: goalward.marks.frame(row.id) }[sort];
    return W.known(frame) ? frame : undefined;
  }

  // What has no number comes last, whichever way the rest is sorted.
  function compared(a, b, sign) {
    if (!W.known(a) || !W.known(b)) return Number(!W.known(a)) - Number(!W.known(b));
    if (a === b) return 0;
    return sign * (typeof a === "string" ? byName(a, b) : a - b);
  }

  function isDescending(state, column) {
    return state.desc === undefined || state.desc === null ? column.desc : state.desc === "1";
  }

  // ---- the controls -------------------------------------------------------------------------

  const KEYS = ["outcome", "task", "held", "event", "setback", "noted", "marked", "q"];

  function select(label, key, choices, change) {
    const state = goalward.route.state();
    const options = choices.map(([value, text]) => {
      const option = build("option", { value, text });
      option.selected = (state[key] || "") === value;
      return option;
    });
    return build("label.field", {}, [
      build("span.field-name", { text: label }),
      build("select", { onchange: (event) => change({ [key]: event.target.value }) }, options),
    ]);
  }

  function outcomeChips(change) {
    const state = goalward.route.state();
    const counts = goalward.run.front.answer.counts;
    const present = Object.keys(counts).filter((outcome) => counts[outcome] > 0);
    if (present.length < 2) return null;
    const chip = (value, text, count) => build("button.chip", {
      type: "button", "aria-pressed": String((state.outcome || "") === value), onclick: () => change({ outcome: value }), "data-outcome": value || "all",
    }, [text, build("span.count", { text: W.whole(count) })]);
    return build("div.chips", { role: "group", "aria-label": "Outcome" }, [
      chip("", "All", goalward.run.episodes.length),
      ...present.map((outcome) => chip(outcome, W.OUTCOMES[outcome], counts[outcome])),
    ]);
  }

  // `change(changes, isTyping)`: while typing, the controls stay as they are.
  function controls(change) {
    const run = goalward.run;
    const state = goalward.route.state();
    const kinds = run.event_kinds.filter((kind, i) => kind !== "goal" && run.episodes.some((row) => row.events[i]));
    const mixed = run.episodes.some((row) => row.held_out) && !run.episodes.every((row) => row.held_out);
    const typed = (key, label, attributes) => {
      const input = build("input", { ...attributes, oninput: () => change({ [key]: input.value }, true) });
      input.value = state[key] || "";
      return build("label.field", {}, [build("span.field-name", { text: label }), input]);
    };
    return build("form.filters", { role: "search", "aria-label": "Filter episodes", onsubmit: (event) => event.preventDefault() }, [
      outcomeChips(change),
      build("div.fields", {}, [
        typed("q", "Search", { type: "search", placeholder: run.front.tasks.length > 1 ? "name or task" : "name", id: "search" }),
        run.front.tasks.length > 1
          ? select("Task", "task", [["", "all"], ...run.front.tasks.map((task, i) => [String(i), goalward.shortened(task.name)])], change)
          : null,
        kinds.length ? select("Has", "event", [["", "anything"], ...kinds.map((kind) => [kind, `a ${W.kind(kind)}`])], change) : null,
        run.episodes.some((row) => row.setback !== null)
          ? typed("setback", "Setback of at least", { type: "number", min: "0", step: "1", placeholder: "steps" })
          : null,
        mixed ? select("Held out", "held", [["", "all"], ["yes", "held out"], ["no", "trained on"]], change) : null,
        goalward.notes.hasAny()
          ? select("Noted", "noted", [["", "all"], ["any", "something"], ["wrong", "wrong label"], ...goalward.notes.tagsInUse().map((tag) => [`tag:${tag}`, goalward.shortened(tag)])], change)
          : null,
        goalward.marks.choices().length ? select("Marked", "marked", goalward.marks.choices(), change) : null,
        KEYS.some((key) => state[key])
          ? build("button.small-button.reset", { type: "button", onclick: () => change(Object.fromEntries(KEYS.map((key) => [key, null]))) }, "Clear filters")
          : null,
      ]),
    ]);
  }

  goalward.filters = { columns, chosen, startFrame, isDescending, controls };
})();
