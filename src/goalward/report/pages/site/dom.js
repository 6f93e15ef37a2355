// Elements built by hand: text goes in as text, so no name of an episode can become markup.
"use strict";
window.goalward = window.goalward || {};
(function () {
  const SVG = "http://www.w3.org/2000/svg";

  // build("a.card", {href: "#", text: "more", onclick: go}, [child, "words", null])
  function build(tag, options, children) {
    const [name, ...classes] = tag.split(".");
    const element = document.createElement(name);
    if (classes.length) element.className = classes.join(" ");
    return filled(element, options, children);
  }

  function svg(tag, options, children) {
    return filled(document.createElementNS(SVG, tag), options, children);
  }

  function filled(element, options, children) {
    for (const [key, value] of Object.entries(options || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key === "text") element.textContent = value;
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key === "style") Object.entries(value).forEach(([k, v]) => element.style.setProperty(k, v));
      else element.setAttribute(key, value === true ? "" : value);
    }
    for (const child of [children || []].flat()) {
      if (child !== null && child !== undefined) element.append(child);
    }
    return element;
  }

  // Longer names lose their middle: tasks often differ at their ends.
  const MOST_CHARACTERS = 120;

  function shortened(text, most = MOST_CHARACTERS) {
    if (text.length <= most) return text || "(no name)";
    // Whole characters: half of an emoji is none.
    const characters = [...text];
    if (characters.length <= most) return text;
    const half = Math.floor((most - 3) / 2);
    return `${characters.slice(0, half).join("")} … ${characters.slice(-half).join("")}`;
  }

  // A name in its own direction: what stands beside it keeps its place. All of a long one is its title.
  function named(text, most) {
    const shown = shortened(text, most);
    return build("bdi", { text: shown, title: text && shown !== text ? text : null });
  }

  const PATHS = {
    setback: "M8 13V3M3.5 7.5 8 3l4.5 4.5",
    recovery: "M8 3v10M3.5 8.5 8 13l4.5-4.5",
    stall: "M5.5 3.5v9M10.5 3.5v9",
    point_of_no_return: "M4 4l8 8M12 4l-8 8",
    goal: "M3 8.5 6.5 12 13 4.5",
    success: "M3 8.5 6.5 12 13 4.5",
    time_out: "M8 4.5V8l2.5 1.8M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z",
    failure: "M4 4l8 8M12 4l-8 8",
    play: "M5 3v10l8-5z",
    pause: "M5 3v10M11 3v10",
    back: "M10 3 5 8l5 5",
    forward: "M6 3l5 5-5 5",
    first: "M4 3v10M12 3 7 8l5 5",
    last: "M12 3v10M4 3l5 5-5 5",
    link: "M6.5 9.5l3-3M7 4.6l1.3-1.3a3 3 0 0 1 4.3 4.3L11.3 9M9 11.4l-1.3 1.3a3 3 0 0 1-4.3-4.3L4.7 7",
    sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
    moon: "M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z",
    keys: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.5h6",
    copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
    enlarge: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
    beside: "M2.5 3.5h5v9h-5zM8.5 3.5h5v9h-5z",
    note: "M3 2.5h10v8l-3 3H3zM5.5 5.5h5M5.5 8.5h3",
    download: "M8 2.5v7M4.5 6.5 8 10l3.5-3.5M3 13.5h10",
    columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
    warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.01",
  };

  function icon(name, size) {
    const path = svg("path", {
      d: PATHS[name],
      fill: name === "play" ? "currentColor" : "none",
      stroke: "currentColor",
      "stroke-width": name === "pause" ? 3 : 1.8,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    });
    const side = size || 16;
    return svg("svg", { viewBox: "0 0 16 16", width: side, height: side, "aria-hidden": "true", class: "icon" }, path);
  }

  function replace(element, children) {
    element.replaceChildren(...[children].flat().filter((child) => child !== null && child !== undefined));
  }

  let silence = 0;
  function tell(text) {
    const place = document.getElementById("told");
    place.textContent = text;
    place.classList.add("shown");
    clearTimeout(silence);
    silence = setTimeout(() => place.classList.remove("shown"), 2500);
  }

  // The clipboard is not there for pages from disk in every browser: then by the old way.
  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      tell(`${what} copied`);
    } catch (error) {
      const area = build("textarea.offscreen", { "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      tell(document.execCommand("copy") ? `${what} copied` : `${what} cannot be copied here`);
      area.remove();
    }
  }

  function copyButton(text, what) {
    return build("button.small-button.copy", { type: "button", "aria-label": `Copy: ${what}`, onclick: () => copy(text, what) }, [icon("copy", 14), build("span.copy-word", { text: " Copy" })]);
  }

  Object.assign(goalward, { build, named, shortened, svg, icon, replace, tell, copy, copyButton });
})();
