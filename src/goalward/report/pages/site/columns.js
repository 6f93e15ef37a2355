// Which columns the table shows, and the rows that it shows as a csv file.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;
  // A table without names is none.
  const ALWAYS = "id";

  // Until the reader chooses: with it the table is wider than many screens.
  const USUALLY_HIDDEN = ["disagreement"];

  // Those that the reader took away; kept by the browser.
  function hidden() {
    try {
      const found = JSON.parse(goalward.memory.remembered("columns"));
      return new Set(Array.isArray(found) ? found.filter((key) => typeof key === "string") : USUALLY_HIDDEN);
    } catch (error) {
      return new Set(USUALLY_HIDDEN);
    }
  }

  function shown() {
    const left = hidden();
    return goalward.filters.columns().filter(({ key }) => key === ALWAYS || !left.has(key));
  }

  function picker(onChange) {
    const left = hidden();
    const pick = (key, isShown) => {
      const now = hidden();
      if (isShown) now.delete(key);
      else now.add(key);
      goalward.memory.remember("columns", JSON.stringify([...now]));
      onChange();
    };
    return build("details.column-picker", {}, [
      build("summary", {}, [icon("columns", 14), " Columns"]),
      build("div.column-choices", {}, goalward.filters.columns().filter(({ key }) => key !== ALWAYS).map(({ key, name }) => {
        const box = build("input", { type: "checkbox", "data-key": key, onchange: () => pick(key, box.checked) });
        box.checked = !left.has(key);
        return build("label.trace-choice", {}, [box, name]);
      })),
    ]);
  }

  // ---- as a file ----------------------------------------------------------------------------

  // A spreadsheet would compute what begins so; a quote in front makes it text.
  const safe = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  function cellOf(value) {
    if (!W.known(value)) return "";
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "never";
    return quoted(safe(String(value)));
  }

  const textOf = (rows) => rows.map((row) => row.map(cellOf).join(",")).join("\n") + "\n";

  function download(name, rows) {
    const address = URL.createObjectURL(new Blob([textOf(rows)], { type: "text/csv" }));
    const link = build("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  // The rows and columns that are shown, all pages of them.
  function tableRows(positions) {
    const columns = shown();
    const head = columns.map(({ name, unit }) => (unit ? `${name} (${unit})` : name));
    return [head, ...positions.map((position) => columns.map(({ of }) => of(goalward.run.episodes[position])))];
  }

  function downloads(positions) {
    const wrong = goalward.notes.correctedLabels();
    return build("div.downloads", {}, [
      build("button.small-button", { type: "button", id: "download", onclick: () => download("episodes.csv", tableRows(positions)) }, [icon("download", 14), " Download as csv"]),
      wrong
        ? build("button.small-button", { type: "button", id: "download-labels", title: "goalward evaluate reads them back with --labels", onclick: () => download("labels.csv", wrong.rows) },
          [icon("download", 14), ` ${W.counted(wrong.count, "label")} to correct`])
        : null,
    ]);
  }

  goalward.columns = { shown, picker, downloads, textOf };
})();
