// Settles a few nodes with d3-force: the neighbours of one that is dragged, or a local graph.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../../vendor/d3-force.js";
import { radius } from "../parts/shapes.js";
import { near } from "../state/places.js";
/** @import { SimulationNodeDatum } from "../../vendor/d3-force.js" */
/** @import { Scene } from "./picture.js" */

/** @typedef {SimulationNodeDatum & { at: number, x: number, y: number }} Placed */
/** @typedef {Placed & { homeX: number, homeY: number }} Near */

const MOST = 400;
const MOST_LOCAL = 1500;

/**
 * Move the nodes near one, two steps away at most, while that one stays.
 * @param {Scene} scene @param {number} held @param {number} ticks
 */
export function settleNear(scene, held, ticks) {
  const distance = near(scene.edges, held, 2, scene.mask, MOST);
  const links = [];
  for (let at = 0; at < scene.edges.length; at += 2)
    if (distance.has(scene.edges[at]) && distance.has(scene.edges[at + 1]))
      links.push([scene.edges[at], scene.edges[at + 1]]);
  /** @type {Near[]} */
  const nodes = [...distance.keys()].map((at) => ({
    at,
    x: scene.x[at],
    y: scene.y[at],
    homeX: scene.x[at],
    homeY: scene.y[at],
    ...(at === held && { fx: scene.x[at], fy: scene.y[at] }),
  }));
  const index = new Map(nodes.map((node, rank) => [node.at, rank]));
  forceSimulation(nodes)
    .force(
      "link",
      forceLink(links.map(([a, b]) => ({ source: index.get(a) ?? 0, target: index.get(b) ?? 0 })))
        .distance((link) => {
          const { source, target } = /** @type {{ source: Near, target: Near }} */ (/** @type {unknown} */ (link));
          return Math.min(60, 12 + Math.hypot(source.homeX - target.homeX, source.homeY - target.homeY) * 0.6);
        })
        .strength(0.12),
    )
    .force("x", forceX((/** @type {Near} */ node) => node.homeX).strength(0.08))
    .force("y", forceY((/** @type {Near} */ node) => node.homeY).strength(0.08))
    .force(
      "apart",
      forceCollide((/** @type {Near} */ node) => radius(scene.degree[node.at]) * 0.6 + 1),
    )
    .stop()
    .tick(ticks);
  for (const node of nodes) [scene.x[node.at], scene.y[node.at]] = [node.x, node.y];
}

/**
 * Lay out the nodes that pass as a graph of their own, one of them in the middle. Where they are too
 * many, all stay where the whole graph has them.
 * @param {Scene} scene @param {number} middle
 */
export function layOutLocal(scene, middle) {
  /** @type {Placed[]} */
  const nodes = [];
  const index = new Map();
  for (let at = 0; at < scene.mask.length; at += 1) {
    if (!scene.mask[at]) continue;
    index.set(at, nodes.length);
    nodes.push({ at, x: Number.NaN, y: Number.NaN, ...(at === middle && { fx: 0, fy: 0 }) });
  }
  if (nodes.length > MOST_LOCAL) return;
  const links = [];
  for (let at = 0; at < scene.edges.length; at += 2)
    if (index.has(scene.edges[at]) && index.has(scene.edges[at + 1]))
      links.push({ source: index.get(scene.edges[at]), target: index.get(scene.edges[at + 1]) });
  forceSimulation(nodes)
    .force("link", forceLink(links).distance(44).strength(0.25))
    .force("charge", forceManyBody().strength(-120).distanceMax(500))
    .force("x", forceX(0).strength(0.04))
    .force("y", forceY(0).strength(0.05))
    .force(
      "apart",
      forceCollide((/** @type {Placed} */ node) => radius(scene.degree[node.at]) + 4),
    )
    .stop()
    .tick(nodes.length > 500 ? 90 : 200);
  for (const node of nodes) [scene.x[node.at], scene.y[node.at]] = [node.x, node.y];
}
