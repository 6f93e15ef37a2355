// The front page: the answer first, then what to watch, then how far it can be trusted.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;
  // Sections of the summary that have a place of their own on this page.
  const PLACED = ["policy", "tasks", "watch", "trust", "truth", "done"];

  function show(place) {
    const front = goalward.run.front;
    const others = front.sections.filter((section) => !PLACED.includes(section.name));
    goalward.replace(place, [
      hero(front),
      doubts(front),
      watch(front),
      panel("In words", build("div.prose", {}, W.blocks(sectionOf(front, "policy").blocks))),
      goalward.tasks(front, sectionOf(front, "tasks")),
      goalward.charts.methods(sectionOf(front, "trust").blocks),
      goalward.charts.truth(sectionOf(front, "truth")),
      ...others.map((section) => panel(section.title, W.blocks(section.blocks))),
      goalward.computed(sectionOf(front, "done").blocks),
    ]);
  }

  const sectionOf = (front, name) => front.sections.find((section) => section.name === name);

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
        build("div.answers", {}, [moreTime(front), onTheirWay(front), usualSteps(answer)]),
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

  function moreTime({ answer, doubts }) {
    const more = answer.more_time;
    if (answer.silence) return tile("With twice the time", null, [note(answer.silence)]);
    return tile("With twice the time", `about ${W.percent(more.value)}`, [
      bar(more, "Success rate with twice the time"),
      note(`expected to succeed, each episode given its own clock again; ${W.interval(more)}`),
      note(`of those that timed out ${W.percent(answer.share.value)}; ${W.interval(answer.share)}`),
    ], doubts.length);
  }

  function onTheirWay({ answer, doubts }) {
    if (answer.silence) return null;
    const { on_its_way: near, stuck, cannot_tell: unclear } = answer.late;
    const { on_its_way_from: likely, stuck_up_to: unlikely } = answer.verdicts;
    const told = near.length + stuck.length;
    return tile("Time-outs with a verdict", `${told} of ${told + unclear.length}`, [
      note(`${near.length} on their way (a chance of at least ${W.percent(likely)} with their own clock again), ${stuck.length} stuck (at most ${W.percent(unlikely)}); of ${unclear.length} nobody can tell`),
      lateEpisodes("On their way", near),
      lateEpisodes("Stuck", stuck),
      lateEpisodes("Cannot tell", unclear),
    ], doubts.length);
  }

  // The first few by name; the rest in the table, those nearest to the goal on top.
  function lateEpisodes(title, ids) {
    if (!ids.length) return null;
    const names = ids.slice(0, 5).flatMap((id, i) => [
      i ? ", " : " ", build("a", { href: goalward.route.freshLink(goalward.route.toEpisode(id)) }, named(id)),
    ]);
    const all = { view: "episodes", outcome: "time_out", sort: "final", desc: "0" };
    const rest = ids.length > 5 ? [" and ", build("a", { href: goalward.route.freshLink(all), text: `${ids.length - 5} more` })] : [];
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
      build("div", {}, front.doubts.map((spans) => build("p", {}, W.spans(spans)))),
    ]);
  }

  // ---- watch these first --------------------------------------------------------------------

  function watch(front, isShort) {
    const found = goalward.run.watch;
    const { title, blocks } = sectionOf(front, "watch");
    if (!found.length) return isShort ? null : panel(title, W.blocks(blocks));
    const how = [
      "The largest setbacks, the longest stalls and the nearest misses, as the value of ",
      build("code", { text: front.methods[0].name }), " sees them. A card opens the player at that frame.",
    ];
    return build("section.watch", {}, [
      build("h2", { text: title }),
      isShort ? null : build("p.how", {}, how),
      build("div.cards", {}, found.map(card)),
      // After the list that the cards show: how many events there are in all.
      ...(isShort ? [] : blocks.filter(({ kind }) => kind === "paragraph").map(({ spans }) => build("p.how", {}, W.spans(spans)))),
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

  goalward.overview = { show, watch, panel, bar, doubtLine };
})();
