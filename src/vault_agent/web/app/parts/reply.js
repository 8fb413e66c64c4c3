// What a part asks the server for when it is shown.

import { useEffect, useSignal } from "../../vendor/preact.js";

/**
 * Ask when the part is shown, and again when what it asks for changes. An answer that comes too late is dropped.
 * @template Data
 * @param {(signal: AbortSignal) => Promise<Data>} ask
 * @param {unknown[]} given what it asks for
 */
export function useReply(ask, given) {
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
  }, given);
  return { data, fault };
}
