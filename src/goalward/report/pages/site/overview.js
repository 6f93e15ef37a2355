// The front page: the answer first, then what to watch, then how far it can be trusted.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;
  // Sections of the summary that have a place of their own on this page; the sheet of the data says
  // how it was done.
  const PLACED = ["policy", "next", "tasks", "watch", "trust", "truth", "done"];

  function show(place) {
    const front = goalward.run.front;
    const others = front.sections.filter((section) => !PLACED.includes(section.name));
    goalward.replace(place, [
      goalward.answer.show(front),
      watch(front),
      goalward.tasks(front, sectionOf(front, "tasks")),
      goalward.starts(front),
      goalward.methods(sectionOf(front, "trust").blocks),
      goalward.truth(sectionOf(front, "truth")),
      ...others.map((section) => panel(section.title, W.blocks(section.blocks))),
      goalward.computed(sectionOf(front, "policy").blocks),
    ]);
  }

  // A link to a part of the page: there, and opened.
  function showPart(part) {
    const place = part && document.getElementById(part);
    if (!place) return;
    const folded = place.querySelector("details.why");
    if (folded) folded.open = true;
    place.scrollIntoView({ block: "center" });
    place.focus({ preventScroll: true });
  }

  const sectionOf = (front, name) => front.sections.find((section) => section.name === name);

  function panel(title, children, options) {
    const heading = title ? build("h2", { text: title }) : null;
    return build("section.panel", options || {}, [heading, ...[children].flat()]);
  }

  const inWords = (blocks, title) => build("details.words", {}, [build("summary", { text: title || "In words" }), build("div.prose", {}, W.blocks(blocks))]);

  // A word with its meaning: by pointer, by finger and by keyboard.
  function explained(word, meaning) {
    return build("button.explained", {
      type: "button", title: meaning, "aria-label": `${word}: ${meaning}`, onclick: () => goalward.tell(meaning),
    }, word);
  }

  // ---- watch these first --------------------------------------------------------------------

  function watch(front, isShort) {
    const found = goalward.run.watch;
    const { title, blocks } = sectionOf(front, "watch");
    if (!found.length) return isShort ? null : panel(title, W.blocks(blocks));
    const how = [
      "The largest setbacks, the longest stalls and the nearest misses, as the value of ",
      build("code", { text: front.methods[0].name }), " sees them. A card opens the player at that frame.",
    ];
    return build("section.watch", {}, [
      build("h2", { text: title }),
      isShort ? null : build("p.how", {}, how),
      isShort ? null : goalward.answer.doubtLine(),
      build("div.cards", {}, found.map(card)),
      // After the list that the cards show: how many events there are in all.
      ...(isShort ? [] : blocks.filter(({ kind, role }) => kind === "paragraph" && role !== "caution").map(({ spans }) => build("p.how", {}, W.spans(spans)))),
    ]);
  }

  function card(found) {
    const row = goalward.run.episodes[found.position];
    const picture = found.thumb
      ? build("img.card-picture", { src: found.thumb, alt: "", loading: "lazy", height: 160 })
      : build("div.card-picture.no-picture", {}, goalward.sparkline(row.spark, row.outcome));
    return build("a.card", { href: goalward.route.link(goalward.route.toEpisode(row.id, found.frame)) }, [
      picture,
      build("span.card-text", {}, [
        build("span.card-head", {}, [
          build("strong", {}, ["Episode ", named(row.id)]),
          W.badge(row.outcome),
        ]),
        build("span.card-reason", { text: found.reason }),
        build("span.card-frame", { text: `frame ${found.frame}` }),
      ]),
    ]);
  }

  goalward.overview = { show, showPart, watch, panel, inWords, explained };
})();
