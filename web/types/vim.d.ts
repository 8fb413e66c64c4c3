// The vendored vim.js as our own modules see it.
export { Vim, vim } from "@replit/codemirror-vim";
