// Two episodes side by side: two players in frames of one page, beside.html, that move as one.
// beside.html#a=ADDRESS&b=ADDRESS, each address a report's index.html#episode?id=..., coded for a URL.
"use strict";
(function () {
  const { build, icon } = goalward;
  // Of a policy's name: a line of half a window.
  const MOST_CHARACTERS = 60;
  const isFramed = window.parent !== window;
  const listeners = [];

  function address(first, second) {
    const query = new URLSearchParams({ a: first, b: second });
    return `beside.html#${query}`;
  }

  // At the frame that is shown now.
  function addressOf(id) {
    const clock = goalward.player.clock();
    return `index.html#episode?${new URLSearchParams({ id, frame: clock ? clock.frame() : 0 })}`;
  }

  // Whose episode this is: beside another one nothing else on the page says it.
  function policy() {
    const name = goalward.route.state().policy || goalward.run.front.policy;
    return isFramed ? build("p.whose", {}, goalward.named(name, MOST_CHARACTERS)) : null;
  }

  // Choose the other episode: the neighbours in the table, or any by its name.
  function button(row) {
    if (isFramed || goalward.run.episodes.length < 2) return null;
    return build("button.small-button", { type: "button", id: "beside", "aria-label": "Beside another", title: "Beside another episode", onclick: () => choose(row) }, [icon("beside", 14), build("span.turn-word", { text: " Beside another" })]);
  }

  function choose(row) {
    const others = sorted(row, goalward.run.episodes.filter(({ id }) => id !== row.id));
    const list = build("select", { "aria-label": "The other episode", size: Math.min(10, Math.max(others.length, 2)) });
    const search = build("input", { type: "search", "aria-label": "Part of its name", placeholder: "part of its name", oninput: () => fill() });
    const show = build("button.small-button", { type: "submit", onclick: () => (location.href = address(addressOf(row.id), addressOf(list.value))) }, "Show both");

    // The first of those with these letters: the list of a large run is cut, the search is not.
    function fill() {
      const wanted = search.value.trim().toLowerCase();
      const found = others.filter(({ id }) => id.toLowerCase().includes(wanted)).slice(0, MOST_LISTED);
      goalward.replace(list, found.map(({ id, outcome }) => build("option", { value: id, text: `${goalward.shortened(id)} (${goalward.words.OUTCOMES[outcome]})` })));
      list.selectedIndex = found.length ? 0 : -1;
      show.disabled = !found.length;
    }

    fill();
    const dialog = build("dialog.help", { "aria-label": "Beside another episode", onclose: () => dialog.remove() }, [
      build("h2", { text: "Beside which episode?" }),
      build("p.how", { text: "Those of the same task that ended otherwise come first." }),
      build("form", { method: "dialog" }, [
        others.length > FEW ? build("p.field", {}, search) : null,
        list,
        build("div.dialog-actions", {}, [show, build("button.small-button", { type: "submit" }, "Cancel")]),
      ]),
    ]);
    document.body.append(dialog);
    dialog.showModal();
  }

  const MOST_LISTED = 500;
  // So many are found by looking.
  const FEW = 10;
  const sorted = (row, others) => {
    const rank = (one) => Number(one.task !== row.task) * 2 + Number(one.outcome === row.outcome);
    return [...others].sort((a, b) => rank(a) - rank(b));
  };

  // ---- in a frame: what is done here is done there ------------------------------------------

  // Commands go through the page around us; frames from disk have no common origin.
  function tell(command) {
    if (isFramed) window.parent.postMessage({ goalward: command }, "*");
  }

  window.addEventListener("message", (event) => {
    if (!isFramed || event.source !== window.parent) return;
    const command = event.data && event.data.goalward;
    if (!command || typeof command.act !== "string") return;
    for (const listener of listeners) listener(command);
  });

  // A clock whose commands are followed by the other player; what comes from there is not sent back.
  function shared(clock) {
    listeners.length = 0;
    listeners.push(({ act, frame, speed, isPlaying }) => {
      if (act === "seek" && Number.isFinite(frame)) {
        if (!isPlaying) clock.pause();
        clock.seek(frame);
      }
      if (act === "play") clock.play();
      if (act === "pause") clock.pause();
      if (act === "speed" && speed > 0 && speed <= 16) clock.setSpeed(speed);
    });
    if (!isFramed) return clock;
    const seek = () => tell({ act: "seek", frame: clock.frame(), isPlaying: clock.isPlaying() });
    const play = () => {
      clock.play();
      tell({ act: "play" });
    };
    const pause = () => {
      clock.pause();
      tell({ act: "pause" });
      seek();
    };
    return {
      ...clock,
      play,
      pause,
      toggle: () => (clock.isPlaying() ? pause() : play()),
      seek: (frame) => {
        clock.seek(frame);
        seek();
      },
      step: (frames) => {
        clock.step(frames);
        seek();
      },
      setSpeed: (speed) => {
        clock.setSpeed(speed);
        tell({ act: "speed", speed });
      },
    };
  }

  if (isFramed) document.documentElement.classList.add("framed");
  goalward.beside = { button, policy, shared, address, addressOf };
})();
