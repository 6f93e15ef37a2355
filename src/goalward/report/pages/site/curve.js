// The value of every frame, drawn on a canvas; the cursor and the marks of events lie over it, so
// that moving through an episode draws nothing again.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;
  const MARGIN = { left: 46, right: 50, top: 52, bottom: 42 };
  // Pixels from one mark of an event to the next.
  const MARK = 25;
  const STEPS = [0, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

  // `onSeek(frame, "start" | "move" | "end")` while the curve is pressed and dragged.
  function makeCurve({ episode, numFrames, onSeek }) {
    const run = goalward.run;
    const last = Math.max(numFrames - 1, 1);
    const canvas = build("canvas.curve-canvas", { role: "img", "aria-label": "The curve of this episode: down is towards the goal" });
    const cursor = build("div.cursor", {}, [build("span.cursor-label")]);
    const dots = run.front.methods.map(() => build("span.cursor-dot"));
    // Beside the slider and not in it: what is in a slider is not read out.
    const marks = build("div.marks", { role: "group", "aria-label": "Events" });
    const slider = build("div.curve-slider", {
      role: "slider", tabindex: "0", "aria-label": "Frame", "aria-valuemin": "0", "aria-valuemax": String(numFrames - 1), "aria-valuenow": "0",
    });
    const area = build("div.curve-area", {}, [canvas, cursor, ...dots, slider, marks]);
    let look = { methods: new Set([0]), scale: "value", view: "now", within: 0 };
    const readout = goalward.makeReadout(episode, () => look);
    area.append(readout.card);
    let ceiling = 1;
    let width = 0;
    let height = 0;
    let frame = 0;

    // What is shown of a method: what could be said at each frame, or what the recording says of it.
    // A chance is drawn as the value that lies as far down: 100 % is at the goal.
    const lineOf = (m) => (look.view === "chance" ? chanceLine() : episode.curves[m][look.view]);
    const isDrawn = (m) => look.methods.has(m) && (look.view !== "chance" || m === 0);
    const truthDrawn = () => (look.hidesTruth || look.view === "chance" ? [] : episode.truth);
    const methodsDrawn = () => run.front.methods.map((_, m) => m).filter(isDrawn);
    const chanceLine = () => ({ mean: episode.chances.lines[look.within].map((chance) => 1 - 2 * chance) });
    const isOnValueScale = () => look.view === "chance" || look.scale === "value";

    // ---- where things lie -------------------------------------------------------------------

    const x = (at) => MARGIN.left + ((width - MARGIN.left - MARGIN.right) * at) / last;
    const frameAt = (px) => Math.round(((px - MARGIN.left) / (width - MARGIN.left - MARGIN.right)) * last);
    const part = (value) => (isOnValueScale() ? (value + 1) / 2 : Math.min(W.stepsOf(value, run.discount) / ceiling, 1));
    const y = (value) => height - MARGIN.bottom - (height - MARGIN.top - MARGIN.bottom) * part(value);

    // The end of the axis in steps: all that is drawn, but no more than twice the time limit.
    function highestSteps() {
      let most = 1;
      for (const line of [...methodsDrawn().map((m) => lineOf(m).high || lineOf(m).mean), truthDrawn().map(({ value }) => value)]) {
        for (const value of line) {
          const steps = W.stepsOf(value, run.discount);
          if (steps > most && isFinite(steps)) most = steps;
        }
      }
      return Math.min(most * 1.05, 2 * run.time_limit);
    }

    // ---- drawing ----------------------------------------------------------------------------

    const css = (name) => getComputedStyle(area).getPropertyValue(name).trim();
    const colour = (m) => run.front.methods[m].colours[window.goalwardTheme.isDark() ? "dark" : "light"];

    function draw() {
      width = area.clientWidth;
      height = area.clientHeight;
      if (!width || !height) return;
      const ratio = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      ceiling = highestSteps();
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      pen.font = `12px ${css("--font")}`;
      drawAxes(pen);
      drawSpans(pen);
      const order = methodsDrawn().reverse();
      for (const m of order) drawBand(pen, m);
      for (const m of order) drawLine(pen, lineOf(m).mean, colour(m), m === 0 ? 2.4 : 1.8);
      drawTruth(pen);
      placeMarks();
      placeCursor();
    }

    // [value, label] of the left axis and of the right one.
    function ticks() {
      if (look.view === "chance") return [[-1, -0.5, 0, 0.5, 1].map((value) => [value, W.percent((1 - value) / 2)]), []];
      const inValue = [-1, -0.5, 0, 0.5, 1].map((value) => [value, W.fixed(value, 1)]);
      const stepTick = (steps) => [W.valueOf(steps, run.discount), W.whole(steps)];
      if (look.scale === "value") return [inValue, [...STEPS.map(stepTick), [1, "never"]]];
      return [evenly(ceiling, 5).map(stepTick), inValue.filter(([value]) => W.stepsOf(value, run.discount) <= ceiling)];
    }

    // About so many round numbers from 0 to the highest.
    function evenly(highest, count) {
      const rough = highest / count;
      const power = Math.pow(10, Math.floor(Math.log10(Math.max(rough, 1))));
      const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough);
      return Array.from({ length: Math.floor(highest / step) + 1 }, (_, i) => i * step);
    }

    // Labels that would lie on each other are left out; the last one, never, stays.
    function roomy(list) {
      const kept = [];
      const end = list[list.length - 1];
      for (const tick of list) {
        const before = kept[kept.length - 1];
        const isFree = !before || y(before[0]) - y(tick[0]) >= 18;
        if (tick === end ? isFree || kept.pop() : isFree) kept.push(tick);
      }
      return kept;
    }

    function drawAxes(pen) {
      const [left, right] = ticks();
      pen.lineWidth = 1;
      pen.textBaseline = "middle";
      for (const [value, label] of roomy(left)) {
        const at = Math.round(y(value)) + 0.5;
        pen.strokeStyle = css("--line");
        line(pen, MARGIN.left, at, width - MARGIN.right, at);
        pen.fillStyle = css("--text-soft");
        pen.textAlign = "right";
        pen.fillText(label, MARGIN.left - 8, at);
      }
      pen.textAlign = "left";
      for (const [value, label] of roomy(right)) pen.fillText(label, width - MARGIN.right + 8, y(value));
      pen.textAlign = "center";
      const across = width - MARGIN.left - MARGIN.right;
      for (const at of evenly(last, Math.max(2, Math.floor(across / 90)))) pen.fillText(W.whole(at), x(at), height - MARGIN.bottom + 14);
      pen.fillStyle = css("--text-faint");
      pen.textAlign = "right";
      pen.fillText("frame", MARGIN.left - 10, height - MARGIN.bottom + 14);
      pen.textAlign = "left";
      const names = look.view === "chance" ? [`chance within ${episode.chances.within[look.within]} steps`, ""] : look.scale === "value" ? ["value", "steps to go"] : ["steps to go", "value"];
      pen.fillText(names[0], 4, 9);
      pen.textAlign = "right";
      pen.fillText(names[1], width - 4, 9);
    }

    function line(pen, x0, y0, x1, y1) {
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
    }

    // What lasts, as a tinted stretch; what happens, as a line.
    function drawSpans(pen) {
      const bottom = height - MARGIN.bottom;
      for (const event of episode.events) {
        const tint = css(`--${event.kind}`);
        pen.globalAlpha = 0.1;
        pen.fillStyle = tint;
        if (event.end > event.start) pen.fillRect(x(event.start), MARGIN.top, x(event.end) - x(event.start), bottom - MARGIN.top);
        pen.globalAlpha = 0.7;
        pen.strokeStyle = tint;
        pen.setLineDash([3, 3]);
        line(pen, x(event.frame), MARGIN.top - 6, x(event.frame), bottom);
        pen.setLineDash([]);
        pen.globalAlpha = 1;
      }
    }

    function drawBand(pen, m) {
      const { low, high } = lineOf(m);
      if (!low) return;
      pen.beginPath();
      for (let i = 0; i < low.length; i++) pen.lineTo(x(i), y(low[i]));
      for (let i = high.length - 1; i >= 0; i--) pen.lineTo(x(i), y(high[i]));
      pen.closePath();
      pen.globalAlpha = 0.16;
      pen.fillStyle = colour(m);
      pen.fill();
      pen.globalAlpha = 1;
    }

    function drawLine(pen, values, stroke, thickness) {
      pen.beginPath();
      for (let i = 0; i < values.length; i++) pen.lineTo(x(i), y(values[i]));
      pen.strokeStyle = stroke;
      pen.lineWidth = thickness;
      pen.lineJoin = "round";
      pen.stroke();
    }

    function drawTruth(pen) {
      pen.strokeStyle = pen.fillStyle = css("--text");
      pen.lineWidth = 1;
      for (const { frame: at, value, error } of truthDrawn()) {
        if (W.known(error)) line(pen, x(at), y(Math.max(value - 2 * error, -1)), x(at), y(Math.min(value + 2 * error, 1)));
        pen.beginPath();
        pen.arc(x(at), y(value), 3.5, 0, 2 * Math.PI);
        pen.fill();
      }
    }

    // ---- what lies over the canvas ----------------------------------------------------------

    // Marks that would touch move to a second row, and where that is full, to the right.
    function placeMarks() {
      const ends = [-Infinity, -Infinity];
      goalward.replace(marks, episode.events.map((event) => {
        const free = ends.findIndex((end) => x(event.frame) >= end + MARK);
        const row = free >= 0 ? free : Number(ends[1] < ends[0]);
        const at = Math.max(x(event.frame), ends[row] + MARK);
        ends[row] = at;
        const words = [W.kind(event.kind), [event.words, event.over].filter((text) => text).join(" ")].filter((text) => text).join(": ");
        return build(`button.mark.${event.kind}`, {
          type: "button", title: `frame ${event.frame}: ${words}`, "aria-label": `frame ${event.frame}: ${words}`,
          style: { left: `${at}px`, top: `${row ? 2 : 27}px` },
          onpointerdown: (press) => press.stopPropagation(),
          onclick: () => {
            onSeek(event.frame, "start");
            onSeek(event.frame, "end");
          },
        }, icon(event.kind, 12));
      }));
    }

    function placeCursor() {
      if (!width) return;
      cursor.style.transform = `translateX(${x(frame)}px)`;
      cursor.firstChild.textContent = W.whole(frame);
      dots.forEach((dot, m) => {
        dot.hidden = !isDrawn(m);
        if (dot.hidden) return;
        dot.style.backgroundColor = colour(m);
        dot.style.transform = `translate(${x(frame)}px, ${y(lineOf(m).mean[frame])}px)`;
      });
    }

    function setFrame(at) {
      frame = at;
      const steps = W.steps(W.stepsOf(lineOf(0).mean[at], run.discount));
      const told = look.view === "chance" ? `a chance of ${W.percent(episode.chances.lines[look.within][at])}` : `${steps} steps to go`;
      slider.setAttribute("aria-valuenow", String(at));
      slider.setAttribute("aria-valuetext", `frame ${at}, ${told}`);
      placeCursor();
    }

    // ---- dragging ---------------------------------------------------------------------------

    let pressed = null;
    const seekTo = (event, phase) => onSeek(frameAt(event.clientX - area.getBoundingClientRect().left), phase);

    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = event.pointerId;
      area.setPointerCapture(pressed);
      slider.focus({ preventScroll: true });
      area.classList.add("dragged");
      seekTo(event, "start");
    });
    area.addEventListener("pointermove", (event) => {
      if (event.pointerId === pressed) seekTo(event, "move");
      if (event.pointerType === "mouse") readAt(event.clientX - area.getBoundingClientRect().left);
    });
    area.addEventListener("pointerleave", readout.hide);

    // Once a frame of the screen: a mouse says more often where it is.
    let reading = 0;
    let pointed = 0;
    function readAt(px) {
      pointed = px;
      cancelAnimationFrame(reading);
      reading = requestAnimationFrame(read);
    }

    const read = () => readout.show(Math.min(Math.max(frameAt(pointed), 0), numFrames - 1), pointed, width);
    const release = (event) => {
      if (event.pointerId !== pressed) return;
      pressed = null;
      area.classList.remove("dragged");
      onSeek(frame, "end");
    };
    area.addEventListener("pointerup", release);
    area.addEventListener("pointercancel", release);

    const sized = new ResizeObserver(draw);
    sized.observe(area);

    return {
      area,
      setFrame,
      setLook: (wanted) => {
        look = { ...look, ...wanted };
        draw();
        setFrame(frame);
        // The pointer rests where it was, over another curve.
        if (!readout.card.hidden) read();
      },
      redraw: draw,
      layout: () => ({ left: MARGIN.left, right: MARGIN.right, width }),
      end: () => sized.disconnect(),
    };
  }

  goalward.makeCurve = makeCurve;
})();
