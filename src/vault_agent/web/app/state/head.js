// The frontmatter of a note, apart from the text below it.

const FENCED = /^---[ \t]*\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/**
 * Part a note into its frontmatter, with the fences, and what is below it.
 * @param {string} text @param {boolean} [asOne] leave it in the text
 */
export function split(text, asOne = false) {
  const head = asOne ? "" : (FENCED.exec(text)?.[0] ?? "");
  return { head, body: text.slice(head.length) };
}

/** @param {string} head @param {string} body */
export const joined = (head, body) => (head && body && !head.endsWith("\n") ? `${head}\n${body}` : head + body);
