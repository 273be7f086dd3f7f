/** The find panel: minibrots, embedded Julia sets and periods of the view, and the flight there. */

import { addCommands } from "../keys.js";
import { button, element, progress, section, still } from "../ui.js";
import { difference, path } from "./flight.js";

const SIXTEENTHS = 16;
const STEPS = 64; // of an octave

export function findPanel({ explorer, notify }) {
  let job = null;
  let flight = null;
  const bar = progress(() => cancel());
  const found = element("dl.facts", { "aria-live": "polite" });

  function cancel() {
    const busy = Boolean(job || flight);
    job?.cancel();
    flight?.stop();
    return busy;
  }

  async function search(message, title) {
    cancel();
    found.replaceChildren();
    bar.show(null, title);
    const mine = explorer.job({ t: "find", ...message }, (told) => {
      if (told.t === "progress") bar.show(told.of ? told.done / told.of : null, told.what);
    });
    job = mine;
    try {
      const answer = await mine.done;
      job = null;
      facts(answer);
      if (answer.scene) await fly(mine.id, answer);
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (job === mine) job = null;
      if (!job) bar.hide();
    }
  }

  function facts(answer) {
    const lines = [["Period", answer.period?.toLocaleString("en")], ["Size", answer.size], ["Turned by", answer.angle === undefined ? null : `${Math.round(answer.angle)}°`]];
    found.replaceChildren(...lines.filter(([, value]) => value !== null && value !== undefined).flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, String(value))]));
  }

  /** Fly to what was found, then open it: exact, and upright. */
  async function fly(id, { center, scene, octaves }) {
    const first = explorer.placed;
    if (still() || !center || octaves === undefined || first.formula === undefined) return explorer.open({ scene });
    const offset = () => {
      const { center: middle, width, rotation, size } = explorer.placed;
      const [x, y] = [0, 1].map((k) => difference(center[k], middle[k], width) * size[0]);
      const turn = (-rotation * Math.PI) / 180;
      const up = explorer.scene.view?.mirror ? y : -y;
      // Pixels, y down; the view's rotation turns the picture back.
      return [x * Math.cos(turn) + up * Math.sin(turn), -x * Math.sin(turn) + up * Math.cos(turn)];
    };
    const start = offset();
    const way = path(Math.hypot(...start) / first.size[0], octaves - first.octaves);
    flight = { stop: () => ((flight.stopped = true), null), stopped: false };
    const mine = flight;
    const stopped = () => mine.stop();
    explorer.addEventListener("gesture", stopped, { once: true });
    bar.show(0, "Flying there");
    const began = performance.now();
    await new Promise((resolve) => {
      const step = () => {
        const time = (performance.now() - began) / 1000;
        if (mine.stopped || time >= way.seconds) return resolve();
        const { octaves: in_, share } = way.at(time);
        bar.show(time / way.seconds, "Flying there");
        const placed = explorer.placed;
        const here = offset();
        // The similarity from the placed view to the wanted one: the target keeps its digits.
        const scale = Math.round((first.octaves + in_ - placed.octaves) * STEPS);
        const wanted = start.map((value) => value * (1 - share) * 2 ** in_);
        const by = wanted.map((value, k) => Math.round((value - here[k]) * SIXTEENTHS));
        const at = here.map((value, k) => Math.round((value + placed.size[k] / 2) * SIXTEENTHS));
        if (scale > 0 && by.every((value) => Math.abs(value) < 2 ** 20)) explorer.move({ about: id, at, by, scale, stage: "moving", step: "flight" });
        return next(resolve, step);
      };
      step();
    });
    explorer.removeEventListener("gesture", stopped);
    flight = null;
    if (!mine.stopped) explorer.open({ scene });
  }
  /** Call `step` in the frame after the newest move was placed: moves are relative to it. */
  function next(resolve, step) {
    const go = () => requestAnimationFrame(step);
    explorer.addEventListener("placed", go, { once: true });
  }

  const nucleus = () => search({ what: "nucleus" }, "Searching for a minibrot");
  const embedded = (fraction, name) => () => search({ what: "julia", fraction }, `Searching for the Julia set at ${name}`);
  const node = element("div.stack", {},
    element("p.hint", {}, "Small copies of the set lie in every view of its border. Draw a box with Shift to search in a part of the view."),
    button("Fly to the minibrot", nucleus, { kind: "primary wide-button" }),
    bar, found,
    section("Embedded Julia sets", true,
      element("p.hint", {}, "On the way to the minibrot, at this share of the depth."),
      element("div.segments", { role: "group", "aria-label": "Share of the depth" },
        [[0.5, "1/2"], [0.75, "3/4"], [0.875, "7/8"]].map(([fraction, name]) => button(name, embedded(fraction, name), { "aria-label": `Julia set at ${name} of the depth` })))),
    section("More", true, element("div.line", {},
      button("Period of the view", () => search({ what: "period" }, "Computing the period"), { kind: "quiet" }),
      button("Misiurewicz point", () => search({ what: "misiurewicz" }, "Searching for a Misiurewicz point"), { kind: "quiet" }))));
  return { node, nucleus, cancel, rect: (rect) => search({ what: "nucleus", rect }, "Searching for a minibrot in the box") };
}

/** The keys of the find panel work while it is closed: they open it. */
export function findCommands({ open }) {
  const panel = () => open("find", { focus: false });
  addCommands(
    { id: "nucleus", group: "Find", title: "Fly to the minibrot in view", keys: ["n"], run: () => void panel().nucleus() },
  );
}
