// The front page: the answer first, then what to watch, then how far it can be trusted.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;
  // Sections of the summary that have a place of their own on this page.
  const PLACED = {
    watch: "Watch these first",
    trust: "How far the values can be trusted",
    truth: "How far the values are from the truth",
    done: "How it was done",
  };

  function show(place) {
    const front = goalward.run.front;
    const placed = Object.values(PLACED);
    const others = front.sections.slice(1).filter((section) => !placed.includes(section.title));
    goalward.replace(place, [
      hero(front),
      doubts(front),
      watch(front),
      inWords(front),
      goalward.charts.methods(sectionOf(front, PLACED.trust)),
      goalward.charts.truth(sectionOf(front, PLACED.truth)),
      ...others.map((section) => panel(section.title, W.blocks(section.blocks))),
      goalward.computed(sectionOf(front, PLACED.done)),
    ]);
  }

  function sectionOf(front, title) {
    const section = front.sections.find((one) => one.title === title);
    return section ? section.blocks : [];
  }

  function panel(title, children, options) {
    const heading = title ? build("h2", { text: title }) : null;
    return build("section.panel", options || {}, [heading, ...[children].flat()]);
  }

  // ---- the answer ---------------------------------------------------------------------------

  function hero(front) {
    const answer = front.answer;
    const success = answer.success;
    return build("div.hero", {}, [
      build("p.overline", { text: "How good is this policy?" }),
      build("h1.policy", { text: front.policy }),
      build("div.hero-grid", {}, [
        build("div.answer.main-answer", {}, [
          build("div", {}, [
            build("p.answer-title", { text: "Success rate" }),
            build("p.big", { text: W.percent(success.value) }),
          ]),
          build("div.main-bars", {}, [
            bar(success, "Success rate"),
            build("p.main-note", { text: `${success.count} of ${W.counted(success.total, "episode")}; ${W.interval(success)}` }),
            outcomes(answer.counts),
          ]),
        ]),
        build("div.answers", {}, [moreTime(answer), onTheirWay(answer), usualSteps(answer)]),
      ]),
    ]);
  }

  // A rate with its interval, from 0 to 100 %.
  function bar(rate, title) {
    if (!W.known(rate.value)) return null;
    const at = (value) => `${(100 * value).toFixed(2)}%`;
    const hasInterval = W.known(rate.low) && W.known(rate.high);
    return build("div.interval", { role: "img", "aria-label": `${title} ${W.percent(rate.value)}. ${W.interval(rate)}` }, [
      build("div.interval-track", {}, [
        hasInterval ? build("div.interval-range", { style: { left: at(rate.low), width: at(rate.high - rate.low) } }) : null,
        build("div.interval-point", { style: { left: at(rate.value) } }),
      ]),
      build("div.interval-scale", { "aria-hidden": "true" }, [
        build("span", { text: "0" }), build("span", { text: "50" }), build("span", { text: "100 %" }),
      ]),
    ]);
  }

  function outcomes(counts) {
    const shown = Object.entries(counts).filter(([, count]) => count > 0);
    const words = shown.map(([outcome, count]) => `${count} ${W.OUTCOMES[outcome]}`).join(", ");
    return build("div.outcomes", {}, [
      build("div.outcome-bar", { role: "img", "aria-label": words },
        shown.map(([outcome, count]) => build(`span.${outcome}`, { style: { "flex-grow": String(count) } }))),
      build("ul.outcome-key", {}, shown.map(([outcome, count]) =>
        build("li", {}, build("a", { href: goalward.route.freshLink({ view: "episodes", outcome }) }, [
          W.badge(outcome), build("span.count", { text: W.whole(count) }),
        ])))),
    ]);
  }

  function tile(title, number, parts, isDoubted) {
    return build(`div.answer${isDoubted ? ".doubted" : ""}`, {}, [
      build("p.answer-title", {}, [title, isDoubted ? build("span.tag", { text: "do not rely on this" }) : null]),
      number === null ? null : build("p.medium", { text: number }),
      ...parts,
    ]);
  }

  function note(text) {
    return build("p.answer-note", { text });
  }

  function moreTime(answer) {
    const more = answer.more_time;
    if (more.silence || !W.known(more.value)) {
      return tile("With twice the time", null, [note(more.silence || `Not known: ${more.reason || "no scores were written"}.`)]);
    }
    return tile("With twice the time", `about ${W.percent(more.value)}`, [
      bar(more, "Success rate with twice the time"),
      note(`${W.interval(more)}, if the values are right`),
    ], answer.is_doubted);
  }

  function onTheirWay(answer) {
    const late = answer.on_their_way;
    if (late.silence || !late.total) {
      return late.silence ? null : tile("Time-outs on their way", null, [note("Not known.")]);
    }
    const horizon = goalward.run.front.standard_horizon;
    return tile("Time-outs on their way", `${late.count} of ${late.total}`, [
      note(`looked no further than ${horizon} steps from the goal when the clock ran out; ${W.interval(late)}`),
      lateEpisodes("On their way", late.nearest),
      lateEpisodes("Stuck", late.stuck),
    ], answer.is_doubted);
  }

  // The first few by name; the rest in the table, those nearest to the goal on top.
  function lateEpisodes(title, positions) {
    if (!positions.length) return null;
    const row = (position) => goalward.run.episodes[position];
    const names = positions.slice(0, 5).flatMap((position, i) => [
      i ? ", " : " ", build("a", { href: goalward.route.freshLink(goalward.route.toEpisode(row(position).id)) }, named(row(position).id)),
    ]);
    const all = { view: "episodes", outcome: "time_out", sort: "final", desc: "0" };
    const rest = positions.length > 5 ? [" and ", build("a", { href: goalward.route.freshLink(all), text: `${positions.length - 5} more` })] : [];
    return build("p.answer-note", {}, [`${title}:`, ...names, ...rest]);
  }

  function usualSteps(answer) {
    const steps = answer.steps;
    if (!W.known(steps.median)) return tile("Steps to success", null, [note(`Not known: ${steps.reason}.`)]);
    return tile("Steps to success", `${W.whole(steps.median)} steps`, [
      note(`half of the successes took this or fewer, the middle half ${W.whole(steps.quarter)} to ${W.whole(steps.three_quarters)}`),
    ]);
  }

  function doubts(front) {
    if (!front.doubts.length) return null;
    return build("aside.callout", { "aria-label": "Doubts" }, [
      icon("warning", 20),
      build("div", {}, front.doubts.map((runs) => build("p", {}, W.runs(runs)))),
    ]);
  }

  function inWords(front) {
    const lead = front.sections.length ? front.sections[0].blocks : [];
    const tasks = front.tasks.length > 1 ? byTask(front.tasks) : null;
    if (!lead.length && !tasks) return null;
    return build("div.pair", {}, [
      lead.length ? panel("In words", build("div.prose", {}, W.blocks(lead))) : null,
      tasks,
    ]);
  }

  function byTask(tasks) {
    return panel("By task", [
      build("p.how", { text: "Success rate of each task; the bar is its 95 % interval." }),
      build("ul.task-list", {}, tasks.map((task, index) => build("li", {}, [
        build("a.task-name", { href: goalward.route.freshLink({ view: "episodes", task: String(index) }) }, named(task.name)),
        build("span.task-rate", { text: `${W.percent(task.value)} of ${task.total}` }),
        bar(task, task.name),
      ]))),
    ]);
  }

  // ---- watch these first --------------------------------------------------------------------

  function watch(front, isShort) {
    const found = goalward.run.watch;
    const words = sectionOf(front, PLACED.watch);
    if (!found.length) {
      return isShort || !words.length ? null : panel(PLACED.watch, W.blocks(words));
    }
    const how = [
      "The largest setbacks, the longest stalls and the nearest misses, as the value of ",
      build("code", { text: front.methods[0].name }), " sees them. A card opens the player at that frame.",
    ];
    return build("section.watch", {}, [
      build("h2", { text: PLACED.watch }),
      isShort ? null : build("p.how", {}, how),
      build("div.cards", {}, found.map(card)),
      // After the list that the cards show: how many events there are in all.
      ...(isShort ? [] : words.filter(([kind]) => kind === "p").map(([, runs]) => build("p.how", {}, W.runs(runs)))),
    ]);
  }

  function card(found) {
    const row = goalward.run.episodes[found.position];
    const picture = found.thumb
      ? build("img.card-picture", { src: found.thumb, alt: "", loading: "lazy", height: 160 })
      : build("div.card-picture.no-picture", {}, goalward.sparkline(row.spark, row.outcome));
    return build("a.card", { href: goalward.route.link(goalward.route.toEpisode(row.id, found.frame)) }, [
      picture,
      build("span.card-text", {}, [
        build("span.card-head", {}, [
          build("strong", {}, ["Episode ", named(row.id)]),
          W.badge(row.outcome),
        ]),
        build("span.card-reason", { text: found.reason }),
        build("span.card-frame", { text: `frame ${found.frame}` }),
      ]),
    ]);
  }

  // On the pages that show values: they are in doubt, and where that is said.
  function doubtLine() {
    if (!goalward.run.front.doubts.length) return null;
    return build("p.doubt-line", {}, [
      icon("warning", 16), build("span", {}, ["Do not rely on what these values say of time-outs: ",
        build("a", { href: goalward.route.link({ view: "overview", id: null, frame: null }), text: "why" }), "."]),
    ]);
  }

  goalward.overview = { show, watch, panel, doubtLine };
})();
