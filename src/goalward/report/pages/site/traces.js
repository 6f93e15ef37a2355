// States and actions under the curve, chosen by name, along the same frames.
"use strict";
(function () {
  const { build } = goalward;
  const W = goalward.words;
  const MOST = 6;
  const FIRST = 33;
  const LEVELS = 93;

  // The line of a signal from 0 (its least) to 1 (its most); NaN where there is no number.
  const levelAt = (signal, frame) => (signal.line.charCodeAt(frame) - FIRST) / LEVELS;
  const valueAt = (signal, frame) => (levelAt(signal, frame) < 0 ? null : signal.low + levelAt(signal, frame) * (signal.high - signal.low));

  // `layout()` gives the left and right margin and the width of the curve; `change` notes a choice.
  function makeTraces(episode, numFrames, layout, change) {
    if (!episode.signals.length) return { section: null, setFrame: () => {}, setChosen: () => {}, redraw: () => {} };
    const byName = new Map(episode.signals.map((signal) => [signal.name, signal]));
    const lines = build("div.trace-lines");
    const picker = build("details.trace-picker", {}, [build("summary", { text: "States and actions" }), choices()]);
    const section = build("div.traces", {}, [picker, lines]);
    let drawn = [];
    let at = 0;

    function choices() {
      const group = (title, wanted) => {
        const own = episode.signals.filter(({ is_action: isAction }) => isAction === wanted);
        return own.length ? build("fieldset", {}, [build("legend", { text: title }), ...own.map(({ name }) => build("label.trace-choice", {}, [
          build("input", { type: "checkbox", value: name, onchange: pick }), build("bdi", { text: goalward.shortened(name) }),
        ]))]) : null;
      };
      return build("div.trace-choices", {}, [group("States", false), group("Actions", true)]);
    }

    function pick(event) {
      const boxes = [...picker.querySelectorAll("input")];
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      if (chosen.length > MOST) {
        event.target.checked = false;
        goalward.tell(`No more than ${MOST} at a time`);
        return;
      }
      const text = JSON.stringify(chosen);
      goalward.memory.remember("traces", text);
      change({ traces: chosen.length ? text : null });
    }

    // As the address says, else as the reader chose last; names that this episode has.
    function setChosen(state) {
      let wanted = [];
      try {
        wanted = JSON.parse(state.traces || goalward.memory.remembered("traces") || "[]");
      } catch (error) {
        wanted = [];
      }
      const names = (Array.isArray(wanted) ? wanted : []).filter((name) => byName.has(name)).slice(0, MOST);
      picker.querySelectorAll("input").forEach((box) => (box.checked = names.includes(box.value)));
      drawn = names.map((name) => traceOf(byName.get(name)));
      goalward.replace(lines, drawn.map(({ row }) => row));
      redraw();
      setFrame(at);
    }

    function traceOf(signal) {
      const canvas = build("canvas.trace-canvas", { role: "img", "aria-label": `${signal.name}, from ${W.fixed(signal.low, 3)} to ${W.fixed(signal.high, 3)}` });
      const reading = build("span.trace-reading");
      return { signal, canvas, reading, row: build("div.trace", {}, [build("span.trace-name", {}, [build("bdi", { text: goalward.shortened(signal.name) }), " ", reading]), canvas]) };
    }

    function redraw() {
      const { left, right, width } = layout();
      if (!width) return;
      const ratio = window.devicePixelRatio || 1;
      const ink = getComputedStyle(section).getPropertyValue("--accent").trim();
      for (const { signal, canvas } of drawn) {
        const height = canvas.clientHeight || 44;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        const pen = canvas.getContext("2d");
        pen.scale(ratio, ratio);
        pen.beginPath();
        let isDown = false;
        for (let i = 0; i < numFrames; i++) {
          const level = levelAt(signal, i);
          if (level < 0) {
            isDown = false;
            continue;
          }
          const x = left + ((width - left - right) * i) / Math.max(numFrames - 1, 1);
          const y = height - 4 - (height - 8) * level;
          if (isDown) pen.lineTo(x, y);
          else pen.moveTo(x, y);
          isDown = true;
        }
        pen.strokeStyle = ink;
        pen.lineWidth = 1.5;
        pen.stroke();
      }
    }

    function setFrame(frame) {
      at = frame;
      for (const { signal, reading } of drawn) {
        const value = valueAt(signal, frame);
        reading.textContent = value === null ? "–" : Number(value.toPrecision(2)).toString().replace("-", "\u2212");
      }
    }

    return { section, setFrame, setChosen, redraw };
  }

  goalward.makeTraces = makeTraces;
})();
