// One clock for all cameras: the first video leads, the others are kept in step. Without a video
// the clock runs by itself.
"use strict";
(function () {
  // Further apart than this many seconds, a video jumps; nearer, it hurries or waits.
  const JUMP = 0.25;
  const IN_STEP = 0.02;

  // `onFrame(frame)` whenever another frame is shown, `onPlaying(isPlaying)` when that changes.
  function makeClock({ videos, fps, numFrames, onFrame, onPlaying }) {
    const last = numFrames - 1;
    let live = [...videos];
    let frame = 0;
    let speed = 1;
    let playing = false;
    let request = 0;
    let startedAt = 0;
    let startedFrame = 0;
    let isGone = false;

    // The middle of a frame's time: rounding cannot lead to its neighbour.
    const timeOf = (at) => (at + 0.5) / fps;
    const bounded = (at) => Math.min(Math.max(at, 0), last);

    function show(at) {
      if (at === frame) return;
      frame = at;
      onFrame(frame);
    }

    function seek(at) {
      frame = bounded(Math.round(at));
      startedAt = performance.now();
      startedFrame = frame;
      for (const video of live) sendTo(video, timeOf(frame));
      onFrame(frame);
    }

    // A video that is still on its way somewhere goes to the last place asked for, and not to all.
    function sendTo(video, time) {
      if (video.seeking || video.readyState < 1) {
        video.wantedTime = time;
      } else {
        video.wantedTime = null;
        video.currentTime = time;
      }
    }

    function arrived(event) {
      const video = event.target;
      if (typeof video.wantedTime === "number") sendTo(video, video.wantedTime);
    }

    async function play() {
      if (playing || isGone) return;
      if (frame >= last) seek(0);
      playing = true;
      startedAt = performance.now();
      startedFrame = frame;
      onPlaying(true);
      for (const video of live) {
        video.playbackRate = speed;
        const asked = video.play();
        if (asked) asked.catch(() => {});
      }
      request = requestAnimationFrame(tick);
      followVideo();
    }

    function pause() {
      if (!playing) return;
      playing = false;
      cancelAnimationFrame(request);
      for (const video of live) video.pause();
      // All cameras show the very same frame when they stand still.
      for (const video of live) sendTo(video, timeOf(frame));
      onPlaying(false);
    }

    function followVideo() {
      const lead = live[0];
      if (!lead || !lead.requestVideoFrameCallback) return;
      lead.requestVideoFrameCallback((now, shown) => {
        if (!playing || lead !== live[0]) return;
        if (!lead.seeking) show(bounded(Math.round(shown.mediaTime * fps)));
        followVideo();
      });
    }

    function tick(now) {
      if (!playing) return;
      const lead = live[0];
      if (!lead) {
        const at = startedFrame + ((now - startedAt) / 1000) * fps * speed;
        show(bounded(Math.floor(at)));
        if (at >= numFrames) {
          pause();
          return;
        }
      } else {
        if (!lead.requestVideoFrameCallback && !lead.seeking) show(bounded(Math.floor(lead.currentTime * fps + 1e-3)));
        if (!lead.seeking) live.slice(1).forEach((video) => keepInStep(video, lead));
      }
      request = requestAnimationFrame(tick);
    }

    function keepInStep(video, lead) {
      if (video.seeking || video.readyState < 2 || lead.ended) return;
      const ahead = video.currentTime - lead.currentTime;
      if (Math.abs(ahead) > JUMP) {
        sendTo(video, lead.currentTime);
      } else {
        const rate = Math.abs(ahead) < IN_STEP ? speed : speed * (1 - Math.min(Math.max(ahead, -0.1), 0.1));
        if (video.playbackRate !== rate) video.playbackRate = rate;
      }
      if (video.paused && !video.ended) video.play().catch(() => {});
    }

    function ended(event) {
      if (event.target !== live[0] || !playing) return;
      frame = last;
      pause();
      onFrame(frame);
    }

    // A video that cannot be played is left behind; the clock goes on without it.
    function lost(event) {
      live = live.filter((video) => video !== event.target);
      startedAt = performance.now();
      startedFrame = frame;
      if (playing) followVideo();
    }

    for (const video of videos) {
      video.addEventListener("loadedmetadata", arrived);
      video.addEventListener("seeked", arrived);
      video.addEventListener("ended", ended);
      video.addEventListener("error", lost);
    }

    return {
      frame: () => frame,
      isPlaying: () => playing,
      seek,
      play,
      pause,
      toggle: () => (playing ? pause() : play()),
      step: (frames) => {
        pause();
        seek(frame + frames);
      },
      setSpeed: (wanted) => {
        speed = wanted;
        startedAt = performance.now();
        startedFrame = frame;
        for (const video of live) video.playbackRate = wanted;
      },
      // A video without an address gives its decoder back.
      end: () => {
        pause();
        isGone = true;
        for (const video of videos) {
          video.removeEventListener("error", lost);
          video.removeAttribute("src");
          video.load();
        }
      },
    };
  }

  goalward.makeClock = makeClock;
})();
