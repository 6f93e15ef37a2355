// What an audit and a curation said of episodes: marks in the table, a filter, the reason on their pages.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;
  const DECISIONS = { keep: "kept", part: "part", drop: "dropped" };

  const marked = () => goalward.marked || { audit: {}, curation: {} };
  const audited = (id) => (Object.hasOwn(marked().audit, id) ? marked().audit[id] : []);
  const curated = (id) => (Object.hasOwn(marked().curation, id) ? marked().curation[id] : null);
  const has = (kind) => Object.keys(marked()[kind]).length > 0;
  const decision = (id) => (curated(id) ? DECISIONS[curated(id).decision] || null : null);

  // For sorting and for a file: how sure the surest finding is; what was decided.
  const sure = (id) => (audited(id).length ? audited(id)[0].sure : null);
  const frame = (id) => (audited(id).length ? audited(id)[0].frame : undefined);

  function auditCell(id) {
    return audited(id).map((one) => build("span.tag.wrong", { text: `${one.sure} % sure`, title: one.words }));
  }

  function curationCell(row) {
    const one = curated(row.id);
    return one ? [build("span.tag", { text: decision(row.id), title: curationWords(row, one) })] : [];
  }

  function curationWords(row, { kept, reasons }) {
    const by = reasons.length ? `; dropped by ${reasons.join(", ")}` : "";
    return `${W.whole(kept)} of ${W.counted(row.frames, "frame")} kept${by}`;
  }

  // The reasons under the title of an episode.
  function lines(row) {
    const one = curated(row.id);
    return [
      ...audited(row.id).map((found) => build("p.note-line", {}, [build("span.tag.wrong", { text: `look at it, ${found.sure} % sure` }), build("span.note-text", { text: found.words })])),
      one ? build("p.note-line", {}, [build("span.tag", { text: decision(row.id) }), build("span.note-text", { text: curationWords(row, one) })]) : null,
    ];
  }

  // ---- the filter ---------------------------------------------------------------------------

  const FILTERS = {
    audit: [(id) => audited(id).length > 0, "to look at, by audit"],
    keep: [(id) => decision(id) === "kept", "kept whole by curate"],
    part: [(id) => decision(id) === "part", "kept in part"],
    drop: [(id) => decision(id) === "dropped", "dropped by curate"],
  };

  const fits = (row, state) => !Object.hasOwn(FILTERS, state.marked || "") || FILTERS[state.marked][0](row.id);

  // Those that some episode has.
  function choices() {
    const there = Object.entries(FILTERS).filter(([, [test]]) => goalward.run.episodes.some(({ id }) => test(id)));
    return there.length ? [["", "all"], ...there.map(([key, [, text]]) => [key, text])] : [];
  }

  goalward.marks = { has, sure, frame, decision, auditCell, curationCell, lines, fits, choices };
})();
