// Numbers and names as people read them.
"use strict";
(function () {
  const OUTCOMES = { success: "success", time_out: "time-out", failure: "failure" };
  const KINDS = {
    setback: "setback",
    recovery: "recovery",
    stall: "stall",
    point_of_no_return: "point of no return",
    goal: "goal",
  };

  const known = (value) => value !== null && value !== undefined;
  // A half goes to the even neighbour, as in the summary: the page and the words agree.
  function rounded(value) {
    const below = Math.floor(value);
    if (value - below !== 0.5) return Math.round(value);
    return below % 2 === 0 ? below : below + 1;
  }

  // Between a number and its sign no line ends.
  const percent = (value) => (known(value) ? `${rounded(100 * value)}\u00a0%` : "unknown");
  const minus = (text) => text.replace("-", "\u2212");

  function fixed(value, digits) {
    return known(value) ? minus(value.toFixed(digits)) : "–";
  }

  function whole(value) {
    return known(value) ? rounded(value).toLocaleString("en-US") : "–";
  }

  function counted(count, what) {
    return `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
  }

  // The value of k steps to go is 1 - 2 discount^k; this is the way back. Beyond the last number
  // that a page can tell from 1 it is never.
  function stepsOf(value, discount) {
    const left = (1 - value) / 2;
    if (left < 1e-4) return Infinity;
    return Math.max(0, Math.log(left) / Math.log(discount));
  }

  function valueOf(steps, discount) {
    return 1 - 2 * Math.pow(discount, steps);
  }

  function steps(count) {
    if (!known(count)) return "–";
    if (!isFinite(count)) return "never";
    return whole(count);
  }

  function interval(rate) {
    if (!known(rate.low) || !known(rate.high)) return rate.reason ? `no interval: ${rate.reason}` : "";
    return `${percent(rate.level || 0.95)} interval ${percent(rate.low)} to ${percent(rate.high)}`;
  }

  // observation.images.front -> front
  function shortCamera(name) {
    const parts = name.split(/[./]/).filter((part) => part);
    return parts.length ? parts[parts.length - 1] : name;
  }

  function seconds(time) {
    return `${time.toFixed(1)} s`;
  }

  function badge(outcome) {
    return goalward.build(`span.badge.${outcome}`, {}, [goalward.icon(outcome, 13), OUTCOMES[outcome] || outcome]);
  }

  // Text of the summary: [style, words] pairs, style "", "strong", "em" or "code".
  function runs(parts) {
    return parts.map(([style, words]) => {
      const text = words.replace(/ %/g, "\u00a0%");
      return ["strong", "em", "code"].includes(style) ? goalward.build(style, { text }) : document.createTextNode(text);
    });
  }

  function blocks(list) {
    return list.map(([kind, content]) =>
      kind === "ul"
        ? goalward.build("ul.plain", {}, content.map((item) => goalward.build("li", {}, runs(item))))
        : goalward.build("p", {}, runs(content)));
  }

  goalward.words = {
    OUTCOMES, KINDS, known, percent, fixed, whole, counted, stepsOf, valueOf, steps, interval,
    shortCamera, seconds, badge, runs, blocks,
  };
})();
