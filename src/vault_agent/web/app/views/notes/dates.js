// The menu of dates: a few spans, and a range.

import { html } from "../../../vendor/preact.js";
import { Menu } from "../../parts/menu.js";
import { Entry } from "../../parts/controls.js";
import { address, go } from "../../state/address.js";
import { dayName } from "../../state/days.js";
import { laterWords } from "../../words-later.js";

/** A day some days ago as YYYY-MM-DD, in the time of this place. @param {number} ago */
function day(ago) {
  const now = new Date();
  return dayName(new Date(now.getFullYear(), now.getMonth(), now.getDate() - ago));
}

/** @param {{ anchor: HTMLElement, onClose: () => void }} props */
export function DateMenu({ anchor, onClose }) {
  const { after, before } = address.value;
  const spans = /** @type {const} */ ([
    ["any", ""],
    ["today", day(0)],
    ["week", day(6)],
    ["month", day(29)],
    ["year", `${new Date().getFullYear()}-01-01`],
  ]);
  return html`<${Menu} anchor=${anchor} label="Any date" role="group" onClose=${onClose}>
    <div role="menu" aria-label="Any date">
      ${spans.map(
        ([name, since]) => html`<${Entry}
          key=${name}
          checked=${after === since && !before}
          onClick=${() => {
            go({ after: since, before: "" });
            onClose();
            anchor.focus();
          }}
        >
          ${laterWords.dates[name]}
        <//>`,
      )}
    </div>
    ${[
      { name: "after", label: "From", value: after },
      { name: "before", label: "Until", value: before },
    ].map(
      ({ name, label, value }) => html`<label class="entry" key=${name}>
        ${label}
        <input
          class="end"
          type="date"
          value=${value}
          onChange=${(/** @type {Typed} */ event) => go({ [name]: event.target.value })}
        />
      </label>`,
    )}
  <//>`;
}
