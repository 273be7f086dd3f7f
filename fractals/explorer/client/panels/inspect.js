/** The inspect panel: the point under the pointer with all digits, count, value, distance, period. */
import { html, useSignalEffect } from "../html.js";
import { observe } from "../state.js";
import { Button, copyText, Row, Section, TextField, Toggle, touched } from "../ui.js";
import { number, say, within } from "../words.js";
import { limitField, PLACE, pointField } from "../written.js";
import { whatIs } from "./find.js";

const REST_MS = 80; // of the pointer, before its point is asked for

export function inspectPanel(/** @type {Context} */ { explorer, canvas, notify }) {
  const own = observe({
    full: false,
    point: /** @type {{x: number, y: number}|null} */ (null),
    told: /** @type {Received.Picked|null} */ (null),
  }); // `point`: in device pixels; null: the middle
  const pointed = () => {
    own.point = explorer.pointer ?? own.point;
  };
  explorer.addEventListener("pointer", pointed);
  canvas.addEventListener("blur", () => {
    own.point = null;
  });

  async function pick() {
    if (!explorer.placed) return;
    const { x, y } = own.point ?? {
      x: explorer.placed.size[0] / 2,
      y: explorer.placed.size[1] / 2,
    };
    try {
      const told = await explorer.request(
        {
          t: "pick",
          at: [Math.round(16 * x), Math.round(16 * y)],
          ...(own.full && { full: true }),
        },
        true,
      );
      if (told) own.told = told; // if not, a newer point was asked for
    } catch (error) {
      notify(error.message, "error");
    }
  }

  function Coordinate(/** @type {{name: string, digits: string}} */ { name, digits }) {
    const count = digits.replace(/e.*$/i, "").replace(/\D/g, "").replace(/^0+/, "").length;
    return html`<div class="coordinate">
      <div class="line"><span class="grow strong">${name}</span><span class="faint">${count > 20 && say("digits", { count })}</span>
        <${Button} label=${say("copy_name", { name: within(name) })} symbol="copy" bare kind="quiet" onClick=${() => copyText(digits, notify)} /></div>
      <output class="digits mono" tabindex="0" aria-label=${name}>${digits}</output></div>`;
  }

  /** Fields: the middle of the picture, and how much of the plane it shows. */
  function Place(
    /** @type {{center: string[], zoom: string, width: string, rotation: number}} */ {
      center: [x, y],
      zoom,
      width,
      rotation,
    },
  ) {
    /** @type {[string, string, (text: string) => Read, (value: any) => Parameters<typeof explorer.place>[0]][]} */
    const fields = [
      [
        say("center_real_part"),
        x,
        PLACE.center,
        (value) => (asked) => ({ center: [value, asked.center?.[1] ?? y] }),
      ],
      [
        say("center_imaginary_part"),
        y,
        PLACE.center,
        (value) => (asked) => ({ center: [asked.center?.[0] ?? x, value] }),
      ],
      [say("zoom"), zoom, PLACE.zoom, (value) => ({ zoom: value })],
      [say("picture_width"), width, PLACE.width, (value) => ({ width: value })],
      [
        say("rotation_in_degrees"),
        String(rotation),
        PLACE.rotation,
        (value) => ({ rotation: value }),
      ],
    ];
    return html`${fields.map(
      ([label, text, read, view]) => html`<${Row} key=${label} label=${label}
      control=${(/** @type {string} */ id) => html`<${TextField} id=${id} class="mono" value=${text} read=${read} put=${(/** @type {string|number} */ value) => explorer.place(view(value))} />`} />`,
    )}
      <p class="hint">${say("a_place_a_link_or")}</p>`;
  }

  /** A field: after how many steps iterating ends. */
  function Limit() {
    const { max_iterations: limit = "auto" } = explorer.wished.iteration ?? {};
    return html`<${Row} label=${say("limit_of_iterations")} hint=${say("auto_takes_as_many")} control=${(
      /** @type {string} */ id,
    ) =>
      html`<${TextField} id=${id} class="mono" value=${limit} read=${limitField} put=${(
        /** @type {number|"auto"} */ max_iterations,
      ) => explorer.changeIn("iteration", { max_iterations })} />`} />`;
  }

  /** Fields: where the camera of a solid stands, and at which point it looks. */
  function Camera(/** @type {{space: Received.SpaceFacts}} */ { space }) {
    const field = (/** @type {string} */ label, /** @type {"position"|"target"} */ name) =>
      html`<${Row} label=${label} control=${(
        /** @type {string} */ id,
      ) => html`<${TextField} id=${id} class="mono"
      value=${space[name].map((part) => Number(part.toPrecision(7))).join(", ")} read=${pointField} put=${(
        /** @type {number[]} */ numbers,
      ) => explorer.changeIn("camera", { [name]: numbers })} />`} />`;
    return html`${field(say("position"), "position")}${field(say("looks_at"), "target")}`;
  }

  function View() {
    useSignalEffect(() => {
      if (!explorer.placed || explorer.placed.camera || (own.full, own.point) === undefined) return;
      const waiting = setTimeout(pick, REST_MS);
      return () => clearTimeout(waiting);
    });
    const {
      center = ["", ""],
      inside,
      count,
      value,
      distance,
      period,
    } = own.told ?? /** @type {Partial<Received.Picked>} */ ({});
    const facts = {
      [say("count")]: inside
        ? say("does_not_escape")
        : typeof count === "number"
          ? number(count)
          : null,
      [say("value")]: value === null || value === undefined ? null : Number(value).toPrecision(8),
      [say("distance")]: distance,
      [say("period")]: period ? number(period) : null,
    };
    if (explorer.placed?.space)
      return html`<div><${Section} title=${say("place_of_the_camera")}><${Camera} space=${explorer.placed.space} /><//></div>`;
    return html`<div>
      ${
        !explorer.placed?.values
          ? html`<p class="hint">${say("counts_distances_and_periods_are", { kind: whatIs(explorer) })}</p>`
          : html`<${Section} title=${!own.point ? say("point_in_the_middle") : touched() ? say("point_touched_last") : say("point_under_the_pointer")} name="point">
        <dl class="facts" aria-live="polite">${Object.entries(facts).map(([name, text]) => html`<dt key=${name}>${name}</dt><dd>${text ?? "–"}</dd>`)}</dl>
        <${Toggle} label=${say("distance_and_period_which_take")} about=${say("how_far_the_point_is")} value=${own.full} put=${(
          /** @type {boolean} */ full,
        ) => {
          own.full = full;
        }} /><//>`
      }
      <${Section} title=${say("coordinates")}>
        <${Coordinate} name=${say("real_part")} digits=${center[0]} /><${Coordinate} name=${say("imaginary_part")} digits=${center[1]} /><//>
      ${
        explorer.placed &&
        html`<${Section} title=${say("place_of_the_picture")}><${Place} ...${explorer.placed} />
        ${explorer.placed.values && html`<${Limit} />`}<//>`
      }</div>`;
  }
  return { View, shown: pointed };
}
