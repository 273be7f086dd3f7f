/** Two versions compared: one over the other up to a line, or beside each other, and what differs in their scenes. */
import { html, useEffect, useSignal } from "../html.js";
import { kept } from "../state.js";
import { Button, captured, Drawn, Segments, Still } from "../ui.js";
import { say, words } from "../words.js";
import { differencesOf } from "../versions.js";
import { gradient, paletteTitle } from "./colors.js";
import { drawFirst } from "./previews.js";

/** @typedef {import("../versions.js").Version} Version */

const WIDTH = 1024; // pixels of a picture
const MOST = 40; // differences that are listed
const LONGEST = 60; // characters of a value
const SIDES = ["A", "B"];

/** Return a value of a scene as text, cut short. @param {unknown} value */
function shown(value) {
  if (value === undefined) return "–";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A value of a scene; palettes are seen. @param {{path: string[], value: unknown, catalog: Received.Catalog}} options */
function Value({ path, value, catalog }) {
  const [table, ...keys] = path,
    last = table === "color" ? keys.at(-1) : "";
  if (!value || value === "auto" || !["palette", "stops"].includes(last ?? "")) return shown(value);
  const palette = /** @type {Palette} */ (last === "stops" ? { stops: value } : value);
  const name = last === "palette" && paletteTitle(palette, catalog);
  return html`<span class="chip" style=${{ background: gradient(palette, catalog) }}></span> ${name}`;
}

/** @param {{explorer: import("../explorer.js").Explorer, pair: Version[], titleOf: (version: Version) => string,
 *   show: (version: Version) => void, star: (version: Version) => void, back: () => void}} given */
export function Compared({ explorer, pair, titleOf, show, star, back }) {
  const drawn = useSignal(/** @type {Record<string, HTMLCanvasElement>} */ ({})),
    cut = useSignal(0.5),
    way = useSignal(kept.get("versions.way", "line")),
    wrong = useSignal("");
  const ids = pair.map(({ id }) => id).join();
  useEffect(() => {
    drawn.value = {};
    wrong.value = "";
    const sheet = drawFirst(
      explorer,
      { scenes: pair.map(({ scene }) => scene), width: WIDTH },
      (index, { picture }) => {
        drawn.value = { ...drawn.value, [pair[index].id]: picture };
      },
    );
    sheet.done.catch((/** @type {Error & {cancelled?: boolean}} */ error) => {
      if (!error.cancelled) wrong.value = error.message; // small pictures stay
    });
    return sheet.cancel;
  }, [ids]);
  const put = (/** @type {number} */ share) => {
    cut.value = Math.min(1, Math.max(0, share));
  };
  const step = (/** @type {KeyboardEvent} */ event) => {
    const by = /** @type {Record<string, number>} */ ({ ArrowLeft: -0.02, ArrowRight: 0.02 })[
      event.key
    ];
    if (by) (event.preventDefault(), put(cut.value + by));
  };
  const drag = (/** @type {PointerEvent} */ event) => {
    const line = /** @type {HTMLElement} */ (event.currentTarget),
      box = /** @type {HTMLElement} */ (line.parentElement).getBoundingClientRect();
    if (line.hasPointerCapture(event.pointerId)) put((event.clientX - box.left) / box.width);
  };
  const picture = (/** @type {Version} */ { id, still }) =>
    drawn.value[id]
      ? html`<${Drawn} key=${`drawn ${id}`} picture=${drawn.value[id]} />`
      : still
        ? html`<${Still} src=${still} />`
        : html`<span class="empty"></span>`;
  const differences = differencesOf(pair[0].scene, pair[1].scene),
    over = way.value === "line",
    [width, height] = pair[0].scene.image?.size ?? explorer.size;
  const style = { aspectRatio: `${width} / ${height}` };
  return html`<div class="stack compared">
    <div class="line wrap"><${Button} label=${say("all_versions")} symbol="back" kind="quiet" onClick=${back} /><div class="grow"><${Segments} label=${say("how_two_are_compared")} choices=${[
      ["line", say("up_to_a_line")],
      ["beside", say("beside_each_other")],
    ]} value=${way.value} put=${(/** @type {string} */ wanted) => {
      way.value = wanted;
      kept.set("versions.way", wanted);
    }} /></div></div>
    <p class="hint wrong" role="alert" hidden=${!wrong.value}>${wrong.value}</p>
    ${
      over
        ? html`<div class="pair over-each-other" style=${style}>${picture(pair[1])}<div class="laid" style=${{ clipPath: `inset(0 ${100 * (1 - cut.value)}% 0 0)` }}>${picture(pair[0])}</div>
        <span class="side-name">${SIDES[0]}</span><span class="side-name right">${SIDES[1]}</span>
        <div class="split inside" role="slider" tabindex="0" aria-label=${say("where_ends", { title: titleOf(pair[0]) })} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(100 * cut.value)} style=${{ left: `${100 * cut.value}%` }} onKeyDown=${step} onPointerMove=${drag} onPointerDown=${captured}></div></div>`
        : html`<div class="pair beside-each-other">${pair.map((version, k) => html`<div key=${version.id} style=${style}>${picture(version)}<span class="side-name">${SIDES[k]}</span></div>`)}</div>`
    }
    <div class="pair-names">${pair.map(
      (version, k) =>
        html`<div key=${version.id} class="line wrap"><span class="strong">${SIDES[k]}</span><span class="grow">${titleOf(version)}</span>
      <${Button} label=${say(version.star ? "without_a_star" : "with_a_star", { name: titleOf(version) })} symbol="star" bare kind=${`quiet ${version.star ? "starred" : ""}`} aria-pressed=${String(version.star)} onClick=${() => star(version)} /><${Button} label=${say("show_this_one")} kind="quiet" aria-label=${say("show_name", { name: titleOf(version) })} onClick=${() => show(version)} /></div>`,
    )}</div>
    <table class="differences"><caption>${differences.length ? say("what_differs") : say("nothing_differs")}</caption><tbody>${differences
      .slice(0, MOST)
      .map(
        ({ path, one, other }) =>
          html`<tr key=${path.join(".")}><th scope="row">${path.map((part) => (/^\d+$/.test(part) ? Number(part) + 1 : words(part))).join(" · ")}</th>${[one, other].map((value) => html`<td class="mono"><${Value} path=${path} value=${value} catalog=${explorer.catalog} /></td>`)}</tr>`,
      )}</tbody></table></div>`;
}
