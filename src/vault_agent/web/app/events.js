// News of the vault. All tabs share one stream: the one that holds the lock reads it for the others,
// because browsers allow six connections to a host.

import { signal } from "../vendor/preact.js";
import { Fault, openStream, stopped, vaultId } from "./wire.js";

/** "live", "reconnecting" or "stopped". */
export const live = signal("reconnecting");

/**
 * `resync`, `again`: some news may have been missed.
 * @typedef {Wire.News | { type: "state", data: string } | { type: "resync" | "again", data: {} }} News
 */

const listeners = new Set(/** @type {((news: News) => void)[]} */ ([]));
const [SHORTEST, LONGEST] = [500, 15_000];
const SILENCE = 20_000; // the server says something every 5 s

/** Call `listener` with every event, until the returned function is called. @param {(news: News) => void} listener */
export function onNews(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** @param {News} news */
function tell(news) {
  if (news.type === "state") live.value = news.data;
  else for (const listener of listeners) listener(news);
}

/** Follow the events of this vault for as long as the page lives. */
export function followNews() {
  const name = `va.events.${vaultId.value}`;
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(name) : null;
  let leads = false;
  if (channel) {
    channel.onmessage = ({ data }) => {
      if (data.type !== "hello") tell(data);
      else if (leads) channel.postMessage({ type: "state", data: live.value });
    };
    channel.postMessage({ type: "hello" });
  }
  const spread = (/** @type {News} */ news) => {
    tell(news);
    channel?.postMessage(news);
  };
  const lead = async () => {
    leads = true;
    await read(spread);
  };
  if (navigator.locks && channel) void navigator.locks.request(name, lead);
  else void lead();
}

/** Read the stream again and again. @param {(news: News) => void} spread */
async function read(spread) {
  let wait = SHORTEST;
  let last = /** @type {string | null} */ (null);
  let first = true;
  while (!stopped.value) {
    try {
      for await (const event of eventsOf("/events", last, new AbortController())) {
        if (live.value !== "live") {
          spread({ type: "state", data: "live" });
          if (!first) spread({ type: "again", data: {} });
          first = false;
        }
        wait = SHORTEST;
        if (event.id) last = event.id;
        if (event.type) spread(/** @type {News} */ ({ type: event.type, data: event.data }));
      }
    } catch (error) {
      if (error instanceof Fault && error.code === "FEATURE_DISABLED") break;
    }
    spread({ type: "state", data: "reconnecting" });
    await pause(wait);
    wait = Math.min(wait * 2, LONGEST);
  }
  spread({ type: "state", data: "stopped" });
}

/** Wait, but no longer than until the page is seen again. @param {number} milliseconds */
function pause(milliseconds) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      document.removeEventListener("visibilitychange", end);
      done(undefined);
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    document.addEventListener("visibilitychange", end);
  });
}

/**
 * Yield the events of one connection, until nothing has been heard for a while.
 * @param {string} path @param {string | null} last @param {AbortController} abort
 */
export async function* eventsOf(path, last, abort) {
  let watch = setTimeout(() => abort.abort(), SILENCE);
  const reader = (await openStream(path, last, abort.signal)).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => abort.abort(), SILENCE);
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) yield parsed(part);
    }
  } finally {
    clearTimeout(watch);
    abort.abort();
  }
}

/** @param {string} text */
function parsed(text) {
  const event = { id: "", type: "", data: /** @type {unknown} */ (null) };
  for (const line of text.split("\n")) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === "id") event.id = value;
    else if (name === "event") event.type = value;
    else if (name === "data") event.data = JSON.parse(value);
  }
  return event;
}
