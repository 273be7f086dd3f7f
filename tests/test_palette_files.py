"""Palettes of other programs: every sample is read or refused, and bad files never surprise."""

import colorsys
import functools
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fractals
from fractals import catalog, palette, palette_files
from fractals.errors import OptionError, SceneError

AT = np.linspace(0, 1, 6001)[:-1] + 1 / 12007
READERS = ("ggr", "gpl", "kfp", "map", "ugr")
every_reader = pytest.mark.parametrize("name", READERS)
every_writer = pytest.mark.parametrize("name", ["ggr", "gpl", "map"])


@functools.cache
def format_of(name):
    return catalog.load("format", name)()


def read(name, text, entry=""):
    data = text if isinstance(text, bytes) else text.encode()
    return format_of(name).read(data, entry)


def palette_in(name, text, entry=""):
    return palette.parse(read(name, text, entry).table["color"]["palette"])


def srgb(colors, at=AT):
    """Return sRGB values from 0 to 255 along a palette."""
    return 255 * palette.srgb_from_linear(np.clip(colors.linear(at), 0, 1))


def samples(data, name):
    found = sorted((data / "formats" / name).iterdir())
    assert len(found) > 4
    return found


KFP = "Re: 0\r\nIterDiv: 2.5\r\nColors: 0,0,255,0,255,0,255,0,0,9,8,7,\r\nGLSL: vec3\\ a\r\n"
MAP = "  0   0   0  For rainy days\r\n255 128 0\r\n; no color\r\n\r\n1 2 3 4 5\r\n"
GPL = "GIMP Palette\nName: Two words\nColumns: 3\n#\n# said\n  8  16 255\tgray 3\n255 0 0\n0 9 0\n"
UGR = """comment {
  anything { at all
}
First {
gradient:
  title="The first" smooth=no rotation=49 index=49 color=255 index=100
  color=16711680 index=399 color=65280 ; green
opacity:
  smooth=no index=0 opacity=255
}

Second one(2) {
gradient:
 title="a \\
   b" smooth=yes index=0 color=0 index=200 color=16777215 index=-100 color=8421504
opacity:
 index=0 opacity=128
}
"""
# Every blend and color model; columns of old files and of new ones.
SEGMENTS = [
    (0.0, 0.02, 0.1, (1, 0.2, 0, 1), (0, 0.4, 1, 1), 0, 0),
    (0.1, 0.13, 0.2, (0, 0.4, 1, 1), (0.9, 0.9, 0.2, 1), 1, 0),
    (0.2, 0.28, 0.3, (0.9, 0.9, 0.2, 1), (0.1, 0, 0.3, 1), 2, 0),
    (0.3, 0.34, 0.45, (0.5, 0, 0.3, 1), (1, 1, 1, 1), 3, 0),
    (0.45, 0.5, 0.6, (1, 1, 1, 1), (0, 0.2, 0, 0.5), 4, 0),
    (0.6, 0.65, 0.7, (0, 0.2, 0, 1), (1, 0.5, 0, 1), 5, 0),
    (0.7, 0.76, 0.8, (1, 0.5, 0, 1), (0.2, 0.1, 0.6, 1), 0, 1),
    (0.8, 0.82, 0.9, (0.2, 0.1, 0.6, 1), (0.9, 0.3, 0.3, 1), 2, 2),
    (0.9, 0.95, 1.0, (0.9, 0.3, 0.3, 1), (0.9, 0.3, 0.3, 1), 3, 1),
]


def ggr_of(segments, name="Name: all of it\n", tail=""):
    lines = [
        f"{a:.6f} {m:.6f} {b:.6f} {' '.join(map(str, (*left, *right)))} {blend} {model}{tail}"
        for a, m, b, left, right, blend, model in segments
    ]
    return "\n".join([f"GIMP Gradient\n{name}{len(segments)}", *lines, ""])


def ggr_exact(segments, at):
    """Return a gradient's sRGB values from 0 to 255, as GIMP defines them."""
    drawn = np.zeros((len(at), 3))
    for a, m, b, left, right, blend, model in segments:
        here = (at >= a) & (at <= b)
        t, h = (at[here] - a) / (b - a), (m - a) / (b - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            way = np.where(t <= h, t / h / 2, 0.5 + (t - h) / (1 - h) / 2)
            share = [
                way,
                t ** (np.log(0.5) / np.log(h)),
                (np.sin(np.pi * (way - 0.5)) + 1) / 2,
                np.sqrt(1 - (way - 1) ** 2),
                1 - np.sqrt(1 - way**2),
                np.where(t < h, 0.0, 1.0),
            ][blend]
        if model == 0:
            drawn[here] = np.outer(1 - share, left[:3]) + np.outer(share, right[:3])
            continue
        start, end = colorsys.rgb_to_hsv(*left[:3]), colorsys.rgb_to_hsv(*right[:3])
        ahead = (end[0] - start[0]) % 1 or 1  # counter-clockwise, a whole turn between equal hues
        turn = ahead if model == 1 else ahead - 1 or -1
        hues = (start[0] + share * turn) % 1
        mixed = [start[k] + share * (end[k] - start[k]) for k in (1, 2)]
        drawn[here] = [colorsys.hsv_to_rgb(*hsv) for hsv in zip(hues, *mixed, strict=True)]
    return 255 * drawn


def away_from(places, at=AT):
    """Tell which positions are not beside one where a gradient may jump."""
    return np.abs(at[:, None] - np.array(places)[None]).min(axis=1) > 1e-4


GGR = ggr_of(SEGMENTS)
VALID = {"ggr": GGR, "gpl": GPL, "kfp": KFP, "map": MAP, "ugr": UGR}


def test_kfp_goes_round_along_cosines():
    found = palette_in("kfp", KFP)
    keys = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [7, 8, 9]])
    k = (4 * AT).astype(int)
    weight = np.sin((4 * AT - k - 0.5) * np.pi) / 2 + 0.5  # as Kalles Fraktaler writes it
    wanted = (1 - weight)[:, None] * keys[k] + weight[:, None] * keys[(k + 1) % 4]
    assert srgb(found) == pytest.approx(wanted, abs=1e-4)
    assert read("kfp", KFP).lost == ("IterDiv: 2.5", "GLSL: vec3\\ a")


@pytest.mark.parametrize("name", ["map", "gpl"])
def test_colors_go_round_in_equal_steps(name):
    found = palette_in(name, VALID[name])
    keys = {
        "map": [[0, 0, 0], [255, 128, 0], [1, 2, 3]],
        "gpl": [[8, 16, 255], [255, 0, 0], [0, 9, 0]],
    }
    keys = np.array(keys[name])
    k = (3 * AT).astype(int)
    wanted = keys[k] + (3 * AT - k)[:, None] * (keys[(k + 1) % 3] - keys[k])
    assert srgb(found) == pytest.approx(wanted, abs=1e-4)
    assert found.cyclic
    assert found.title == {"map": "", "gpl": "Two words"}[name]


def test_gpl_with_alpha():
    imported = read("gpl", "GIMP Palette\nChannels: RGBA\n1 2 3 255 Untitled\n9 9 9 0\n")
    assert imported.lost == ("alpha: colors are opaque",)
    assert [color for _, color in palette.parse(imported.table["color"]["palette"]).stops] == [
        "#010203",
        "#090909",
    ]


@pytest.mark.parametrize("tail", ["", " 0 0"], ids=["13 columns", "15 columns"])
@pytest.mark.parametrize("name", ["Name: all of it\n", ""], ids=["named", "nameless"])
def test_ggr_is_what_gimp_draws(name, tail):
    text = ggr_of(SEGMENTS, name, tail)
    found = palette_in("ggr", text)
    good = away_from([s for segment in SEGMENTS for s in segment[:3]])
    off = np.abs(srgb(found) - ggr_exact(SEGMENTS, AT))[good]
    assert off.max() < 1
    assert read("ggr", text).lost == ("alpha: colors are opaque",)
    assert len(found.stops) < 400
    assert found.title == ("all of it" if name else "")


@pytest.mark.parametrize("model", [0, 1, 2])
@pytest.mark.parametrize("blend", range(6))
@pytest.mark.parametrize("middle", [0.003, 0.5, 0.9])
def test_every_ggr_blend(blend, model, middle):
    segment = (0.0, middle, 1.0, (0.9, 0.1, 0.5, 1), (0.2, 0.7, 0.1, 1), blend, model)
    off = np.abs(srgb(palette_in("ggr", ggr_of([segment]))) - ggr_exact([segment], AT))
    assert off[away_from([0, middle, 1])].max() < 1


def test_ggr_foreground_is_reported():
    text = ggr_of(SEGMENTS[:1], tail=" 1 3").replace("0.100000", "1.000000")
    assert "foreground and background" in read("ggr", text).lost[0]


def test_ggr_samples_are_what_gimp_draws(data):
    for path in samples(data, "ggr"):
        rows = [line.split() for line in path.read_text().splitlines() if len(line.split()) > 12]
        segments = [
            (
                *map(float, r[:3]),
                tuple(map(float, r[3:7])),
                tuple(map(float, r[7:11])),
                int(r[11]),
                int(r[12]),
            )
            for r in rows
        ]
        off = np.abs(srgb(palette_in("ggr", path.read_bytes())) - ggr_exact(segments, AT))
        assert off[away_from([s for segment in segments for s in segment[:3]])].max() < 1, path.name


def ugr_exact(index, colors):
    """Return the sRGB values of a gradient without curves: BGR integers at places of 400."""
    order = np.argsort(index)
    places, values = np.array(index)[order], np.array(colors)[order]
    parts = [values % 256, values // 256 % 256, values // 65536]
    return np.stack([np.interp(400 * AT, places, part, period=400) for part in parts], axis=1)


def test_ugr_first_and_named():
    found = palette_in("ugr", UGR)
    assert srgb(found) == pytest.approx(ugr_exact([49, 100, 399], [255, 16711680, 65280]), abs=1e-4)
    assert (found.title, found.blend) == ("The first", "linear")
    assert read("ugr", UGR).lost[0].startswith("1 more gradients: this is the first; '#Second")
    second = palette_in("ugr", UGR, "Second one(2)")
    assert second.stops == ((0.0, "#000000"), (0.5, "#ffffff"), (0.75, "#808080"))
    assert (second.title, second.blend) == ("a b", "smooth")
    lost = read("ugr", UGR, "Second one(2)").lost
    assert [line.split(":")[0] for line in lost] == ["smooth", "opacity"]


def test_ugr_samples_are_their_colors(data):
    for path in samples(data, "ugr"):
        text = path.read_bytes().decode().replace("\r", "")
        blocks = [block.split("{") for block in text.split("\n}") if "{" in block]
        assert len(blocks) > 10
        for name, block in blocks[:: len(blocks) // 7]:
            words = [w.partition("=") for w in block.split("opacity:")[0].split()]
            index = [int(value) for key, _, value in words if key == "index"]
            colors = [int(value) for key, _, value in words if key == "color"]
            found = palette_in("ugr", path.read_bytes(), name.strip())
            if found.blend == "linear":
                assert srgb(found) == pytest.approx(ugr_exact(index, colors), abs=1e-4), name
            stops = ugr_exact(index, colors)[[round(p * 6000) % 6000 for p, _ in found.stops]]
            assert np.abs(stops - srgb(found, np.array([p for p, _ in found.stops]))).max() < 20


@every_reader
def test_samples(name, data):
    for path in samples(data, name):
        found = palette_in(name, path.read_bytes())
        assert np.ptp(found.lookup("#000000"), axis=0).max() > 0.05, path.name


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("kfp", "", "no line 'Colors:'"),
        ("kfp", "Re: 0\n\nwhat is this", "line 3: 'what is this' is not 'Key: value'"),
        ("kfp", "Re: 0\nColors: 1,2", "line 2: Colors has 2 numbers"),
        ("kfp", "Colors:", "line 1: Colors has 0 numbers"),
        ("kfp", "Colors: 1,2,256", "line 1: '256' in Colors is not a number from 0 to 255"),
        ("kfp", "Colors: 1,,3", "line 1: '' in Colors"),
        ("kfp", "Colors: " + "1,2,3," * 1025, "line 1: Colors has at most 1024 colors"),
        ("kfp", "A: 1\n" * 10001, "line 10001: a file has at most 10000 lines"),
        ("map", "", "there is no color in it"),
        ("map", "0 0 0\n\n1 2 x\n", "line 3: '1 2 x' is not three numbers from 0 to 255"),
        ("map", "0 0 256", "line 1: '0 0 256' is not three numbers"),
        ("map", "0 0 ²", "line 1: '0 0 ²' is not three numbers"),
        ("map", "1 2 3\n" * 257, "line 257: a .map file has at most 256 colors"),
        ("map", "1 2 3\n\0\n", "line 2: a zero byte, so this is no text"),
        ("map", b" " * (8 * 2**20 + 1), "8388609 bytes: a palette file has at most 8388608"),
        ("gpl", "", "there is no color"),
        ("gpl", "JASC-PAL\n1 2 3", "line 1: 'JASC-PAL' is not 'GIMP Palette'"),
        ("gpl", "GIMP Palette\n1 2 3\nName: x", "line 3: 'Name: x' is not three numbers"),
        (
            "gpl",
            "GIMP Palette\n" + "1 2 3\n" * 4097,
            "line 4098: a palette has at most 4096 colors",
        ),
        ("ggr", "", "line 1: '' is not 'GIMP Gradient'"),
        ("ggr", "GIMP Gradient\nName: x\n", "line 3: '' is not the number of segments"),
        ("ggr", "GIMP Gradient\n0\n", "line 2: 0 segments: a gradient has 1 to 1024"),
        ("ggr", "GIMP Gradient\n1025\n", "line 2: 1025 segments"),
        ("ggr", GGR.replace("\n9\n", "\n10\n"), "line 13: segment 10 of 10 is missing"),
        ("ggr", GGR.replace("\n9\n", "\n8\n"), "line 11: the last segment ends at 0.9, not at 1"),
        (
            "ggr",
            ggr_of([(0, 0, 0, (1,) * 4, (1,) * 4, 0, 0)]),
            "line 4: the last segment ends at 0",
        ),
        ("ggr", GGR.replace(" 2 2\n", " 2\n"), "line 11: a segment is 13 or 15 numbers, not 12"),
        ("ggr", GGR.replace(" 2 2\n", " 6 2\n"), "line 11: '6 2' is no blend and color model"),
        ("ggr", GGR.replace(" 2 2\n", " 2 3\n"), "line 11: '2 3' is no blend and color model"),
        ("ggr", GGR.replace("0.820000", "nan"), "line 11: 'nan' is not a number"),
        ("ggr", GGR.replace("0.820000", "0.95"), "line 11: the segment doesn't rise from 0.8 on"),
        ("ggr", GGR.replace("0 0.4 1 1", "0 0.4 1.2 1"), "line 4: a color is not from 0 to 1"),
        ("ugr", "", "there is no gradient in it"),
        ("ugr", "x\n", "line 1: 'x' does not begin a gradient: 'name {'"),
        ("ugr", "x {\ngradient:\n", "line 1: 'x' is not closed by a '}'"),
        ("ugr", "x {\ngradient:\n}", "line 2: the gradient has no color"),
        ("ugr", "x {\n}", "line 1: the gradient has no color"),
        ("ugr", "x {\ngradient:\n color=1\n}", "line 3: a color without an index before it"),
        ("ugr", "x {\ngradient:\n index=1 color=16777216\n}", "line 3: '16777216' is not a whole"),
        ("ugr", "x {\ngradient:\n index=1.5 color=1\n}", "line 3: '1.5' is not a whole number"),
        ("ugr", 'x {\ngradient:\n title="a\n}', "line 3: 'title=\"a' is not 'key=value'"),
        ("ugr", "x{\n}\n" * 100_001, "line 200001: more than 100000 gradients"),
    ],
)
def test_what_is_wrong_is_said(name, text, message):
    with pytest.raises(SceneError) as caught:
        read(name, text)
    assert message in str(caught.value)


def test_ugr_names_are_told():
    with pytest.raises(
        SceneError, match=r"no gradient 'first'; there are: First, \.\.\. \(2 in all\)$"
    ):
        read("ugr", UGR, "first")
    with pytest.raises(SceneError, match=r"there are: First, Second one\(2\)$"):
        read("ugr", UGR, "x")
    many = "".join(f"g{k} {{\n}}\n" for k in range(50))
    with pytest.raises(SceneError, match=r"g0, g1, .*g19, \.\.\. \(50 in all\)$"):
        read("ugr", many, "x")


def survives(name, text):
    """Read a file that may be anything: it becomes a palette, or an error of one line."""
    try:
        imported = read(name, text)
    except SceneError as error:
        lines = [str(error)]
    else:
        found = palette.parse(imported.table["color"]["palette"])
        assert np.isfinite(found.lookup("#000000")).all()
        lines = list(imported.lost)
    assert all(lines)
    assert all(line.isprintable() for line in lines)


@every_reader
@settings(deadline=None)
@given(data=st.data())
def test_mutations_are_read_or_refused(name, data):
    text = bytearray(VALID[name].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 6)))
        piece = data.draw(
            st.sampled_from([b"", b"-1", b"nan", b"1e999", b"\n", b",", b"=", b":", b"{", b"9" * 9])
            | st.binary(max_size=6)
        )
        text[start:end] = piece
    survives(name, bytes(text))


@every_reader
@settings(deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_read_or_refused(name, text):
    survives(name, text)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 8, st.integers(0, 5), st.integers(0, 2)), min_size=1)
)
def test_gradients_of_any_segments_have_few_stops(rows):
    count = len(rows)
    segments = [
        (k / count, (k + row[6]) / count, (k + 1) / count, (*row[:3], 1), (*row[3:6], 1), *row[8:])
        for k, row in enumerate(rows)
    ]
    found = palette_in("ggr", ggr_of(segments))
    assert len(found.stops) <= palette.MOST_STOPS


def test_gradients_of_too_many_curves_are_told():
    dice = np.random.default_rng(7)
    rows = [[(*color, 1) for color in colors] for colors in dice.uniform(0, 1, (400, 2, 3))]
    segments = [
        (k / 400, k / 400 + 0.00125, (k + 1) / 400, *row, 3, 1) for k, row in enumerate(rows)
    ]
    imported = read("ggr", ggr_of(segments))
    assert len(imported.table["color"]["palette"]["stops"]) <= palette.MOST_STOPS
    assert "4096 stops are off by up to " in imported.lost[0]


@every_writer
@pytest.mark.parametrize("builtin", catalog.names("palette"))
def test_written_palettes_are_the_same_when_read(name, builtin):
    given = palette.load(builtin)
    written, _ = format_of(name).write(fractals.Scene().replace(palette=builtin).to_table())
    again = palette_in(name, written)
    if name == "ggr":
        at = AT[AT < 4095 / 4096]  # in the last row of the table one with two ends begins again
        assert np.abs(srgb(again, at) - srgb(given, at)).max() < 1
    else:
        at = np.arange(256) / (256 if given.cyclic else 255)
        assert np.abs(srgb(again, np.arange(256) / 256) - srgb(given, at)).max() <= 0.5001
    assert again.title == (given.title if name != "map" else "")


@every_writer
def test_what_a_palette_file_can_not_hold_is_said(name):
    write = format_of(name).write
    plain = {"stops": ["#000", "#fff"], "space": "srgb"}
    assert write({"color": {"palette": plain, "density": 1.0}})[1] == ()
    scene = fractals.Scene().replace(density=2, julia=("0", "1"), palette="ink")
    lost = write(scene.to_table())[1]
    assert [line.split(":")[0] for line in lost] == [
        "julia",
        "color.density",
        "the palette's two ends",
    ]
    rough = {"stops": ["#000", "#fff"] * 300, "space": "srgb"}
    detail = [
        line for line in write({"color": {"palette": rough}})[1] if "256 colors are off" in line
    ]
    assert len(detail) == (name != "ggr")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in VALID.items():
        Path(f"a.{name}").write_bytes(text.encode())
    return tmp_path


@every_reader
def test_files_are_palettes_of_scenes(name, folder):
    scene = fractals.Scene().replace(palette=f"a.{name}")
    assert scene.color.palette.source == f"a.{name}"
    assert scene.color.palette.stops == palette_in(name, VALID[name]).stops
    Path(f"a.{name}").unlink()  # a scene carries its palette
    assert fractals.Scene.load(scene.to_table()) == scene
    Path("again.toml").write_text(scene.to_toml())
    assert fractals.Scene.load("again.toml") == scene


def test_entries_and_suffixes(folder):
    assert palette_files.find("a.ugr#Second one(2)")[0].title == "a b"
    Path("a.gpl").rename("B#1.GPL")
    assert palette_files.find("B#1.GPL")[0].title == "Two words"
    Path("own.toml").write_text('stops = ["#000", "#fff"]\nblend = "smooth"')
    assert palette_files.find("own.toml")[0].blend == "smooth"


def test_files_are_sought_beside_the_scene(folder):
    (folder / "deeper").mkdir()
    Path("deeper/x.ugr").write_text(UGR)
    Path("deeper/scene.toml").write_text('[color]\npalette = "x.ugr#Second one(2)"\n')
    Path("deeper/scene.json").write_text('{"color": {"palette": "a.map"}}')
    lost = []
    fractals.Scene.load("deeper/scene.toml", lost=lost)
    assert [line.split(":")[0] for line in lost] == 2 * ["x.ugr#Second one(2)"]
    assert fractals.Scene.load("deeper/scene.toml").color.palette.title == "a b"
    assert fractals.Scene.load("deeper/scene.json").color.palette.source == "a.map"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none.map", SceneError, "none.map: no such file"),
        ("bad.map", SceneError, "bad.map: line 2: '1 2' is not three numbers"),
        ("a.ugr#x", SceneError, "a.ugr: no gradient 'x'; there are: First, Second one(2)"),
        ("bad.toml", SceneError, "bad.toml: palette: unknown key 'stop'"),
        ("large.map", SceneError, "large.map: larger than 67108864 bytes"),
        (".map", SceneError, ".map: "),
        ("a.pal", OptionError, "a palette file ends in .ggr, .gpl, .kfp, .map, .toml, .ugr"),
    ],
)
def test_files_that_are_no_palettes(name, error, message, folder):
    Path("bad.map").write_text("0 0 0\n1 2\n")
    Path("bad.toml").write_text('stop = ["#000"]')
    Path(".map").mkdir()
    with Path("large.map").open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(error) as caught:
        palette_files.find(name)
    assert message in str(caught.value)
    with pytest.raises(SceneError) as caught:
        fractals.Scene.load({"color": {"palette": name}})
    assert message in str(caught.value)


def test_color_maps_of_cmap():
    cmap = pytest.importorskip("cmap", reason="the extra `palettes` is not installed")
    for name, turns in (("viridis", 2), ("cmap:twilight", 1), ("cmap:turbo_r", 2)):
        rows = 255 * cmap.Colormap(name.removeprefix("cmap:")).lut(256)[:, :3]
        at = AT if turns == 1 else 1 - np.abs(2 * AT - 1)
        found = palette_files.find(name)[0]
        exact = [np.interp(at, np.arange(256) / 255, row) for row in rows.T]
        assert np.abs(srgb(found) - np.transpose(exact)).max() < 1, name
        assert len(found.stops) < 300
    viridis = fractals.Scene().replace(palette="viridis").color.palette
    assert (viridis.title, viridis.source, viridis.licence) == (
        "viridis",
        "cmap: bids:viridis",
        "CC0",
    )
    tab = palette_files.find("cmap:tab10")[0]
    bands = 255 * cmap.Colormap("tab10").lut(10)[:, :3]
    inner = away_from(np.arange(11) / 10)
    assert np.abs(srgb(tab) - bands[(10 * AT).astype(int)])[inner].max() < 1
    assert palette_files.find("ember")[0].source != "cmap"  # built in, where cmap has the name too
    assert palette_files.find("cmap:ember")[0].source.startswith("cmap: ")
    with pytest.raises(OptionError, match="cmap has no color map 'nosuch'"):
        palette_files.find("cmap:nosuch")
    with pytest.raises(OptionError, match="unknown palette 'embr'; did you mean 'ember'"):
        palette_files.find("embr")


def test_without_cmap(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmap", None)
    with pytest.raises(OptionError, match=r"wants the package cmap: pip install '.*\[palettes\]'"):
        palette_files.find("cmap:viridis")
    with pytest.raises(OptionError, match=r"unknown palette 'viridis'.*hundreds more with pip"):
        palette_files.find("viridis")
