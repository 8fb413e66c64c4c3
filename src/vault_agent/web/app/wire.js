// The only module that calls `fetch`: requests, sessions, and the identity of the vault.

import { signal } from "../vendor/preact.js";

/** A refusal of the server, or a failure on the way. `code` is the contract's, or NETWORK, TIMEOUT. */
export class Fault extends Error {
  /** @param {string} code @param {string} message @param {number} status @param {Record<string, unknown>} details */
  constructor(code, message, status = 0, details = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

/** @template Data @typedef {{ data: Data, warnings: Wire.Warning[], tag: string | null, time: number }} Answer */

/**
 * What a request has besides its route. `whole`: it is about the server, not about the vault of this page.
 *
 * @typedef {{ query?: Record<string, unknown>, body?: unknown, signal?: AbortSignal, etag?: string | null,
 *   patience?: number, early?: boolean, raw?: boolean, whole?: boolean, headers?: Record<string, string>,
 *   bytes?: Blob, keepalive?: boolean }} Options
 */

const TOKEN = "va.session";
const PATIENCE = 10_000;
const RENEW_WITHIN = 6 * 86_400; // seconds; a session lives for seven days
const page = document.documentElement.dataset;

/**
 * The vault that the address names by its identity, or "" for the one that the server serves by
 * default. It stays as it is: another vault is another page, so nothing of one is shown in another.
 */
export const vaultInAddress = new URLSearchParams(/\?(.*)$/s.exec(location.hash)?.[1] ?? "").get("vault") ?? "";

/** Why the page cannot go on: "session", "vault", "novault" or null. */
export const stopped = signal(/** @type {string | null} */ (null));
/** The identity of the vault, once the server has replied. */
export const vaultId = signal("");
/** The identity of the server's own vault, by which a page knows the server. */
let ownVault = "";
export const ownVaultId = () => ownVault;

/** @returns {string | null} */
function token() {
  try {
    return localStorage.getItem(TOKEN);
  } catch {
    return null;
  }
}

/** @param {string | null} value */
function keep(value) {
  try {
    if (value === null) localStorage.removeItem(TOKEN);
    else localStorage.setItem(TOKEN, value);
  } catch {
    session = value; // a private window: the session ends with the tab
  }
}

/** @type {string | null} */
let session = null;
/** @type {Promise<void> | null} */
let opening = null;

/** Exchange the ticket of the address, or renew an old session. Every request waits for it. */
function openSession() {
  opening ??= page.key === "required" ? begin() : Promise.resolve();
  return opening;
}

async function begin() {
  const ticket = window.vaultAgentTicket;
  if (ticket) {
    delete window.vaultAgentTicket;
    await change({ ticket });
  } else if (!token() && !session) stopped.value = "session";
  else if (expiry(token() ?? session ?? "") - Date.now() / 1000 < RENEW_WITHIN) await change({});
}

/** @param {object} body */
async function change(body) {
  try {
    const { data } = await ask("POST", "/ui/session", { body, early: true });
    keep(data.token);
  } catch (fault) {
    if (fault instanceof Fault && fault.status === 401) keep(null);
  }
}

/** The seconds since 1970 at which a token ends. @param {string} text */
function expiry(text) {
  return Number(text.split(".")[1]) || 0;
}

/** End the sessions of all browsers. */
export async function signOut() {
  await ask("DELETE", "/ui/session", { whole: true });
  keep(null);
  stopped.value = "session";
}

/**
 * Perform a request and return its data.
 *
 * Throws Fault with the server's code, or NETWORK or TIMEOUT. An abort by `signal` is an AbortError.
 *
 * The type of the data is that of the route. If the copy of `etag` is still right, there is none.
 *
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {Options} options
 * @returns {Promise<Answer<Wire.Data<Method, Path>>>}
 */
export function ask(method, path, options = {}) {
  return answer(method, path, options);
}

/**
 * @template Data
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 * @returns {Promise<Answer<Data>>}
 */
async function answer(method, path, options) {
  const began = performance.now();
  const response = await send(method, path, options);
  const tag = response.headers.get("ETag");
  const time = performance.now() - began;
  const whole = (/** @type {unknown} */ data) => ({ data: /** @type {Data} */ (data), warnings: [], tag, time });
  if (response.status === 304) return whole(null);
  if (options.raw && response.ok) return whole(await response.arrayBuffer());
  /** @type {Wire.Body<Data> | null} */
  const reply = await response.json().catch((error) => {
    if (options.signal?.aborted) throw error;
    return null;
  });
  if (!response.ok) throw refusal(response, reply);
  const { data, warnings = [] } = reply ?? { data: /** @type {Data} */ (undefined) };
  return { data, warnings, tag, time: performance.now() - began };
}

/**
 * Open a stream of Server-Sent Events. It has no end of its own.
 * @param {string} path @param {string | null} lastId @param {AbortSignal} abort
 */
export async function openStream(path, lastId, abort) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "text/event-stream" };
  if (lastId) headers["Last-Event-ID"] = lastId;
  const response = await send("GET", path, { signal: abort, headers });
  if (!response.ok || !response.body) throw refusal(response, await response.json().catch(() => null));
  return response.body.pipeThrough(new TextDecoderStream());
}

/** @param {string} method @param {string} path @param {Options} options */
async function send(method, path, options) {
  if (!options.early) await openSession();
  if (stopped.value && !options.early) throw new Fault("STOPPED", "The page has stopped.");
  const late = AbortSignal.timeout(options.patience ?? PATIENCE);
  const streaming = options.headers?.Accept === "text/event-stream";
  const signals = [options.signal, streaming ? null : late].filter((abort) => !!abort);
  const headers = { ...options.headers };
  const key = token() ?? session;
  if (key && page.key === "required") headers.Authorization = `Bearer ${key}`;
  if (options.bytes) headers["Content-Type"] = "application/octet-stream";
  else if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (options.etag) headers["If-None-Match"] = options.etag;
  let response;
  try {
    response = await fetch((options.whole || options.early ? path : inVault(path)) + formatQuery(options.query), {
      method,
      headers,
      body: options.bytes ?? (options.body === undefined ? undefined : JSON.stringify(options.body)),
      keepalive: options.keepalive,
      signal: AbortSignal.any(signals),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    if (late.aborted && !streaming) throw new Fault("TIMEOUT", "The server did not reply.");
    throw new Fault("NETWORK", "The server cannot be reached.");
  }
  check(response);
  return response;
}

/** What a file is and how large, or null. @param {string} address of a file, as the server has signed it */
export async function fileOf(address) {
  const { ok, headers } = await fetch(address, { method: "HEAD", credentials: "omit", redirect: "error" });
  return ok ? { type: headers.get("Content-Type") ?? "", size: Number(headers.get("Content-Length")) } : null;
}

/** The address of a route in the vault of this page. @param {string} path */
const inVault = (path) => (vaultInAddress ? `/vaults/${encodeURIComponent(vaultInAddress)}${path}` : path);

/** Stop for another vault or an ended session. @param {Response} response */
function check(response) {
  const vault = response.headers.get("X-Vault-Id");
  if (vault) {
    if (ownVault && ownVault !== vault) stopped.value = "vault";
    ownVault = vault;
    vaultId.value ||= vaultInAddress || vault;
  }
  if (response.status === 401) {
    keep(null);
    stopped.value = "session";
  }
}

/** @param {Response} response @param {Wire.Body<unknown> | null} reply */
function refusal(response, reply) {
  const error = reply?.error ?? { code: `HTTP_${response.status}`, message: response.statusText };
  // What to do over HTTP is not what to do in the page.
  const message = String(error.details?.what ?? error.message);
  return new Fault(error.code, message, response.status, error.details ?? {});
}

/** Return a query string. Lists repeat their name. @param {Record<string, unknown>} [query] */
function formatQuery(query) {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) values.append(name, String(item));
  }
  const text = values.toString();
  return text ? `?${text}` : "";
}

/**
 * Return a function that runs one task at a time: a newer run aborts the older one, whose result
 * is dropped (undefined).
 *
 * @template Result
 * @template {unknown[]} Args
 * @param {(signal: AbortSignal, ...args: Args) => Promise<Result>} task
 */
export function newestOnly(task) {
  /** @type {AbortController | null} */
  let current = null;
  const run = async (/** @type {Args} */ ...args) => {
    current?.abort();
    const mine = (current = new AbortController());
    try {
      const result = await task(mine.signal, ...args);
      return mine.signal.aborted ? undefined : result;
    } catch (error) {
      if (mine.signal.aborted) return undefined;
      throw error;
    }
  };
  run.stop = () => current?.abort();
  return run;
}
