"""Scenes of solids: what is refused, what is drawn, and pictures that become ever finer."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from support.shapes import BALL, SIZE, solid_scene

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.cli.verbs import run_verb as main
from fractals.explorer.frames import FrameView, Move
from fractals.io import png
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.space import light as lights
from fractals.space.camera import orbited
from fractals.space.plan import Seen, make_solid_plan, steps_for
from fractals.space.trace import Tracing

TINY = {"size": (12, 8), "samples": 1, "bounces": 0}
REFUSED = [
    ({"position": (0, 0, 0.5)}, "inside the solid"),
    ({"position": (1, 2, 3), "target": (1, 2, 3)}, "the same point"),
    ({"position": (float("nan"), 0, 0)}, "not a finite number"),
    ({"position": (1, 2)}, "three numbers"),
    ({"position": (1e300, 0, 0)}, "not from"),
    ({"field": 0}, "more than 0.01"),
    ({"field": 180}, "less than 179"),
    ({"up": (0, 0, 0)}, "a direction"),
    ({"sun": (0, 0, 0)}, "a direction"),
    ({"sun": "moon"}, "three numbers"),
    ({"sky": ("#fff", "#000")}, "missing"),
    ({"samples": 10**9}, "1 to 1000000"),
    ({"samples": 0}, "1 to 1000000"),
    ({"bounces": 17}, "16 or less"),
    ({"exposure": 0}, "more than 0"),
    ({"center": (0, 0)}, "view.center: a solid is seen by a camera"),
    ({"zoom": 3}, "view.zoom"),
    ({"julia": (0, 1)}, "julia"),
    ({"layers": [{"coloring": "smooth"}]}, "one layer"),
    ({"formula": {"name": "mandelbox", "scale": 0.5}}, "scale"),
    ({"formula": {"name": "mandelbulb", "power": 2.5}}, "power"),
]
FINITE = [
    {"sun": (0, 0, 1)},
    {"sun": (0, 0, -1)},
    {"position": (0, 0, 4)},  # along what should be up
    {"position": (0, 0, -4), "up": (0, 0, 1), "roll": 90},
    {"position": (4, 0, 0), "target": (9, 0, 0)},  # nothing but sky
    {"position": (1e5, 0, 0), "field": 0.02},
    {"field": 178},
    {"sun_power": 1e4, "exposure": 1e6},
    {"lens": 1, "focus": 1e-3},
    {"haze": 100, "gloss": 10, "sun_size": 90},
    {"max_iterations": 1},
    {"formula": {"name": "mandelbulb", "power": 2}},
    {"formula": {"name": "mandelbulb", "power": 16}},
    {"palette": "ember", "density": -3.5, "offset": 0.3},
    {"size": (1, 1)},
]


@pytest.mark.parametrize(("keys", "said"), REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_what_makes_no_picture_is_refused_in_one_line(keys, said):
    with pytest.raises(fractals.FractalsError) as error:
        fractals.render(solid_scene(**{**TINY, **keys}), device="cpu")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("keys", FINITE, ids=[str(k) for k in range(len(FINITE))])
def test_odd_scenes_are_drawn(keys):
    image = fractals.render(solid_scene(**{**TINY, **keys}), device="cpu")
    width, height = image.scene.image.size
    assert image.pixels.shape == (height, width, 3)
    assert image.pixels.max() > 0


def test_a_view_that_no_number_resolves_is_refused():
    near = solid_scene(BALL, position=(1 + 4e-16, 0, 0))
    plan = make_solid_plan(solid_scene(), "cpu", 1)
    assert plan.precision == "float32"
    assert plan.samples == 2 * SIZE[0] * SIZE[1]
    plan = make_solid_plan(near.replace(position=(1 + 1e-7, 0, 0)), "cpu", 1)
    assert plan.precision == "float64"
    with pytest.raises(fractals.OptionError, match="float64 has 53"):
        make_solid_plan(near, "cpu", 1)
    least = plan.least_clearance
    make_solid_plan(near.replace(position=(1 + 1.3 * least, 0, 0)), "cpu", 1)
    with pytest.raises(fractals.OptionError, match="float64 has 53"):
        make_solid_plan(near.replace(position=(1 + 0.7 * least, 0, 0)), "cpu", 1)


@pytest.mark.parametrize("nearer", [4, 1e5])
def test_a_camera_that_passes_its_target_looks_on(nearer):
    """A target may hang in the air before the surface, as those of pictures by camera often do."""
    scene = solid_scene(BALL, position=(3, 0, 0), target=(2.5, 0, 0))
    near = orbited(scene, 0, 0, nearer).camera
    assert near.position == pytest.approx((1 + 2 / nearer, 0, 0), abs=1e-3)
    assert near.target[0] < near.position[0]
    assert near.target[1:] == pytest.approx((0, 0))
    away = solid_scene(BALL, position=(3, 0, 0), target=(4, 0, 0))  # it sees no surface
    assert orbited(away, 0, 0, nearer).camera.target == (4, 0, 0)


def test_no_camera_goes_beyond_the_coordinates_that_a_scene_has():
    scene = solid_scene(BALL, position=(3, 0, 0))
    assert solid_scene(BALL, **far_of(orbited(scene, 0, 0, 1e-5))).camera.position[0] > 1e5
    with pytest.raises(fractals.OptionError, match="would be too far away"):
        orbited(scene, 0, 0, 1e-6)


def far_of(scene):
    """Return the keywords of a scene's camera."""
    return {"position": scene.camera.position, "target": scene.camera.target}


def test_a_near_view_takes_the_steps_of_its_detail():
    scene = solid_scene(formula="mandelbulb", size=(200, 120), samples=1)
    assert make_solid_plan(scene, "cpu", 1).steps == 10
    for _ in range(6):
        scene = orbited(scene, 0, 0, 20)
    near = make_solid_plan(scene, "cpu", 1)
    assert near.clearance < 1e-6
    detail = 0.7 * near.pixel * near.clearance / 2.5  # the estimate that ends a ray
    assert near.steps == steps_for(near.solid, detail) > 14
    assert make_solid_plan(scene.replace(max_iterations=12), "cpu", 1).steps == 12
    # What it shows is as rough as the whole solid: few neighbors are as far away as each other.
    found = Tracing(near, open_backend(choose("cpu").device, "float64", 1)).probe()[..., 0]
    found = found[:, (found > 0).all(axis=0)]
    bends = np.abs(np.diff(found, 2, axis=0)).mean() / found.mean()
    few = replace(near, scene=scene.replace(max_iterations=10))
    smooth = Tracing(few, open_backend(choose("cpu").device, "float64", 1)).probe()[..., 0]
    smooth = smooth[:, (smooth > 0).all(axis=0)]
    assert bends > 3 * np.abs(np.diff(smooth, 2, axis=0)).mean() / smooth.mean()
    assert make_solid_plan(solid_scene(BALL, position=(1 + 1e-7, 0, 0)), "cpu", 1).steps == 3


def test_a_picture_carries_its_scene(tmp_path):
    path = tmp_path / "a.png"
    keys = {"size": (20, 14), "samples": 3, "sun": (1, -1, 0.5), "position": "2,-2.5,1"}
    drawn = fractals.render_to(path, formula="mandelbulb", device="cpu", **keys)
    assert (drawn.method, drawn.loop, drawn.precision) == ("rays", "packs", "float32")
    scene = fractals.load_scene(path)
    assert scene.camera.position == (2, -2.5, 1)
    assert scene.light.sun == (1, -1, 0.5)
    again = fractals.render(scene, device="cpu")
    assert np.array_equal(np.asarray(Image.open(path)), again.pixels)
    assert fractals.load_scene(**scene.to_values()) == scene
    deep = fractals.render(scene, bits=16, device="cpu").pixels
    assert deep.dtype == np.uint16
    assert np.abs(deep / 257 - again.pixels).max() < 1


def test_the_forecast_grows_with_paths_bounces_and_short_steps():
    def seconds(**keys):
        scene = fractals.load_scene({}, formula="mandelbox", size=(20, 14), bounces=1, **keys)
        return fractals.plan(scene, device="cpu", threads=1).seconds

    usual = seconds(samples=10)
    assert seconds(samples=30) == pytest.approx(3 * usual)
    assert seconds(samples=10, ray_step=0.25) == pytest.approx(2 * usual)  # most steps are far away
    assert seconds(quality="draft") < seconds() < seconds(quality="best")


def test_the_command_line_draws_and_plans(tmp_path, capsys):
    path = tmp_path / "a.png"
    words = ["render", "--formula", "mandelbox,scale=-2", "--size", "20x14", "--samples", "2"]
    words += ["--position", "3,-6,2", "--sun", "key", "--haze", "0", "--cpu"]
    assert main([*words, "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["method"], plan["samples_per_pixel"], plan["size"]) == ("rays", 2, [20, 14])
    assert plan["memory"] > 0
    assert plan["seconds"] > 0
    assert 3 < plan["clearance"] < 7
    assert 1e-15 < plan["least_clearance"] < 1e-12
    assert main([*words, "--dry-run"]) == 0
    assert " from the surface, at least " in capsys.readouterr().out
    assert main([*words, "-o", str(path)]) == 0
    assert fractals.load_scene(path).camera.position == (3, -6, 2)
    assert main(["render", str(path), "--width", "3", "-o", str(tmp_path / "b.png")]) == 3
    assert "--position" in capsys.readouterr().err


def test_bands_of_a_picture_are_the_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(png, "STRIP", 1)
    scene = solid_scene(size=(10, 300), samples=1, bounces=0)
    whole = fractals.render(scene, device="cpu").pixels
    monkeypatch.setattr("fractals.space.plan.BAND", 10 * 128)
    told = []
    path = tmp_path / "a.png"
    fractals.render_to(path, scene, device="cpu", progress=lambda done, of: told.append(done / of))
    assert np.array_equal(np.asarray(Image.open(path)), whole)
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_poster_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(png, "STRIP", 1)
    scene = solid_scene(size=(10, 300), samples=1, bounces=0)
    whole, path = tmp_path / "whole.png", tmp_path / "a.png"
    fractals.render_to(whole, scene, device="cpu")
    monkeypatch.setattr("fractals.space.plan.BAND", 10 * 128)

    def stop(done, of):
        if done > of / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fractals.render_to(path, scene, device="cpu", progress=stop)
    assert not path.exists()
    assert len(list((tmp_path / "a.png.bands").glob("rows-*.npz"))) == 1
    add, traced = Tracing.add, []

    def counted(self, sums, rows, *rest):
        traced.append(rows)
        add(self, sums, rows, *rest)

    monkeypatch.setattr(Tracing, "add", counted)
    fractals.render_to(path, scene, device="cpu")
    assert traced[0].start > 0  # the first band was kept
    assert path.read_bytes() == whole.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.png", "whole.png"]


def test_a_picture_becomes_ever_finer():
    scene = solid_scene(size=(150, 96), samples=6)
    backend = open_backend(choose("cpu").device, "float32", 1)
    options = RenderOptions(device="cpu")
    refinement = family_of(scene).refine(scene, options, lambda number: backend)
    shown = [each for each in refinement.pictures() if each]
    assert [each.step for each in shown] == [4, 1, *[1] * (len(shown) - 2)]
    assert [each.exact for each in shown] == [False] * (len(shown) - 1) + [True]
    assert shown[0].pixels.shape == (24, 38, 3)
    assert np.array_equal(shown[-1].pixels, fractals.render(scene, device="cpu").pixels)
    # The fast look is the picture, but for bounces and noise.
    assert np.abs(shown[1].pixels.astype(float) - shown[-1].pixels).mean() < 30
    assert refinement.kept == 150 * 96 * (24 + 4 + 1 + 1)
    refinement.free()
    assert refinement.kept == 0


@pytest.mark.parametrize(
    ("size", "speed", "step"),
    [((600, 400), 0, 4), ((600, 400), 1e6, 4), ((600, 400), 2e6, 2), ((600, 400), 8e6, 1)],
)
def test_a_first_look_is_as_fine_as_a_thirtieth_of_a_second_allows(size, speed, step):
    scene, backend = (
        solid_scene(size=size, samples=1),
        open_backend(choose("cpu").device, "float32", 1),
    )

    def refined(before):
        return family_of(scene).refine(scene, RenderOptions(), lambda number: backend, before)

    before = refined(None)
    before._speed = speed
    made = refined(before)
    picture = next(made.pictures())
    assert (picture.step, picture.pixels.shape) == (step, (size[1] // step, size[0] // step, 3))
    assert made._speed > 0
    assert made._speed != speed  # measured, at the size that was drawn


def test_a_first_look_at_a_stereo_pair_has_two_halves():
    scene = solid_scene(size=(130, 40), samples=1, stereo=0.03)
    backend = open_backend(choose("cpu").device, "float32", 1)
    refinement = family_of(scene).refine(scene, RenderOptions(), lambda number: backend)
    assert next(refinement.pictures()).pixels.shape == (10, 34, 3)


def test_a_picture_is_compared_with_plain_python():
    scene = solid_scene(size=(20, 14), samples=2)
    found = family_of(scene).redraw(scene, RenderOptions(device="cpu"), 5)
    assert np.array_equal(found.pixels, fractals.render(scene, device="cpu").pixels)


def test_a_drag_goes_around_a_solid_and_a_zoom_goes_towards_its_surface():
    scene = solid_scene(size=(64, 48))
    home = FrameView.of(scene, (64, 48))
    assert home.scene() == scene
    far = np.linalg.norm(scene.make_any_formula().position)
    right = home.moved(Move(by=(32 * 16, 0))).scene().camera.position  # half of the width
    assert np.linalg.norm(right) == pytest.approx(far)
    assert right[2] == pytest.approx(scene.make_any_formula().position[2])
    assert right[0] < 0  # the solid turns with the pointer
    assert home.moved(Move(by=(0, 160))).scene().camera.position[2] > right[2]
    before = 1.0
    for octaves in (1, 4, 10):
        near = home.moved(Move(scale=64 * octaves)).scene()
        clearance = make_solid_plan(near, "cpu", 1).clearance
        assert 0 < clearance < before * far
        before = clearance / far
    turned = home.moved(Move(turn=3000)).scene()
    assert turned.camera.roll == 30
    there = home.moved(Move(at=(0, 0), by=(16, 32), scale=40, turn=100))
    assert there.moved(Move(at=(16, 32), by=(-16, -32), scale=-40, turn=-100)).scene() == scene
    assert fractals.load_scene(**near.to_values()) == near


def test_the_camera_of_a_film_has_tracks():
    tracks = {
        "formula.scale": [[0, -1.5], [1, -2.0]],
        "camera.position": [[0, [5, -7, 3]], [1, [6, -6, 3]]],
        "light.haze": [[0, 0], [1, 0.4]],
    }
    film = {"seconds": 1, "fps": 3, "shutter": 0, "tracks": tracks}
    scene = solid_scene({"name": "mandelbox", "scale": -1.5}, position=(5, -7, 3), film=film)
    frames = list(fractals.film(scene, device="cpu"))
    assert len(frames) == 3
    last = scene.replace(
        formula={"name": "mandelbox", "scale": -2.0}, position=(6, -6, 3), haze=0.4, film=None
    )
    pixels = [np.asarray(frame) for frame in frames]
    alone = fractals.render(last, bits=16, device="cpu").pixels
    assert not np.array_equal(pixels[-1], alone)  # it has the haze and colors of the whole film
    assert np.abs(pixels[-1].astype(int) - alone).mean() < 8000
    assert not np.array_equal(pixels[0], pixels[1])
    light = {**film, "tracks": {"light.haze": tracks["light.haze"]}}
    lit = np.asarray(list(fractals.film(scene.replace(film=light), device="cpu"))[-1])
    assert np.array_equal(lit, fractals.render(scene, haze=0.4, bits=16, device="cpu").pixels)
    film["keys"] = [{"at": 0}, {"at": 1, "width": "2"}]
    with pytest.raises(fractals.FractalsError, match=r"camera = \{ position"):
        fractals.film(scene.replace(film=film))


def test_focus_and_range_hold_haze_and_colors_while_a_camera_moves(capsys, tmp_path):
    keys = {"size": (24, 18), "samples": 2, "bounces": 0}
    path = tmp_path / "a.png"
    scene = solid_scene(**keys)
    (tmp_path / "a.toml").write_text(scene.to_toml())
    assert main(["render", str(tmp_path / "a.toml"), "-o", str(path), "--cpu", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    low, high = facts["range"]
    assert 0 < low < high < 3
    assert 1 < facts["depth"] < 5
    held = scene.replace(focus=facts["depth"], range=(low, high))
    plan = make_solid_plan(held, "cpu", 1)
    near, far = (
        plan.shot(Seen(depth, depth, np.linspace(a, b, 33)), np.float64)
        for depth, a, b in ((1.0, 0.1, 0.2), (9.0, 1.0, 2.0))
    )
    assert np.array_equal(near.light, far.light)
    assert np.array_equal(near.colors, far.colors)
    assert near.light[lights.HAZE] == pytest.approx(scene.light.haze / facts["depth"])


def test_a_picture_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("fractals.space.trace.memory_size", lambda: 2**30)
    with pytest.raises(fractals.OptionError, match="GiB are free"):
        fractals.render(solid_scene(size=(40_000, 30_000)), device="cpu")
