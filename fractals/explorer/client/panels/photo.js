/** A palette out of a photograph: its main colors, as a loop without jumps. */
import { formatHex, oklch } from "../lib/culori.js";
import { newCanvas } from "../picture.js";
import { say } from "../words.js";

const SIDE = 64; // pixels to which a photograph is reduced
const COLORS = 7,
  ROUNDS = 12;
const LEAST = 0.008; // of the pixels that a color of the palette stands for

/** Return the palette of a file. @param {Blob & {name?: string}} file */
export async function paletteOf(file) {
  const bitmap = await createImageBitmap(file),
    scale = SIDE / Math.max(bitmap.width, bitmap.height);
  const [w, h] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
  const [, context] = newCanvas(w, h, { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, w, h);
  const title =
    (file.name ?? say("photograph")).replace(/\.\w+$/, "").slice(0, 100) || say("photograph");
  return { title, stops: stopsOf(context.getImageData(0, 0, w, h).data), cyclic: true };
}

/** Return stops of the main colors of pixels. @param {ArrayLike<number>} data RGBA bytes */
export function stopsOf(data) {
  const points = /** @type {number[][]} */ ([]);
  for (let k = 0; k < data.length; k += 4)
    if (data[k + 3] > 127) points.push(labOf(data[k], data[k + 1], data[k + 2]));
  if (!points.length) points.push([0, 0, 0]);
  const loop = inALoop(means(points).map(({ center }) => center));
  return loop.map(
    (lab, k) => /** @type {Stop} */ ([Math.round((1e4 * k) / loop.length) / 1e4, hexOf(lab)]),
  );
}

function labOf(/** @type {number} */ r, /** @type {number} */ g, /** @type {number} */ b) {
  const { l, c, h = 0 } = oklch({ mode: "rgb", r: r / 255, g: g / 255, b: b / 255 }),
    angle = (h * Math.PI) / 180;
  return [l, c * Math.cos(angle), c * Math.sin(angle)];
}

const hexOf = (/** @type {number[]} */ [l, a, b]) =>
  formatHex({ mode: "oklch", l, c: Math.hypot(a, b), h: (Math.atan2(b, a) * 180) / Math.PI });
const gap = (/** @type {number[]} */ one, /** @type {number[]} */ other) =>
  Math.hypot(...one.map((part, k) => part - other[k]));

/** Return the means of clusters (Lloyd, *Least squares quantization in PCM*, 1982). The first centers are far from each other. */
function means(/** @type {number[][]} */ points) {
  let centers = [points[Math.floor(points.length / 2)]];
  while (centers.length < COLORS) {
    const away = (/** @type {number[]} */ point) =>
      Math.min(...centers.map((center) => gap(point, center)));
    const next = points.reduce((best, point) => (away(point) > away(best) ? point : best));
    if (away(next) < 0.03) break;
    centers.push(next);
  }
  let groups = /** @type {number[][][]} */ ([]);
  for (let round = 0; round < ROUNDS; round++) {
    groups = centers.map(() => /** @type {number[][]} */ ([]));
    for (const point of points) groups[nearest(centers, point)].push(point);
    centers = centers.map((center, k) =>
      groups[k].length
        ? center.map(
            (_, part) => groups[k].reduce((sum, point) => sum + point[part], 0) / groups[k].length,
          )
        : center,
    );
  }
  const found = centers.map((center, k) => ({ center, share: groups[k].length / points.length }));
  const common = found.filter(({ share }) => share >= LEAST);
  return common.length ? common : found;
}

const nearest = (/** @type {number[][]} */ centers, /** @type {number[]} */ point) =>
  centers.reduce(
    (best, center, k) => (gap(center, point) < gap(centers[best], point) ? k : best),
    0,
  );

/** Return colors in the order of the shortest loop, from the darkest on. */
function inALoop(/** @type {number[][]} */ colors) {
  const [first, ...rest] = [...colors].sort((one, other) => one[0] - other[0]);
  let best = [first, ...rest],
    shortest = Infinity;
  const walk = (
    /** @type {number[][]} */ way,
    /** @type {number[][]} */ left,
    /** @type {number} */ length,
  ) => {
    if (length >= shortest) return;
    if (!left.length && length + gap(way[way.length - 1], first) < shortest)
      [best, shortest] = [way, length + gap(way[way.length - 1], first)];
    left.forEach((each, k) =>
      walk([...way, each], left.toSpliced(k, 1), length + gap(way[way.length - 1], each)),
    );
  };
  walk([first], rest, 0);
  return best;
}
