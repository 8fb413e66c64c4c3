// The vendored d3-force.js as our own modules see it.
export { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
export type { SimulationLinkDatum, SimulationNodeDatum } from "d3-force";
