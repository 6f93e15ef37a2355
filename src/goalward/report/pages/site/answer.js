// The first screen: the rate and how sure it is, whether to rely on the values, what to do next.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;

  function answer(front) {
    const found = front.answer;
    return build("div.hero", {}, [
      build("p.overline", { text: "How good is this policy?" }),
      build("h1.policy", {}, named(front.policy)),
      build("div.hero-grid", {}, [
        successRate(found),
        trust(front),
        next(front),
        build("div.answers", {}, [moreTime(front), usualSteps(found)]),
      ]),
    ]);
  }

  function successRate({ success, counts }) {
    return build("div.answer.main-answer", {}, [
      build("div", {}, [
        build("p.answer-title", { text: "Success rate" }),
        build("p.big", { text: W.percent(success.value) }),
      ]),
      build("div.main-bars", {}, [
        bar(success, "Success rate"),
        build("p.main-note", { text: `${success.count} of ${W.counted(success.total, "episode")}; ${W.interval(success)}` }),
        outcomes(counts),
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

  // ---- whether to rely on the values --------------------------------------------------------

  function trust({ trust: found, doubts }) {
    const isGood = ["good", "fair"].includes(found.grade);
    return build(`div.answer.trust.${isGood ? "good" : "doubtful"}`, { id: "trust", tabindex: "-1" }, [
      build("p.answer-title", {}, [icon(isGood ? "goal" : "warning", 16), "Can the values be relied on?"]),
      build("p.medium", { text: found.word }),
      build("p.answer-note", { text: W.printed(found.why) }),
      doubts.length
        ? build("details.why", {}, [build("summary", { text: "More on this" }), ...doubts.map((spans) => build("p.answer-note", {}, W.spans(spans)))])
        : null,
    ]);
  }

  // On the pages that show values: they are in doubt, and where that is said.
  function doubtLine() {
    const { caution } = goalward.run.front.trust;
    if (!caution) return null;
    const why = () => goalward.route.link({ view: "overview", id: null, frame: null, part: "trust" });
    return build("p.doubt-line", {}, [icon("warning", 16), build("span", {}, [W.printed(caution), " ", build("a", { href: why(), text: "What that means" })])]);
  }

  // ---- what to do now -----------------------------------------------------------------------

  function next({ next: steps }) {
    if (!steps.length) return null;
    return build("section.answer.next", { "aria-label": "Next" }, [
      build("h2.answer-title", {}, [icon("forward", 16), "Next"]),
      build("ol", {}, steps.map((step) => build("li", {}, [
        build("p", {}, linked(step)),
        step.command ? build("div.command", {}, [build("code", { title: step.command, text: step.command }), goalward.copyButton(step.command, "Command")]) : null,
      ]))),
    ]);
  }

  // Of a list of names, each has a line.
  const MOST_CHARACTERS = 40;

  // Names of episodes in the words of a step lead to them; the first to the frame to look at.
  function linked({ spans, episodes, frame }) {
    return spans.map(([style, text]) => {
      const at = style === "em" ? episodes.indexOf(text) : -1;
      if (at < 0) return W.spans([[style, text]])[0];
      return build("a", { href: goalward.route.freshLink(goalward.route.toEpisode(text, at === 0 && W.known(frame) ? frame : undefined)) }, named(text, MOST_CHARACTERS));
    });
  }

  // ---- more time, steps ---------------------------------------------------------------------

  function tile(title, number, parts, tag) {
    return build(`div.answer.small-answer${tag ? ".doubted" : ""}`, {}, [
      build("p.answer-title", {}, [title, tag ? build("span.tag", { text: tag }) : null]),
      number === null ? null : build("p.medium", { text: number }),
      ...parts,
    ]);
  }

  const note = (text) => build("p.answer-note", { text });
  const TWICE = "With twice the time";

  // One answer for each way of knowing it (metrics/time_out_answer.py).
  const SAYINGS = {
    expected: (found) => tile(TWICE, `about ${W.percent(found.more_time.value)}`, expected(found), found.condition ? "a hint" : null),
    hint: (found) => tile(TWICE, "Cannot tell yet", [note(found.needed), hint(found)]),
    measured: (found) => tile(TWICE, `${W.percent(found.share.value)} of time-outs`, [
      bar(found.share, "Time-outs that succeed with their clock again"),
      note(`succeed, as measured in a simulator that gave each its own clock again; ${W.interval(found.share)}`),
      allTheSame(found),
    ]),
    cannot_tell: (found) => tile(TWICE, "Cannot tell", [note(found.needed), allTheSame(found)]),
    no_question: (found) => tile(TWICE, null, [note(found.silence)]),
  };

  const moreTime = ({ answer: found }) => (found.silence ? SAYINGS.no_question(found) : SAYINGS[found.saying](found));

  function expected(found) {
    return [
      bar(found.more_time, "Success rate with twice the time"),
      note(`expected to succeed, each episode given its own clock again${found.condition && `, ${found.condition}`}; ${W.interval(found.more_time)}`),
      note(`of those that timed out ${W.percent(found.share.value)}; ${W.interval(found.share)}`),
      verdicts(found),
    ];
  }

  // What cannot be relied on is there for who asks for it.
  function allTheSame(found) {
    return build("details", {}, [
      build("summary", { text: "What the values say all the same" }),
      note(`They expect ${W.percent(found.doubtful)} of the time-outs to succeed. Do not rely on this.`),
    ]);
  }

  // No interval: it would claim that the values behind it are right.
  function hint(found) {
    return build("details.verdicts", {}, [
      build("summary", { text: "What the values say, as a hint" }),
      note(`Perhaps ${W.percent(found.more_time.value)} succeed, each given its own clock again; these values may be no better than guessing.`),
      ...lateNotes(found),
    ]);
  }

  function verdicts(found) {
    const { on_its_way: near, stuck, cannot_tell: unclear } = found.late;
    return build("details.verdicts", {}, [
      build("summary", { text: `${near.length} on their way, ${stuck.length} stuck, ${unclear.length} in between` }),
      ...lateNotes(found),
    ]);
  }

  function lateNotes({ late, verdicts: limits }) {
    const { on_its_way: near, stuck, cannot_tell: unclear } = late;
    return [
      note(`On their way: a chance of at least ${W.percent(limits.on_its_way_from)} with their own clock again; stuck: at most ${W.percent(limits.stuck_up_to)}; of those in between nobody can tell.`),
      lateEpisodes("On their way", near),
      lateEpisodes("Stuck", stuck),
      lateEpisodes("In between", unclear),
    ];
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

  function usualSteps({ steps }) {
    if (!W.known(steps.median)) return tile("Steps to success", null, [note(`Not known: ${steps.reason}.`)]);
    return tile("Steps to success", `${W.whole(steps.median)} steps`, [
      note(`half of the successes took this or fewer, the middle half ${W.whole(steps.quarter)} to ${W.whole(steps.three_quarters)}`),
    ]);
  }

  goalward.answer = { show: answer, bar, doubtLine };
})();
