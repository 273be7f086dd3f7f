"""Parameters of a user's own formulas: numbers that programs get when they run."""

import itertools
import time
import tomllib

import mpmath
import numpy as np
import pytest
from mpmath import mpc
from PIL import Image
from support.raw import same
from support.scenes import scene, slow_but

import fractals
from fractals.backends import code_cache
from fractals.backends.cpu import backend, programs
from fractals.cli.values import parse_formula
from fractals.errors import SceneError
from fractals.explorer.questions import command_of
from fractals.kernels import escape
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma

KEYS = {"coloring": "count", "center": ["0", "0"], "width": "3", "size": (12, 9)}
# Formulas with parameters, the same with numbers in their texts, and their orbits by mpmath: a
# function of c that returns the start, and one that returns the next z.
CASES = {
    "factor": (
        {"step": "z**2 + k*c", "k": 0.31},
        {"step": "z**2 + 0.31*c"},
        lambda c: 0,
        lambda z, c, p: z**2 + 0.31 * c,
    ),
    "complex": (
        {"step": "z**2 + k*c + m", "k": "0.8-0.5i", "m": -0.125},
        {"step": "z**2 + (0.8 - 0.5*i)*c + -0.125"},
        lambda c: 0,
        lambda z, c, p: z**2 + mpc(0.8, -0.5) * c - 0.125,
    ),
    "start": (
        {"step": "c*sin(k*z)", "start": "s/k", "k": 1.25, "s": 1.5},
        {"step": "c*sin(1.25*z)", "start": "1.5/1.25"},
        lambda c: mpmath.mpf(1.5) / 1.25,
        lambda z, c, p: c * mpmath.sin(1.25 * z),
    ),
    "before": (
        {"step": "z**2 + c + k*p", "k": -0.4},
        {"step": "z**2 + c + -0.4*p"},
        lambda c: 0,
        lambda z, c, p: z**2 + c - 0.4 * p,
    ),
    "exponent": (
        {"step": "z**n + n*c", "n": 3},
        {"step": "z**3 + 3*c"},
        lambda c: 0,
        lambda z, c, p: z**3 + 3 * c,
    ),
}
PROGRAM = {"start": "z = k*c; w = c", "step": "z = z^2 + w; w = w/2 + k*z", "test": "norm(z) < m"}
IN_TURN = {"step": "z^2 + k*c; absx(z)^2 + k*c", "repeats": [2, 1], "k": 0.75}


def made(options, name="expression"):
    return fractals.load_scene(formula={"name": name, **options}).make_formula()


def orbit_of(start, step, c, limit=60, radius=256):
    """Return the count and the last z of an orbit, by mpmath."""
    z, before = mpmath.mpmathify(start(c)), mpc(0)
    for n in range(1, limit):
        z, before = step(z, c, before), z
        if not abs(z) <= radius:
            return n, z
    return limit, mpc(0)


@pytest.mark.parametrize("name", CASES)
def test_counts_are_the_oracles(device, name):
    own, _, start, step = CASES[name]
    raw = fractals.compute(scene({"name": "expression", **own}, **KEYS), device=device)
    with mpmath.workprec(120):
        for j, i in itertools.product(range(9), range(12)):
            c = mpc((i + 0.5 - 6) / 4, (4 - j) / 4)
            found, z = orbit_of(start, step, c)
            near, _ = orbit_of(start, step, c + mpmath.mpf(1e-9))
            if found == near:
                assert raw.count[j, i] == found
                assert abs(raw.z[j, i] - z) <= 1e-6 * (1 + abs(z))
    assert len(np.unique(raw.count)) > 3


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("precision", slow_but(["float64"], ["float64", "float32"]))
def test_the_bits_are_those_of_numbers_in_the_text(name, precision):
    own, constant, *_ = CASES[name]
    for coloring in ("distance", "lyapunov") if name != "before" else ("distance",):
        one, other = (
            scene({"name": "expression", **each}, **KEYS | {"coloring": coloring})
            for each in (own, constant)
        )
        for device, size in ("python", (4, 3)), ("cpu", KEYS["size"]):
            raws = [
                fractals.compute(each.replace(size=size), device=device, precision=precision)
                for each in (one, other)
            ]
            assert same(*raws)


@pytest.mark.parametrize("options", [PROGRAM | {"k": 0.75, "m": 16}, IN_TURN])
@pytest.mark.parametrize("julia", [False, True])
def test_every_backend_agrees_on_programs_and_turns(compiled, options, julia):
    name = "program" if "test" in options else "expression"
    drawn = scene({"name": name, **options}, julia, **KEYS | {"coloring": "orbit_trap"})
    expected = fractals.compute(drawn, device="python")
    assert same(fractals.compute(drawn, device=compiled), expected)
    assert len(np.unique(expected.count)) > 4


def test_a_program_is_that_of_numbers_in_its_text():
    texts = {key: text.replace("k", "0.75").replace("< m", "< 16") for key, text in PROGRAM.items()}
    raws = [
        fractals.compute(scene({"name": "program", **each}, **KEYS), device="cpu")
        for each in (PROGRAM | {"k": 0.75, "m": 16}, texts)
    ]
    assert same(*raws)


@pytest.fixture
def compilations(monkeypatch):
    """Return what the CPU's backend compiles during a test."""
    found, compiled = [], programs._compiled

    def noted(what, kinds):
        found.append(what)
        return compiled(what, kinds)

    monkeypatch.setattr(programs, "_compiled", noted)
    monkeypatch.setattr(backend, "FUSED", False)  # plain loops, which compile sooner
    return found


def new_step():
    """Return a step that no test has compiled."""
    return f"z^2 + k*c + {time.time_ns() % 10**12 + 1}e-30*z"


def test_other_values_compile_nothing(compilations):
    step, pictures, counts = new_step(), set(), []
    for k in (0.9, 0.31, 0, 1, -2.5):
        drawn = scene({"name": "expression", "step": step, "k": k}, **KEYS)
        pictures.add(fractals.render(drawn, device="cpu").pixels.tobytes())
        counts.append(len(compilations))
    assert counts[0] > 0
    assert counts == [counts[0]] * 5
    assert len(pictures) > 2


def test_a_film_that_moves_a_parameter_compiles_one_program(compilations):
    drawn = scene({"name": "expression", "step": new_step(), "k": 1}, **KEYS)
    track = {"tracks": {"formula.k": [[0, 0.5], [1, 1.5]]}}
    film = fractals.film(
        fractals.load_scene({**drawn.to_table(), "film": track}),
        fps=4,
        device="cpu",
        on_message=str,
    )
    frames = list(film.frames())
    assert len(compilations) == len({what[0] for what in compilations})  # each body once
    first = len(compilations)
    for k in (1, 3):
        still = fractals.render(film.scene_at(k), bits=16, device="cpu").pixels
        assert np.array_equal(frames[k], still)
    assert len(compilations) == first
    assert len({frame.tobytes() for frame in frames}) == 4


def text_of(formula, derivative=True):
    """Return by what programs of a formula are known."""
    options = escape.EscapeOptions(formula.compiled(), derivative=derivative)
    return code_cache._text((escape.make_body, options), code_cache._Parts())


def test_kinds_decide_and_not_values():
    known = text_of(made({"step": "z**2 + k*c", "k": 0.3}))
    for value in (0, 0.0, 1, -1.5, "7"):
        assert text_of(made({"step": "z**2 + k*c", "k": value})) == known
    assert text_of(made({"step": "z**2 + k*c", "k": [0.3, 0]})) != known
    whole = [text_of(made({"step": "z**n + c", "n": n})) for n in (2, 3, -2)]
    assert len(set(whole)) == 3
    parts = [text_of(made({"step": "z**n + c", "n": n})) for n in (2.0, 2.5, -2.0)]
    assert len(set(parts)) == 1
    assert made({"step": "z**n + c", "n": 3}).perturbed is not None  # drawn at any depth
    assert made({"step": "z**-n + c", "n": 3}).step(2.0, 0.0, 0.0, 0.0)[0] == 0.125


def test_where_orbits_start_does_not_depend_on_the_value():
    """The step maps 0 to 0 for k = 0 only, so orbits start at 0."""
    for k in (0, 1):
        assert made({"step": "z**2 + z*c + k", "k": k}).begin(False, 0.5, 0.25) == (0, 0)
    assert made({"step": "k*sin(z)*c", "k": 2}).begin(False, 0.5, 0.25) == (0.5, 0.25)


def test_the_same_on_the_command_line_in_toml_and_in_python(run, tmp_path):
    (tmp_path / "k.toml").write_text(
        'formula = { step = "z**2 + k*c", k = "0.5-0.25i" }\n'
        "image.size = [12, 9]\niteration.max_iterations = 60\n"
    )
    run("render", "k.toml", "-o", "toml.png", "--device", "cpu")
    keys = ("--size", "12x9", "--max-iterations", "60", "--device", "cpu")
    run("render", "--formula", "z**2 + k*c,k=0.5-0.25i", *keys, "-o", "line.png")
    expected = fractals.render(
        formula={"step": "z**2 + k*c", "k": 0.5 - 0.25j},
        size=(12, 9),
        max_iterations=60,
        device="cpu",
    )
    for name in ("toml.png", "line.png"):
        assert np.array_equal(np.asarray(Image.open(tmp_path / name)), expected.pixels)
        own = fractals.load_scene(str(tmp_path / name)).make_formula()
        assert own.options == (0.5, -0.25)


def test_a_scene_keeps_parameters():
    kept = fractals.load_scene(formula={"step": "z**2 + k*c", "k": 0.3 + 1j})
    assert fractals.load_scene(tomllib.loads(kept.to_toml())) == kept
    assert kept.to_table()["formula"]["k"] == [0.3, 1.0]
    command = command_of(kept)
    assert "--formula=expression,step=z**2 + k*c,k=0.3+1.0i" in command
    again = fractals.load_scene(formula=parse_formula("expression,step=z**2 + k*c,k=0.3+1.0i"))
    assert again.make_formula().options == kept.make_formula().options


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ({"step": "z**2 + k*c"}, "column 8: unknown name 'k'; a parameter needs a value"),
        ({"step": "z**2 + c", "k": 1}, "unknown option 'k'; known options: 'step', 'start'"),
        ({"step": "z**2 + k*c", "k": 1, "m": 2}, "unknown option 'm'; known"),
        ({"step": "z**2 + k*c", "k": True}, "k: True is not a number such as 0.3"),
        ({"step": "z**2 + k*c", "k": "big"}, "k: 'big' is not a number"),
        ({"step": "z**2 + k*c", "k": [1, 2, 3]}, r"k: \[1, 2, 3\] is not a number"),
        ({"step": "z**2 + k*c", "k": "nan"}, "k: 'nan' is not a number"),
        ({"step": "z**2 + k*c", "k": 1e301}, "k: 1e\\+301 is not a number"),
        ({"step": "z + pi", "pi": 3}, "'pi' can't be the name of a parameter"),
        ({"step": "+".join(f"k{n}" for n in range(11)), **{f"k{n}": n for n in range(11)}}, "10"),
        ({"name": "program", "step": "k = 1; z = k", "k": 1}, "'k' is a parameter"),
        ({"name": "multibrot", "power": 3, "k": 1}, "unknown option 'k'; known options: 'power'"),
    ],
)
def test_errors_get_one_line(formula, words):
    with pytest.raises(SceneError, match=words) as raised:
        fractals.load_scene(formula=formula)
    assert "\n" not in str(raised.value)


FILE = """
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number

def step(x, y, a, b, options):
    (k,) = options
    return fma(x, x, fma(-y, y, k * a)) + number(UNIQUE, x), fma(x + x, y, k * b)

def tangent(x, y, p, q, a, b, e, f, options):
    (k,) = options
    u, v = x + x, y + y
    return fma(u, p, fma(-v, q, k * e)), fma(u, q, fma(v, p, k * f))

def make(k=0.5):
    return Formula(
        "own", "Own", step, None, 2, tangent=tangent, can_return=True, options=(k,),
        parameters={"k": k},
    )
"""


def test_a_python_file_has_options_that_compile_nothing(tmp_path, compilations):
    path = tmp_path / f"own{time.time_ns()}.py"
    path.write_text(FILE.replace("UNIQUE", f"{time.time_ns() % 10**12 + 1}e-30"))
    counts = []
    for k in (0.31, 0.62, -1.0):
        formula = fractals.load_formula(path, k=k)
        raw = fractals.compute(scene(formula, **KEYS | {"coloring": "distance"}), device="cpu")
        text = {"step": "z**2 + k*c", "k": k}
        assert np.array_equal(
            raw.count, fractals.compute(scene(text, **KEYS), device="python").count
        )
        counts.append(sum("name='own'" in str(what[2]) for what in compilations))
    assert counts[0] > 0
    assert counts == [counts[0]] * 3


def test_options_go_with_a_tangent():
    with pytest.raises(ValueError, match="give a tangent in place of derivative and perturbed"):
        Formula("own", "Own", lambda x, y, a, b, o: (x, y), fma, 2, options=(1.0,))
