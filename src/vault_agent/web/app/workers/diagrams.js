// Draws diagrams, in a sandboxed frame: see web/assets.py. Its only way out is a message to the page.

(() => {
  const host = document.createElement("div");
  document.body.append(host);
  const writer = new XMLSerializer();
  const MARGIN = 8; // pixels around what is drawn
  const BEYOND = 24; // pixels
  const READABLE = 4.5; // contrast of text (WCAG 2.2, 1.4.3)

  // The same source gives the same picture: Mermaid names commits and draws by hand at random.
  let random = 1;
  Math.random = () => (random = (random * 16807) % 2147483647) / 2147483647;

  /** The luminance of a colour, or null if it is none that covers. @param {string} colour as computed */
  function luminance(colour) {
    const [red, green, blue, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
    if (!colour.startsWith("rgb") || alpha < 0.5) return null;
    const [r, g, b] = [red, green, blue].map((part) =>
      part <= 10.31 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  /** @param {number} one @param {number} other */
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);

  /** Notes colour boxes for one theme. In the other one, their text gets a colour that can be read.
   * @param {SVGSVGElement} picture @param {string[]} inks as #rrggbb */
  function makeReadable(picture, inks) {
    for (const node of picture.querySelectorAll(".node, .cluster")) {
      const shapes = [...node.querySelectorAll("rect, polygon, circle, ellipse, path")];
      const ground = shapes.map((shape) => luminance(getComputedStyle(shape).fill)).find((light) => light !== null);
      if (ground === undefined || ground === null) continue;
      for (const text of /** @type {NodeListOf<SVGElement>} */ (node.querySelectorAll("text, tspan"))) {
        const ink = luminance(getComputedStyle(text).fill);
        if (ink === null || contrast(ink, ground) >= READABLE) continue;
        const best = inks
          .map((colour) => {
            text.style.setProperty("fill", colour, "important");
            return { colour, ratio: contrast(luminance(getComputedStyle(text).fill) ?? 0, ground) };
          })
          .sort((one, other) => other.ratio - one.ratio)[0];
        text.style.setProperty("fill", best.colour, "important");
      }
    }
  }

  /**
   * Give a picture the size of what is drawn: an image has one of its own. What Mermaid would cut off stays off, such
   * as the line of today in an old plan, but for a little that it measures wrong.
   * @param {SVGSVGElement} picture
   */
  function fit(picture) {
    const drawn = picture.getBBox();
    const seen = picture.viewBox.baseVal;
    const left = Math.max(drawn.x - MARGIN, seen.x - BEYOND);
    const top = Math.max(drawn.y - MARGIN, seen.y - BEYOND);
    const width = Math.ceil(Math.min(drawn.x + drawn.width + MARGIN, seen.x + seen.width + BEYOND) - left);
    const height = Math.ceil(Math.min(drawn.y + drawn.height + MARGIN, seen.y + seen.height + BEYOND) - top);
    picture.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
    picture.setAttribute("width", String(width));
    picture.setAttribute("height", String(height));
    picture.style.removeProperty("max-width");
    return { width, height };
  }

  /** Draw one. @param {{ source: string, width: number, config: { themeVariables: Record<string, string> } }} data */
  async function draw({ source, width, config }) {
    host.style.inlineSize = `${width}px`; // some kinds are as wide as their place
    random = 1;
    mermaid.initialize(/** @type {Parameters<typeof mermaid.initialize>[0]} */ (config));
    const { svg } = await mermaid.render("diagram", source, host);
    host.innerHTML = svg;
    const picture = /** @type {SVGSVGElement} */ (host.querySelector("svg"));
    makeReadable(picture, [config.themeVariables.primaryTextColor, config.themeVariables.background]);
    return {
      ...fit(picture),
      svg: writer.serializeToString(picture), // an image is read as XML
      kind: picture.getAttribute("aria-roledescription") ?? "",
      title: picture.querySelector(":scope > title")?.textContent ?? "",
    };
  }

  addEventListener("message", async ({ source, data }) => {
    if (source !== parent) return;
    const { id } = data;
    try {
      parent.postMessage({ id, ...(await draw(data)) }, "*");
    } catch (fault) {
      parent.postMessage({ id, fault: String(fault instanceof Error ? fault.message : fault) }, "*");
    }
    host.replaceChildren();
  });
  parent.postMessage({ ready: true }, "*");
})();
