/**
 * What a deep view needs before it is drawn: its reference orbit, the limit of iterations and the count offset, as of
 * `fractals.rendering.perturb`. Loaded when a deep view is asked for.
 */
import {
  HALF,
  ZERO,
  abs,
  add,
  decimal,
  div,
  less,
  log2,
  mul,
  power,
  ratio,
  toDouble,
} from "./exact.js";
import { until } from "./orbit.js";
import { shallowLimit } from "./plan.js";
import { elsewhere } from "./said.js";

/** @typedef {import("./plan.js").Plan} Plan */
/** @typedef {import("./deep.js").DeepJob} DeepJob */
/** @typedef {import("./orbit.js").Orbit} Orbit */
/** @typedef {import("./views.js").Draw} Draw */

const MOST_ORBITS = 4, // that are kept
  // Of an orbit, with tables of some 100 bytes a step in a worker. Samples beyond its end are rebased, as they are at a period
  MOST_STEPS = 2 ** 22;
/** @type {Map<string, {most: number, orbit: Orbit}>} */
const kept = new Map();

/** Tell whether more steps would add nothing. @param {Orbit} orbit */
const isWhole = ({ period, escaped }) => period > 0 || escaped;

/** Return the reference orbits of a view, of at most some steps: that of its center, and that of 0 of a Julia set.
 * @param {Plan} plan @param {Draw} draw @param {number} wanted @returns {Promise<Orbit[]>} */
async function orbitsOf(plan, draw, wanted) {
  const most = Math.min(wanted, MOST_STEPS),
    zero = [ZERO, ZERO];
  const own = await orbitOf(plan, draw, most, plan.julia ? plan.center : zero);
  return plan.julia ? [own, await orbitOf(plan, draw, most, zero)] : [own];
}

/** Return the orbit of a point. @param {Plan} plan @param {Draw} draw @param {number} most
 * @param {import("./exact.js").Ratio[]} first @returns {Promise<Orbit>} */
async function orbitOf(plan, draw, most, first) {
  const { bits, center, width, size, radius, degree, periodic } = plan,
    file = plan.moves ? plan.file : plan.probe.file, // other statistics are of the same orbit
    reach = mul(width, ratio(Math.max(...size), size[0])), // twice the view's radius
    exponent = Math.floor(log2(reach)) + 1,
    gate = /** @type {[number, number]|null} */ (
      periodic ? [toDouble(div(reach, power(exponent))), exponent] : null
    );
  const [start, c] = [first, plan.julia?.map(decimal) ?? center].map((point) =>
      point.map(({ n, d }) => (n << BigInt(bits)) / d),
    ),
    key = [file, ...start, ...c, bits, radius, gate].join();
  let known = kept.get(key);
  if (!known || !(isWhole(known.orbit) || known.orbit.repeats || known.most >= most)) {
    const asked = { start, c, bits, most, escapeRadius: radius, gate, degree };
    known = { most, orbit: (await draw({ want: "orbit", file, asked })).orbit };
  }
  if (known.orbit.unsure) throw new Error(elsewhere("escape_radius"));
  kept.delete(key); // the newest comes last
  kept.set(key, known);
  for (const oldest of kept.keys()) if (kept.size > MOST_ORBITS) kept.delete(oldest);
  return isWhole(known.orbit) ? known.orbit : until(known.orbit, most);
}

/** Return orbits behind each other, as programs read them. @param {Orbit[]} orbits */
function joined(orbits) {
  const [{ points, tiny, columns }, other] = orbits,
    last = points.length / columns - 1;
  if (!other) return { points, tiny, columns, ends: [last] };
  const all = new Float64Array(points.length + other.points.length);
  all.set(points);
  all.set(other.points, points.length);
  const later = other.tiny.map((value, k) => (k % 4 ? value : value + last + 1));
  return {
    points: all,
    tiny: Float64Array.from([...tiny, ...later]),
    columns,
    ends: [last, all.length / columns - 1],
  };
}

/** Return the exponent of two above all parts of samples' distances from the center. @param {Plan} plan */
function reachOf({ axes, width, size }) {
  const pixel = div(width, ratio(size[0])),
    [across, down] = [add(width, pixel), mul(pixel, ratio(size[1] + 1))];
  const [a, b, c, d] = axes.map(abs);
  const parts = [
    [a, b],
    [c, d],
  ].map(([p, q]) => add(mul(p, across), mul(q, down)));
  return Math.ceil(log2(mul(less(parts[0], parts[1]) ? parts[1] : parts[0], HALF)));
}

/** Return the limit of a deep picture from the probe's counts under a limit; null: those under 4 times the limit are needed.
 * @param {SiteFacts} facts @param {Int32Array} counts @param {number} limit @param {number} least @param {number|null} before
 * samples that had not escaped at the limit before @param {number} patience */
function deepLimit({ deep, probe }, counts, limit, least, before, patience) {
  const escaped = counts.filter((count) => count < limit),
    inside = counts.length - escaped.length;
  const few = before !== null && before - inside <= deep.changed * counts.length,
    settled = few && (escaped.length > 0 || limit >= patience);
  if (inside && !settled && 4 * limit <= probe.most) return null;
  const found = escaped.length ? 4 * escaped.reduce((a, b) => Math.max(a, b), 0) : limit;
  return Math.min(Math.max(found, least), probe.most);
}

/** Return the limit of a deep view, that of a probe of the count offset, and what samples are iterated along.
 * @param {SiteFacts} facts @param {Plan} plan @param {Draw} draw
 * @param {(size: number[], limit: number, deep: DeepJob) => Promise<Int32Array>} look returns counts
 * @param {() => Promise<number>} direct returns the limit of a small picture that is not deep
 * @returns {Promise<{limit: number, enough: number, deep: DeepJob}>} */
export async function settleDeep(facts, plan, draw, look, direct) {
  const own = facts.deep,
    { probe } = facts,
    { least } = plan;
  let orbits = /** @type {Orbit[]} */ ([]),
    deep = /** @type {DeepJob|null} */ (null);
  const lengths = (/** @type {Orbit[]} */ all) => all.map(({ points }) => points.length);
  const use = async (/** @type {number} */ most) => {
    const found = await orbitsOf(plan, draw, most);
    if (!deep || lengths(found).join() !== lengths(orbits).join())
      deep = {
        ...joined(found),
        julia: plan.julia !== null,
        exponent: plan.exponent,
        width: toDouble(div(plan.width, power(plan.exponent))),
        reach: reachOf(plan),
        radius: plan.radius,
      };
    orbits = found;
    return deep;
  };
  const prepare = async (/** @type {number} */ limit) =>
    deep && orbits.every(isWhole) ? deep : use(limit);
  if (plan.auto && plan.probedDirect) {
    const limit = await direct();
    return { limit, enough: limit, deep: await use(limit) };
  }
  if (!plan.auto && plan.limit <= own.first)
    return { limit: plan.limit, enough: plan.limit, deep: await use(plan.limit) };
  deep = await use(plan.periodic ? own.first : own.next);
  if (/** @type {Orbit[]} */ (orbits)[0].repeats) deep = await use(own.next);
  const length = Math.max(...lengths(orbits)) / deep.columns,
    begin = Math.max(1024, isWhole(orbits[0]) ? 4 * length : length);
  const settled = async (patience = 0) => {
    let before = /** @type {number|null} */ (null);
    for (let limit = begin; ; limit *= 4) {
      if (before !== null) deep = await prepare(limit);
      const counts = await look(probe.size, limit, /** @type {DeepJob} */ (deep)),
        found = deepLimit(facts, counts, limit, least, before, patience);
      if (found !== null) return found;
      before = counts.reduce((sum, count) => sum + Number(count === limit), 0);
    }
  };
  if (!plan.auto) {
    const enough = Math.min(await settled(own.patience), plan.limit);
    return { limit: plan.limit, enough, deep: await prepare(enough) };
  }
  if (plan.depth === 1) {
    const limit = await settled();
    return { limit, enough: limit, deep };
  }
  for (let tried = least; ; tried *= 4) {
    deep = await prepare(tried);
    const counts = await look(probe.limitSize, tried, deep),
      limit = shallowLimit(probe, counts, tried, least);
    if (limit !== null) return { limit, enough: limit, deep };
  }
}
