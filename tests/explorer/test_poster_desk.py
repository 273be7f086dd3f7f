"""Posters: a picture on paper, with a line around it and a signature, as files of the explorer."""

import base64
import zlib

import numpy as np
import PIL.Image
import pytest

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.explorer import posters, protocol

RED, INK = (200, 10, 20), (1, 2, 3)


def signature(opacity, at=(0, 0), color="#010203"):
    height, width = opacity.shape
    mask = base64.b64encode(zlib.compress(opacity.tobytes())).decode()
    return {"at": at, "size": [width, height], "mask": mask, "color": color}


def paper(**keys):
    return protocol.PosterPaper.checked(
        {"size": [40, 30], "at": [10, 6], "color": "#ffeedd", **keys}
    )


PICTURE = np.full((12, 20, 3), RED, np.uint8)


def test_the_picture_lies_on_the_paper():
    found = posters.composed(PICTURE, paper())
    assert found.shape == (30, 40, 3)
    assert (found[6:18, 10:30] == RED).all()
    outside = np.ones((30, 40), bool)
    outside[6:18, 10:30] = False
    assert (found[outside] == (255, 238, 221)).all()


def test_a_line_lies_around_the_picture_at_its_distance():
    found = posters.composed(PICTURE, paper(gap=2, line=3, line_color="#010203"))
    is_line = (found == INK).all(axis=2)
    expected = np.zeros((30, 40), bool)
    expected[1:23, 5:35] = True
    expected[4:20, 8:32] = False
    assert np.array_equal(is_line, expected)
    wide = posters.composed(PICTURE, paper(gap=8, line=9))  # beyond the paper
    assert (wide[6:18, 10:30] == RED).all()


def test_a_signature_is_mixed_by_its_opacity_and_cut_at_the_paper():
    opacity = np.zeros((4, 6), np.uint8)
    opacity[1, 1:] = 255
    opacity[2, 1:] = 128
    found = posters.composed(PICTURE, paper(signature=signature(opacity, (36, 28))))
    assert (found[29, 37:40] == INK).all()
    assert (found[28] == (255, 238, 221)).all()
    low = posters.composed(PICTURE, paper(signature=signature(opacity, (-3, 0))))
    assert (low[1, 0:3] == INK).all()
    assert low[2, 0].tolist() == [128, 120, 112]  # half of both
    far = posters.composed(PICTURE, paper(signature=signature(opacity, (900, -900))))
    assert np.array_equal(far, posters.composed(PICTURE, paper()))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"at": [30, 0]}, "beyond the paper"),
        ({"at": [-1, 0]}, "beyond the paper"),
        ({"color": "none of them"}, "none of them"),
        ({"signature": signature(np.zeros((4, 6), np.uint8)) | {"size": [5, 4]}}, "damaged"),
        ({"signature": signature(np.zeros((4, 6), np.uint8)) | {"mask": "%%%"}}, "damaged"),
        ({"signature": signature(np.zeros((4, 6), np.uint8)) | {"mask": "AAAA"}}, "damaged"),
    ],
)
def test_a_poster_that_cannot_be_made_is_refused_in_one_line(keys, line):
    message = {"t": "export", "job": 1, "frame": 1, "size": [20, 12]}
    given = {"size": [40, 30], "at": [10, 6], **keys}
    with pytest.raises(FractalsError, match=line) as told:
        posters.check(protocol.Export.checked({**message, "paper": given}))
    assert "\n" not in str(told.value)
    with pytest.raises(OptionError, match="PNG, JPEG"):
        posters.check(
            protocol.Export.checked({**message, "format": "npz", "paper": {"size": [40, 30]}})
        )


def test_a_bomb_of_a_signature_is_not_inflated():
    mask = base64.b64encode(zlib.compress(bytes(2**24), 9)).decode()
    sign = protocol.Signature.checked({"at": [0, 0], "size": [8, 8], "mask": mask})
    with pytest.raises(OptionError, match="damaged"):
        posters.opacity_of(sign)


def made(server, tmp_path, **keys):
    """Return the picture of a file that the server exports, and the scene of the view."""

    async def talk(client):
        await client.say("open", frame=1, scene={"formula": "mandelbrot", "author": "Ana"})
        await client.exact(1)
        placed = next(text for text in client.texts if text["t"] == "placed")
        forecast = await client.ask("export", "forecast", job=1, frame=1, forecast=True, **keys)
        await client.say("export", job=2, frame=1, **keys)
        told = await client.until("exported", job=2)
        return placed["scene"], forecast, told

    scene, forecast, told = server.run(talk)
    name = told["url"].split("/")[2]
    path = tmp_path / "poster.png"
    path.write_bytes(server.explorer.jobs.files[name].path.read_bytes())
    return scene, forecast, path


def test_a_poster_has_exactly_the_picture_and_no_scene(server, tmp_path):
    sign = signature(np.full((3, 4), 255, np.uint8), (2, 1))
    keys = {"size": [48, 30], "supersampling": 2, "span": 1.25, "dpi": 120}
    sheet = {"size": [80, 60], "at": [16, 12], "color": "#102030", "signature": sign}
    scene, forecast, path = made(server, tmp_path, **keys, paper=sheet)
    with PIL.Image.open(path) as file:
        pixels, texts, dpi = np.asarray(file), dict(file.text), file.info["dpi"]
    wanted = fractals.load_scene(scene).replace(size=(48, 30), supersampling=2)
    width = float(wanted.view.width) * 1.25
    expected = fractals.render(wanted.replace(width=str(width)), device="cpu").pixels
    assert np.array_equal(pixels[12:42, 16:64], expected)
    assert (pixels[1:4, 2:6] == INK).all()
    assert (pixels[-1] == (16, 32, 48)).all()
    assert dpi == pytest.approx((120, 120), abs=0.1)
    assert texts["Author"] == "Ana"
    assert not any("formula" in text for text in texts.values())
    with pytest.raises(FractalsError):
        fractals.load_scene(path)
    assert forecast["memory"] > 6 * 80 * 60


def test_a_loupe_shows_the_pixels_of_a_wider_picture(server):
    keys = {"size": [96, 64], "supersampling": 1, "span": 2.0}

    async def talk(client):
        await client.say("open", frame=1, scene={"formula": "mandelbrot"})
        await client.exact(1)
        scene = next(text for text in client.texts if text["t"] == "placed")["scene"]
        await client.say("loupe", job=1, frame=1, at=[16 * 48, 16 * 32], width=40, **keys)
        await client.until("done", job=1)
        return scene, client.tiles[-1]

    scene, tile = server.run(talk)
    wanted = fractals.load_scene(scene).replace(size=(96, 64), supersampling=1)
    wide = wanted.replace(width=str(2 * float(wanted.view.width)))
    whole = fractals.render(wide, device="cpu").pixels
    from support.explorer import pixels_of

    assert np.array_equal(pixels_of(tile), whole[12:52, 28:68])


def test_a_sheet_is_as_large_as_its_pixels_allow(server):
    async def talk(client):
        await client.say("open", frame=1, scene={"formula": "mandelbrot"})
        await client.exact(1)
        await client.say("sheet", job=1, frame=1, scenes=[{}] * 3, width=1024)
        refused = await client.refused()
        await client.say("sheet", job=2, frame=1, scenes=[{}], width=1024)
        await client.until("done", job=2)
        return refused, client.tiles[-1].w

    refused, width = server.run(talk)
    assert "ask for fewer" in refused
    assert width == 1024


def test_the_end_of_a_sheet_leaves_a_loupe_alone(server):
    """A cancelled sheet ended a loupe, too: nobody was told, and its page waited for ever."""

    async def talk(client):
        await client.say("open", frame=1, scene={"formula": "mandelbrot"})
        await client.exact(1)
        scenes = [{"color": {"density": 1 + k / 40}} for k in range(40)]
        await client.say("sheet", job=1, frame=1, scenes=scenes, width=256)
        keys = {"size": [96, 64], "at": [16 * 48, 16 * 32], "width": 40}
        await client.say("loupe", job=2, frame=1, **keys)
        await client.say("cancel", job=1)
        while True:
            found = await client.receive()
            if isinstance(found, dict) and found.get("job") == 2 and found["t"] == "done":
                return [text["t"] for text in client.texts if text.get("job") == 1]

    assert server.run(talk)[-1] in ("failed", "done")
