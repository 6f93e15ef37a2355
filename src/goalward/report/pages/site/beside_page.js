// The page around two players: shows both addresses, and hands each what was done in the other.
"use strict";
(function () {
  const main = document.getElementById("main");
  const asked = new URLSearchParams(location.hash.slice(1));

  // A report beside or below this one, or anywhere on the same disk or server: never another site.
  function allowed(address) {
    try {
      const found = new URL(address || "", location.href);
      const isHere = found.protocol === location.protocol && (found.protocol === "file:" || found.origin === location.origin);
      return isHere && found.pathname.endsWith("/index.html") && found.hash.startsWith("#episode?") ? found.href : null;
    } catch (error) {
      return null;
    }
  }

  const frames = ["a", "b"].map((name) => {
    const address = allowed(asked.get(name));
    if (!address) {
      const words = document.createElement("p");
      words.className = "problem";
      words.textContent = `This link has no episode ${name}: wanted beside.html#a=...&b=..., each a report's index.html#episode?id=...`;
      main.append(words);
      return null;
    }
    const frame = document.createElement("iframe");
    frame.title = name === "a" ? "First episode" : "Second episode";
    frame.src = address;
    main.append(frame);
    return frame;
  });

  window.addEventListener("message", (event) => {
    const from = frames.findIndex((frame) => frame && frame.contentWindow === event.source);
    const other = from < 0 ? null : frames[1 - from];
    if (other && event.data && event.data.goalward) other.contentWindow.postMessage(event.data, "*");
  });
  window.addEventListener("hashchange", () => location.reload());
  document.documentElement.dataset.ready = "yes";
})();
