import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import * as de from "../../../fractals/explorer/client/words/de.js";
import * as en from "../../../fractals/explorer/client/words/en.js";
import { inWords, labelOf, meaningOf, ofFile } from "../../../fractals/explorer/client/heard.js";
import {
  ANY,
  decimalField,
  limitField,
  numberField,
  partField,
  PLACE,
  plainOf,
  pointField,
} from "../../../fractals/explorer/client/written.js";

const ODD = [
  "",
  " ",
  "abc",
  "-",
  "+",
  ".",
  ",",
  "e5",
  "1e",
  "1e99999999",
  "1e-99999999",
  "--1",
  "1..2",
  "1,2,3,4",
  "0x10",
  "NaN",
  "Infinity",
  "1/3",
  "z^2",
  "½",
  "１２",
  "<b>1</b>",
  "1 2",
  "1_0",
];
const PIXELS = numberField({ such: "1920", least: 1, most: 32_768, whole: true, large: true });
const FIELDS = { ...PLACE, any: ANY, point: pointField, pixels: PIXELS };

test("numbers are read as people write them", () => {
  for (const [given, plain] of [
    ["-0.7453", "-0.7453"],
    ["−0,7453", "-0.7453"],
    ["+ 2", "2"],
    [",5", ".5"],
    ["3 × 10^12", "3e12"],
    ["1e-1000", "1e-1000"],
    ["1,000,000", "1000000"],
    ["1'000'000.5", "1000000.5"],
    ["1 000 000", "1000000"],
    ["1\u202f000\u202f000", "1000000"],
    ["1.000.000,5", "1000000.5"],
    ["1,000", "1.000"],
  ])
    assert.equal(plainOf(given), plain, given);
  assert.equal(plainOf("2,985", true), "2985"); // as the status line writes it
  assert.equal(plainOf("0,985", true), "0.985");
  const digits = `-0.${"74364388703715870475".repeat(50)}`;
  assert.equal(plainOf(digits), digits);
});

test("every field says in words what is wrong with odd values, and takes the values that it names", () => {
  for (const [name, read] of Object.entries(FIELDS)) {
    for (const odd of ODD) {
      const { value, wrong } = read(odd);
      assert.equal(value, undefined, `${name}: ${odd}`);
      assert.match(String(wrong), /^[A-Z][\w\s,.°'-]*\.$/, `${name}: ${odd}`);
      assert.doesNotMatch(String(wrong), /[a-z]\.[a-z]|_|\(/, `${name}: ${odd}`);
    }
    const examples = /such as (.*)\.$/.exec(String(read("abc").wrong))?.[1] ?? "";
    for (const such of name === "point" ? [examples] : examples.split(" or "))
      assert.notEqual(read(such).value, undefined, `${name}: ${such}`);
  }
});

test("fields know their ranges", () => {
  for (const odd of ["0", "-1", "0.0e5", "-1e-5000"]) assert.ok(PLACE.zoom(odd).wrong, odd);
  assert.equal(PLACE.zoom("1e20001").wrong, "Exponents go from -20,000 to 20,000.");
  assert.equal(PLACE.center("1e20001").wrong, "Exponents go from -20,000 to 20,000.");
  assert.deepEqual(PLACE.zoom("3x"), { value: "3" });
  assert.deepEqual(PLACE.zoom("1,000,000"), { value: "1000000" });
  assert.deepEqual(PLACE.zoom("1e-5000"), { value: "1e-5000" });
  assert.deepEqual(PLACE.width("1,5"), { value: "1.5" });
  assert.deepEqual(PLACE.rotation("−30°"), { value: -30 });
  assert.equal(PLACE.rotation("361").wrong, "Type a number from -360 to 360, such as 30.");
  for (const odd of ["0", "1e9", "2.5", "-3", "32769"])
    assert.equal(PIXELS(odd).wrong, "Type a whole number from 1 to 32,768, such as 1920.", odd);
  assert.deepEqual(PIXELS("4,961"), { value: 4961 });
  assert.equal(ANY("1e400").wrong, "Type a smaller number, such as 0.5.");
  assert.ok(decimalField({ such: "1" })("1e1000001").wrong);
  for (const given of ["1.5, -2, 0.8", "1,5; -2; 0,8", "1.5 −2 .8", "1.5,-2,0.8", "1,5, -2, 0,8"])
    assert.deepEqual(pointField(given), { value: [1.5, -2, 0.8] }, given);
});

test("powers of ten and of two are read as people and this page write them", () => {
  for (const [given, value] of [
    ["1.97 × 10⁴", "1.97e4"],
    ["1.2*10^30", "1.2e30"],
    ["10^20", "1e20"],
    ["3 · 10⁻⁵", "3e-5"],
    ["10⁴³¹", "1e431"],
    ["2^10", "1.024e3"],
  ])
    assert.deepEqual(PLACE.zoom(given), { value }, given);
  const far = /^(\d\.\d+)e(\d+)$/.exec(String(PLACE.zoom("2^5000").value)); // 1.412...e1505
  assert.equal(far?.[2], "1505");
  assert.ok(Math.abs(Number(far?.[1]) - 1.41246703) < 1e-8);
  assert.ok(PLACE.zoom("3^10").wrong && PLACE.zoom("2^-3").wrong);
});

test("a limit of iterations is a whole number, or auto", () => {
  for (const auto of ["auto", " AUTO ", ""]) assert.deepEqual(limitField(auto), { value: "auto" });
  for (const given of ["22,788", "22788", "2.2788e4"])
    assert.deepEqual(limitField(given), { value: 22788 }, given);
  for (const odd of ["0", "2.5", "-3", "3e9", "many"])
    assert.equal(
      limitField(odd).wrong,
      "Type a whole number from 1 to 2,000,000,000, such as 5000 or auto.",
      odd,
    );
});

test("lines of the server are in words of the page", () => {
  for (const [line, words] of [
    ["view.zoom: 'abc' is not a decimal number", "Zoom: 'abc' is not a decimal number"],
    ["export.size.0: 'x' is not a whole number", "Width in pixels: 'x' is not a whole number"],
    [
      "formula.name: unknown formula 'nope'; fractals.names('formulas') shows all",
      "Formula: unknown formula 'nope'; the panel Formula has all",
    ],

    [
      "this is the whole set: zoom in first, or film from here on",
      "This is the whole set: zoom in first, or choose “From here”.",
    ],
    ["color.layers.0.blend: 'x' is no blend", "Blend: 'x' is no blend"],
    ["iteration.max_iterations: 'x' is no number", "Limit of iterations: 'x' is no number"],
    ["a relief has no heights: leave heights= out", "A relief has no heights: leave heights out"],
    ["'a.b: size= is kept' is yours", "'a.b: size= is kept' is yours"],
    ["the connection is lost", "The connection is lost"],
  ])
    assert.equal(inWords(line), words);
});

test("lines about values that are wrong are told in each language", async () => {
  const lines = {
    "formula.name: unknown formula 'x; y'; fractals.names('formulas') shows all": [
      "Formel: unbekannte Formel 'x; y'; das Feld Formel hat alle",
      "公式: 未知的公式 'x; y'; “公式”面板中有全部",
    ],
    "color.coloring: unknown coloring 'smoth'; did you mean 'smooth'?": [
      "Färbung: unbekannte Färbung 'smoth'; gemeint ist wohl 'smooth'",
      "着色方式: 未知的着色方式 'smoth'; 是否指 'smooth'？",
    ],
    "view.centre: unknown key; did you mean 'center'?": [
      "Centre: unbekannter Schlüssel; gemeint ist wohl 'center'",
      "Centre: 未知的键; 是否指 'center'？",
    ],
    "view.zoom: '3x' is not a decimal number such as '-0.75' or '3e-6'": [
      "Zoom: '3x' ist keine Dezimalzahl wie '-0.75' oder '3e-6'",
      "Zoom: '3x' 不是 '-0.75' 或 '3e-6' 这样的十进制数",
    ],
  };
  const heard = new URL("../../../fractals/explorer/client/heard.js", import.meta.url).href,
    code = `
      const page = { document: {}, location: { search: "?language=" + process.argv[1] } };
      Object.assign(globalThis, page);
      Object.defineProperty(globalThis, "navigator", { value: { languages: [] } });
      const { inWords } = await import(${JSON.stringify(heard)});
      console.log(JSON.stringify(JSON.parse(process.argv[2]).map((line) => inWords(line))));`;
  for (const [k, language] of ["de", "zh"].entries()) {
    const given = [language, JSON.stringify(Object.keys(lines))],
      told = execFileSync(process.execPath, ["--input-type=module", "-e", code, ...given]);
    assert.deepEqual(
      JSON.parse(String(told)),
      Object.values(lines).map((each) => each[k]),
    );
  }
});

test("what a line means is said where the server tells it, whatever the line says", () => {
  const bound = (/** @type {any} */ code, /** @type {string} */ key, /** @type {number} */ limit) =>
    meaningOf({ message: "a line", code, key, limit });
  assert.equal(meaningOf({ message: "a line" }), "A line");
  assert.equal(meaningOf({ message: "size=: a line", code: "" }), "Size: a line");
  for (const [told, words] of [
    [bound("takes_at_least", "export.size.0", 1), "Width in pixels: 1 or more"],
    [bound("takes_at_least", "size.1", 1), "Height in pixels: 1 or more"],
    [bound("takes_at_least", "color.density", -1e6), "Density: -1,000,000 or more"],
    [bound("takes_at_most", "light.sun.1", 1.5), "Sun: 1.5 or less"],
    [bound("takes_more_than", "a.b", 0), "B: more than 0"],
    [bound("takes_less_than", "b", 2.5e-7), "B: less than 0.00000025"],
    [
      meaningOf({ message: "no nucleus", code: "no_minibrot_was_found" }),
      "No minibrot was found in this view: zoom out, or move to the edge of the set.",
    ],
    [
      meaningOf({ message: "a Julia set has no nuclei", code: "of_a_julia_set" }),
      "A Julia set has neither minibrots nor eyes of spirals: go back to the map, and search there.",
    ],
  ])
    assert.equal(told, words);
});

test("surprises are called in the language of the page, by English names of palettes and colorings", () => {
  const labels = /** @type {import("../../../fractals/explorer/client/heard.js").Named[]} */ ([
    { label: "Tide" },
    { label: "tide", way: "near_by_in", other: "" },
    { label: "a 1.2", way: "near_by", other: "" },
    { label: "Rust", way: "colored_by", other: "angle" },
    { label: "Ink", way: "under_a_layer", other: "slopes" },
    { label: "Near by, in tide" }, // a favorite of an older version
  ]);
  assert.deepEqual(labels.map(labelOf), [
    "Tide",
    "Near by, in tide",
    "Near by: a 1.2",
    "Rust, by angle",
    "Ink under slopes",
    "Near by, in tide",
  ]);
  const { texts } = en,
    english = { ...texts };
  Object.assign(texts, de.texts);
  assert.deepEqual(labels.map(labelOf), [
    "Tide",
    "In der Nähe, in tide",
    "In der Nähe: a 1.2",
    "Rust, nach angle",
    "Ink unter slopes",
    "Near by, in tide",
  ]);
  Object.assign(texts, english);
});

test("what is wrong with a file names it as it is called", () => {
  for (const [line, name, words] of [
    ["a.txt: unknown format", "a.txt", "“a.txt”: Unknown format"],
    ["view.zoom: 'x' is no number", "a.toml", "Zoom: 'x' is no number"],
    ["pasted.json: not JSON: line 1, column 2", "pasted.json", "Not JSON: line 1, column 2"],
  ]) {
    const told = ofFile(line, name);
    assert.equal(told, words);
    assert.equal(inWords(told), told); // which messages do once more
  }
});

test("a part of a larger picture is read as the command line writes it", () => {
  const read = partField([1920, 1080]);
  assert.deepEqual(read(""), { value: null });
  assert.deepEqual(read(" 3840 × 2160 + 1920+0 "), { value: "3840x2160+1920+0" });
  assert.match(read("3840x2160").wrong, /WIDTHxHEIGHT/);
  assert.match(read("-3840x2160+0+0").wrong, /WIDTHxHEIGHT/);
  assert.match(read("3840x2160+1921+0").wrong, /1920x1080/);
});
