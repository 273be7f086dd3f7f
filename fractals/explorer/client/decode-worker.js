/** Decompresses messages beside the page: 7 ms a tile would hold up its frames. */
import { inflated } from "./decode.js";

onmessage = async ({ data: { id, message, buffer } }) => {
  const post =
    /** @type {(message: {id: number, data?: object, error?: string}, taken?: ArrayBuffer[]) => void} */ (
      postMessage
    ); // a worker's
  try {
    const data = await inflated(message, buffer);
    post({ id, data }, [data.buffer]);
  } catch (error) {
    post({ id, error: String(error) });
  }
};
