/** A web worker that draws parts of pictures (`drawer.js`). */
import { Drawer, Told } from "./drawer.js";

/** @type {Drawer|null} */
let drawer = null;
/** @type {import("./drawer.js").Job["layers"]} */
let layers = []; // of the last job
/** @type {import("./drawer.js").Job["deep"]} */
let deep = null; // likewise
const post = /** @type {(message: object, taken?: Transferable[]) => void} */ (postMessage); // a worker's

/** Load a file of programs. @param {string} url */
async function load(url) {
  const answer = await fetch(url).catch(() => null);
  if (!answer?.ok || !answer.body) throw new Told("not_loaded");
  const stream = answer.body.pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

onmessage = async ({ data: { id, job, begin } }) => {
  if (begin) {
    const { folder, encoding, decoding, plain } = begin;
    drawer = new Drawer((name) => load(`${folder}${name}.bin`), encoding, decoding, plain);
    return;
  }
  try {
    layers = job.layers ?? layers;
    deep = job.deep === undefined ? deep : job.deep;
    const report = (/** @type {number} */ done, /** @type {number} */ of) =>
      post({ id, steps: { done, of } });
    const found = await drawer?.draw({ ...job, layers, deep }, report),
      arrays = Object.values(found ?? {}).filter((each) => ArrayBuffer.isView(each));
    post(
      { id, found },
      arrays.map(({ buffer }) => /** @type {ArrayBuffer} */ (buffer)),
    );
  } catch (error) {
    const values = error instanceof Told ? error.values : undefined;
    post({ id, error: error instanceof Error ? error.message : String(error), values });
  }
};
