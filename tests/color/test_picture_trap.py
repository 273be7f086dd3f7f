"""Pictures that orbits hit: the pixel is the right one, and wrong files are told in one line."""

import numpy as np
import PIL.Image
import pytest
from oracle import naive_colorings as naive
from support.scenes import PRECISIONS, scene, slow_but

import fractals
from fractals.color import trap_image

LIMIT, RADIUS, SIZE = 40, 64, (60, 34)


@pytest.fixture
def file(tmp_path):
    """Return a picture 7x5, of as many colors, with a hole."""
    pixels = np.zeros((5, 7, 4), np.uint8)
    pixels[..., 0] = np.arange(7) * 40
    pixels[..., 1] = np.arange(5)[:, None] * 60
    pixels[..., 2], pixels[..., 3] = 90, 255
    pixels[1:3, 2:5, 3] = 0
    path = tmp_path / "patch.png"
    PIL.Image.fromarray(pixels).save(path)
    return path


def trapped(file, **keys):
    own = {"name": "picture_trap", "picture": str(file), "size": 1.1, "x": 0.2, "y": -0.1}
    keys = {"size": SIZE, "max_iterations": LIMIT, "escape_radius": RADIUS, **keys}
    return scene(coloring=own, inside="#ffffff", **keys)


@pytest.mark.parametrize("julia", slow_but([False], [False, True]))
def test_the_first_pixel_that_is_hit(file, julia):
    drawn = trapped(file, julia=julia)
    picture = np.array(PIL.Image.open(file)).tolist()
    found = fractals.render(drawn, device="cpu").pixels
    width = 4.2 if julia else float(drawn.make_formula().width)
    middle = 0 if julia else complex(*map(float, drawn.make_formula().center))
    seen = wrong = 0
    for j in range(SIZE[1]):
        for i in range(SIZE[0]):
            x, y = (i + 0.5 - SIZE[0] / 2) / SIZE[0], (SIZE[1] / 2 - j - 0.5) / SIZE[0]
            place = middle + width * complex(x, y)
            c = complex(-0.4, 0.59) if julia else place
            points = naive.orbit(2, place if julia else 0j, c, LIMIT, RADIUS)
            wanted = naive.first_hit(points, picture, 0.2 - 0.1j, 1.1)
            seen += wanted is not None
            wrong += (wanted or [255, 255, 255]) != found[j, i].tolist()
    assert 100 < seen < SIZE[0] * SIZE[1] - 100
    assert wrong <= 2  # on the edge of a pixel rounding decides


@pytest.mark.parametrize("precision", slow_but(["float64"], PRECISIONS))
def test_every_device_hits_the_same(file, compiled, precision):
    """Beside another statistic, whose constants come after those of any picture."""
    layers = [{"coloring": {"name": "orbit_trap", "x": 0.3}, "opacity": 0.4, "mask": "all"}]
    drawn = trapped(file, size=(16, 9), layers=layers)
    plain = fractals.render(drawn, device="python", precision=precision).pixels
    found = fractals.render(drawn, device=compiled, precision=precision).pixels
    assert found.tobytes() == plain.tobytes()
    assert len(np.unique(plain.reshape(-1, 3), axis=0)) > 20


def test_a_scene_carries_its_picture(file, tmp_path):
    text = '[color]\ncoloring = {name = "picture_trap", picture = "patch.png", size = 1.1}\n'
    text += '[[color.layers]]\ncoloring = {name = "picture_trap", picture = "patch.png"}\n'
    (tmp_path / "own.toml").write_text(
        text + "[image]\nsize = [12, 8]\n[iteration]\nmax_iterations = 30\n"
    )
    drawn = fractals.load_scene(tmp_path / "own.toml")
    wanted = fractals.render(drawn, device="python")
    wanted.save(tmp_path / "a.png")
    file.unlink()
    assert fractals.load_scene(tmp_path / "a.png") == drawn
    assert fractals.load_scene(drawn.to_table()) == drawn
    again = fractals.render(tmp_path / "a.png", device="python")
    assert again.pixels.tobytes() == wanted.pixels.tobytes()


def test_recoloring_keeps_what_was_hit(file):
    drawn = trapped(file, size=(16, 9))
    raw = fractals.compute(drawn, device="python")
    (name,) = raw.statistics
    assert len(name) < 80  # the picture is named by its checksum
    wanted = fractals.render(drawn, device="python").pixels
    assert (fractals.recolor(raw, drawn, device="python").pixels == wanted).all()
    other = drawn.replace(coloring={"name": "picture_trap"})
    with pytest.raises(fractals.OptionError, match="needs picture,picture=flower"):
        fractals.recolor(raw, other, device="python")


def test_the_flower_is_there():
    pixels = trap_image.decode("flower")
    assert 0.3 < trap_image.opaque("flower").mean() < 0.8
    assert pixels.shape[0] * pixels.shape[1] <= trap_image.MAX_PIXELS
    assert trap_image.check("flower") == "flower"


def written(path, data):
    path.write_bytes(data)
    return path.name


WRONG = {
    "no such file": lambda folder: "missing.png",
    "is no picture: name a file": lambda folder: "rose",
    "not a PNG, or damaged": lambda folder: written(folder / "a.png", b"GIF89a"),
    "damaged or cut short": lambda folder: written(
        folder / "b.png", (folder / "patch.png").read_bytes()[:-30]
    ),
    "513x512 pixels, and a picture in a scene has at most": lambda folder: large(folder),
    "has at most 4 MiB": lambda folder: written(folder / "d.jpg", bytes(2**22 + 1)),
    "picture is text, not 7": lambda folder: 7,
    "the picture in the scene is damaged": lambda folder: "data:image/png;base64,a?",
}


def large(folder):
    PIL.Image.new("1", (513, 512)).save(folder / "large.png")
    return "large.png"


@pytest.mark.parametrize("message", WRONG)
def test_wrong_pictures(message, file):
    name = WRONG[message](file.parent)
    if isinstance(name, str) and (file.parent / name).is_file():
        name = str(file.parent / name)
    with pytest.raises(fractals.FractalsError, match=message) as error:
        fractals.load_scene(coloring={"name": "picture_trap", "picture": name})
    assert len(str(error.value).splitlines()) == 1
