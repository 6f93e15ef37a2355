// Search without a server and without weight.
//
// From disk a browser refuses to start a worker, so a hidden frame plays its part: it runs the same script, and
// messages go both ways. From a server, the index of words (the largest file of the site) waits until
// somebody turns to the search.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      this.ready = new Promise((resolve) => {
        this.frame.addEventListener("load", () => resolve(this.frame.contentWindow), { once: true });
      });
      const script = new URL(address, document.baseURI).href.replace(/"/g, "%22");
      const importing = "async (...all) => { for (const src of all) await new Promise((loaded) => {" +
        "const s = document.createElement('script'); s.src = src; s.onload = loaded; document.head.append(s); }) }";
      this.frame.srcdoc =
        `<script>importScripts = ${importing}; ` +
        "postMessage = (data) => parent.dispatchEvent(new CustomEvent('worker-says', { detail: data }));" +
        `</script><script src="${script}"></script>`;
      window.addEventListener("worker-says", (event) => {
        this.dispatchEvent(new MessageEvent("message", { data: event.detail }));
      });
      (document.body ?? document.documentElement).append(this.frame);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
} else {
  const wanted = new Promise((resolve) => {
    addEventListener("focusin", (event) => {
      if (event.target.closest?.("[data-md-component=search-query]")) resolve();
    });
    if (new URLSearchParams(location.search).has("q")) resolve();
  });
  const request = XMLHttpRequest.prototype;
  const { open, send } = request;
  request.open = function (method, address, ...more) {
    this.waits = String(address).endsWith("search/search_index.json");
    return open.call(this, method, address, ...more);
  };
  request.send = function (...body) {
    if (!this.waits) return send.apply(this, body);
    wanted.then(() => send.apply(this, body));
  };
}
