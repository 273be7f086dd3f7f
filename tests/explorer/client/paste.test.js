import assert from "node:assert/strict";
import { test } from "node:test";

import { hasNoPlace, meaningOf, togetherOf } from "../../../fractals/explorer/client/paste.js";

const center = ["-0.7453", "0.1127"];

test("a place is two numbers, with a zoom or a width", () => {
  for (const text of [
    "-0.7453 0.1127",
    "-0.7453, 0.1127",
    "(−0.7453; 0.1127)",
    "-0.7453 + 0.1127i",
    "re = -0.7453\nim = 0.1127".replace("\n", ", "),
    "x: -0.7453 y: +0.1127",
  ])
    assert.deepEqual(meaningOf(text), { view: { center } }, text);
  for (const text of [
    "-0.7453 0.1127 1e5",
    "-0.7453 0.1127 @ 1e5",
    "Re: -0.7453, Im: 0.1127, Zoom: 1e5",
  ])
    assert.deepEqual(meaningOf(text), { view: { center, zoom: "1e5" } }, text);
  for (const text of ["-0.7453 0.1127 1e-1000", "-0.7453, 0.1127, width 1e-1000"])
    assert.deepEqual(meaningOf(text), { view: { center, width: "1e-1000" } }, text);
  assert.deepEqual(meaningOf("-0.7453 0.1127 0.004").view.width, "0.004");
});

test("all digits are kept", () => {
  const digits = `-0.${"74364388703715870475".repeat(50)}`;
  assert.deepEqual(meaningOf(`${digits} 0.1 1e900`).view, {
    center: [digits, "0.1"],
    zoom: "1e900",
  });
});

test("links, scenes and files of others are told apart", () => {
  const link = "eNo9jksKwjAURedZxbHgQLC1";
  assert.deepEqual(meaningOf(link), { link });
  assert.deepEqual(meaningOf(`http://127.0.0.1:8000/#${link}\n`), { link });
  const toml = 'title = "A"\n\n[view]\nwidth = "0.1"';
  assert.deepEqual(meaningOf(toml), { toml });
  assert.deepEqual(meaningOf('[view]\nwidth = "0.1"'), { toml: '[view]\nwidth = "0.1"' });
  assert.deepEqual(meaningOf("Re: -1.5\nIm: 0.2\nZoom: 1E20\nIterations: 500"), {
    file: "pasted.kfr",
  });
  assert.deepEqual(meaningOf('{"formula": "mandelbrot"}'), { file: "pasted.json" });
  for (const [text, file] of [
    ["Cubic (XAXIS) { ; words = more\n z = pixel:\n z = z^3 + pixel\n |z| < 9 }", "pasted.frm"],
    ["; by somebody\nCubic { z = 0: z = z^2 + pixel, |z| < 4 }", "pasted.frm"],
    ["Place { reset type=mandel\n center-mag=-0.5/0/1 }", "pasted.par"],
    [
      'Cubic { ; words\n  Init: z = 0\nloop:\n  z = z^3 + #pixel\nbailout: |z| < 9\nswitch:\n  type = "x"\n}',
      "pasted.ufm",
    ],
    [
      'Place {\nfractal:\n  title="a"\nlayer:\n  caption="b"\ngradient:\n  index=0 color=255\n}',
      "pasted.upr",
    ],
    ["Place {\n::abc\n  def\n}", "pasted.upr"],
    ['Sea {\ngradient:\n  title="Sea" index=0 color=255\n}', "pasted.ugr"],
    ["fern {\n 0 0 0 .16 0 0 .01\n}", "pasted.ifs"],
    ['<flame name="a"><xform weight="1"/></flame>', "pasted.flame"],
    ['<?xml version="1.0"?>\n<Flames name="b"></Flames>', "pasted.flame"],
  ])
    assert.deepEqual(meaningOf(text), { file }, text);
  const inline = 'formula = { name = "power", power = 3 }';
  assert.deepEqual(meaningOf(inline), { toml: inline });
});

test("other text is nothing", () => {
  for (const text of [
    "",
    "hello",
    "1",
    "1 2 3 4",
    "call 555 1234 now",
    "eNo",
    "see you at 3, or 4",
  ])
    assert.equal(meaningOf(text), null, text);
});

test("parameters of Ultra Fractal are sent with the formulas that are dropped beside them", async () => {
  const [a, b, c] = ["a.UFM", "b.upr", "c.ufm"].map((name) => new File([`text of ${name}`], name));
  const sent = togetherOf([a, b, c]);
  assert.equal(sent?.name, "b.upr");
  assert.equal(await sent?.text(), "text of b.upr\ntext of a.UFM\ntext of c.ufm");
  assert.equal(togetherOf([a, c]), a);
  assert.equal(togetherOf([]), undefined);
});

test("numbers have a decimal comma where ; or blanks divide them, and groups of digits", () => {
  for (const text of [
    "-0,7453; 0,1127; 1e4",
    "-0,7453 0,1127 1e4",
    "−0,7453;0,1127;1 · 10^4".replace("1 · 10^4", "1e4"),
    "Re: -0,7453; Im: 0,1127; Zoom: 1e4",
  ])
    assert.deepEqual(meaningOf(text), { view: { center, zoom: "1e4" } }, text);
  for (const text of ["-0,7453; 0,1127; 1.000.000", "-0.7453 0.1127 1.000.000"])
    assert.deepEqual(meaningOf(text), { view: { center, zoom: "1000000" } }, text);
  assert.deepEqual(meaningOf("-1,5; 2"), { view: { center: ["-1.5", "2"] } });
  assert.deepEqual(meaningOf("-1,0 700"), { view: { center: ["-1", "0"], zoom: "700" } }); // as before
  for (const text of ["-0.7453, 0.1127, 1,000,000", "-0.7453 0.1127 1'000'000"])
    assert.deepEqual(meaningOf(text), { view: { center, zoom: "1000000" } }, text);
  for (const text of ["-0,7453,0,1127", "1,2,3,4 5", "-0,7453; 0,1127; 1; 2"])
    assert.equal(meaningOf(text), null, text);
});

test("words say which number is which, in any order", () => {
  for (const text of [
    "Zoom: 1e5, Re: -0.7453, Im: 0.1127",
    "zoom=1e5 x=-0.7453 y=0.1127",
    "Zoom 1e5 at -0.7453 0.1127",
    "im 0.1127 re -0.7453 mag 1e5",
    "-0.7453 (re) 0.1127 (im) 1e5 (zoom)",
    "Real: -0.7453\nImaginary: 0.1127\nZoom: 1e5\nIterations: 5000",
    "re=-0.7453&im=0.1127&zoom=1e5",
    "complex(-0.7453, 0.1127), 1.0 × 10⁵".replace("1.0", "1"),
  ])
    assert.deepEqual(meaningOf(text), { view: { center, zoom: "1e5" } }, text);
  assert.deepEqual(meaningOf("-0.7453 0.1127 zoom 0.5")?.view, { center, zoom: "0.5" });
  assert.deepEqual(meaningOf("width 3, -0.7453 0.1127")?.view, { center, width: "3" });
  for (const text of ["re 1 re 2", "1 2 zoom -3", "re 1 zoom 5", "1 2 3 zoom 5"])
    assert.equal(meaningOf(text), null, text);
});

test("an imaginary part keeps its sign, wherever i stands", () => {
  const below = ["-0.7453", "-0.1127"];
  for (const text of [
    "-0.7453 - 0.1127i",
    "-0.7453 - i0.1127",
    "-0.7453 - i*0.1127",
    "-0.7453-0.1127j",
    "−0.7453 − 0.1127·i".replace("·", "*"),
  ])
    assert.deepEqual(meaningOf(text), { view: { center: below } }, text);
  assert.deepEqual(meaningOf("-0.7453 + i 0.1127"), { view: { center } });
});

test("powers are numbers of a place", () => {
  for (const [text, zoom] of [
    ["-0.7453 0.1127 10^20", "1e20"],
    ["-0.7453 0.1127 1.97 × 10⁴", "1.97e4"],
    ["-0.7453 0.1127 2^10", "1.024e3"],
  ])
    assert.deepEqual(meaningOf(text)?.view, { center, zoom }, text);
});

test("a link of Mandelbrot.site is its scene", () => {
  const of = (/** @type {string} */ asked) => meaningOf(`https://mandelbrot.site/?${asked}`);
  const digits = `-0.${"74364388703715870475".repeat(5)}`;
  assert.equal(
    of(`re=${digits}&im=0.1127&z=4&i=200&e=2&c=turbo&r=false`)?.toml,
    `formula = "mandelbrot"\n[view]\ncenter = ["${digits}", "0.1127"]\nwidth = "2.3"\n`,
  );
  assert.match(
    String(of("re=0&im=0&z=3&e=5")?.toml),
    /^formula = { name = "multibrot", power = 5 }/,
  );
  assert.match(String(of("re=0&im=0&z=1003")?.toml), /width = "4\.2930\d+e-301"/); // 4.6 / 2^1000
  for (const asked of ["re=0&im=0", "re=0&im=x&z=3", "re=0&im=0&z=x", 're="&im=0&z=3'])
    assert.equal(of(asked), null, asked);
  assert.equal(meaningOf("https://elsewhere.example/?re=0&im=0&z=3"), null);
});

test("positions of XaoS and Fraktaler-3 are files", () => {
  assert.deepEqual(meaningOf("(initstate)\n(view -0.75 0.1 2.5 2.5)"), { file: "pasted.xpf" });
  assert.deepEqual(meaningOf("; Position file\n(initstate)\n(view 0 0 2 2)"), {
    file: "pasted.xpf",
  });
  for (const text of [
    'program = "fraktaler-3"\n[location]\nreal = "0"',
    'location.real = "0"\nlocation.imag = "1"',
  ])
    assert.deepEqual(meaningOf(text), { file: "pasted.toml" }, text);
});

test("a line of parameters is a place, or a part of an entry", () => {
  const view = { center, zoom: "1000" };
  assert.deepEqual(meaningOf("center-mag=-0.7453/0.1127/1000"), { view });
  for (const text of ["corners=-1/1/-2/2", "center-mag=0/0/1/1/30/0 params=0/0"])
    assert.match(String(meaningOf(text)?.wrong), /^This is a part of an entry\./, text);
  assert.deepEqual(meaningOf("center=-0.7453/0.1127 magn=1000"), { view });
  assert.deepEqual(
    meaningOf("  magn=1000 center=-0.7453/0.1127 angle=30")?.wrong?.slice(0, 32),
    "This is a part of an entry. Past",
  );
  assert.deepEqual(meaningOf('formula = "nope"'), { toml: 'formula = "nope"' });
});

test("a solid, a flame or an attractor has no places of c", () => {
  const catalog = {
    formulas: [
      { name: "mandelbrot", values: true },
      { name: "flame", values: false },
      { name: "buddhabrot", values: false },
    ],
  };
  const shown = (/** @type {any} */ formula, camera = null) =>
    hasNoPlace({ catalog, placed: { camera }, scene: { formula } });
  assert.equal(shown({ name: "flame", transforms: [] }), true);
  assert.equal(shown("mandelbulb", /** @type {any} */ ({})), true);
  for (const formula of ["mandelbrot", "buddhabrot", { name: "expression", step: "z^2" }])
    assert.equal(shown(formula), false);
});
