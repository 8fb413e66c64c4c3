// What we use of d3-force. Its own types are a package of their own, and we call it in two places.
export const forceCollide: any;
export const forceLink: any;
export const forceManyBody: any;
export const forceSimulation: any;
export const forceX: any;
export const forceY: any;
