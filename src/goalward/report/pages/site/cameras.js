// The cameras of an episode: in step, each enlarged by a click; where a video cannot be played, stills.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;

  // `clock` is asked for when a picture is pressed; `stills` are pictures of frames worth seeing.
  function makeCameras(episode) {
    const stills = episode.events.filter(({ thumb }) => thumb).map(({ frame, thumb }) => ({ frame, thumb }));
    const views = episode.cameras.map((camera, i) => cameraView(camera, { stills, part: partOf(episode.cameras, i) }, enlarge));
    let large = -1;

    function enlarge(view) {
      const at = views.indexOf(view);
      large = large === at ? -1 : at;
      views.forEach((one, i) => {
        one.figure.classList.toggle("large", i === large);
        one.button.setAttribute("aria-pressed", String(i === large));
        one.button.setAttribute("aria-label", `${i === large ? "Make smaller" : "Enlarge"}: camera ${one.name}`);
      });
    }

    return {
      videos: views.map((view) => view.video).filter((video) => video),
      setFrame: (frame) => views.forEach((view) => view.setFrame(frame)),
      place: views.length
        ? build(`div.cameras.cameras-${Math.min(views.length, 4)}`, {}, views.map((view) => view.figure))
        : build("p.how.no-video", { text: "No video in this report: the curve plays alone." }),
    };
  }

  // Where a camera lies in a still: the first ones side by side, as high as it (media.py).
  const STILL_HEIGHT = 160;
  const MOST_IN_STILL = 3;

  function partOf(cameras, at) {
    const inStill = cameras.slice(0, MOST_IN_STILL);
    if (at >= MOST_IN_STILL || !inStill.every(({ width, height }) => width && height)) return null;
    const widths = inStill.map(({ width, height }) => Math.round((width * STILL_HEIGHT) / height));
    return { left: widths.slice(0, at).reduce((a, b) => a + b, 0), width: widths[at], all: widths.reduce((a, b) => a + b, 0) };
  }

  function cameraView(camera, stills, enlarge) {
    const name = W.shortCamera(camera.name);
    const view = { name, video: null, setFrame: () => {} };
    const button = build("button.enlarge", { type: "button", "aria-pressed": "false", "aria-label": `Enlarge: camera ${name}`, title: "Enlarge", onclick: () => enlarge(view) }, icon("enlarge", 14));
    const picture = camera.video ? playable(camera, name, view, stills, enlarge) : still(view, stills, camera.problem || "no video");
    view.button = button;
    view.figure = build("figure.camera", {}, [picture, build("figcaption", { title: camera.name, text: name }), button]);
    return view;
  }

  function playable(camera, name, view, stills, enlarge) {
    const shape = camera.width && camera.height ? { "aspect-ratio": `${camera.width} / ${camera.height}` } : {};
    const video = build("video", { src: camera.video, style: shape, preload: "auto", playsinline: true, disablepictureinpicture: true, "aria-label": `Camera ${name}` });
    video.muted = true;
    video.addEventListener("click", () => enlarge(view));
    video.addEventListener("error", () => {
      if (video.getAttribute("src")) video.replaceWith(still(view, stills, problemOf(video)));
    });
    view.video = video;
    return video;
  }

  function problemOf(video) {
    if (video.canPlayType('video/mp4; codecs="avc1.42E01E"') === "") {
      return "This browser has no codec for these videos (h264): another one plays them.";
    }
    return "This video is missing or cannot be played here. If its file is gone, `goalward report` makes it again.";
  }

  // The picture of the nearest event: of this camera, where its place in the picture is known.
  function still(view, { stills, part }, problem) {
    const words = build("p.no-picture", { text: problem });
    if (!stills.length) return words;
    const image = build("img", { alt: "", height: STILL_HEIGHT });
    image.addEventListener("load", () => {
      const isPart = part && image.naturalWidth === part.all;
      image.style.cssText = isPart ? `width: ${part.width}px; object-fit: none; object-position: ${-part.left}px 0` : "";
    });
    const told = build("span.still-frame");
    view.setFrame = (frame) => {
      const nearest = stills.reduce((best, one) => (Math.abs(one.frame - frame) < Math.abs(best.frame - frame) ? one : best));
      if (image.getAttribute("src") !== nearest.thumb) image.src = nearest.thumb;
      told.textContent = `still of frame ${nearest.frame}`;
    };
    view.setFrame(0);
    return build("div.still", {}, [image, told, words]);
  }

  goalward.makeCameras = makeCameras;
})();
