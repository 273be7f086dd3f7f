"""Palettes of Adobe's programs, of Paint Shop Pro, of Windows and of the Generic Mapping Tools."""

import struct

import numpy as np
import pytest
from support.gradients import SWATCHES

import fractals
from fractals.errors import InputError
from fractals.io.foreign import swatches
from fractals.io.palettes import read_palette

GRAYS = bytes(value for k in range(256) for value in (k, k, 255 - k))


def swatch(model, *values, name="a", kind=1):
    text = (name + "\0").encode("utf-16-be")
    body = struct.pack(">H", len(text) // 2) + text + model.ljust(4).encode()
    body += struct.pack(f">{len(values)}fH", *values, 0)
    return struct.pack(">HI", kind, len(body)) + body


def ase(*blocks):
    return b"ASEF" + struct.pack(">HHI", 1, 0, len(blocks)) + b"".join(blocks)


def riff(*colors):
    rows = b"".join(bytes([*color, 0]) for color in colors)
    data = struct.pack("<HH", 0x300, len(colors)) + rows
    return (
        b"RIFF"
        + struct.pack("<I", len(data) + 12)
        + b"PAL data"
        + struct.pack("<I", len(data))
        + data
    )


def stops_of(read, data):
    return read(data).table["color"]["palette"]["stops"]


def at(read, data, *places):
    """Return the colors of a palette at places from 0 to 1, as bytes."""
    palette = fractals.load_scene(dict(read(data).table)).color.make_palette()
    linear = palette.linear(np.array(places))
    srgb = np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)
    return np.rint(255 * srgb).astype(int).tolist()


def test_a_color_table_of_adobe():
    stops = stops_of(swatches.read_act, GRAYS)
    assert (len(stops), stops[0], stops[255]) == (256, "#0000ff", "#ffff00")
    assert len(stops_of(swatches.read_act, GRAYS + struct.pack(">HH", 5, 0))) == 5
    assert len(stops_of(swatches.read_act, GRAYS + struct.pack(">HH", 0, 0xFFFF))) == 256


def test_swatches_of_adobe():
    group = struct.pack(">HI", 0xC001, 6) + struct.pack(">H", 2) + "g\0".encode("utf-16-be")
    data = ase(
        group,
        swatch("RGB", 1, 0.5, 0, name="a long name"),
        swatch("Gray", 0.2),
        struct.pack(">HI", 0xC002, 0),
        swatch("CMYK", 1, 0, 0.5, 0.5),
    )
    assert stops_of(swatches.read_ase, data) == ["#ff8000", "#333333", "#008040"]
    assert "inks" in swatches.read_ase(data).lost[0]
    assert not swatches.read_ase(ase(swatch("RGB", 0, 0, 1))).lost


def test_a_palette_as_text_and_of_windows():
    colors = [(255, 0, 0), (0, 128, 0), (1, 2, 3)]
    text = "JASC-PAL\r\n0100\r\n3\r\n" + "\r\n".join(" ".join(map(str, c)) for c in colors)
    wanted = ["#ff0000", "#008000", "#010203"]
    assert stops_of(swatches.read_pal, text.encode()) == wanted
    assert stops_of(swatches.read_pal, riff(*colors)) == wanted
    assert stops_of(swatches.read_pal, GRAYS) == stops_of(swatches.read_act, GRAYS)


def test_a_palette_that_lacks_colors_tells_so():
    found = swatches.read_pal(b"JASC-PAL\n0100\n3\n0 0 0\n255 0 0\n")
    assert found.lost == ("colors: the palette has 2 of 3",)


def test_slices_of_a_color_table():
    """A jump within stays one; colors beyond the slices are left out, and so are labels."""
    text = """# COLOR_MODEL = RGB
-10 black -5 0/0/200 L
-5  0/0/200  0 255/255/255 ;sea
0 0/100/0 10 green@50
B red
F 1/2/3
N 128"""
    found = at(swatches.read_cpt, text.encode(), 0.125, 0.25, 0.375, 0.4999, 0.5001, 0.75)
    wanted = [
        [0, 0, 100],
        [0, 0, 200],
        [127.5, 127.5, 227.5],
        [255, 255, 255],
        [0, 100, 0],
        [0, 177.5, 0],
    ]
    assert np.abs(np.subtract(found, wanted)).max() <= 1


@pytest.mark.parametrize("colors", ["0 255 0 0 1 0 0 255", "0 red 1 blue", "0 #f00 1 #0000ff"])
def test_ways_of_colors(colors):
    assert at(swatches.read_cpt, colors.encode(), 0, 0.5, 0.999) == [
        [255, 0, 0],
        [128, 0, 128],
        [0, 0, 255],
    ]


def test_hues_between_colors():
    wheel = b"# COLOR_MODEL = hsv\n0 0-1-1 1 360-1-1\n"
    wanted = [[255, 0, 0], [255, 255, 0], [0, 255, 255], [255, 0, 255]]
    assert at(swatches.read_cpt, wheel, 0, 1 / 6, 0.5, 5 / 6) == wanted
    # Without the model, two hues are mixed as red, green and blue.
    mixed = at(swatches.read_cpt, b"0 0-1-1 1 120-1-1\n", 0.5)
    assert mixed == [[128, 128, 0]]


def test_a_gap_keeps_the_color_before_it():
    text = b"0 red 1 red\n3 blue 4 blue\n"
    assert at(swatches.read_cpt, text, 0.1, 0.7, 0.9) == [[255, 0, 0], [255, 0, 0], [0, 0, 255]]


def test_categories_are_colors_in_equal_steps():
    text = b"0 green ;forest\n1 170/85/68\n2 gray\n3 gray50\n4 darkorange1\n"
    found = ["#00ff00", "#aa5544", "#bebebe", "#808080", "#ff7f00"]
    assert stops_of(swatches.read_cpt, text) == found


@pytest.mark.parametrize(
    ("read", "data", "words"),
    [
        ("act", GRAYS[:100], "100 bytes: a color table has 768 or 772"),
        ("ase", b"ASE", "does not begin with 'ASEF'"),
        ("ase", ase(swatch("LAB", 1, 0, 0)), "color 1: of the models RGB, CMYK, Gray"),
        ("ase", ase(swatch("RGB", 1, 0, 0))[:-8], "ends within a block, at byte 12"),
        ("ase", ase(swatch("RGB", 1, 0, float("nan"))), "color 1: its numbers are not from 0 to 1"),
        ("ase", ase(), "the palette has no color"),
        ("pal", b"RIFF\0\0\0\0PAL x", "the part 'data' is missing"),
        ("pal", b"JASC-PAL\n0100\n", "line 2: the number of colors is missing"),
        ("pal", b"JASC-PAL\n0100\n1\nred", "line 4: 'red' is not three numbers"),
        ("pal", b"palette", "begins with neither 'JASC-PAL' nor 'RIFF'"),
        ("cpt", b"0 1 2\n", "line 1: '0 1 2' is not 'number color number color'"),
        ("cpt", b"0 red 1 reddish\n", "line 1: 'reddish' is no color"),
        ("cpt", b"0 red 1 300/0/0\n", "line 1: '300/0/0': numbers of a color are from 0 to 255"),
        ("cpt", b"a red 1 blue\n", "line 1: 'a' is not a number"),
        ("cpt", b"0 0-2-1 1 blue\n", "line 1: '0-2-1' is not hue, saturation and value"),
        ("cpt", b"1 red 0 blue\n", "the numbers of the slices do not rise"),
        ("cpt", b"0 red 2 blue\n1 red 3 blue\n", "the numbers of the slices do not rise"),
        ("cpt", b"0 red 1 blue\n1 red\n", "some lines have two colors, and others have one"),
        ("cpt", b"# COLOR_MODEL = LAB\n", "line 1: the color model LAB is not read"),
        ("cpt", b"0 0/0/0/101 1 red\n", "numbers of a color are from 0 to 100, of inks"),
        ("cpt", b"# none\n", "the palette has no color"),
    ],
)
def test_what_is_no_palette_is_one_line(read, data, words):
    with pytest.raises(InputError) as caught:
        getattr(swatches, f"read_{read}")(data)
    assert words in str(caught.value)


def test_random_bytes_are_palettes_or_one_line():
    dice = np.random.default_rng(3)
    begins = (b"", b"ASEF", b"RIFFxxxxPAL data", b"JASC-PAL\n0100\n9\n", b"0 red 1 ")
    for k in range(600):
        data = begins[k % 5] + dice.integers(256, size=dice.integers(900), dtype=np.uint8).tobytes()
        for name in ("act", "ase", "cpt", "pal"):
            try:
                found = getattr(swatches, f"read_{name}")(data)
            except InputError:  # a line for the user; other errors fail the test
                continue
            fractals.load_scene(dict(found.table))


def test_a_palette_of_each_kind_for_a_picture(tmp_path):
    files = {
        "a.act": GRAYS,
        "a.ase": ase(swatch("RGB", 1, 0, 0), swatch("RGB", 0, 0, 1)),
        "a.cpt": b"0 red 1 blue",
        "a.pal": riff((255, 0, 0), (0, 0, 255)),
    }
    assert {name.rpartition(".")[2] for name in files} == SWATCHES
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        found, lost = read_palette(tmp_path / name)
        assert not lost
        assert found.stops[0][1] == ("#0000ff" if name == "a.act" else "#ff0000")
        scene = fractals.load_scene("seahorse", palette=str(tmp_path / name))
        assert scene.color.make_palette().stops == found.stops


@pytest.mark.parametrize(
    "text",
    [
        "# COLOR_MODEL = CMYK\n0 0 100 100 0 1 100 0 0 50\n",
        "0 0/100/100/0 1 100/0/0/50\n",
    ],
)
def test_inks_of_a_color_table_are_mixed(text):
    found = swatches.read_cpt(text.encode())
    assert found.table["color"]["palette"]["stops"] == [[0.0, "#ff0000"], [1.0, "#008080"]]
    assert found.lost == (swatches.INKS,)


def test_transparency_of_a_color_table_is_lost():
    assert swatches.read_cpt(b"0 red@50 1 blue\n").lost == ("alpha: colors are opaque",)
    assert swatches.read_cpt(b"0 red\n1 blue@25\n").lost == ("alpha: colors are opaque",)
    assert swatches.read_cpt(b"0 red\n1 blue@0\n").lost == ()
