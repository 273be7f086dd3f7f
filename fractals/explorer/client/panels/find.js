/** The find panel: minibrots, embedded Julia sets and periods of the view, and the flight there. */

import { addCommands } from "../keys.js";
import { button, element, narrow, progress, section, still } from "../ui.js";
import { difference, path } from "./flight.js";
import { decimal } from "./scale.js";

const SIXTEENTHS = 16;
const STEPS = 64; // of an octave

export function findPanel({ explorer, notify, julia, close }) {
  let job = null;
  let flight = null;
  let flights = 0; // so far
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
      if (answer.scene) await fly(answer);
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (job === mine) job = null;
      if (!job) bar.hide();
    }
  }

  function facts(answer) {
    const lines = [["Period", answer.period?.toLocaleString("en")], ["Size", answer.size && decimal(answer.size)], ["Turned by", answer.angle === undefined ? null : `${Math.round(answer.angle)}°`]];
    found.replaceChildren(...lines.filter(([, value]) => value !== null && value !== undefined).flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, String(value))]));
  }

  /** Fly to what was found, then open it: exact, and upright. */
  async function fly({ center, scene, octaves }) {
    if (narrow()) close(); // the sheet would cover the minibrot; a touch still ends the flight
    flights += 1;
    const first = explorer.placed;
    const { mirror, stretch } = explorer.scene.view ?? {};
    const plain = center && Number.isFinite(octaves) && (stretch ?? 1) === 1 && !first.julia;
    if (plain && !still()) {
      const start = offset(center, explorer, mirror);
      const way = path(Math.hypot(...start) / first.size[0], octaves - first.octaves);
      bar.show(0, "Flying there");
      if (!(await along(way, center, mirror, start, first.octaves))) return;
    }
    explorer.open({ scene }, `flight ${flights}`);
  }

  /** Move the picture along a path. Return false if the user stopped it. */
  function along(way, center, mirror, start, octaves) {
    return new Promise((resolve) => {
      let time = 0;
      const end = (arrived) => {
        stop();
        flight = null;
        explorer.removeEventListener("gesture", interrupt);
        resolve(arrived);
      };
      const interrupt = () => end(false);
      const stop = explorer.animate((seconds) => {
        time += seconds;
        const { octaves: deeper, share } = way.at(time);
        bar.show(time / way.seconds, "Flying there");
        // Each move is relative to the newest frame, whose text is exact, so errors do not add up.
        const [a, b, c, d, e, f] = explorer.map;
        const { size, octaves: placed } = explorer.placed;
        const [x, y] = offset(center, explorer, mirror).map((value, k) => value + size[k] / 2);
        const here = [a * x + b * y + e, c * x + d * y + f];
        const scale = Math.round(STEPS * (octaves + deeper - placed - Math.log2(Math.hypot(a, c))));
        const by = start.map((value, k) => explorer.size[k] / 2 + value * (1 - share) * 2 ** deeper - here[k]);
        if (scale > 0) explorer.move({ at: sixteenths(here), by: sixteenths(by), scale, stage: "moving", focus: sixteenths(here), step: `flight ${flights}` });
        if (time >= way.seconds) end(true);
      });
      explorer.addEventListener("gesture", interrupt);
      flight = { stop: interrupt };
    });
  }

  const nucleus = () => search({ what: "nucleus" }, "Searching for a minibrot");
  const embedded = (fraction, name) => () => search({ what: "julia", fraction }, `Searching for the Julia set at ${name}`);
  const node = element("div.stack", {},
    element("p.hint", {}, "Small copies of the set lie in every view of its border. While this panel is open, a box drawn with Shift searches a part of the view."),
    button("Fly to the minibrot", nucleus, { kind: "primary wide-button" }),
    bar, found,
    button("Julia set of the middle", () => julia.enter(true), { kind: "wide-button" }),
    matchMedia("(any-pointer: coarse)").matches && button("Preview Julia sets by touch", () => (julia.preview(), narrow() && close()), { kind: "wide-button" }),
    section("Embedded Julia sets", true,
      element("p.hint", {}, "On the way to the minibrot, at this share of the depth."),
      element("div.segments", { role: "group", "aria-label": "Share of the depth" },
        [[0.5, "1/2"], [0.75, "3/4"], [0.875, "7/8"]].map(([fraction, name]) => button(name, embedded(fraction, name), { "aria-label": `Julia set at ${name} of the depth` })))),
    section("More", true, element("div.line", {},
      button("Period of the view", () => search({ what: "period" }, "Computing the period"), { kind: "quiet" }),
      button("Misiurewicz point", () => search({ what: "misiurewicz" }, "Searching for a Misiurewicz point"), { kind: "quiet" }))));
  explorer.addEventListener("selection", (event) => {
    if (!node.isConnected) return;
    event.preventDefault();
    search({ what: "nucleus", rect: event.detail.rect }, "Searching for a minibrot in the box");
  });
  return { node, nucleus, cancel };
}

const sixteenths = (point) => point.map((value) => Math.round(SIXTEENTHS * value));

/** Return where a point of the plane lies, in pixels from the middle of the placed frame, y down. */
function offset(center, { placed }, mirror) {
  const [x, y] = [0, 1].map((k) => difference(center[k], placed.center[k], placed.width) * placed.size[0]);
  const turn = (-placed.rotation * Math.PI) / 180;
  const up = x * Math.sin(turn) + y * Math.cos(turn);
  return [x * Math.cos(turn) - y * Math.sin(turn), mirror ? up : -up];
}

/** The keys of the find panel work while it is closed: they open it. */
export function findCommands({ open }) {
  const panel = () => open("find", { focus: false });
  addCommands(
    { id: "nucleus", group: "Find", title: "Fly to the minibrot in view", keys: ["n"], run: () => void panel().nucleus() },
  );
}
