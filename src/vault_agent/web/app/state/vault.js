// The state of the server and of the vault: health, counts, jobs, and what has changed.

import { computed, signal } from "../../vendor/preact.js";
import { followNews, live, onNews } from "../events.js";
import { ask, stopped, vaultId, vaultInAddress } from "../wire.js";
/** @import { News } from "../events.js" */

/** Why a vault that an address names cannot be shown. */
const GONE = ["VAULT_UNKNOWN", "VAULT_AMBIGUOUS", "VAULT_NOT_TRUSTED", "VAULT_NOT_FOUND", "FEATURE_DISABLED"];

export const health = signal(/** @type {Wire.Health | null} */ (null));
export const healthWarnings = signal(/** @type {Wire.Warning[]} */ ([]));
export const stats = signal(/** @type {Wire.Stats | null} */ (null));
/** Whether the counts were asked for, with or without success. */
export const counted = signal(false);
/** Grows with every revision of the index: what is shown of it is asked for again. */
export const revision = signal(0);
/** The notes that the newest revision touched; null means any. */
export const touched = signal(/** @type {string[] | null} */ ([]));
/** The notes that the last revisions touched, the newest first. A note may come and go in two. */
export let lately = /** @type {string[]} */ ([]);
const LATELY = 20;
export const job = signal(/** @type {Wire.Job | null} */ (null));
/** Grows with everything that is news about agents' sessions. */
export const remembered = signal(0);
/** Whether another version of the page is served now. */
export const newer = signal(false);
/** Grows every half a minute, for times such as "2 min ago". */
export const clock = signal(0);

/** @param {string} name */
export const switchedOn = (name) => Boolean(health.value?.switchedOn?.includes(name));
/** Whether agents get notes here, or sessions become journals. */
export const hasMemory = computed(
  () => switchedOn("vaults.enabled") && (switchedOn("memory.enabled") || switchedOn("journal.enabled")),
);
/** Whether notes can be changed. Without it nothing that writes is shown. */
export const mayWrite = computed(
  () => Boolean(health.value?.write?.enabled) && health.value?.write?.state !== "unsupported",
);
/** Whether notes have types: else none is shown. */
export const typed = computed(() => Boolean(stats.value?.types.some(({ type }) => type)));
export const embeds = computed(() => Boolean(health.value?.embeddings.available));

/** Ask for the state of the server. */
export async function readHealth() {
  try {
    const { data, warnings } = await ask("GET", "/health");
    health.value = data;
    healthWarnings.value = warnings;
    newer.value =
      Boolean(document.documentElement.dataset.version) && data.version !== document.documentElement.dataset.version;
  } catch (error) {
    // The stream of events says that the server is gone.
    if (vaultInAddress && GONE.includes(/** @type {Fault} */ (error).code)) stopped.value = "novault";
  }
}

/** Ask for the counts of the vault. */
async function readStats() {
  try {
    stats.value = (await ask("GET", "/stats")).data;
  } catch {
    stats.value = null;
  }
  counted.value = true;
}

/** The vaults of the server, where several are switched on. */
export const vaults = signal(/** @type {Wire.VaultState[]} */ ([]));

/** Ask for the vaults of the server. */
export async function readVaults() {
  try {
    vaults.value = (await ask("GET", "/vaults", { whole: true })).data.vaults;
  } catch {
    // The page goes on with those that it knows.
  }
}

/** The name of a vault, or "" if it is not known. @param {string} identity */
export function vaultName(identity) {
  const vault = vaults.value.find((entry) => entry.identity === identity);
  if (!vault) return "";
  if (vault.role === "default") return health.value?.vault.id === identity ? health.value.vault.name : "Default vault";
  return vault.role === "global" ? "Global" : vault.name.replace(/^project:/, "");
}

/** The identity of a vault that a reply names, or "" if the page does not know it. @param {string} name */
export function identityOf(name) {
  const vault = vaults.value.find((entry) => entry.name === name || entry.identity === name);
  return vault?.identity ?? (name === "default" || name === health.value?.vault.id ? vaultId.value : "");
}

/** Begin to follow the vault. */
export async function start() {
  const counts = readStats();
  while (!health.peek() && !stopped.peek()) {
    await readHealth();
    if (!health.peek()) await new Promise((done) => setTimeout(done, 1000));
  }
  if (!vaultId.peek()) return;
  onNews(hear);
  followNews();
  live.subscribe((state) => state === "live" && void catchUp());
  void counts.then(() => void (stats.peek() ?? readStats())); // the server may not have answered then
  setInterval(() => (clock.value += 1), 30_000);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") clock.value += 1;
  });
}

/** Ask again if something was indexed since the page began: of what came before the first news, nobody tells. */
async function catchUp() {
  await readHealth();
  if (Date.parse(health.peek()?.index.indexedAt ?? "") > performance.timeOrigin) hear({ type: "again", data: {} });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let soon;

/** @param {News} news */
function hear({ type, data }) {
  if (type === "revision") {
    lately = [...new Set([...data.noteIds, ...lately])].slice(0, LATELY);
    touched.value = data.complete ? data.noteIds : null;
    revision.value += 1;
  } else if (type === "resync" || type === "again") {
    touched.value = null;
    revision.value += 1;
  } else if (type === "job") {
    job.value = data;
  } else if (type === "memory") {
    remembered.value += 1;
    return;
  }
  clearTimeout(soon); // one question for many events
  soon = setTimeout(() => void Promise.all([readHealth(), readStats()]), 250);
}

export { live };
