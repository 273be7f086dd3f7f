"""Formulas as text: the grammar, its errors, and functions made of trees."""

import operator

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mpc, mpf
from oracle import naive
from support.deadline import deadline

import fractals
from fractals.cli.values import parse_formula
from fractals.errors import SceneError
from fractals.formulas.language import codegen, syntax
from fractals.formulas.language.codegen import compose
from fractals.formulas.language.syntax import (
    BENT,
    FUNCTIONS,
    HOLOMORPHIC,
    ExpressionError,
    parse,
    text_of,
)
from fractals.io.load import load_scene
from fractals.kernels import elementary
from fractals.scene.model import table_of_text

leaves = st.one_of(
    st.sampled_from([("z",), ("c",), ("number", 1j)]),
    st.floats(0, 1e6).map(lambda v: ("number", complex(v))),
)


def grown(inner, functions=FUNCTIONS):
    return st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner),
        st.tuples(st.just("neg"), inner),
        st.tuples(st.just("power"), inner, st.integers(-6, 6)),
        st.tuples(st.sampled_from(functions), inner),
    )


trees = st.recursive(leaves, grown, max_leaves=12)
smooth_trees = st.recursive(leaves, lambda inner: grown(inner, HOLOMORPHIC), max_leaves=6)


@given(trees)
def test_what_is_printed_is_parsed_again(tree):
    assert parse(text_of(tree)) == tree


@given(st.one_of(st.text(max_size=60), st.text("zci0123456789.+-*/^() sincoexp", max_size=60)))
@settings(max_examples=200)
def test_any_text_is_an_expression_or_an_error_with_its_column(text):
    wrong = None
    try:
        tree = parse(text)
    except ExpressionError as error:
        wrong = error
    if wrong:
        assert 1 <= wrong.column <= len(text) + 1
        assert str(wrong).startswith(f"column {wrong.column}: ")
    else:
        assert parse(text_of(tree)) == tree


@given(st.text("zc2+-*/^(), =\n", min_size=1, max_size=30))
@settings(max_examples=100)
def test_any_text_in_a_scene_is_a_formula_or_one_line(text):
    line = "column"
    try:
        load_scene({"formula": text})
    except fractals.SceneError as error:
        line = str(error)
    assert "column" in line or "unknown formula" in line


OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def value(tree, z, c):
    """Return what a tree is, by mpmath."""
    kind = tree[0]
    if kind in ("number", "z", "c"):
        return {"z": z, "c": c}.get(kind, mpc(tree[-1]) if kind == "number" else None)
    a = value(tree[1], z, c)
    if abs(a) > 1e30:  # sin(exp(1e6)) takes mpmath hours, as it needs a million digits of pi
        raise OverflowError
    if kind == "neg":
        return -a
    if kind == "power":
        return a ** tree[2]
    if len(tree) == 3:
        b = value(tree[2], z, c)
        return b * bool(a) if kind == "unless0" else OPERATIONS[kind](a, b)
    return {"abs": abs, "conj": mpmath.conj, "re": mpmath.re, "im": mpmath.im}.get(
        kind, getattr(mpmath, kind, None)
    )(a)


TEXTS = [
    "z^2 + c",
    "z**3 + c*sin(z)",
    "c*z*(1 - z)",
    "(2 + 7*z - (2 + 5*z)*cos(pi*z))/4",
    "sqrt(z) + c*log(z + 2) - exp(c)",
    "tan(z)*tanh(c) + cosh(z) - sinh(z*i)",
    "(abs(re(z)) + i*abs(im(z)))^2 + c",
    "conj(z)^3/abs(z) + c",
    "z^-2 - -c*2.5e-1",
    "z^5 - z^7/3 + im(c)*abs(z)",
    "e*z - sqrt(c)*re(z)",
]
assert naive.mp.dps == 50  # digits of the oracle
PLACES = [(mpc(0.7, -1.3), mpc(-0.4, 0.9)), (mpc(-1.1, 0.2), mpc(1.5, -0.3))]


@pytest.mark.parametrize("text", TEXTS)
def test_functions_are_those_of_mpmath(text):
    tree, formula = parse(text), compose("x", "x", text)
    for z, c in PLACES:
        wanted = value(tree, z, c)
        own = [float(part) for v in (z, c) for part in (v.real, v.imag)]
        assert abs(mpc(*formula.step(*own)) - wanted) < 1e-14 * (1 + abs(wanted))
        h, dz, dc = mpf("1e-12"), mpc(0.3, 0.8), mpc(-0.6, 0.1)
        ahead, behind = (value(tree, z + k * h * dz, c + k * h * dc) for k in (1, -1))
        parts = (part for v in (z, dz, c, dc) for part in (v.real, v.imag))
        found = mpc(*formula.tangent(*parts))
        assert abs(found - (ahead - behind) / (2 * h)) < 1e-13 * (1 + abs(found))


@given(smooth_trees)
@example(("sqrt", ("z",)))
@settings(max_examples=50)
def test_derivatives_are_finite_differences(tree):
    z, c, h = mpc(0.37, 0.61), mpc(-0.23, 0.48), mpf("1e-18")
    try:
        values = [value(syntax.derivative(tree, "z"), z, c)]
        values += [value(tree, z + k * h, c) for k in (-1, 0, 1)]
    except (ZeroDivisionError, OverflowError, ValueError, mpmath.libmp.NoConvergence):
        return
    if max(map(abs, values)) > 1e6 or min(map(abs, values)) < 1e-6:
        return  # steep, or at a pole or a cut
    found = (values[3] - values[1]) / (2 * h)
    assert abs(found - values[0]) < mpf("1e-8") * (1 + abs(found))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "a number, z, c, i, a function or '(' is expected, not the end"),
        ("z + ", 5, "not the end"),
        ("2z", 2, "an operator or the end is expected, not 'z'"),
        ("sin z", 5, "'(' after 'sin' is expected"),
        ("if(z < 1, z)", 12, "an operator or ',' is expected"),
        ("z < ", 5, "not the end"),
        ("x + z", 1, "unknown name 'x'"),
        ("z ? 2", 3, "unknown character '?'"),
        ("(z", 3, "an operator or ')' is expected"),
        ("foo(z)", 1, "unknown name 'foo'"),
        ("z + 1e999", 5, "too large"),
        ("(" * 60 + "z" + ")" * 60, 51, "nested deeper"),
        ("z" + "+z" * 200, 162, "more than 80 operations"),
        ("z+" * 300, 501, "longer than 500"),
    ],
)
def test_errors_tell_the_column(text, column, message):
    with pytest.raises(ExpressionError, match=f"^column {column}: ") as caught:
        parse(text)
    assert message in str(caught.value)


def test_the_deepest_expressions_are_compiled():
    for text in ("z/" * 20 + "c", "sin(" * 6 + "z" + ")" * 6, "-" * 49 + "z", "z*" * 79 + "z"):
        formula = compose("x", "x", text)
        assert len(formula.tangent(0.3, 0.2, 1.0, 0.0, 0.5, 0.1, 0.0, 0.0)) == 2


@pytest.mark.parametrize(
    ("text", "degree"),
    [("z^3 + c*z", 3), ("(z^5 + 1)/(z^2 + c)", 3), ("sin(z)", 0), ("z + c", 0), ("conj(z)^2", 2),
     ("(abs(re(z)) + i*im(z))^4", 4), ("z^2*sin(c)", 2), ("((z^64)^64)^64", 0)],
)  # fmt: skip
def test_the_degree_of_an_expression_is_found(text, degree):
    assert syntax.degree_of(parse(text)) == degree


def test_a_scene_keeps_the_text():
    drawn = load_scene({"formula": "z**3 + c*sin(z)"})
    assert drawn.to_table()["formula"] == "z**3 + c*sin(z)"
    assert load_scene(drawn.to_table()) == drawn
    options = {"name": "expression", "step": "z**2 + c", "start": "c/2"}
    assert load_scene({"formula": options}).to_table()["formula"] == options
    with pytest.raises(fractals.SceneError, match=r"formula: step 'z\*\*3 \+ ', column 8"):
        load_scene({"formula": "z**3 + "})


def test_the_same_on_the_command_line():
    assert parse_formula("z**3 + c*sin(z)") == {"name": "expression", "step": "z**3 + c*sin(z)"}
    assert parse_formula("newton,power=5,relaxation=0.8,polynomial=z^5-1") == {
        "name": "newton", "power": 5, "relaxation": 0.8, "polynomial": "z^5-1",
    }  # fmt: skip
    with pytest.raises(fractals.OptionError, match="not KEY=VALUE"):
        parse_formula("z**2 + c,start")


def test_an_expression_draws_what_the_formula_does():
    view = {"center": ["-0.65", "0"], "width": "4.6"}
    keys, drawn = {"size": [40, 24], "supersampling": 1}, {"max_iterations": 90}
    own, ours = (
        fractals.compute(
            {"formula": f, "image": keys, "view": view, "iteration": drawn}, device="python"
        )
        for f in ("z^2 + c", "mandelbrot")
    )
    assert (own.count == ours.count).all()
    assert own.z.tobytes() == ours.z.tobytes()


@pytest.mark.unwatched
def test_poles_are_infinite_and_no_error():
    own = {"name": "expression", "step": "z^2 + c/z^2", "start": "0"}
    drawn = {"formula": own, "iteration": {"max_iterations": 60}}
    drawn["image"] = {"size": [9, 9], "supersampling": 1}
    raws = [
        fractals.compute(drawn, device=device, on_message=str) for device in ("python", "simulator")
    ]
    assert (raws[0].count == raws[1].count).all()
    assert (raws[0].count == 1).all()  # 0 is a pole


@pytest.mark.parametrize("step", ["c*sin(z)/z", "z^2 + c/z", "1/z + c"])
def test_orbits_start_at_c_where_0_leads_to_no_number(step):
    """Each sample escaped at the first step, so that the picture had one color."""
    assert load_scene(formula=step).make_formula().begin(False, 0.3, 0.4) == (0.3, 0.4)


@pytest.mark.parametrize("step", ["z^2.5 + c", "z*sqrt(z) + c", "z^z + c"])
def test_derivatives_of_roots_and_powers_go_on_from_0(step):
    """They were NaN from the first step on, so that distances and slopes drew nothing."""
    tangent = load_scene(formula=step).make_formula().tangent
    assert tangent(0.0, 0.0, 0.0, 0.0, 0.3, 0.4, 1.0, 0.0) == (1, 0)


def test_p_is_the_z_before():
    """As the formula phoenix, with its counts and its derivative."""
    keys = {"size": (16, 9), "supersampling": 1, "max_iterations": 60, "width": "5"}
    own, known = (
        load_scene(formula=formula, **keys, center=("-0.35", "0"))
        for formula in ("z^2 + c - 0.5*p", "phoenix")
    )
    drawn = [fractals.compute(each, device="python") for each in (own, known)]
    assert np.array_equal(drawn[0].count, drawn[1].count)
    numbers = (0.3, -0.7, 1.1, 0.2, -0.4, 0.6, 0.9, -0.1, 0.5, 0.8, -0.3, 0.7)
    tangents = [each.make_formula().tangent(*numbers) for each in (own, known)]
    assert tangents[0] == pytest.approx(tangents[1], abs=1e-15)
    stays = load_scene(formula="z^2 + c*z + p").make_formula()  # at 0, so that it starts at c
    assert stays.begin(False, 0.3, 0.4) == (0.3, 0.4)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("abs(z) + p + c", "p, the z before, is not available beside abs, absx"),
        ("z^2 + c; p", "expressions in turn take z and c, not p"),
        ({"name": "expression", "step": "z^2", "start": "p"}, "start is an expression in c alone"),
        (
            {"name": "newton", "polynomial": "z^3 - p"},
            "polynomial is an expression in z without p, abs",
        ),
        ({"name": "newton", "start": "p"}, "start is an expression in c alone"),
        ({"name": "expression", "step": "z^2 + c", "escapes": False}, "escapes is true, or false"),
    ],
)
def test_where_p_and_escapes_have_no_place(formula, words):
    with pytest.raises(SceneError) as caught:
        load_scene(formula=formula)
    assert words in str(caught.value)


def test_sign_is_of_the_real_part():
    step = load_scene(formula="sign(z)*c").make_formula().step
    assert [step(x, 0.5, 2.0, 3.0) for x in (-0.1, 0.0, 0.1)] == [(-2, -3), (2, 3), (2, 3)]


def test_an_orbit_may_end_by_its_tolerance_alone():
    """Newton's method goes far away from near 0, and comes back."""
    table = {"name": "expression", "step": "(2*z + 1/z^2)/3", "start": "c", "tolerance": 1e-3}
    keys = {"center": ("3e-5", "0"), "width": "1e-5", "size": (4, 2), "supersampling": 1}
    keys["max_iterations"] = 500
    counts = [
        fractals.compute(
            formula={**table, "escapes": escapes}, device="python", escape_radius=1e8, **keys
        ).count
        for escapes in (True, False)
    ]
    assert (counts[0] < 3).all()
    assert (counts[1] > 30).all()


def test_bent_functions_are_not_holomorphic():
    for name in BENT:
        assert not compose("x", "x", f"{name}(z) + c").holomorphic
    assert compose("x", "x", "sin(z) + c").holomorphic


@given(st.floats(-600, 600), st.floats(-600, 600))
def test_series_are_as_near_as_float64_can_be(x, y):
    X, Y = mpf(x), mpf(y)
    assert abs(elementary.exp(x) - mpmath.exp(X)) <= mpf("4e-16") * mpmath.exp(X)
    sine, cosine = elementary.sincos(x)
    assert abs(sine - mpmath.sin(X)) < mpf("3e-16")
    assert abs(cosine - mpmath.cos(X)) < mpf("3e-16")
    sine, cosine = elementary.sinhcosh(x)
    assert abs(sine - mpmath.sinh(X)) <= mpf("1e-15") * abs(mpmath.sinh(X)) + mpf("1e-300")
    assert abs(cosine - mpmath.cosh(X)) <= mpf("1e-15") * mpmath.cosh(X)
    if abs(x) > 1e-300:
        assert abs(elementary.log(abs(x)) - mpmath.log(abs(X))) < mpf("1e-15") * (
            1 + abs(mpmath.log(abs(X)))
        )
        assert abs(elementary.angle(x, y) - mpmath.atan2(Y, X)) < mpf("2e-15")


def nested(function, depth):
    return f"{function}(" * depth + "z" + ")" * depth + " + c"


@pytest.mark.parametrize(
    ("formula", "key", "text"),
    [
        ("expression", "step", nested("tan", 20)),
        ("expression", "step", nested("sin", 45)),
        ("expression", "step", "/".join(["z"] * 80)),
        ("newton", "polynomial", nested("tan", 20)),
        ("halley", "polynomial", "*".join(f"(z - {k})" for k in range(40))),
        ("halley", "polynomial", "*".join(["z"] * 80)),
    ],
)
def test_programs_that_compile_for_minutes_are_refused_at_once(formula, key, text):
    refused = pytest.raises(
        SceneError, match=r"have \d+ operations or more .* and 1500 are the most"
    )
    with refused, deadline():
        load_scene({"formula": {"name": formula, key: text}})


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("z^2 + c", 13),  # 5 of the step, 8 of the tangent
        ("sin(z) + c", 52),  # two functions of 10 in each
        ("1/z", 36),
    ],
)
def test_the_bound_is_on_the_operations_of_the_program(monkeypatch, text, operations):
    monkeypatch.setattr(codegen, "MAX_COST", operations)
    compose("", "", text)
    monkeypatch.setattr(codegen, "MAX_COST", operations - 1)
    with pytest.raises(ValueError, match="are the most"):
        compose("", "", text)


def test_a_derivative_of_shared_trees_is_the_derivative():
    """Trees with the same parts many times have the values that trees of copies have."""
    text = "(z*sin(z) + c)^3/(z - 2*c)"
    tree = parse(text)
    twice = syntax.derivative(syntax.derivative(tree, "z"), "z")
    first, second = (
        codegen.compiled("f", "x, y, a, b", {"z": "xy", "c": "ab"}, (each,))
        for each in (syntax.derivative(tree, "z"), twice)
    )
    x, y, a, b, h = 0.3, 0.4, -0.2, 0.7, 1e-5
    wanted = [
        (p - q) / (2 * h) for p, q in zip(first(x + h, y, a, b), first(x - h, y, a, b), strict=True)
    ]
    assert second(x, y, a, b) == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize(("text", "value"), [("tan(1 + 400*i)", 1j), ("tanh(i - 400)", -1)])
def test_tangents_are_right_far_from_the_axis(text, value):
    tree = parse(text)
    found = complex(*codegen.compiled("value", "x", {}, (tree,))(0.0))
    assert abs(found - value) < 1e-15


def test_a_power_of_no_number_is_none():
    step = codegen.compiled("value", "x, y", {"z": "xy"}, (parse("z^(0.5 + i)"),))
    assert np.isnan(step(float("nan"), float("nan"))).all()
    assert step(0.0, 0.0) == (0, 0)


def test_signs_of_books_are_read():
    assert syntax.parse("z² − c·z³ × 2") == syntax.parse("z^2 - c*z^3 * 2")


@pytest.mark.parametrize(
    ("text", "name", "step"),
    [
        ("z = z^2 + c", "expression", "z^2 + c"),
        (" z=z² + k*c", "expression", "z² + k*c"),
        ("z = z^2 + x", "solid_expression", "z = z^2 + x"),
        ("z = z*z + a", "solid_expression", "z = z*z + a"),
        ("z = z^2; x = z", "solid_expression", "z = z^2; x = z"),
        ("w = z^2 + c", "solid_expression", "w = z^2 + c"),
        ("z == c", "expression", "z == c"),
    ],
)
def test_a_step_may_be_written_as_in_books(text, name, step):
    """z = f(z) is a map of the plane, where nothing in it is of space."""
    assert table_of_text(text) == {"name": name, "step": step}


def test_a_step_as_in_books_is_drawn_as_the_step_alone():
    one, other = (
        fractals.load_scene(formula=text, size=(9, 7), supersampling=1, max_iterations=40)
        for text in ("z = z² + c", "z^2 + c")
    )
    drawn = [fractals.compute(each, device="python").count for each in (one, other)]
    assert (drawn[0] == drawn[1]).all()
