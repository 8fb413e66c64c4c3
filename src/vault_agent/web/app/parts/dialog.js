// Dialogs. The browser traps the focus and gives it back where it was.

import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { composing } from "./commands.js";
import { words } from "../words.js";
import { IconButton } from "./controls.js";

/**
 * A modal dialog.
 * @param {{
 *   label: string,
 *   className?: string,
 *   returns?: () => boolean,
 *   onClose: () => void,
 *   children?: unknown,
 * }} given `returns`: whether the focus goes back to where it was
 */
export function Dialog({ label, className = "", returns = () => true, onClose, children }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      // When it is gone: while it is open, nothing else can have the focus.
      queueMicrotask(() => {
        if (returns() && document.activeElement === document.body && before instanceof HTMLElement)
          before.focus({ preventScroll: true });
      });
    };
  }, []);
  return html`<dialog
    ref=${ref}
    class=${`sheet ${className}`}
    aria-label=${label}
    onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      onClose();
    }}
    onClose=${onClose}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape" && composing(event)) event.preventDefault();
    }}
    onMouseDown=${(/** @type {MouseEvent} */ event) => {
      if (event.target === ref.current) onClose();
    }}
  >
    ${children}
  </dialog>`;
}

/** @param {{ title: unknown, onClose: () => void, cut?: boolean }} given `cut`: on one line */
export const Heading = ({ title, onClose, cut = false }) => html`<div class="heading">
  <h1 class=${cut ? "cut" : undefined}>${title}</h1>
  <${IconButton} icon="x" class="end" label=${words.close} type="button" onClick=${onClose} />
</div>`;

/**
 * A dialog with a heading. Other attributes are those of `Dialog`.
 * @param {{ title: unknown, label: string, cut?: boolean, onClose: () => void, children?: unknown }
 *   & Record<string, unknown>} given
 */
export const TitledDialog = ({ title, cut, children, ...given }) => html`<${Dialog} ...${given}>
  <div class="boxed">
    <${Heading} title=${title} cut=${cut} onClose=${given.onClose} />
    ${children}
  </div>
<//>`;
