// What the curve says under the pointer: value, steps, the seeds' range, chance, truth.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  // `look()` is what the curve shows now.
  function makeReadout(episode, look) {
    const run = goalward.run;
    const card = build("div.readout", { hidden: true, "aria-hidden": "true" });
    const truth = new Map(episode.truth.map((one) => [one.frame, one]));
    const time = (frame) => (episode.cameras.length ? ` · ${W.seconds(frame / episode.fps)}` : "");

    function rows(frame) {
      const { methods, view } = look();
      const shown = view === "chance" ? "now" : view;
      const told = [...methods].sort((a, b) => a - b).flatMap((m) => methodRows(run.front.methods[m].name, episode.curves[m][shown], frame));
      // In the curve that they are found in: in the other one the number would be another curve's.
      if (episode.events.length && view === goalward.legend.usualView()) told.push(["smoothed, as events are found", `${W.fixed(episode.smoothed[frame], 0)} steps`]);
      if (episode.chances) {
        episode.chances.within.forEach((steps, i) => told.push([`chance within ${steps} steps`, W.percent(episode.chances.lines[i][frame])]));
      }
      if (truth.has(frame)) {
        const { value, error } = truth.get(frame);
        // As far as its dot's line reaches.
        told.push(W.known(error) ? ["truth ± two standard errors", `${W.fixed(value, 2)} ± ${W.fixed(2 * error, 2)}`] : ["truth", W.fixed(value, 2)]);
      }
      return told;
    }

    function methodRows(name, line, frame) {
      const value = line.mean[frame];
      const steps = W.stepsOf(value, run.discount);
      const told = [[name, `${W.fixed(value, 2)} · ${isFinite(steps) ? `${W.whole(steps)} steps` : "never"}`]];
      if (line.low) told.push(["its seeds", `${W.fixed(line.low[frame], 2)} to ${W.fixed(line.high[frame], 2)}`]);
      return told;
    }

    return {
      card,
      hide: () => (card.hidden = true),
      show: (frame, x, width) => {
        goalward.replace(card, [
          build("p.readout-frame", { text: `frame ${W.whole(frame)}${time(frame)}` }),
          build("dl", {}, rows(frame).flatMap(([term, text]) => [build("dt", { text: goalward.shortened(term) }), build("dd", { text })])),
        ]);
        card.hidden = false;
        // On the side where there is room.
        card.style.left = x > width / 2 ? "auto" : `${x + 14}px`;
        card.style.right = x > width / 2 ? `${width - x + 14}px` : "auto";
      },
    };
  }

  goalward.makeReadout = makeReadout;
})();
