// Values against what a simulator measured: how far off they are, and frame by frame.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;
  const GROUPS = { all: "all frames", success: "in successes", time_out: "in time-outs", failure: "in failures" };

  function truth(section) {
    if (!section) return null;
    const frames = goalward.run.front.truth.frames;
    const open = ([position, frame]) => goalward.route.go(goalward.route.toEpisode(goalward.run.episodes[position].id, frame));
    const scatter = (name, key, how) => goalward.charts.figure(name, 360, how, () => drawScatter(frames, key), open);
    return goalward.overview.panel(section.title, [
      build("div.chart-pair.level", {}, frames.truth.length ? [
        scatter("What was said at the time, and the truth", "now", "Every dot is a frame whose truth a simulator measured by running on from it; on the dashed line the value is right, above it too pessimistic. −1 is at the goal, 1 is never. A dot opens its frame."),
        scatter("What is said in hindsight, and the truth", "hindsight", "The same for the value that knows how the recording went on."),
      ] : []),
      build("div.truth-errors", {}, goalward.charts.figure("Mean error of the values", 300,
        "Lower is better. Bars: how far values are from the true ones; error bars: 95 % intervals; grey: what a perfect prediction would show, as the futures are a sample.",
        drawErrors)),
      goalward.overview.inWords(section.blocks),
    ]);
  }

  function drawScatter(frames, key) {
    const { css } = goalward.charts;
    const outcomes = Object.keys(W.OUTCOMES).filter((outcome) => frames.outcome.includes(outcome));
    const traces = outcomes.map((outcome) => {
      const rows = frames.outcome.flatMap((one, i) => (one === outcome ? [i] : []));
      const some = (list) => rows.map((i) => list[i]);
      return {
        type: "scatter", mode: "markers", name: W.OUTCOMES[outcome],
        x: some(frames.truth), y: some(frames[key]),
        customdata: rows.map((i) => [frames.episode[i], frames.frame[i]]),
        text: rows.map((i) => `episode ${goalward.charts.plain(goalward.shortened(goalward.run.episodes[frames.episode[i]].id))}, frame ${frames.frame[i]}`),
        marker: { color: css(`--${outcome}`), size: 8, opacity: 0.75, symbol: outcome === "success" ? "circle" : outcome === "failure" ? "x" : "diamond" },
        hovertemplate: "%{text}<br>said %{y:.2f}, true %{x:.2f}<extra></extra>",
      };
    });
    const right = { type: "line", x0: -1, y0: -1, x1: 1, y1: 1, line: { color: css("--text-faint"), width: 1.2, dash: "dash" } };
    const range = [-1.08, 1.08];
    return [traces, { shapes: [right], hovermode: "closest", xaxis: { title: { text: "true value" }, range }, yaxis: { title: { text: "value that was said" }, range } }];
  }

  function drawErrors() {
    const { plain, css, colour } = goalward.charts;
    const { groups, methods } = goalward.run.front.truth;
    const names = groups.map(({ name }) => GROUPS[name]);
    const traces = methods.map((one) => ({
      type: "bar", name: plain(one.name), x: names, y: one.errors.map((e) => e.value),
      error_y: { type: "data", symmetric: false, color: css("--text"), thickness: 1.4, width: 3,
        array: one.errors.map((e) => (W.known(e.high) ? e.high - e.value : 0)), arrayminus: one.errors.map((e) => (W.known(e.low) ? e.value - e.low : 0)) },
      marker: goalward.charts.bar(colour(goalward.run.front.methods.find((m) => m.name === one.name))),
      hovertemplate: `${plain(one.name)}, %{x}: off by %{y:.2f}<extra></extra>`,
    }));
    const shapes = groups.map((group, i) => ({ type: "rect", layer: "above", x0: i - 0.42, x1: i + 0.42, y0: 0, y1: group.noise || 0, fillcolor: css("--text-faint"), opacity: 0.35, line: { width: 0 } }));
    return [traces, { barmode: "group", bargap: 0.2, shapes, showlegend: traces.length > 1, yaxis: { rangemode: "tozero", title: { text: "error of the value (0 to 2)" } }, xaxis: { gridcolor: "rgba(0,0,0,0)" } }];
  }

  goalward.truth = truth;
})();
