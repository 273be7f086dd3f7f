/** Panels, rendered: what answers that come late, and things that are done at once, do to them. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { beforePanels, makePage, settled, until } from "./page.js";

beforePanels();
/** @type {any} */
const page = globalThis;
const stored = /** @type {Record<string, string>} */ ({});
page.sessionStorage = {
  getItem: (/** @type {string} */ key) => stored[key] ?? null,
  setItem: (/** @type {string} */ key, /** @type {string} */ value) => (stored[key] = value),
  removeItem: (/** @type {string} */ key) => delete stored[key],
};
const CLIENT = "../../../fractals/explorer/client";
const { html, render } = await import(`${CLIENT}/html.js`),
  { kept, observe } = await import(`${CLIENT}/state.js`),
  { inspectPanel } = await import(`${CLIENT}/panels/inspect.js`),
  { filePanel } = await import(`${CLIENT}/panels/files.js`),
  { transport } = await import(`${CLIENT}/net.js`),
  { formulaPanel } = await import(`${CLIENT}/panels/formula.js`),
  { findPanel } = await import(`${CLIENT}/panels/find.js`),
  { filmPanel } = await import(`${CLIENT}/panels/film.js`),
  { colorPanel } = await import(`${CLIENT}/panels/color.js`),
  { surprisePanel } = await import(`${CLIENT}/panels/surprise.js`),
  { bookmarksPanel, galleryPanel } = await import(`${CLIENT}/panels/scenes.js`),
  { juliaTool } = await import(`${CLIENT}/panels/julia.js`),
  { favoritesIn, OwnPalettes, Palettes } = await import(`${CLIENT}/panels/palettes.js`),
  { Layers } = await import(`${CLIENT}/panels/layers.js`),
  { Timeline } = await import(`${CLIENT}/panels/timeline.js`);
const document = makePage(),
  { withMessage } = await import(`${CLIENT}/panels/index.js`); // which looks at the page at once

const KEYS = Object.fromEntries(
  `brightness gamma vibrancy highlight_power gamma_threshold estimator_radius estimator_curve filter_radius filter background
  exposure bloom bloom_threshold bloom_radius vignette grain curve`
    .split(/\s+/)
    .map((name) => [name, { default: 1, description: "" }]),
); // of a scene
const PLACED = {
  frame: 1,
  size: [100, 75],
  center: ["0", "0"],
  width: "1",
  zoom: "1",
  rotation: 0,
  values: true,
};
/** Return an explorer that asks nobody: `asked` are its questions, with what answers them. */
function explorerOf(/** @type {object} */ keys = {}) {
  const asked = /** @type {any[]} */ ([]),
    jobs = /** @type {any[]} */ ([]),
    frames = new Set();
  const made = /** @type {any} */ (new EventTarget());
  Object.assign(made, {
    connected: true,
    placed: PLACED,
    scene: { color: {}, view: {}, formula: "mandelbrot", image: {} },
    drawn: null,
    pointer: null,
    opening: false,
    welcome: { bookmarks: true },
    catalog: { palettes: [], colorings: [], formulas: [], scenes: [], transfers: [], blends: [] },
    size: [100, 75],
    seen: { middle: [800, 600], share: 1 },
    ...keys,
  });
  observe(made, "placed", "scene", "drawn", "connected", "catalog");
  return Object.assign(made, {
    asked,
    jobs,
    frames,
    get wished() {
      return made.scene;
    },
    request: (/** @type {any} */ message) =>
      new Promise((resolve, reject) => asked.push({ message, resolve, reject })),
    job: (/** @type {any} */ message, /** @type {any} */ told) => {
      const job = /** @type {any} */ ({ message, told, cancelled: false });
      job.done = new Promise((resolve, reject) => Object.assign(job, { resolve, reject }));
      job.cancel = () => (job.cancelled = true);
      jobs.push(job);
      return job;
    },
    animate: (/** @type {any} */ each) => (frames.add(each), () => frames.delete(each)),
    change: () => {},
    open: () => {
      made.dispatchEvent(new CustomEvent("opening"));
      made.opening = true;
    },
  });
}
const notes = /** @type {string[]} */ ([]);
const context = (/** @type {any} */ explorer, /** @type {object} */ keys = {}) => ({
  explorer,
  canvas: new EventTarget(),
  ui: observe({ open: "", over: null }),
  notify: (/** @type {string} */ text) => notes.push(text),
  open: async () => null,
  close: () => {},
  julia: {},
  autopilot: {},
  tried: {},
  second: () => {},
  ...keys,
});
/** Render a component, and return its element. */
async function shown(/** @type {any} */ View, /** @type {object} */ props = {}) {
  const root = document.createElement("div");
  document.body.appendChild(root);
  render(html`<${View} ...${props} />`, root);
  await settled();
  return root;
}

test("the point where the pointer has come to rest is asked for, though another one is not answered", async () => {
  const explorer = explorerOf(),
    panel = inspectPanel(context(explorer));
  const root = await shown(panel.View),
    point = (/** @type {number} */ x) => {
      explorer.pointer = { x, y: 0 };
      explorer.dispatchEvent(new CustomEvent("pointer"));
    };
  await until(() => explorer.asked.length === 1); // about the middle
  point(10);
  await until(() => explorer.asked.length === 2);
  point(20);
  await until(() => explorer.asked.length === 3);
  const at = explorer.asked.map((/** @type {any} */ { message }) => message.at[0]);
  assert.deepEqual(at.slice(-2), [160, 320]);
  explorer.asked.at(-2).resolve(null); // as `Requests` does
  explorer.asked.at(-1).resolve({ center: ["0.125", "0"], count: 7 });
  await settled();
  assert.match(root.text, /0\.125/);
  render(null, root);
});

const SOLID = { placed: { ...PLACED, camera: {}, space: {}, values: false } };

/** Return the panel of a solid, in which two views were found. */
async function found() {
  const explorer = explorerOf(SOLID),
    panel = findPanel(context(explorer)),
    root = await shown(panel.View);
  return { explorer, panel, root };
}

test("a second flight to a view of a solid ends by Escape, too", async () => {
  const { explorer, panel, root } = await found();
  root.named("Find views").hear("click");
  const way = [
    [0, 0, 0, 1, 0, 0],
    [1, 0, 0, 1, 0, 0],
  ];
  explorer.jobs[0].resolve({ views: [0, 1].map(() => ({ camera: {}, way, score: 1 })) });
  await settled();
  page.ImageData = class {};
  const canvas = document.createElement("canvas");
  canvas.getContext = () => ({ putImageData() {}, drawImage() {} });
  const { createElement } = document;
  document.createElement = (/** @type {string} */ name) =>
    Object.assign(createElement(name), { getContext: canvas.getContext });
  for (const index of [0, 1])
    explorer.jobs[1].told({
      t: "surprised",
      index,
      scene: {},
      preview: { w: 1, h: 1, data: new Uint8Array(4) },
    });
  await settled();
  const cards = root.all.filter(
    (/** @type {any} */ each) =>
      each.className?.includes?.("card") || each.attributes.class === "card",
  );
  assert.equal(cards.length, 2);
  cards[0].hear("click");
  cards[1].hear("click");
  await settled();
  assert.equal(explorer.frames.size, 1);
  assert.ok(panel.cancel());
  assert.equal(explorer.frames.size, 0);
  // Small pictures of views that were found before do not come among others.
  assert.equal(explorer.jobs[1].cancelled, false);
  root.named("Find views").hear("click");
  assert.ok(explorer.jobs[1].cancelled);
  explorer.jobs[1].resolve(); // the next sheet waits for this one
  document.createElement = createElement;
  render(null, root);
});

test("a place of a film has a number that no other one has, in a page that is loaded again", async () => {
  const places = [2, 3].map((id) => ({ id, title: `${id}`, link: `${id}`, thumbnail: "" }));
  stored["fractals.film"] = JSON.stringify({ places });
  const explorer = explorerOf(),
    panel = filmPanel(context(explorer));
  panel.add();
  explorer.asked[0].resolve({ items: [{ title: "new", link: "new", thumbnail: "" }] });
  await settled();
  const ids = JSON.parse(stored["fractals.film"]).places.map((/** @type {any} */ { id }) => id);
  assert.deepEqual(ids, [2, 3, 4]);
});

test("a place of a film is the one whose link was asked for, though the user has moved on", async () => {
  delete stored["fractals.film"];
  let seen = "here";
  const explorer = explorerOf({
    still: () => ({ toDataURL: () => `data:image/jpeg;base64,${btoa(seen)}` }),
    scene: { color: {}, view: {}, formula: "mandelbrot", image: {}, title: "Here" },
  });
  const root = await shown(filmPanel(context(explorer)).View);
  root.named("Places").hear("click");
  await settled();
  root.named("Add this place").hear("click");
  seen = "there";
  explorer.scene = { ...explorer.scene, title: "There" };
  explorer.asked
    .find((/** @type {any} */ { message }) => message.t === "link")
    .resolve({ link: "eNhere" });
  await settled();
  const [{ title, link, still }] = JSON.parse(stored["fractals.film"]).places;
  assert.deepEqual([title, link, still.endsWith(btoa("here"))], ["Here", "eNhere", true]);
  render(null, root);
});

for (const preview of [true, false])
  test(`a page that is loaded again while a film is made knows ${preview ? "that it is a preview" : "a whole film"}`, async () => {
    delete stored["fractals.film"];
    const first = explorerOf(),
      root = await shown(filmPanel(context(first)).View);
    root.named(preview ? "Preview" : "Make the film").hear("click");
    first.jobs[0].told({ t: "started", name: "abc" });
    await settled();
    render(null, root);
    const again = explorerOf(),
      panel = filmPanel(context(again)),
      made = await shown(panel.View);
    const { message, resolve } = again.jobs[0];
    assert.deepEqual(message, { t: "follow", name: "abc" });
    resolve({ url: "/a.mp4", bytes: 1000, seconds: 1, frames: 1 });
    await settled();
    assert.equal(made.text.includes("A preview"), preview);
    assert.equal(made.text.includes("Download"), !preview);
    render(null, made);
  });

for (const [kind, keys] of /** @type {const} */ ([
  ["a flat picture", { view: { width: "0.1" } }],
  ["a solid", { view: {}, camera: { position: [1, 2, 3] } }],
]))
  test(`a moment of a film of ${kind} is gone to where the film is then`, async () => {
    const opened = /** @type {any[]} */ ([]),
      explorer = explorerOf({ drawn: { pass: "exact" } });
    explorer.open = (/** @type {any} */ what) => opened.push(what);
    const given = { film: {}, length: 4, backwards: false, keys: [], depths: [], tracks: [] },
      others = { choices: [], put() {}, ease() {}, putTracks() {} };
    const { createElement } = document;
    page.ImageData = class {};
    document.createElement = (/** @type {string} */ tag) =>
      Object.assign(createElement(tag), {
        getContext: () => ({ putImageData() {}, drawImage() {} }),
      });
    const root = await shown(Timeline, { explorer, ...given, ...others }),
      slider = root.named("Moment of the film");
    await until(() => explorer.jobs.length);
    slider.hear("input", { target: { value: "2" } });
    const preview = { w: 1, h: 1, data: new Uint8Array(4) };
    for (let k = 0; k < 9 && !root.text.includes("Go there"); k++) {
      const job = explorer.jobs.at(-1);
      job.told({ t: "surprised", scene: keys, preview });
      job.resolve({});
      await settled();
    }
    root.named("Go there").hear("click");
    document.createElement = createElement;
    assert.deepEqual(opened, [{ scene: { ...explorer.scene, ...keys } }]);
    render(null, root);
  });

test("times of places stay where the length of another film is changed", async () => {
  const places = [1, 2].map((id) => ({ id, title: `${id}`, link: `${id}`, thumbnail: "" }));
  stored["fractals.film"] = JSON.stringify({ places, times: [0, 4] });
  const explorer = explorerOf(),
    root = await shown(filmPanel(context(explorer)).View);
  root.named("Whole set").hear("click");
  await until(() => explorer.asked.length);
  const answer = {
    seconds: 1,
    frames: 1,
    length: 10,
    left_out: [],
    times: [],
    depths: [0, 1],
    bytes: 1,
  };
  explorer.asked.at(-1).resolve(answer);
  await until(() => root.text.includes("1 frames"));
  const field = root.all.find((/** @type {any} */ each) => each.id === "field-Seconds");
  field.value = "20";
  field.hear("change", { target: field });
  await until(() => explorer.asked.at(-1).message.seconds === 20);
  assert.deepEqual(JSON.parse(stored["fractals.film"]).times, [0, 4]);
  assert.equal(explorer.asked.at(-1).message.seconds, 20);
  render(null, root);
});

test("a palette that is pointed at no more is laid over no image of points", async () => {
  const explorer = explorerOf({
    placed: { ...PLACED, values: false },
    stage: { renderer: { values: true }, peek: () => false },
    catalog: {
      ...explorerOf().catalog,
      palettes: [{ name: "ember", title: "Ember", stops: ["#000000", "#ffffff"], cyclic: true }],
      schema: { $defs: { Display: { properties: KEYS }, Develop: { properties: KEYS } } },
      curves: [],
      filters: [],
    },
  });
  const panel = colorPanel(context(explorer, { tried: { end() {} } })),
    root = await shown(panel.View),
    ember = root.all.find((/** @type {any} */ each) => each.attributes.title === "Ember");
  ember.hear("pointermove", { pointerType: "mouse" });
  ember.hear("pointerleave");
  explorer.asked[0].resolve({ entries: 1, rows: new Uint16Array(9) });
  await settled();
  assert.equal(explorer.jobs.length, 0);
  render(null, root);
});

for (const [name, panelOf, button] of /** @type {const} */ ([
  ["surprises", surprisePanel, "More like Mutation"],
  ["the gallery", galleryPanel, "More like Sea"],
]))
  test(`more like a scene of ${name} is mutated once that scene is drawn`, async () => {
    let drawn = 0;
    const explorer = explorerOf();
    page.history ??= { state: {}, replaceState() {} };
    explorer.catalog = {
      ...explorer.catalog,
      scenes: [{ name: "sea", title: "Sea", group: "Flat" }],
    };
    const panel = panelOf(context(explorer, { open: async () => ({ draw: () => (drawn += 1) }) }));
    if (panelOf === surprisePanel) {
      panel.draw();
      const preview = { w: 1, h: 1, data: new Uint8Array(4) };
      page.ImageData = class {};
      const { createElement } = document;
      document.createElement = (/** @type {string} */ tag) =>
        Object.assign(createElement(tag), {
          getContext: () => ({ putImageData() {}, drawImage() {} }),
        });
      explorer.jobs[0].told({ t: "surprised", index: 0, label: "Mutation", scene: {}, preview });
      document.createElement = createElement;
      explorer.jobs[0].resolve({});
      await settled();
    }
    const root = await shown(panel.View),
      more = root.named(button),
      count = () => drawn + explorer.jobs.length,
      before = count();
    more.hear("click");
    explorer.dispatchEvent(new CustomEvent("drawn")); // of the scene that is left
    await settled();
    assert.equal(count(), before);
    explorer.opening = false;
    explorer.dispatchEvent(new CustomEvent("drawn"));
    explorer.dispatchEvent(new CustomEvent("drawn"));
    await settled();
    assert.equal(count(), before + 1);
    more.hear("click");
    const detail = { kind: "error", text: "it can't be drawn" };
    explorer.dispatchEvent(new CustomEvent("message", { detail }));
    explorer.opening = false;
    explorer.dispatchEvent(new CustomEvent("drawn"));
    await settled();
    assert.equal(count(), before + 1);
    render(null, root);
  });

test("a bookmark that could not be removed is not told to be, and an order that was not kept is not shown", async () => {
  const explorer = explorerOf(),
    panel = bookmarksPanel(context(explorer)),
    root = await shown(panel.View);
  panel.shown();
  const items = ["a", "b"].map((id) => ({ id, title: id, link: id, thumbnail: "" }));
  explorer.asked[0].resolve({ items });
  await settled();
  notes.length = 0;
  root.named("Remove a").hear("click");
  explorer.asked.at(-1).reject(new Error("the connection is lost"));
  await settled();
  assert.deepEqual(notes, ["the connection is lost"]);
  const titles = () =>
    root.all
      .filter((/** @type {any} */ each) => each.localName === "li")
      .map((/** @type {any} */ { text }) => text.trim());
  const grip = root.all.find((/** @type {any} */ each) => each.attributes["data-grip"] === "a");
  document.querySelector = () => null;
  grip.hear("keydown", { key: "ArrowRight" });
  await settled();
  assert.deepEqual(titles(), ["b", "a"]);
  explorer.asked.at(-1).reject(new Error("the connection is lost"));
  await settled();
  assert.deepEqual(titles(), ["a", "b"]);
  assert.equal(notes.length, 2);
  render(null, root);
});

test("the title of a bookmark that could not be kept stays", async () => {
  const explorer = explorerOf(),
    root = await shown(bookmarksPanel(context(explorer)).View),
    form = root.all.find((/** @type {any} */ each) => each.localName === "form"),
    field = root.named("Title of the bookmark");
  field.hear("input", { target: { value: "Spiral" } });
  for (const [answer, left] of /** @type {const} */ ([
    ["reject", "Spiral"],
    ["resolve", ""],
  ])) {
    await settled();
    form.hear("submit");
    explorer.asked
      .at(-1)
      [answer](answer === "reject" ? new Error("the connection is lost") : { items: [] });
    await settled();
    assert.equal(field.value, left);
  }
  render(null, root);
});

test("what comes of a sheet that was left is not put on the sheet in its place", async () => {
  const explorer = explorerOf(),
    panel = surprisePanel(context(explorer)),
    root = await shown(panel.View),
    actions = await shown(panel.Actions);
  const preview = { w: 1, h: 1, data: new Uint8Array(4) },
    { createElement } = document;
  page.ImageData = class {};
  document.createElement = (/** @type {string} */ tag) =>
    Object.assign(createElement(tag), {
      getContext: () => ({ putImageData() {}, drawImage() {} }),
    });
  const tell = (/** @type {any} */ job, /** @type {number} */ index, /** @type {string} */ label) =>
    job.told({ t: "surprised", index, label, scene: { label }, preview });
  const cards = () =>
    root.all
      .filter(
        (/** @type {any} */ each) => each.attributes.class === "card" || each.className === "card",
      )
      .map((/** @type {any} */ { text }) => text.trim());
  panel.draw();
  const [first] = explorer.jobs;
  tell(first, 0, "One");
  first.resolve({});
  await settled();
  panel.draw();
  const [, left] = explorer.jobs;
  tell(left, 0, "Left");
  await settled();
  actions.named("The sheet before").hear("click");
  panel.draw();
  const [, , newest] = explorer.jobs;
  tell(newest, 1, "New");
  tell(left, 0, "Late"); // it was under way
  left.reject(Object.assign(new Error("cancelled"), { cancelled: true }));
  await settled();
  tell(newest, 2, "Newest");
  await settled();
  assert.deepEqual(cards(), ["New", "Newest"]);
  newest.resolve({});
  await settled();
  assert.deepEqual(cards(), ["New", "Newest"]);
  document.createElement = createElement;
  render(null, root);
  render(null, actions);
});

test("a wrong place of an own formula is marked where the server says, in any words", async () => {
  const explorer = explorerOf();
  explorer.changeFormula = () => {};
  const root = await shown(formulaPanel(context(explorer)).View);
  const tell = async (/** @type {object} */ detail) => {
    const [field] = root.all.filter((/** @type {any} */ { localName }) => localName === "textarea");
    field.hear("input", { target: { value: "z**2 + (" } });
    await settled();
    root.all.find((/** @type {any} */ { localName }) => localName === "form").hear("submit");
    explorer.dispatchEvent(new CustomEvent("message", { detail: { kind: "error", ...detail } }));
    await settled();
    const marked = root.all.find((/** @type {any} */ { localName }) => localName === "mark");
    return [marked?.text, root.text.includes(/** @type {any} */ (detail).text)];
  };
  assert.deepEqual(await tell({ text: "Spalte 8: hier fehlt etwas", column: 8 }), ["(", true]);
  assert.deepEqual(await tell({ text: "column 3: of a file: a line" }), [undefined, true]);
  render(null, root);
});

test("a message stays until it is closed, however many come after it", () => {
  const of = (/** @type {string} */ id, stays = false, text = id) => ({
    id,
    text,
    kind: "",
    stays,
  });
  const shown = (/** @type {any[]} */ ...all) =>
    all
      .reduce((before, each) => withMessage(before, each), [])
      .map((/** @type {any} */ { id }) => id);
  const lost = of("lost", true);
  assert.deepEqual(shown(lost, ..."abcd".split("").map((id) => of(id))), ["lost", "b", "c", "d"]);
  assert.deepEqual(shown(of("a"), lost, of("b", true), of("c", true), of("d", true)).length, 5);
  assert.deepEqual(shown(lost, of("a", false, "lost")), ["lost"]); // it is there already
  assert.deepEqual(shown(of("a", false, "lost"), lost), ["lost"]);
  assert.deepEqual(shown(lost, of("a"), of("lost", true, "again")), ["a", "lost"]);
  const whole = { ...of("lost", true, "Lost. Trying again."), also: "Lost" };
  assert.deepEqual(shown(whole, of("a"), of("b", false, "Lost")), ["lost", "a"]);
  assert.deepEqual(shown(of("a"), of("b", false, "a")), ["b"]);
});

test("a file of sound that is refused without a reason is told by the page", async () => {
  delete stored["fractals.film"];
  const { fetch } = page,
    root = await shown(filmPanel(context(explorerOf())).View);
  const answer = async (/** @type {Response} */ told) => {
    notes.length = 0;
    page.fetch = async () => told;
    const field = root.all.find(
      (/** @type {any} */ { attributes, type }) => (attributes.type ?? type) === "file",
    );
    field.hear("change", { target: { files: [new File(["x"], "a.wav")], value: "" } });
    await settled();
    return notes;
  };
  assert.deepEqual(await answer(new Response("no way", { status: 418 })), [
    "“a.wav”: The server answered 418",
  ]);
  assert.deepEqual(await answer(new Response("no", { status: 403 })), [
    "“a.wav”: This server takes no files.",
  ]);
  const error = "there is no sound in it";
  assert.deepEqual(await answer(Response.json({ error }, { status: 400 })), [
    "“a.wav”: There is no sound in it",
  ]);
  assert.deepEqual(await answer(Response.json({ sound: "0a" })), []);
  page.fetch = fetch;
  render(null, root);
});

test("an entry of a file that can't be drawn is not offered, whatever is said of it", async () => {
  const { upload } = transport,
    entries = ["a", "b"].map((name) => [name, `unsupported: ${name}`]);
  transport.upload = async () => ({ entries, refused: ["b"] });
  const panel = filePanel(context(explorerOf())),
    root = await shown(panel.View);
  await panel.take(new File(["x"], "many.par"));
  await settled();
  const offered = root.all.filter((/** @type {any} */ each) => each.localName === "button");
  assert.deepEqual(
    offered.map((/** @type {any} */ { disabled }) => disabled),
    [false, true],
  );
  transport.upload = upload;
  render(null, root);
});

test("palettes that another version has kept and this one can't read are left out, and stay kept", async () => {
  const catalog = /** @type {any} */ ({
    palettes: [
      { name: "ember", title: "Ember", stops: ["#000000", "#ffffff"], cyclic: true },
      { name: "ice", title: "Ice", stops: ["#000000", "#ffffff"], cyclic: true },
    ],
    colorings: [],
  });
  const odd = [{ title: "Odd", colors: [] }, { title: "Odder", stops: [{ at: 0 }] }, { stops: [] }],
    mine = { title: "Mine", stops: [[0, "#102030"]], cyclic: true };
  kept.set("palettes", [...odd, mine]);
  kept.set("favourites", ["gone", "ice"]);
  assert.deepEqual(favoritesIn(catalog), ["ice"]);
  const given = { catalog, chosen: "ember", choose() {}, peek() {} },
    own = await shown(OwnPalettes, given),
    all = await shown(Palettes, given);
  assert.match(own.text, /^\s*Mine\s*$/);
  assert.match(all.text, /Ice\s*F2/); // the first key
  own.named("Remove Mine").hear("click");
  assert.deepEqual(kept.get("palettes", []), odd);
  render(null, own);
  render(null, all);
});

test("a palette that is pointed at ends no comparison with a snapshot", async () => {
  const explorer = explorerOf({
    placed: { ...PLACED, values: false },
    stage: { renderer: { values: true }, peek: () => false },
    catalog: {
      ...explorerOf().catalog,
      palettes: [{ name: "ember", title: "Ember", stops: ["#000000", "#ffffff"], cyclic: true }],
      schema: { $defs: { Display: { properties: KEYS }, Develop: { properties: KEYS } } },
      curves: [],
      filters: [],
    },
  });
  const given = context(explorer, { tried: { end() {} } }),
    panel = colorPanel(given),
    root = await shown(panel.View),
    ember = root.all.find((/** @type {any} */ each) => each.attributes.title === "Ember"),
    snapshot = { picture: "data:image/jpeg;base64,", title: "Snapshot A", split: 0.5 };
  given.ui.over = snapshot;
  ember.hear("pointerenter");
  ember.hear("pointermove", { pointerType: "mouse" });
  explorer.asked.at(-1).resolve({ entries: 1, rows: new Uint16Array(9) });
  await settled();
  assert.equal(explorer.jobs.length, 0);
  ember.hear("pointerleave");
  assert.deepEqual(given.ui.over, snapshot);
  render(null, root);
});

test("without a connection a Julia set is said not to be there, and none is asked for", () => {
  const told = /** @type {string[]} */ ([]),
    asked = /** @type {any[]} */ ([]);
  const explorer = explorerOf({
    connected: false,
    tell: (/** @type {string} */ text) => told.push(text),
  });
  explorer.open = (/** @type {any} */ what) => asked.push(what);
  const canvas = Object.assign(new EventTarget(), { width: 100, height: 75 }),
    { enter } = juliaTool(/** @type {any} */ ({ explorer, canvas, ui: { second: null } }));
  enter();
  assert.deepEqual([told, asked], [["the connection is lost"], []]);
  explorer.connected = true;
  enter();
  assert.deepEqual(asked, [{ julia: { at: [800, 600] } }]);
  explorer.placed = { ...PLACED, julia: ["0", "1"] };
  enter();
  assert.match(told[1], /^This is a Julia set already/);
  assert.equal(asked.length, 1);
});

test("touches that preview Julia sets end where there are none: no button would end them", () => {
  const explorer = explorerOf({ connected: false, tell() {}, julia() {} });
  const canvas = Object.assign(new EventTarget(), { width: 100, height: 75, clientHeight: 75 }),
    box = { left: 0, top: 0, width: 100, height: 75 },
    tool = juliaTool(
      /** @type {any} */ ({
        explorer,
        canvas: Object.assign(canvas, { getBoundingClientRect: () => box }),
        ui: { second: null },
      }),
    );
  const isHeld = () => {
    const touch = Object.assign(new Event("pointerdown", { cancelable: true }), {
      ...{ pointerId: 1, clientX: 1, clientY: 1 },
    });
    canvas.dispatchEvent(touch);
    return touch.defaultPrevented;
  };
  tool.preview();
  assert.equal(isHeld(), false); // there is no connection
  explorer.connected = true;
  tool.preview();
  assert.equal(isHeld(), true);
  explorer.dispatchEvent(new CustomEvent("disconnected"));
  assert.equal(isHeld(), false);
  tool.preview();
  explorer.placed = { ...PLACED, values: false };
  explorer.dispatchEvent(new CustomEvent("placed"));
  assert.equal(isHeld(), false);
});

test("a layer is moved again by the key that has moved it: the focus goes along", async () => {
  const own = observe({
    color: { layers: ["slopes", "distance", "rank"].map((coloring) => ({ coloring })) },
    picked: 1,
  });
  const explorer = explorerOf();
  const View =
    () => html`<${Layers} explorer=${explorer} color=${own.color} picked=${own.picked} level=${0} catalog=${explorer.catalog} tried=${{}} Mask=${() => null}
    pick=${(/** @type {number} */ picked) => (own.picked = picked)} change=${(/** @type {any} */ color) => (own.color = color)} />`;
  const root = await shown(View);
  document.querySelectorAll = () =>
    root.all.filter(
      (/** @type {any} */ each) =>
        each.localName === "button" &&
        each.parentNode.localName === "span" &&
        /picked/.test(
          each.parentNode.parentNode.className ?? each.parentNode.parentNode.attributes.class,
        ),
    );
  for (const [order, name] of [
    ["distance slopes rank", "Move Slopes up"],
    ["distance rank slopes", "Move Slopes down"],
  ]) {
    const up = root.named("Move Slopes up");
    up.focus();
    up.hear("click");
    await settled(50);
    assert.equal(own.color.layers.map(({ coloring }) => coloring).join(" "), order);
    assert.equal(document.activeElement.attributes["aria-label"], name);
  }
  render(null, root);
});
