// What figures of the front page share. Plotly is large: words, numbers and tables are there before it.
"use strict";
(function () {
  const { build } = goalward;
  const drawings = [];
  let library = null;

  // ---- a place with its words: there at once ------------------------------------------------

  // `onPoint(customdata)` when a dot is pressed.
  function figure(name, height, how, draw, onPoint) {
    const place = build("div.plot", { role: "group", "aria-label": `${name}. ${how}`, style: { "min-height": `${height}px` } });
    drawings.push({ place, draw, height, onPoint });
    return build("figure.chart", {}, [
      build("figcaption", {}, [build("h3", { text: name }), build("p.how", { text: how })]),
      place,
    ]);
  }

  // ---- drawing: when Plotly is there --------------------------------------------------------

  // Plotly reads names as markup.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = ({ colours }) => colours[window.goalwardTheme.isDark() ? "dark" : "light"];

  // Bars are pale with a line around them, so that error bars are seen upon them.
  const bar = (shown) => ({ color: `${shown}80`, line: { color: shown, width: 1.5 } });

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
    for (const { place, draw, height, onPoint } of drawings) {
      if (!place.isConnected || !place.offsetParent || place.closest("details:not([open])")) continue;
      const [traces, extra] = draw(place.clientWidth);
      await window.Plotly.react(place, traces, layout(extra, height), config);
      if (onPoint && place.on && !place.isHeard) {
        place.isHeard = true;
        place.on("plotly_click", ({ points }) => points[0].customdata && onPoint(points[0].customdata));
      }
    }
    document.documentElement.dataset.charts = "drawn";
  }

  // ---- on paper: as wide as half a sheet, and back ------------------------------------------

  const PAPER = { width: 320, height: 155, autosize: false };

  function shrinkAll() {
    for (const { place, draw } of drawings) {
      if (!place.isConnected || !place.classList.contains("js-plotly-plot")) continue;
      const [traces, extra] = draw(PAPER.width);
      const drawn = layout(extra, PAPER.height);
      window.Plotly.react(place, traces, { ...drawn, ...PAPER, font: { ...drawn.font, size: 9 } }, { staticPlot: true });
    }
  }

  window.addEventListener("beforeprint", shrinkAll);
  window.addEventListener("afterprint", () => library && drawAll());

  goalward.charts = { figure, plain, css, colour, bar, drawAll };
})();
