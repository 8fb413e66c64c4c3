// Making a link of a place that names a note without one.

import { ask } from "../wire.js";
import { inUnits, withoutEnding } from "./query.js";

const NEAR = [0, 1, -1, 2, -2, 3]; // lines around the one that is named: a passage may begin above it
const LONGEST = 20_000; // characters of a line

/** Where in a line a name stands outside of links and code, or -1. @param {string} line @param {string} name */
function freePlace(line, name) {
  if (line.length > LONGEST) return -1;
  const taken = [...line.matchAll(/!?\[\[[^\]]*\]\]|`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]*>|https?:\/\/\S+/g)].map(
    (each) => [each.index, each.index + each[0].length],
  );
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    if (!taken.some(([from, to]) => at < to && at + name.length > from)) return at;
  }
  return -1;
}

/**
 * Link the first place of a mention. Return false if the text is not there any more.
 * @param {{ noteId: string, places: { line: number, snippet: string, matches: [number, number][] }[] }} mention
 * @param {string} target the ID of the note that is named
 * @param {string} title
 */
export async function linkMention(mention, target, title) {
  const { data } = await ask("GET", `/notes/${mention.noteId}`, { query: { allowLarge: true } });
  const lines = data.content.split(/(?<=\n)/);
  for (const { line, snippet, matches } of mention.places) {
    const [range] = inUnits(snippet, matches);
    const name = range ? snippet.slice(...range) : "";
    for (const step of name ? NEAR : []) {
      const number = line - 1 + step;
      const at = freePlace(lines[number] ?? "", name);
      if (at < 0) continue;
      const insert = await shortest(target, title, mention.noteId);
      const link = insert === name ? `[[${name}]]` : `[[${insert}|${name}]]`;
      lines[number] = lines[number].slice(0, at) + link + lines[number].slice(at + name.length);
      await ask("POST", "/write/note", {
        body: { noteId: mention.noteId, mode: "overwrite", content: lines.join(""), expectedHash: data.contentHash },
      });
      return true;
    }
  }
  return false;
}

/** The shortest link that leads to a note. @param {string} target @param {string} title @param {string} from */
async function shortest(target, title, from) {
  const { data } = await ask("GET", "/suggest", { query: { q: title.slice(0, 200), kinds: "note", from, limit: 50 } });
  const found = data.suggestions.find((each) => each.noteId === target);
  if (found) return found.insert.split("|")[0];
  const { data: note } = await ask("GET", `/notes/${target}`, { query: { allowLarge: true } });
  return withoutEnding(note.path);
}
