/** Scenes in files that are dropped or chosen: TOML and JSON, and PNGs of the program and of these pages. */
import { KEYWORD } from "./png.js";
import { elsewhere, told } from "./said.js";
import { tableOf } from "./scene.js";

const MOST = 2 ** 26; // bytes of a picture
const PNG = [137, 80, 78, 71];

/** Return the scene in a file. @param {File} file @returns {Promise<Scene>} */
export async function sceneOf(file) {
  if (file.size > MOST) throw new Error(`a file has at most ${MOST / 2 ** 20} MiB`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (PNG.every((byte, k) => bytes[k] === byte)) return tableOf(textIn(bytes));
  if (/\.(toml|json)$/i.test(file.name))
    return tableOf(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  throw new Error(elsewhere("reads_more"));
}

/** Return the text of a PNG that holds its scene. @param {Uint8Array} bytes */
function textIn(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset),
    plain = new TextDecoder();
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at),
      content = bytes.subarray(at + 8, at + 8 + length),
      name = plain.decode(bytes.subarray(at + 4, at + 8));
    const head = `${KEYWORD}\0\0\0\0\0`;
    if (name === "iTXt" && plain.decode(content.subarray(0, head.length)) === head)
      return plain.decode(content.subarray(head.length));
    at += 12 + length;
  }
  throw new Error(told("no_scene"));
}
