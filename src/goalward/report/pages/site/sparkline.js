// A curve the size of a word.
"use strict";
(function () {
  const WIDTH = 120;
  const HEIGHT = 28;

  // Down is towards the goal, as everywhere.
  function sparkline(points, outcome) {
    const scale = goalward.run.spark_scale;
    const last = points.length - 1;
    const x = (i) => (last ? 2 + ((WIDTH - 6) * i) / last : WIDTH / 2);
    const y = (value) => 3 + (HEIGHT - 6) * (1 - value / scale);
    const line = points.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    return goalward.svg(
      "svg",
      { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, preserveAspectRatio: "none", "aria-hidden": "true" },
      [
        goalward.svg("polyline", { points: line, class: "spark-line" }),
        // A line of no length with round ends: a dot that stays round when the curve is stretched.
        goalward.svg("path", { d: `M${x(last).toFixed(1)} ${y(points[last]).toFixed(1)}h0`, class: `spark-end ${outcome}` }),
      ],
    );
  }

  goalward.sparkline = sparkline;
})();
