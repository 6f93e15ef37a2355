// The methods compared: plain names, a line where no skill is, who is better than whom.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  const methodsOf = () => goalward.run.front.methods;
  const hasScores = (keys) => methodsOf().some((m) => keys.every((key) => W.known(m.scores[key].value)));
  // Those of the first figure that some method has. First what the answer on top rests on: the others
  // go by one line between near and far, and say little of values that all lie on one side of it.
  function mainScores() {
    const asked = { ...scoreOf("frame_auroc"), plain: "a success looks nearer", is_percent: true };
    return [asked, ...goalward.run.front.scores.filter(({ is_main: isMain }) => isMain)].filter(({ key }) => hasScores([key]));
  }
  const shown = (score, value) => (score.is_percent ? W.percent(value) : W.fixed(value, score.digits));
  const scoreOf = (key) => goalward.run.front.scores.find((score) => score.key === key);

  const SEEDS = "a network starts from random numbers; with another seed it comes out a little different";
  const EPISODES = "other rollouts of the same policy would have gone a little otherwise";

  function methods(blocks) {
    const { num_held_out: held, num_seeds: seeds, standard_horizon: horizon } = goalward.run.front;
    const main = mainScores();
    const isOne = methodsOf().length === 1;
    const bars = !main.length ? null : goalward.charts.figure(
      isOne ? "What the values get right" : "What the values of each method get right", 300,
      `${main.map((score) => `${W.capital(score.plain)}: ${score.meaning}. `).join("")}` +
        (main[0].key === "frame_auroc" ? `The first bar is what the answer on top rests on. The others part near from far at ${horizon} steps, and values in the right order may all lie on one side of that. ` : "") +
        "Higher is better; the dashed line is what guessing gets. " +
        (seeds > 1 ? "Error bars: one standard deviation over seeds." : "One seed: no error bars."),
      (width) => drawBars(main, width));
    const scatter = isOne || !hasScores(["success", "failure"]) ? null : goalward.charts.figure(
      "Near and far", 330,
      "The upper right corner is best: goals look near and other episodes look far. On the dashed line is who knows nothing and says near, or far, everywhere. Small dots are seeds, large ones their mean.",
      drawScatter);
    return goalward.overview.panel(isOne ? "How good the values are" : "Methods compared", [
      build("p.how", {}, [
        `On ${W.counted(held, "held-out episode")}, `,
        // The mark ends no line of its own.
        build("span.unbroken", {}, [goalward.overview.explained(`${W.counted(seeds, "seed")} per method`, SEEDS), ";"]),
        " ", goalward.overview.explained("95 % intervals", `They hold what seeds and episodes leave open: ${SEEDS}, and ${EPISODES}`), " in the table.",
      ]),
      bars ? build("div.bars", {}, bars) : null,
      build("div.chart-pair", {}, [scatter, goalward.calibration()]),
      goalward.overview.inWords(blocks),
      scoreTable(),
      goalward.training(),
    ]);
  }

  function scoreTable() {
    const scores = goalward.run.front.scores.filter(({ key }) => hasScores([key]));
    if (!scores.length) return null;
    const head = build("tr", {}, [build("th", { scope: "col", text: "Score" }), ...methodsOf().map((m) =>
      build("th.number", { scope: "col" }, [swatch(m), m.name]))]);
    const rows = scores.map((score) => build("tr", {}, [
      build("th", { scope: "row" }, [
        build("span.score-name", { text: score.plain === score.name ? score.heading : `${score.plain} (${score.heading})` }),
        build("span.score-meaning", { text: score.meaning + (W.known(score.no_skill) ? `; no skill: ${shown(score, score.no_skill)}` : "") }),
      ]),
      ...methodsOf().map((m) => scoreCell(m.scores[score.key], score)),
    ]));
    return build("details", {}, [
      build("summary", { text: "All scores as a table" }),
      build("div.scroll", { tabindex: "0", role: "region", "aria-label": "All scores" },
        build("table.scores", {}, [build("thead", {}, head), build("tbody", {}, rows)])),
    ]);
  }

  function scoreCell(cell, score) {
    if (!W.known(cell.value)) return build("td.number", { title: cell.reason, text: "–" });
    const better = cell.better_than || [];
    return build("td.number", {}, [
      build("span", { text: shown(score, cell.value) }),
      W.known(cell.sd) ? build("span.sd", { text: ` ± ${shown(score, cell.sd)}`, title: "one standard deviation over seeds" }) : null,
      W.known(cell.low) ? build("span.ends", { text: `${shown(score, cell.low)} to ${shown(score, cell.high)}`, title: "95 % interval over seeds and episodes" }) : null,
      better.length ? build("span.ends.better", { text: `better than ${better.join(", ")}`, title: "by more than seeds explain (Welch tests, Benjamini-Hochberg)" }) : null,
    ]);
  }

  function swatch(method) {
    return build("span.swatch", { style: { "--light": method.colours.light, "--dark": method.colours.dark } });
  }

  // ---- drawing ------------------------------------------------------------------------------

  // A label in lines of about so many letters, broken between words.
  function inLines(text, most) {
    const lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + word.length >= most) lines.push(word);
      else lines.push([lines.pop(), word].filter((part) => part).join(" "));
    }
    return lines.join("<br>");
  }

  function drawBars(main, width) {
    const { plain, css, colour } = goalward.charts;
    // On a phone and on half a sheet of paper a label would lie across its neighbour.
    const isNarrow = width < 640;
    const isOne = methodsOf().length === 1;
    const traces = methodsOf().map((method) => {
      const scores = main.map(({ key }) => method.scores[key]);
      return {
        type: "bar",
        name: plain(method.name),
        x: main.map((score) => inLines(plain(score.plain), isNarrow ? 9 : 30) + (isOne ? `${isNarrow ? "<br>" : ": "}<b>${shown(score, method.scores[score.key].value)}</b>` : "")),
        y: scores.map((s) => s.value),
        text: scores.map((s) => (s.better_than && s.better_than.length ? `<br>better than ${plain(s.better_than.join(", "))}` : "")),
        textposition: "none",
        error_y: { type: "data", array: scores.map((s) => s.sd || 0), color: css("--text"), thickness: 1.4, width: 3, visible: scores.some((s) => s.sd) },
        marker: goalward.charts.bar(colour(method)),
        customdata: main.map((score) => plain(score.plain)),
        hovertemplate: `${plain(method.name)}, %{customdata}: %{y:.0%}%{text}<extra></extra>`,
      };
    });
    const shapes = main.flatMap((score, i) => (W.known(score.no_skill)
      ? [{ type: "line", x0: i - 0.45, x1: i + 0.45, y0: score.no_skill, y1: score.no_skill, line: { color: css("--text"), width: 1.6, dash: "dash" } }] : []));
    // Right of the last line, where no bar is under it.
    const annotations = shapes.slice(-1).map(({ x1, y0 }) => ({ x: x1, y: y0, text: "no skill", showarrow: false, xanchor: "left", xshift: 3, font: { size: 11.5, color: css("--text-soft") } }));
    return [traces, {
      margin: { l: 48, r: 52, t: 8, b: 40 },
      barmode: "group", bargap: 0.2, shapes, annotations, showlegend: traces.length > 1,
      yaxis: { range: [0, 1.05], tickvals: [0, 0.25, 0.5, 0.75, 1], tickformat: ".0%" }, xaxis: { gridcolor: "rgba(0,0,0,0)", tickangle: 0, tickfont: { size: width <= 320 ? 7.5 : isNarrow ? 10 : 13 } },
    }];
  }

  function drawScatter() {
    const { plain, css, colour } = goalward.charts;
    const traces = methodsOf().flatMap((method) => {
      const { success, failure } = method.scores;
      if (!W.known(success.value) || !W.known(failure.value)) return [];
      const marker = { color: colour(method) };
      return [
        { type: "scatter", mode: "markers", x: failure.seeds, y: success.seeds, marker: { ...marker, size: 6, opacity: 0.45 }, showlegend: false, hoverinfo: "skip", legendgroup: method.name },
        { type: "scatter", mode: "markers", name: plain(method.name), x: [failure.value], y: [success.value], legendgroup: method.name,
          marker: { ...marker, size: 14, line: { width: 1.5, color: css("--panel") } },
          hovertemplate: `${plain(method.name)}<br>goals seen as near %{y:.0%}<br>others seen as far %{x:.0%}<extra></extra>` },
      ];
    });
    const range = [-0.05, 1.05];
    const noSkill = { type: "line", x0: 0, y0: 1, x1: 1, y1: 0, line: { color: css("--text-faint"), width: 1.2, dash: "dash" } };
    return [traces, { shapes: [noSkill], xaxis: { title: { text: scoreOf("failure").plain }, range, tickformat: ".0%" }, yaxis: { title: { text: scoreOf("success").plain }, range, tickformat: ".0%" } }];
  }

  goalward.methods = methods;
})();
