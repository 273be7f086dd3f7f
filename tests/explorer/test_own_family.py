"""A family of another package in the explorer: its scenes move, and are filmed, as it says."""

import pytest
from support.stripes import StripesFamily, installed

import fractals
from fractals.errors import OptionError
from fractals.explorer.filming import depths_of
from fractals.explorer.frames import FrameView, Move
from fractals.rendering.families import Family, moves_of
from fractals.rendering.moves import Moves


class StripesMoves(Moves):
    """A drag makes stripes wider, and films go from narrow ones."""

    in_plane = False

    def moved(self, scene, place):
        return with_stripes(scene, every_of(scene) + round(place.center[1]))

    def ends(self, scene, octaves):
        return [with_stripes(scene, 1), scene]

    def keys_through(self, places, seconds):
        return [{"at": k * seconds, "formula": formula_of(each)} for k, each in enumerate(places)]

    def looked_at(self, scene, column, row):
        return {"value": row // every_of(scene)}


class MovingStripes(StripesFamily):
    moves = StripesMoves()


def formula_of(scene):
    return scene.to_table()["formula"]


def every_of(scene):
    return scene.make_any_formula().parameters["every"]


def with_stripes(scene, every):
    return scene.replace(formula={"name": "stripes", "every": every})


@pytest.fixture
def stripes(monkeypatch):
    with installed(monkeypatch, MovingStripes) as scene:
        yield scene


def test_a_family_says_how_it_moves_and_is_filmed(stripes, server):
    film = {"frame": 2, "size": [32, 24], "fps": 4, "seconds": 1}

    async def talk(client):
        await client.say("open", frame=1, scene=stripes, size=[8, 6])
        await client.until("placed", frame=1)
        await client.say("view", frame=2, base=1, by=[0, 32])
        placed = await client.until("placed", frame=2)
        link = await client.ask("link", "link", frame=2)
        picked = await client.ask("pick", "picked", frame=2, at=[0, 80])
        told = await client.ask("film", "forecast", job=1, forecast=True, **film)
        await client.say("moments", job=2, at=[0, 1], width=32, **film)
        ends = [await client.until("surprised", job=2, index=k) for k in (0, 1)]
        return placed, link["toml"], picked, told, [each["scene"]["formula"] for each in ends]

    placed, toml, picked, told, ends = server.run(talk)
    assert (placed["camera"], placed["space"], placed["sun"]) == (None, None, None)
    assert "every = 4" in toml  # 3, and a quarter of the plane's width for the drag
    assert picked["value"] == 1
    assert (told["frames"], told["depths"]) == (4, [])
    assert [each["every"] for each in ends] == [1, 4]


def test_a_film_of_a_family_has_its_keys(stripes):
    scene = fractals.load_scene(stripes)
    moves = moves_of(scene)
    keys = moves.keys_through(moves.ends(scene, None), 1.0)
    film = fractals.film(scene, film={"keys": keys, "fps": 4})
    first, *_, last = film
    assert [int(row[0, 0]) for row in first] == [0, 25700] * 3
    assert [int(row[0, 0]) for row in last] == [0, 0, 0, 25700, 25700, 25700]
    assert depths_of(film) == []


def test_a_family_that_says_nothing_moves_as_the_plane(stripes, monkeypatch):
    monkeypatch.setattr(MovingStripes, "moves", Family.moves)
    scene = fractals.load_scene(stripes)
    place = FrameView.of(scene, (8, 6)).moved(Move(by=(0, 32), scale=64))
    assert place.scene().view.width == "2"
    assert [float(part) for part in place.scene().view.center] == [0, 0.5]
    assert every_of(place.scene()) == 3
    with pytest.raises(OptionError, match="'stripes' is no solid: it has no camera"):
        place.moved(Move(fly=(0, 0, 500, 0, 0)))
    film = fractals.film(scene, to=1, seconds=1, fps=4, device="cpu")
    assert [film.scene_at(k).view.width for k in (0, 3)] == ["4", "1"]
    assert depths_of(film)[0] == -2
