// One episode: all cameras in step, its curve under them, what happened and when.
"use strict";
(function () {
  const { build } = goalward;
  const { backLink, heading } = goalward.episodeHead;
  let shown = null;
  // Where n and p were last sent, until the page is there: quick presses all count.
  let wanted = null;

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
    if (position === wanted) wanted = null;
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

  // ---- the page -----------------------------------------------------------------------------

  function openPlayer(place, position, episode, state) {
    const run = goalward.run;
    const row = run.episodes[position];
    const numFrames = row.frames;
    const cameras = goalward.makeCameras(episode);
    const own = goalward.makeClock({ videos: cameras.videos, fps: episode.fps, numFrames, onFrame, onPlaying });
    const clock = goalward.beside.shared(own);
    const curve = goalward.makeCurve({ episode, numFrames, onSeek });
    const transport = goalward.makeTransport(clock, episode, numFrames, () => fullScreen(player));
    const legend = goalward.legend.make(run, episode, toggleMethod, changeLook);
    const traces = goalward.makeTraces(episode, numFrames, curve.layout, changeLook);
    const strip = goalward.makeEvents(episode, (frame) => jump(frame));
    const moving = [curve, transport, legend, traces, strip, cameras];
    let wasPlaying = false;
    let noting = 0;

    function onFrame(frame) {
      for (const part of moving) part.setFrame(frame);
      if (!own.isPlaying()) noteSoon();
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

    // The next event that lies after this frame, or the last one before it.
    function toEvent(direction) {
      const frames = [...new Set(episode.events.map(({ frame }) => frame))].sort((a, b) => a - b);
      const now = clock.frame();
      const to = direction > 0 ? frames.find((frame) => frame > now) : frames.reverse().find((frame) => frame < now);
      if (to === undefined) goalward.tell(direction > 0 ? "No event after this frame" : "No event before this frame");
      else jump(to);
    }

    function toggleMethod(m) {
      const { methods } = goalward.legend.lookIn(goalward.route.state(), episode);
      if (methods.has(m)) methods.delete(m);
      else methods.add(m);
      const names = [...methods].sort((a, b) => a - b).map((i) => run.front.methods[i].name);
      changeLook({ methods: names.join(",") === run.front.methods[0].name ? null : names.join(",") || "none" });
    }

    function changeLook(changes) {
      goalward.route.note(changes);
      applyLook();
    }

    function applyLook() {
      const now = goalward.route.state();
      const look = goalward.legend.lookIn(now, episode);
      curve.setLook(look);
      legend.setLook(look);
      traces.setChosen(now);
    }

    // What this reader remembers goes into the address: a copied link shows others the same curve.
    const view = goalward.legend.viewIn(state, episode);
    if (view !== (state.curve || goalward.legend.usualView())) goalward.route.note({ curve: view });

    const player = build("div.player", {}, [
      cameras.place,
      transport.bar,
      build("div.curve-panel", {}, [legend.bar, curve.area, traces.section, legend.note, goalward.answer.doubtLine()]),
    ]);
    goalward.replace(place, [
      heading(position, row, episode, (direction) => run.episodes[neighbour(position, direction)]),
      player,
      strip.section,
    ]);
    document.title = `Episode ${row.id} · ${run.front.policy}`;
    applyLook();
    // Beside another one each begins where its own address says: a short one does not pull back a long one.
    own.seek(frameIn(state, numFrames));

    shown = {
      position,
      clock,
      toggleMethod,
      toEvent,
      fullScreen: () => fullScreen(player),
      switchTo: (wantedView) => changeLook(goalward.legend.switchTo(wantedView, goalward.route.state(), episode)),
      redraw: () => {
        curve.redraw();
        traces.redraw();
      },
      follow: (next) => {
        applyLook();
        if (frameIn(next, numFrames) !== clock.frame()) jump(frameIn(next, numFrames));
      },
      end: () => {
        clearTimeout(noting);
        own.end();
        curve.end();
      },
    };
  }

  function frameIn(state, numFrames) {
    const frame = Number.parseInt(state.frame, 10);
    return Number.isNaN(frame) ? 0 : Math.min(Math.max(frame, 0), numFrames - 1);
  }

  function fullScreen(element) {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (element.requestFullscreen) element.requestFullscreen().catch(() => goalward.tell("This browser does not allow full screen here"));
    else goalward.tell("This browser has no full screen");
  }

  // ---- the keyboard's way -------------------------------------------------------------------

  function turn(direction) {
    if (!shown) return;
    const to = neighbour(wanted === null ? shown.position : wanted, direction);
    if (to === undefined) {
      goalward.tell(direction > 0 ? "This is the last episode" : "This is the first episode");
      return;
    }
    wanted = to;
    const row = goalward.run.episodes[to];
    goalward.route.go(goalward.route.toEpisode(row.id, goalward.filters.startFrame(row, goalward.route.state())));
  }

  const act = (name) => (...given) => shown && shown[name] && shown[name](...given);

  goalward.player = {
    show,
    close,
    turn,
    isOpen: () => shown !== null,
    // None while its episode is on the way.
    clock: () => (shown && shown.clock) || null,
    toggleMethod: act("toggleMethod"),
    toEvent: act("toEvent"),
    fullScreen: act("fullScreen"),
    switchTo: act("switchTo"),
    redraw: act("redraw"),
  };
})();
