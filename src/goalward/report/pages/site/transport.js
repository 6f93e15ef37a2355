// The bar under the cameras: play, step, which frame, how fast.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;
  const SPEEDS = [0.25, 0.5, 1, 2, 4];

  function makeTransport(clock, episode, numFrames, fullScreen) {
    const last = numFrames - 1;
    const button = (name, label, act) => build("button.round-button", { type: "button", "aria-label": label, title: label, onclick: act }, icon(name, 16));
    const play = button("play", "Play (space)", clock.toggle);
    play.classList.add("play");
    const count = build("span");
    const counter = build("output.counter", { "aria-label": "Frame" }, [build("span.turn-word", { text: "frame " }), count]);
    const speed = build("select", { "aria-label": "Speed", id: "speed", onchange: choose },
      SPEEDS.map((value) => build("option", { value, text: `${value}×` })));
    // A speed stays from one episode to the next.
    const usual = Number(goalward.memory.remembered("speed"));
    speed.value = String(SPEEDS.includes(usual) ? usual : 1);
    if (SPEEDS.includes(usual)) clock.setSpeed(usual);
    function choose() {
      goalward.memory.remember("speed", speed.value);
      clock.setSpeed(Number(speed.value));
    }
    const help = build("button.small-button.help-button", { type: "button", onclick: () => goalward.keys.help() }, [icon("keys", 16), build("span.turn-word", { text: "Keys" })]);
    // Chosen by a pointer, a speed lets the keys go: space plays again.
    let isPointed = false;
    speed.addEventListener("pointerdown", () => (isPointed = true));
    speed.addEventListener("keydown", () => (isPointed = false));
    speed.addEventListener("change", () => isPointed && speed.blur());
    const setFrame = (frame) => {
      count.textContent = `${W.whole(frame)} / ${W.whole(last)}${episode.cameras.length ? ` · ${W.seconds(frame / episode.fps)}` : ""}`;
    };
    return {
      bar: build("div.transport", {}, [
        button("back", "One frame back (left arrow)", () => clock.step(-1)), play,
        button("forward", "One frame on (right arrow)", () => clock.step(1)), counter, build("span.spring"), speed, button("enlarge", "Full screen (f)", fullScreen), help,
      ]),
      setFrame,
      setPlaying: (isPlaying) => {
        goalward.replace(play, icon(isPlaying ? "pause" : "play", 16));
        play.setAttribute("aria-label", isPlaying ? "Pause (space)" : "Play (space)");
      },
    };
  }

  goalward.makeTransport = makeTransport;
})();
