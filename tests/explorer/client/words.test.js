import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import {
  keyOf,
  languageOf,
  ofServer,
  say,
  speak,
  within,
  words,
} from "../../../fractals/explorer/client/words.js";
import { texts as ofClass } from "../../../fractals/explorer/client/class/said.js";
import { texts as ofSite } from "../../../fractals/explorer/client/site/said.js";
import * as de from "../../../fractals/explorer/client/words/de.js";
import * as en from "../../../fractals/explorer/client/words/en.js";
import * as zh from "../../../fractals/explorer/client/words/zh.js";

const CLIENT = new URL("../../../fractals/explorer/client/", import.meta.url);
const MODULES = readdirSync(CLIENT, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".js") && !/^(lib|words)\//.test(name))
  .map((name) => ({ name, text: readFileSync(new URL(name, CLIENT), "utf8") }));
const TABLES = { de, zh };
const holes = (/** @type {string} */ text) =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort();

test("a chosen language is kept, or stands in the address where the browser keeps nothing", () => {
  const shown = { href: "http://here/?plain#scene" },
    there = new Map();
  let full = true;
  const fakes = {
    localStorage: {
      getItem: () => null,
      setItem(/** @type {string} */ key, /** @type {string} */ value) {
        if (full) throw new Error("full");
        there.set(key, value);
      },
    },
    location: { ...shown, reload: () => {} },
    history: {
      state: null,
      replaceState: (
        /** @type {null} */ _,
        /** @type {string} */ __,
        /** @type {URL} */ address,
      ) => {
        fakes.location.href = address.href;
      },
    },
  };
  for (const [name, value] of Object.entries(fakes))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  try {
    speak("zh");
    assert.equal(fakes.location.href, "http://here/?plain=&language=zh#scene");
    full = false;
    speak("de");
    assert.equal(fakes.location.href, "http://here/?plain=#scene");
    assert.deepEqual([...there], [["fractals.language", '"de"']]);
  } finally {
    for (const name of Object.keys(fakes)) Reflect.deleteProperty(globalThis, name);
  }
});

test("each language has all words, none more, with the same values in them", () => {
  for (const [language, { texts, names }] of Object.entries(TABLES)) {
    assert.deepEqual(Object.keys(texts), Object.keys(en.texts), language);
    assert.deepEqual(Object.keys(names), Object.keys(en.names), language);
    for (const [key, text] of Object.entries(en.texts)) {
      assert.ok(texts[key].trim(), `${language}: ${key}`);
      assert.deepEqual(holes(texts[key]), holes(text), `${language}: ${key}`);
    }
    for (const [name, text] of Object.entries(names))
      assert.equal(text.split("#").length, name.split("#").length, `${language}: ${name}`);
  }
});

test("what a site and a class say stands in all languages, and each line is said", () => {
  for (const [folder, said] of /** @type {const} */ ([
    ["site/", ofSite],
    ["class/", ofClass],
  ])) {
    const code = MODULES.filter(({ name }) => name.startsWith(folder))
      .map(({ text }) => text)
      .join("\n");
    for (const [key, [english, german, chinese]] of Object.entries(said)) {
      assert.ok(english !== german || english === "Code", key);
      assert.match(chinese, /\p{Script=Han}/u, key);
      assert.deepEqual([holes(german), holes(chinese)], [holes(english), holes(english)], key);
      assert.ok(code.includes(`"${key}"`), key);
    }
    for (const [, key] of code.matchAll(/\b(?:told|elsewhere)\("(\w+)"/g))
      assert.ok(said[key], key);
  }
});

test("Chinese is written in Chinese, and German is not left in English", () => {
  const same = Object.keys(en.texts).filter((key) => de.texts[key] === en.texts[key]);
  assert.ok(same.length < 30, same.join()); // words such as Film, Zoom and Panorama
  const plain = Object.keys(zh.texts).filter((key) => !/\p{Script=Han}/u.test(zh.texts[key]));
  assert.deepEqual(plain, ["ctrl", "done_of", "esc", "of"]);
});

/** Names of words that the server tells, and the values beside each. */
const VALUES = /** @type {Record<string, string[]>} */ ({
  code: ["name", "value"],
  way: ["name", "other"],
});
const TYPES = readFileSync(new URL("../../../.ci/messages.d.ts", import.meta.url), "utf8"),
  TOLD = [...TYPES.matchAll(/^ +(code|way)\?: (".*);$/gm)].flatMap(([, name, kinds]) =>
    [...kinds.matchAll(/"(\w+)"/g)].map(([, key]) => [key, name]),
  );

/** Return the calls of `say` in a module: the keys that the first argument may be, and the names of values. */
function calls(/** @type {string} */ text) {
  return [...text.matchAll(/(?<![#.\w])say\(/g)].map(({ index }) => {
    let depth = 0,
      end = index + 3;
    do depth += { "(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1 }[text[end++]] ?? 0;
    while (depth);
    const inside = text.slice(index + 4, end - 1),
      [first, ...rest] = inside.split(/,\s*(?=\{)/);
    return {
      keys: [...first.matchAll(/"(\w+)"/g)].map(([, key]) => key),
      values: rest.join(",").match(/\b[A-Za-z_]\w*\b/g) ?? [],
    };
  });
}

test("each word is used, and each use has its values", () => {
  const used = new Set();
  for (const { name, text } of MODULES) {
    for (const { keys, values } of calls(text.replace(/\/\*\*.*?\*\//gs, "")))
      for (const key of keys) {
        assert.ok(Object.hasOwn(en.texts, key), `${name}: ${key}`);
        for (const hole of holes(en.texts[key]))
          assert.ok(values.includes(hole), `${name}: ${key} lacks ${hole}`);
        used.add(key);
      }
  }
  for (const [key, name] of TOLD) {
    assert.ok(Object.hasOwn(en.texts, key), `the server: ${key}`);
    for (const hole of holes(en.texts[key])) assert.ok(VALUES[name].includes(hole), key);
    used.add(key);
  }
  assert.deepEqual(
    Object.keys(en.texts).filter((key) => !used.has(key)),
    [],
  );
});

const BEFORE_REGEX = /(^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|=>)\s*$/;
const SHOWN =
  /(?:^|\s)(label|title|hint|about|placeholder|alt|below|aria-label|aria-valuetext|data-about)$/;

/** Return the texts of a module's code: of strings, plain templates, and templates of htm with their attributes.
 * @param {string} text @returns {{kind: string, text: string, before: string}[]} */
function textsOf(text) {
  const found = /** @type {{kind: string, text: string, before: string}[]} */ ([]);
  let at = 0;
  const note = (/** @type {string} */ kind, /** @type {string} */ said, start = at) =>
    found.push({ kind, text: said, before: text.slice(Math.max(0, start - 60), start) });
  /** Read code up to its end, or to the brace that closes it. */
  function code(inside = false) {
    let depth = 0;
    for (; at < text.length; at++) {
      const rest = text.slice(at, at + 2);
      if (rest === "//") at = text.indexOf("\n", at);
      else if (rest === "/*") at = text.indexOf("*/", at) + 1;
      else if (text[at] === '"' || text[at] === "'") {
        const [whole] = /^(["'])(?:\\.|(?!\1).)*\1/s.exec(text.slice(at, at + 2000)) ?? [""];
        note("string", whole.slice(1, -1));
        at += whole.length - 1;
      } else if (text[at] === "/" && BEFORE_REGEX.test(text.slice(Math.max(0, at - 40), at)))
        at +=
          (/^\/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n[])+\/\w*/.exec(text.slice(at, at + 500))?.[0]
            .length ?? 1) - 1;
      else if (text[at] === "`") template(/\bhtml$/.test(text.slice(Math.max(0, at - 5), at)));
      else if (text[at] === "}" && inside && !depth) return;
      else depth += Number(text[at] === "{") - Number(text[at] === "}");
    }
  }
  function template(/** @type {boolean} */ tagged) {
    const start = at;
    let said = "",
      tag = false,
      name = "";
    for (at++; text[at] !== "`"; at++) {
      if (text.startsWith("${", at)) {
        at += 2;
        code(true);
        if (!tagged) said += "…";
        continue;
      }
      if (tagged && text[at] === "<") {
        note("text", said);
        [said, tag, name] = ["", true, ""];
      } else if (tag && text[at] === ">") [tag, said] = [false, ""];
      else if (tag && text[at] === '"') {
        const end = text.indexOf('"', at + 1);
        if (SHOWN.test(name)) note("attribute", text.slice(at + 1, end));
        at = end;
      } else if (tag)
        name = /[=\s]/.test(text[at]) ? (text[at] === "=" ? name : " ") : name + text[at];
      else said += text[at];
    }
    note(tagged ? "text" : "template", said, start);
  }
  code();
  return found;
}

// What looks like words, and is none: keys of the keyboard, names of tables of a scene and of its groups, names of programs and
// of steps of undo, CSS, an error that only the console shows, and a form in English.
const KEYS =
  /^(Arrow(Left|Right|Up|Down)?|Enter|Escape|Home|End|Page(Up|Down)?|Delete|Backspace|Control|Shift|Alt|Tab|Files)$/;
const NO_WORDS = [
  /^(Control|Shift|Alt)\+/,
  /^(Key|Light|View|Camera|Scatter|Layer|Color|Develop|Relief|Display|FilmSettings|ImageSettings)$/,
  /^(Flat|Deep|Points|Solids)$/,
  /^(Kalles Fraktaler|Fraktaler-3|Apophysis, Chaotica|Apple GPU|NumPy|English|Deutsch)$/,
  /^(flight|gesture|pan|zoom|turn) /,
  /^(oklch shorter hue|linear-gradient\(.*|polygon\(.*|:is\(.*|:scope .*|\(prefers.*|button, .*|.* \.hint, .*)$/,
  /^(primary|tool|star|bar|empty|panel|message|julia|layer|status|corner-button|film-keys|film-key|stop|segments)\b[ …a-z-]*$/,
  /^(the worker has failed|Picture: …|name step start test .*|Width …)$/,
];

/** Whether a text of a module is English for people. @param {ReturnType<typeof textsOf>[number]} each */
function isEnglish({ kind, text, before }) {
  const plain = text.replace(/&\w+;|\\u\w{4}/g, "").trim();
  if (!/\p{L}{2}/u.test(plain) || KEYS.test(plain) || NO_WORDS.some((each) => each.test(plain)))
    return false;
  if (kind === "text" || kind === "attribute") return true;
  if (
    /(from|import\(|Error\(|\b(id|step|symbol|kind|class|role|type|t): ?)\s*$/.test(before) &&
    !/ /.test(plain)
  )
    return false;
  if (
    /\b(querySelector(All)?|matches|closest|matchMedia|getContext|addEventListener)\($/.test(before)
  )
    return false;
  return (
    /^\p{Lu}\p{Ll}+( |$|[,.:])/u.test(plain) ||
    /(^|\s)\p{Ll}{2,}[,.;:?!]?\s+\p{Ll}{2,}/u.test(plain)
  );
}

test("no text of the page stands outside the tables", () => {
  const left = [];
  for (const { name, text } of MODULES)
    // What the engine of a site says of wrong files and messages is English, as the server's is.
    if (!/^(shaders\.js|card\.js|site\/.*|class\/said\.js|panels\/losses\.js)$/.test(name))
      for (const each of textsOf(text))
        if (isEnglish(each)) left.push(`${name}: ${each.kind} ${each.text.trim()}`);
  assert.deepEqual(left, []);
});

test("a text that is left in a module is found", () => {
  const wrong = [
    'say("x"); notify("The film is ready.")',
    "html`<p>Drag it</p>`",
    'html`<${Button} label="Close" kind="quiet" />`',
    "`${n} of the formula`",
  ];
  for (const text of wrong) assert.ok(textsOf(text).some(isEnglish), text);
  const right = [
    'open("color", { step: "gesture knob 1" }); key === "ArrowLeft"',
    'html`<p class="hint">${say("ink")}</p>`',
    "`${x}px`",
  ];
  for (const text of right) assert.ok(!textsOf(text).some(isEnglish), text);
});

test("the page speaks the first language of the browser that it knows", () => {
  assert.equal(languageOf(["fr-FR", "de-AT", "en"]), "de");
  assert.equal(languageOf(["zh-Hant-TW"]), "zh");
  assert.equal(languageOf(["", "fr"]), "en");
});

test("texts take their values, and names of keys are words", () => {
  assert.equal(say("frame_of", { done: 3, of: 9, left: "" }), "Frame 3 of 9");
  assert.equal(words("soft_light"), "Soft light");
  assert.equal(words("stripe_average"), "Stripe average");
  assert.equal(words("constructor"), "Constructor");
  assert.equal(ofServer("quality 12 of 40"), "quality 12 of 40");
  assert.equal(ofServer("out of memory at 5"), "out of memory at 5");
  assert.equal(within("Link"), "link");
  assert.equal(keyOf("Draw where"), "draw_where");
  assert.equal(keyOf("Soft light"), "soft_light");
  assert.equal(keyOf("?"), undefined);
});

test("what a search does is named in each language", () => {
  for (const line of ["period", "size", "reference", "Newton #", "Newton #, # digits"])
    for (const [language, { names }] of Object.entries(TABLES))
      assert.ok(Object.hasOwn(names, line), `${language}: ${line}`);
});
