// How the networks learned: losses over gradient steps, drawn when a reader asks for them.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  function training() {
    const stages = goalward.run.front.training;
    if (!stages.length) return null;
    const isJudged = stages.some((stage) => stage.kept.length);
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
    const { colour, css } = goalward.charts;
    const traces = stage.losses.flatMap((losses) => lines(losses, colour(losses)));
    if (stage.kept.length) {
      traces.push({
        type: "scatter", mode: "markers", name: "kept", x: stage.kept.map(([step]) => step), y: stage.kept.map(([, loss]) => loss),
        marker: { color: colour(stage.losses[1]), size: 6, line: { width: 1, color: css("--panel") } },
        hovertemplate: "kept: step %{x}, held out %{y:.3g}<extra></extra>",
      });
    }
    const losses = traces.flatMap(({ y }) => y).filter((loss) => loss > 0);
    const last = Math.max(...stage.losses[0].steps);
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
  function lines({ kind, steps, mean, networks }, color) {
    const cut = (list) => [...list, null];
    const dash = kind === "training" ? "solid" : "5px,3px";
    return [
      { type: "scatter", mode: "lines", x: networks.flatMap(([at]) => cut(at)), y: networks.flatMap(([, losses]) => cut(losses)), line: { color, dash, width: 1 }, opacity: 0.5, hoverinfo: "skip", showlegend: false },
      { type: "scatter", mode: "lines", name: kind, x: steps, y: mean, line: { color, dash, width: 2.4 }, hovertemplate: `${kind}, step %{x}: %{y:.3g}<extra></extra>` },
    ];
  }

  goalward.training = training;
})();
