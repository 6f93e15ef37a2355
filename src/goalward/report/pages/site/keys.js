// The keyboard, and the list of its keys.
"use strict";
(function () {
  const { build } = goalward;
  const KEYS = [
    ["space", "play or pause"],
    ["← →", "one frame back or on"],
    ["shift ← →", "ten frames back or on"],
    ["home end", "first or last frame"],
    ["[ ]", "the event before or after"],
    ["n p", "next or previous episode, in the order of the table"],
    ["1 … 9", "show or hide a method"],
    ["m", "show or hide all other methods"],
    ["h", "now or in hindsight"],
    ["c", "now or the chance of success"],
    ["s", "value or steps to go"],
    ["f", "full screen"],
    ["esc", "a large camera small again; back to the table"],
    ["?", "this list"],
  ];
  let dialog = null;
  let wasSpace = false;

  function help() {
    if (!dialog) {
      dialog = build("dialog.help", { "aria-label": "Keys" }, [
        build("h2", { text: "Keys" }),
        build("dl", {}, KEYS.flatMap(([key, words]) => [build("dt", {}, key.split(" ").map((k) => build("kbd", { text: k }))), build("dd", { text: words })])),
        build("form", { method: "dialog" }, build("button.small-button", { text: "Close" })),
      ]);
      dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
      document.body.append(dialog);
    }
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  function toggleOthers() {
    const pressed = [...document.querySelectorAll(".chip[data-method]")].map((chip) => chip.getAttribute("aria-pressed") === "true");
    const anyOther = pressed.slice(1).some(Boolean);
    pressed.forEach((isOn, m) => {
      if (m > 0 && isOn === anyOther) goalward.player.toggleMethod(m);
    });
  }

  // In full screen it ends that; of a camera made large it makes a small one.
  function back() {
    if (document.fullscreenElement) return;
    const large = document.querySelector(".camera.large .enlarge");
    if (large) large.click();
    else goalward.route.go(goalward.route.toTable);
  }

  // These are there before an episode has come: quick presses all count.
  const ON_THE_WAY = {
    n: () => goalward.player.turn(1),
    p: () => goalward.player.turn(-1),
    Escape: back,
  };

  function inPlayer(event, clock) {
    if (ON_THE_WAY[event.key] || !clock) return ON_THE_WAY[event.key];
    const frames = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => clock.toggle(),
      ArrowLeft: () => clock.step(-frames),
      ArrowRight: () => clock.step(frames),
      Home: () => clock.step(-Infinity),
      End: () => clock.step(Infinity),
      m: toggleOthers,
      "[": () => goalward.player.toEvent(-1),
      "]": () => goalward.player.toEvent(1),
      h: () => goalward.player.switchTo("hindsight"),
      c: () => goalward.player.switchTo("chance"),
      f: () => goalward.player.fullScreen(),
      s: () => document.querySelector('.segment[data-scale][aria-pressed="false"]').click(),
    };
    if (acts[event.key]) return acts[event.key];
    const digit = Number.parseInt(event.key, 10);
    if (digit >= 1 && digit <= goalward.run.front.methods.length) return () => goalward.player.toggleMethod(digit - 1);
    return null;
  }

  // A box that is ticked takes the space bar alone.
  const takesKeys = (target, key) => (target.matches("input[type=checkbox]") ? key === " " : target.matches("input, textarea, select"));

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (takesKeys(target, event.key)) return;
    // A dialog over the page has the keys to itself; the list of keys closes as it opened.
    const over = document.querySelector("dialog[open]");
    if (over && !(over === dialog && event.key === "?")) return;
    if (event.key === "?") {
      help();
      return;
    }
    // Space presses a button that was reached by keyboard.
    if (event.key === " " && target.matches("button, a, summary") && !target.matches(".play")) return;
    const act = goalward.player.isOpen() && inPlayer(event, goalward.player.clock());
    if (!act) return;
    event.preventDefault();
    wasSpace = event.key === " ";
    act();
  }

  document.addEventListener("keydown", pressed);
  // A focused button would be pressed once more when the key comes up.
  document.addEventListener("keyup", (event) => {
    if (event.key === " " && wasSpace) event.preventDefault();
    wasSpace = false;
  });
  // A button that was clicked in the player lets the keys go: space plays again.
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("#page-episode button");
    if (button && event.detail > 0) button.blur();
  });
  goalward.keys = { help };
})();
