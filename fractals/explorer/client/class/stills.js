/** Small pictures of the view, as text that the server takes. */

const QUALITIES = [0.85, 0.7, 0.5, 0.3]; // of a JPEG, the first that is small enough
const SHRINK = 0.7; // of the sides, where none is

/** @typedef {{size: number[], still: (width: number) => HTMLCanvasElement}} Seen the model, or what stands for it in tests */

/** Return the width of a picture whose longer side has at most so many pixels. @param {number[]} size @param {number} side */
export const widthOf = ([width, height], side) =>
  Math.max(1, Math.floor(width * Math.min(1, side / Math.max(width, height))));

/** Return a JPEG of what is seen, in base64. @param {Seen} seen @param {number} side most pixels of a side
 * @param {number} most characters @returns {Promise<string>} "": none is small enough */
export async function pictureOf(seen, side, most) {
  for (let width = widthOf(seen.size, side); width >= 1; width = Math.floor(width * SHRINK)) {
    const canvas = seen.still(width);
    for (const quality of QUALITIES) {
      const text = await new Promise((resolve) => {
        canvas.toBlob(
          async (blob) => resolve(blob ? await textOf(blob) : ""),
          "image/jpeg",
          quality,
        );
      });
      if (text.length <= most) return text;
    }
  }
  return "";
}

/** Return bytes in base64. @param {Blob} blob @returns {Promise<string>} */
async function textOf(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let k = 0; k < bytes.length; k += 8192)
    text += String.fromCharCode(...bytes.subarray(k, k + 8192));
  return btoa(text);
}
