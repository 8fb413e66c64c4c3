// The vendored diff.js as our own modules see it.
export { diffArrays } from "diff";
