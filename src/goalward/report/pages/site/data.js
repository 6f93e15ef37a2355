// Numbers arrive as scripts that call `goalward.receive`: a page from disk may not fetch files.
"use strict";
(function () {
  const waiting = new Map();
  const kept = new Map();
  // Episodes kept in memory; one of 5,000 frames is a megabyte.
  const MOST_KEPT = 20;

  function receive(kind, content) {
    if (kind === "run") {
      goalward.run = content;
    } else if (kind === "marks") {
      goalward.marked = content;
    } else {
      const episode = unpacked(content);
      kept.set(content.position, episode);
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
      if (waiting.has(content.position)) waiting.get(content.position)(episode);
      waiting.delete(content.position);
    }
  }

  // Curves are written as differences of whole numbers.
  function unpacked(episode) {
    const scale = goalward.run.value_scale;
    for (const line of episode.curves.flatMap((curve) => Object.values(curve))) {
      for (const name of Object.keys(line)) {
        line[name] = summed(line[name], scale);
      }
    }
    episode.smoothed = summed(episode.smoothed, 10);
    if (episode.chances) episode.chances.lines = episode.chances.lines.map((line) => summed(line, 1000));
    return episode;
  }

  function summed(differences, scale) {
    let sum = 0;
    return Float32Array.from(differences, (difference) => (sum += difference) / scale);
  }

  function loadScript(address) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${address} is not there or cannot be read`));
      document.head.append(script);
    });
  }

  async function loadEpisode(position) {
    if (kept.has(position)) return kept.get(position);
    const arrived = new Promise((resolve) => waiting.set(position, resolve));
    await loadScript(`data/episodes/${String(position).padStart(6, "0")}.js`);
    return arrived;
  }

  Object.assign(goalward, { receive, loadScript, loadEpisode });
})();
