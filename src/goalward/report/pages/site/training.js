// How the networks learned: losses over gradient steps, drawn when a reader asks for them.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  function training() {
    const stages = goalward.run.front.training;
    if (!stages.length) return null;
    const isJudged = stages.some((stage) => stage.held_out);
    const how = "Losses over gradient steps; thin lines are networks, thick ones their mean. " + (isJudged
      ? "Look for a held-out loss that rises while the training loss falls: from there on networks learn by heart. Dots: where each was at its best, which is what was kept. Compare how the two lines run, not how high: held-out episodes are scored otherwise."
      : "No episodes were held out from training, so nobody can see here whether networks learn by heart.");
    return build("details.training", { ontoggle: (event) => event.target.open && goalward.charts.drawAll() }, [
      build("summary", { text: "How the networks learned" }),
      build("p.how", { text: how }),
      build("div.chart-pair", {}, stages.map((stage) =>
        goalward.charts.figure(stage.name, 260, W.counted(stage.num_networks, "network"), () => drawn(stage)))),
    ]);
  }

  function drawn(stage) {
    const traces = [
      ...lines(stage.training, "training", goalward.charts.css("--text-soft")),
      ...(stage.held_out ? lines(stage.held_out, "held out", goalward.charts.css("--accent")) : []),
    ];
    if (stage.kept.length) {
      traces.push({
        type: "scatter", mode: "markers", name: "kept", x: stage.kept.map(([step]) => step), y: stage.kept.map(([, loss]) => loss),
        marker: { color: goalward.charts.css("--accent"), size: 6, line: { width: 1, color: goalward.charts.css("--panel") } },
        hovertemplate: "kept: step %{x}, held out %{y:.3g}<extra></extra>",
      });
    }
    const losses = traces.flatMap(({ y }) => y).filter((loss) => loss > 0);
    const last = Math.max(...stage.training.steps);
    return [traces, {
      xaxis: { title: { text: "gradient steps" }, range: [0, 1.03 * last] },
      yaxis: { title: { text: "loss" }, type: "log", tickvals: roundNumbers(Math.min(...losses), Math.max(...losses)), tickformat: ".2~g" },
    }];
  }

  // Round numbers from one loss to another: no more than it takes to read the scale.
  function roundNumbers(low, high) {
    const powers = Array.from({ length: Math.ceil(Math.log10(high / low)) + 2 }, (_, i) => 10 ** (Math.floor(Math.log10(low)) + i));
    const lists = [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8]].map((digits) =>
      powers.flatMap((power) => digits.map((digit) => digit * power)).filter((one) => one >= low && one <= high));
    return lists.find((list) => list.length >= 3) || lists.pop();
  }

  // All thin lines are one trace, cut by points that are none; then their mean.
  function lines({ steps, mean, networks }, name, color) {
    const cut = (list) => [...list, null];
    return [
      { type: "scatter", mode: "lines", x: networks.flatMap(() => cut(steps)), y: networks.flatMap(cut), line: { color, width: 1 }, opacity: 0.3, hoverinfo: "skip", showlegend: false },
      { type: "scatter", mode: "lines", name, x: steps, y: mean, line: { color, width: 2.4 }, hovertemplate: `${name}, step %{x}: %{y:.3g}<extra></extra>` },
    ];
  }

  goalward.training = training;
})();
