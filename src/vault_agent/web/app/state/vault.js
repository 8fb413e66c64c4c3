// The state of the server and of the vault: health, counts, jobs, and what has changed.

import { computed, signal } from "../../vendor/preact.js";
import { followNews, live, onNews } from "../events.js";
import { ask, stopped, vaultId } from "../wire.js";

export const health = signal(/** @type {any} */ (null));
export const healthWarnings = signal(/** @type {any[]} */ ([]));
export const stats = signal(/** @type {any} */ (null));
/** Whether the counts were asked for, with or without success. */
export const counted = signal(false);
/** Grows with every revision of the index: what is shown of it is asked for again. */
export const revision = signal(0);
/** The notes that the newest revision touched; null means any. */
export const touched = signal(/** @type {string[] | null} */ ([]));
export const job = signal(/** @type {any} */ (null));
/** Whether another version of the page is served now. */
export const newer = signal(false);
/** Grows every half a minute, for times such as "2 min ago". */
export const clock = signal(0);

/** @param {string} name */
export const switchedOn = (name) => Boolean(health.value?.switchedOn?.includes(name));
/** Whether notes can be changed. Without it nothing that writes is shown. */
export const mayWrite = computed(() => switchedOn("write.enabled") && health.value?.write?.state !== "unsupported");
export const embeds = computed(() => Boolean(health.value?.embeddings.available));

/** Ask for the state of the server. */
export async function readHealth() {
  try {
    const { data, warnings } = await ask("GET", "/health");
    health.value = data;
    healthWarnings.value = warnings;
    newer.value = Boolean(document.documentElement.dataset.version) && data.version !== document.documentElement.dataset.version;
  } catch {
    // The stream of events says that the server is gone.
  }
}

/** Ask for the counts of the vault. */
export async function readStats() {
  try {
    stats.value = (await ask("GET", "/stats")).data;
  } catch {
    stats.value = null;
  }
  counted.value = true;
}

/** Begin to follow the vault. */
export async function start() {
  void readStats();
  while (!health.peek() && !stopped.peek()) {
    await readHealth();
    if (!health.peek()) await new Promise((done) => setTimeout(done, 1000));
  }
  if (!vaultId.peek()) return;
  onNews(hear);
  followNews();
  if (!stats.peek()) void readStats();
  setInterval(() => (clock.value += 1), 30_000);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") clock.value += 1;
  });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let soon;

/** @param {{ type: string, data: any }} news */
function hear({ type, data }) {
  if (type === "revision") {
    touched.value = data.complete ? data.noteIds : null;
    revision.value += 1;
  } else if (type === "resync" || type === "again") {
    touched.value = null;
    revision.value += 1;
  } else if (type === "job") {
    job.value = data;
  }
  clearTimeout(soon); // one question for many events
  soon = setTimeout(() => void Promise.all([readHealth(), readStats()]), 250);
}

export { live };
