"""Films of flames, attractors and Buddhabrots: each frame is the picture of its scene."""

import os

import numpy as np
import PIL.Image
import pytest
from support.scenes import slow_but

import fractals
from fractals import OptionError
from fractals.films.frames import MOMENTS
from fractals.films.tracks import replaced
from fractals.films.work import SEGMENTS, folder_of
from fractals.rendering.options import RenderOptions
from fractals.scatter.plan import CHUNK
from fractals.scatter.play import Player, open_player
from fractals.scatter.show import Show

SMALL = {"size": (48, 32), "supersampling": 1, "quality": 20, "device": "cpu"}
FLAME = {
    "name": "flame",
    "transforms": [
        {"affine": [0.6, -0.3, 0.2, 0.3, 0.6, 0], "variations": {"linear": 0.7, "swirl": 0.3}},
        {"affine": [0.5, 0, -0.6, 0, 0.5, 0.3], "color": 1.0, "variations": {"spherical": 0.4}},
    ],
}
KEYS = [{"at": 0, "width": "5"}, {"at": 1, "width": "3", "center": ["0.2", "0"], "rotation": 40}]
TRACKS = {"offset": [[0, 0], [1, 0.5]], "brightness": [[0, 3], [1, 6]]}
FILMS = {
    "flame": (FLAME, {"formula.transforms.0.affine.2": [[0, 0.2], [1, 0.5]]}),
    "xaos": (FLAME, {"formula.transforms.1.xaos": [[0, [1, 1]], [1, [0.2, 1]]]}),
    "map": ({"name": "clifford"}, {"formula.a": [[0, -1.4], [1, -1.2]]}),
    "flow": ({"name": "lorenz"}, {"formula.turn": [[0, 0], [1, 360]]}),
    "orbits": ({"name": "buddhabrot", "of": "burning_ship", "cells": 64}, {}),
}


def film_of(formula, tracks=(), keys=(), fps=4, seconds=1, **more):
    table = {"fps": fps, "seconds": seconds, "keys": list(keys), "tracks": dict(tracks)}
    table |= {"shutter": more.pop("shutter", 0), "loop": more.pop("loop", False)}
    return fractals.film(formula=formula, film=table, **{**SMALL, **more})


@pytest.mark.parametrize("name", slow_but(("flame", "map"), FILMS))
def test_a_frame_is_the_picture_of_its_scene(name):
    formula, tracks = FILMS[name]
    wide = 12 if name == "flow" else 1  # times the width of the others
    keys = [{**key, "width": str(wide * float(key["width"]))} for key in KEYS]
    film = film_of(formula, {**TRACKS, **tracks}, keys)
    frames = list(film)
    assert len({frame.tobytes() for frame in frames}) == len(film) == 4
    for number in (0, 2, 3):
        drawn = fractals.render(film.scene_at(number), bits=16, device="cpu")
        np.testing.assert_array_equal(frames[number], drawn.pixels)
    still = film.still(film.motion.seconds(2))
    np.testing.assert_array_equal(still.pixels, fractals.render(still.scene, device="cpu").pixels)
    assert still.scene.scatter.quality == 20


def test_the_values_of_a_frame_are_those_of_its_time():
    film = film_of(FLAME, {**TRACKS, **FILMS["flame"][1]}, KEYS)
    last = film.scene_at(3)
    assert last.make_any_formula().transforms[0].affine[2] == 0.5
    assert (last.color.offset, last.display.brightness) == (0.5, 6)
    assert (float(last.view.width), last.view.rotation) == (3, 40)
    with pytest.raises(fractals.SceneError, match=r"transforms.2.weight: the scene has no such"):
        film_of(FLAME, {"formula.transforms.2.weight": [[0, 1], [1, 2]]})


def test_the_forecast_is_that_of_pictures():
    (chosen,) = film_of({"name": "clifford"}, TRACKS).plan(measured=True).parts
    assert (chosen.method, chosen.reason) == ("frames", "each is a picture of its own")
    picture = fractals.plan(formula="clifford", bits=16, **SMALL)
    assert chosen.samples == 4 * picture.samples
    assert chosen.seconds == pytest.approx(4 * picture.seconds)
    assert chosen.memory == picture.memory


def test_slow_frames_are_kept_in_short_segments():
    moves = {"formula.a": [[0, -1.4], [10, -1.2]]}
    segments = [
        film_of("clifford", moves, fps=30, seconds=10, quality=quality).parts[0].segment
        for quality in (20, 20_000, 10**6)
    ]
    assert segments == [120, 2 * 10**9 * 300 // (300 * 30_720_000), 20]
    still = film_of("clifford", keys=[{"at": 0}], fps=30, seconds=10, quality=10**6)
    assert still.parts[0].segment == 120


def test_equal_frames_are_drawn_once(monkeypatch):
    film = film_of({"name": "clifford"}, {"offset": [[0, 0], [0.5, 0.3]]}, fps=8)
    family, drawn = type(film.family), []
    render = family.render

    def counted(self, scene, options):
        drawn.append(scene)
        return render(self, scene, options)

    monkeypatch.setattr(family, "render", counted)
    frames = list(film)
    assert len(frames) == 8
    assert len(drawn) == len({str(scene.color.offset) for scene in drawn}) < 8
    assert (frames[-1] == frames[-3]).all()
    still = film_of({"name": "clifford"}, keys=[{"at": 0}, {"at": 1}])
    assert still.parts[0].reason == "nothing changes: drawn once"
    assert still.parts[0].samples == fractals.plan(formula="clifford", **SMALL).samples


def test_a_film_goes_on_where_it_ended(tmp_path, ffmpeg, monkeypatch):
    monkeypatch.setattr("fractals.films.plan.SEGMENT", 4)
    film = film_of(FLAME, FILMS["flame"][1], KEYS, fps=12)
    film.save(tmp_path / "whole.mp4")

    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    path = tmp_path / "film.mp4"
    options = film.options.replace(progress=stop)
    with pytest.raises(KeyboardInterrupt):
        fractals.Film(film.scene, options).save(path)
    assert any((folder_of(path) / SEGMENTS).glob("00000000-*"))
    saved = film.save(path)
    assert (saved.resumed, saved.frames, saved.methods) == (4, 12, ("frames",))
    assert path.read_bytes() == (tmp_path / "whole.mp4").read_bytes()


def test_a_sequence_carries_its_scenes(tmp_path):
    film = film_of(FLAME, FILMS["flame"][1], KEYS)
    film.save(f"{tmp_path}/", frames=(0, 2))
    assert film.save(f"{tmp_path}/").resumed == 2
    assert len(os.listdir(tmp_path)) == 4
    read = fractals.load_scene(tmp_path / "00003.png")
    assert read == film.scene_at(3)
    drawn = fractals.render(read, device="cpu")
    with PIL.Image.open(tmp_path / "00003.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), drawn.pixels)


def test_a_palette_loop():
    film = fractals.film(formula=FLAME, cycle=1, fps=4, palette="ember", **SMALL)
    assert [film.scene_at(k).color.offset for k in range(4)] == [0, 0.25, 0.5, 0.75]
    assert len(film) == 4


def test_what_a_scatter_film_is_not(ffmpeg):
    with pytest.raises(OptionError, match="nothing moves"):
        fractals.film(formula=FLAME, **SMALL)
    zoom = fractals.film(formula="clifford", to="0.5", seconds=1, fps=4, **SMALL)
    assert zoom.warnings() == []
    assert float(zoom.scene_at(3).view.width) == 0.5


def changed(formula, *changes):
    """Return a formula with values at paths replaced."""
    for path, value in changes:
        formula = replaced(formula, path, value)
    return formula


MORPHED = changed(
    FLAME,
    (("transforms", 0, "affine", 2), 0.6),
    (("transforms", 0, "variations", "swirl"), 0.7),
    (("transforms", 1, "color"), 0.5),
    (("turn",), 90),
)


def morph(*keys, formula=FLAME, **more):
    return film_of(formula, keys=keys, fps=5, **more)


def test_keys_interpolate_formulas():
    film = morph({"at": 0}, {"at": 1, "formula": MORPHED})
    first, middle, last = (film.scene_at(k).make_any_formula() for k in (0, 2, 4))
    assert first == fractals.load_scene({"formula": FLAME}).make_any_formula()
    assert last == fractals.load_scene({"formula": MORPHED}).make_any_formula()
    half = changed(
        FLAME,
        (("transforms", 0, "affine", 2), 0.4),
        (("transforms", 0, "variations", "swirl"), 0.5),
        (("transforms", 1, "color"), 0.75),
        (("turn",), 45),
    )
    assert middle.transforms[0].variations[1].weight == 0.5
    assert middle.transforms[0].affine == pytest.approx(
        fractals.load_scene({"formula": half}).make_any_formula().transforms[0].affine
    )
    assert {track.name for track in film.tracks.tracks} == {
        "formula.transforms.0.affine.2",
        "formula.transforms.0.variations.swirl",
        "formula.transforms.1.color",
        "formula.turn",
    }
    frames = list(film)
    assert len({frame.tobytes() for frame in frames}) == 5
    np.testing.assert_array_equal(
        frames[4], fractals.render(formula=MORPHED, bits=16, **SMALL, width="4").pixels
    )
    assert fractals.load_scene(film.scene.to_table()) == film.scene


def test_a_key_may_leave_the_formula_out():
    other = {"name": "clifford", "a": -1.2}
    film = morph(
        {"at": 0, "formula": other},
        {"at": 0.5},
        {"at": 1, "formula": {"name": "clifford"}},
        formula="clifford",
    )
    usual = fractals.load_scene({"formula": "clifford"}).make_any_formula().parameters["a"]
    found = [film.scene_at(k).make_any_formula().parameters["a"] for k in (0, 2, 4)]
    assert found == pytest.approx([-1.2, (usual - 1.2) / 2, usual])


def test_keys_of_escape_time_formulas():
    film = fractals.film(
        formula={"name": "multibrot", "power": 3},
        film={
            "fps": 4,
            "keys": [{"at": 0}, {"at": 1, "formula": {"name": "multibrot", "power": 3}}],
        },
        **{key: SMALL[key] for key in ("size", "supersampling", "device")},
    )
    assert film.parts[0].method == "recolor"


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ({"name": "clifford", "a": 1}, r"film.keys.1.formula: name is 'clifford', and 'flame'"),
        (
            changed(FLAME, (("transforms", 0, "variations", "julia"), 0.1)),
            "transforms.0.variations.julia is in one formula only: the formulas of keys",
        ),
        ({**FLAME, "transforms": FLAME["transforms"][:1]}, "transforms.1.affine.0 is in one"),
        (changed(FLAME, (("transforms", 0, "affine"), "x")), "transforms.0.affine"),
        (changed(FLAME, (("transforms", 0, "affine", 0), True)), "only numbers change"),
        (changed(FLAME, (("transforms", 0, "weight"), -1)), "is in one formula only"),
        (
            changed(FLAME, (("transforms", 1, "color"), 7)),
            r"keys.1: formula: transforms.1.color: 7 is not from",
        ),
        ("flame", "'flame' is not a table with a name and numbers"),
        ({"name": "flame", "turn": float("inf")}, "'inf' is not from -1e"),
        ({"name": "flame", "turn": 10**400}, "is not from -1e"),
        ({"name": "flame", "final": {"affine": [[[[[[[[0]]]]]]]]}}, "tables deeper than 8"),
        ({"name": "flame", "transforms": [0] * 30_000}, "more than 20000 values"),
        ({"name": "flame", "final": None}, "is neither a number nor text"),
    ],
)
def test_formulas_that_do_not_fit_are_refused(formula, words):
    with pytest.raises(fractals.SceneError, match=words) as caught:
        morph({"at": 0}, {"at": 1, "formula": formula})
    assert "\n" not in str(caught.value)


def test_a_number_is_set_once_and_a_formula_has_a_time():
    with pytest.raises(fractals.SceneError, match=r"film.tracks.formula.turn: the keys set"):
        film_of(
            FLAME, {"formula.turn": [[0, 0], [1, 1]]}, [{"at": 0}, {"at": 1, "formula": MORPHED}]
        )
    with pytest.raises(fractals.SceneError, match=r"keys.1.formula: a key with a formula has a"):
        morph({"at": 0}, {"speed": 1, "width": "1", "formula": MORPHED})


def test_a_turn_is_a_loop():
    film = fractals.film(formula=FLAME, turn=1, cycle=0.5, fps=4, palette="ember", **SMALL)
    assert len(film) == 4
    turned = [film.scene_at(k).make_any_formula().transforms[1] for k in range(4)]
    x, y, e, f = 0.5, 0.5, -0.6, 0.3
    maps = [(x, 0, e, 0, y, f), (0, -y, e, x, 0, f), (-x, 0, e, 0, -y, f), (0, y, e, -x, 0, f)]
    for transform, affine in zip(turned, maps, strict=True):
        assert transform.affine == pytest.approx(affine, abs=1e-15)
    assert turned[0].affine == (0.5, 0, -0.6, 0, 0.5, 0.3)
    whole = fractals.load_scene({"formula": {**FLAME, "turn": 720}}).make_any_formula()
    assert whole.transforms == fractals.load_scene({"formula": FLAME}).make_any_formula().transforms
    symmetry = {"affine": [-1, 0, 0, 0, -1, 0], "color_speed": 0}
    both = {"name": "flame", "transforms": [*FLAME["transforms"], symmetry], "turn": 30}
    assert fractals.load_scene({"formula": both}).make_any_formula().transforms[2].affine[0] == -1
    flow = fractals.film(formula="lorenz", turn=2, seconds=4, fps=2, **SMALL)
    found = [flow.scene_at(k).make_any_formula().parameters["turn"] for k in range(8)]
    assert found == [-20 + 90 * k for k in range(8)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"formula": "clifford", "turn": 1}, "'clifford' does not turn: flames and flows do"),
        ({"formula": FLAME, "turn": 0}, "turn=0: give more than 0 seconds"),
        ({"formula": FLAME, "turn": 2, "seconds": 3}, "the loop would jump"),
        ({"formula": FLAME, "turn": 2, "to": 1}, r"to= and turn= are both given"),
    ],
)
def test_what_does_not_turn(options, words):
    with pytest.raises(OptionError, match=words):
        fractals.film(**options, **SMALL)


# Motion blur.


@pytest.mark.parametrize("name", FILMS)
def test_a_frame_adds_the_games_of_its_moments(name, monkeypatch):
    """Each moment throws its share of the trajectories, and all fall into the same buckets."""
    formula, tracks = FILMS[name]
    wide = 12 if name == "flow" else 1  # times the width of the others
    keys = [{**key, "width": str(wide * float(key["width"]))} for key in KEYS]
    film = film_of(formula, {**TRACKS, **tracks}, keys, shutter=0.8, steps=20)
    seconds = film.motion.seconds(1)
    source = film.single(film.parts[0].part, film.options)
    own, *moments = source.moments(seconds)
    assert own == source.scene(seconds)
    assert len({str(moment.view.width) for moment in moments}) == len(moments) == MOMENTS
    widths = [float(moment.view.width) / float(own.view.width) for moment in moments]
    assert widths[0] > 1 > widths[-1]
    options = RenderOptions(device="cpu")
    player = open_player(own, options)
    whole, none = player.plan, player.plan.no_hits()
    total = whole.chunks * CHUNK
    sums, hits = none.sums, 0
    for k, moment in enumerate(moments):
        assert moment.display.brightness != own.display.brightness or k == 16
        scene = moment.replace(brightness=own.display.brightness)
        part = range(*(total // 32 * each // MOMENTS * 32 for each in (k, k + 1)))
        if part:
            alone = Player(open_player(scene, options).plan, player.backend)
            cells = player.data() if whole.orbits else None
            found = Player(alone.plan, player.backend, cells).sums(part, None)
            sums, hits = sums + found[0], hits + found[1]
    expected = Show(whole, player.backend).pixels(whole.hits(sums, whole.chunks, hits))
    np.testing.assert_array_equal(source.frame(seconds), expected)
    np.testing.assert_array_equal(next(iter(film.frames(1, 2))), expected)
    sharp = film_of(formula, {**TRACKS, **tracks}, keys, steps=20)
    assert (next(iter(sharp.frames(1, 2))) != expected).any()


@pytest.mark.parametrize("name", slow_but(["flame", "map"], ["flame", "map", "orbits"]))
def test_a_blurred_frame_has_the_same_bits_everywhere(name):
    formula, tracks = FILMS[name]
    small = {"size": (16, 12), "quality": 1.5, "steps": 4, "max_iterations": 40}
    small |= {"estimator_radius": 0.0, "shutter": 1}
    frames = {}
    for device, threads in (("cpu", 1), ("cpu", 2), ("python", 1), ("simulator", 1)):
        more = {**small, "device": device, "threads": threads}
        film = film_of(formula, {**TRACKS, **tracks}, KEYS, **more)
        frames[device, threads] = next(iter(film.frames(1, 2)))
    first = frames.pop(("cpu", 1))
    assert first.any()
    for device, frame in frames.items():
        np.testing.assert_array_equal(frame, first, str(device))


def test_what_stands_still_is_not_blurred():
    film = film_of(FLAME, TRACKS, [{"at": 0}], shutter=1, fps=8, seconds=2)
    source = film.single(film.parts[0].part, film.options)
    assert len(source.moments(0.5)) > 1
    assert len(source.moments(1.5)) == 1  # behind the last point of all tracks
    last = next(iter(film.frames(15)))
    drawn = fractals.render(film.scene_at(15), bits=16, device="cpu")
    np.testing.assert_array_equal(last, drawn.pixels)


def test_a_loop_is_blurred_across_its_end():
    turn = {"formula.turn": [[0, 0], [1, 360]]}
    film = film_of(FLAME, turn, fps=10, shutter=0.5, loop=True)
    times = film.single(film.parts[0].part, film.options).moments(0.0)[1:]
    turns = [scene.make_any_formula().parameters["turn"] for scene in times]
    assert turns[0] > 350 > 10 > turns[-1]
    assert turns[0] + turns[-1] == pytest.approx(360)


@pytest.mark.slow
def test_orbits_of_other_numbers_are_not_added():
    """Cells belong to one Julia set, so frames whose c moves are sharp, also if the view moves."""
    formula = {"name": "buddhabrot", "cells": 64, "least": 2}
    moves = {"julia": [[0, ["-0.8", "0.15"]], [1, ["-0.6", "0.4"]]]}
    more = {"size": (16, 12), "julia": ("-0.8", "0.15"), "max_iterations": 60}
    more |= {"quality": 0.2, "device": "python"}
    films = [film_of(formula, moves, KEYS, shutter=each, **more) for each in (0, 1)]
    frames = [next(iter(film.frames(1, 2))) for film in films]
    assert frames[0].any()
    np.testing.assert_array_equal(*frames)
