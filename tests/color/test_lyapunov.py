"""Lyapunov exponents, against closed forms and plain loops; and the sequences of their formula."""

import math

import numpy as np
import pytest
from support.raw import same
from support.scenes import scene, slow_but

import fractals
from fractals.io.load import load_scene

SIZE = (16, 9)
WARMUP, LIMIT = 50, 400


def drawn_scene(sequence, **keys):
    coloring = {"name": "lyapunov", "warmup": WARMUP}
    formula = {"name": "lyapunov", "sequence": sequence}
    return scene(formula, **{"max_iterations": LIMIT, "coloring": coloring, "size": SIZE, **keys})


def exponents(raw, maps=1):
    """Return the mean of ln|f'| a map that a picture is drawn from."""
    kept = {name.rpartition(".")[2].split()[0]: plane for name, plane in raw.statistics.items()}
    assert (kept["steps"] == np.where(raw.count == LIMIT, LIMIT, raw.count)).all()
    return kept["sum"] / (LIMIT - WARMUP) / maps


def exponent(sequence, a, b, turns):
    """Return the mean of ln|r (1 - 2x)| from the turn after the warm-up on, in plain floats."""
    x, total, n = 0.5, 0.0, 0
    for turn in range(turns):
        for letter in sequence:
            r = {"A": a, "B": b}[letter]
            if turn >= WARMUP:
                slope = abs(r * (1 - 2 * x))
                total, n = total + (math.log(slope) if slope else -700), n + 1
            x = r * x * (1 - x)
    return total / n


@pytest.mark.parametrize(
    ("r", "wanted"),
    [
        (1.5, math.log(0.5)),  # the fixed point's slope is 2 - r
        (2.75, math.log(0.75)),
        (3.25, math.log(abs(4 + 2 * 3.25 - 3.25**2)) / 2),  # that of the cycle of two
        (3.4375, math.log(abs(4 + 2 * 3.4375 - 3.4375**2)) / 2),
    ],
)
@pytest.mark.parametrize("sequence", ["A", "AB", "BBA"])
def test_exponents_of_known_cycles(sequence, r, wanted):
    """Where a and b are the same number the sequence doesn't matter."""
    drawn = drawn_scene(sequence, size=(1, 1), center=[str(r), str(r)])
    raw = fractals.compute(drawn, device="python")
    assert exponents(raw, len(sequence))[0, 0] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("sequence", slow_but(["AB"], ["AB", "AABAB"]))
def test_exponents_are_those_of_plain_loops(sequence):
    """In order they are the same; chaos ends near the same mean by another way."""
    drawn = drawn_scene(sequence)
    raw = fractals.compute(drawn, device="simulator")
    found = exponents(raw, len(sequence))
    width = float(drawn.view.width or 2)
    order = chaos = 0
    for j in range(SIZE[1]):
        for i in range(SIZE[0]):
            a = 3 + width * (i + 0.5 - SIZE[0] / 2) / SIZE[0]
            b = 3.3 + width * (SIZE[1] / 2 - j - 0.5) / SIZE[0]
            wanted = exponent(sequence, a, b, LIMIT)
            if -3 < wanted < -0.05:
                order += 1
                assert found[j, i] == pytest.approx(wanted, abs=1e-3)
            elif wanted > 0.1:
                chaos += 1
                assert found[j, i] == pytest.approx(wanted, abs=0.1)
    assert order > 60
    assert chaos > 10


def test_the_first_letter_comes_first():
    """After it the other one's slope is taken at another point."""
    one, other = (
        fractals.compute(
            drawn_scene(
                letters, size=(1, 1), center=["2.5", "3.9"], width="1e-3", max_iterations=51
            ),
            device="python",
        )
        for letters in ("AB", "BA")
    )
    x = 0.5
    for _ in range(51):
        x = 2.5 * x * (1 - x)
        x = 3.9 * x * (1 - x)
    assert one.count[0, 0] == 51
    total = math.log(abs(2.5 * 3.9))
    x = 0.5
    for turn in range(51):
        before = x
        x = 2.5 * x * (1 - x)
        if turn == 50:
            total += math.log(abs((1 - 2 * before) * (1 - 2 * x)))
        x = 3.9 * x * (1 - x)
    sums = [list(raw.statistics.values())[1][0, 0] for raw in (one, other)]
    assert sums[0] == pytest.approx(total, rel=1e-6)
    assert sums[1] != pytest.approx(total, rel=1e-3)


def test_the_mandelbrot_set_has_them_too():
    """Of a fixed point it is the logarithm of its multiplier, 1 - sqrt(1 - 4c)."""
    coloring = {"name": "lyapunov", "warmup": WARMUP}
    for c in (-0.1 + 0.2j, 0.2 + 0.1j, -0.5 + 0.1j):
        place = {"center": [str(c.real), str(c.imag)], "size": (1, 1)}
        raw = fractals.compute(
            scene(coloring=coloring, max_iterations=LIMIT, **place), device="python"
        )
        wanted = math.log(abs(1 - (1 - 4 * c) ** 0.5))
        assert exponents(raw)[0, 0] == pytest.approx(wanted, abs=1e-4)


def test_colors_are_half_the_mean_stretch():
    """A palette of two ends from black to white shows it."""
    ends = {"stops": ["#000000", "#ffffff"], "cyclic": False, "space": "srgb"}
    drawn = drawn_scene("A", palette=ends, size=(1, 1))
    for r, wanted in ((1.5, 0.25), (2.75, 0.375)):
        picture = fractals.render(drawn.replace(center=[str(r), "3"]), device="python")
        assert picture.pixels[0, 0, 0] == pytest.approx(255 * wanted, abs=2)


def test_it_stands_in_for_smooth():
    told = []
    one, other = (
        fractals.render(
            scene("lyapunov", coloring=name, size=(8, 5), max_iterations=40),
            device="python",
            on_message=told.append,
        ).pixels
        for name in ("smooth", "lyapunov")
    )
    assert np.array_equal(one, other)
    assert len(np.unique(one)) > 20
    assert not told


def test_before_the_warmup_is_over_there_is_no_color():
    drawn = drawn_scene("AB", max_iterations=WARMUP, inside="#123456", size=(2, 2))
    picture = fractals.render(drawn, device="python").pixels
    assert (picture == (0x12, 0x34, 0x56)).all()


@pytest.mark.parametrize(
    ("precision", "times"),
    slow_but([("float64", 1)], [("float64", 1), ("float64", 30), ("float32", 30)]),
)
def test_backends_agree_in_every_bit(compiled, precision, times):
    """Also where orbits escape, and of the longest sequence, which takes long to compile."""
    drawn = drawn_scene("AB" * times, center=["3", "3"], width="4", max_iterations=30, size=(6, 3))
    expected = fractals.compute(drawn, device="python", precision=precision)
    raw = fractals.compute(drawn, device=compiled, precision=precision)
    assert same(raw, expected)
    assert (raw.count < 30).any()
    assert (raw.count == 30).any()


@pytest.mark.parametrize("sequence", ["", "ABC", "ab", "A" * 61, 7, ["A", "B"], "A B"])
def test_bad_sequences_get_one_line(sequence):
    with pytest.raises(fractals.SceneError) as caught:
        load_scene({"formula": {"name": "lyapunov", "sequence": sequence}})
    assert "sequence is 1 to 60 letters, each A or B, such as 'BBBBBBAAAAAA'" in str(caught.value)
    assert "\n" not in str(caught.value)
