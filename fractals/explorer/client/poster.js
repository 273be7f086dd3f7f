/**
 * A poster's measures: paper, bleed, margins, the line around the picture and the signature, in millimeters and in pixels of the file.
 *
 * @typedef {{paper: string, own: number[], upright: boolean, dpi: number, bleed: number, safe: number, margin: number, foot: number, ground: string,
 *   gap: number, line: number, lineColor: string, fit: "fill"|"whole", sign: string, hand: string, tall: number, ink: string, place: string}} Poster
 * lengths in mm; `own`: sides of paper of the user's; `foot`: more margin below the picture; `safe`: from the cut, where nothing that
 * matters should lie; `tall`: of the signature's letters; `fit`: whether the picture fills its place, or is seen whole
 * @typedef {number[]} Box [left, top, width, height]
 * @typedef {{trim: number[], sheet: number[], picture: Box, span: number, lost: number, pixels: {sheet: number[], picture: Box}}} Layout
 * `trim`, `sheet`: sides of the paper after the cut and before; `picture`: on the sheet; `span`: the width of the view, in widths of the one that is
 * shown; `lost`: share of the shown view's height, or width, that lies beyond the picture
 */
export const INCH = 25.4; // mm
/** Sides in mm, the shorter one first. @type {[string, number[]][]} */
export const PAPERS = [
  ["A5", [148, 210]],
  ["A4", [210, 297]],
  ["A3", [297, 420]],
  ["A2", [420, 594]],
  ["A1", [594, 841]],
  ["A0", [841, 1189]],
  ["letter", [215.9, 279.4]],
  ["tabloid", [279.4, 431.8]],
  ["30 × 40 cm", [300, 400]],
  ["50 × 70 cm", [500, 700]],
  ["30 × 30 cm", [300, 300]],
];
export const OWN = "own"; // a paper whose sides the user gives
/** @type {Poster} */
export const USUAL = {
  paper: "A3",
  own: [300, 400],
  upright: false,
  dpi: 300,
  bleed: 3,
  safe: 5,
  margin: 20,
  foot: 8,
  ground: "#ffffff",
  gap: 0,
  line: 0,
  lineColor: "#1c1a17",
  fit: "fill",
  sign: "",
  hand: "hand",
  tall: 6,
  ink: "#1c1a17",
  place: "right",
};

/** Return the pixels of a length. @param {number} mm @param {number} dpi */
export const pixelsOf = (mm, dpi) => Math.round((mm * dpi) / INCH);

/** Return the sides of the paper after the cut. @param {Poster} poster @returns {number[]} width and height in mm */
export function sidesOf({ paper, own, upright }) {
  const sides = PAPERS.find(([name]) => name === paper)?.[1] ?? own,
    [short, long] = [Math.min(...sides), Math.max(...sides)];
  return upright ? [short, long] : [long, short];
}

/** Return where everything lies; null: the margins leave no room for a picture.
 * @param {Poster} poster @param {number[]} shown width and height of the view that is shown @param {boolean} inPlane false: a camera keeps its field
 * @returns {Layout|null} */
export function layoutOf(poster, shown, inPlane = true) {
  const { bleed, margin, foot, dpi, fit } = poster,
    trim = sidesOf(poster),
    sheet = trim.map((side) => side + 2 * bleed),
    full = margin === 0 && foot === 0; // the picture goes to the cut, and beyond it by the bleed
  const inside = full ? trim : [trim[0] - 2 * margin, trim[1] - 2 * margin - foot];
  if (Math.min(...inside) < 10) return null;
  const picture = full ? [0, 0, ...sheet] : [bleed + margin, bleed + margin, inside[0], inside[1]];
  const stretch = inside[0] / inside[1] / (shown[0] / shown[1]), // above 1: the place is wider than the view
    fitted = fit === "fill" ? Math.min(1, stretch) : Math.max(1, stretch),
    span = inPlane ? fitted * (picture[2] / inside[0]) : 1;
  const lost = !inPlane
    ? Math.max(0, 1 - stretch)
    : fit === "fill"
      ? 1 - Math.min(stretch, 1 / stretch)
      : 0;
  const side = (/** @type {number} */ mm) => pixelsOf(mm, dpi),
    [left, top] = [side(picture[0]), side(picture[1])];
  const pixels = {
    sheet: sheet.map(side),
    picture: [left, top, side(picture[0] + picture[2]) - left, side(picture[1] + picture[3]) - top],
  };
  return { trim, sheet, picture, span, lost, pixels };
}

/** Return where a signature lies on the sheet. @param {Poster} poster @param {Layout} layout @param {number[]} size of the text in mm
 * @returns {number[]} its left and top in mm */
export function signedAt({ place, bleed, gap, line }, { sheet, picture }, [width, height]) {
  const [left, top, across, down] = picture,
    on = place.startsWith("on_") || top + down > sheet[1] - bleed, // without a margin there is no place below
    inset = on ? height : 0,
    edge = on ? bleed * Number(left === 0) : 0; // what is cut away
  const below = top + down + gap + line,
    y = on ? top + down - edge - 1.8 * height : below + (sheet[1] - bleed - below - height) / 2;
  const x = place.endsWith("left")
    ? left + edge + inset
    : place === "middle"
      ? left + (across - width) / 2
      : left + across - edge - inset - width;
  return [x, y];
}

/** Return a width as a scene has it, times a factor: of any size, in 15 digits. @param {string} text @param {number} factor */
export function scaled(text, factor) {
  const [, digits = text, power = "0"] = /^(.*?)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const [, zeros = ""] = /^0*\.(0*)/.exec(digits) ?? [],
    shift = zeros.length;
  const lead = Number(shift ? `0.${digits.slice(digits.indexOf(".") + 1 + shift)}` : digits);
  return `${(lead * factor).toPrecision(15)}e${Number(power) - shift}`;
}

/** Return the point of the shown view, in shares of its sides, that lies at a place of the picture, in shares of that.
 * @param {Layout} layout @param {number[]} shown @param {number[]} at */
export function viewedAt({ span, picture }, shown, at) {
  const tall = (span * shown[0] * picture[3]) / picture[2] / shown[1];
  return [0.5 + (at[0] - 0.5) * span, 0.5 + (at[1] - 0.5) * tall];
}

/** Return bytes as the text of a message: deflated, in base64. @param {Uint8Array<ArrayBuffer>} bytes */
export async function packed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate")),
    found = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of found) text += String.fromCharCode(byte);
  return btoa(text);
}
