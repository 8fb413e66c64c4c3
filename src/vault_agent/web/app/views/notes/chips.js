// The filters as chips: types with counts, tags, folders, dates, and what is set.

import { html } from "../../../vendor/preact.js";
import { MenuButton } from "../../parts/lazy.js";
import { Entry, IconButton, useRoving, Icon, kindOf, KINDS, Shape, typeName } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { results, searching } from "../../state/results.js";
import { set, settings } from "../../state/settings.js";
import { stats, vaults } from "../../state/vault.js";
import { vaultId } from "../../wire.js";
import { collator, count, fullDate, words } from "../../words.js";

const MOST = 7;
const TREES = () => import("./trees.js");
const DATES = () => import("./dates.js");

/** The types of the vault to offer, with their counts: those of the results of a search, else of the vault. */
function typeCounts() {
  const all = (stats.value?.types ?? []).filter(({ type }) => type);
  const chosen = address.value.type;
  /** @param {string} type */
  const rank = (type) => (chosen.includes(type) ? 2 : KINDS.some((kind) => kind === type.toLowerCase()) ? 1 : 0);
  /** @type {[string, number][]} */
  const counts = all.map(({ type, count: notes }) => [type ?? "", notes]);
  for (const type of chosen) if (!counts.some(([name]) => name === type)) counts.push([type, 0]);
  // The order stays while one types, so that no chip moves away under the pointer.
  const choices = counts
    .filter(([type, notes]) => notes > 1 || rank(type))
    .sort((a, b) => rank(b[0]) - rank(a[0]) || b[1] - a[1])
    .slice(0, MOST)
    .sort((a, b) => collator.compare(plural(a[0]), plural(b[0])));
  const { rows } = results.value;
  const inResults = (/** @type {string} */ type) =>
    rows.filter((row) => row.type?.toLowerCase() === type.toLowerCase()).length;
  return choices.map(([type, notes]) => /** @type {const} */ ([type, searching.value ? inResults(type) : notes]));
}

/** @param {string} type */
const plural = (type) =>
  type.toLowerCase() in words.kinds
    ? /** @type {Record<string, string>} */ (words.kinds)[type.toLowerCase()]
    : plain(typeName(type), 24);

/** @param {string[]} list @param {string} value */
const toggled = (list, value) => (list.includes(value) ? list.filter((item) => item !== value) : [...list, value]);

export function Chips() {
  const now = address.value;
  const projects = projectNames();
  const walk = useRoving(".chip");
  /** @param {string} icon @param {string} label @param {object} menu @param {boolean} [isBare] */
  const chip = (icon, label, menu, isBare = false) => {
    const face = html`<${Icon} name=${icon} />${!isBare && label}<${Icon} name="down" />`;
    const name = isBare ? label : undefined;
    return html`<${MenuButton} className="chip" label=${name} title=${name} menu=${label} face=${face} ...${menu} />`;
  };
  /** @param {string} label @param {boolean} isOn @param {() => void} run @param {boolean} [isOff] */
  const entry = (label, isOn, run, isOff = false) =>
    html`<${Entry} role="menuitemcheckbox" key=${label} disabled=${isOff} checked=${isOn} onClick=${run}>
      <bdi class="cut">${label}</bdi>
    <//>`;
  /** @param {"linked" | "tasks"} name @param {string} value @param {string} label @param {() => void} close */
  const toggle = (name, value, label, close) =>
    entry(
      label,
      now[name] === value,
      () => {
        go({ [name]: now[name] === value ? "" : value });
        close();
      },
      searching.value,
    );
  return html`
    <div class="chips" role="toolbar" aria-label="Filters" ...${walk}>
      <${Others} />
      ${typeCounts().map(
        ([type, notes]) => html`<button
          class="chip"
          key=${type}
          aria-pressed=${now.type.includes(type)}
          onClick=${() => go({ type: toggled(now.type, type) })}
        >
          <${Shape} type=${kindOf(type)} quiet />
          <span class="cut" dir="auto">${plural(type)}</span>
          ${notes > 0 && html`<span class="n num">${count(notes)}</span>`}
        </button>`,
      )}
      ${chip("tag", "Tags", { load: TREES, name: "TreeMenu", props: { kind: "tags" } })}
      ${chip("folder", "Folder", { load: TREES, name: "TreeMenu", props: { kind: "folders" } })}
      ${chip("date", "Any date", { load: DATES, name: "DateMenu" })}
      ${
        projects.length > 0 &&
        chip("home", "Project", {
          entries: () =>
            projects.map((name) =>
              entry(plain(name, 60), now.project.includes(name), () => go({ project: toggled(now.project, name) })),
            ),
        })
      }
      ${chip(
        "more",
        "More filters",
        {
          entries: (/** @type {() => void} */ close) => [
            toggle("linked", "false", "Without links", close),
            toggle("tasks", "open", "Open tasks", close),
          ],
        },
        true,
      )}
    </div>
  `;
}

/** The projects whose notes can be asked for. Those of a project's own vault all belong to it. */
function projectNames() {
  const own = vaults.value.find((vault) => vault.identity === vaultId.value)?.role === "project";
  return own
    ? []
    : vaults.value.filter((vault) => vault.role === "project").map((vault) => vault.name.replace(/^project:/, ""));
}

/** The filters that are set and have no chip of their own. */
function Others() {
  const now = address.value;
  const chips = [
    ...now.tag.map((tag) => ({ icon: "tag", text: plain(tag, 40), without: { tag: toggled(now.tag, tag) } })),
    ...now.path.map((path) => ({
      icon: "folder",
      text: plain(path.replace(/\/$/, ""), 40),
      without: { path: toggled(now.path, path) },
    })),
    ...now.project.map((name) => ({
      icon: "home",
      text: plain(name, 40),
      without: { project: toggled(now.project, name) },
    })),
    ...(now.linked ? [{ icon: "link", text: "Without links", without: { linked: "" } }] : []),
    ...(now.tasks ? [{ icon: "task", text: "Open tasks", without: { tasks: "" } }] : []),
    ...(now.after ? [{ icon: "date", text: `Since ${fullDate(now.after)}`, without: { after: "" } }] : []),
    ...(now.before ? [{ icon: "date", text: `Until ${fullDate(now.before)}`, without: { before: "" } }] : []),
  ];
  return html`${chips.map(
    ({ icon, text, without }) => html`<button
      class="chip"
      data-on="true"
      key=${icon + text}
      aria-label=${`Remove the filter ${text}`}
      onClick=${() => go(without)}
    >
      <${Icon} name=${icon} />
      <bdi class="cut">${text}</bdi>
      <${Icon} name="x" />
    </button>`,
  )}`;
}

const SORTS = /** @type {const} */ (["updated", "created", "title", "connections"]);
const RESULT_SORTS = /** @type {const} */ (["best", "updated"]); // orders of the results of a search

/** Change between the list of notes and the tree of files. */
export const FilesToggle = () =>
  html`<${IconButton}
    icon=${settings.value.files ? "list" : "folder"}
    label="Show or hide the tree of files"
    aria-pressed=${settings.value.files}
    title=${`Show or hide the tree of files (f)`}
    onClick=${() => set({ files: !settings.peek().files })}
  />`;

export function Count() {
  const { rows, total, more, byMeaning, key } = results.value;
  const orders = searching.value ? RESULT_SORTS : SORTS;
  const sort = orders.find((order) => order === address.value.sort) ?? orders[0];
  const said = !key
    ? ""
    : total === null
      ? byMeaning && rows.length
        ? "No note has it; nearest in meaning:"
        : words.notes.results(count(rows.length), more)
      : words.notes.total(count(total));
  /** @param {() => void} close */
  const entries = (close) =>
    orders.map(
      (order) => html`<${Entry}
        key=${order}
        checked=${order === sort}
        onClick=${() => {
          go({ sort: order === orders[0] ? "" : order });
          close();
        }}
      >
        ${words.notes.sort[order]}
      <//>`,
    );
  return html`<div class="count">
    <span class="num" role="status">${said}</span>
    <${MenuButton}
      className=""
      label=${`${words.notes.sort.label}: ${words.notes.sort[sort]}`}
      menu=${words.notes.sort.label}
      face=${html`${words.notes.sort[sort]}<${Icon} name="down" small />`}
      entries=${entries}
    />
    ${!searching.value && html`<${FilesToggle} />`}
  </div>`;
}
