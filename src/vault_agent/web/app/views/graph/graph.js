// The Graph view: canvas, filters, preview, and the same as a list.

import { html, useEffect, useMemo, useRef, useSignal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { announce, Empty, Trouble } from "../../parts/say.js";
import { useSheet } from "../../parts/sheet.js";
import { KINDS, kindOf } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { graph, graphFault, grouped, loadGraph, passing, pin, pins } from "../../state/graph.js";
import { near } from "../../state/places.js";
import { match, matched, query } from "../../state/look.js";
import { mayWrite, revision } from "../../state/vault.js";
import { later } from "../../later.js";
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
  const at = useSignal(-1);
  const find = useSignal("");
  const left = useSignal(0);
  const list = useSignal(false);
  const nextFound = useRef(-1);
  const now = graph.value;
  const { near: middleId, depth } = address.value;
  const { unresolved, clusters } = filter.value;

  useEffect(() => loadGraph({ unresolved }), [revision.value, unresolved]);

  const counts = useMemo(() => {
    /** @type {Map<string, number>} */
    const made = new Map();
    now?.types.forEach(
      (type, each) => now.ids[each] !== null && made.set(kindOf(type), (made.get(kindOf(type)) ?? 0) + 1),
    );
    return made;
  }, [now]);
  const colour = filter.value.colour || (counts.size > 1 ? "type" : "folder");
  const middle = now && middleId ? now.ids.indexOf(middleId) : -1;
  const text = query.value.trim();
  const asked = useRef(false);
  useEffect(() => {
    if (!now) return;
    const timer = setTimeout(() => void match(now, text), asked.current && text ? WAIT : 0);
    asked.current = true;
    return () => clearTimeout(timer);
  }, [now?.ids, text]);
  const within = matched.value?.mask.length === now?.ids.length ? matched.value?.mask : null;
  const unlinked = useMemo(() => now?.ids.filter((id, each) => id !== null && !now.degree[each]).length ?? 0, [now]);
  const orphans = filter.value.orphans ?? unlinked > NEARLY * (now?.ids.length ?? 0);
  const mask = useMemo(() => {
    if (!now) return new Uint8Array();
    const made = passing(now, { ...filter.value, orphans }, kindOf);
    if (within) for (let each = 0; each < made.length; each += 1) made[each] &= within[each];
    if (middle >= 0) {
      const distance = near(now.edges, middle, Number(depth) || 1);
      for (let each = 0; each < made.length; each += 1) if (!distance.has(each)) made[each] = 0;
      made[middle] = 1;
    }
    return made;
  }, [now, filter.value, orphans, middle, depth, within]);
  const sought = find.value.trim().toLocaleLowerCase();
  const found = useMemo(() => {
    if (!now || !sought) return null;
    return [...now.titles.keys()]
      .filter((each) => mask[each] && now.titles[each].toLocaleLowerCase().includes(sought))
      .sort((a, b) => now.degree[b] - now.degree[a]);
  }, [now, mask, sought]);
  const bright = useMemo(() => {
    if (!now || !found) return null;
    const made = new Uint8Array(now.ids.length);
    for (const each of found) made[each] = 1;
    return made;
  }, [found]);

  const coloured = colour !== "type";
  const scene = () => {
    if (!now) return;
    const [x, y] = [now.x.slice(), now.y.slice()];
    now.ids.forEach((id, each) => {
      const place = id && middle < 0 ? pins.peek()[id] : undefined;
      if (place) [x[each], y[each]] = place;
    });
    const kind = Uint8Array.from(now.types, (type) => KINDS.indexOf(kindOf(type)));
    stage.current?.tell("scene", {
      middle,
      refit: true,
      scene: {
        x,
        y,
        kind,
        kinds: KINDS,
        degree: now.degree,
        edges: now.edges,
        group: colour === "folder" ? now.folderGroup : now.group,
        mask,
        bright,
        ranked: now.ranked,
        titles: now.titles.map((title) => plain(title, 60)),
        names: clusterNames(now, colour),
        clusters: clusters && middle < 0,
        grouped: coloured,
      },
    });
  };
  useEffect(scene, [now, middle, depth, styled]);
  useEffect(() => {
    if (now && middle < 0) stage.current?.tell("mask", { mask, bright });
    else if (now) scene();
  }, [mask, bright]);
  useEffect(() => stage.current?.tell("fit"), [orphans]);
  useEffect(() => {
    if (now)
      stage.current?.tell("paint", {
        changes: {
          grouped: coloured,
          clusters: clusters && middle < 0,
          group: colour === "folder" ? now.folderGroup : now.group,
          names: clusterNames(now, colour),
        },
      });
  }, [clusters, colour, grouped.value]);

  /** @param {number} next */
  const choose = (next) => {
    at.value = next;
    const sheet = matchMedia("(max-width: 720px)").matches; // the preview is below, else beside
    stage.current?.tell("select", {
      at: next,
      show: true,
      beside: sheet ? 0 : PREVIEW,
      below: sheet ? innerHeight / 2 : 0,
    });
    if (now && next >= 0) announce(plain(now.titles[next]));
  };
  const openChosen = (/** @type {boolean} */ edits) => {
    const id = now?.ids[at.peek()];
    if (id) go({ view: "notes", note: id, near: "", depth: "", edit: edits && mayWrite.value ? "1" : "" });
  };
  /** @param {Told} message */
  const hear = (message) => {
    if (message.type === "picked") choose(message.at);
    else if (message.type === "drawn") left.value = message.left;
    else if (message.type === "dropped" && now?.ids[message.at] && middle < 0)
      pin(/** @type {string} */ (now.ids[message.at]), [message.x, message.y]);
  };
  const findNext = (/** @type {number} */ step) => {
    if (!found?.length) return;
    nextFound.current = (nextFound.current + step + found.length) % found.length;
    choose(found[nextFound.current]);
  };
  useEffect(() => void (nextFound.current = -1), [sought]);
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
    () => ({ folders: now ? branches(now.folders) : [], tags: now ? branches(now.tags.flat()) : [] }),
    [now],
  );
  const span = useMemo(() => {
    const days = now?.days.filter((day) => day !== null) ?? [];
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
  }, [now]);

  const id = now?.ids[at.value];
  const isPinned = Boolean(id && pins.value[id]);
  const togglePin = () => {
    if (id && now) pin(id, isPinned ? null : [now.x[at.peek()], now.y[at.peek()]]);
    scene();
  };
  const notes = [
    now?.truncated && `The ${count(now.ids.length)} best connected notes are shown.`,
    left.value > 0 && `The ${count(EDGES_OUT)} strongest links are drawn. Zoom in for all.`,
    now && !now.laid && "The positions are being computed.",
    !orphans && unlinked > 0 && later.graph.unlinked(count(unlinked)),
  ].filter(Boolean);
  const shown = mask.reduce((sum, each) => sum + each, 0);
  if (!styled) return null;
  return html`<div class="graph" data-empty=${shown === 0}>
    <h1 class="visually-hidden">Graph</h1>
    <${Canvas}
      label=${later.graph.label(count(shown))}
      stage=${stage}
      onMessage=${hear}
      onOpen=${openChosen}
      onEscape=${() => choose(-1)}
    />
    ${
      graphFault.value &&
      html`<div class="wait"><${Trouble} fault=${graphFault.value} again=${() => loadGraph({ unresolved })} /></div>`
    }
    ${!now && !graphFault.value && html`<p class="wait" role="status">Drawing the graph</p>`}
    ${
      now &&
      shown === 0 &&
      html`<div class="wait">
        <${Empty} icon="graph" title=${now.ids.length ? "No note passes the filters." : "No notes yet"} />
      </div>`
    }
    ${now && list.value && html`<${AsList} graph=${now} mask=${mask} at=${at.value} onChoose=${choose} />`}
    ${
      now &&
      html`<${Panel}
        counts=${counts}
        colour=${colour}
        names=${names}
        filter=${{ ...filter.value, orphans }}
        span=${span}
        found=${found ? found.length : null}
        find=${find}
        onFind=${findNext}
        onFilter=${(/** @type {Partial<typeof NO_FILTER>} */ changes) =>
          (filter.value = { ...filter.peek(), ...changes })}
        notes=${notes}
        list=${list.value}
        onList=${() => (list.value = !list.peek())}
      />`
    }
    ${
      now &&
      at.value >= 0 &&
      at.value < now.ids.length &&
      html`<${Preview} graph=${now} at=${at.value} pinned=${isPinned} onChoose=${choose} onPin=${togglePin} />`
    }
  </div>`;
}

/**
 * The folders or tags of nodes with all above them, the most frequent ones, by name.
 * @param {string[]} each of every node
 */
function branches(each) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  for (const name of each)
    for (let at = name.length; at > 0; at = name.lastIndexOf("/", at - 1))
      sizes.set(name.slice(0, at), (sizes.get(name.slice(0, at)) ?? 0) + 1);
  return [...sizes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, NAMED)
    .sort((a, b) => collator.compare(a[0], b[0]));
}

/** Names of the groups that colours and grounds show. @param {Graph} of @param {string} colour */
function clusterNames(of, colour) {
  if (colour !== "folder") {
    const titles = new Set(of.titles);
    // One that is named after a note needs no name beside that of the note.
    return of.names.map((group) => (titles.has(group.name) ? { ...group, name: "" } : group));
  }
  /** @type {Map<number, number>} */
  const sizes = new Map();
  for (const group of of.folderGroup) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  if (sizes.size < 2) return [];
  const first = new Map([...of.folderGroup].map((group, each) => [group, of.folders[each]]));
  const largest = [...sizes]
    .filter(([group]) => group >= 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 40);
  const lastOf = (/** @type {number} */ group, /** @type {number} */ parts) =>
    (first.get(group) ?? "").split("/").slice(-parts).join("/");
  return largest.map(([group, size]) => {
    const isAlone = largest.every(([other]) => other === group || lastOf(other, 1) !== lastOf(group, 1));
    return { group, name: plain(lastOf(group, isAlone ? 1 : 2), 40) || "Vault root", size };
  });
}
