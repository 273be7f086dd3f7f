/** The timeline of a film: small pictures along it, a moment to look at, and the times of its keys to drag. */
import { html, useEffect, useSignal } from "../html.js";
import { canvasOf } from "../picture.js";
import { Button, Drawn } from "../ui.js";
import { say, within } from "../words.js";
import { heightOf, rangeOf } from "./curves.js";
import { Ease, Graph } from "./graph.js";
import { Key, Tracks } from "./tracks.js";

const PICTURES = 6; // along the line
const WIDTHS = [96, 480]; // pixels of those, and of the moment that is looked at
const LEAST_GAP = 0.1; // seconds between two keys, at least
const STEP = 0.1; // seconds that an arrow key moves a key; ten times as many with Shift
const LONGEST = 1800; // seconds

const seconds = (/** @type {number} */ time) => `${Number(time.toFixed(2))} s`;

/** Return the times after one was moved: between its neighbors, the last one as far as a film may last.
 * @param {number[]} times @param {number} index @param {number} wish */
function retimed(times, index, wish) {
  const least = times[index - 1] + LEAST_GAP,
    most = (times[index + 1] ?? LONGEST + LEAST_GAP) - LEAST_GAP;
  return times.with(index, Math.round(100 * Math.max(least, Math.min(most, wish))) / 100);
}

/** @typedef {Omit<Asked<Sent.Moments>, "t"|"at"|"width">} Film */
/** @typedef {Pictured & {at: number, of: string, id: number}} Made */
/**
 * @param {{explorer: import("../explorer.js").Explorer, film: Film, length: number, backwards: boolean, keys: {title: string, at: number, ease?: string}[],
 *   depths: number[], put: (times: number[]) => void, ease: (index: number, name: EaseName) => void, tracks: import("./tracks.js").Track[], choices: import("./tracks.js").Choice[], putTracks: (tracks: import("./tracks.js").Track[]) => void}} options
 * `film`: keys of the message `moments`; `keys`: seconds of the film as it runs forwards; `depths`: log2(zoom) from its begin to its end
 */
export function Timeline({
  explorer,
  film,
  length,
  backwards,
  keys,
  depths,
  put,
  ease,
  tracks,
  choices,
  putTracks,
}) {
  const made = useSignal(/** @type {Made[]} */ ([])),
    moment = useSignal(/** @type {number|null} */ (null)),
    still = useSignal(/** @type {Made|null} */ (null));
  const drag = useSignal(/** @type {number[]|null} */ (null)),
    picked = useSignal(-1); // times of the keys, while one is dragged; the key that was touched last
  // One picture is drawn at a time, the moment first; `text`: of which film, "": none is drawn
  const lane = useSignal({ busy: false, text: "", failed: "", film, length, count: 0 }).peek();
  const shown = explorer.drawn?.pass === "exact" ? explorer.placed?.frame : 0,
    text = JSON.stringify([film, length, explorer.scene, shown]);

  async function draw() {
    if (lane.busy) return;
    lane.busy = true;
    while (lane.text && lane.text !== lane.failed) {
      const { text: of } = lane,
        wanted = moment.value,
        missing = made.value.length;
      const isMoment = wanted !== null && (still.value?.at !== wanted || still.value.of !== of);
      if (!isMoment && missing >= PICTURES) break;
      const at = isMoment ? wanted : (lane.length * (missing + 0.5)) / PICTURES;
      const job = explorer.job(
        { t: "moments", ...lane.film, at: [at], width: WIDTHS[Number(isMoment)] },
        (told) => {
          if (told.t !== "surprised" || lane.text !== of) return;
          const { scene, preview } = told;
          const found = {
            at,
            of,
            scene,
            picture: canvasOf(preview),
            id: (lane.count += 1),
          };
          if (isMoment) still.value = found;
          else made.value = [...made.value, found];
        },
      );
      await job.done.catch(() => {
        lane.failed = of;
      });
    }
    lane.busy = false;
  }
  useEffect(() => {
    made.value = [];
    Object.assign(lane, { film, length, text: shown ? text : "", failed: "" });
    draw();
    return () => {
      lane.text = "";
    };
  }, [text]);
  const lookAt = (/** @type {number} */ time) => {
    moment.value = time;
    draw();
  };
  const look = (/** @type {FieldEvent} */ { target }) => lookAt(Number(target.value));
  /** Show where the film is at the moment that is looked at. */
  const go = () => {
    const { view, camera } = still.value?.scene ?? {};
    explorer.open({ scene: { ...explorer.scene, view, ...(camera && { camera }) } });
  };

  const times = drag.value ?? keys.map(({ at }) => at),
    end = Math.max(length, times.at(-1) ?? 0);
  const move =
    (/** @type {number} */ index) => (/** @type {number} */ share, /** @type {boolean} */ live) => {
      const moved = retimed(
        keys.map(({ at }) => at),
        index,
        share * end,
      );
      if (live) drag.value = moved;
      else put(moved);
    };
  const pick = (/** @type {number} */ index) => () => {
    picked.value = index;
  };
  const range = rangeOf(depths.length ? depths : [0]),
    line = depths.map((depth, k) => [k / (depths.length - 1), depth]);
  const heightAt = (/** @type {number} */ at) =>
    depths.length
      ? heightOf(range, depths[Math.round(Math.min(1, at / length) * (depths.length - 1))])
      : 0.5;
  const done = () => {
    if (drag.value) put(drag.value);
    drag.value = null;
  };

  return html`<div class="timeline" role="group" aria-label=${say("timeline_of_the_film")}>
    ${still.value && html`<${Drawn} key=${still.value.id} picture=${still.value.picture} />`}
    <div class="film-strip">${Array.from({ length: PICTURES }, (_, k) => html`<span key=${k}>${made.value[k] && html`<${Drawn} key=${made.value[k].id} picture=${made.value[k].picture} />`}</span>`)}
      <input type="range" aria-label=${say("moment_of_the_film")} aria-valuetext=${seconds(moment.value ?? 0)} min="0" max=${length} step=${length / 200} value=${moment.value ?? 0} onInput=${look} /></div>
    ${
      keys.length > 0 &&
      html`<${Graph} line=${line} range=${range} moment=${(moment.value ?? 0) / end} backwards=${backwards} kind=${drag.value ? " stale" : ""}>${keys.map(
        (
          { title, at },
          index,
        ) => html`<${Key} key=${index} label=${say("time_of", { title })} title=${index ? `${title}: ${within(say("drag"))}` : title} text=${seconds(times[index])}
      share=${times[index] / end} height=${heightAt(at)} now=${times[index]} most=${LONGEST} step=${STEP / end} backwards=${backwards} disabled=${index === 0} kind=${index === picked.value ? " picked" : ""} move=${move(index)} done=${done} held=${pick(index)}>${index + 1}<//>`,
      )}<//>
      <p class="hint">${say("the_line_is_the_zoom")}</p>`
    }
    ${picked.value > 0 && keys[picked.value] && html`<${Ease} label=${say("the_film_comes_to", { title: keys[picked.value].title })} value=${keys[picked.value].ease} put=${(/** @type {EaseName} */ name) => ease(picked.value, name)} />`}
    <div class="line"><span class="grow faint">${
      drag.value
        ? `${keys.findLast(({ at }, k) => at !== times[k])?.title ?? ""} ${seconds(times.find((time, k) => time !== keys[k].at) ?? 0)}`
        : moment.value === null
          ? say("slide_along_the_film_to")
          : say("of", { value: seconds(moment.value), count: seconds(length) })
    }</span>
      ${still.value && html`<${Button} label=${say("go_there")} kind="quiet" title=${say("show_this_moment_in_the")} onClick=${go} />`}</div>
    <${Tracks} catalog=${explorer.catalog} tracks=${tracks} choices=${choices} length=${length} backwards=${backwards} moment=${moment.value ?? 0} put=${putTracks} look=${lookAt} /></div>`;
}
