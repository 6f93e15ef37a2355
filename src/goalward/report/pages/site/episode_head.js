// The head of an episode's page: its name, how it ended, its neighbours, notes, what to do with it.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;

  function backLink() {
    return build("a.back-link", { href: goalward.route.link(goalward.route.toTable) }, [icon("back", 13), " All episodes"]);
  }

  // `neighbour(direction)`: the row of the episode before or after, in the order of the table.
  function heading(position, row, episode, neighbour) {
    const turn = (direction, words, name) => {
      const target = neighbour(direction);
      return build("a.small-button", {
        href: target ? goalward.route.link(goalward.route.toEpisode(target.id, goalward.filters.startFrame(target, goalward.route.state()))) : null, role: target ? null : "link",
        "aria-disabled": target ? null : "true", "aria-label": `${words} episode`, title: `${words} episode`, class: "small-button turn",
      }, name === "back" ? [icon("back", 13), build("span.turn-word", { text: words })] : [build("span.turn-word", { text: words }), icon("forward", 13)]);
    };
    const task = goalward.run.front.tasks[row.task].name;
    return build("header.episode-head", {}, [
      goalward.beside.policy(),
      build("div.episode-nav", {}, [backLink(), build("span.turns", {}, [turn(-1, "Previous", "back"), turn(1, "Next", "forward")])]),
      build("div.episode-title", {}, [
        build("h1", { title: row.id }, ["Episode ", named(row.id)]), W.badge(row.outcome),
        row.held_out ? null : build("span.tag", { text: "trained on", title: "Its values are by networks that learned from it" }),
        build("span.episode-facts", {}, [
          task ? named(task) : null, task ? " · " : null,
          `${W.counted(row.frames, "frame")}${episode.cameras.length ? `, ${W.seconds(row.frames / episode.fps)}` : ""}`,
        ]),
        build("span.actions", {}, [
          build("button.small-button", { type: "button", id: "copy-link", "aria-label": "Copy link", title: "Copy link", onclick: () => goalward.copy(location.href, "Link") }, [icon("link", 14), build("span.turn-word", { text: " Copy link" })]),
          goalward.beside.button(row),
          goalward.notes.button(row),
          episode.sheet.length
            ? build("span.sheet", {}, ["Sheet", ...episode.sheet.map((file) =>
              build("a", { href: file, target: "_blank", rel: "noopener", text: file.split(".").pop().toUpperCase(), title: "Frames and curve on one page" }))])
            : null,
        ]),
      ]),
      goalward.notes.line(row),
      ...goalward.marks.lines(row),
    ]);
  }

  goalward.episodeHead = { heading, backLink };
})();
