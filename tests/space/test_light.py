"""Paths of light: the same bits from every device, and what physics says of simple scenes."""

import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest
from oracle import solids as oracle
from support.scenes import slow_but
from support.shapes import BALL, BOX, SIZE, TORUS, solid_scene, sums_of, tracing_of

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.io.files import SCENE_KEY
from fractals.io.raw.exr import save_picture
from fractals.kernels.primitives import fma, number, sqrt
from fractals.space import light as lights
from fractals.space import march, plan, trace
from fractals.space.cpu_ray_lists import PathRange, Tracer, places_of
from fractals.space.plan import place_of
from fractals.space.solid import Solid
from fractals.space.trace import Tracing

NEAR_BOX = {
    "formula": {"name": "mandelbox", "scale": -2.2},
    "position": (-0.1736, 1.6909, -1.8756),
    "target": (1.4448, -0.8996, -0.2742),
}
SCENES = {
    "bulb": {"formula": "mandelbulb", "bounces": 2, "haze": 0.3, "lens": 0.02, "gloss": 0.2},
    "box": {**NEAR_BOX, "samples": 1},
    "julia": {"formula": "quaternion", "precision": "float64", "bounces": 0, "ray_step": 0.4},
    "fire": {**NEAR_BOX, "emission": 4, "emission_at": 0.2, "emission_width": 0.4, "bounces": 1},
    "panorama": {**NEAR_BOX, "panorama": True, "size": (10, 5), "bounces": 0},
    "pair": {**NEAR_BOX, "stereo": 0.2, "size": (12, 6), "lens": 0.02, "bounces": 0},
    "pair of panoramas": {
        **NEAR_BOX,
        "stereo": 0.2,
        "panorama": True,
        "size": (8, 8),
        "bounces": 0,
    },
}
CUBE = (2.5, -3.5, 2.0)  # a camera
ORBIT = 40  # steps after which a point counts as one of the solid
# Light of 1 from everywhere, on a surface that reflects all of it.
WHITE = {
    "sun_power": 0,
    "sky": ("#ffffff", "#ffffff", "#ffffff"),
    "palette": {"stops": [[0, "#ffffff"], [1, "#ffffff"]]},
    "haze": 0,
}


@pytest.fixture(autouse=True)
def _few_rays_of_a_probe(monkeypatch):
    """Plain Python takes a millisecond for a ray."""
    for module in (plan, trace):
        monkeypatch.setattr(module, "PROBE", 5)


@pytest.mark.parametrize("name", slow_but(SCENES.keys() - {"julia"}, SCENES))
def test_every_device_gives_the_same_bits(name):
    scene = solid_scene(**SCENES[name])
    expected = sums_of(scene, last=1)
    assert len(np.unique(expected)) > 50
    for device, threads in (("cpu", 1), ("cpu", 3), ("simulator", None)):
        assert np.array_equal(sums_of(scene, device, last=1, threads=threads), expected)


def test_shares_of_sources_add_up_to_the_light():
    """The same bits from every device; the light is the sum of each source times its share."""
    keys = {"emission": 4, "emission_width": 1, "gloss": 0.3, "haze": 0.3, "relight": True}
    scene = solid_scene(TORUS, position=(0, -4, 1.5), field=60, **keys)
    width, height = scene.image.size
    sums = {}
    for device in ("python", "cpu"):
        sums[device] = np.zeros((height, width, 18), np.int64)
        tracing = tracing_of(scene, device)
        tracing.add(sums[device], range(height), 0, 2, None)
    assert np.array_equal(sums["python"], sums["cpu"])
    light, shares = sums["cpu"][..., :3], sums["cpu"][..., 3:].reshape(height, width, 5, 3)
    assert np.array_equal(light, sums_of(scene))
    sources = plan.sources_of(scene)
    assert np.array_equal(
        tracing.shot.light[lights.SUNLIGHT : lights.GLOW], sources.ravel().astype(np.float32)
    )
    assert shares.any(axis=(0, 1)).all()
    assert (shares * sources).sum(axis=2) == pytest.approx(light, rel=1e-5, abs=200)


def test_a_surface_gives_off_light_where_its_trap_says():
    dark = {**WHITE, "sky": ("#000000",) * 3, "bounces": 3, "emission_color": "#ffffff"}
    ball = {**dark, "emission": 0.5, "emission_width": 1, "size": (8, 8), "range": (0.5, 9)}
    scene = solid_scene(BALL, **ball, position=(0, -4, 0), field=10)
    light = sums_of(scene, "cpu", last=1) / lights.ONE
    trap = 2.0  # of the first point of an orbit from the surface
    share = 1 - (trap - 0.5) / 8.5
    assert light == pytest.approx(0.5 * share**2, rel=3e-2)  # a ball sees nothing of itself
    assert sums_of(scene.replace(emission=0), "cpu", last=1).max() == 0
    far = sums_of(scene.replace(emission_at=1.0, emission_width=0.5), "cpu", last=1)
    assert far.max() == 0
    hollow = solid_scene("menger", **dark, emission=1, emission_width=0.2, size=(16, 12))
    for more in (2, 4):  # twice the light everywhere: bounces add it up
        one, other = (sums_of(hollow.replace(emission=k), "cpu", last=8) for k in (1, more))
        assert other == pytest.approx(more * one, abs=40 * more)


def test_the_eyes_of_a_pair_see_the_same_point_where_it_is_sharp():
    scene = solid_scene(**NEAR_BOX, size=(24, 10), stereo=0.1, focus=2.0)
    tracing = tracing_of(scene, number="float64")
    camera, python = tracing.shot.camera, tracing.backend.target
    rays = march.make_ahead(python)
    forward, right = camera[march.AHEAD : march.RIGHT], camera[march.RIGHT : march.UP]
    for column, row in ((0.5, 0.5), (7.25, 3.5), (11.5, 9.5)):
        pair = [rays(column + part, row, 0.0, 0.0, camera.tolist()) for part in (0, 12)]
        (left, one), (other, two) = ([np.array(each) for each in ray] for ray in pair)
        assert other - left == pytest.approx(0.1 * 2 * right)
        points = [o + d * 2.0 / (d @ forward) for o, d in ((left, one), (other, two))]
        assert points[0] == pytest.approx(points[1])
    round_about = scene.replace(size=(16, 16), panorama=True)
    camera = tracing_of(round_about, number="float64").shot.camera
    for column in (1.5, 8.0, 12.25):
        left, other = (
            np.array(rays(column, 3.5 + part, 0.0, 0.0, camera.tolist())) for part in (0, 8)
        )
        assert left[1] == pytest.approx(other[1])
        assert np.linalg.norm(other[0] - left[0]) == pytest.approx(0.2)
        assert (other[0] - left[0]) @ left[1] == pytest.approx(0, abs=1e-12)
    with pytest.raises(fractals.SceneError, match="the width of a stereo pair is even, and 25"):
        fractals.plan(scene, size=(25, 10))
    assert fractals.plan(scene, size=(25, 10), panorama=True)


@pytest.mark.parametrize(
    ("room", "vectors"), slow_but([(2048, 2), (37, 1)], [(2048, 2), (37, 1), (300, 4)])
)
def test_lists_and_packs_of_any_size_give_the_same_bits(room, vectors):
    scene = solid_scene(**SCENES["bulb"])
    tracing, (width, height) = tracing_of(scene), SIZE
    tracer = Tracer(tracing.plan.precision, tracing.plan.solid.walk, room, vectors)
    found = np.zeros((height, width, 3), np.int64)
    paths = PathRange(places_of(width, 0, width * height), 0, 2)
    tracer.trace(found.reshape(1, -1, 3), paths, tracing.shot, tracing.plan.space(np.float32))
    assert np.array_equal(found, sums_of(scene))


def test_samples_continue_and_rows_stand_alone():
    scene = solid_scene()
    whole = sums_of(scene, "cpu", 0, 9)
    assert np.array_equal(sums_of(scene, "cpu", 0, 4) + sums_of(scene, "cpu", 4, 9), whole)
    rows = np.zeros((3, SIZE[0], 3), np.int64)
    tracing_of(scene, "cpu").add(rows, range(4, 7), 0, 9, None)
    assert np.array_equal(rows, whole[4:7])


def test_a_changed_option_is_another_picture_of_the_same_program():
    one, other = (
        solid_scene({"name": "mandelbox", "scale": scale, "inner": inner}).make_any_formula()
        for scale, inner in ((-1.5, 0.5), (2.0, 0.25))
    )
    assert one.walk == other.walk
    assert one.options != other.options


def test_a_white_furnace_is_white():
    """A convex white surface under a white sky can't be told from the sky."""
    for solid in (BALL, BOX):
        scene = solid_scene(solid, position=CUBE, size=(90, 70), bounces=3, **WHITE)
        found = sums_of(scene, "cpu", 0, 3) / (3 * lights.ONE)
        assert found.max() == 1
        assert found.min() > 0.9999


def test_inside_corners_lose_no_light_and_make_none():
    """Between surfaces that reflect all light, a path ends in the sky at last, or nearly so."""
    scene = solid_scene("mandelbulb", bounces=16, **WHITE)
    found = sums_of(scene, "cpu", 0, 64) / (64 * lights.ONE)
    assert found.max() < 1 + 1e-5
    assert found.mean() > 0.97


def test_a_ball_in_the_sun_is_as_bright_as_the_cosine_says():
    sun = np.array([0.3, -0.8, 0.5])
    scene = solid_scene(
        BALL, position=(0.4, -4, 0.6), sun=tuple(sun), sun_size=0, sun_color="#ffffff",
        sun_power=2, sky=("#000000",) * 3, gloss=0, haze=0, bounces=0, samples=1,
        palette={"stops": [[0, "#bcbcbc"], [1, "#bcbcbc"]]}, size=(40, 30),
    )  # fmt: skip
    tracing = tracing_of(scene, "cpu")
    sums = np.zeros((30, 40, 3), np.int64)
    tracing.add(sums, range(30), 0, 400, None)
    found = sums[..., 0] / (400 * lights.ONE)
    camera = tracing.shot.camera.astype(np.float64)
    albedo = ((0xBC / 255 + 0.055) / 1.055) ** 2.4
    checked = 0
    for row in range(30):
        for column in range(40):
            place = hit_of_ball(camera, column + 0.5, row + 0.5)
            edge = place is None or any(
                hit_of_ball(camera, column + u, row + v) is None for u in (-1, 2) for v in (-1, 2)
            )
            if edge or abs(place @ sun) < 0.15:
                continue
            expected = 2 * albedo * max(0, place @ sun / np.linalg.norm(sun))
            # The glow around the sun is no light of the surface; the sky is black elsewhere.
            glow = 0.12 * 2 * albedo
            assert expected - 0.02 < found[row, column] < expected + glow + 0.02
            checked += 1
    assert checked > 150


def hit_of_ball(camera, column, row):
    """Return where the ray of a place in the picture meets the ball of radius 1, or None."""
    x = (column - camera[march.HALF]) * camera[march.PIXEL]
    y = (camera[march.HALF + 1] - row) * camera[march.PIXEL]
    origin, ahead, right, up = (camera[k : k + 3] for k in (0, 3, 6, 9))
    d = ahead + x * right + y * up
    d /= np.linalg.norm(d)
    b, c = origin @ d, origin @ origin - 1
    return None if b * b < c else origin + d * (-b - math.sqrt(b * b - c))


@pytest.mark.parametrize("name", ["ball", "torus", "box"])
def test_rays_meet_surfaces_that_are_known(name):
    """Lengths are exact to the footprint, and what is met is what formulas say."""
    solid = {"ball": BALL, "torus": TORUS, "box": BOX}[name]
    tracing = tracing_of(solid_scene(solid, position=CUBE, size=(60, 60)), "cpu")
    camera, pixel = tracing.shot.camera.astype(np.float64), float(tracing.shot.camera[march.PIXEL])
    found = np.zeros((60, 60, 2), np.float32)
    tracing._tracer().first(found, tracing.shot.camera, tracing.plan.space(np.float32))
    found = found.astype(float)
    distance = {
        "ball": lambda p: np.linalg.norm(p) - 1,
        "torus": lambda p: math.hypot(math.hypot(p[0], p[1]) - 1, p[2]) - 0.25,
        "box": lambda p: max(np.abs(p) - 1),
    }[name]
    hits = 0
    for row in range(0, 60, 6):
        for column in range(0, 60, 6):
            t = found[row, column, 0]
            x = (column + 0.5 - camera[march.HALF]) * camera[march.PIXEL]
            y = (camera[march.HALF + 1] - row - 0.5) * camera[march.PIXEL]
            d = camera[3:6] + x * camera[6:9] + y * camera[9:12]
            d /= np.linalg.norm(d)
            steps = np.linspace(2, 7, 1000)
            met = [s for s in steps if distance(camera[:3] + s * d) < 0]
            if t < 0:
                assert not met
                continue
            hits += 1
            assert 0 <= distance(camera[:3] + t * d) < pixel * t
            assert not met or t < met[0]  # no ray passes the surface
    assert hits > 10


def test_no_ray_passes_a_thin_wall():
    """The wall is thinner than a step of a ray, and than a footprint."""

    def distance(x, y, z, d, options):
        (thick,) = options
        return (abs(sqrt(fma(x, x, fma(y, y, z * z))) - number(1, x)) - thick) / d

    thick, side = 0.002, 12
    solid = replace(TORUS, distance=distance, options=(thick,))
    tracing = tracing_of(solid_scene(solid, position=(0, -4, 0), size=(side, side)))
    camera = tracing.shot.camera.astype(np.float64)
    found = np.zeros((side, side, 2))
    space = march.space_of(solid, solid.steps, np.float64)
    backend = open_backend(choose("python").device, "float64", 1)
    backend.compile(march.make_first_body, solid.walk)(found, camera, space)
    hits = 0
    for row in range(side):
        for column in range(side):
            place = hit_of_ball(camera, column + 0.5, row + 0.5)
            if place is not None:
                length, t = np.linalg.norm(place - camera[:3]), found[row, column, 0]
                assert 0 < t < length
                met = camera[:3] + (place - camera[:3]) * t / length
                assert 0 <= np.linalg.norm(met) - 1 - thick < camera[march.PIXEL] * t
                hits += 1
    assert hits > 20


@pytest.mark.slow
def test_short_steps_do_not_pass_the_fins_of_a_bulb():
    """Near a bulb's poles distances are too long: rays of whole ones end beneath its surface."""
    scene = fractals.load_scene("ruffle").replace(size=(24, 15), lens=0)
    assert scene.camera.ray_step == 0.35
    backend = open_backend(choose("python").device, "float64", 1)
    beneath = {}
    for ray_step in (1.0, 0.35):
        made = plan.make_solid_plan(scene.replace(ray_step=ray_step), "python", 1)
        camera, found = Tracing(made, backend).shot.camera, np.zeros((15, 24, 2))
        camera[march.CONE] *= 24 / 1280  # the footprint of the picture in the gallery
        space = made.space(np.float64)
        backend.compile(march.make_first_body, made.solid.walk)(found, camera, space)
        ahead = march.make_ahead(backend.target)
        field = march.make_field(backend.target, made.solid.walk)
        shares = []
        for row, column in np.argwhere(found[..., 0] > 0):
            o, d = ahead(column + 0.5, row + 0.5, 0.5, 0.5, camera)
            t = found[row, column, 0]
            h, _ = field(*(a + t * b for a, b in zip(o, d, strict=True)), space)
            shares.append(h / (camera[march.CONE] * t))
        beneath[ray_step] = np.mean(np.array(shares) < 0.1)
    assert beneath[0.35] < 0.01 < 0.02 < beneath[1.0]  # 0 and 11 rays of 327


def test_a_lens_blurs_what_is_not_sharp():
    def contrast(**keys):
        scene = solid_scene(BOX, size=(40, 30), samples=32, bounces=0, haze=0, **keys)
        pixels = fractals.render(scene, device="cpu").pixels.astype(float)
        return np.abs(np.diff(pixels, axis=1)).max()

    assert contrast(lens=0.3, focus=20.0, position=CUBE) < 0.7 * contrast(position=CUBE)


def test_haze_hides_what_is_far():
    scene = solid_scene(position=(0, -40, 2), haze=50.0, samples=1)
    clear = solid_scene(position=(0, -40, 2), target=(0, -80, 2), samples=1)
    found, sky = (sums_of(each, "cpu", 0, 1) for each in (scene, clear))
    assert place_of(scene.camera, scene.make_any_formula())[0] == (0, -40, 2)
    assert found.min() > 0.3 * sky.min()


def test_a_solid_that_fits_no_packs_is_drawn_ray_by_ray():
    def step(x, y, z, d, a, b, c, options):
        if x > y:  # a branch: no pack can take it
            x, y = y, x
        return x, y, z, d

    def distance(x, y, z, d, options):
        return (sqrt(fma(x, x, fma(y, y, z * z))) - number(1, x)) / d

    solid = Solid("branched", "Branched", step, distance=distance, steps=1, bound=1.5)
    scene = solid_scene(solid, position=CUBE)
    tracing = tracing_of(scene, "cpu", threads=2)
    found = np.zeros((SIZE[1], SIZE[0], 3), np.int64)
    tracing.add(found, range(SIZE[1]), 0, 2, None)
    assert tracing.loop.startswith("plain: ")
    assert np.array_equal(found, sums_of(scene))


@pytest.mark.parametrize("name", ["mandelbulb", "mandelbox"])
def test_rays_end_at_the_surface_that_mpmath_finds(name):
    """No point before the end of a ray is in the solid, and one within some footprints is.

    A distance estimate by powers may be four times too short.
    """
    tracing, dice = (
        tracing_of(solid_scene(name, size=(24, 24), precision="float64"), "cpu"),
        random.Random(4),
    )
    camera, solid = tracing.shot.camera, tracing.plan.solid
    found = np.zeros((24, 24, 2))
    tracing._tracer().first(found, camera, tracing.plan.space(np.float64))

    def inside(place):
        return (
            oracle.orbit(name, tuple(place), dict(solid.parameters), ORBIT, solid.bail)[2] == ORBIT
        )

    pixels = [(i, j) for j in range(24) for i in range(24) if found[j, i, 0] >= 0]
    for i, j in dice.sample(pixels, 4):
        t = found[j, i, 0]
        x = (i + 0.5 - camera[march.HALF]) * camera[march.PIXEL]
        y = (camera[march.HALF + 1] - j - 0.5) * camera[march.PIXEL]
        d = camera[3:6] + x * camera[6:9] + y * camera[9:12]
        d /= np.linalg.norm(d)
        footprint = camera[march.CONE] * t
        assert not any(inside(camera[:3] + s * d) for s in np.linspace(t - 2, t, 60))
        around = [np.array([dice.gauss(0, 1) for _ in range(3)]) for _ in range(60)]
        assert any(
            inside(camera[:3] + t * d + reach * footprint * v / np.linalg.norm(v))
            for reach in (1, 2, 3, 4)
            for v in around
        )


def test_a_panorama_sees_all_around():
    """A ball of radius 1 at a distance of 3 covers 2 asin(1/3), here and half a turn away."""
    for target, middle in (((0, 0, 0), 180), ((0, -9, 0), 0), ((-3, -3, 0), 270)):
        keys = {"position": (0, -3, 0), "target": target, "panorama": True, "size": (360, 180)}
        tracing = tracing_of(solid_scene(BALL, **keys), "cpu")
        found = np.zeros((180, 360, 2), np.float32)
        tracing._tracer().first(found, tracing.shot.camera, tracing.plan.space(np.float32))
        rows, columns = np.nonzero(np.roll(found[..., 0] >= 0, 180 - middle, axis=1))
        wide = 2 * math.degrees(math.asin(1 / 3))
        for places, center in ((rows, 89.5), (columns, 179.5)):
            assert np.ptp(places) + 1 == pytest.approx(wide, abs=3)
            assert places.mean() == pytest.approx(center, abs=0.6)


def test_an_exr_holds_light_and_the_surface(tmp_path):
    exr = pytest.importorskip("OpenEXR")
    white = {**WHITE, "sky": ("#ffffff", "#808080", "#ffffff"), "bounces": 0}
    scene = solid_scene(BALL, **white, size=(20, 12), position=(0, -4, 0), samples=3)
    path = tmp_path / "ball.exr"
    made = fractals.render_to(path, scene, device="cpu")
    assert made.method == "rays"
    with exr.File(str(path), separate_channels=True) as file:
        planes = {name: channel.pixels for name, channel in file.channels().items()}
        assert SCENE_KEY not in file.header()  # the ball is a function of this test
    sums = sums_of(scene, "cpu", last=3)
    exposure = tracing_of(scene).developer.exposure
    light = np.stack([planes[name] for name in "RGB"], axis=2)
    assert light == pytest.approx(sums / lights.ONE / 3 * exposure, rel=1e-6)
    row, column = 6, 10
    assert planes["Z"][row, column] == pytest.approx(3, abs=0.01)
    assert planes["Z"][0, 0] == np.float32(lights.NOWHERE)
    normal = [planes[f"normal.{axis}"][row, column] for axis in "XYZ"]
    assert normal == pytest.approx([0, -1, 0], abs=0.1)
    assert planes["trap"][row, column] == pytest.approx(2, abs=0.02)
    assert planes["albedo.G"][row, column] == 1
    with pytest.raises(fractals.FractalsError, match="exists"):
        fractals.render_to(path, scene, device="cpu")
    named = solid_scene("menger", gamut="p3")
    save_picture(tmp_path / "named.exr", {"Z": planes["Z"]}, named, False)
    with exr.File(str(tmp_path / "named.exr")) as file:
        header = dict(file.header())
        assert fractals.load_scene(json.loads(header[SCENE_KEY])) == named
        assert header["chromaticities"][:2] == pytest.approx((0.68, 0.32))
    with pytest.raises(fractals.OptionError, match="unknown type of picture"):
        fractals.render_to(tmp_path / "a.exr", "seahorse", size=(8, 8))
