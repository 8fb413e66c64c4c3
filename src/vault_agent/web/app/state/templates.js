// Templates and new notes: what there is, the name a note will have, and making it.

import { ask } from "../wire.js";
import { splitHead } from "./head.js";
import { tidy } from "./query.js";

/** @typedef {{ name: string, builtIn: boolean, path: string | null, variables: string[] }} Template */

/** @returns {Promise<Template[]>} */
export const readTemplates = async () => (await ask("GET", "/templates")).data.templates;

const NOT_IN_NAMES = /[<>:"|?*\\/#^[\]]/gu;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A name that every system and every link accepts, made of a title. @param {string} title */
export const fileName = (title) =>
  title
    .normalize("NFC")
    .replace(CONTROLS, " ")
    .replace(NOT_IN_NAMES, "-")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "")
    .slice(0, 120)
    .trim();

/** @param {string} folder @param {string} title */
export const newPath = (folder, title) => {
  const clean = tidy(folder);
  return `${clean}${clean ? "/" : ""}${fileName(title)}.md`;
};

/** @param {string} path @param {string} template @param {Record<string, string>} variables @param {object} more */
function postNote(path, template, variables, more) {
  if (template) return ask("POST", "/write/template", { body: { path, template, variables, ...more } });
  const title = path.replace(/^.*\//, "").replace(/\.md$/i, "");
  return ask("POST", "/write/note", { body: { path, mode: "create", content: `# ${title}\n\n`, ...more } });
}

/**
 * Check that a note can be made. Throws what hinders it.
 * @param {string} path
 * @param {string} template
 * @param {Record<string, string>} variables
 * @param {AbortSignal} signal
 */
export async function checkNew(path, template, variables, signal) {
  await (template
    ? ask("POST", "/write/template", { body: { path, template, variables, dryRun: true }, signal })
    : ask("POST", "/write/note", { body: { path, mode: "create", content: "", dryRun: true }, signal }));
}

/**
 * A new note: its identity and hash are there, because it was written.
 * @typedef {{ noteId: string, path: string, hashAfter: string }} Made
 */

/**
 * Make a note.
 * @param {string} path
 * @param {string} template
 * @param {Record<string, string>} variables
 * @param {string} key
 * @returns {Promise<Made>}
 */
export const makeNote = async (path, template, variables, key) =>
  /** @type {Made} */ ((await postNote(path, template, variables, { idempotencyKey: key })).data);

/** Make a note of a text that stands nowhere else. @param {string} path @param {string} content */
export const makeCopy = async (path, content) =>
  /** @type {Made} */ ((await ask("POST", "/write/note", { body: { path, mode: "create", content } })).data);

/**
 * The text of a template without its frontmatter, as it would be in a note of this path.
 * It is tried out in a folder that does not exist, where no name is taken.
 * @param {string} name @param {string} path
 */
export async function templateText(name, path) {
  const [, above = "", file = path] = /^(.*\/)?([^/]*)$/.exec(path) ?? [];
  const { data } = await ask("POST", "/write/template", {
    body: { path: `${above}va ${Date.now()}/${file}`, template: name, dryRun: true },
  });
  const text = data.diff
    .split("\n")
    .slice(3)
    .filter((line) => line.startsWith("+"))
    .map((line) => line.slice(1))
    .join("\n");
  return splitHead(text).body.replace(/^\n+/, "");
}
