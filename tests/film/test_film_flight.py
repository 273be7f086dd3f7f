"""A solid's camera flies through the keys of a film: its way, its speed, haze and colors held."""

from itertools import pairwise

import numpy as np
import pytest
from support.shapes import solid_scene, tracing_of

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.cli.verbs import run_verb
from fractals.space import plan as plans
from fractals.space import trace
from fractals.space.camera import bare_plan, nearness
from fractals.space.flight import flight_of
from fractals.space.plan import make_solid_plan
from fractals.space.trace import Tracing

PLACES = (
    {"position": [2.2, -3, 1.6], "target": [0, 0, 0]},
    {"position": [2.6, 0.5, 0.4]},
    {"position": [1.3, 0.9, 0.5], "target": [0, 0.2, 0.2], "field": 60},
)


def keyed(*cameras, times=None, formula="mandelbulb", loop=False, ease="constant", **keys):
    """Return a scene whose camera flies through places, at times or at one speed."""
    given = [
        {"camera": camera, "ease": ease}
        | ({"at": times[k]} if times else {"speed": "1.5 distances/s"} if k else {"at": 0})
        for k, camera in enumerate(cameras)
    ]
    return solid_scene(formula, film={"fps": 10, "keys": given, "loop": loop}, **keys)


def places_of(film):
    cameras = [film.scene_at(number).camera for number in range(len(film))]
    return np.array([camera.position for camera in cameras]), cameras


def test_a_camera_flies_as_fast_as_the_surface_is_far():
    scene = keyed(*PLACES, samples=1, bounces=0)
    film = fractals.film(scene, device="cpu")
    places, cameras = places_of(film)
    assert tuple(places[0]) == (2.2, -3, 1.6)
    assert places[-1] == pytest.approx((1.3, 0.9, 0.5))
    assert cameras[0].field == 42
    assert cameras[-1].field == 60
    plan = bare_plan(scene)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    near = np.array([nearness(plan, place) for place in places])
    lengths = steps * (1 / near[1:] + 1 / near[:-1]) / 2
    assert near.max() > 4 * near.min()
    assert lengths.max() < 0.17  # of a tenth of a second: the rest is the camera's turn
    assert lengths.min() > 0.09
    times = flight_of(scene).times
    middle = film.scene_at(round(times[1] * film.motion.rate)).camera.position
    assert np.linalg.norm(np.subtract(middle, PLACES[1]["position"])) < 0.1


def test_keys_with_times_are_reached_and_the_way_has_no_jump():
    around = [{"position": [-1.5, 1.8, 1.2], "field": 42}, {"position": [-2, -2, 1.5]}]
    loop = [*PLACES, *around, PLACES[0]]
    scene = keyed(*loop, times=[0, 1, 2, 4, 5, 6], loop=True)
    film = fractals.film(scene, fps=40)
    places, _ = places_of(film)
    for camera, at in zip(loop, (0, 1, 2, 4, 5), strict=False):
        assert places[40 * at] == pytest.approx(camera["position"], abs=1e-3)
    steps = np.diff(np.vstack([places, places[:1]]), axis=0)
    round_ = pairwise([*steps, steps[0]])
    turns = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in round_]
    assert min(turns) > 0.9  # no corner, at the loop's begin neither
    soft = fractals.film(keyed(*PLACES, times=[0, 1, 2], ease="soft"))
    first = np.linalg.norm(np.diff(places_of(soft)[0], axis=0), axis=1)
    assert first[0] < 0.3 * first[5]


@pytest.mark.parametrize(
    ("cameras", "message"),
    [
        (({"position": [0, -3, 0]}, {"position": [0, 3, 0.1]}), "passes the surface"),
        (({"position": [0, -3, 0]},), "moves between two keys"),
        ((PLACES[0], PLACES[0]), "speed needs a camera that moves"),
        ((PLACES[0], {"focus": 2}), "give it in the first key"),
    ],
)
def test_ways_that_can_not_be_flown_are_refused(cameras, message):
    with pytest.raises(fractals.FractalsError, match=message):
        fractals.film(keyed(*cameras))


def test_only_solids_have_a_camera():
    keys = [{"at": 0, "camera": PLACES[0]}, {"at": 1, "camera": PLACES[1]}]
    with pytest.raises(fractals.FractalsError, match="'mandelbrot' is no solid"):
        fractals.film("seahorse", film={"keys": keys})


def test_colors_and_haze_do_not_flicker(tmp_path, capsys):
    near = {"position": [1.25, 0.8, 0.5], "target": [0.5, 0.4, 0.3]}
    scene = keyed(PLACES[0], PLACES[1], near, times=[0, 0.5, 1], samples=1, bounces=0)
    film = fractals.film(scene, device="cpu")
    shared = film.facts.shared
    assert film.facts.shared is shared
    alone = [film.family.shared([film.scene_at(k)], film.options) for k in (0, 9)]
    depths = sorted(seen.depth for seen in alone)
    assert depths[0] < shared.depth < depths[1]
    first, last = next(iter(film.frames(0, 1))), next(iter(film.frames(9, 10)))
    again = fractals.film(scene, device="cpu")  # as a process that goes on
    assert np.array_equal(next(iter(again.frames(9, 10))), last)
    assert np.array_equal(next(iter(again.frames(0, 1))), first)
    path = tmp_path / "fly.toml"
    path.write_text(scene.to_toml())
    assert fractals.load_scene(path) == scene
    assert run_verb(["film", str(path), "-o", str(tmp_path / "fly.webp"), "--dry-run"]) == 0
    assert "10 frames" in capsys.readouterr().out


def exposed(device, scene, moments, seen, samples):
    """Return the sums of a frame."""
    plan = make_solid_plan(scene.replace(samples=samples), device, 1)
    backend = open_backend(choose(device).device, "float32", 1)
    width, height = scene.image.size
    sums = np.zeros((height, width, 3), np.int64)
    tracing = Tracing(plan, backend, seen, moments)
    tracing.add(sums, range(height), 0, 1, None)  # samples may follow others
    tracing.add(sums, range(height), 1, samples, None)
    return sums


def test_moments_of_a_frame_share_its_samples(monkeypatch):
    for module in (plans, trace):
        monkeypatch.setattr(module, "PROBE", 5)
    small = solid_scene(size=(8, 6), bounces=0, precision="float32")
    scenes = [
        small.replace(position=(2 + 0.2 * k, -3, 1.6), formula={"name": "mandelbulb", "phi": 9 * k})
        for k in range(5)
    ]
    other = small.replace(formula={"name": "mandelbulb", "power": 7})  # another program
    tracing = tracing_of(small, "cpu", "float32")
    seen, width, height = tracing.seen, *small.image.size
    expected = np.zeros((height, width, 3), np.int64)
    for k, scene in enumerate((scenes[0], scenes[2], scenes[4])):  # three samples: few moments
        alone = Tracing(make_solid_plan(scene, "cpu", 1), tracing.backend, seen)
        alone.add(expected, range(height), k, k + 1, None)
    for device in ("python", "cpu"):
        assert np.array_equal(exposed(device, small, [*scenes, other], seen, 3), expected)
    whole = exposed("cpu", small, scenes, seen, 10)
    assert not np.array_equal(whole, exposed("cpu", small, (), seen, 10))
    python = open_backend(choose("python").device, "float32", 1)
    tiny = [make_solid_plan(each.replace(size=(3, 2)), "python", 1) for each in scenes]
    guides = Tracing(tiny[2], python, seen, [plan.scene for plan in tiny]).guides()
    alone = [Tracing(plan, python, seen).guides() for plan in (tiny[1], tiny[3])]  # two samples
    assert guides == pytest.approx((alone[0] + alone[1]) / 2)


def test_the_shutter_blurs_what_moves():
    given = [PLACES[0], {"position": [2.6, 0.5, 0.4], "target": [0.0, 0.0, 0.6]}]
    scene = keyed(*given, times=[0, 0.5], samples=8, bounces=0, size=(48, 32))
    frames = {}
    for shutter in (0.0, 0.2, 1.0):
        film = {**scene.film.model_dump(exclude_none=True), "shutter": shutter}
        frames[shutter] = next(
            iter(fractals.film(scene.replace(film=film), device="cpu").frames(2, 3))
        )
    edges = [np.abs(np.diff(frames[each].astype(float), axis=1)).mean() for each in frames]
    assert edges[0] > 1.02 * edges[1] > 1.1 * edges[2]
    lightness = [frames[each].mean() for each in frames]
    assert lightness[2] == pytest.approx(lightness[0], rel=0.03)
