// The parts of a note's text: its frontmatter, and the headings below it.

const FENCED = /^---[ \t]*\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/**
 * Part a note into its frontmatter, with the fences, and what is below it.
 * @param {string} text @param {boolean} [asOne] leave it in the text
 */
export function splitHead(text, asOne = false) {
  const head = asOne ? "" : (FENCED.exec(text)?.[0] ?? "");
  return { head, body: text.slice(head.length) };
}

/** @param {string} head @param {string} body */
export const joined = (head, body) => (head && body && !head.endsWith("\n") ? `${head}\n${body}` : head + body);

/**
 * The headings of a text, with the character at which each begins; what looks like one in a block of code is none.
 * @param {string} text @returns {{ level: number, name: string, at: number }[]}
 */
export function headingsOf(text) {
  const headings = [];
  let fence = ""; // of the block of code that is open
  let at = 0;
  for (const line of text.split("\n")) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    const [, signs, name] = /^(#{1,6})\s+(.*?)[\s#]*$/.exec(line) ?? [];
    if (mark && (!fence || line.trim().startsWith(fence))) fence = fence ? "" : mark;
    else if (!fence && name) headings.push({ level: signs.length, name, at });
    at += line.length + 1;
  }
  return headings;
}
