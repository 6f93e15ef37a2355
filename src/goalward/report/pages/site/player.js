// One episode: all cameras in step, its curve under them, what happened and when.
"use strict";
(function () {
  const { build, icon, named } = goalward;
  const W = goalward.words;
  let shown = null;

  // ---- which episode ------------------------------------------------------------------------

  function positionOf(id) {
    return goalward.run.episodes.findIndex((row) => row.id === (id || ""));
  }

  // The episode before or after, in the order of the table.
  function neighbour(position, direction) {
    const order = goalward.filters.chosen(goalward.route.state());
    const at = order.indexOf(position);
    if (at < 0) return order[0];
    return order[at + direction];
  }

  async function show(place, state) {
    const position = positionOf(state.id);
    if (shown && shown.position === position) {
      shown.follow(state);
      return;
    }
    close();
    if (position < 0) {
      goalward.replace(place, [backLink(), build("p.problem", { text: `There is no episode ${state.id || ""} in this report.` })]);
      return;
    }
    shown = { position, follow: () => {}, end: () => {} };
    const mine = shown;
    try {
      const episode = await goalward.loadEpisode(position);
      if (shown === mine) openPlayer(place, position, episode, goalward.route.state());
    } catch (error) {
      if (shown === mine) goalward.replace(place, [backLink(), build("p.problem", { text: `Episode ${state.id} cannot be shown: ${error.message}.` })]);
    }
  }

  function close() {
    if (shown) shown.end();
    shown = null;
  }

  function backLink() {
    return build("a.back-link", { href: goalward.route.link(goalward.route.toTable) }, [icon("back", 13), " All episodes"]);
  }

  // ---- the page -----------------------------------------------------------------------------

  function openPlayer(place, position, episode, state) {
    const run = goalward.run;
    const row = run.episodes[position];
    const numFrames = row.frames;
    const views = episode.cameras.map((camera) => cameraView(camera));
    const clock = goalward.makeClock({
      videos: views.map((view) => view.video).filter((video) => video),
      fps: episode.fps,
      numFrames,
      onFrame,
      onPlaying,
    });
    const curve = goalward.makeCurve({ episode, numFrames, onSeek });
    const transport = goalward.makeTransport(clock, episode, numFrames);
    const legend = makeLegend(run, episode, toggleMethod, changeLook);
    const strip = goalward.makeEvents(episode, (frame) => jump(frame));
    let methods = methodsIn(state);
    let wasPlaying = false;
    let noting = 0;

    function onFrame(frame) {
      curve.setFrame(frame);
      transport.setFrame(frame);
      legend.setFrame(frame);
      strip.setFrame(frame);
      if (!clock.isPlaying()) noteSoon();
    }

    function onPlaying(isPlaying) {
      transport.setPlaying(isPlaying);
      if (!isPlaying) noteSoon();
    }

    // Browsers refuse an address that changes with every frame of a drag.
    function noteSoon() {
      clearTimeout(noting);
      noting = setTimeout(() => goalward.route.note({ frame: String(clock.frame()) }), 250);
    }

    function onSeek(frame, phase) {
      if (phase === "start") {
        wasPlaying = clock.isPlaying();
        clock.pause();
      }
      clock.seek(frame);
      if (phase === "end" && wasPlaying) clock.play();
    }

    function jump(frame) {
      clock.pause();
      clock.seek(frame);
    }

    function toggleMethod(m) {
      if (methods.has(m)) methods.delete(m);
      else methods.add(m);
      const names = [...methods].sort((a, b) => a - b).map((i) => run.front.methods[i].name);
      goalward.route.note({ methods: names.join(",") === run.front.methods[0].name ? null : names.join(",") || "none" });
      applyLook();
    }

    function changeLook(changes) {
      goalward.route.note(changes);
      applyLook();
    }

    function applyLook() {
      const now = goalward.route.state();
      methods = methodsIn(now);
      const look = { methods, scale: now.scale === "steps" ? "steps" : "value", view: viewIn(now), hidesTruth: now.truth === "off" };
      curve.setLook(look);
      legend.setLook(look);
    }

    // What this reader remembers goes into the address: a copied link shows others the same curve.
    if (viewIn(state) !== (state.curve || usualView())) goalward.route.note({ curve: viewIn(state) });

    goalward.replace(place, [
      heading(position, row, episode),
      build("div.player", {}, [
        views.length ? build(`div.cameras.cameras-${Math.min(views.length, 4)}`, {}, views.map((view) => view.figure)) : null,
        views.length ? null : build("p.how.no-video", { text: "No video in this report: the curve plays alone." }),
        transport.bar,
        build("div.curve-panel", {}, [legend.bar, curve.area, legend.note, goalward.overview.doubtLine()]),
      ]),
      strip.section,
    ]);
    document.title = `Episode ${row.id} · ${run.front.policy}`;
    applyLook();
    clock.seek(frameIn(state, numFrames));

    const redraw = () => curve.redraw();
    shown = {
      position,
      clock,
      toggleMethod,
      redraw,
      follow: (next) => {
        applyLook();
        if (frameIn(next, numFrames) !== clock.frame()) jump(frameIn(next, numFrames));
      },
      end: () => {
        clearTimeout(noting);
        clock.end();
        curve.end();
      },
    };
  }

  function frameIn(state, numFrames) {
    const frame = Number.parseInt(state.frame, 10);
    return Number.isNaN(frame) ? 0 : Math.min(Math.max(frame, 0), numFrames - 1);
  }

  function methodsIn(state) {
    const all = goalward.run.front.methods;
    if (!state.methods) return new Set([0]);
    const names = state.methods.split(",");
    return new Set(all.map((_, i) => i).filter((i) => names.includes(all[i].name)));
  }

  // ---- now or in hindsight ------------------------------------------------------------------

  const VIEW_KEY = "goalward-curve";

  // The curve that marks are found in: they lie where it shows what they say.
  const usualView = () => (goalward.run.events_of === "hindsight" ? "hindsight" : "now");

  // As the address says; else as the reader chose last; else the usual one.
  function viewIn(state) {
    return [state.curve, remembered(), usualView()].find((view) => view === "now" || view === "hindsight");
  }

  function remembered() {
    try {
      return localStorage.getItem(VIEW_KEY);
    } catch (error) {
      return null; // A browser may forbid pages from disk to remember anything.
    }
  }

  function remember(view) {
    try {
      localStorage.setItem(VIEW_KEY, view);
    } catch (error) {
      // The address still has it, as long as the page is open.
    }
    return { curve: view };
  }

  function heading(position, row, episode) {
    const turn = (direction, words, name) => {
      const to = neighbour(position, direction);
      const target = to === undefined ? null : goalward.run.episodes[to];
      return build("a.small-button", {
        href: target ? goalward.route.link(goalward.route.toEpisode(target.id)) : null,
        "aria-disabled": target ? null : "true", "aria-label": `${words} episode`, title: `${words} episode`, class: "small-button turn",
      }, name === "back" ? [icon("back", 13), build("span.turn-word", { text: words })] : [build("span.turn-word", { text: words }), icon("forward", 13)]);
    };
    const task = goalward.run.front.tasks[row.task].name;
    return build("header.episode-head", {}, [
      build("div.episode-nav", {}, [backLink(), build("span.turns", {}, [turn(-1, "Previous", "back"), turn(1, "Next", "forward")])]),
      build("div.episode-title", {}, [
        build("h1", { title: row.id }, ["Episode ", named(row.id)]), W.badge(row.outcome),
        row.held_out ? null : build("span.tag", { text: "trained on", title: "Its values are by networks that learned from it" }),
        build("span.episode-facts", {}, [
          task ? named(task) : null, task ? " · " : null,
          `${W.counted(row.frames, "frame")}${episode.cameras.length ? `, ${W.seconds(row.frames / episode.fps)}` : ""}`,
        ]),
        build("span.actions", {}, [
          build("button.small-button", { type: "button", id: "copy-link", onclick: () => goalward.copy(location.href, "Link") }, [icon("link", 14), " Copy link"]),
          episode.sheet.length
            ? build("span.sheet", {}, ["Sheet", ...episode.sheet.map((file) =>
              build("a", { href: file, target: "_blank", rel: "noopener", text: file.split(".").pop().toUpperCase(), title: "Frames and curve on one page" }))])
            : null,
        ]),
      ]),
    ]);
  }

  function cameraView(camera) {
    const name = W.shortCamera(camera.name);
    const caption = build("figcaption", { title: camera.name, text: name });
    if (!camera.video) {
      return { video: null, figure: build("figure.camera", {}, [build("p.no-picture", { text: camera.problem || "no video" }), caption]) };
    }
    const shape = camera.width && camera.height ? { "aspect-ratio": `${camera.width} / ${camera.height}` } : {};
    const video = build("video", { src: camera.video, style: shape, preload: "auto", playsinline: true, disablepictureinpicture: true, "aria-label": `Camera ${name}` });
    video.muted = true;
    video.addEventListener("click", () => shown && shown.clock.toggle());
    video.addEventListener("error", () => {
      if (video.getAttribute("src")) video.replaceWith(build("p.no-picture", { text: "This video is missing or cannot be played here. If its file is gone, `goalward report` makes it again." }));
    });
    return { video, figure: build("figure.camera", {}, [video, caption]) };
  }

  // ---- methods ------------------------------------------------------------------------------

  const VIEW_WORDS = {
    now: "Now: what could be said at each frame, not knowing what came next, as on a running robot.",
    hindsight: "In hindsight: how things stood at each frame, knowing how the episode went on.",
  };

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
    const views = ["now", "hindsight"].map((view) => build("button.segment", {
      type: "button", "data-curve": view, onclick: () => change(remember(view)), text: view === "now" ? "Now" : "In hindsight", title: VIEW_WORDS[view],
    }));
    const meaning = build("span.view-words");
    let look = { view: usualView() };
    let at = 0;
    const read = () => chips.forEach(({ reading }, m) => {
      const steps = W.stepsOf(episode.curves[m][look.view].mean[at], run.discount);
      reading.textContent = isFinite(steps) ? `${W.whole(steps)} steps` : "never";
    });
    const truth = episode.truth.length
      ? build("button.chip.method.truth", { type: "button", onclick: () => change({ truth: truth.getAttribute("aria-pressed") === "true" ? "off" : null }) }, [build("span.swatch"), "truth"])
      : null;
    return {
      bar: build("div.legend", {}, [
        build("div.chips", { role: "group", "aria-label": "Methods" }, [...chips.map(({ chip }) => chip), truth]),
        build("div.segments", { role: "group", "aria-label": "What the curve knows" }, views),
        build("div.segments", { role: "group", "aria-label": "Scale" }, scales),
      ]),
      note: build("p.how", {}, [
        meaning, " ",
        (run.front.num_seeds > 1 ? "Line: mean over seeds; band: from the lowest to the highest seed. " : "") +
          "Lower is better: −1 is at the goal, 1 is never. Drag on the curve to move through the episode." +
          (episode.truth.length ? " Dots: true values, with two standard errors." : ""),
      ]),
      setLook: (wanted) => {
        look = wanted;
        chips.forEach(({ chip }, m) => chip.setAttribute("aria-pressed", String(look.methods.has(m))));
        scales.forEach((segment) => segment.setAttribute("aria-pressed", String(segment.dataset.scale === look.scale)));
        if (truth) truth.setAttribute("aria-pressed", String(!look.hidesTruth));
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

  // ---- the keyboard's way -------------------------------------------------------------------

  function turn(direction) {
    if (!shown) return;
    const to = neighbour(shown.position, direction);
    if (to !== undefined) goalward.route.go(goalward.route.toEpisode(goalward.run.episodes[to].id));
    else goalward.tell(direction > 0 ? "This is the last episode" : "This is the first episode");
  }

  goalward.player = {
    show,
    close,
    turn,
    clock: () => (shown ? shown.clock : null),
    toggleMethod: (m) => shown && shown.toggleMethod && shown.toggleMethod(m),
    redraw: () => shown && shown.redraw && shown.redraw(),
  };
})();
