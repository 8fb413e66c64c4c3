// Where a person begins while nothing is open: the start of the vault, starred and recent notes, and daily notes.

import { html, useSignal } from "../../../vendor/preact.js";
import { useReply } from "../../parts/reply.js";
import { useSheet } from "../../parts/sheet.js";
import { IconButton, useRoving } from "../../parts/controls.js";
import { Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { changed, go } from "../../state/address.js";
import { dailyNotes, newDay } from "../../state/daily.js";
import { dayName } from "../../state/stamp.js";
import { recent, starred } from "../../state/settings.js";
import { mayWrite, revision } from "../../state/vault.js";
import { later } from "../../later.js";
import { ask } from "../../wire.js";
import { locale, words } from "../../words.js";
import { overlay } from "../frame/overlay.js";
/** @import { Kept } from "../../state/settings.js" */

const SHOWN = 8; // recent notes

const HOMES = ["Home.md", "index.md", "README.md"];

export function Start() {
  const styled = useSheet("files.css");
  const { data } = useReply(
    async () => (await ask("GET", "/notes", { query: { path: HOMES } })).data,
    [revision.value],
  );
  if (!styled) return null;
  const t = later.start;
  const homes = (data.value?.notes ?? []).map(({ noteId, ...note }) => ({ ...note, id: noteId }));
  const first = [...homes, ...starred.value];
  const others = recent.value.filter(({ id }) => !first.some((each) => each.id === id));
  return html`<div class="start">
    ${homes.length > 0 && html`<section><h2>${t.home}</h2><${Notes} list=${homes} icon="home" /></section>`}
    ${
      starred.value.length > 0 &&
      html`<section><h2>${t.starred}</h2><${Notes} list=${starred.value} icon="star" /></section>`
    }
    ${
      others.length > 0 &&
      html`<section><h2>${later.palette.recent}</h2><${Notes} list=${others.slice(0, SHOWN)} icon="notes" /></section>`
    }
    <${Calendar} />
  </div>`;
}

/** @param {{ list: Kept[], icon: string }} given */
const Notes = ({ list, icon }) => html`<ul>
  ${list.map(
    ({ id, title, path }) => html`<li key=${id}>
      <a href=${changed({ note: id, at: "" })} data-peek=${id} title=${plain(path, 300)}>
        <${Icon} name=${icon} small />
        <bdi class="cut">${plain(title, 120) || words.untitled}</bdi>
      </a>
    </li>`,
  )}
</ul>`;

const monthName = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
const dayOfWeek = new Intl.DateTimeFormat(locale, { weekday: "narrow" });
const wholeDay = new Intl.DateTimeFormat(locale, { dateStyle: "full" });

/** The first day of the week here: 0 is Sunday. @returns {number} */
function firstDay() {
  const info = /** @type {any} */ (new Intl.Locale(locale));
  return ((info.getWeekInfo?.() ?? info.weekInfo)?.firstDay ?? 1) % 7;
}

/** The days of a month with their daily notes, where there are such notes. Arrow keys walk the days. */
function Calendar() {
  const t = later.start;
  const today = new Date();
  const month = useSignal(new Date(today.getFullYear(), today.getMonth(), 1));
  const walk = useRoving(".day", { begin: "[aria-current]", columns: 7 });
  const [year, at] = [month.value.getFullYear(), month.value.getMonth()];
  const { data: any } = useReply(() => dailyNotes(String(year), String(year - 1)), [revision.value]);
  const { data } = useReply(() => dailyNotes(dayName(month.value).slice(0, 7)), [month.value, revision.value]);
  if (!any.value?.size) return null;
  const notes = data.value ?? new Map();
  const makes = mayWrite.value;
  const isToday = (/** @type {Date} */ day) => dayName(day) === dayName(today);
  const open = (/** @type {string} */ name) => {
    const known = notes.get(name);
    if (known) go({ note: known.id });
    else void newDay(name).then((title) => (overlay.value = { name: "create", title }));
  };
  const move = (/** @type {number} */ by) => (month.value = new Date(year, at + by, 1));
  const begins = firstDay();
  const blank = (month.value.getDay() - begins + 7) % 7;
  const days = new Date(year, at + 1, 0).getDate();
  const cells = [...Array(days).keys()].map((each) => new Date(year, at, each + 1));
  const week = [...Array(7).keys()].map((each) => dayOfWeek.format(new Date(2023, 0, 1 + begins + each)));
  return html`<section class="calendar">
    <h2>${t.daily}</h2>
    <header>
      <${IconButton} icon="left" label=${t.before} onClick=${() => move(-1)} />
      <span role="status">${monthName.format(month.value)}</span>
      <${IconButton} icon="right" label=${t.after} onClick=${() => move(1)} />
    </header>
    <div class="days" ...${walk}>
      <div class="week" aria-hidden="true">${week.map((each, day) => html`<span key=${day}>${each}</span>`)}</div>
      ${cells.map((each, day) => {
        const name = dayName(each);
        const has = notes.has(name);
        return html`<button
          key=${name}
          class="day num"
          style=${day === 0 ? { gridColumnStart: blank + 1 } : {}}
          data-has=${has}
          aria-label=${`${wholeDay.format(each)}${has ? "" : `, ${t.none}`}`}
          aria-current=${isToday(each) ? "date" : undefined}
          aria-disabled=${!has && !makes}
          onClick=${() => (has || makes) && open(name)}
        >
          ${day + 1}
        </button>`;
      })}
    </div>
    ${
      (makes || notes.has(dayName(today))) &&
      html`<button class="quiet" onClick=${() => open(dayName(today))}><${Icon} name="date" />${t.today}</button>`
    }
  </section>`;
}
