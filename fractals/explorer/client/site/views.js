/** What a view needs before it is drawn: the limit of iterations and the count offset, from probes of the view. */
import { countOffset, directOf, gridOf, lowestAndMedian, shallowLimit, widened } from "./plan.js";

/** @typedef {(job: import("./pool.js").Asked) => Promise<import("./pool.js").Found>} Draw */
/** @typedef {{limit: number, offset: number, deep: import("./deep.js").DeepJob|null}} Settled */

const LONG = 2 ** 22; // a limit that a probe of the count offset does not follow

/** Return the limit and the count offset of a view, and what a deep one's samples are iterated along.
 * @param {SiteFacts} facts @param {import("./plan.js").Plan} plan @param {Draw} draw @returns {Promise<Settled>} */
export async function settle(facts, plan, draw) {
  const { probe } = facts,
    direct = directOf(plan);
  let deep = /** @type {Settled["deep"]} */ (null);
  const look = (
    /** @type {number[]} */ size,
    /** @type {number} */ limit,
    width = plan.width,
    own = plan,
  ) =>
    draw({
      ...own,
      ...gridOf(own, size, 1, width),
      ...(own.bits ? own.probe : {}), // statistics of orbits need every step, which a probe skips
      ...{
        deep: own.bits ? deep : null,
        n: 1,
        limit,
        offset: 0,
        want: /** @type {const} */ ("raw"),
      },
    });
  const searched = async () => {
    for (let limit = plan.least; ; limit *= 4) {
      const { count } = await look(probe.limitSize, limit, plan.width, direct);
      const found = shallowLimit(probe, count, limit, plan.least);
      if (found !== null) return found;
    }
  };
  let limit = plan.limit,
    enough = limit;
  if (plan.bits) {
    const { settleDeep } = await import("./deep-views.js");
    const counts = async (
      /** @type {number[]} */ size,
      /** @type {number} */ most,
      /** @type {Settled["deep"]} */ own,
    ) => {
      deep = own;
      return (await look(size, most)).count;
    };
    ({ limit, enough, deep } = await settleDeep(facts, plan, draw, counts, searched));
  } else if (plan.auto) limit = enough = await searched();
  if (!plan.depth) return { limit, offset: 0, deep };
  if (!deep && limit > LONG && !plan.auto) enough = Math.min(limit, await searched());
  const found = [];
  for (const [octaves] of probe.scales) {
    const raw = await look(probe.size, enough, widened(plan, octaves));
    found.push(lowestAndMedian(plan.fraction, /** @type {any} */ (raw), enough));
  }
  const weights = probe.scales.map(([, weight]) => weight);
  return { limit, offset: countOffset(found, weights, plan.depth), deep };
}
