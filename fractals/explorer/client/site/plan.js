/** How a scene is drawn: programs, their inputs, the limit of iterations. Nothing is iterated here. */
import {
  HALF,
  ZERO,
  abs,
  add,
  decimal,
  direction as directionOf,
  div,
  less,
  log2,
  mul,
  ofDouble,
  power,
  ratio,
  toDouble,
} from "./exact.js";
import { coordinates, matrix } from "./places.js";
import { elsewhere, told } from "./said.js";

/** @typedef {import("./exact.js").Ratio} Ratio */
/** @typedef {{value: string, place: string, constants: number[], plane: number, counted: boolean, range: number[],
 * lookup: Float32Array, blend: string, opacity: number}} LayerJob */
/** How a scene is drawn. `bits`: of the reference orbit of a deep view, whose programs are in `file`; 0: its samples are iterated
 * directly, by those in `direct`. `exponent` of two, over which numbers of a view are that float64 can't hold; 0: of no such view.
 * `julia`: c. `probe`: the file and the key of the programs that probe a deep view. `moves`: whether the orbit tells the moves
 * between its points, as `file` does. `probedDirect`: the limit of a deep view is found directly. `periodic`: its orbit may end at a period. `least`: of the limits that a search of one finds.
 * @typedef {{file: string, direct: string, bits: number, exponent: number, julia: string[]|null, probe: {file: string, key: string}, moves: boolean,
 * probedDirect: boolean, radius: number, degree: number, periodic: boolean, deep: import("./deep.js").DeepJob|null, key: string, point: Float64Array, planes: number, derivative: boolean, turn: number[]|null,
 * layers: LayerJob[], center: Ratio[], width: Ratio, axes: Ratio[], least: number, limit: number, auto: boolean, depth: number,
 * fraction: number[], size: number[], n: number, note: string}} Plan */

const JULIA_WIDTH = "4.2";

/** Return where a scene is looked at first. @param {SiteFacts} facts @param {Scene} scene */
export function homeOf(facts, scene) {
  const formula = formulaOf(facts, scene);
  return scene.julia
    ? { center: ["0", "0"], width: JULIA_WIDTH }
    : { center: formula.center, width: formula.width };
}

/** Return what is known of a scene's formula. @param {SiteFacts} facts @param {Scene} scene @returns {SiteFormula} */
export function formulaOf(facts, scene) {
  const given = scene.formula ?? "mandelbrot",
    { name, ...own } = typeof given === "string" ? { name: given } : given;
  const known = Object.values(facts.formulas).filter((each) => each.name === name);
  if (!known.length) throw ofFormula(elsewhere("draws", { name: String(name).slice(0, 40) }));
  const usual = known[0].parameters,
    found = known.find(({ parameters }) =>
      Object.keys(parameters).every(
        (key) => String(own[key] ?? usual[key]) === String(parameters[key]),
      ),
    );
  if (!found) {
    const served = known.map(({ parameters }) => Object.values(parameters).join(", "));
    const keys = Object.keys(usual).join(", ");
    throw ofFormula(elsewhere("takes_any", { name, keys, served: served.join(" / ") }));
  }
  return found;
}

/** Return an error of a scene's formula, which is no matter of the place. */
const ofFormula = (/** @type {string} */ line) =>
  Object.assign(new Error(line), { key: "formula" });

/** @param {SiteFormula} formula @param {number} radius */
const fractionOf = (formula, radius, usual = 256) =>
  radius === usual ? formula.fraction : [Math.log2(2 * Math.log2(radius)), formula.fraction[1]];

/** Constants of colorings: of the formula, the escape radius, the width of the view and the settings.
 * @type {Record<string, (formula: SiteFormula, radius: number, width: number, settings: Settings) => number[]>} */
const CONSTANTS = {
  smooth: fractionOf,
  stripe_average: fractionOf,
  triangle_average: fractionOf,
  curvature_average: fractionOf,
  speed: (formula, radius) => [
    ...fractionOf(formula, radius),
    formula.tolerance ? 2 * Math.log2(formula.tolerance) : 0,
    formula.escapes ? radius ** 2 : Infinity,
  ],
  lyapunov: (formula, _radius, _width, { warmup }) => [warmup, 1 / formula.maps],
  interior_distance: (_formula, _radius, width) => [1000 / width],
  count_plus: (_formula, _radius, _width, { real, imag, quotient, whole }) => [
    real,
    imag,
    quotient,
    whole,
  ],
  last_point: (_formula, _radius, _width, { size, angle, quotient }) => [size, angle, quotient],
  last_wave: (_formula, _radius, _width, { wave, mirror }) => [
    ["distance", "product", "radial", "saddle", "angle", "squares"].indexOf(String(wave)),
    mirror ? -1 : 1,
  ],
  log_ratio: (_formula, _radius, _width, { less }) => [less],
  decomposition: (_formula, _radius, _width, { parts }) => [parts],
  biomorph: (_formula, radius) => [1 / radius],
  field_lines: lines,
  exterior_grid: lines,
  root: (formula, radius, _width, { spread }) => [
    spread,
    formula.escapes ? radius ** 2 : Infinity,
    1e-4,
  ],
  distance: (_formula, _radius, width) => [(1000 * Math.log(2)) / width],
  distance_line: (_formula, _radius, width, { weight }) => [
    (1000 * Math.log(2)) / width,
    1 / weight,
  ],
  slopes: (_formula, _radius, _width, { direction, height, strength, ambient, specular }) => {
    const [along, across] = directionOf(direction),
      [level, up] = directionOf(height),
      length = Math.sqrt(1 + strength * strength);
    return [strength / length, 1 / length, along * level, across * level, up, ambient, specular];
  },
  orbit_trap: (_formula, _radius, _width, { reach }) => [reach],
  pickover_stalks: (_formula, _radius, _width, { thickness }) => [thickness],
};

/** @param {SiteFormula} formula @param {number} radius @param {number} _width @param {Settings} settings */
function lines(formula, radius, _width, { lines: count, weight }) {
  const degree = Math.max(2, formula.degree);
  const border = (Math.PI * weight) / (count * Math.log(radius) * Math.log(degree));
  return [...fractionOf(formula, radius), count, weight, border, 1 / degree];
}

/** Return a layer's coloring, or that which takes its place where orbits converge.
 * @param {SiteFacts} facts @param {SiteFormula} formula @param {Coloring} given */
function coloringOf(facts, formula, given) {
  const { name, ...own } = typeof given === "string" ? { name: given } : given,
    known = facts.colorings[name];
  if (!known) throw new Error(elsewhere("draws_coloring", { name: String(name).slice(0, 40) }));
  if (known.converging && formula.replaces) {
    const usual = facts.colorings[formula.usual];
    return { name: formula.usual, known: usual, settings: usual.options };
  }
  const refusal = facts.refusals[formula.refused[name]];
  if (refusal) throw new Error(refusal.replaceAll("{formula}", formula.name));
  for (const key of Object.keys(own))
    if (!(key in known.options)) throw new Error(`${name} has no option '${key.slice(0, 40)}'`);
  return { name, known, settings: /** @type {Settings} */ ({ ...known.options, ...own }) };
}

/** Return a coloring's name and the settings that its statistic is compiled with.
 * @param {{name: string, known: SiteColoring, settings: Settings}} coloring */
function labelOf({ name, known, settings }) {
  const compiled = Object.keys(known.options).filter((key) => known.parts[key] === "code");
  return [name, ...compiled.map((key) => `${key}=${settings[key]}`)].join(",");
}

/** Return the constants of a coloring's statistic. @param {{name: string, known: SiteColoring, settings: Settings}} coloring */
function statisticOf({ name, known, settings }) {
  if (name === "orbit_trap") {
    return [settings.x, settings.y, ...directionOf(settings.angle), settings.radius];
  }
  const own = Object.keys(known.options).filter((key) => known.parts[key] === "statistic");
  return own.map((key) => settings[key]);
}

/** Return lines about what the program would draw otherwise. @param {Scenes.ImageSettings} image @param {string} note about the place */
function notesOf({ antialias = "grid", hdr = false, gamut = "srgb" }, note) {
  const others = [antialias !== "grid" && "jittered", (hdr || gamut !== "srgb") && "wide"];
  return [note, ...others.map((key) => key && elsewhere(key))].filter(Boolean).join(" ");
}

/** Return how a scene is drawn.
 * @param {SiteFacts} facts @param {import("./palettes.js").Palettes} palettes @param {SiteScene} scene whole
 * @returns {Plan} */
export function planOf(facts, palettes, scene) {
  const formula = formulaOf(facts, scene),
    { color, view, iteration } = scene,
    home = homeOf(facts, scene);
  const paints = /** @type {Paint[]} */ ([color, ...(color.layers ?? [])]);
  if (paints.some((paint, k) => k && (paint.layers || paint.picture_mask)))
    throw new Error(elsewhere("groups"));
  const colorings = paints.map((paint) => coloringOf(facts, formula, paint.coloring ?? "smooth"));
  const sides = paints.map(({ mask = "auto" }, k) => {
    const { name, known } = colorings[k],
      side = mask === "auto" ? known.side : mask === "all" ? "both" : mask;
    if (known.side !== "both" && side !== known.side)
      throw new Error(
        `the coloring '${name}' has no value where orbits ${known.side === "inside" ? "escaped" : "did not escape"}`,
      );
    return side;
  });
  const derivative = colorings.some(({ known }) => known.derivative);
  const statistics = colorings.filter(({ known }) => known.planes),
    labels = [...new Set(statistics.map(labelOf))];
  const inside = sides.some((side, k) => side !== "escaped" && colorings[k].known.planes);
  const key = [
    `${scene.julia ? "j" : "p"}${derivative ? "d" : ""}${inside ? "i" : ""}`,
    ...labels,
  ].join(":");
  const direct = formula.programs[key];
  if (direct === undefined)
    throw new Error(
      elsewhere("colors", {
        colors: labels.join(", ") || told("these_colors"),
        name: formula.name,
      }),
    );
  const planes = new Map();
  let count = 0;
  const statisticConstants = [];
  for (const label of labels) {
    const coloring = statistics.find((each) => labelOf(each) === label);
    if (!coloring) continue;
    planes.set(label, count);
    count += coloring.known.planes;
    statisticConstants.push(...statisticOf(coloring));
  }
  const width = view.width
    ? decimal(view.width)
    : div(decimal(home.width), decimal(view.zoom ?? "1"));
  const stretch = view.stretch ?? 1,
    finest = div(width, ofDouble(Math.max(stretch, 1 / stretch)));
  const center = (view.center ?? home.center).map(decimal),
    n = scene.image.supersampling,
    kind = scene.julia ? "j" : "p",
    files = ["deep", "extended"].map((name) => formula.programs[`${name} ${key}`] ?? ""),
    probes = ["deep", "extended"].map((name) => formula.programs[`${name} ${kind}`] ?? "");
  const { note, bits, exponent, probedDirect } = checked(
    facts,
    scene,
    center,
    width,
    finest,
    formula,
    files,
    () =>
      probes[0] && !files[0]
        ? told("deep_colors", { colors: labels.join(", ") })
        : elsewhere("any_depth"),
  );
  const radius = iteration.escape_radius,
    several = paints.length > 1;
  const layers = paints.map((paint, k) => {
    const { name, known, settings } = colorings[k],
      { palette: given = "auto", blend: mixed = "auto" } = paint,
      palette = given === "auto" ? known.palette : given;
    const transfer = (paint.transfer ?? "auto") === "auto" ? known.transfer : paint.transfer,
      cyclic = palettes.cyclic(palette);
    const unit = bits ? 1 : toDouble(width), // derivatives of a deep view are told in its widths
      constants = CONSTANTS[name]?.(formula, radius, unit, settings) ?? [];
    const blend = mixed === "auto" ? known.blend : mixed;
    return {
      value: `${name} ${sides[k]}`,
      place: `place ${transfer} ${cyclic ? "cyclic" : ""} ${paint.range ? "ranged" : ""}`,
      constants: [paint.density ?? 1, paint.offset ?? 0, ...constants],
      plane: known.planes ? planes.get(labelOf(colorings[k])) : 0,
      counted: known.counted && (paint.transfer ?? "auto") === "auto",
      range: paint.range ?? [0, 0],
      lookup: palettes.lookup(palette, color.inside, several),
      blend: k ? blend : "first",
      opacity: k ? (paint.opacity ?? 1) : 1,
    };
  });
  const axes = matrix(view),
    plain = !view.rotation && stretch === 1 && !view.mirror;
  const [begin, end] = facts.probe.depths,
    zoom = log2(div(decimal(home.width), finest)),
    depth = Math.min(Math.max((zoom - begin) / (end - begin), 0), 1),
    least = depth === 1 ? facts.deep.least : limitByZoom(facts, formula, finest);
  const [x, y] = scene.julia?.map(Number) ?? (bits ? center.map(toDouble) : [0, 0]);
  return {
    file: bits ? files[Number(exponent !== 0)] : direct,
    direct,
    bits,
    exponent,
    julia: scene.julia ?? null,
    probe: { file: probes[Number(exponent !== 0)], key: kind },
    moves: statistics.some(({ known }) => known.moves),
    probedDirect,
    radius,
    degree: formula.degree,
    periodic: formula.holomorphic && !scene.julia,
    deep: null,
    key,
    point: Float64Array.of(x, y, radius ** 2, ...formula.options, ...statisticConstants),
    planes: count,
    derivative,
    turn: derivative && !plain ? axes.map(toDouble) : null,
    layers,
    center,
    width,
    axes,
    least,
    limit: iteration.max_iterations === "auto" ? least : iteration.max_iterations,
    auto: iteration.max_iterations === "auto",
    depth,
    fraction: fractionOf(formula, radius),
    size: scene.image.size,
    n,
    note: notesOf(scene.image, note),
  };
}

/** Return how exactly a view is drawn: the bits of a reference orbit, 0 without one; the exponent of its numbers; whether its limit is
 * found without one; a line where the last bits of float64 are seen. A view that is too deep is an error.
 * @param {SiteFacts} facts @param {SiteScene} scene @param {Ratio[]} center @param {Ratio} width @param {Ratio} finest
 * @param {SiteFormula} formula @param {string[]} files of programs of deep views, with and without exponents, or nothing
 * @param {() => string} why returns the line about a view that is too deep */
function checked({ bits: own, deep, probe }, scene, center, width, finest, { degree }, files, why) {
  const { all, least, exact, spare } = own,
    { size, supersampling } = scene.image;
  const farther = less(abs(center[0]), abs(center[1])) ? center[1] : center[0],
    far = log2(add(abs(farther), mul(width, HALF)));
  if (far >= own.far)
    throw new Error(told("too_far", { exponent: Math.floor(far * Math.log10(2)) }));
  const finer = (/** @type {number} */ columns) => -log2(div(finest, ratio(columns))),
    // after a step from near 0 neighbors in a Julia set are nearer still, but not near 0
    along = scene.julia ? Math.max(far, (1 - degree) * Math.min(0, far)) : far,
    apart = finer(size[0] * supersampling),
    isDeep = (/** @type {number} */ between) => files[0] !== "" && along + between + spare > all;
  if (isDeep(apart)) {
    // Near 0 a Julia set's orbits are raised to the power of the degree: so are the differences, and their digits
    const raised = scene.julia ? degree : 1,
      exponent = -raised * apart < deep.extended ? Math.floor(log2(finest)) : 0;
    const reach = Math.max(0, log2(add(abs(farther), width))),
      bits = Math.ceil(Math.max(apart, along + apart, raised * (reach + apart)));
    return {
      note: "",
      bits: 2 * deep.guard + bits,
      exponent,
      probedDirect: !isDeep(finer(probe.limitSize[0])),
    };
  }
  if (along + apart + least > all) throw new Error(why());
  return { note: apart > exact ? told("rough") : "", bits: 0, exponent: 0, probedDirect: false };
}

/** Return the plan by which a deep view's samples are iterated directly. @param {Plan} plan @returns {Plan} */
export const directOf = (plan) => ({ ...plan, file: plan.direct, bits: 0, exponent: 0 });

/** Return the limit that doubles each time the zoom grows by 64. @param {SiteFacts} facts @param {SiteFormula} formula @param {Ratio} width */
function limitByZoom(facts, formula, width) {
  const zoom = Math.max(0, log2(div(decimal(formula.width), width)));
  return Math.trunc(Math.min(1000 * 2 ** Math.min(zoom / 6, 30), facts.probe.most));
}

/** Return the positions of samples; of a deep view, from its center, over two to its exponent.
 * @param {Plan} plan @param {number[]} size @param {number} n @param {Ratio} [width] */
export const gridOf = (plan, size, n, width = plan.width) =>
  plan.bits
    ? coordinates([ZERO, ZERO], div(width, power(plan.exponent)), plan.axes, size, n)
    : coordinates(plan.center, width, plan.axes, size, n);

/** Return the limit of a view from counts under a limit; null: those under 4 times the limit are needed.
 * @param {SiteFacts["probe"]} probe @param {Int32Array} counts @param {number} limit @param {number} least */
export function shallowLimit(probe, counts, limit, least) {
  const escaped = Array.from(counts)
    .filter((count) => count < limit)
    .sort((a, b) => b - a);
  const late = Math.trunc(probe.late * counts.length),
    found = escaped.length > late ? 4 * escaped[late] : 0;
  if (found > limit && 4 * limit <= probe.most) return null;
  const beyond = escaped.filter((count) => count >= least).length;
  if (found <= least || (limit > least && beyond <= probe.kept * counts.length)) return least;
  return Math.min(found, probe.most);
}

/** Return means of the lowest smooth counts of a view, and of those about the median; null without any.
 * @param {number[]} fraction @param {{count: Int32Array, x: Float64Array, y: Float64Array}} raw @param {number} limit */
export function lowestAndMedian([start, scale], { count, x, y }, limit) {
  const smooth = /** @type {number[]} */ ([]);
  for (let k = 0; k < count.length; k++) {
    if (count[k] >= limit) continue;
    const beyond = Math.log2(Math.log2(x[k] * x[k] + y[k] * y[k])) - start,
      rest = Number.isFinite(beyond) ? 1 - scale * beyond : 0;
    smooth.push(count[k] + Math.min(Math.max(rest, 0), 1));
  }
  if (!smooth.length) return null;
  smooth.sort((a, b) => a - b);
  const mean = (/** @type {number} */ first, /** @type {number} */ last) => {
    const begin = Math.trunc(first * smooth.length),
      end = last * smooth.length, // rounded to the even number between two
      even = end % 1 === 0.5 ? 2 * Math.round(end / 2) : Math.round(end),
      part = smooth.slice(begin, Math.max(begin + 1, even));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  };
  return [mean(0, 1 / 8), mean(3 / 8, 5 / 8)];
}

/** Return what is subtracted from the smooth counts of a view.
 * @param {(number[]|null)[]} found of each of the probe's scales @param {number[]} weights @param {number} depth */
export function countOffset(found, weights, depth) {
  let [sum, lowest, median] = [0, 0, 0];
  found.forEach((means, k) => {
    if (!means) return;
    sum += weights[k];
    lowest += weights[k] * means[0];
    median += weights[k] * means[1];
  });
  if (!sum) return 0;
  lowest /= sum;
  median /= sum;
  const most = Math.max(0, lowest - 1 - 0.2 * (median - lowest));
  const offset = 1 + median - (1 + median) ** (1 - depth) * (1 + median - most) ** depth;
  return Math.round(256 * Math.max(0, offset)) / 256;
}

/** Return the width that a probe of a scale sees. @param {Plan} plan @param {number} octaves */
export const widened = (plan, octaves) => mul(plan.width, ofDouble(2 ** octaves));
