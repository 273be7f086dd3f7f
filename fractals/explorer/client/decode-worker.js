/** Decompresses messages beside the page: 7 ms a tile would hold up its frames. */
import { inflated } from "./decode.js";

onmessage = async ({ data: { id, message, buffer } }) => {
  try {
    const data = await inflated(message, buffer);
    postMessage({ id, data }, [data.buffer]);
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
};
