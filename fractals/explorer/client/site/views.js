/** What a view needs before it is drawn: the limit of iterations and the count offset, from probes of the view. */
import { countOffset, gridOf, lowestAndMedian, shallowLimit, widened } from "./plan.js";

const LONG = 2 ** 22; // a limit that a probe of the count offset does not follow

/** Return the limit and the count offset of a view.
 * @param {SiteFacts} facts @param {import("./plan.js").Plan} plan
 * @param {(job: import("./drawer.js").Job) => Promise<import("./drawer.js").Found>} draw
 * @returns {Promise<{limit: number, offset: number}>} */
export async function settle({ probe }, plan, draw) {
  const look = (/** @type {number[]} */ size, /** @type {number} */ limit, width = plan.width) =>
    draw({ ...plan, ...gridOf(plan, size, 1, width), n: 1, limit, offset: 0, want: "raw" });
  const searched = async () => {
    for (let limit = plan.limit; ; limit *= 4) {
      const { count } = await look(probe.limitSize, limit);
      const found = shallowLimit(probe, count, limit, plan.limit);
      if (found !== null) return found;
    }
  };
  const limit = plan.auto ? await searched() : plan.limit;
  if (!plan.depth) return { limit, offset: 0 };
  const enough = limit > LONG && !plan.auto ? Math.min(limit, await searched()) : limit;
  const found = [];
  for (const [octaves] of probe.scales) {
    const raw = await look(probe.size, enough, widened(plan, octaves));
    found.push(lowestAndMedian(plan.fraction, /** @type {any} */ (raw), enough));
  }
  const weights = probe.scales.map(([, weight]) => weight);
  return { limit, offset: countOffset(found, weights, plan.depth) };
}
