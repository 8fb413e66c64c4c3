// What a part asks the server for when it is shown, and what it has done there.

import { useEffect, useSignal } from "../../vendor/preact.js";

/**
 * Ask when the part is shown, and again when what it asks for changes. An answer that comes too late is dropped.
 * @template Data
 * @param {(signal: AbortSignal) => Promise<Data>} ask
 * @param {unknown[]} dependencies what it asks for
 */
export function useReply(ask, dependencies) {
  const data = useSignal(/** @type {Data | undefined} */ (undefined));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  useEffect(() => {
    const abort = new AbortController();
    fault.value = null;
    ask(abort.signal).then(
      (reply) => {
        if (!abort.signal.aborted) data.value = reply;
      },
      (error) => {
        if (!abort.signal.aborted) fault.value = error;
      },
    );
    return () => abort.abort();
  }, dependencies);
  return { data, fault };
}

/** What a person has done: one thing at a time. `fault` has what went wrong. */
export function useWork() {
  const busy = useSignal(false);
  const fault = useSignal(/** @type {Fault | null} */ (null));
  /** @param {() => Promise<unknown>} work */
  const run = async (work) => {
    busy.value = true;
    fault.value = null;
    try {
      await work();
    } catch (error) {
      fault.value = /** @type {Fault} */ (error);
    }
    busy.value = false;
  };
  return { busy, fault, run };
}
