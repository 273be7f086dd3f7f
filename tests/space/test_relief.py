"""Reliefs: rays that meet the ground, shadows of known length, and the same bits everywhere."""

import functools
import json
import math

import numpy as np
import pytest

import fractals
from fractals.backends.python import PythonBackend
from fractals.cli.verbs import run_verb
from fractals.io.load import load_scene
from fractals.rendering.options import RenderOptions
from fractals.rendering.recoloring import open_recoloring
from fractals.scene.space import Relief
from fractals.space import ground as grounds
from fractals.space import light as lights
from fractals.space import plan, relief
from fractals.space.relief import Lighting, heights_of

# Sunlight alone, on a white ground: 0 in a shadow, and else what faces the sun.
SUNNY = {
    "heights": "distance",
    "supersampling": 1,
    "samples": 4,
    "bounces": 0,
    "sky": ("#000000",) * 3,
    "sun_color": "#ffffff",
    "sun_power": 1,
    "sun_size": 0,
    "gloss": 0,
    "haze": 0,
}
LIT = {"heights": "distance", "size": (10, 7), "supersampling": 1, "samples": 2, "palette": "ember"}


@pytest.fixture
def no_glow(monkeypatch):
    """Leave out the glow of the sky around the sun, so that shadows are black."""
    monkeypatch.setattr(plan, "GLOW", 0.0)


def light_of(heights, device="cpu", colors=None, **keys):
    """Return the light of a ground of these heights, in samples."""
    heights = np.asarray(heights, np.float64)
    scene = load_scene("mandelbrot").replace(**{**SUNNY, "size": heights.shape[::-1], **keys})
    if colors is None:
        colors = np.ones((*heights.shape, 3), np.float32)
    options = RenderOptions(device=device, on_message=lambda line: None)
    lighting = Lighting(scene, device, options, heights, colors)
    sums = np.zeros((*heights.shape, 3), np.int64)
    samples = scene.light.samples
    lighting.add(sums, range(len(heights)), 0, samples, None)
    return sums / (samples * lights.ONE)


def test_the_shadow_of_a_wall_is_as_long_as_its_height_says(no_glow):
    ground = np.zeros((8, 60))
    ground[:, :11] = 10.0  # falls to 0 from column 10 to 11, whose middle is at 11.5
    for degrees in (30, 45, 60):
        elevation = math.radians(degrees)
        sun = -math.cos(elevation), 0, math.sin(elevation)
        light = light_of(ground, sun=sun, size=(60, 8))[4, :, 0]
        end = 10.5 + 10 / math.tan(elevation)  # of the shadow of the edge
        assert (light[13 : math.floor(end) - 1] == 0).all()
        beyond = light[math.ceil(end) + 1 :]
        assert beyond == pytest.approx(math.sin(elevation), rel=1e-5)


def test_the_shadow_of_a_cone_ends_where_that_of_its_tip_does(no_glow):
    y, x = np.mgrid[:61, :121]
    height, radius = 20.0, 12.0
    cone = height * np.clip(1 - np.hypot(x - 30, y - 30) / radius, 0, None)
    sun = -math.cos(0.4), 0, math.sin(0.4)  # steeper than the cone's sides, so it has a shadow
    light = light_of(cone, sun=sun, samples=16)[..., 0]
    shadow = light[30] < math.sin(0.4) / 2
    tip = 30 + height / math.tan(0.4)
    assert abs(np.flatnonzero(shadow).max() - tip) < 3
    # Its borders are tangents of the circle from the tip.
    for column in (50, 60, 70):
        half = (tip - column) * math.tan(math.asin(radius / (tip - 30)))
        assert (light[:, column] < math.sin(0.4) / 2).sum() == pytest.approx(2 * half, abs=2)


def test_the_foot_of_a_wall_sees_as_much_of_the_sky_as_is_open():
    ground = np.zeros((400, 60))
    ground[:, :20] = 10.0
    sky = {"sun_power": 0, "sky": ("#ffffff",) * 3, "samples": 64}
    light = light_of(ground, **sky)[150:250, :, 0].mean(0)
    for column in (22, 25, 30, 40):
        away = column - 19  # the edge is in the middle of column 19
        assert light[column] == pytest.approx((1 + away / math.hypot(away, 10)) / 2, abs=0.01)
    assert light[:18] == pytest.approx(1)


def test_light_that_a_wall_reflects_brightens_its_foot(no_glow):
    ground = np.zeros((12, 40))
    ground[:, :20] = 10.0
    sun = {"sun": (1, 0, 0.5), "samples": 64}
    once, again = (light_of(ground, bounces=k, **sun)[6, 21, 0] for k in (0, 2))
    assert once < again < 2 * once
    black = np.zeros((*ground.shape, 3), np.float32)
    assert light_of(ground, colors=black, **sun).max() == 0


def test_rays_meet_the_ground_where_small_steps_do():
    chance = np.random.default_rng(3)
    heights = 6 * chance.random((13, 22)) ** 3
    ground = grounds.ground_of(heights, np.ones((13, 22, 3)))
    hits, target = 0, PythonBackend("float64").target
    meet, height = grounds.make_meet(target), grounds.make_height(target)
    for _ in range(500):
        o = np.array([*(chance.random(2) * (40, 30) - 8), 12 * chance.random()])
        if o[2] <= height(float(o[0]), float(o[1]), ground):
            continue
        d = chance.normal(size=3)
        d[chance.integers(6) % 3] *= chance.integers(2)  # some along an axis
        d = d / np.linalg.norm(d)
        t, _, found = meet(tuple(map(float, o)), tuple(map(float, d)), 0.0, ground)
        steps = np.arange(0, 60, 0.004)
        x, y, z = (o[k] + steps * d[k] for k in range(3))
        within = (x >= 0) & (x <= 23) & (y >= 0) & (y <= 14) & (z <= ground.top) & (z >= -1)
        first = next(
            (k for k in np.flatnonzero(within) if z[k] <= height(float(x[k]), float(y[k]), ground)),
            None,
        )
        if found and first is None:  # small steps pass over an edge
            own = o + t * d
            assert own[2] == pytest.approx(height(float(own[0]), float(own[1]), ground), abs=1e-9)
        else:
            assert found == (first is not None)
        if found and first is not None:
            hits += 1
            assert t == pytest.approx(steps[first], abs=0.01)
    assert hits > 30


KINDS = {
    "map": LIT,
    "landscape": LIT
    | {"tilt": 55, "lens": 0.02, "haze": 0.5, "emission": 2, "heights": "smooth", "bounces": 1},
}


@functools.cache
def in_python(kind):
    """Return the pixels of plain Python."""
    return fractals.render("seahorse", **KINDS[kind], device="python", bits=16).pixels


@pytest.mark.parametrize("kind", KINDS)
def test_every_device_gives_the_same_bits(compiled, kind):
    assert len(np.unique(in_python(kind))) > 50
    for threads in (1, 3) if compiled == "cpu" else (None,):
        image = fractals.render(
            "seahorse", **KINDS[kind], device=compiled, threads=threads, bits=16
        )
        assert np.array_equal(image.pixels, in_python(kind))


def test_heights_of_distances_depend_on_the_distance_alone():
    circle = {"julia": ("0", "0"), "heights": "distance"}
    raw = fractals.compute(**circle, size=(40, 30), supersampling=1, width="3", device="cpu")
    drawing = open_recoloring(relief.inner_scene(raw.scene), raw, RenderOptions(device="cpu"))
    values, _ = relief.samples_for(drawing, None)
    x, y = (np.arange(40) - 19.5) * 3 / 40, (14.5 - np.arange(30)) * 3 / 40
    r = np.hypot(x, y[:, None])
    outside = r > 1.01
    estimate = 2 * r * np.log(np.where(outside, r, 1))  # 2 |z| log|z| / |dz|, which has no end here
    known = np.isfinite(values)
    assert (known == (r > 1)).all()
    assert values[outside] == pytest.approx(estimate[outside] / 3 * 1000, rel=1e-6)
    for rise in (0.2, -0.2):
        heights = heights_of(values, Relief(heights="distance", rise=rise))
        share = 1 / (1 + estimate[outside] / 3 / relief.NEAR)
        expected = rise * 40 * share - (rise < 0) * rise * 40
        assert heights[outside] == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert heights.min() >= 0
        assert (heights[~known] == heights[~known][0]).all()


def test_heights_of_counts_are_the_same_however_many_came_before():
    counts = np.array([[10.0, 11.0, 12.0, 20.0, 500.0, np.nan]])
    own = heights_of(counts, Relief(heights="smooth", rise=0.5))
    later = heights_of(counts + 1e6, Relief(heights="smooth", rise=0.5))
    assert later == pytest.approx(own, abs=1e-6)
    assert (np.diff(own) > 0).all()
    assert own[0, -1] == 0.5 * 6
    nothing = heights_of(np.full((2, 3), np.nan), Relief(heights="smooth"))
    assert (nothing == nothing[0, 0]).all()


def test_a_tilted_camera_sees_the_ground_in_every_corner():
    heights = np.zeros((20, 36))
    heights[5:9, 7:30] = 4.0
    bright = {"sky": ("#ffffff",) * 3, "sun_power": 0}
    black = np.zeros((20, 36, 3), np.float32)
    for tilt in (0, 25, 48):  # the sky is white, and the ground black
        assert light_of(heights, colors=black, tilt=tilt, **bright).max() == 0
    over = light_of(heights, colors=black, tilt=75, **bright)[..., 0]
    assert over[0].min() == 1
    assert over[-1].max() == 0


@pytest.mark.parametrize(
    ("size", "field"),
    [((36, 20), 42), ((36, 20), 2), ((36, 20), 0.1), ((20, 20), 10), ((10, 60), 42)],
)
def test_the_ground_just_fills_a_tilted_picture(size, field):
    """The corners of the picture see the ground, of which one is at its border."""
    scene = load_scene("mandelbrot").replace(**{**SUNNY, "size": size, "field": field, "tilt": 30})
    ground = grounds.ground_of(np.zeros(size[::-1]), np.zeros((*size[::-1], 3), np.float32))
    numbers, _ = relief.camera_of(scene, ground)
    place, ahead, right, up = np.array(numbers[:12]).reshape(4, 3)
    half = np.array(size) / 2
    beyond = []
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        sight = ahead + math.tan(math.radians(field / 2)) * (x * size[0] / size[1] * right + y * up)
        seen = place - sight * place[2] / sight[2]
        beyond.append(np.abs((seen[:2] - 0.5 - half) / half).max())
    assert max(beyond) == pytest.approx(1)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"formula": "mandelbulb"}, "a relief is made of an escape-time formula"),
        ({"formula": "flame"}, "'flame' is of the family 'scatter'"),
        ({"projection": "exponential"}, "drawn in the projection 'plane'"),
        ({"antialias": "jittered"}, "samples of a relief lie in a grid"),
        ({"position": (1, 2, 3)}, "camera.position: a relief is seen as its tilt= says"),
        ({"ray_step": 0.5}, "camera.ray_step: it is for solids"),
        ({"formula": "newton", "heights": "distance"}, "is for orbits that escape"),
        ({"heights": "high"}, "relief.heights: "),
        ({"tilt": 90}, "relief.tilt: "),
        ({"denoise": True}, "give a relief more samples="),
    ],
)
def test_what_no_relief_has_is_said_in_one_line(keys, line):
    with pytest.raises(fractals.FractalsError, match=line) as caught:
        fractals.render(**{"heights": "smooth", "size": (8, 6), "device": "cpu", **keys})
    assert "\n" not in str(caught.value)


def test_recoloring_and_files_draw_the_same_relief(tmp_path):
    scene = load_scene("seahorse").replace(**LIT)
    image = fractals.render(scene, device="cpu")
    raw = fractals.compute(scene, device="cpu")
    assert np.array_equal(fractals.recolor(raw, device="cpu").pixels, image.pixels)
    with pytest.warns(fractals.FractalsWarning, match="not used here"):
        flat = fractals.compute(scene.replace(heights="none"), device="cpu")
    assert "dz" not in flat.planes
    with pytest.raises(fractals.OptionError, match="'distance' needs dz, which these raw numbers"):
        fractals.recolor(flat, heights="distance", device="cpu")
    counts = fractals.recolor(flat, scene.replace(heights="smooth", rise=0.3), device="cpu")
    assert counts.scene.relief.rise == 0.3
    assert np.array_equal(
        counts.pixels, fractals.render(counts.scene, device="cpu", heights="smooth").pixels
    )
    path = tmp_path / "a.png"
    fractals.render_to(path, scene, device="cpu")
    assert load_scene(path) == scene
    image.save(tmp_path / "b.png")
    assert path.read_bytes() == (tmp_path / "b.png").read_bytes()
    with pytest.raises(fractals.OptionError, match="drawn by one machine"):
        fractals.render_to(tmp_path / "c.png", scene, device="cpu", cluster="local")


def test_a_deep_view_has_a_relief_as_any_other():
    scene = load_scene("caravan").replace(**LIT, rise=0.2)
    image = fractals.render(scene, device="cpu")
    assert image.method == "perturbation"
    flat = fractals.render(scene.replace(rise=0), device="cpu")
    assert not np.array_equal(image.pixels, flat.pixels)


def test_what_takes_too_much_memory_is_refused_at_once(monkeypatch):
    monkeypatch.setattr(relief, "memory_size", lambda: 2**28)
    with pytest.raises(fractals.OptionError, match="shadows cross the whole picture"):
        fractals.render("seahorse", heights="smooth", size="4k", device="cpu")


def test_a_picture_whose_colors_depend_on_all_samples(tmp_path):
    scene = load_scene("mandelbrot").replace(**LIT, coloring="histogram")
    image = fractals.render(scene, device="cpu")
    raw = fractals.compute(scene, device="cpu")
    assert np.array_equal(fractals.recolor(raw, device="cpu").pixels, image.pixels)


def test_progress_only_grows():
    seen = []
    scene = load_scene("mandelbrot").replace(**LIT)
    fractals.render(scene, device="cpu", progress=lambda done, total: seen.append(done / total))
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_a_plan_tells_what_is_drawn(capsys):
    arguments = ["render", "seahorse", "--heights", "distance", "--tilt", "40", "--dry-run"]
    assert run_verb(arguments) == 0
    said = capsys.readouterr()
    assert "relief" in said.out + said.err
    table = fractals.plan("seahorse", heights="smooth", size=(64, 36), device="cpu").to_table()
    assert json.loads(json.dumps(table))["paths"] == 64 * 36 * 64


def test_the_frames_of_a_film_are_pictures_of_their_times():
    keys = [{"at": 0, "width": "0.02"}, {"at": 1, "width": "0.005"}]
    moves = {"fps": 2, "keys": keys, "tracks": {"relief.tilt": [[0, 0], [1, 40]]}}
    film = fractals.film("seahorse", film=moves, **LIT, device="cpu")
    first, last = film
    for frame, keys in ((first, {"width": "0.02"}), (last, {"width": "0.005", "tilt": 40})):
        image = fractals.render("seahorse", **LIT, **keys, device="cpu", bits=16)
        assert np.array_equal(frame, image.pixels)
