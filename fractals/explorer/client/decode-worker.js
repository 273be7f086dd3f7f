/** Decodes messages beside the page: 7 ms a tile would hold up its frames. */
import { inflated, raw } from "./decode.js";

onmessage = async ({ data: { id, message, buffer } }) => {
  const post =
    /** @type {(message: {id: number, data?: object, error?: string}, taken?: ArrayBuffer[]) => void} */ (
      postMessage
    ); // a worker's
  try {
    const data = message.format ? await inflated(message, buffer) : raw(message, buffer);
    post({ id, data }, [data.buffer]);
  } catch (error) {
    post({ id, error: String(error) });
  }
};
