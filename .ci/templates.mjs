/**
 * Write copies of the explorer's modules in which the templates of htm are JSX, which tsc checks: a property that a
 * component does not have, or lacks, is an error. Lines stay where they are.
 *
 *     node .ci/templates.mjs FROM TO
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BEFORE_REGEX = /(^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|=>)\s*$/;

/** Return the JSX of some code from a place to an end, and the place after it. @param {string} text @param {number} at
 * @param {boolean} inside whether the code ends at the brace that closes it @returns {[string, number]} */
function code(text, at, inside) {
  let made = "",
    depth = 0;
  const copy = (/** @type {number} */ end) => {
    made += text.slice(at, end);
    at = end;
  };
  const after = (/** @type {string} */ mark, /** @type {number} */ from) => {
    const found = text.indexOf(mark, from);
    return found < 0 ? text.length : found + mark.length;
  };
  while (at < text.length) {
    const letter = text[at],
      next = text[at + 1];
    if (letter === "/" && next === "/") copy(after("\n", at));
    else if (letter === "/" && next === "*") copy(after("*/", at + 2));
    else if (letter === '"' || letter === "'")
      copy(
        at +
          /** @type {any} */ (text.slice(at).match(/^(["'])(?:\\.|(?!\1).)*\1/s)?.[0].length ?? 1),
      );
    else if (letter === "/" && BEFORE_REGEX.test(made.slice(-40)))
      copy(
        at +
          /** @type {any} */ (
            text.slice(at).match(/^\/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n[])+\/\w*/)?.[0].length ?? 1
          ),
      );
    else if (letter === "`") {
      const tagged = /(^|[^\w.$])html$/.test(made.slice(-6));
      const [part, end] = tagged ? markup(text, at + 1) : plain(text, at + 1);
      made += part;
      at = end;
    } else if (letter === "}" && inside && !depth) return [made, at + 1];
    else {
      depth += Number(letter === "{") - Number(letter === "}");
      copy(at + 1);
    }
  }
  return [made, at];
}

/** Return a plain template: only the code in it changes. @param {string} text @param {number} at @returns {[string, number]} */
function plain(text, at) {
  let made = "`";
  while (text[at] !== "`") {
    if (text.startsWith("${", at)) {
      const [part, end] = code(text, at + 2, true);
      made += `\${${part}}`;
      at = end;
    } else {
      const length = text[at] === "\\" ? 2 : 1;
      made += text.slice(at, at + length);
      at += length;
    }
  }
  return [`${made}\``, at + 1];
}

/** Return the JSX of a template of htm. @param {string} text @param {number} at @returns {[string, number]} */
function markup(text, at) {
  const open = /** @type {string[]} */ ([]);
  let made = "`${<>",
    tag = false;
  const value = () => {
    const [part, end] = code(text, at + 2, true);
    at = end;
    return part;
  };
  while (text[at] !== "`") {
    const rest = text.slice(at, at + 400);
    let found;
    if (!tag && rest.startsWith("<//>")) {
      made += `</${open.pop()}>`;
      at += 4;
    } else if (!tag && (found = rest.match(/^<\/[\w-]+>/))) {
      open.pop();
      made += found[0];
      at += found[0].length;
    } else if (!tag && (found = rest.match(/^<([\w-]*)/))) {
      at += found[0].length;
      open.push(found[1] || value());
      made += `<${open.at(-1)}`;
      tag = true;
    } else if (!tag && rest.startsWith("${")) made += `{${value()}}`;
    else if (!tag) {
      made += /[{}>]/.test(text[at]) ? " " : text[at];
      at += 1;
    } else if ((found = rest.match(/^\/?>/))) {
      if (found[0] === "/>") open.pop();
      made += found[0];
      at += found[0].length;
      tag = false;
    } else if (rest.startsWith("...${")) {
      at += 3;
      made += `{...(${value()})}`;
    } else if (rest.startsWith("=${")) {
      at += 1;
      made += `={${value()}}`;
    } else if (rest.startsWith('="')) {
      at += 2;
      let quoted = "`";
      while (text[at] !== '"') quoted += text.startsWith("${", at) ? `\${${value()}}` : text[at++];
      at += 1;
      made += `={${quoted}\`}`;
    } else if ((found = rest.match(/^=([^\s>/]+)/))) {
      made += `="${found[1]}"`;
      at += found[0].length;
    } else {
      made += text[at];
      at += 1;
    }
  }
  return [`${made}</>}\``, at + 1];
}

const [from, to] = process.argv.slice(2);
cpSync(from, to, { recursive: true });
for (const name of readdirSync(from, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".js") || name.startsWith("lib/")) continue;
  writeFileSync(join(to, name), code(readFileSync(join(from, name), "utf8"), 0, false)[0]);
}
