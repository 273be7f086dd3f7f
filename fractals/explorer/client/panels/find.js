/** The find panel: minibrots, embedded Julia sets and periods of the view, and the flight there. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Button, Card, Drawn, narrow, Progress, Section, still } from "../ui.js";
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
  /** @type {Context} */ { explorer, notify, julia, ui, close, autopilot, second },
) {
  // Progress, what was found, and small pictures of the views of a solid
  const own = observe({
    told: /** @type {Told|null} */ (null),
    answer: /** @type {Received.Found|null} */ (null),
    views: /** @type {(Received.Seen & {picture: HTMLCanvasElement})[]} */ ([]),
  });
  let job = /** @type {Job|null} */ (null);
  let flight = /** @type {ReturnType<typeof flyTo>|null} */ (null);
  let flights = 0; // so far

  function cancel() {
    const busy = Boolean(job || flight);
    job?.cancel();
    flight?.stop();
    return busy;
  }

  async function search(
    /** @type {Omit<Asked<Sent.Find>, "t">} */ message,
    /** @type {string} */ title,
  ) {
    cancel();
    Object.assign(own, { answer: null, told: { share: null, text: title } });
    const mine = explorer.job({ t: "find", ...message }, (told) => {
      if (told.t !== "progress") return;
      const { of, done, what } = told;
      own.told = { share: of ? done / of : null, text: what };
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
      flight = flyTo(explorer, {
        center,
        octaves,
        step,
        told: (share) => {
          own.told = { share, text: "Flying there" };
        },
      });
      const arrived = await flight.done;
      flight = null;
      if (!arrived) return;
    }
    explorer.open({ scene }, step, { aim: true });
  }

  /** Search for cameras near the surface of a solid. */
  async function cameras() {
    own.views = [];
    await search({ what: "interesting" }, "Searching for views");
    const views = own.answer?.views ?? [];
    if (!views.length) return;
    const sheet = drawSheet(
      explorer,
      { scenes: views.map(({ camera }) => ({ camera: camera ?? {} })), width: 256 },
      (index, { picture }) => {
        own.views = [...own.views, { ...views[index], picture }];
      },
    );
    sheet.done.catch(() => {});
  }

  /** Fly to a view of a solid. @param {Received.Seen} view */
  async function flyOver({ camera, way = [] }) {
    cancel();
    if (narrow()) close();
    flights += 1;
    flight = flyAlong(explorer, {
      camera: camera ?? {},
      way: still() ? [] : way,
      step: `flight ${flights}`,
      told: (share) => {
        own.told = { share, text: "Flying there" };
      },
    });
    await flight.done;
    flight = null;
    own.told = null;
  }

  const nucleus = () => search({ what: "nucleus" }, "Searching for a minibrot");
  explorer.addEventListener("selection", (event) => {
    if (ui.open !== "find") return;
    event.preventDefault();
    search({ what: "nucleus", rect: event.detail.rect }, "Searching for a minibrot in the box");
  });

  function Facts() {
    const { period, size, angle } = own.answer ?? /** @type {Partial<Received.Found>} */ ({});
    const lines = [
      ["Period", period?.toLocaleString("en")],
      ["Size, of the whole set", size && decimal(size)],
      ["Turned by", typeof angle !== "number" ? null : `${Math.round(angle)}°`],
    ];
    return html`<dl class="facts" aria-live="polite">${lines.filter(([, value]) => value).map(([key, value]) => html`<dt key=${key}>${key}</dt><dd>${value}</dd>`)}</dl>`;
  }

  const preview = () => {
    julia.preview();
    if (narrow()) close();
  };
  const Cameras = () => html`<div class="stack">
    <p class="hint">Cameras nearer to the surface, which see it at many distances, under some sky.</p>
    <${Button} label="Find views" kind="primary wide-button" onClick=${cameras} />
    <${Progress} told=${own.told} cancel=${cancel} />
    <ul class="cards small" aria-label="Views">${own.views.map((view, k) => html`<li key=${k}><${Card} title=${`View ${k + 1}`} below=${view.score.toFixed(2)} onClick=${() => flyOver(view)}><${Drawn} picture=${view.picture} /><//></li>`)}</ul>
    <${Button} label=${autopilot.on ? "End the autopilot" : "Autopilot"} symbol="find" kind="wide-button" title="A flight from one beautiful place to the next" onClick=${autopilot.toggle} /></div>`;
  const View = () =>
    explorer.placed?.camera
      ? html`<${Cameras} />`
      : !explorer.placed?.values
        ? html`<p class="hint">Minibrots, periods and Julia sets are of flat escape-time images: ${whatIs(explorer)}.</p>`
        : html`<div class="stack">
    <p class="hint">Small copies of the set lie in every view of its border.${
      matchMedia("(any-pointer: fine)").matches &&
      " While this panel is open, a box drawn with Shift searches a part of the view."
    }</p>
    <${Button} label="Fly to the minibrot" kind="primary wide-button" onClick=${nucleus} />
    <${Progress} told=${own.told} cancel=${cancel} /><${Facts} />
    <${Button} label="Julia set of the middle" kind="wide-button" onClick=${() => julia.enter(julia.middle())} />
    <${Button} label="Julia set beside the picture" symbol="beside" kind="wide-button" title="Two live views (T)" onClick=${() => second()} />
    ${matchMedia("(any-pointer: coarse)").matches && html`<${Button} label="Preview Julia sets by touch" kind="wide-button" onClick=${preview} />`}
    <${Button} label=${autopilot.on ? "End the autopilot" : "Autopilot"} symbol="find" kind="wide-button" title="A flight from one beautiful place to the next (A)" onClick=${autopilot.toggle} />
    <${Section} title="Embedded Julia sets">
      <p class="hint">On the way to the minibrot, at this share of the depth.</p>
      <div class="segments" role="group" aria-label="Share of the depth">${SHARES.map(
        ([fraction, name]) => html`<${Button} key=${name} label=${name}
        aria-label=${`Julia set at ${name} of the depth`} onClick=${() => search({ what: "julia", fraction }, `Searching for the Julia set at ${name}`)} />`,
      )}</div>
    <//>
    <${Section} title="More"><div class="line">
      <${Button} label="Period of the view" kind="quiet" onClick=${() => search({ what: "period" }, "Computing the period")} />
      <${Button} label="Eye of the spiral" title="A Misiurewicz point" kind="quiet" onClick=${() => search({ what: "misiurewicz" }, "Searching for the eye of a spiral")} /></div>
      <p class="hint">The eye of a spiral is a Misiurewicz point: the middle of a spiral that goes on at any depth. The period is that of the largest minibrot in view.</p>
    <//></div>`;
  const near = (/** @type {"nucleus"|"misiurewicz"} */ what, /** @type {number[]} */ rect) =>
    search(
      { what, rect },
      what === "nucleus" ? "Searching for a minibrot" : "Searching for the eye of a spiral",
    );
  return { View, nucleus, near, cancel };
}

/** Say what kind of picture is shown, where it is no flat one of escape times. */
export function whatIs(/** @type {import("../explorer.js").Explorer} */ { placed, scene }) {
  if (placed?.camera) return "this one is of a solid";
  return (scene.relief?.heights ?? "none") === "none"
    ? "this one is of points"
    : "this one is a relief, which Color, Relief, Heights makes flat";
}
