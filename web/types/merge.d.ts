// The vendored merge.js as our own modules see it.
export { MergeView, unifiedMergeView } from "@codemirror/merge";
