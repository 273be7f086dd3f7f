"""Formulas of several variables: statements, what is carried along an orbit, and their errors."""

import numpy as np
import pytest
from support.raw import same
from support.scenes import scene, slow_but

import fractals
from fractals.backends import devices
from fractals.errors import OptionError, SceneError
from fractals.formulas.own import program
from fractals.tools import verify

# z and a complex and a real variable; the test reads what is carried.
SHIFT = {
    "name": "program",
    "start": "z = c; w = c; n = 0",
    "step": "z = if(n < 3, z^2, z^3) + w; w = w/2 + z/3; n = n + 1",
    "test": "norm(z) <= 16",
}
# The test reads what a step computes on the way.
ON_THE_WAY = {
    "name": "program",
    "start": "z = c; w = c^1.5",
    "step": "s = z + w; z = s^2 + c",
    "test": "norm(s) < 9 && im(z) < 30",
}
PROGRAMS = pytest.mark.parametrize(
    "program", slow_but([SHIFT], [SHIFT, ON_THE_WAY]), ids=["shift", "on_the_way"]
)
KEYS = {"coloring": "count", "center": ["0", "0"], "width": "3"}


def count(step, state, ends, limit=60):
    for n in range(1, limit):
        state = step(*state)
        if ends(*state):
            return n, state[0]
    return limit, 0


def shift(c):
    def step(z, w, n):
        z = (z**2 if n < 3 else z**3) + w
        return z, w / 2 + z / 3, n + 1

    return count(step, (c, c, 0), lambda z, w, n: abs(z) ** 2 > 16)


def on_the_way(c):
    w = np.exp(1.5 * np.log(c))

    def step(z, s):
        return (z + w) ** 2 + c, z + w

    return count(step, (c, 0), lambda z, s: not (abs(s) ** 2 < 9 and z.imag < 30))


@pytest.mark.parametrize(
    ("program", "orbit"), [(SHIFT, shift), (ON_THE_WAY, on_the_way)], ids=["shift", "on_the_way"]
)
def test_counts_and_points_are_those_of_a_loop(program, orbit):
    raw = fractals.compute(scene(program, **KEYS), device="python")
    for j in range(9):
        for i in range(16):
            place = complex((i + 0.5 - 8) * 3 / 16, (4 - j) * 3 / 16)
            found, z = orbit(place)
            near, _ = orbit(place + 1e-9)
            if found == near:
                assert raw.count[j, i] == found
                assert abs(raw.z[j, i] - z) < 1e-6 * (1 + abs(z))
    assert len(np.unique(raw.count)) > 5


@PROGRAMS
@pytest.mark.parametrize("precision", slow_but(["float64"], ["float64", "float32"]))
def test_backends_agree_in_every_bit(program, precision):
    """With a statistic, too, which comes behind the memory in an orbit's state."""
    drawn = scene(program, **{**KEYS, "coloring": "orbit_trap"})
    raws = [
        fractals.compute(drawn, device=device, precision=precision)
        for device in ("python", "cpu", "simulator")
    ]
    assert same(raws[1], raws[0])
    assert same(raws[2], raws[0])


@PROGRAMS
def test_launches_in_parts_change_nothing(monkeypatch, program):
    monkeypatch.setattr(devices.cuda, "SIMULATED_STEPS", 16 * 9 * 7)
    drawn = scene(program, **{**KEYS, "coloring": "orbit_trap"})
    whole = fractals.compute(drawn, device="cpu")
    assert same(fractals.compute(drawn, device="simulator"), whole)


def test_what_is_carried():
    """A variable that is always real takes one number; one that the step sets first, none."""
    assert program().memory == 0
    assert program(**{key: SHIFT[key] for key in ("start", "step", "test")}).memory == 3
    assert program(start="z = c", step="w = z^2; z = w + c").memory == 0
    assert program(start="z = c; k = sin(c)", step="z = z^2 + k").memory == 2
    assert program(start="z = c; k = sin(c)", step="z = z^2 + k").memory_stays
    assert not program(start="z = c; k = c", step="z = z^2 + k; k = k/2").memory_stays
    # Whether the condition held is a number; it does not decide the next z.
    kept = program(start="z = c", step="w = z + 1; z = z^2 + c", test="abs(w) < 4")
    assert (kept.memory, kept.memory_stays) == (1, True)


def test_cycles_end_orbits_where_the_memory_stays():
    program = {"name": "program", "start": "z = 0; k = c*1", "step": "z = z^2 + k"}
    drawn = scene(program, **KEYS, max_iterations=20_000)
    assert drawn.make_formula().memoryless
    assert not scene(SHIFT, **KEYS).make_formula().memoryless
    other = scene("mandelbrot", **KEYS, max_iterations=20_000)
    raws = [fractals.compute(each, device="python") for each in (drawn, other)]
    assert (raws[0].count == raws[1].count).all()


def test_without_memory_it_has_a_derivative():
    one, two = (
        fractals.compute(scene(formula, **{**KEYS, "coloring": "distance"}), device="python")
        for formula in ({"name": "program", "start": "z = 0", "step": "z = z^2 + c"}, "mandelbrot")
    )
    assert (one.count == two.count).all()
    assert np.allclose(one.dz, two.dz)


def test_with_memory_it_has_none():
    with pytest.raises(OptionError, match="'distance' follows derivatives, and 'program' has none"):
        fractals.plan(scene(SHIFT, coloring="distance"))
    with pytest.raises(OptionError, match="requires that z alone decides the next z"):
        fractals.plan(scene(SHIFT, coloring="period"))


def test_a_julia_set_begins_at_its_samples():
    program = {"name": "program", "start": "z = 7; n = 0", "step": "z = z^2 + c; n = n + 1"}
    keys = {**KEYS, "julia": ["-0.4", "0.59"]}
    one, two = (
        fractals.compute(scene(f, **keys), device="python") for f in (program, "mandelbrot")
    )
    assert (one.count == two.count).all()


def test_verify_knows_programs():
    drawn = scene(SHIFT, **KEYS)
    planned = fractals.plan(drawn)
    raw = fractals.compute(drawn, device="python")
    for j, i in ((2, 3), (4, 8), (7, 12)):
        assert verify.exact_count(drawn, planned, i, j) == raw.count[j, i]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": "z = w"}, "start: 'w' has no value where it is read"),
        ({"step": "z = z^2 + w"}, "step: 'w' has no value at the start: set it in start"),
        ({"step": "c = z"}, "column 1: the name of a variable other than c is expected"),
        ({"step": "sin = z"}, "column 1: the name of a variable other than c"),
        ({"step": "z^2 + c"}, "column 2: '=' after 'z' is expected, not '^'"),
        ({"step": "z = z^2 + c z"}, "an operator, ';' or the end is expected, not 'z'"),
        ({"step": "z = z+z+z+z+z+z; " * 170}, "800 operations"),
        ({"step": "z = z+1; " * 300}, "nested deeper than 100"),
        ({"test": "z <"}, "test 'z <', column 4: "),
        ({"test": 3}, "test is text in quotes, not 3"),
        (
            {
                "start": "z = c; " + "; ".join(f"v{k} = c" for k in range(10)),
                "step": "z = " + " + ".join(f"v{k}" for k in range(10)),
            },
            "20 numbers beside z, and 18 are the most",
        ),
        ({"step": "w = z; " + "w = sin(w); " * 70 + "z = w"}, "operations"),
    ],
)
def test_errors_name_the_key_and_the_reason(options, words):
    with pytest.raises(SceneError) as caught:
        fractals.load_scene(formula={"name": "program", **options})
    assert words in str(caught.value)
