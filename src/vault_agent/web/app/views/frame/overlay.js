// Which dialog is open over the view.

import { signal } from "../../../vendor/preact.js";

export const overlay = signal(/** @type {{ name: string, only?: string, pick?: (hit: any) => void, title?: string } | null} */ (null));
export const closeOverlay = () => void (overlay.value = null);
