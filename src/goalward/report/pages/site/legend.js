// What is drawn and how: methods, now, hindsight or chance, value or steps to go.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;

  const VIEWS = { now: "Now", hindsight: "In hindsight", chance: "Chance" };
  const VIEW_WORDS = {
    now: "Now: what could be said at each frame, not knowing what came next, as on a running robot.",
    hindsight: "In hindsight: how things stood at each frame, knowing how the episode went on.",
    chance: "Chance: how likely success was held to be at each frame, within so many steps.",
  };

  // The curve that marks are found in: they lie where it shows what they say.
  const usualView = () => (goalward.run.events_of === "hindsight" ? "hindsight" : "now");

  // As the address says; else as the reader chose last; else the usual one.
  function viewIn(state, episode) {
    const there = Object.keys(VIEWS).filter((view) => view !== "chance" || episode.chances);
    return [state.curve, goalward.memory.remembered("curve"), usualView()].find((view) => there.includes(view));
  }

  // Within how many steps: one of those that the report has.
  function withinIn(state, episode) {
    if (!episode.chances) return 0;
    const at = episode.chances.within.indexOf(Number(state.within));
    return at < 0 ? 1 : at;
  }

  function lookIn(state, episode) {
    return {
      methods: methodsIn(state), scale: state.scale === "steps" ? "steps" : "value",
      view: viewIn(state, episode), within: withinIn(state, episode), hidesTruth: state.truth === "off",
    };
  }

  function methodsIn(state) {
    const all = goalward.run.front.methods;
    if (!state.methods) return new Set([0]);
    const names = state.methods.split(",");
    return new Set(all.map((_, i) => i).filter((i) => names.includes(all[i].name)));
  }

  function remember(view) {
    goalward.memory.remember("curve", view);
    return { curve: view };
  }

  function makeLegend(run, episode, toggle, change) {
    const chips = run.front.methods.map((method, m) => {
      const reading = build("span.reading");
      const chip = build("button.chip.method", {
        type: "button", "data-method": method.name, onclick: () => toggle(m),
        style: { "--light": method.colours.light, "--dark": method.colours.dark },
      }, [build("span.swatch"), build("span.method-name", { text: method.name }), reading]);
      return { chip, reading };
    });
    const scales = ["value", "steps"].map((scale) => build("button.segment", {
      type: "button", "data-scale": scale, onclick: () => change({ scale: scale === "value" ? null : scale }), text: scale === "value" ? "Value" : "Steps to go",
    }));
    const views = Object.keys(VIEWS).filter((view) => view !== "chance" || episode.chances).map((view) => build("button.segment", {
      type: "button", "data-curve": view, onclick: () => change(remember(view)), text: VIEWS[view], title: VIEW_WORDS[view],
    }));
    const within = !episode.chances ? null : build("select.within", { "aria-label": "Chance of success within so many steps", onchange: () => change({ within: within.value }) },
      episode.chances.within.map((steps) => build("option", { value: steps, text: `within ${steps} steps` })));
    const meaning = build("span.view-words");
    const scaleSegments = build("div.segments", { role: "group", "aria-label": "Scale" }, scales);
    let look = lookIn({}, episode);
    let at = 0;
    const read = () => chips.forEach(({ reading }, m) => {
      if (look.view === "chance") {
        reading.textContent = m ? "" : W.percent(episode.chances.lines[look.within][at]);
        return;
      }
      const steps = W.stepsOf(episode.curves[m][look.view].mean[at], run.discount);
      reading.textContent = isFinite(steps) ? `${W.whole(steps)} steps` : "never";
    });
    const truth = episode.truth.length
      ? build("button.chip.method.truth", { type: "button", onclick: () => change({ truth: truth.getAttribute("aria-pressed") === "true" ? "off" : null }) }, [build("span.swatch"), "truth"])
      : null;
    return {
      bar: build("div.legend", {}, [
        build("div.chips", { role: "group", "aria-label": "Methods" }, [...chips.map(({ chip }) => chip), truth]),
        build("div.view-choice", {}, [build("div.segments", { role: "group", "aria-label": "What the curve shows" }, views), within]),
        scaleSegments,
      ]),
      note: build("p.how", {}, [
        meaning, " ",
        (run.front.num_seeds > 1 ? "Line: mean over seeds; band: from the lowest to the highest seed. " : "") +
          "Down is towards the goal: a value of −1 is there, 1 is never. Drag on the curve to move through the episode." +
          (episode.truth.length ? " Dots: true values, with two standard errors." : ""),
      ]),
      setLook: (wanted) => {
        look = wanted;
        chips.forEach(({ chip }, m) => chip.setAttribute("aria-pressed", String(look.methods.has(m))));
        scales.forEach((segment) => segment.setAttribute("aria-pressed", String(segment.dataset.scale === look.scale)));
        scaleSegments.hidden = look.view === "chance";
        if (within) {
          within.hidden = look.view !== "chance";
          within.value = String(episode.chances.within[look.within]);
        }
        if (truth) {
          // A chance has another scale than the truth.
          truth.hidden = look.view === "chance";
          truth.setAttribute("aria-pressed", String(!look.hidesTruth));
        }
        views.forEach((segment) => segment.setAttribute("aria-pressed", String(segment.dataset.curve === look.view)));
        meaning.textContent = `${VIEW_WORDS[look.view]} Marks are found in ${look.view === usualView() ? "this" : "the other"} curve.`;
        read();
      },
      setFrame: (frame) => {
        at = frame;
        read();
      },
    };
  }

  // The key of a curve shows it, and once more the usual one.
  function switchTo(view, state, episode) {
    if (view === "chance" && !episode.chances) return {};
    return remember(viewIn(state, episode) === view ? "now" : view);
  }

  goalward.legend = { make: makeLegend, lookIn, viewIn, usualView, switchTo };
})();
