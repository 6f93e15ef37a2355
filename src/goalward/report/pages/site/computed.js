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

  function computed(policyBlocks) {
    const front = goalward.run.front;
    const command = front.made_by.command || "";
    const versions = Object.entries(front.made_by).filter(([name]) => name !== "command");
    return goalward.overview.panel("The data, and how it was computed", [
      warnings(front.warnings),
      dataSheet(front.data_sheet),
      command
        ? build("div.command", {}, [build("code", { text: command }), goalward.copyButton(command, "Command")])
        : null,
      build("dl.versions", {}, versions.flatMap(([name, version]) => [
        build("dt", { text: name }), build("dd", { text: version }),
      ])),
      front.config
        ? build("details", {}, [
          build("summary", { text: "config.toml: every setting" }),
          build("div.config", {}, [goalward.copyButton(front.config, "config.toml"), build("pre", { tabindex: "0" }, build("code", { text: front.config }))]),
        ])
        : null,
      goalward.overview.inWords(policyBlocks, "The whole answer in words"),
      cite(front.cite),
    ]);
  }

  // What the rollouts are: a sheet of facts.
  function dataSheet(facts) {
    return build("dl.data-sheet", {}, facts.flatMap(([name, text]) => [build("dt", { text: name }), build("dd", {}, build("bdi", { text }))]));
  }

  function cite(text) {
    return build("details", {}, [
      build("summary", { text: "How to cite it" }),
      build("div.config", {}, [goalward.copyButton(text, "Entry"), build("pre", { tabindex: "0" }, build("code", { text }))]),
    ]);
  }

  goalward.computed = computed;
})();
