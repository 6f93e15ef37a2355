// The table of episodes: sorted by its headers, filtered above it, a page of rows at a time.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;
  const ROWS = 50;
  let place = null;

  function show(section) {
    place = section;
    const state = goalward.route.state();
    const count = goalward.run.episodes.length;
    goalward.replace(section, [
      build("h1.page-title", { text: "Episodes" }),
      goalward.overview.watch(goalward.run.front, true),
      build("section.panel.table-panel", {}, [
        build("h2", { text: `All ${W.counted(count, "episode")}` }),
        build("p.how", {}, [
          "Numbers and curves are those of ", build("code", { text: goalward.run.front.methods[0].name }),
          ". In a curve, down is towards the goal. A row opens the player.",
        ]),
        goalward.answer.doubtLine(),
        meanings(),
        goalward.filters.controls(change),
        sortField(state),
        build("div.table-tools"),
        build("div.rows"),
      ]),
    ]);
    showRows();
  }

  function meanings() {
    return build("details.meanings", {}, [
      build("summary", { text: "What the columns mean" }),
      build("dl", {}, goalward.filters.columns().flatMap(({ name, unit, about }) => [
        build("dt", { text: unit ? `${name}, ${unit}` : name }), build("dd", { text: about }),
      ])),
    ]);
  }

  function change(changes, isTyping) {
    goalward.route.note({ ...changes, page: null });
    if (isTyping) {
      showRows();
      return;
    }
    // The controls say what is chosen: they are built again, and the focus stays where it was.
    const old = place.querySelector(".filters");
    const focused = [...old.querySelectorAll("button, select, input")].indexOf(document.activeElement);
    const fresh = goalward.filters.controls(change);
    old.replaceWith(fresh);
    const again = fresh.querySelectorAll("button, select, input")[focused];
    if (again) again.focus();
    showRows();
  }

  function sortBy(column, isKept) {
    const state = goalward.route.state();
    const wasSorted = state.sort === column.key;
    const desc = wasSorted && !isKept ? !goalward.filters.isDescending(state, column) : column.desc;
    goalward.route.note({ page: null, sort: column.key, desc: desc === column.desc ? null : desc ? "1" : "0" });
    showRows();
  }

  // On a phone the table has no headers to press.
  function sortField(state) {
    const columns = goalward.filters.columns();
    const options = [["", "as recorded"], ...columns.map((column) => [column.key, column.name.toLowerCase()])];
    const list = build("select", {
      onchange: () => {
        const column = columns.find(({ key }) => key === list.value);
        if (column) sortBy(column, true);
        else change({ sort: null, desc: null });
      },
    }, options.map(([value, text]) => {
      const option = build("option", { value, text });
      option.selected = (state.sort || "") === value;
      return option;
    }));
    return build("label.field.sort-field", {}, [build("span.field-name", { text: "Sort by" }), list]);
  }

  function showRows() {
    const state = goalward.route.state();
    const positions = goalward.filters.chosen(state);
    const page = pageIn(state, positions.length);
    const first = page * ROWS;
    const shown = positions.slice(first, first + ROWS);
    const columns = goalward.columns.shown();
    const table = build("table.episodes", {}, [
      build("caption.offscreen", { text: "Episodes" }),
      build("thead", {}, build("tr", {}, withCurve(columns, columns.map((column) => header(column, state)), build("th.curve", { scope: "col", text: "Curve" })))),
      build("tbody", {}, shown.map((position) => rowOf(position, columns))),
    ]);
    const total = goalward.run.episodes.length;
    const told = positions.length === total ? W.counted(total, "episode") : `${W.whole(positions.length)} of ${W.counted(total, "episode")}`;
    showTools(positions);
    goalward.replace(place.querySelector(".rows"), [
      build("p.row-count", { role: "status", text: told }),
      shown.length ? build("div.scroll", {}, table) : build("p.empty", { text: "No episode is like that. Clear a filter to see more." }),
      positions.length > ROWS ? pager(page, positions.length) : null,
    ]);
  }

  // The choice of columns stays as it is, and open, while rows change.
  function showTools(positions) {
    const tools = place.querySelector(".table-tools");
    const old = tools.querySelector(".column-picker");
    goalward.replace(tools, [old || goalward.columns.picker(showRows), goalward.columns.downloads(positions)]);
  }

  // Notes have come or changed: controls and rows speak of them.
  function refresh() {
    if (place && !place.hidden && !place.contains(document.activeElement)) show(place);
    else if (place && !place.hidden) showRows();
  }

  // The curve stands beside the outcome, where it is seen however many columns there are.
  function withCurve(columns, cells, curve) {
    const after = columns.findIndex(({ key }) => key === "outcome") + 1 || 1;
    return [...cells.slice(0, after), curve, ...cells.slice(after)];
  }

  function header(column, state) {
    const sorted = state.sort === column.key;
    const desc = sorted && goalward.filters.isDescending(state, column);
    const isText = ["id", "task", "outcome", "notes", "audit", "curation"].includes(column.key);
    return build(`th${isText ? "" : ".number"}`, { scope: "col", "aria-sort": sorted ? (desc ? "descending" : "ascending") : "none" },
      build("button.sort", {
        type: "button",
        title: column.about,
        "data-key": column.key,
        onclick: () => {
          sortBy(column);
          place.querySelector(`button.sort[data-key="${column.key}"]`).focus();
        },
      }, [
        build("span", {}, [column.name, column.unit ? build("span.unit", { text: ` ${column.unit}` }) : null]),
        build("span.arrow", { "aria-hidden": "true", text: sorted ? (desc ? "↓" : "↑") : "" }),
      ]));
  }

  const toEpisode = (row) => goalward.route.toEpisode(row.id, goalward.filters.startFrame(row, goalward.route.state()));

  function rowOf(position, columns) {
    const row = goalward.run.episodes[position];
    const open = () => goalward.route.go(toEpisode(row));
    const curve = build("td.curve", { "data-name": "Curve" }, goalward.sparkline(row.spark, row.outcome));
    const cells = withCurve(columns, columns.map((column) => cell(row, column)), curve);
    return build("tr", {
      onclick: (event) => {
        if (!event.target.closest("a") && !String(window.getSelection())) open();
      },
    }, cells);
  }

  function cell(row, column) {
    const told = { "data-name": column.name, "data-unit": column.unit };
    switch (column.key) {
      case "id":
        return build("th.id", { scope: "row", ...told }, [
          build("a", { href: goalward.route.link(toEpisode(row)), dir: "auto", title: row.id, "data-id": row.id }, named(row.id)),
          row.held_out ? null : build("span.tag", { text: "trained on", title: "Its values are by networks that learned from it" }),
        ]);
      case "task": {
        const task = column.of(row);
        return build("td.task", { ...told, dir: "auto", title: task, text: goalward.shortened(task) });
      }
      case "outcome":
        return build("td.outcome", told, W.badge(row.outcome));
      case "notes":
        return build("td.notes", told, goalward.notes.marks(goalward.notes.of(row.id)));
      case "audit":
        return build("td.notes", told, goalward.marks.auditCell(row.id));
      case "curation":
        return build("td.notes", told, goalward.marks.curationCell(row));
      case "events":
        return build("td.number.event-counts", told, eventCounts(row.events));
      case "disagreement":
        return build("td.number", { ...told, text: W.fixed(row.disagreement, 2) });
      case "final":
        return build("td.number", { ...told, text: W.steps(column.of(row)) });
      default:
        return build("td.number", { ...told, text: W.whole(column.of(row)) });
    }
  }

  function eventCounts(counts) {
    const kinds = goalward.run.event_kinds;
    const shown = counts.map((count, i) => [kinds[i], count]).filter(([kind, count]) => count && kind !== "goal");
    if (!shown.length) return "–";
    return shown.map(([kind, count]) => build(`span.event-count.${kind}`, { title: W.countedEvents(count, kind) }, [
      icon(kind, 12), build("span.offscreen", { text: W.kind(kind) }), String(count),
    ]));
  }

  // In the address the first page is 1, and not told.
  function pageIn(state, total) {
    const page = (Number.parseInt(state.page, 10) || 1) - 1;
    return Math.min(Math.max(page, 0), Math.max(Math.ceil(total / ROWS) - 1, 0));
  }

  function pager(page, total) {
    const first = page * ROWS;
    const last = Math.ceil(total / ROWS) - 1;
    const turn = (to) => () => {
      goalward.route.note({ page: to ? String(to + 1) : null });
      showRows();
      place.querySelector(".table-panel").scrollIntoView({ block: "start" });
    };
    return build("nav.pager", { "aria-label": "Pages of the table" }, [
      build("button.small-button", { type: "button", disabled: page === 0, onclick: turn(page - 1) }, [icon("back", 13), " Previous"]),
      build("span", { text: `${W.whole(first + 1)} to ${W.whole(Math.min(first + ROWS, total))} of ${W.whole(total)}` }),
      build("button.small-button", { type: "button", disabled: page === last, onclick: turn(page + 1) }, ["Next ", icon("forward", 13)]),
    ]);
  }

  const linkTo = (id) => place && [...place.querySelectorAll("th.id a")].find((link) => link.dataset.id === id);

  goalward.episodes = { show, refresh, linkTo };
})();
