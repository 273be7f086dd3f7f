"""Where rays start: cones around the rays of blocks of pixels go ahead, and pass no surface."""

import math

import numpy as np
import pytest
from support.scenes import slow_but
from support.shapes import BALL, BOX, TORUS, solid_scene, sums_of, tracing_of

import fractals
from fractals import catalog
from fractals.space import march, plan, trace
from fractals.space.cones import SHIFTS, started

CUBE = (2.5, -3.5, 2.0)  # a camera
SIZE = (18, 11)  # no whole number of blocks
NEAR_BOX = {
    "formula": {"name": "mandelbox", "scale": -2.2},
    "position": (-0.1736, 1.6909, -1.8756),
    "target": (1.4448, -0.8996, -0.2742),
}
SCENES = {
    "box": {**NEAR_BOX, "field": 13, "bounces": 1},
    "lens": {"formula": "mandelbulb", "field": 5, "lens": 0.01, "precision": "float64"},
    "short steps": {"formula": "quaternion", "field": 5, "bounces": 0, "ray_step": 0.4},
}


def starts_of(tracing, first=0, last=None):
    """Return the shot of some rows of a picture, on the CPU."""
    (width, height), instant = tracing.plan.scene.image.size, tracing._moments[0]
    rows = range(first, last or height)
    run, real = tracing._tracer().starts, tracing.backend.real
    return started(instant.levels, rows, width, instant.shot, run, lambda n: np.zeros(n, real))


def met(tracing, starts):
    """Return what the rays of a picture meet."""
    width, height = tracing.plan.scene.image.size
    found = np.zeros((height, width, 2), tracing.backend.real)
    space = tracing.plan.space(tracing.backend.real)
    tracing._tracer().first(found, tracing.shot.camera, space, starts)
    return found[..., 0]


@pytest.mark.parametrize("name", slow_but(["box"], SCENES))
def test_every_device_gives_the_same_bits(name, monkeypatch):
    for module in (plan, trace):  # plain Python takes a millisecond for a ray of a probe
        monkeypatch.setattr(module, "PROBE", 5)
    scene = solid_scene(**SCENES[name], size=(13, 11))
    assert [level.shift for level in tracing_of(scene)._moments[0].levels] == list(SHIFTS)
    assert starts_of(tracing_of(scene, "cpu")).starts.lengths.min() > 0
    expected = sums_of(scene, last=1)
    for device, threads in (("cpu", 1), ("cpu", 3), ("simulator", None)):
        assert np.array_equal(sums_of(scene, device, last=1, threads=threads), expected)


def test_rows_of_any_number_stand_alone():
    scene = solid_scene(**SCENES["box"], size=SIZE)
    whole, tracing = sums_of(scene, "cpu"), tracing_of(scene, "cpu")
    for begin, end in ((0, 1), (1, 6), (6, 11)):
        rows = np.zeros((end - begin, SIZE[0], 3), np.int64)
        tracing.add(rows, range(begin, end), 0, 2, None)
        assert np.array_equal(rows, whole[begin:end])


@pytest.mark.parametrize(
    "keys",
    [
        {"size": (50, 37)},
        pytest.param({"size": (160, 120), "lens": 0.03, "focus": 6.0}, marks=pytest.mark.slow),
        {"size": (160, 120), "lens": 0.06, "focus": 1.0},  # beyond twice that, rays are far apart
        {"size": (240, 120), "panorama": True, "position": (0.0, -1.5, 0.0)},
        {"size": (50, 37), "position": (0.0, -1.3, 0.0)},
    ],
)
def test_no_ray_of_a_block_meets_a_ball_before_its_start(keys):
    """Rays of all places of a pixel and of the lens, by the formula of a ball of radius 1."""
    keys = {"position": (0, -4, 0.3), "field": 30, "precision": "float64", **keys}
    scene = solid_scene(BALL, **keys)
    tracing = tracing_of(scene, "cpu")
    shot, (width, height), dice = starts_of(tracing), scene.image.size, np.random.default_rng(2)
    python = tracing_of(scene, number="float64").backend.target
    ahead, start, camera = march.make_ahead(python), march.start_of, shot.camera.tolist()
    saved, count = 0.0, 0
    for place in dice.integers(width * height, size=6000):
        row, column = divmod(int(place), width)
        u, v, p = (float(part) for part in np.rint(dice.random(3)))  # corners, and the lens's edge
        q = float(dice.random())
        o, d = (np.array(each) for each in ahead(column + u, row + v, p, q, camera))
        b, c = o @ d, o @ o - 1
        if b < 0 and b * b > c:
            length = -b - math.sqrt(b * b - c)
            begin = start(column, row, shot.starts)
            assert begin <= length
            saved, count = saved + begin / length, count + 1
    assert count > 200
    assert saved / count > 0.5


@pytest.mark.parametrize("solid", [BALL, TORUS, BOX], ids=lambda solid: solid.name)
def test_rays_end_where_those_from_the_camera_end(solid):
    """Of surfaces whose distances are exact: within the footprint, but for rays that graze."""
    tracing = tracing_of(solid_scene(solid, position=CUBE, size=(160, 120)), "cpu")
    alone, found = met(tracing, None), met(tracing, starts_of(tracing).starts)
    assert np.mean((alone >= 0) != (found >= 0)) < 0.001  # seen within a footprint of an edge
    hits = (alone >= 0) & (found >= 0)
    off = np.abs(found - alone)[hits] / (tracing.shot.camera[march.CONE] * alone[hits])
    assert np.mean(off > 1) < 0.01


@pytest.mark.parametrize(
    "name",
    slow_but(
        ["mandelbulb", "mandelbox"],
        [name for name in catalog.names("solid") if name not in ("solid_expression",)],
    ),
)
def test_rays_to_fractals_end_no_deeper_than_those_from_the_camera(name):
    """Fine detail is met here or there, in equal shares; nothing is lost."""
    keys = {"formulas": "mandelbox+menger"} if name == "solid_hybrid" else {}
    tracing = tracing_of(solid_scene({"name": name, **keys}, size=(240, 180)), "cpu")
    assert len(tracing._moments[0].levels) > 1
    alone, found = met(tracing, None), met(tracing, starts_of(tracing).starts)
    hits, both = (alone >= 0).mean(), (alone >= 0) & (found >= 0)
    assert np.mean((alone >= 0) & (found < 0)) < 0.003 * hits
    off = (found - alone)[both] / (tracing.shot.camera[march.CONE] * alone[both])
    assert np.mean(off > 3) < 0.01
    assert np.mean(off > 3) < 1.5 * np.mean(off < -3) + 0.001


def test_short_steps_shorten_cones():
    """Where distances are too long by a factor, steps and cones are as much shorter."""
    for step in (1.0, 0.5):
        scene = solid_scene(BALL, position=(0, -4, 0), size=(160, 120), ray_step=step)
        levels = tracing_of(scene, "cpu")._moments[0].levels
        wide = [level.cone.spread * step for level in levels]
        assert wide == pytest.approx([wide[0], wide[0] / 2, wide[0] / 4])
        assert all(level.space.numbers[march.STEP] < step for level in levels)


def walked(tracing, most, **numbers):
    """Return what rays meet from the camera on, with other numbers of the space."""
    space, real = tracing.plan.space(tracing.backend.real), tracing.backend.real
    own, found = space.numbers.copy(), np.zeros((*tracing.plan.scene.image.size[::-1], 2), real)
    for name, value in numbers.items():
        own[getattr(march, name)] = value
    space = space._replace(numbers=own, most=most)
    tracing._tracer().first(found, tracing.shot.camera, space)
    return found[..., 0]


@pytest.mark.parametrize(
    ("formula", "position", "nearer", "fewer"),
    [
        ("mandelbulb", (0.95, -1.25, 0.55), 0.6, 0.85),
        ({"name": "mandelbox", "scale": 2.0}, (-5.819, 4.498, 6.645), 0.6, 0.78),
        ("pseudo_kleinian", None, 0.85, 0.98),
    ],
)
def test_rays_take_fewer_steps_and_end_nearer_to_the_surface(formula, position, nearer, fewer):
    """Than steps of a distance estimate that end where they are; beside tiny steps."""
    scene = solid_scene(formula, position=position, size=(160, 120))
    tracing, many = tracing_of(scene, "cpu"), 20000
    plain = {"STEP": 1 / tracing.plan.solid.shortness, "LEAD": 0}
    tiny = walked(tracing, many, **plain | {"STEP": 0.1 * plain["STEP"], "PULL": 0})
    hits, foot = tiny > 0, tracing.shot.camera[march.CONE] * tiny

    def seen(**numbers):
        """Return mean errors in footprints, the share of rays with large ones, and who go on."""
        found = walked(tracing, many, **numbers)
        both = hits & (found > 0)
        off = (found - tiny)[both] / foot[both]
        left = sum(np.mean(walked(tracing, most, **numbers) != found) for most in (8, 16))
        return np.abs(off).mean(), np.mean(off > 2) + np.mean(hits & (found < 0)), left

    off, deep, left = seen()
    plain_off, plain_deep, _ = seen(**plain, PULL=0)
    assert off < nearer * plain_off
    assert deep < plain_deep + 0.0015
    assert left < fewer * seen(**plain)[2]


def test_other_solids_go_a_distance_at_once():
    assert solid_scene("mandelbulb").make_any_formula().longer == pytest.approx(10 / 7)
    for name in ("mandelbox", "menger", "kleinian", "bicomplex", "bristorbrot"):
        assert solid_scene(name).make_any_formula().longer == 1


def test_steps_to_boxes_leave_the_distance_estimate_as_a_rule():
    """Where they are magnified by 1.8 to 3; smaller scales go two estimates."""
    for scale in (1.1, 1.5, 1.9, 2.2, 3.0):
        box = solid_scene({"name": "mandelbox", "scale": scale}).make_any_formula()
        assert box.longer == pytest.approx(min(2, box.short - 1)), scale


def test_wide_cones_and_pairs_have_no_starts():
    """Beside a solid that is a few pixels wide, and for two eyes, rays start at the camera."""
    for keys in ({"field": 170, "size": (8, 8)}, {"stereo": 0.1, "size": (32, 24)}):
        tracing = tracing_of(solid_scene(BALL, position=(0, -4, 0), **keys), "cpu")
        assert tracing._moments[0].levels == []
        assert starts_of(tracing).starts.lengths.tolist() == [[0]]


def test_a_picture_changes_little(monkeypatch):
    """Beside rays from the camera, where detail is finer than pixels; it is as bright."""
    scene = solid_scene("mandelbulb", size=(80, 60), samples=8, bounces=0)
    found = fractals.render(scene, device="cpu").pixels.astype(float)
    monkeypatch.setattr("fractals.space.trace.levels_of", lambda *given: [])
    alone = fractals.render(scene, device="cpu").pixels.astype(float)
    assert not np.array_equal(found, alone)
    assert abs((found - alone).mean()) < 0.1
