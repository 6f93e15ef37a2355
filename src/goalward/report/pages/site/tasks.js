// The table of tasks on the front page: what is known of each, sorted by its headers or, on a phone, by a list.
"use strict";
(function () {
  const { build, named } = goalward;
  const W = goalward.words;
  const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

  // `desc` is the direction that puts what is worth seeing on top.
  const COLUMNS = [
    { key: "name", name: "Task", of: (task) => task.name, desc: false, isLeft: true },
    { key: "episodes", name: "Episodes", of: (task) => task.success.total, desc: true },
    { key: "rate", name: "Success rate", of: (task) => task.success.value, desc: false, isLeft: true, about: "with its 95 % interval" },
    { key: "time_outs", name: "Timed out", of: (task) => task.time_outs, desc: true },
    { key: "failures", name: "Failed early", of: (task) => task.failures, desc: true },
    { key: "more_time", name: "With twice the time", unit: "of time-outs", of: (task) => task.more_time && task.more_time.value, desc: true, about: "the share of its time-outs that is expected to succeed, each given its own clock again" },
    { key: "auroc", name: "Frame AUROC", of: (task) => task.auroc.value, desc: true, about: "held-out episodes of this task among themselves" },
    { key: "values", name: "Values", of: (task) => task.values, desc: false, isLeft: true, about: "whether they tell successes from other episodes of this task" },
  ];

  // So many tasks are seen at once.
  const SEEN = 10;

  function tasks(front, section) {
    if (!section || !W.known(front.tasks[0].success)) return null;
    const place = build(`div.scroll.task-scroll${front.tasks.length > SEEN ? ".many" : ""}`, { tabindex: "0", role: "region", "aria-label": "Table of tasks" });
    const plots = goalward.taskPlots(front.tasks);
    const orders = ordersOf(front.tasks);
    const list = build("select", { onchange: () => sort(orders[list.selectedIndex]) }, orders.map(({ words }) => build("option", { text: words })));
    function sort(to) {
      list.selectedIndex = orders.findIndex(({ key, desc }) => key === to.key && desc === to.desc);
      plots.setOrder(showRows(place, front.tasks, to, sort));
    }
    sort({ key: "episodes", desc: true });
    // All tasks are in the table below, with more columns than the summary has.
    const told = section.blocks.filter(({ kind }) => kind === "paragraph");
    return goalward.overview.panel(section.title, [
      build("div.prose", {}, W.blocks(told)),
      build("label.field.task-sort", {}, [build("span.field-name", { text: "Sort by" }), list]),
      place,
      front.tasks.length > SEEN ? build("p.how.on-paper", { text: `The first ${SEEN} of ${front.tasks.length} tasks.` }) : null,
      plots.section,
    ]);
  }

  // Both ways of every header, which a phone has no room for.
  function ordersOf(all) {
    return columnsOf(all).flatMap((column) => [column.desc, !column.desc].map((desc) => {
      const isText = typeof column.of(all[0]) === "string";
      const way = isText ? (desc ? "Z to A" : "A to Z") : desc ? "highest first" : "lowest first";
      return { key: column.key, desc, words: `${column.name}, ${way}` };
    }));
  }

  // The positions of tasks as their rows stand.
  function showRows(place, all, sorted, sort) {
    const column = COLUMNS.find(({ key }) => key === sorted.key);
    const sign = sorted.desc ? -1 : 1;
    const order = [...all.keys()].sort((a, b) => compared(column.of(all[a]), column.of(all[b]), sign) || a - b);
    goalward.replace(place, build("table.tasks", {}, [
      build("caption.offscreen", { text: "Tasks" }),
      build("thead", {}, build("tr", {}, columnsOf(all).map((one) => header(one, sorted, (to) => {
        sort(to);
        place.querySelector(`button.sort[data-key="${to.key}"]`).focus();
      })))),
      build("tbody", {}, order.map((index) => rowOf(all[index], index, hasMoreTime(all)))),
    ]));
    return order;
  }

  const hasMoreTime = (all) => all.some((task) => task.more_time);
  const columnsOf = (all) => COLUMNS.filter(({ key }) => key !== "more_time" || hasMoreTime(all));

  // What has no number comes last, whichever way the rest is sorted.
  function compared(a, b, sign) {
    if (!W.known(a) || !W.known(b)) return Number(!W.known(a)) - Number(!W.known(b));
    return sign * (typeof a === "string" ? byName(a, b) : a - b);
  }

  function header(column, sorted, sort) {
    const isSorted = sorted.key === column.key;
    const desc = isSorted ? !sorted.desc : column.desc;
    return build(`th${column.isLeft ? "" : ".number"}`, { scope: "col", "aria-sort": isSorted ? (sorted.desc ? "descending" : "ascending") : "none" },
      build("button.sort", { type: "button", title: column.about, "data-key": column.key, onclick: () => sort({ key: column.key, desc }) }, [
        build("span", {}, [column.name, column.unit ? build("span.unit", { text: ` ${column.unit}` }) : null]),
        build("span.arrow", { "aria-hidden": "true", text: isSorted ? (sorted.desc ? "↓" : "↑") : "" }),
      ]));
  }

  function rowOf(task, index, hasMoreTime) {
    const episodes = goalward.route.freshLink({ view: "episodes", task: String(index) });
    return build("tr", {}, [
      build("th.task-name", { scope: "row" }, build("a", { href: episodes }, named(task.name))),
      build("td.number", { "data-name": "Episodes", text: W.whole(task.success.total) }),
      build("td.rate", { "data-name": "Success rate" }, [
        build("span", { text: `${W.percent(task.success.value)} (${W.percent(task.success.low)} to ${W.percent(task.success.high)})` }),
        goalward.answer.bar(task.success, "Success rate"),
      ]),
      build("td.number", { "data-name": "Timed out", text: W.whole(task.time_outs) }),
      build("td.number", { "data-name": "Failed early", text: W.whole(task.failures) }),
      hasMoreTime ? moreTime(task) : null,
      withInterval("Frame AUROC", task.auroc, (value) => W.fixed(value, 2)),
      build(`td.values-word${task.values_tell ? "" : ".soft"}`, { "data-name": "Values", text: task.values }),
    ]);
  }

  // Values that may be no better than a coin in a task do not answer for it.
  function moreTime(task) {
    const name = "With twice the time, of time-outs";
    if (task.more_time) return withInterval(name, task.more_time, W.percent);
    return build("td.number.soft", { "data-name": name, title: task.time_outs ? task.values : "no episode timed out", text: task.time_outs ? "cannot tell" : "–" });
  }

  function withInterval(name, found, words) {
    if (!W.known(found.value)) return build("td.number", { "data-name": name, title: found.reason, text: "–" });
    const hasInterval = W.known(found.low) && W.known(found.high);
    return build("td.number", { "data-name": name }, [
      words(found.value),
      hasInterval ? build("span.ends", { text: `${words(found.low)} to ${words(found.high)}` }) : null,
    ]);
  }

  goalward.tasks = tasks;
})();
