// Are predicted chances right? Dots with the number of frames behind each; no lines between them.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;
  const name = "Are predicted chances right?";

  function calibration() {
    const { methods, standard_horizon: horizon } = goalward.run.front;
    const told = methods.filter((m) => m.says_chances && m.calibration.bins.length);
    const silent = methods.filter((m) => !m.says_chances).map((m) => m.name);
    const others = silent.length ? ` No chances are said by ${silent.join(", ")}: how many seeds agree is none.` : "";
    if (!told.length) {
      if (!silent.length) return null;
      return build("figure.chart", {}, build("figcaption", {}, [build("h3", { text: name }), build("p.how", { text: others.trim() })]));
    }
    return build("div.calibration", {}, [
      goalward.charts.figure(name, 330,
        `Chance of success within ${horizon} steps against the share that did, of the ${W.counted(told[0].calibration.num_frames, "frame")} with so many steps left on the longest clock: on the dashed line is right, under it too hopeful. The number at a dot: frames it stands for; its bar: the 95 % interval.${others}`,
        () => draw(told)),
      ...told.slice(0, 1).map((method) => inNumbers(method, horizon)),
    ]);
  }

  // Reliability and sharpness in words; less of the first and more of the second is better. The Brier
  // score is that of the table, over all frames: two of them would be one too many.
  function inNumbers({ name: method, calibration: found, scores }, horizon) {
    if (!W.known(found.reliability)) return null;
    const { brier, brier_of_base_rate: base } = scores;
    return build("dl.calibration-numbers", {}, [
      pair("Off by", points(Math.sqrt(found.reliability)), `reliability: what ${method} says and what comes differ by so much (root mean square over the dots); less is better`),
      pair("Sharp by", points(found.sharpness), "sharpness: how much the chances differ from frame to frame (their standard deviation); 0 is who says the same of every frame"),
      W.known(brier.value)
        ? pair("Brier score", `${W.fixed(brier.value, 2)}; always saying the overall share ${W.fixed(base.value, 2)}`, `mean squared error of the chance of success within ${horizon} steps, over all frames; less is better`)
        : [],
    ].flat());
  }

  const points = (share) => `${W.whole(100 * share)} points`;
  const pair = (term, value, meaning) => [build("dt", { text: term, title: meaning }), build("dd", {}, [value, build("span.score-meaning", { text: meaning })])];

  function draw(told) {
    const { plain, css, colour } = goalward.charts;
    const perfect = { type: "scatter", mode: "lines", x: [0, 1], y: [0, 1], line: { color: css("--text-faint"), dash: "dash", width: 1.2 }, hoverinfo: "skip", showlegend: false };
    const most = Math.max(1, ...told.flatMap((m) => m.calibration.bins.map((b) => b.num_frames)));
    const traces = told.map((method, index) => {
      const bins = method.calibration.bins;
      return {
        type: "scatter", mode: index ? "markers" : "markers+text", name: plain(method.name),
        x: bins.map((b) => b.predicted), y: bins.map((b) => b.observed),
        text: bins.map((b) => W.whole(b.num_frames)), textposition: "middle right", textfont: { size: 10.5, color: css("--text-soft") },
        // One method at a time is enough for intervals; the first speaks for the policy.
        error_y: index ? undefined : { type: "data", symmetric: false, thickness: 1, width: 2, color: colour(method),
          array: bins.map((b) => (W.known(b.high) ? b.high - b.observed : 0)), arrayminus: bins.map((b) => (W.known(b.low) ? b.observed - b.low : 0)) },
        marker: { color: colour(method), size: bins.map((b) => 5 + 12 * Math.sqrt(b.num_frames / most)), opacity: 0.9 },
        hovertext: bins.map((b) => `${plain(method.name)} said ${W.percent(b.predicted)}, ${W.percent(b.observed)} came<br>${W.counted(b.num_frames, "frame")} of ${W.counted(b.num_episodes, "episode")}`),
        hovertemplate: "%{hovertext}<extra></extra>",
      };
    });
    const range = [-0.04, 1.06];
    return [[perfect, ...traces], {
      showlegend: told.length > 1,
      xaxis: { title: { text: "predicted chance" }, range, tickformat: ".0%" }, yaxis: { title: { text: "share that succeeded" }, range, tickformat: ".0%" },
    }];
  }

  goalward.calibration = calibration;
})();
