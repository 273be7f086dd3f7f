/** The engine of a page without a server: it answers the messages of PROTOCOL.md, as far as a browser can. */
import { Bookmarks } from "./bookmarks.js";
import { Palettes } from "./palettes.js";
import { BLOCK, blocks, cut, lay, sideOf, thinned } from "./parts.js";
import { mapBetween, Place, zoomText } from "./places.js";
import { formulaOf, gridOf, homeOf, planOf } from "./plan.js";
import { FIT, HASTE, Pictures } from "./pictures.js";
import { paceOf, Pool } from "./pool.js";
import { elsewhere, told } from "./said.js";
import { linkOf, ofLink, tableOf, tomlOf, whole } from "./scene.js";
import { curved, fitted, histogramOf, medianOf } from "./values.js";
import { settle } from "./views.js";

/** @typedef {import("./drawer.js").Job} Job */
/** @typedef {import("./plan.js").Plan} Plan */
/** @typedef {Received|Received.Surprised} Told */
/** @typedef {{pass: "coarse"|"exact", inside?: number, least?: number, most?: number, note?: string}} Ended */
/** @typedef {{draw: import("./views.js").Draw, ended: (keys: Ended) => void, signal: AbortSignal, frame: number, paint: number,
 * begun: number}} Work under way */
/** @typedef {{place: Place, scene: SiteScene, plan: Plan, settled: import("./views.js").Settled,
 * centers: number[], pace: number[], valued: boolean}} View `centers`: of the layers' values; `pace`: samples of a block's side and
 * ms of a pass; `valued`: whether the page has all values */

const REST = 250, // ms after the last input, before the exact pixels of a view that moves
  MOST_FRAMES = 256,
  GLANCE = 16, // pixels a sample of a picture before the limit is known
  COARSE = 8, // of the first picture
  BETWEEN = 4, // of the second one of a slow view
  FINER = 2, // of the last one before the exact pixels
  SOON = 400, // ms after which a view whose limit is not known is seen under its first limit
  SLOW = 200, // ms of the first picture, from which on a view is slow: workers draw small parts of it
  SMALL = 64, // samples of a side that it draws at once of a slow view
  STATUS = 500; // ms between messages about work under way
export const MOST_SIDE = 8192; // pixels of a side of a file
const VALUES = 1,
  PIXELS = 2,
  TABLE = 4,
  PREVIEW = 5;
/** Return what is said of a scene, without what it does not say. @param {Scene} scene */
const saidOf = ({ title = "", author = "", rights = "", note = "" }) => ({
  title,
  author,
  rights,
  note,
});
/** What needs the program, by message.
 * @type {Record<string, string>} */
const PROGRAM = {
  find: "searches",
  surprise: "surprises",
  film: "films",
  moments: "films",
  follow: "films",
  loupe: "loupe",
};
const JOBS = ["find", "surprise", "film", "moments", "follow", "loupe", "export", "sheet"];

/** @typedef {{frame: number, x?: number, y?: number, w: number, h: number, step?: number, layer?: number, paint?: number}} Where */
/** @param {number} kind @param {Where} where @param {Uint8Array|Uint16Array|Float32Array} payload */
function packed(kind, { frame, x = 0, y = 0, w, h, step = 1, layer = 0, paint = 0 }, payload) {
  const made = new Uint8Array(32 + payload.byteLength),
    view = new DataView(made.buffer);
  view.setUint8(0, kind);
  view.setUint16(2, layer, true);
  view.setUint32(4, frame, true);
  [x, y, w, h].forEach((value, k) => view.setUint16(8 + 2 * k, value % 65536, true));
  view.setUint8(16, step);
  view.setUint16(18, paint, true);
  view.setUint32(28, payload.byteLength, true);
  made.set(new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength), 32);
  return made.buffer;
}

/** Return the values of a layer. @param {Float32Array<ArrayBuffer>} values of all layers @param {number} layer @param {number} count of layers */
const planeOf = (values, layer, count) =>
  values.subarray((layer * values.length) / count, ((layer + 1) * values.length) / count);
const pause = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));

/** What all connections of a page share. @type {Promise<{facts: SiteFacts, palettes: Palettes, pool: Pool}>|null} */
let shared = null;

async function opened() {
  const folder = new URL("../../engine/", import.meta.url).href,
    answer = await fetch(`${folder}facts.bin`).catch(() => null);
  if (!answer?.ok || !answer.body) throw new Error(told("unreached"));
  const text = answer.body.pipeThrough(new DecompressionStream("deflate")),
    facts = await new Response(text).json(),
    palettes = new Palettes(facts.spaces, facts.palettes);
  return { facts, palettes, pool: new Pool(folder, facts.relaxed, palettes) };
}

export class Engine {
  #frames = /** @type {Map<number, Place>} */ (new Map());
  #newest = 0;
  #color = /** @type {SiteColor} */ ({});
  #paint = 0;
  #size = [1, 1];
  #shader = false; // whether the page colors values
  /** @type {View|null} */ #view = null;
  /** @type {AbortController|null} */ #work = null; // of the view
  #jobs = /** @type {Map<string|number, AbortController>} */ (new Map());
  #files = /** @type {string[]} */ ([]); // addresses of the newest

  /** @param {(data: string|ArrayBuffer) => void} put @returns {Promise<Engine>} */
  static async open(put) {
    shared ??= opened();
    shared.catch(() => (shared = null));
    return new Engine(await shared, put);
  }

  /** @param {{facts: SiteFacts, palettes: Palettes, pool: Pool}} own @param {(data: string|ArrayBuffer) => void} put */
  constructor({ facts, palettes, pool }, put) {
    this.facts = facts;
    this.palettes = palettes;
    this.pool = pool;
    this.put = put;
    this.pictures = new Pictures({ facts, palettes, pool });
    this.bookmarks = new Bookmarks((scene) => this.pictures.thumbnail(scene));
  }

  end() {
    this.#work?.abort(new Error("ended"));
    for (const each of this.#jobs.values()) each.abort(new Error("ended"));
  }

  #say(/** @type {Told} */ message) {
    this.put(JSON.stringify(message));
  }

  /** Handle a message; every error is answered with one line. @param {Sent} message */
  async receive(message) {
    try {
      await this.#answer(message);
    } catch (error) {
      const line = error instanceof Error ? error.message : String(error);
      const { t, frame, seq, job, forecast } =
        /** @type {{t: string, frame?: number, seq?: number, job?: number, forecast?: boolean}} */ (
          message
        );
      if (job !== undefined && JOBS.includes(t) && !forecast)
        this.#say({ t: "failed", job, message: line, cancelled: line === "cancelled" });
      else this.#say({ t: "error", re: t, frame, seq, job, message: line, key: error?.key });
    }
  }

  /** @param {Sent} message @returns {Promise<void>|void} */
  #answer(message) {
    switch (message.t) {
      case "hello":
        return this.#hello(message);
      case "open":
        return this.#open(message);
      case "view":
        return this.#move(message);
      case "paint":
        return this.#repaint(message);
      case "lookup":
        return this.#lookup(message);
      case "pick":
        return this.#pick(message);
      case "julia":
        return this.#julia(message);
      case "fit":
        return this.#fit(message);
      case "histogram":
        return this.#histogram(message);
      case "sheet":
        return this.#sheet(message);
      case "export":
        return this.#export(message);
      case "link":
        return this.#link(message);
      case "bookmarks":
      case "bookmark":
        return this.#bookmark(message);
      case "cancel":
        return this.#jobs.get(message.job)?.abort(new Error("cancelled"));
      case "go_on":
        return;
      default:
        throw new Error(elsewhere(PROGRAM[message.t] ?? "does"));
    }
  }

  #hello(/** @type {Sent.Hello} */ { size, values }) {
    this.#size = size;
    this.#shader = values ?? true;
    this.#say({
      t: "welcome",
      v: 1,
      version: this.facts.version,
      device: told("this_browser"),
      title: this.facts.first.title ?? "",
      gallery: this.facts.gallery,
      read_only: false,
      bookmarks: true,
      upload: false,
      export: true,
      limits: { size: [4096, 4096], digits: 1000, stops: 4096 },
    });
  }

  // ------------------------------------------------------------------ views

  /** @param {number} frame */
  #place(frame) {
    const place = this.#frames.get(frame);
    if (!place) throw new Error(`the frame ${frame} is not kept: open its scene`);
    return place;
  }

  /** Return the scene of a frame in the newest colors. @param {number} frame @returns {SiteScene} */
  #scene(frame, author = "") {
    const scene = this.#place(frame).scene(),
      same = JSON.stringify(scene.color) === JSON.stringify(this.#color);
    const own = same ? {} : saidOf({});
    const found = /** @type {SiteScene} */ ({ ...scene, ...own, color: this.#color });
    return found.author || !author ? found : { ...found, author };
  }

  /** @param {Sent.Open} message @returns {Promise<Scene>} */
  async #requested({ scene, toml, link, gallery, julia, formula }) {
    if (scene) return scene;
    if (toml != null) return tableOf(toml);
    if (link != null) return ofLink(link);
    if (gallery != null) {
      if (!this.facts.scenes[gallery]) throw new Error(elsewhere("draws", { name: gallery }));
      return this.facts.scenes[gallery];
    }
    if (julia) return this.#juliaOf(julia.frame, julia.at);
    if (formula != null) return { formula, color: this.#color };
    return this.facts.first;
  }

  /** @param {number} frame @param {number[]} at @returns {Scene} */
  #juliaOf(frame, at) {
    const place = this.#place(frame);
    if (place.origin.julia) throw new Error(told("julia_already"));
    return {
      ...place.origin,
      julia: place.text(at),
      view: {},
      color: this.#color,
      title: "",
      note: "",
    };
  }

  async #open(/** @type {Sent.Open} */ message) {
    const given = await this.#requested(message),
      scene = whole(this.facts, given),
      size = message.size ?? this.#size;
    const place = new Place(scene, size, homeOf(this.facts, scene));
    planOf(this.facts, this.palettes, place.scene()); // what can't be drawn is not shown
    this.#color = scene.color;
    this.#paint = 0;
    this.#show(message, place, scene);
  }

  #move(/** @type {Sent.ViewMessage} */ message) {
    if (message.about != null) throw new Error(elsewhere("flies_to"));
    if (message.fly?.some(Boolean)) throw new Error(elsewhere("flies"));
    const place = this.#place(message.base).moved(message);
    planOf(this.facts, this.palettes, { ...place.scene(), color: this.#color });
    this.#show(message, place);
  }

  /** @param {Pick<Sent.ViewMessage, "frame"|"focus"|"stage"> & {base?: number|null}} message @param {Place} place @param {SiteScene} [opened] */
  #show({ frame, base, focus, stage }, place, opened) {
    if (frame <= this.#newest)
      throw new Error(`the frame ${frame} is not greater than ${this.#newest}`);
    const before = base ? this.#place(base) : null;
    this.#frames.set(frame, place);
    this.#newest = frame;
    this.#size = place.size;
    if (this.#frames.size > MOST_FRAMES) this.#frames.delete(Math.min(...this.#frames.keys()));
    const scene = this.#scene(frame),
      { octaves } = place;
    this.#say({
      t: "placed",
      frame,
      base: base ?? null,
      size: place.size,
      center: scene.view.center ?? ["0", "0"],
      width: place.widthText,
      zoom: zoomText(octaves),
      octaves,
      rotation: place.rotation,
      formula: this.#subject(scene),
      values: true,
      plane: null,
      julia: scene.julia ?? null,
      map: before ? mapBetween(before, place) : null,
      camera: null,
      space: null,
      sun: null,
      ...saidOf(scene),
      ...(opened && { scene, unused: "" }),
    });
    this.#draw(scene, focus ?? place.size.map((side) => 8 * side), stage === "moving");
  }

  /** Return what a scene draws: its formula's title; the map and c of a Julia set. @param {Scene} scene */
  #subject(scene) {
    const { title } = formulaOf(this.facts, scene);
    if (!scene.julia) return title;
    const at = title.indexOf(", "),
      called = at > 0 && title.slice(0, at).endsWith(" set") ? title.slice(at + 2) : title,
      [re, im] = scene.julia.map(Number),
      six = (/** @type {number} */ value) => String(Number(value.toPrecision(6)));
    return `Julia set of ${called}, c = ${six(re)} ${im < 0 ? "-" : "+"} ${six(Math.abs(im))}i`;
  }

  async #repaint(/** @type {Sent.PaintMessage} */ { seq, color }) {
    const place = this.#place(this.#newest),
      scene = whole(this.facts, { ...place.scene(), color });
    const plan = planOf(this.facts, this.palettes, scene),
      view = this.#view,
      kept = view?.valued && view.place === place && sameValues(view.plan, plan) ? view : null;
    this.#color = scene.color;
    this.#paint = seq;
    const shown = this.#scene(this.#newest);
    const said = saidOf(shown);
    this.#say({
      t: "painted",
      seq,
      frame: this.#newest,
      values: !kept,
      color: scene.color,
      ...said,
    });
    this.#draw(
      shown,
      place.size.map((side) => 8 * side),
      false,
      kept,
    );
  }

  /** Draw the newest frame in place of older work. @param {SiteScene} scene @param {number[]} focus @param {boolean} moving
   * @param {View|null} [kept] whose values the page has */
  async #draw(scene, focus, moving, kept = null) {
    this.#work?.abort(new Error("replaced"));
    const work = (this.#work = new AbortController()),
      frame = this.#newest,
      paint = this.#paint;
    try {
      await this.#passes(scene, focus, moving, kept, work.signal, frame, paint);
    } catch (error) {
      if (work.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      this.#say({ t: "error", re: paint ? "paint" : "view", frame, message });
    }
  }

  /** @param {SiteScene} scene @param {number[]} focus @param {boolean} moving @param {View|null} kept whose values the page has
   * @param {AbortSignal} signal @param {number} frame @param {number} paint */
  async #passes(scene, focus, moving, kept, signal, frame, paint) {
    const begun = performance.now(),
      plan = planOf(this.facts, this.palettes, scene),
      before = this.#view;
    let told = ""; // what is done before pixels are drawn
    const draw = (/** @type {import("./pool.js").Asked} */ job) => {
      const what = job.want === "orbit" ? "reference" : "preparing";
      if (plan.bits && job.want !== "pixels" && what !== told)
        this.#say({ t: "status", frame, what: (told = what) });
      return this.pool.draw(job, HASTE.view, signal, (done, of) =>
        this.#say({ t: "status", frame, what, done, of }),
      );
    };
    const known =
      before && before.plan.file === plan.file && samePlace(before.plan, plan) ? before : null;
    const centers = kept?.centers ?? plan.layers.map(() => 0);
    if (kept || !this.#shader) this.#describe(scene, plan, centers, frame, paint);
    const settled = known?.settled ?? (await this.#settled(plan, draw, frame, paint)),
      place = this.#place(frame),
      pace = kept?.pace ?? [BLOCK, 0],
      own = /** @type {View} */ ({ place, scene, plan, settled, centers, pace, valued: !!kept });
    this.#view = own;
    const ended = (/** @type {Ended} */ keys) =>
      this.#say({
        t: "drawn",
        frame,
        paint,
        ms: performance.now() - begun,
        max_iterations: settled.limit,
        method: methodOf(plan),
        said: "",
        ...keys,
      });
    const work = { draw, ended, signal, frame, paint, begun };
    if (kept) await pause(REST);
    else await this.#coarse(own, work, moving);
    if (!signal.aborted) await this.#exact(own, work, focus);
  }

  /** Draw a view with few samples. @param {View} view @param {Work} work @param {boolean} moving */
  async #coarse(view, { draw, ended, signal, frame, paint, begun }, moving) {
    const { plan, settled, scene } = view,
      job = { ...plan, ...settled, n: 1, want: /** @type {const} */ ("pixels"), tally: true },
      count = plan.layers.length;
    const steps = [COARSE, FINER];
    for (const step of steps) {
      const first = performance.now(),
        own = thinned(gridOf(plan, plan.size, 1), step),
        [w, h] = [own.columns[0].length, own.rows[0].length],
        rgb = new Uint8Array(3 * w * h),
        values = this.#shader ? plan.layers.map(() => new Float32Array(w * h)) : [];
      let [inside, least, most] = [0, settled.limit, 0];
      await Promise.all(
        blocks([w, h], [0, 0], view.pace[0]).map(async (block) => {
          const asked = this.#shader && { centers: view.centers },
            found = await draw({ ...job, ...cut(own, block, 1), ...asked });
          lay(rgb, w, block, found.rgb);
          values.forEach((part, k) => lay(part, w, block, planeOf(found.drawn, k, count), 1));
          inside += found.inside;
          least = Math.min(least, found.least);
          most = Math.max(most, found.most);
        }),
      );
      if (signal.aborted) return;
      if (step === COARSE && this.#shader) {
        view.centers = values.map(medianOf);
        values.forEach((part, k) =>
          part.forEach((value, i) => (part[i] = value - view.centers[k])),
        );
        this.#describe(scene, plan, view.centers, frame, paint);
      }
      values.forEach((part, layer) =>
        this.put(packed(VALUES, { frame, paint, w, h, step, layer }, part)),
      );
      this.put(packed(PIXELS, { frame, paint, w, h, step }, rgb));
      ended({ pass: "coarse", inside: inside / (w * h), least: Math.min(least, most), most });
      view.pace[1] = performance.now() - first;
      if (step === COARSE && view.pace[1] > SLOW) {
        steps.splice(1, 0, BETWEEN);
        view.pace[0] = SMALL;
        this.#say({ t: "status", frame, what: "exact" }); // from now on the page tells that it works
      }
      if (moving) await pause(Math.max(0, begun + REST - performance.now()));
      if (signal.aborted) return;
    }
  }

  /** Draw the pixels of a view, and tell the values that the page lacks. @param {View} view @param {Work} work @param {number[]} focus */
  async #exact(view, { draw, ended, signal, frame, paint, begun }, focus) {
    const { plan, settled, centers, pace } = view,
      { n, size, layers } = plan,
      lacking = this.#shader && !view.valued,
      asked = { ...plan, ...settled, want: /** @type {const} */ ("pixels") },
      job = lacking ? { ...asked, centers } : asked;
    this.#say({ t: "status", frame, what: "exact" });
    const grid = gridOf(plan, size, n),
      time = pace[0] === SMALL ? Infinity : pace[1] * (FINER * n) ** 2,
      side = sideOf(n, time, this.pool.size),
      all = blocks(
        size,
        focus.map((part) => part / 16),
        side,
      );
    let done = 0,
      said = performance.now();
    await Promise.all(
      all.map(async (block) => {
        const [x, y, w, h] = block,
          { rgb, drawn } = await draw({ ...job, ...cut(grid, block, n) });
        if (signal.aborted) return;
        const where = { frame, paint, x, y, w, h };
        if (lacking)
          layers.forEach((_, layer) =>
            this.put(packed(VALUES, { ...where, layer }, planeOf(drawn, layer, layers.length))),
          );
        this.put(packed(PIXELS, where, rgb));
        done += w * h;
        const now = performance.now();
        if (now - said < STATUS || done === size[0] * size[1]) return;
        said = now;
        const share = done / (size[0] * size[1]),
          left = (((now - begun) / share) * (1 - share)) / 1000;
        this.#say({ t: "status", frame, what: "exact", share, left });
      }),
    );
    if (signal.aborted) return;
    view.valued = this.#shader;
    ended({ pass: "exact", ...(plan.note && { note: plan.note }) });
  }

  /** Return the limit and the count offset of a view; if they take long, show the view under its first limit meanwhile.
   * @param {Plan} plan @param {import("./views.js").Draw} draw @param {number} frame @param {number} paint */
  async #settled(plan, draw, frame, paint) {
    const coming = settle(this.facts, plan, draw);
    let known = false;
    const look = async () => {
      const own = thinned(gridOf(plan, plan.size, 1), GLANCE),
        [w, h] = [own.columns[0].length, own.rows[0].length];
      const { rgb } = await draw({ ...plan, ...own, offset: 0, n: 1, want: "pixels" });
      if (!known) this.put(packed(PIXELS, { frame, paint, w, h, step: GLANCE }, rgb));
    };
    // A deep view has no orbit yet. `coming` fails as `look` does
    const late = plan.bits ? 0 : setTimeout(() => look().catch(() => null), SOON);
    try {
      return await coming;
    } finally {
      known = true;
      clearTimeout(late);
    }
  }

  /** Say how values become colors. @param {SiteScene} scene @param {Plan} plan @param {number[]} centers
   * @param {number} frame @param {number} paint */
  #describe(scene, plan, centers, frame, paint) {
    const paints = [scene.color, ...(scene.color.layers ?? [])];
    const layers = plan.layers.map(
      ({ value, place, blend, opacity }, k) =>
        /** @type {Received.ShownLayer} */ ({
          coloring: value.split(" ")[0],
          c0: centers[k],
          density: paints[k].density ?? 1,
          offset: paints[k].offset ?? 0,
          cyclic: place.includes("cyclic"),
          entries: this.facts.spaces.entries,
          space: plan.layers.length > 1 ? "srgb" : "linear",
          transfer: place.split(" ")[1],
          blend: blend === "first" ? "normal" : blend,
          opacity,
          mask: null,
          group: null,
        }),
    );
    this.#say({ t: "layers", frame, paint, layers, groups: [], planes: layers.length });
    if (!this.#shader) return;
    plan.layers.forEach(({ lookup }, layer) => this.#table(lookup, { frame, paint, layer }));
  }

  /** Send a lookup table. @param {Float32Array} rows @param {{frame: number, paint?: number, layer?: number}} where */
  #table(rows, where) {
    const table = Uint16Array.from(rows, (light) => Math.round(65535 * light));
    this.put(packed(TABLE, { ...where, w: 3, h: rows.length / 3 }, table));
  }

  // ------------------------------------------------------------------ questions

  #lookup(/** @type {Sent.Lookup} */ { seq, palette, inside = "#000000" }) {
    this.#table(this.palettes.lookup(palette, inside, false), { frame: seq });
  }

  /** Return the newest view, if it is that of a frame and known. @param {number} frame @returns {View} */
  #known(frame) {
    const view = this.#view;
    if (!view || frame !== this.#newest || view.place !== this.#frames.get(frame))
      throw new Error(told("not_yet"));
    return view;
  }

  async #pick(/** @type {Sent.Pick} */ { frame, at }) {
    const place = this.#place(frame),
      answer = {
        t: /** @type {const} */ ("picked"),
        frame,
        at,
        center: place.text(at),
        count: /** @type {number|null} */ (null),
        inside: /** @type {boolean|null} */ (null),
        value: /** @type {number|null} */ (null),
        distance: null,
        period: null,
        focus: null,
      };
    if (this.#view?.place === place) {
      const { plan, settled } = this.#view,
        grid = gridOf(plan, plan.size, 1);
      const [x, y] = at.map((part, k) =>
        Math.min(Math.max(Math.floor(part / 16), 0), plan.size[k] - 1),
      );
      const job = { ...plan, ...settled, n: 1, ...cut(grid, [x, y, 1, 1], 1) };
      const [raw, { values }] = await Promise.all(
        /** @type {Job["want"][]} */ (["raw", "values"]).map((want) =>
          this.pool.draw({ ...job, want }, HASTE.question),
        ),
      );
      answer.count = raw.count[0];
      answer.inside = raw.count[0] >= settled.limit;
      answer.value = Number.isFinite(values[0]) ? values[0] : null;
    }
    this.#say(answer);
  }

  /** Have a job of its own replace an older one of a name. @param {string|number} name */
  #own(name) {
    this.#jobs.get(name)?.abort(new Error("replaced"));
    const made = new AbortController();
    this.#jobs.set(name, made);
    return made.signal;
  }

  async #julia(/** @type {Sent.Julia} */ { seq, frame, at, size = 256 }) {
    const signal = this.#own("julia"),
      scene = whole(this.facts, this.#juliaOf(frame, at)),
      rgb = await this.pictures.small(scene, [size, size], HASTE.julia, signal);
    this.put(packed(PREVIEW, { frame: seq, w: size, h: size }, rgb));
  }

  /** Return the values of a layer in a small picture, after its curve. @param {number} frame @param {number} layer */
  async #values(frame, layer) {
    const { plan, settled } = this.#known(frame),
      own = plan.layers[layer];
    if (!own) throw new Error(`there is no layer ${layer}`);
    const job = {
        ...plan,
        ...settled,
        layers: [own],
        n: 1,
        want: /** @type {const} */ ("values"),
      },
      { values } = await this.pool.draw({ ...job, ...gridOf(plan, FIT, 1) }, HASTE.question);
    return { values: curved(own, values), own };
  }

  async #fit(/** @type {Sent.Fit} */ { frame, layer = 0, chosen = false }) {
    const { values, own } = await this.#values(frame, layer),
      [density, offset] = fitted(values, own.place.includes("cyclic"), !chosen);
    this.#say({ t: "fit", frame, layer, density, offset });
  }

  async #histogram(/** @type {Sent.Histogram} */ { frame, layer = 0, bins = 128 }) {
    const { values } = await this.#values(frame, layer);
    this.#say({ t: "histogram", frame, layer, ...histogramOf(values, bins) });
  }

  async #sheet(/** @type {Sent.Sheet} */ { job, frame, scenes, fit = false, width = 256 }) {
    const signal = this.#own(job),
      base = this.#scene(frame),
      size = [width, Math.max(1, Math.round((width * this.#size[1]) / this.#size[0]))];
    for (const [index, keys] of scenes.entries()) {
      try {
        let scene = whole(this.facts, { ...base, ...keys });
        if (fit) scene = await this.pictures.fittedTo(scene, signal);
        const rgb = await this.pictures.small(scene, size, HASTE.sheet, signal);
        if (fit && rgb.every((value, k) => value === rgb[k % 3])) continue;
        this.#say({ t: "surprised", job, index, label: "", scene });
        this.put(packed(PREVIEW, { frame: job, layer: index, w: size[0], h: size[1] }, rgb));
      } catch (error) {
        if (signal.aborted) throw error; // others of the sheet can be drawn
      }
    }
    this.#jobs.delete(job);
    this.#say({ t: "done", job });
  }

  // ------------------------------------------------------------------ files, links, bookmarks

  async #export(/** @type {Sent.Export} */ message) {
    const { job, frame, size, supersampling = 2, format = "png", forecast, author } = message,
      scene = this.#scene(frame, author);
    if (message.paper) throw new Error(elsewhere("posters"));
    if (format !== "png") throw new Error(elsewhere("other_files"));
    if (Math.max(...size) > MOST_SIDE) throw new Error(elsewhere("larger", { most: MOST_SIDE }));
    const own = { ...scene, image: { ...scene.image, size, supersampling } };
    planOf(this.facts, this.palettes, own); // what can't be drawn is an error, also of a forecast
    if (forecast) {
      const { plan: shown, settled } = this.#known(frame),
        asked = { ...shown, ...settled, ...gridOf(shown, FIT, 1), n: 1 },
        pace = await paceOf(() => this.pool.draw({ ...asked, want: "pixels" }, HASTE.question)),
        samples = size[0] * size[1] * supersampling ** 2,
        each = pace / 1000 / (FIT[0] * FIT[1]);
      this.#say({
        t: "forecast",
        job,
        seconds: (each * samples) / this.pool.size,
        memory: 8 * size[0] * size[1],
        samples,
        method: methodOf(shown),
      });
      return;
    }
    const begun = performance.now(),
      file = await this.pictures.file(own, this.#own(job), (done, of) =>
        this.#say({ t: "progress", job, what: "drawing", done, of }),
      );
    for (const old of this.#files.splice(0, Math.max(0, this.#files.length - 3)))
      URL.revokeObjectURL(old);
    const url = URL.createObjectURL(file);
    this.#files.push(url);
    this.#jobs.delete(job);
    const seconds = (performance.now() - begun) / 1000;
    this.#say({ t: "exported", job, url, bytes: file.size, seconds });
  }

  async #link(/** @type {Sent.Link} */ { frame, author }) {
    const scene = this.#scene(frame, author),
      toml = tomlOf(scene);
    this.#say({
      t: "link",
      frame,
      link: await linkOf(scene),
      toml,
      command: "fractals render scene.toml",
      others: [],
    });
  }

  async #bookmark(/** @type {Sent.Bookmark|Sent.BookmarksMessage} */ message) {
    const of = message.t === "bookmark" ? message : null;
    const scene = of?.link
      ? whole(this.facts, await ofLink(of.link))
      : of?.frame && !of.remove && !of.rename && !of.order
        ? this.#scene(of.frame, of.author)
        : null;
    this.#say({ t: "bookmarks", items: await this.bookmarks.changed(message, scene) });
  }
}

const methodOf = (/** @type {Plan} */ { bits }) => (bits ? "perturbation" : "direct");

/** Tell whether the layers of two plans of a view have equal values, however these are colored. @param {Plan} one @param {Plan} other */
function sameValues(one, other) {
  const facts = (/** @type {Plan} */ { key, layers }) => [
    key,
    layers.map(({ value, place, constants, plane, counted, range }) => [
      value,
      place.replace(" cyclic", " "), // which is the palette's
      constants.slice(2), // after density and offset
      plane,
      counted,
      range,
    ]),
  ];
  return JSON.stringify(facts(one)) === JSON.stringify(facts(other));
}

/** Tell whether two plans see the same samples, so that limit and count offset are known.
 * @param {Plan} one @param {Plan} other */
function samePlace(one, other) {
  const facts = (/** @type {Plan} */ plan) =>
    [...plan.center, plan.width, ...plan.axes].map(({ n, d }) => `${n}/${d}`).join() +
    [plan.size, plan.limit, plan.auto, plan.depth, plan.point].join();
  return facts(one) === facts(other);
}
