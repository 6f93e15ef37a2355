// Success over the space of starts: where episodes began, by what the robot said of itself there.
"use strict";
(function () {
  const W = goalward.words;

  function starts(front) {
    const found = front.starts;
    if (!found) return null;
    const open = ([position]) => goalward.route.go(goalward.route.toEpisode(goalward.run.episodes[position].id));
    return goalward.overview.panel("By start", goalward.charts.figure("Where episodes began, and how they ended", 380,
      `Every dot is an episode, at the two numbers of its first frame's state that differ most between episodes (${found.names.join(" and ")}). What the state does not hold, the objects perhaps, is not in this picture. A dot opens its episode.`,
      () => draw(found), open), { class: "panel starts" });
  }

  function draw(found) {
    const { css, plain } = goalward.charts;
    const rows = goalward.run.episodes;
    const traces = Object.keys(W.OUTCOMES).filter((outcome) => rows.some((row) => row.outcome === outcome)).map((outcome) => {
      const own = [...rows.keys()].filter((i) => rows[i].outcome === outcome);
      return {
        type: "scatter", mode: "markers", name: W.OUTCOMES[outcome],
        x: own.map((i) => found.x[i]), y: own.map((i) => found.y[i]),
        customdata: own.map((i) => [i]),
        text: own.map((i) => `episode ${plain(goalward.shortened(rows[i].id))}`),
        marker: { color: css(`--${outcome}`), size: 9, opacity: 0.8, symbol: outcome === "success" ? "circle" : outcome === "failure" ? "x" : "diamond" },
        hovertemplate: "%{text}<extra></extra>",
      };
    });
    return [traces, { hovermode: "closest", xaxis: { title: { text: plain(found.names[0]) } }, yaxis: { title: { text: plain(found.names[1]) } } }];
  }

  goalward.starts = starts;
})();
