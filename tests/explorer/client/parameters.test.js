/** Parameters of a user's own formula: what is typed, and what gets a slider. */
import assert from "node:assert/strict";
import test from "node:test";
import { expressionOf, parametersOf } from "../../../fractals/explorer/client/panels/parameters.js";

test("values behind an expression are its parameters", () => {
  const before = { name: "mandelbrot" };
  assert.deepEqual(expressionOf("z**2 + k*c, k=0.3", before), {
    name: "expression",
    step: "z**2 + k*c",
    k: 0.3,
  });
  assert.deepEqual(expressionOf("if(z == 1, z, p1*z) + c, p1 = 0.3 - 0.5i,m=x", before), {
    name: "expression",
    step: "if(z == 1, z, p1*z) + c",
    p1: [0.3, -0.5],
    m: "x",
  });
});

test("parameters stay where the new text has their names", () => {
  const before = { name: "expression", step: "z**2 + k*c + m", k: 0.3, m: 2, start: "c" };
  assert.deepEqual(expressionOf("z**3 + k*c", before), {
    name: "expression",
    step: "z**3 + k*c",
    k: 0.3,
  });
  assert.deepEqual(expressionOf("z**3 + k*c, k=1", before).k, 1);
});

test("each part of a complex parameter has a slider", () => {
  const formula = { name: "program", step: "z = z^2 + k*c", k: [0.3, -0.5], m: 2, test: "1" };
  assert.deepEqual(
    parametersOf(formula).map(({ text, part, value }) => [text, part, value]),
    [
      ["k, real", 0, 0.3],
      ["k, imaginary", 1, -0.5],
      ["m", null, 2],
    ],
  );
  assert.deepEqual(parametersOf({ name: "multibrot", power: 4 }), []);
  assert.deepEqual(parametersOf("z**2 + c"), []);
});
