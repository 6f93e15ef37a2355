// The words of the report, each in a sentence or two (report/words/glossary.py).
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  function show(place) {
    goalward.replace(place, [
      build("h1", { text: "Words" }),
      build("p.how", { text: "What the words of this report mean." }),
      ...Object.entries(goalward.run.front.glossary).map(([title, words]) => goalward.overview.panel(title,
        build("dl.glossary", {}, Object.entries(words).flatMap(([word, meaning]) => [build("dt", { text: word }), build("dd", { text: W.printed(meaning) })])))),
    ]);
  }

  goalward.glossary = { show };
})();
