// Parts whose modules are loaded when they are first shown: views, dialogs and menus.

import { html, useEffect, useRef, useSignal } from "../../vendor/preact.js";
import { live } from "../events.js";
import { Fault } from "../wire.js";
import { Trouble } from "./say.js";

/** Parts of other views, by name. What begins the page says where they are. */
export const elsewhere = /** @type {Record<string, () => Promise<Record<string, unknown>>>} */ ({});

/** @type {Map<unknown, Record<string, unknown>>} */
export const loaded = new Map();

/** What stands where a text will be. */
export const Ghost = () => html`<div class="doc ghost" aria-hidden="true"><i></i><i></i><i></i></div>`;

/**
 * @param {{ load: () => Promise<Record<string, unknown>>, name: string, props?: object, waiting?: unknown }} props
 *   `waiting`: what is shown until it is there
 */
export function Later({ load, name, props, waiting = null }) {
  const part = useSignal(loaded.get(load)?.[name]);
  const failed = useSignal(false);
  const back = failed.value && live.value !== "reconnecting";
  useEffect(() => {
    if (part.peek()) return;
    load().then(
      (module) => {
        loaded.set(load, module);
        part.value = module[name];
      },
      () => (failed.value = true),
    );
  }, [back]); // once more when the server is back
  if (part.value) return html`<${part.value} ...${props} />`;
  if (!failed.value) return waiting;
  // Some browsers never load a module again that once failed: only a new page does. Drafts are kept.
  const fault = new Fault(back ? "PART" : "NETWORK", "This part of the page could not be loaded.");
  return html`<div class="page">
    <div>
      <${Trouble} fault=${fault} again=${back && (() => location.reload())} act="Reload" />
    </div>
  </div>`;
}

export const MENU = () => import("./menu.js");

/**
 * A button with a menu below it.
 * @param {{
 *   className?: string,
 *   label?: string,
 *   title?: string,
 *   face: unknown,
 *   menu?: string,
 *   entries?: (close: () => void) => unknown,
 *   load?: () => Promise<Record<string, unknown>>,
 *   name?: string,
 *   props?: object,
 *   onOpen?: () => void,
 * }} props `face`: what the button shows; `menu`: the menu's name, if the button has another one;
 *   `entries`: what is in the menu, where `close` gives the focus back to the button;
 *   `load`, `name`, `props`: where the menu is, if not in menu.js, and its properties
 */
export function MenuButton({
  className = "icon",
  label,
  title,
  face,
  menu = label,
  entries,
  load = MENU,
  name = "Menu",
  props,
  onOpen,
}) {
  const anchor = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const open = useSignal(false);
  const onClose = () => (open.value = false);
  const close = () => {
    onClose();
    anchor.current?.focus();
  };
  const toggle = () => {
    open.value = !open.peek();
    if (open.peek()) onOpen?.();
  };
  const drawMenu = () => {
    const menuProps = { anchor: anchor.current, label: menu, onClose, children: entries?.(close), ...props };
    return html`<${Later} load=${load} name=${name} props=${menuProps} />`;
  };
  return html`
    <button
      class=${className}
      ref=${anchor}
      aria-haspopup="true"
      aria-expanded=${open.value}
      aria-label=${label}
      title=${title}
      onClick=${toggle}
    >
      ${face}
    </button>
    ${open.value && drawMenu()}
  `;
}
