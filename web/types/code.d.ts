// The vendored code.js as our own modules see it: a tree of the text, with a class for each part.
export type Part = { type: "text"; value: string } | { type: "element"; properties: { className: string[] }; children: Part[] };
export interface Lowlight {
  registered(name: string): boolean;
  registerAlias(aliases: Record<string, string[]>): void;
  highlight(language: string, text: string, options: { prefix: string }): { children: Part[] };
}
export const common: object;
export function createLowlight(languages: object): Lowlight;
