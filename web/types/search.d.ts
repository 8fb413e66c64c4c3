// The vendored search.js as our own modules see it.
export { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
