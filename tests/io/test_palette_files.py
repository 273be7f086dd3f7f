"""Palettes of other programs: every sample is read or refused, and bad files never surprise."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.gradients import (
    AT,
    GGR,
    KFP,
    SEGMENTS,
    UGR,
    VALID,
    away_from,
    every_reader,
    ggr_exact,
    ggr_of,
    palette_in,
    read,
    samples,
    srgb,
)

from fractals.color import palette
from fractals.errors import InputError
from fractals.io import palettes
from fractals.io.foreign import first_of, formats


def test_kfp_goes_round_along_cosines():
    found = palette_in("kfp", KFP)
    keys = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [7, 8, 9]])
    k = (4 * AT).astype(int)
    weight = np.sin((4 * AT - k - 0.5) * np.pi) / 2 + 0.5  # as Kalles Fraktaler writes it
    wanted = (1 - weight)[:, None] * keys[k] + weight[:, None] * keys[(k + 1) % 4]
    assert srgb(found) == pytest.approx(wanted, abs=1e-4)


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


def test_blanks_beside_signs_mean_nothing():
    text = "one {\ngradient:\n title='' index=0 color=255 index=200 color=65280\n}\n"
    assert read("ugr", text.replace("=", " = ")) == read("ugr", text)
    text = "GIMP Palette\nName: x\n1 2 3\n"
    assert read("gpl", text.replace(":", " :")) == read("gpl", text)


def test_blank_lines_before_a_palette_mean_nothing():
    assert read("gpl", "\r\n \r\nGIMP Palette\r\n1 2 3\r\n") == read("gpl", "GIMP Palette\n1 2 3\n")
    with pytest.raises(InputError, match="line 3: 'x' is not 'GIMP Palette'"):
        read("gpl", "\n\nx\n1 2 3\n")


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


@pytest.mark.parametrize("kind", [5, 12])
def test_a_type_of_color_that_gimp_lacks_is_named(kind):
    """GIMP has 0, written in the file, to 4, the background, transparent."""
    for types in (f"{kind} 0", f"0 {kind}"):
        text = f"GIMP Gradient\n1\n0 0.5 1 1 0 0 1 0 0 1 1 0 0 {types}\n"
        imported = read("ggr", text)
        assert imported.lost == (
            f"the color type {kind} of an end, which GIMP lacks: the color written is taken",
        )
        assert imported.table["color"]["palette"]["stops"][0][1] == "#ff0000"


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
    assert read("ugr", UGR).lost == (first_of(2),)
    second = palette_in("ugr", UGR, "Second one(2)")
    assert second.stops == ((0.0, "#000000"), (0.5, "#ffffff"), (0.75, "#808080"))
    assert (second.title, second.blend) == ("a b", "smooth")
    lost = read("ugr", UGR, "Second one(2)").lost
    assert [line.split(":")[0] for line in lost] == ["smooth", "opacity"]


def test_ugr_a_comment_may_follow_a_bracket():
    commented = UGR.replace("\n}", "\n} ; end")
    assert commented.count("} ; end") == 3
    assert read("ugr", commented, "Second one(2)").table == read("ugr", UGR, "Second one(2)").table


def test_ugr_samples_are_their_colors(data):
    for path in samples(data, "ugr"):
        text = path.read_bytes().decode().replace("\r", "")
        blocks = [block.split("{") for block in text.split("\n}") if "{" in block]
        assert len(blocks) > 10
        for name, block in blocks[:: len(blocks) // 2]:
            words = [w.partition("=") for w in block.split("opacity:")[0].split()]
            index = [int(value) for key, _, value in words if key == "index"]
            colors = [int(value) for key, _, value in words if key == "color"]
            found = palette_in("ugr", path.read_bytes(), name.strip())
            if found.blend == "linear":
                assert srgb(found) == pytest.approx(ugr_exact(index, colors), abs=1e-4), name
            stops = ugr_exact(index, colors)[[round(p * 6000) % 6000 for p, _ in found.stops]]
            assert np.abs(stops - srgb(found, np.array([p for p, _ in found.stops]))).max() < 20


@every_reader
def test_palettes_of_other_programs_are_no_single_color(name, data):
    for path in samples(data, name):
        found = palette_in(name, path.read_bytes())
        assert np.ptp(found.lookup("#000000"), axis=0).max() > 0.05, path.name


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("kfp", "Re: 0", "the line 'Colors:' is missing"),
        ("kfp", "Re: 0\n\nwhat is this", "line 3: 'what is this' is not 'Key: value'"),
        ("kfp", "Re: 0\nColors: 1,2", "line 2: Colors: 2 numbers"),
        ("kfp", "Colors:", "line 1: Colors: 0 numbers"),
        ("kfp", "Colors: 1,2,256", "line 1: Colors: '256' is not a number from 0 to 255"),
        ("kfp", "Colors: 1,,3", "line 1: Colors: '' is not"),
        ("kfp", "Colors: " + "1,2,3," * 1025, "line 1: Colors: '2,3,' is not"),
        ("map", "", "the palette has no color"),
        ("map", "0 0 0\n\n1 2 x\n", "line 3: '1 2 x' is not three numbers from 0 to 255"),
        ("map", "0 0 ²", "line 1: '0 0 ²' is not three numbers"),
        ("map", "0,0,9", "is not three numbers from 0 to 255 with blanks between them"),
        ("map", "1 2 3\n\0\n", "line 2: a zero byte, so this is no text"),
        ("map", b" " * (8 * 2**20 + 1), "8388609 bytes: a palette file has at most 8388608"),
        ("gpl", "", "the palette has no color"),
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
        ("ugr", "", "the file has no gradient"),
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
    with pytest.raises(InputError) as caught:
        read(name, text)
    assert message in str(caught.value)


def test_ugr_names_are_told():
    with pytest.raises(
        InputError, match=r"no gradient 'first'; the file has: First, \.\.\. \(2 in all\)$"
    ):
        read("ugr", UGR, "first")
    with pytest.raises(InputError, match=r"the file has: First, Second one\(2\)$"):
        read("ugr", UGR, "x")
    many = "".join(f"g{k} {{\n}}\n" for k in range(50))
    with pytest.raises(InputError, match=r"g0, g1, .*g19, \.\.\. \(50 in all\)$"):
        read("ugr", many, "x")


def survives(name, text):
    """Read a file that may be anything: it becomes a palette, or an error of one line."""
    data = text if isinstance(text, bytes) else text.encode()
    try:
        with mock.patch.object(formats, "read_bytes", return_value=data):
            found, lines = palettes.find_palette(f"a.{name}")
    except InputError as error:
        lines = [str(error)]
    else:
        assert np.isfinite(found.lookup("#000000")).all()
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
    assert len(found.stops) <= palette.MAX_STOPS


def test_gradients_of_too_many_curves_are_told():
    dice = np.random.default_rng(7)
    rows = [[(*color, 1) for color in colors] for colors in dice.uniform(0, 1, (400, 2, 3))]
    segments = [
        (k / 400, k / 400 + 0.00125, (k + 1) / 400, *row, 3, 1) for k, row in enumerate(rows)
    ]
    imported = read("ggr", ggr_of(segments))
    assert len(imported.table["color"]["palette"]["stops"]) <= palette.MAX_STOPS
    assert "4096 stops are off by up to " in imported.lost[0]
