// Numbers and names as people read them.
"use strict";
(function () {
  const OUTCOMES = { success: "success", time_out: "time-out", failure: "failure" };

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
  // As printed: a number stays with its sign and its per cent.
  const printed = (text) => text.replace(/ %/g, "\u00a0%").replace(/(^|[ (])-(?=\d)/g, "$1\u2212").replace(/\bp ([=<]) /g, "p\u00a0$1\u00a0");

  function fixed(value, digits) {
    return known(value) ? minus(value.toFixed(digits)) : "–";
  }

  function whole(value) {
    return known(value) ? rounded(value).toLocaleString("en-US") : "–";
  }

  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  function counted(count, what, many) {
    return `${whole(count)} ${count === 1 ? what : many || `${what}s`}`;
  }

  // Events by their kinds: "2 points of no return".
  const kind = (name) => goalward.run.event_words[name].one;
  const countedEvents = (count, name) => counted(count, kind(name), goalward.run.event_words[name].many);

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
    return `${percent(rate.level)}\u00a0interval ${rounded(100 * rate.low)}\u00a0to\u00a0${percent(rate.high)}`;
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

  // Words as Python has them (report/words/blocks.py): [style, text] pairs, blocks of them.
  function spans(parts) {
    return parts.map(([style, words]) => {
      // A name and a command stay as they are.
      const text = ["code", "em"].includes(style) ? words : printed(words);
      if (style === "em") return goalward.build("em", {}, goalward.named(text));
      return style ? goalward.build(style, { text }) : document.createTextNode(text);
    });
  }

  const cells = (tag, texts) => texts.map((text, i) => goalward.build(i ? `${tag}.number` : "th", { text }));
  const BLOCKS = {
    paragraph: (block) => goalward.build("p", {}, spans(block.spans)),
    bullets: (block) => goalward.build("ul.plain", {}, block.items.map((item) => goalward.build("li", {}, spans(item)))),
    table: (block) => goalward.build("div.scroll", {}, [
      goalward.build("table.scores", {}, [
        goalward.build("thead", {}, goalward.build("tr", {}, cells("th", block.head))),
        goalward.build("tbody", {}, block.rows.map((row) => goalward.build("tr", {}, cells("td", row)))),
      ]),
      ...block.notes.map((text) => goalward.build("p.how", { text })),
    ]),
    picture: (block) => goalward.build("img", { src: block.address, alt: block.words }),
  };
  const blocks = (list) => list.map((block) => BLOCKS[block.kind](block));

  goalward.words = {
    OUTCOMES, known, printed, percent, fixed, whole, capital, counted, kind, countedEvents, stepsOf, valueOf, steps,
    interval, shortCamera, seconds, badge, spans, blocks,
  };
})();
