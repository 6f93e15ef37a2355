// The end of the front page: warnings, and how all of it was computed.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;

  function warnings(list) {
    if (!list.length) return null;
    const first = list.slice(0, 8).map((text) => build("li", { text }));
    const rest = list.slice(8).map((text) => build("li", { text }));
    return build("div.warnings", {}, [
      build("h3", {}, [icon("warning"), ` Reading the data: ${W.counted(list.length, "warning")}`]),
      build("ul.plain", {}, first),
      rest.length
        ? build("details", {}, [build("summary", { text: `${rest.length} more` }), build("ul.plain", {}, rest)])
        : null,
    ]);
  }

  function copied(text, what) {
    return build("button.small-button", { type: "button", onclick: () => goalward.copy(text, what) }, [icon("copy", 14), " Copy"]);
  }

  function computed(blocks) {
    const front = goalward.run.front;
    const command = front.made_by.command || "";
    const versions = Object.entries(front.made_by).filter(([name]) => name !== "command");
    return goalward.overview.panel("How it was computed", [
      warnings(front.warnings),
      build("div.prose", {}, W.blocks(blocks)),
      command
        ? build("div.command", {}, [build("code", { text: command }), copied(command, "Command")])
        : null,
      build("dl.versions", {}, versions.flatMap(([name, version]) => [
        build("dt", { text: name }), build("dd", { text: version }),
      ])),
      front.config
        ? build("details", {}, [
          build("summary", { text: "config.toml: every setting" }),
          build("div.config", {}, [copied(front.config, "config.toml"), build("pre", { tabindex: "0" }, build("code", { text: front.config }))]),
        ])
        : null,
    ]);
  }

  goalward.computed = computed;
})();
