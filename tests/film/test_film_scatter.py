"""Films of flames, attractors and Buddhabrots: each frame is the picture of its scene."""

import os

import numpy as np
import PIL.Image
import pytest

import fractals
from fractals import OptionError
from fractals.films.work import SEGMENTS, folder_of

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
    "orbits": ({"name": "buddhabrot", "of": "burning_ship"}, {}),
}


def film_of(formula, tracks=(), keys=(), fps=4, seconds=1, **more):
    table = {"fps": fps, "seconds": seconds, "keys": list(keys), "tracks": dict(tracks)}
    return fractals.film(formula=formula, film=table, **{**SMALL, **more})


@pytest.mark.parametrize("name", FILMS)
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
    picture = fractals.plan(formula="clifford", **SMALL)
    assert chosen.samples == 4 * picture.samples
    assert chosen.seconds == pytest.approx(4 * picture.seconds)
    assert chosen.memory == picture.memory


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
    several = film_of(FLAME, FILMS["flame"][1])
    with pytest.raises(OptionError, match="drawn by one machine: leave cluster= out"):
        several.save("film.mp4", cluster=2)
    zoom = fractals.film(formula="clifford", to="0.5", seconds=1, fps=4, **SMALL)
    assert zoom.warnings() == []
    assert float(zoom.scene_at(3).view.width) == 0.5
