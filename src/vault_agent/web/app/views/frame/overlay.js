// Which dialog is open over the view.

import { signal } from "../../../vendor/preact.js";

/** Choose a note of some vaults for something else than to be read. The hit has the identity of its vault.
 * @typedef {{ among: string[], choose: (hit: any) => void }} Pick */

export const overlay = signal(/** @type {{ name: string, only?: string, pick?: Pick, title?: string } | null} */ (null));
export const closeOverlay = () => void (overlay.value = null);
