/** An event of a field or a choice, whose target it is. */
type Typed = Event & { target: HTMLInputElement; currentTarget: HTMLInputElement };
/** What the frame of diagrams has: the vendored mermaid.js. */
declare const mermaid: import("mermaid").Mermaid;
