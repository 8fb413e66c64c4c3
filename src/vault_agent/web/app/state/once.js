// Writes that are done once, however often they are sent.

/** A key by which the server knows a write that it has done already. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
