/** Records that a browser keeps in a database, for they are more than its other storage holds. Without one they last as long as the page. */

import { unkept } from "./state.js";

const BASE = "fractals";

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Return a shelf of records that have an `id`. @template {{id: string}} T @param {string} name
 * @param {(records: T[], gone: string[]) => void} heard is told what another tab has written and removed */
export function shelfOf(name, heard) {
  const others = new BroadcastChannel(`${BASE}.${name}`);
  others.onmessage = ({ data: { records, gone } }) => heard(records, gone);
  /** @type {Promise<IDBDatabase>|null} */
  let base = null,
    full = false; // whether it was told that there is no room
  const close = () => (base = null); // the next one to ask opens it again
  const opened = () => {
    if (base) return base;
    base = new Promise((resolve, reject) => {
      const request = indexedDB.open(BASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(name, { keyPath: "id" });
      request.onsuccess = () => resolve(Object.assign(request.result, { onclose: close }));
      request.onerror = () => reject(request.error);
    });
    base.catch(close);
    return base;
  };
  /** @param {IDBTransactionMode} mode */
  const store = async (mode) => (await opened()).transaction(name, mode).objectStore(name);
  return {
    /** @returns {Promise<T[]>} none without a database */
    all: () =>
      store("readonly")
        .then((found) => answer(/** @type {IDBRequest<T[]>} */ (found.getAll())))
        .catch(() => []),
    /** Write some records, and remove others. @param {T[]} records @param {string[]} [gone] ids */
    async write(records, gone = []) {
      if (!records.length && !gone.length) return;
      others.postMessage({ records, gone });
      try {
        const found = await store("readwrite"),
          { transaction } = found;
        for (const each of records) found.put(each);
        for (const id of gone) found.delete(id);
        await new Promise((resolve, reject) => {
          transaction.oncomplete = resolve;
          transaction.onabort = () => reject(transaction.error);
        });
      } catch (error) {
        // The records last as long as the page; where a browser has no database, each page would tell so.
        if (error?.name === "QuotaExceededError" && !full) unkept.count += 1;
        full ||= error?.name === "QuotaExceededError";
      }
    },
  };
}
