/** PNG files that carry their scene, as those of the program do. */

export const KEYWORD = "fractals:scene"; // of the text that is the scene, in JSON

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

/** @param {Uint8Array} bytes */
function checksum(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = (c >>> 8) ^ TABLE[(c ^ byte) & 255];
  return (c ^ 0xffffffff) >>> 0;
}

/** @param {string} name @param {Uint8Array} content */
function chunk(name, content) {
  const made = new Uint8Array(12 + content.length),
    view = new DataView(made.buffer);
  view.setUint32(0, content.length);
  made.set(new TextEncoder().encode(name), 4);
  made.set(content, 8);
  view.setUint32(8 + content.length, checksum(made.subarray(4, 8 + content.length)));
  return made;
}

/** Return a chunk of text in UTF-8. @param {string} keyword @param {string} text */
const said = (keyword, text) =>
  chunk("iTXt", new TextEncoder().encode(`${keyword}\0\0\0\0\0${text}`));

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function deflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Return the file of a picture. @param {number[]} size @param {Uint8Array} rgb
 * @param {Record<string, string>} texts by keyword @returns {Promise<Blob>} */
export async function pngOf([width, height], rgb, texts) {
  const head = new Uint8Array(13),
    view = new DataView(head.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  head.set([8, 2, 0, 0, 0], 8);
  const row = 3 * width,
    rows = new Uint8Array(height * (row + 1));
  for (let y = 0; y < height; y++) {
    const at = y * (row + 1) + 1,
      from = y * row;
    rows[at - 1] = 1; // differences to the pixel at the left
    for (let k = 0; k < row; k++) rows[at + k] = rgb[from + k] - (k < 3 ? 0 : rgb[from + k - 3]);
  }
  const chunks = [
    chunk("IHDR", head),
    chunk("sRGB", Uint8Array.of(0)),
    ...Object.entries(texts).map(([keyword, text]) => said(keyword, text)),
    chunk("IDAT", await deflated(rows)),
    chunk("IEND", new Uint8Array()),
  ];
  const signature = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
  return new Blob([signature, ...chunks], { type: "image/png" });
}
