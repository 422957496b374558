// The index of the search is larger than any page, and the theme fetches it and starts its worker at
// once. Let both wait until someone turns to the search, or comes with a question in the address.

(() => {
  if (location.protocol === "file:") return;

  const sought = new Promise((turn) => {
    if (new URLSearchParams(location.search).has("q")) turn();
    document.addEventListener("focusin", ({ target }) => target.closest("form[name=search]") && turn());
  });

  const { open, send } = XMLHttpRequest.prototype;

  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    this.waits = String(url).endsWith("/search/search_index.json");
    return open.call(this, method, url, ...rest);
  };

  XMLHttpRequest.prototype.send = function (body) {
    if (this.waits) sought.then(() => send.call(this, body));
    else send.call(this, body);
  };

  const Worker = window.Worker;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.started = sought.then(() => {
        const worker = new Worker(url);
        worker.addEventListener("message", ({ data }) => {
          this.dispatchEvent(new MessageEvent("message", { data }));
        });
        return worker;
      });
    }

    postMessage(data) {
      this.started.then((worker) => worker.postMessage(data));
    }
  };
})();
