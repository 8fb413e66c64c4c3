// The style sheets that CodeMirror makes have the nonce of the page's policy.

import { EditorView } from "../../../vendor/codemirror.js";

const nonce = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="va-nonce"]'))?.content ?? "";

export const nonced = () => (nonce ? EditorView.cspNonce.of(nonce) : []);
