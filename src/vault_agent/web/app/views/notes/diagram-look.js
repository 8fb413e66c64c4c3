// The colours of diagrams: those of the present theme, under the names that Mermaid has for them.

import { GROUPS, palette } from "../../parts/shapes.js";

/** @param {string} colour as #rrggbb @returns {number[]} */
const parts = (colour) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/** Mix two colours. @param {string} colour @param {string} ground @param {number} share of the first, from 0 to 1 */
function mixed(colour, ground, share) {
  const under = parts(ground);
  const both = parts(colour).map((part, at) => Math.round(part * share + under[at] * (1 - share)));
  return `#${both.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Name twelve colours by a word and their number.
 * @param {string} word
 * @param {(at: number) => string} colourOf
 * @param {number} [first]
 */
const scale = (word, colourOf, first = 0) =>
  Object.fromEntries(Array.from({ length: GROUPS }, (_, at) => [`${word}${at + first}`, colourOf(at)]));

/**
 * What Mermaid is told. Notes can set much of it themselves, but nothing that is in `secure`.
 * @param {boolean} dark
 * @param {number} maxTextSize
 */
export function lookOf(dark, maxTextSize) {
  const of = palette();
  const { ink, paper, canvas, accent, line, mark } = of;
  const [soft, middle] = dark ? [0.24, 0.5] : [0.13, 0.35];
  const group = (/** @type {number} */ at) => of[`group-${at}`];
  const tint = (/** @type {string} */ colour, share = soft) => mixed(colour, paper, share);
  const [quiet, second, alarm] = [of["ink-3"], of["ink-2"], of.bug];
  const box = { fill: tint(accent), edge: tint(accent, 0.65) };
  const note = { fill: tint(mark, dark ? 0.6 : 0.5), edge: mixed(of.decision, paper, 0.5) };
  const axes = ["titleColor", "dataLabelColor", "legendTextColor"].concat(
    ["x", "y"].flatMap((axis) => ["Title", "Label", "Tick", "Line"].map((part) => `${axis}Axis${part}Color`)),
  );
  const themeVariables = {
    darkMode: dark,
    background: paper,
    fontFamily: of.sans,
    fontSize: "15px",
    useGradient: false,
    dropShadow: "none",
    // Boxes, lines and text.
    ...{ primaryColor: box.fill, primaryBorderColor: box.edge, primaryTextColor: ink },
    ...{ secondaryColor: tint(of.decision), secondaryBorderColor: tint(of.decision, 0.65), secondaryTextColor: ink },
    ...{ tertiaryColor: canvas, tertiaryBorderColor: of["line-strong"] ?? line, tertiaryTextColor: ink },
    ...{ lineColor: quiet, arrowheadColor: quiet, textColor: ink, titleColor: ink, edgeLabelBackground: paper },
    ...{ clusterBkg: canvas, clusterBorder: mixed(quiet, paper, 0.5), classText: ink, errorBkgColor: paper },
    ...{ noteBkgColor: note.fill, noteBorderColor: note.edge, noteTextColor: ink, rowOdd: paper, rowEven: canvas },
    // Sequences and states.
    ...{ actorLineColor: mixed(quiet, paper, 0.6), signalColor: second, signalTextColor: ink, rectBkgColor: canvas },
    ...{ activationBkgColor: tint(accent, middle), activationBorderColor: box.edge, sequenceNumberColor: paper },
    ...{ stateLabelColor: ink, compositeBackground: canvas, altBackground: canvas, labelBackgroundColor: paper },
    // Gantt charts.
    ...{ sectionBkgColor: canvas, altSectionBkgColor: paper, sectionBkgColor2: canvas, excludeBkgColor: of.line },
    ...{ taskBkgColor: tint(accent, middle), taskBorderColor: box.edge, taskTextClickableColor: ink, gridColor: line },
    ...{ activeTaskBkgColor: tint(of.journal, middle), activeTaskBorderColor: of.journal },
    ...{ doneTaskBkgColor: mixed(quiet, paper, 0.25), doneTaskBorderColor: mixed(quiet, paper, 0.6) },
    ...{ critBkgColor: tint(alarm, middle), critBorderColor: alarm, todayLineColor: alarm, vertLineColor: of.journal },
    // Charts.
    ...{ pieStrokeColor: paper, pieOuterStrokeColor: line, pieOpacity: "1", pieSectionTextColor: ink },
    ...{ pieTitleTextSize: "18px", pieSectionTextSize: "15px", pieLegendTextSize: "15px" },
    ...{ quadrantPointFill: accent, quadrantTitleFill: ink, quadrantPointTextFill: ink },
    ...{
      quadrant1Fill: tint(group(3)),
      quadrant2Fill: tint(group(2)),
      quadrant3Fill: canvas,
      quadrant4Fill: tint(group(1)),
    },
    ...{ quadrant1TextFill: second, quadrant2TextFill: second, quadrant3TextFill: second, quadrant4TextFill: second },
    ...{ quadrantInternalBorderStrokeFill: line, quadrantExternalBorderStrokeFill: mixed(quiet, paper, 0.5) },
    packet: {
      ...{ startByteColor: second, endByteColor: second, labelColor: ink, titleColor: ink },
      ...{ blockStrokeColor: box.edge, blockFillColor: box.fill },
    },
    radar: {
      ...{ axisColor: quiet, axisStrokeWidth: 1, axisLabelFontSize: 14, curveOpacity: 0.5, curveStrokeWidth: 2 },
      ...{
        graticuleColor: quiet,
        graticuleStrokeWidth: 1,
        graticuleOpacity: 0.08,
        legendBoxSize: 12,
        legendFontSize: 14,
      },
    },
    xyChart: {
      backgroundColor: paper,
      plotColorPalette: Array.from({ length: GROUPS }, (_, at) => group(at)).join(),
      ...Object.fromEntries(axes.map((name) => [name, ink])),
    },
    ...scale("pie", (at) => tint(group(at), middle), 1),
    ...scale("fillType", (at) => tint(group(at))),
    ...scale("cScale", (at) => tint(group(at), (soft + middle) / 2)),
    ...scale("cScalePeer", (at) => tint(group(at), 0.6)),
    ...scale("cScaleInv", (at) => tint(group(at), 0.6)),
    ...scale("cScaleLabel", () => ink),
    ...scale("git", group),
    ...scale("gitInv", () => ink),
    ...scale("gitBranchLabel", () => paper),
    ...scale("venn", group, 1),
    ...{ commitLabelColor: ink, commitLabelBackground: canvas, tagLabelColor: ink, tagLabelBackground: note.fill },
    ...{ tagLabelBorder: note.edge, tagLabelFontSize: "12px", commitLabelFontSize: "12px" },
  };
  return {
    theme: "base",
    themeVariables,
    // Colours without a name, an effect for light grounds, and text of mind maps beside its place.
    themeCSS: `.tick line, .domain { stroke: ${line}; } .eventWrapper { filter: none; }
      .mindmap-node .label[transform^="translate(0"] text { text-anchor: middle; }
      .edgeLabel .label rect { fill: ${paper}; }
      [fill="#444444"] { fill: ${ink}; } [stroke="#444444"] { stroke: ${quiet}; }`,
    fontFamily: of.sans,
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    htmlLabels: false,
    deterministicIds: true,
    maxTextSize,
    maxEdges: 500,
    // What the page decides: a picture in its colours, and within its bounds.
    secure: ["secure", "securityLevel", "startOnLoad", "suppressErrorRendering", "maxTextSize", "maxEdges"].concat([
      "htmlLabels",
      "deterministicIds",
      "fontFamily",
      "theme",
      "look",
    ]),
  };
}
