/** How templates are written as JSX, which tsc checks (`.ci/templates.mjs`). */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const SCRIPT = new URL("../../../.ci/templates.mjs", import.meta.url).pathname;
const CASES = [
  ["html`<p>none</p>`", "html`${<><p>none</p></>}`"],
  [
    'html`<${Button} label="A" bare onClick=${() => run({ a: 1 })} />`',
    "html`${<><Button label={`A`} bare onClick={() => run({ a: 1 })} /></>}`",
  ],
  [
    'html`<${Part} ...${rest}><i class="a ${b}">x > y</i><//>`',
    "html`${<><Part {...(rest)}><i class={`a ${b}`}>x   y</i></Part></>}`",
  ],
  [
    "html`${all.map((one) => html`<${Row} at=${one} />`)}`",
    "html`${<>{all.map((one) => html`${<><Row at={one} /></>}`)}</>}`",
  ],
  [
    "html`<p title=${`a ${html`<b />`}`} size=2></p>`",
    'html`${<><p title={`a ${html`${<><b /></>}`}`} size="2"></p></>}`',
  ],
  // What is no template stays.
  ["const a = `${b}` / 2, c = /[`/]\\//.test(d); // html`<p>`\n/* ` */ e = 'html`' + \"`\";", null],
];

test("templates become JSX on the same lines, and nothing else changes", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "templates-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "from"));
  CASES.forEach(([given], k) => writeFileSync(join(folder, "from", `${k}.js`), given));
  execFileSync(process.execPath, [SCRIPT, join(folder, "from"), join(folder, "to")]);
  CASES.forEach(([given, wanted], k) =>
    assert.equal(readFileSync(join(folder, "to", `${k}.js`), "utf8"), wanted ?? given),
  );
});

test("no component is made within another one: it would be a new one in each render, and lose the focus", () => {
  const folder = new URL("../../../fractals/explorer/client/", import.meta.url).pathname;
  const within = /^ {4,}(?:(?:const|let) )?([A-Z][a-z]\w*) = (?:\/\*.*?\*\/ )?(?:async )?\(/gm;
  const files = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".js") && !/(?:lib|words)\//.test(name));
  assert.ok(files.length > 50);
  for (const name of files) {
    const text = readFileSync(join(folder, name), "utf8");
    for (const [, component] of text.matchAll(within))
      assert.ok(!text.includes(`<\${${component}}`), `${name}: ${component}`);
  }
});
