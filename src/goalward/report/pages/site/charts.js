// Figures of the front page. Plotly is large: words, numbers and tables are there before it.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;
  const GROUPS = { all: "all frames", success: "in successes", time_out: "in time-outs", failure: "in failures" };
  const drawings = [];
  let library = null;

  // ---- places, words and numbers: there at once ---------------------------------------------

  function figure(name, height, how, draw) {
    const place = build("div.plot", { role: "img", "aria-label": `${name}. ${how}`, style: { "min-height": `${height}px` } });
    drawings.push({ place, draw, height });
    return build("figure.chart", {}, [
      build("figcaption", {}, [build("h3", { text: name }), build("p.how", { text: how })]),
      place,
    ]);
  }

  const methodsOf = () => goalward.run.front.methods;
  const hasScores = (keys) => methodsOf().some((m) => keys.every((key) => W.known(m.scores[key].value)));
  // Those of the first figure that some method has.
  const mainScores = () => goalward.run.front.scores.filter(({ key, is_main }) => is_main && hasScores([key]));

  function methods(blocks) {
    const held = goalward.run.front.num_held_out;
    const seeds = goalward.run.front.num_seeds;
    const main = mainScores();
    const letters = methodsOf().some((m) => main.some(({ key }) => m.scores[key].letters));
    const bars = !main.length ? null : figure(
      "Scores of each method", 330,
      `Higher is better. ${main.map(({ name, meaning }) => `${name}: ${meaning}. `).join("")}${seeds > 1 ? "Error bars: one standard deviation over seeds." : "One seed: no error bars."}` +
        (letters ? " Methods without a common letter differ (Welch tests, Benjamini-Hochberg)." : ""),
      drawBars);
    const scatter = !hasScores(["success", "failure"]) ? null : figure(
      "Success against failure", 330,
      "The upper right corner is best: goals look near and failures look far. Small dots are seeds, large ones their mean.",
      drawScatter);
    const reliability = !methodsOf().some((m) => m.calibration.length) ? null : figure(
      "Are predicted chances right?", 330,
      `Predicted chance to succeed within ${goalward.run.front.standard_horizon} steps against the share that did: on the dashed line is right, under it too hopeful. Larger dots stand for more frames.`,
      drawReliability);
    return goalward.overview.panel("Methods compared", [
      build("p.how", { text: `On ${W.counted(held, "held-out episode")}, ${W.counted(seeds, "seed")} per method.` }),
      bars,
      build("div.chart-pair", {}, [scatter, reliability]),
      inWords(blocks),
      scoreTable(),
      goalward.training(),
    ]);
  }

  const inWords = (blocks) => build("details.words", {}, [build("summary", { text: "In words" }), build("div.prose", {}, W.blocks(blocks))]);

  function scoreTable() {
    const scores = goalward.run.front.scores.filter(({ key }) => hasScores([key]));
    if (!scores.length) return null;
    const head = build("tr", {}, [build("th", { scope: "col", text: "Score" }), ...methodsOf().map((m) =>
      build("th.number", { scope: "col" }, [swatch(m), m.name]))]);
    const rows = scores.map((score) => build("tr", {}, [
      build("th", { scope: "row" }, [
        build("span.score-name", { text: score.heading }),
        build("span.score-meaning", { text: score.meaning }),
      ]),
      ...methodsOf().map((m) => scoreCell(m.scores[score.key], score.digits)),
    ]));
    return build("details", {}, [
      build("summary", { text: "All scores as a table" }),
      build("div.scroll", { tabindex: "0", role: "region", "aria-label": "All scores" },
        build("table.scores", {}, [build("thead", {}, head), build("tbody", {}, rows)])),
    ]);
  }

  function scoreCell(cell, digits) {
    if (!W.known(cell.value)) return build("td.number", { title: cell.reason, text: "–" });
    const span = W.known(cell.low) ? `95 % interval ${W.fixed(cell.low, digits)} to ${W.fixed(cell.high, digits)}` : "";
    return build("td.number", { title: span }, [
      build("span", { text: W.fixed(cell.value, digits) }),
      W.known(cell.sd) ? build("span.sd", { text: ` ± ${W.fixed(cell.sd, digits)}` }) : null,
      cell.letters ? build("sup", { text: cell.letters }) : null,
    ]);
  }

  function swatch(method) {
    return build("span.swatch", { style: { "--light": method.colours.light, "--dark": method.colours.dark } });
  }

  function truth(section) {
    if (!section) return null;
    return goalward.overview.panel(section.title, [
      figure("Mean error of the values", 300,
        "Lower is better. Bars: how far values are from those a simulator measured by running on from the same frames; error bars: 95 % intervals; grey: what a perfect prediction would show, as the truth is sampled.",
        drawTruth),
      inWords(section.blocks),
    ]);
  }

  // ---- drawing: when Plotly is there --------------------------------------------------------

  // Plotly reads names as markup.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = ({ colours }) => colours[window.goalwardTheme.isDark() ? "dark" : "light"];

  function layout(extra, height) {
    const axis = { gridcolor: css("--line"), zerolinecolor: css("--line-strong"), linecolor: css("--line-strong"), fixedrange: true, automargin: true };
    const titled = (title) => (title ? { title: { ...title, font: { size: 12.5 }, standoff: 8 } } : {});
    const { xaxis, yaxis, ...rest } = extra;
    return {
      height,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css("--font"), size: 13, color: css("--text-soft") },
      margin: { l: 48, r: 12, t: 8, b: 40 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--text-faint"), activecolor: css("--accent") },
      legend: { orientation: "h", itemsizing: "constant", y: 1.02, yanchor: "bottom", x: 0 },
      hoverlabel: { bgcolor: css("--panel"), bordercolor: css("--line-strong"), font: { color: css("--text"), family: css("--font") } },
      dragmode: false,
      xaxis: { ...axis, ...xaxis, ...titled(xaxis.title) },
      yaxis: { ...axis, ...yaxis, ...titled(yaxis.title) },
      ...rest,
    };
  }

  function drawBars() {
    const main = mainScores();
    const traces = methodsOf().map((method) => {
      const scores = main.map(({ key }) => method.scores[key]);
      return {
        type: "bar",
        name: plain(method.name),
        x: main.map(({ name }) => name),
        y: scores.map((s) => s.value),
        text: scores.map((s) => s.letters),
        textposition: "none",
        error_y: { type: "data", array: scores.map((s) => s.sd || 0), color: css("--text-soft"), thickness: 1.4, width: 3, visible: scores.some((s) => s.sd) },
        marker: { color: colour(method) },
        hovertemplate: `${plain(method.name)}, %{x}: %{y:.2f}<extra></extra>`,
      };
    });
    // Letters stand above the error bars, where Plotly puts no text of bars.
    const width = 0.8 / traces.length;
    const letters = methodsOf().flatMap((method, m) => main.map(({ key }, k) => ({ score: method.scores[key], x: k + (m - (traces.length - 1) / 2) * width })));
    const annotations = letters.filter(({ score }) => score.letters && W.known(score.value)).map(({ score, x }) => ({
      x, y: Math.max(score.value + (score.sd || 0), 0), text: score.letters, showarrow: false, yshift: 9, font: { size: 12, color: css("--text-soft") },
    }));
    return [traces, { barmode: "group", bargap: 0.2, annotations, yaxis: { title: { text: "score (0 to 1)" }, range: [0, 1.12], tickvals: [0, 0.25, 0.5, 0.75, 1] }, xaxis: { gridcolor: "rgba(0,0,0,0)" } }];
  }

  function drawScatter() {
    const traces = methodsOf().flatMap((method) => {
      const { success, failure } = method.scores;
      if (!W.known(success.value) || !W.known(failure.value)) return [];
      const marker = { color: colour(method) };
      return [
        { type: "scatter", mode: "markers", x: failure.seeds, y: success.seeds, marker: { ...marker, size: 6, opacity: 0.45 }, showlegend: false, hoverinfo: "skip", legendgroup: method.name },
        { type: "scatter", mode: "markers", name: plain(method.name), x: [failure.value], y: [success.value], legendgroup: method.name,
          marker: { ...marker, size: 14, line: { width: 1.5, color: css("--panel") } },
          hovertemplate: `${plain(method.name)}<br>success %{y:.2f}<br>failure %{x:.2f}<extra></extra>` },
      ];
    });
    const range = [-0.05, 1.05];
    return [traces, { xaxis: { title: { text: "failure" }, range }, yaxis: { title: { text: "success" }, range } }];
  }

  function drawReliability() {
    const perfect = { type: "scatter", mode: "lines", x: [0, 1], y: [0, 1], line: { color: css("--text-faint"), dash: "dash", width: 1.2 }, hoverinfo: "skip", showlegend: false };
    const most = Math.max(1, ...methodsOf().flatMap((m) => m.calibration.map((b) => b.num_frames)));
    const traces = methodsOf().filter((m) => m.calibration.length).map((method, index) => {
      const bins = method.calibration;
      return {
        type: "scatter", mode: "lines+markers", name: plain(method.name),
        x: bins.map((b) => b.predicted), y: bins.map((b) => b.observed),
        // One method at a time is enough for intervals; the first speaks for the policy.
        error_y: index ? undefined : { type: "data", symmetric: false, thickness: 1, width: 2, color: colour(method),
          array: bins.map((b) => (W.known(b.high) ? b.high - b.observed : 0)), arrayminus: bins.map((b) => (W.known(b.low) ? b.observed - b.low : 0)) },
        line: { color: colour(method), width: index ? 1.2 : 2.2 },
        marker: { color: colour(method), size: bins.map((b) => 5 + 12 * Math.sqrt(b.num_frames / most)), opacity: 0.9 },
        customdata: bins.map((b) => b.num_frames),
        hovertemplate: `${plain(method.name)}: said %{x:.0%}, came %{y:.0%}<br>%{customdata} frames<extra></extra>`,
      };
    });
    const range = [-0.04, 1.04];
    return [[perfect, ...traces], { xaxis: { title: { text: "predicted chance" }, range, tickformat: ".0%" }, yaxis: { title: { text: "share that succeeded" }, range, tickformat: ".0%" } }];
  }

  function drawTruth() {
    const found = goalward.run.front.truth;
    const names = found.groups.map(({ name }) => GROUPS[name]);
    const traces = found.methods.map((one) => ({
      type: "bar", name: plain(one.name), x: names, y: one.errors.map((e) => e.value),
      error_y: { type: "data", symmetric: false, color: css("--text-soft"), thickness: 1.4, width: 3,
        array: one.errors.map((e) => (W.known(e.high) ? e.high - e.value : 0)), arrayminus: one.errors.map((e) => (W.known(e.low) ? e.value - e.low : 0)) },
      marker: { color: colour(methodsOf().find((m) => m.name === one.name)) },
      hovertemplate: `${plain(one.name)}, %{x}: off by %{y:.2f}<extra></extra>`,
    }));
    const shapes = found.groups.map((group, i) => ({ type: "rect", layer: "above", x0: i - 0.42, x1: i + 0.42, y0: 0, y1: group.noise || 0, fillcolor: css("--text-faint"), opacity: 0.35, line: { width: 0 } }));
    return [traces, { barmode: "group", bargap: 0.2, shapes, yaxis: { rangemode: "tozero", title: { text: "error of the value (0 to 2)" } }, xaxis: { gridcolor: "rgba(0,0,0,0)" } }];
  }

  async function drawAll() {
    if (!library) library = goalward.loadScript("assets/plotly.min.js");
    try {
      await library;
    } catch (error) {
      for (const { place } of drawings) goalward.replace(place, build("p.how", { text: `This figure cannot be drawn: ${error.message}.` }));
      return;
    }
    const hovers = window.matchMedia("(hover: hover)").matches;
    const config = { displayModeBar: hovers ? "hover" : false, displaylogo: false, responsive: true, modeBarButtons: [["toImage"]], plotlyServerURL: "", showTips: false };
    for (const { place, draw, height } of drawings) {
      if (!place.isConnected || !place.offsetParent || place.closest("details:not([open])")) continue;
      const [traces, extra] = draw();
      await window.Plotly.react(place, traces, layout(extra, height), config);
    }
    document.documentElement.dataset.charts = "drawn";
  }

  goalward.charts = { methods, truth, figure, css, colour, drawAll };
})();
