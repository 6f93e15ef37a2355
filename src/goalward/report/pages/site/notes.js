// Notes, tags and wrong labels of episodes. Served by `goalward view` they are kept in notes.json beside
// the run; from disk, in this browser.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;
  const ADDRESS = "notes.json";
  let kept = {};
  let isServed = false;
  const listeners = [];

  // From disk, a report is where it lies: runs are often called alike.
  const key = () => `notes-${location.pathname}`;
  const EMPTY = { note: "", tags: [], wrong_label: false };
  const of = (id) => (Object.hasOwn(kept, id) ? kept[id] : EMPTY);

  async function load() {
    if (location.protocol !== "file:") {
      try {
        const answer = await fetch(ADDRESS, { cache: "no-store" });
        isServed = answer.ok && answer.headers.get("X-Goalward-Notes") === "kept";
        if (isServed) kept = checked(await answer.json());
      } catch (error) {
        isServed = false;
      }
    }
    if (!isServed) {
      try {
        kept = checked(JSON.parse(goalward.memory.remembered(key()) || "{}"));
      } catch (error) {
        kept = {};
      }
    }
    for (const listener of listeners) listener();
  }

  // What is in a file or a browser may be anything.
  function checked(found) {
    const right = {};
    for (const [id, one] of Object.entries(found && typeof found === "object" ? found : {})) {
      if (!one || typeof one !== "object") continue;
      const tags = Array.isArray(one.tags) ? one.tags.filter((tag) => typeof tag === "string") : [];
      right[id] = { note: typeof one.note === "string" ? one.note : "", tags, wrong_label: one.wrong_label === true };
    }
    return right;
  }

  async function save(id, changed) {
    kept = { ...kept, [id]: changed };
    for (const listener of listeners) listener();
    if (!isServed) {
      goalward.memory.remember(key(), JSON.stringify(kept));
      goalward.tell("Kept in this browser; `goalward view` keeps notes beside the run");
      return;
    }
    try {
      const answer = await fetch(ADDRESS, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ episode: id, ...changed }) });
      goalward.tell(answer.ok ? "Kept in notes.json beside the run" : `Not kept: the server says ${answer.status}`);
    } catch (error) {
      goalward.tell("Not kept: the server does not answer");
    }
  }

  // ---- on the page of an episode ------------------------------------------------------------

  function button(row) {
    return build("button.small-button", { type: "button", id: "notes", "aria-label": "Note", title: "Note", onclick: () => edit(row) }, [icon("note", 14), build("span.turn-word", { text: " Note" })]);
  }

  function edit(row) {
    const now = of(row.id);
    const note = build("textarea", { rows: 4, maxlength: 4000, "aria-label": "Note" });
    note.value = now.note;
    const tags = build("input", { type: "text", "aria-label": "Tags, separated by commas", placeholder: "dropped, check again" });
    tags.value = now.tags.join(", ");
    const wrong = build("input", { type: "checkbox" });
    wrong.checked = now.wrong_label;
    const dialog = build("dialog.help.note-dialog", { "aria-label": `Note on episode ${row.id}`, onclose: () => dialog.remove() }, [
      build("h2", {}, ["Episode ", goalward.named(row.id)]),
      build("label.field", {}, [build("span.field-name", { text: "Note" }), note]),
      build("label.field", {}, [build("span.field-name", { text: "Tags, separated by commas" }), tags]),
      build("label.trace-choice", {}, [wrong, `Wrong label: this was no ${W.OUTCOMES[row.outcome]}`]),
      build("form.dialog-actions", { method: "dialog" }, [
        build("button.small-button", {
          type: "submit",
          onclick: () => save(row.id, { note: note.value, tags: [...new Set(tags.value.split(",").map((tag) => tag.trim()).filter((tag) => tag))], wrong_label: wrong.checked }),
        }, "Keep"),
        build("button.small-button", { type: "submit" }, "Cancel"),
      ]),
    ]);
    document.body.append(dialog);
    dialog.showModal();
    note.focus();
  }

  // For sorting, for a search and for a file.
  function words(id) {
    const { note, tags, wrong_label: isWrong } = of(id);
    return [isWrong ? "wrong label" : "", ...tags, note].filter((text) => text).join("; ");
  }

  const tagsInUse = () => [...new Set(Object.values(kept).flatMap(({ tags }) => tags))].sort();
  const hasAny = () => Object.keys(kept).some((id) => words(id));

  // What was noted, under the title; follows what is kept.
  function line(row) {
    const place = build("p.note-line");
    const show = () => goalward.replace(place, marks(of(row.id)));
    listeners.splice(0, listeners.length, ...listeners.filter(({ place: old }) => !old || old.isConnected), Object.assign(show, { place }));
    show();
    return place;
  }

  function marks({ note, tags, wrong_label: isWrong }) {
    return [
      isWrong ? build("span.tag.wrong", { text: "wrong label" }) : null,
      ...tags.map((tag) => build("span.tag", {}, goalward.named(tag))),
      note ? build("bdi.note-text", { text: note }) : null,
    ];
  }

  // ---- of all -------------------------------------------------------------------------------

  // The labels as they should be, as `--labels` reads them; null where none is marked.
  function correctedLabels() {
    const wrong = goalward.run.episodes.filter(({ id }) => of(id).wrong_label);
    if (!wrong.length) return null;
    const rows = wrong.map(({ id, outcome }) => [id, outcome === "success" ? "time_out" : "success"]);
    return { count: wrong.length, rows: [["episode", "outcome"], ...rows] };
  }

  goalward.notes = { load, of, words, tagsInUse, hasAny, button, line, marks, correctedLabels, onChange: (listener) => listeners.push(listener) };
})();
