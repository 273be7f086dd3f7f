/** The find panel: minibrots, embedded Julia sets and periods of the view, and the flight there. */
import { html } from "../html.js";
import { transport } from "../net.js";
import { observe } from "../state.js";
import { Button, Card, Drawn, narrow, Progress, Section, still } from "../ui.js";
import { number, ofServer, say, words } from "../words.js";
import { canFly, flyAlong, flyTo } from "./flight.js";
import { drawSheet } from "./previews.js";
import { decimal } from "./scale.js";

/** @type {[number, string][]} */
const SHARES = [
  [0.5, "1/2"],
  [0.75, "3/4"],
  [0.875, "7/8"],
];

export function findPanel(
  /** @type {Context} */ { explorer, canvas, notify, julia, ui, close, autopilot, second },
) {
  // Progress, what was found, and small pictures of the views of a solid
  const own = observe({
    told: /** @type {Told|null} */ (null),
    answer: /** @type {Received.Found|null} */ (null),
    flying: false, // to what was found
    views: /** @type {(Received.FoundView & {picture: HTMLCanvasElement})[]} */ ([]),
  });
  const lacking = transport.lacks("searches");
  let job = /** @type {Job|null} */ (null);
  let flight = /** @type {ReturnType<typeof flyTo>|null} */ (null);
  let sheet = /** @type {ReturnType<typeof drawSheet>|null} */ (null);
  let flights = 0, // so far
    hurried = false; // whether this one is left out

  function cancel() {
    const busy = Boolean(job || flight);
    job?.cancel();
    flight?.stop();
    return busy;
  }

  /** Leave the rest of a flight out: to a minibrot of 1e-700 it takes minutes. */
  function hurry() {
    hurried = true;
    canvas.focus({ preventScroll: true }); // the button goes with the flight
    flight?.stop();
  }

  async function search(
    /** @type {Omit<Asked<Sent.Find>, "t">} */ message,
    /** @type {string} */ title,
  ) {
    cancel();
    if (lacking) return notify(lacking);
    Object.assign(own, { answer: null, told: { share: null, text: title } });
    const mine = explorer.job({ t: "find", ...message }, (told) => {
      if (told.t !== "progress") return;
      const { of, done, what } = told;
      own.told = { share: of ? done / of : null, text: words(ofServer(what)) };
    });
    job = mine;
    try {
      const answer = await mine.done;
      job = null;
      own.answer = answer;
      if (answer.scene) await fly(answer);
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (job === mine) job = null;
      if (!job) own.told = null;
    }
  }

  /** Fly to what was found, then open it: exact, and upright. */
  async function fly(/** @type {Received.Found} */ { center, scene, octaves = null }) {
    if (narrow()) close(); // the sheet would cover the minibrot; a touch still ends the flight
    flights += 1;
    const step = `flight ${flights}`;
    if (center && octaves !== null && Number.isFinite(octaves) && canFly(explorer) && !still()) {
      hurried = false;
      own.flying = true;
      flight = flyTo(explorer, {
        center,
        octaves,
        step,
        told: (share) => {
          own.told = { share, text: say("flying_there") };
        },
      });
      const arrived = await flight.done;
      flight = null;
      own.flying = false;
      if (!arrived && !hurried) return;
    }
    explorer.open({ scene }, step, { aim: true });
  }

  /** Search for cameras near the surface of a solid. */
  async function cameras() {
    sheet?.cancel(); // of views that were found before
    own.views = [];
    await search({ what: "interesting" }, say("searching_for_views"));
    const views = own.answer?.views ?? [];
    if (!views.length) return;
    sheet = drawSheet(
      explorer,
      { scenes: views.map(({ camera }) => ({ camera: camera ?? {} })), width: 256 },
      (index, { picture }) => {
        own.views = [...own.views, { ...views[index], picture }];
      },
    );
    sheet.done.catch(() => {});
  }

  /** Fly to a view of a solid. @param {Received.FoundView} view */
  async function flyOver({ camera, way = [] }) {
    cancel();
    if (narrow()) close();
    flights += 1;
    const mine = (flight = flyAlong(explorer, {
      camera: camera ?? {},
      way: still() ? [] : way,
      step: `flight ${flights}`,
      told: (share) => {
        own.told = { share, text: say("flying_there") };
      },
    }));
    await mine.done;
    if (flight !== mine) return; // another flight has begun
    flight = null;
    own.told = null;
  }

  const nucleus = () => search({ what: "nucleus" }, say("searching_for_a_minibrot"));
  explorer.addEventListener("selection", (event) => {
    if (ui.open !== "find" || lacking) return; // then the selection is zoomed into
    event.preventDefault();
    search({ what: "nucleus", rect: event.detail.rect }, say("searching_for_a_minibrot_in"));
  });

  function Facts() {
    const { period, size, angle } = own.answer ?? /** @type {Partial<Received.Found>} */ ({});
    const lines = [
      [say("period"), period && number(period)],
      [say("size_of_the_whole_set"), size && decimal(size)],
      [say("turned_by"), typeof angle !== "number" ? null : `${Math.round(angle)}°`],
    ];
    return html`<dl class="facts" aria-live="polite">${lines.filter(([, value]) => value).map(([key, value]) => html`<dt key=${key}>${key}</dt><dd>${value}</dd>`)}</dl>`;
  }

  const preview = () => {
    julia.preview();
    if (narrow()) close();
  };
  const Cameras = () => html`<div class="stack">
    <p class="hint">${say("cameras_nearer_to_the_surface")}</p>
    <${Button} label=${say("find_views")} kind="primary wide-button" onClick=${cameras} />
    <${Progress} told=${own.told} cancel=${cancel} />
    <ul class="cards small" aria-label=${say("views")}>${own.views.map((view, k) => html`<li key=${k}><${Card} title=${say("view_number", { value: k + 1 })} below=${view.score.toFixed(2)} onClick=${() => flyOver(view)}><${Drawn} picture=${view.picture} /><//></li>`)}</ul>
    <${Button} label=${autopilot.on ? say("end_the_autopilot") : say("autopilot")} symbol="find" kind="wide-button" title=${say("a_flight_from_one_beautiful_place")} onClick=${autopilot.toggle} /></div>`;
  const View = () =>
    explorer.placed?.camera
      ? html`<${Cameras} />`
      : !explorer.placed?.values
        ? html`<p class="hint">${say("minibrots_periods_and_julia_sets", { kind: whatIs(explorer) })}</p>`
        : html`<div class="stack">
    <p class="hint">${say("small_copies_of_the_set")}${
      !lacking && matchMedia("(any-pointer: fine)").matches && say("while_this_panel_is_open")
    }</p>
    ${lacking && html`<p class="hint strong">${lacking}</p>`}
    <${Button} label=${say("fly_to_the_minibrot")} kind="primary wide-button" disabled=${Boolean(lacking)} onClick=${nucleus} />
    <${Progress} told=${own.told} cancel=${cancel} />
    ${own.flying && html`<${Button} label=${say("go_there_at_once")} kind="wide-button" onClick=${hurry} />`}<${Facts} />
    <${Button} label=${say("julia_set_of_the_middle")} kind="wide-button" onClick=${() => julia.enter(julia.middle())} />
    <${Button} label=${say("julia_set_beside_the_picture")} symbol="beside" kind="wide-button" title=${say("two_live_views_t")} onClick=${() => second()} />
    ${matchMedia("(any-pointer: coarse)").matches && html`<${Button} label=${say("preview_julia_sets_by_touch")} kind="wide-button" onClick=${preview} />`}
    <${Button} label=${autopilot.on ? say("end_the_autopilot") : say("autopilot")} symbol="find" kind="wide-button" title=${say("a_flight_from_one_beautiful")} disabled=${Boolean(lacking)} onClick=${autopilot.toggle} />
    <${Section} title=${say("embedded_julia_sets")}>
      <p class="hint">${say("on_the_way_to_the")}</p>
      <div class="segments" role="group" aria-label=${say("share_of_the_depth")}>${SHARES.map(
        ([fraction, name]) => html`<${Button} key=${name} label=${name}
        aria-label=${say("julia_set_at_of_the", { name })} disabled=${Boolean(lacking)} onClick=${() => search({ what: "julia", fraction }, say("searching_for_the_julia_set", { name }))} />`,
      )}</div>
    <//>
    <${Section} title=${say("more")}><div class="line">
      <${Button} label=${say("period_of_the_view")} kind="quiet" disabled=${Boolean(lacking)} onClick=${() => search({ what: "period" }, say("computing_the_period"))} />
      <${Button} label=${say("eye_of_the_spiral")} title=${say("a_misiurewicz_point")} kind="quiet" disabled=${Boolean(lacking)} onClick=${() => search({ what: "misiurewicz" }, say("searching_for_the_eye_of"))} /></div>
      <p class="hint">${say("the_eye_of_a_spiral")}</p>
    <//></div>`;
  const near = (/** @type {"nucleus"|"misiurewicz"} */ what, /** @type {number[]} */ rect) =>
    search(
      { what, rect },
      what === "nucleus" ? say("searching_for_a_minibrot") : say("searching_for_the_eye_of"),
    );
  return { View, nucleus, near, cancel };
}

/** Say what kind of picture is shown, where it is no flat one of escape times. */
export function whatIs(/** @type {import("../explorer.js").Explorer} */ { placed, scene }) {
  if (placed?.camera) return say("this_one_is_of_a");
  return (scene.relief?.heights ?? "none") === "none"
    ? say("this_one_is_of_points")
    : say("this_one_is_a_relief");
}
