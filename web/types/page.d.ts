/** An event of a field or a choice, whose target it is. */
type Typed = Event & { target: HTMLInputElement; currentTarget: HTMLInputElement };
/** What `ask` throws. The path is that of the copy which check.mjs reads. */
type Fault = import("../app/wire.js").Fault;
/** What the frame of diagrams has: the vendored mermaid.js. */
declare const mermaid: import("mermaid").Mermaid;
interface Window {
  /** The ticket of the address, which start.js takes out of it. */
  vaultAgentTicket?: string;
  /** Its policies return values that pass for strings. Firefox and Safari may lack it. */
  trustedTypes?: { createPolicy<Rules>(name: string, rules: Rules): Rules };
}
