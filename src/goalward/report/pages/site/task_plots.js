// A small plot for each task: how often it succeeds, and the values of its episodes. All have the same axes.
"use strict";
(function () {
  const { build, named, svg } = goalward;
  const W = goalward.words;
  const WIDTH = 200;
  const HEIGHT = 96;
  // Room for the words of the axes.
  const ROOM = { left: 34, right: 4, top: 4, bottom: 15 };
  // More than these are asked for; single curves beyond so many of an outcome hide each other.
  const FIRST = 10;
  const MOST_CURVES = 15;
  // Fewer tasks have larger plots.
  const FEW = 4;
  // What three lines of a title hold.
  const MOST_CHARACTERS = 70;

  function taskPlots(tasks) {
    const grid = build(`ul.task-grid${tasks.length <= FEW ? ".few" : ""}`);
    const more = build("button.small-button.more-tasks", { type: "button", onclick: () => {
      isAll = !isAll;
      show();
    } });
    const episodes = episodesOf(tasks.length);
    const longest = Math.max(2, ...goalward.run.episodes.map(({ frames }) => frames));
    let order = [...tasks.keys()];
    let isAll = false;

    function show() {
      const shown = isAll ? order : order.slice(0, FIRST);
      goalward.replace(grid, shown.map((index) => plotOf(tasks[index], index, episodes[index], longest)));
      grid.classList.toggle("all", isAll);
      more.textContent = isAll ? `Show the first ${FIRST} only` : `Show all ${W.counted(tasks.length, "task")}`;
      more.setAttribute("aria-expanded", String(isAll));
    }

    return {
      setOrder: (wanted) => {
        order = wanted;
        show();
      },
      section: build("section.task-plots", {}, [
        build("h3", { text: "Success and values, task by task" }),
        build("p.how", {}, [
          "Bars: the success rate with its 95 % interval. Curves: the value of each episode from its first frame on, down is towards the goal; thick lines: the mean of an outcome, where an episode that has ended keeps its last value. ",
          "Axes are the same everywhere, the order is that of the table. A task leads to its episodes.",
        ]),
        goalward.answer.doubtLine(),
        key(),
        grid,
        tasks.length > FIRST ? more : null,
      ]),
    };
  }

  // The rows of the episodes of each task.
  function episodesOf(count) {
    const found = Array.from({ length: count }, () => []);
    for (const row of goalward.run.episodes) found[row.task].push(row);
    return found;
  }

  const isThere = (outcome) => goalward.run.episodes.some((row) => row.outcome === outcome);

  function key() {
    return build("ul.task-key", {}, Object.keys(W.OUTCOMES).filter(isThere).map((outcome) => build("li", {}, [
      svg("svg", { width: 28, height: 8, viewBox: "0 0 28 8", "aria-hidden": "true" }, svg("path", { d: "M1 4h26", class: `task-mean ${outcome}` })),
      W.OUTCOMES[outcome],
    ])));
  }

  // ---- one task -----------------------------------------------------------------------------

  function plotOf(task, index, rows, longest) {
    const { success } = task;
    const words = `${success.count} of ${success.total}: ${W.percent(success.value)} (${W.percent(success.low)} to ${W.percent(success.high)})`;
    return build("li", {}, build("a.task-plot", { href: goalward.route.freshLink({ view: "episodes", task: String(index) }) }, [
      build("span.task-title", {}, named(task.name, MOST_CHARACTERS)),
      build("span.task-rate", { text: words }),
      goalward.answer.bar(success, "Success rate"),
      curves(task, rows, longest),
    ]));
  }

  function curves({ means }, rows, longest) {
    const x = (frame) => ROOM.left + ((WIDTH - ROOM.left - ROOM.right) * frame) / (longest - 1);
    const y = (value) => HEIGHT - ROOM.bottom - ((HEIGHT - ROOM.top - ROOM.bottom) * value) / goalward.run.spark_scale;
    const line = (points, frames, names) => svg("polyline", {
      class: names,
      points: points.map((value, i) => `${x((i * (frames - 1)) / Math.max(points.length - 1, 1)).toFixed(1)},${y(value).toFixed(1)}`).join(" "),
    });
    const level = (value) => svg("path", { class: "task-level", d: `M${ROOM.left} ${y(value)}H${WIDTH - ROOM.right}` });
    const word = (text, at, options) => svg("text", { class: "task-axis", ...at, ...options, text });
    const outcomes = Object.keys(W.OUTCOMES).filter((outcome) => rows.some((row) => row.outcome === outcome));
    return svg("svg", { class: "task-curves", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `The values of ${W.counted(rows.length, "episode")}` }, [
      level(0), level(goalward.run.spark_scale),
      word("never", { x: ROOM.left - 4, y: ROOM.top + 7 }, { "text-anchor": "end" }),
      word("goal", { x: ROOM.left - 4, y: HEIGHT - ROOM.bottom }, { "text-anchor": "end" }),
      word("0", { x: ROOM.left, y: HEIGHT - 3 }),
      word(`${W.whole(longest)} frames`, { x: WIDTH - ROOM.right, y: HEIGHT - 3 }, { "text-anchor": "end" }),
      ...outcomes.flatMap((outcome) => {
        const own = evenly(rows.filter((row) => row.outcome === outcome), MOST_CURVES);
        const mean = means[outcome];
        return [
          ...own.map((row) => line(row.spark, row.frames, `task-curve ${outcome}${mean ? " behind" : ""}`)),
          mean ? line(mean.line, mean.frames, `task-mean ${outcome}`) : null,
        ];
      }),
    ]);
  }

  // Of a long list so many, from its whole length.
  function evenly(list, most) {
    if (list.length <= most) return list;
    return Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]);
  }

  goalward.taskPlots = taskPlots;
})();
