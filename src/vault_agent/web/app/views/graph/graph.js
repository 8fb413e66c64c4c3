// The Graph view: canvas, filters, preview, and the same as a list.

import { html, useEffect, useMemo, useRef, useSignal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { announce, Empty, Trouble } from "../../parts/say.js";
import { useSheet } from "../../parts/sheet.js";
import { KINDS, kindOf } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { graph as graphSignal, graphFault, grouped, loadGraph, passing, pin, pins } from "../../state/graph.js";
import { near } from "../../state/places.js";
import { match, matched, query } from "../../state/look.js";
import { mayWrite, revision } from "../../state/vault.js";
import { laterWords } from "../../words-later.js";
import { collator, count } from "../../words.js";
import { Panel } from "./panel.js";
import { AsList, Preview } from "./preview.js";
import { Canvas } from "./stage.js";
import { EDGES_OUT } from "../../workers/picture.js";
/** @import { Graph } from "../../state/graph.js" */
/** @import { Told } from "../../workers/graph.js" */
/** @import { Stage } from "./stage.js" */

const PREVIEW = 340; // px
const NAMED = 400; // folders and tags to choose from
const NEARLY = 0.9; // share of notes without links
const WAIT = 300; // ms after the last key of a query

export const NO_FILTER = {
  hidden: /** @type {string[]} */ ([]),
  orphans: /** @type {boolean | null} */ (null), // or else where nearly all notes have no links
  unresolved: false,
  clusters: true,
  colour: "", // by type, or by folder where there is one type only
  first: -Infinity,
  last: Infinity,
  folder: "",
  tag: "",
};

export function View() {
  const stage = useRef(/** @type {Stage | null} */ (null));
  const styled = useSheet("graph.css");
  const filter = useSignal(NO_FILTER);
  const chosen = useSignal(-1);
  const find = useSignal("");
  const left = useSignal(0);
  const list = useSignal(false);
  const hitIndex = useRef(-1);
  const graph = graphSignal.value;
  const { near: middleId, depth } = address.value;
  const { unresolved, clusters } = filter.value;

  useEffect(() => loadGraph({ unresolved }), [revision.value, unresolved]);

  const counts = useMemo(() => {
    /** @type {Map<string, number>} */
    const byKind = new Map();
    graph?.types.forEach(
      (type, node) => graph.ids[node] !== null && byKind.set(kindOf(type), (byKind.get(kindOf(type)) ?? 0) + 1),
    );
    return byKind;
  }, [graph]);
  const colour = filter.value.colour || (counts.size > 1 ? "type" : "folder");
  const middle = graph && middleId ? graph.ids.indexOf(middleId) : -1;
  const text = query.value.trim();
  const isRepeat = useRef(false);
  useEffect(() => {
    if (!graph) return;
    const timer = setTimeout(() => void match(graph, text), isRepeat.current && text ? WAIT : 0);
    isRepeat.current = true;
    return () => clearTimeout(timer);
  }, [graph?.ids, text]);
  const within = matched.value?.mask.length === graph?.ids.length ? matched.value?.mask : null;
  const unlinked = useMemo(
    () => graph?.ids.filter((id, node) => id !== null && !graph.degree[node]).length ?? 0,
    [graph],
  );
  const orphans = filter.value.orphans ?? unlinked > NEARLY * (graph?.ids.length ?? 0);
  const mask = useMemo(() => {
    if (!graph) return new Uint8Array();
    const passes = passing(graph, { ...filter.value, orphans }, kindOf);
    if (within) for (let node = 0; node < passes.length; node += 1) passes[node] &= within[node];
    if (middle >= 0) {
      const distance = near(graph.edges, middle, Number(depth) || 1);
      for (let node = 0; node < passes.length; node += 1) if (!distance.has(node)) passes[node] = 0;
      passes[middle] = 1;
    }
    return passes;
  }, [graph, filter.value, orphans, middle, depth, within]);
  const sought = find.value.trim().toLocaleLowerCase();
  const hits = useMemo(() => {
    if (!graph || !sought) return null;
    return [...graph.titles.keys()]
      .filter((node) => mask[node] && graph.titles[node].toLocaleLowerCase().includes(sought))
      .sort((a, b) => graph.degree[b] - graph.degree[a]);
  }, [graph, mask, sought]);
  const bright = useMemo(() => {
    if (!graph || !hits) return null;
    const marks = new Uint8Array(graph.ids.length);
    for (const node of hits) marks[node] = 1;
    return marks;
  }, [hits]);

  const coloured = colour !== "type";
  const sendScene = () => {
    if (!graph) return;
    const [x, y] = [graph.x.slice(), graph.y.slice()];
    graph.ids.forEach((id, node) => {
      const place = id && middle < 0 ? pins.peek()[id] : undefined;
      if (place) [x[node], y[node]] = place;
    });
    const kind = Uint8Array.from(graph.types, (type) => KINDS.indexOf(kindOf(type)));
    stage.current?.tell("scene", {
      middle,
      refit: true,
      scene: {
        x,
        y,
        kind,
        kinds: KINDS,
        degree: graph.degree,
        edges: graph.edges,
        group: colour === "folder" ? graph.folderGroup : graph.group,
        mask,
        bright,
        ranked: graph.ranked,
        titles: graph.titles.map((title) => plain(title, 60)),
        names: clusterNames(graph, colour),
        clusters: clusters && middle < 0,
        grouped: coloured,
      },
    });
  };
  useEffect(sendScene, [graph, middle, depth, styled]);
  useEffect(() => {
    if (graph && middle < 0) stage.current?.tell("mask", { mask, bright });
    else if (graph) sendScene();
  }, [mask, bright]);
  useEffect(() => stage.current?.tell("fit"), [orphans]);
  useEffect(() => {
    if (graph)
      stage.current?.tell("paint", {
        changes: {
          grouped: coloured,
          clusters: clusters && middle < 0,
          group: colour === "folder" ? graph.folderGroup : graph.group,
          names: clusterNames(graph, colour),
        },
      });
  }, [clusters, colour, grouped.value]);

  /** @param {number} next */
  const choose = (next) => {
    chosen.value = next;
    const sheet = matchMedia("(max-width: 720px)").matches; // the preview is below, else beside
    stage.current?.tell("select", {
      at: next,
      show: true,
      beside: sheet ? 0 : PREVIEW,
      below: sheet ? innerHeight / 2 : 0,
    });
    if (graph && next >= 0) announce(plain(graph.titles[next]));
  };
  const openChosen = (/** @type {boolean} */ edits) => {
    const id = graph?.ids[chosen.peek()];
    if (id) go({ view: "notes", note: id, near: "", depth: "", edit: edits && mayWrite.value ? "1" : "" });
  };
  /** @param {Told} message */
  const hear = (message) => {
    if (message.type === "picked") choose(message.at);
    else if (message.type === "drawn") left.value = message.left;
    else if (message.type === "dropped" && graph?.ids[message.at] && middle < 0)
      pin(/** @type {string} */ (graph.ids[message.at]), [message.x, message.y]);
  };
  const findNext = (/** @type {number} */ step) => {
    if (!hits?.length) return;
    hitIndex.current = (hitIndex.current + step + hits.length) % hits.length;
    choose(hits[hitIndex.current]);
  };
  useEffect(() => void (hitIndex.current = -1), [sought]);
  useCommands(
    () => [
      {
        id: "search",
        name: "Find in the graph",
        icon: "search",
        keys: ["Mod+Shift+f", "/"],
        run: () => document.getElementById("find")?.focus(),
      },
      {
        id: "aslist",
        name: "Show the graph as a list",
        icon: "list",
        keys: ["l"],
        run: () => (list.value = !list.peek()),
      },
    ],
    [],
  );

  const names = useMemo(
    () => ({ folders: graph ? branches(graph.folders) : [], tags: graph ? branches(graph.tags.flat()) : [] }),
    [graph],
  );
  const span = useMemo(() => {
    const days = graph?.days.filter((day) => day !== null) ?? [];
    return /** @type {[number, number]} */ (
      days.length
        ? [
            Math.max(
              0,
              days.reduce((a, b) => Math.min(a, b)),
            ),
            Math.floor(Date.now() / 86_400_000),
          ]
        : [0, 0]
    );
  }, [graph]);

  const id = graph?.ids[chosen.value];
  const isPinned = Boolean(id && pins.value[id]);
  const togglePin = () => {
    if (id && graph) pin(id, isPinned ? null : [graph.x[chosen.peek()], graph.y[chosen.peek()]]);
    sendScene();
  };
  const remarks = [
    graph?.truncated && `The ${count(graph.ids.length)} best connected notes are shown.`,
    left.value > 0 && `The ${count(EDGES_OUT)} strongest links are drawn. Zoom in for all.`,
    graph && !graph.laid && "The positions are being computed.",
    !orphans && unlinked > 0 && laterWords.graph.unlinked(count(unlinked)),
  ].filter(Boolean);
  const visibleCount = mask.reduce((sum, bit) => sum + bit, 0);
  if (!styled) return null;
  return html`<div class="graph" data-empty=${visibleCount === 0}>
    <h1 class="visually-hidden">Graph</h1>
    <${Canvas}
      label=${laterWords.graph.label(count(visibleCount))}
      stage=${stage}
      onMessage=${hear}
      onOpen=${openChosen}
      onEscape=${() => choose(-1)}
    />
    ${
      graphFault.value &&
      html`<div class="wait"><${Trouble} fault=${graphFault.value} again=${() => loadGraph({ unresolved })} /></div>`
    }
    ${!graph && !graphFault.value && html`<p class="wait" role="status">Drawing the graph</p>`}
    ${
      graph &&
      visibleCount === 0 &&
      html`<div class="wait">
        <${Empty} icon="graph" title=${graph.ids.length ? "No note passes the filters." : "No notes yet"} />
      </div>`
    }
    ${graph && list.value && html`<${AsList} graph=${graph} mask=${mask} chosen=${chosen.value} onChoose=${choose} />`}
    ${
      graph &&
      html`<${Panel}
        counts=${counts}
        colour=${colour}
        names=${names}
        filter=${{ ...filter.value, orphans }}
        span=${span}
        hitCount=${hits ? hits.length : null}
        find=${find}
        onFind=${findNext}
        onFilter=${(/** @type {Partial<typeof NO_FILTER>} */ changes) =>
          (filter.value = { ...filter.peek(), ...changes })}
        remarks=${remarks}
        list=${list.value}
        onList=${() => (list.value = !list.peek())}
      />`
    }
    ${
      graph &&
      chosen.value >= 0 &&
      chosen.value < graph.ids.length &&
      html`<${Preview} graph=${graph} node=${chosen.value} pinned=${isPinned} onChoose=${choose} onPin=${togglePin} />`
    }
  </div>`;
}

/**
 * The folders or tags of nodes with all above them, the most frequent ones, by name.
 * @param {string[]} names of every node
 */
function branches(names) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  for (const name of names)
    for (let end = name.length; end > 0; end = name.lastIndexOf("/", end - 1))
      sizes.set(name.slice(0, end), (sizes.get(name.slice(0, end)) ?? 0) + 1);
  return [...sizes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, NAMED)
    .sort((a, b) => collator.compare(a[0], b[0]));
}

/** Names of the groups that colours and grounds show. @param {Graph} graph @param {string} colour */
function clusterNames(graph, colour) {
  if (colour !== "folder") {
    const titles = new Set(graph.titles);
    // One that is named after a note needs no name beside that of the note.
    return graph.names.map((group) => (titles.has(group.name) ? { ...group, name: "" } : group));
  }
  /** @type {Map<number, number>} */
  const sizes = new Map();
  for (const group of graph.folderGroup) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  if (sizes.size < 2) return [];
  const folders = new Map([...graph.folderGroup].map((group, node) => [group, graph.folders[node]]));
  const largest = [...sizes]
    .filter(([group]) => group >= 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 40);
  const lastOf = (/** @type {number} */ group, /** @type {number} */ parts) =>
    (folders.get(group) ?? "").split("/").slice(-parts).join("/");
  return largest.map(([group]) => {
    const isAlone = largest.every(([other]) => other === group || lastOf(other, 1) !== lastOf(group, 1));
    return { group, name: plain(lastOf(group, isAlone ? 1 : 2), 40) || "Vault root" };
  });
}
