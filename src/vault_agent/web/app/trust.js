// The one Trusted Types policy. HTML is made only of what the server's renderer returned.

const policy = window.trustedTypes?.createPolicy("vault-agent", {
  createHTML: (/** @type {string} */ text) => text,
  createScriptURL: (/** @type {string} */ address) => {
    const url = new URL(address, location.href);
    if (url.origin !== location.origin || !url.pathname.startsWith("/ui/assets/"))
      throw new TypeError("Not a file of the page.");
    return url.href;
  },
});

/** Show HTML that the renderer of the server has cleaned. @param {Element} element @param {string} rendered */
export function showRendered(element, rendered) {
  element.innerHTML = policy ? policy.createHTML(rendered) : rendered;
}

/** Start a worker from one of our own modules. @param {URL} address */
export function startWorker(address) {
  const url = policy ? policy.createScriptURL(address.href) : address.href;
  return new Worker(url, { type: "module" });
}
