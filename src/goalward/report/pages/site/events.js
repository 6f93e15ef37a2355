// What the value saw in one episode: a card for each event, with its frame.
"use strict";
(function () {
  const { build, icon } = goalward;
  const W = goalward.words;
  const MEANINGS = {
    setback: "a setback is a jump away from the goal",
    recovery: "a recovery makes one good",
    stall: "a stall comes no nearer for long",
    point_of_no_return: "a point of no return is where the value gives up for good: its opinion, and no proof",
    goal: "the goal alone is as recorded",
  };

  // `jump(frame)` when a card is pressed.
  function makeEvents(episode, jump) {
    const cards = episode.events.map((event) => build(`button.event-card.${event.kind}`, {
      type: "button", onclick: () => jump(event.frame), "data-frame": event.frame,
    }, [
      event.thumb ? build("img", { src: event.thumb, alt: "", loading: "lazy" }) : null,
      build("span.event-text", {}, [
        build("span.event-kind", {}, [icon(event.kind, 13), W.kind(event.kind)]),
        event.words ? build("span.event-words", { text: [event.words, event.over].filter((text) => text).join(" ") }) : null,
        build("span.event-frame", { text: `frame ${event.frame}${seenBy(event)}` }),
      ]),
    ]));
    const section = build("section.events", {}, [
      build("h2", { text: "What the value saw" }),
      build("p.how", {}, [
        cards.length ? "Events are read off the curve of " : "Nothing stands out in the curve of ",
        build("code", { text: goalward.run.front.methods[0].name }),
        goalward.run.events_of === "hindsight" ? " in hindsight" : "",
        cards.length ? `, not off the pictures: ${meaningsOf(episode.events)}.` : ": no setback, no stall, no recovery by the rules for events.",
      ]),
      cards.length ? build("div.event-cards", {}, cards) : null,
    ]);
    return {
      section,
      setFrame: (frame) => cards.forEach((card, i) => {
        const { start, end, frame: at } = episode.events[i];
        card.classList.toggle("now", frame === at || (frame >= start && frame <= end));
      }),
    };
  }

  function meaningsOf(events) {
    const kinds = Object.keys(MEANINGS).filter((kind) => events.some((event) => event.kind === kind));
    return kinds.map((kind) => MEANINGS[kind]).join("; ");
  }

  // A goal is recorded, all others are seen by most seeds or by all.
  function seenBy(event) {
    const seeds = goalward.run.front.num_seeds;
    if (event.kind === "goal" || seeds < 2 || !W.known(event.agreement)) return "";
    return `, seen by ${Math.round(event.agreement * seeds)} of ${seeds} seeds`;
  }

  goalward.makeEvents = makeEvents;
})();
