"""Buddhabrots: beside naive sampling in other words, the same bits everywhere, whole weights."""

import math
import sys

import numpy as np
import pytest

import fractals
from fractals import catalog
from fractals.backends import code_cache
from fractals.backends.devices import choose, open_backend
from fractals.backends.python import PythonBackend
from fractals.cli.verbs import run_verb as main
from fractals.errors import OptionError, SceneError
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.scatter import cells, enough
from fractals.scatter.buddhabrot import first_above, make_look_body, make_sobol, mirrors
from fractals.scatter.game import SHADES
from fractals.scatter.play import Iterated, open_player

STEPS = {
    "mandelbrot": lambda z, c: z * z + c,
    "burning_ship": lambda z, c: (abs(z.real) + 1j * abs(z.imag)) ** 2 + c,
}
SMALL = {"size": (32, 24), "supersampling": 1, "estimator_radius": 0.0, "filter": "box"}


def scene_of(of="mandelbrot", **options):
    own = {key: options.pop(key) for key in list(options) if key in OPTIONS}
    table = {"formula": {"name": "buddhabrot", "of": of, **own}}
    return fractals.load_scene(table).replace(**{**SMALL, **options})


OPTIONS = ("least", "red", "green", "blue", "anti", "even", "cells")


def naive(scene, of, least, limit, count, seed, anti=False):
    """Return the points of random orbits in each pixel, a sample, by NumPy alone."""
    dice, (width, height) = np.random.default_rng(seed), scene.image.size
    formula = scene.make_any_formula()
    side, x, y = float(formula.width), *map(float, formula.center)
    u, v = (dice.random((2, count)) - 0.5) * side
    c = (x + u) + 1j * (y + v)
    step, length = STEPS[of], np.full(count, limit)
    with np.errstate(all="ignore"):
        z = np.zeros(count, complex)
        for n in range(1, limit + 1):
            z = step(z, c)
            length[(abs(z) > 256) & (length == limit) & (n < limit)] = min(n, limit)
        taken = (length == limit) if anti else (length < limit) & (length >= least)
        c, length = c[taken], length[taken]
        z, found = np.zeros(len(c), complex), np.zeros(height * width)
        center = [float(part) for part in (scene.view.center or formula.center)]
        scale = width / float(scene.view.width or formula.width)
        for n in range(1, limit + 1):
            z = step(z, c)
            column = np.floor((z.real - center[0]) * scale + width / 2)
            row = np.floor(height / 2 - (z.imag - center[1]) * scale)
            seen = (n <= length) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
            place = (row[seen] * width + column[seen]).astype(int)
            found += np.bincount(place, minlength=height * width)
    return found.reshape(height, width) / count


def density(hits, orbits):
    """Return the points of random orbits in each pixel, a sample, by the cells."""
    own = orbits.place[2 + orbits.cells[:, 0]] ** 2
    total = (own / own.sum() / orbits.counts * orbits.samples / orbits.weights)[0]
    m = hits.margin
    inner = hits.sums[m : hits.sums.shape[0] - m, m : hits.sums.shape[1] - m, 3]
    _, options, _ = hits.scene.make_any_formula().kernel_of(False)
    images = 2 if mirrors(options) else 1
    return inner / 255 * total / hits.samples / images


def counted(scene, device="cpu"):
    player = open_player(scene, RenderOptions(device=device, on_message=lambda line: None))
    return player.play(player.plan.no_hits(), player.plan.chunks, None), player.data()


@pytest.mark.parametrize(
    ("of", "view", "anti"),
    [
        ("mandelbrot", {}, False),
        pytest.param(
            *("mandelbrot", {"center": ("-0.2", "0.8"), "width": "0.6"}, False),
            marks=pytest.mark.slow,
        ),
        ("burning_ship", {}, False),
        ("mandelbrot", {}, True),
    ],
)
def test_cells_change_nothing_but_the_noise(of, view, anti):
    scene = scene_of(of, least=5, cells=1024, anti=anti, max_iterations=60, quality=600.0, **view)
    ours = density(*counted(scene))
    several = [naive(scene, of, 5, 60, 150_000, seed, anti) for seed in range(4)]
    theirs = np.mean(several, axis=0)

    def blocks(image):
        return image.reshape(6, 4, 8, 4).mean((1, 3))

    noise = np.std([blocks(each) for each in several], axis=0, ddof=1) / 2
    off = np.abs(blocks(ours) - blocks(theirs))
    lit = blocks(theirs) > blocks(theirs).mean() / 5
    assert lit.sum() >= 8
    assert abs(ours.sum() / theirs.sum() - 1) < 0.03
    # Four runs tell their noise to a third; an error of 6 of it in one of 48 would be a fault.
    assert (off[lit] < 8 * noise[lit] + 0.03 * blocks(theirs)[lit]).all()


@pytest.mark.parametrize(
    "options",
    [
        {"of": "burning_ship", "least": 2},
        pytest.param(  # the last point is a part of its state
            {"of": "phoenix", "least": 2, "precision": "float32"}, marks=pytest.mark.slow
        ),
        pytest.param(
            {"julia": ("-0.12", "0.75"), "anti": True, "max_iterations": 40},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_device_gives_the_same_bits(options, monkeypatch):
    """On the CPU by packs of orbits or one by one."""
    small = {"cells": 64, "max_iterations": 30, "quality": 0.5, "size": (24, 16), **options}
    scene = scene_of(**small)
    hits, orbits = counted(scene, "python")
    assert hits.hits > 300
    assert orbits.samples == orbits.counts.sum()
    for device in ("cpu", "simulator"):
        found, _ = counted(scene, device)
        assert np.array_equal(found.sums, hits.sums), device
        assert found.hits == hits.hits
    if options.get("of") == "phoenix":  # others as well, by what the simulator runs
        made = Iterated.__init__

        def init(self, player):
            made(self, player)
            self.packed = False

        monkeypatch.setattr(Iterated, "__init__", init)
        assert np.array_equal(counted(scene)[0].sums, hits.sums)


@pytest.mark.parametrize(
    "options",
    [
        {"cells": 256, "center": ("-0.75", "0.1"), "width": "0.5"},
        {"cells": 64, "anti": True, "max_iterations": 300, "precision": "float32"},
        pytest.param({"julia": ("-0.8", "0.2")}, marks=pytest.mark.slow),
    ],
)
def test_the_pilot_finds_in_packs_what_a_plain_loop_finds(options, monkeypatch):
    look, seen = cells.Cells._look, []

    def kept(self, *given):
        seen.append(look(self, *given))
        return seen[-1]

    monkeypatch.setattr(cells.Cells, "_look", kept)
    scene = scene_of(**{"cells": 64, "max_iterations": 500, "quality": 0.01, **options})
    counted(scene)
    packs = seen.copy()
    assert sum(int((each.facts[:, 0] > 0).sum()) for each in packs) > 100
    seen.clear()
    monkeypatch.setattr(make_look_body, "on_cpu", "")
    code_cache.forget_programs()
    counted(scene)
    code_cache.forget_programs()
    assert len(packs) == len(seen)
    for ours, plain in zip(packs, seen, strict=True):
        for part, other in zip(ours, plain, strict=True):
            assert np.array_equal(part, other)


def test_weights_make_up_for_the_samples_of_a_cell():
    """Samples times weight is the area of a cell, in whole numbers; and none is too large."""
    scene = scene_of(cells=4096, max_iterations=500, center=("-0.16", "1.03"), width="0.1")
    _, orbits = counted(scene.replace(quality=0.01))
    levels = orbits.cells[:, 0].astype(int)
    assert levels.max() >= 8
    area = 4 ** (levels.max() - levels)
    assert len(set((orbits.counts * orbits.weights // area).tolist())) == 1
    assert (orbits.counts * orbits.weights % area == 0).all()
    assert orbits.weights.min() == 1
    # All cells together are the whole plane, once.
    assert sum(0.25 ** int(level) for level in levels) == 1
    # A quarter of the samples is even: no weight is more than some times that of even samples.
    even = (area.sum() / orbits.samples) * orbits.weights[0] * orbits.counts[0] / area[0]
    assert orbits.weights.max() <= 8 * even
    assert math.gcd(orbits.samples, orbits.stride) == 1


def test_cells_are_found_for_a_small_view(monkeypatch):
    """Few of the first samples' orbits come by: more are thrown before any cell is divided."""
    view = {"center": ("-1.153", "0.278"), "width": "0.005", "max_iterations": 20000}
    hits, orbits = counted(scene_of(**view, cells=2048, escape_radius=2.0, quality=40.0))
    assert len(orbits.cells) > 1900
    assert orbits.cells[:, 0].max() >= 9
    assert hits.hits > 500
    monkeypatch.setattr(cells, "EMPTY", 1.0)
    even, _ = counted(scene_of(**view, cells=64, even=1.0, escape_radius=2.0, quality=40.0))
    assert hits.hits > 20 * even.hits


def test_samples_of_a_cell_lie_in_equal_parts():
    """2**12 samples: one in each of 2**12 rectangles, whatever their form."""
    sobol = make_sobol(PythonBackend("float64").target)
    points = np.array([sobol(i) for i in range(1 << 12)])
    for right, down in ((12, 0), (0, 12), (6, 6), (3, 9)):
        parts = (points[:, 0] >> 32 - right << down) + (points[:, 1] >> 32 - down)
        assert sorted(parts) == list(range(1 << 12))
    assert points.max() < 1 << 32


@pytest.mark.parametrize("name", ["mandelbrot", "multibrot", "tricorn", "celtic"])
@pytest.mark.parametrize("real", [float, np.float32])
def test_a_mirror_image_is_an_orbit(name, real):
    step = catalog.load("formula", name)().step
    dice = np.random.default_rng(1)
    for a, b in dice.uniform(-1, 1, (200, 2)).astype(real):
        x = y = u = v = real(0)
        for _ in range(20):
            (x, y), (u, v) = step(x, y, a, b), step(u, v, a, -b)
            assert (x, y) == (u, -v) or max(abs(x), abs(y)) > 1e6
            if max(abs(x), abs(y)) > 1e6:
                break


def test_hits_are_the_points_that_are_added(monkeypatch):
    monkeypatch.setattr(cells, "EMPTY", 1.0)  # samples lie evenly
    scene = scene_of(cells=64, even=1.0, max_iterations=100, quality=20.0)
    hits, orbits = counted(scene)
    assert set(orbits.weights.tolist()) == {1}
    assert hits.sums[..., 3].sum() == 255 * hits.hits
    assert abs(hits.sums[:12].sum() / hits.sums.sum() - 0.5) < 0.1


def test_a_nebula_has_a_limit_for_each_channel():
    scene = scene_of(red=300, green=60, blue=20, least=3, quality=50.0, cells=1024)
    hits, _ = counted(scene)
    red, green, blue, count = (hits.sums[..., k].sum() for k in range(4))
    assert red == count > 1.02 * green > 1.05 * blue > 0
    picture = fractals.recolor(hits, device="cpu").pixels.astype(float)
    means = picture.mean((0, 1))
    assert means.max() < 2.5 * means.min()
    assert abs(picture[..., 0] - picture[..., 2]).max() > 30


def test_a_channel_without_points_in_view_leaves_the_others_their_light():
    hits, _ = counted(scene_of(red=300, green=60, blue=20, least=3, quality=5.0, cells=256))
    hits.sums[..., 2] = 0
    means = fractals.recolor(hits, device="cpu").pixels.mean((0, 1))
    assert means[0] > 20 < means[1]
    assert means[2] == 0
    hits.sums[..., 1] = 0
    assert fractals.recolor(hits, device="cpu").pixels[..., 0].mean() > 20


@pytest.mark.parametrize("limit", [8, 20, 500])
def test_orbits_that_stay_have_the_last_color_whatever_the_least_is(limit):
    formula = scene_of(anti=True, least=20).make_any_formula()
    assert first_above(formula.bounds(limit), limit) == SHADES - 1


def test_the_cells_of_a_call_are_found_once(tmp_path, monkeypatch):
    """A look, a frame's moments and a store that goes on have the same view."""
    found, orbits = [], cells.Cells.orbits
    monkeypatch.setattr(enough, "PIXELS", 32)

    def seen(self):
        found.append(self._backend.kind)
        return orbits(self)

    monkeypatch.setattr(cells.Cells, "orbits", seen)
    scene = scene_of(cells=64, max_iterations=30, quality="good", size=(24, 16))
    options, path = RenderOptions(device="cpu"), tmp_path / "a.fz"
    for call in (
        lambda: family_of(scene).expose([scene], options),
        lambda: family_of(scene).expose([scene, scene.replace(width="4.4")], options),
        lambda: fractals.compute_to(path, scene.replace(quality=0.5), device="cpu"),
        lambda: fractals.compute_to(path, scene, device="cpu", part=(0, 2)),
        lambda: fractals.compute_to(path, scene, device="cpu"),
        lambda: open_player(scene, options).check(3),  # not by plain Python, which takes minutes
    ):
        call()
        assert found == ["cpu"]
        found.clear()


def test_a_store_of_orbits_goes_on(tmp_path):
    scene = scene_of(cells=256, max_iterations=100, quality=4.0)
    whole, parts = tmp_path / "whole.fz", tmp_path / "parts.fz"
    fractals.compute_to(whole, scene, device="cpu")
    fractals.compute_to(parts, scene.replace(quality=1.0), device="cpu")
    fractals.compute_to(parts, scene, device="cpu")
    for file in whole.iterdir():
        assert file.read_bytes() == (parts / file.name).read_bytes()
    shown = fractals.recolor(parts, device="cpu")
    assert np.array_equal(shown.pixels, fractals.render(scene, device="cpu").pixels)
    with pytest.raises(OptionError, match="max_iterations differs"):
        fractals.compute_to(parts, scene.replace(max_iterations=90), device="cpu")


def test_a_larger_picture_has_the_same_samples():
    small = scene_of(cells=256, max_iterations=100, quality=4.0)
    large = small.replace(size=(64, 48), quality=1.0)
    few, many = counted(small), counted(large)
    assert all(map(np.array_equal, few[1], many[1]))
    assert few[0].hits == many[0].hits
    pairs = many[0].sums.reshape(24, 2, 32, 2, 4).sum((1, 3))
    assert np.array_equal(few[0].sums, pairs)


@pytest.mark.parametrize("options", [{"julia": ("-0.8", "0.2")}, {"of": "z**3 + c/2"}])
def test_any_formula_that_escapes_has_one(options):
    scene = scene_of(cells=64, least=2, max_iterations=12, quality=0.2, size=(12, 8), **options)
    assert counted(scene, "python")[0].hits > 100


def test_bad_options_are_told(tmp_path, capsys):
    for text, words in (
        ("of=newton", "of: the orbits of 'newton' do not escape"),
        ("of=lyapunov", "of: the orbits of 'lyapunov' stay on the real axis"),
        ("of=re(z*z+c)+i*im(z)", "stay on the real axis"),  # whatever its name is
        ("of=mandelbrott", "unknown formula 'mandelbrott'; did you mean 'mandelbrot'?"),
        ("of=flame", "of: 'flame' has no orbits of a plane: name an escape-time formula"),
        ("red=100", "give all three or none"),
        ("red=500,green=50,blue=5", "blue: 5 is less than 20 steps, and orbits of fewer"),
        ("least=2000", "formula.least: 2000 steps, and orbits end at 2000, so none is drawn"),
        ("least=-1", "least is a whole number"),
        ("cells=5", "cells is a whole number from 64"),
        ("even=0", "even is a number from 0.01 to 1"),
    ):
        target = str(tmp_path / "x.png")
        assert main(["render", "--formula", f"buddhabrot,{text}", "-o", target]) in (2, 3)
        assert words in capsys.readouterr().err
    with pytest.raises(SceneError, match="other options than power"):
        fractals.load_scene(
            {"formula": {"name": "buddhabrot", "of": {"name": "tricorn", "power": 3}}}
        )


def test_backends_agree_on_a_plan():
    backend = open_backend(choose("cpu").device, "float64")
    assert backend.real is np.float64
    plan = fractals.plan(scene_of(), device="cpu")
    assert repr(plan).startswith("ScatterPlan(method='orbits', precision='float64', device='cpu', ")
    table = plan.to_table()
    assert table["method"] == "orbits"
    assert table["precision"] == "float64"


def test_hits_are_counted_whole_on_many_threads():
    """A sum that threads share loses numbers when a thread is stopped between two steps of it."""
    options = {"size": (48, 32), "supersampling": 1, "quality": 10, "device": "cpu"}
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        found = [
            fractals.compute(formula="buddhabrot", max_iterations=50, threads=4, **options).hits
            for _ in range(6)
        ]
    finally:
        sys.setswitchinterval(usual)
    assert len(set(found)) == 1


@pytest.mark.slow
def test_a_round_may_ask_for_no_cell():
    """A device without threads looks at all cells at once, and there may be none to look at."""
    formula = {"name": "buddhabrot", "cells": 64}
    given = {"formula": formula, "max_iterations": 20, "quality": 0.5, "size": (24, 16)}
    assert fractals.render(**given, device="python").size == (24, 16)


def test_gamma_is_two_unless_the_scene_says_more():
    """flam3's, 4, turned the haze around them brown."""

    def pixels(scene, **keys):
        return fractals.render(scene.replace(**keys)).to_pil().tobytes()

    orbits = scene_of(quality=1)
    points = fractals.load_scene(formula="clifford", size=(32, 24), quality=1)
    assert pixels(orbits) == pixels(orbits, gamma=2) != pixels(orbits, gamma=4)
    assert pixels(points) == pixels(points, gamma=4) != pixels(points, gamma=2)
    with pytest.raises(SceneError, match=r"^display.gamma: '0' is not 'auto' or a number from"):
        orbits.replace(gamma=0)
