"""Palettes: files, sRGB, OKLab, and the table that the shading program reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import naive
from PIL import ImageColor

from fractals import catalog
from fractals.color import palette
from fractals.errors import InputError

every_palette = pytest.mark.parametrize("name", catalog.names("palette"))
light = st.floats(0, 1)


@every_palette
def test_files_say_where_they_come_from(name):
    table = catalog.read("palette", name)
    for key in ("title", "source", "licence"):
        assert isinstance(table[key], str)
        assert table[key].strip()
    loaded = palette.load(name)
    assert len(loaded.stops) >= 2
    assert palette.parse(loaded.to_table()) == loaded


@every_palette
def test_stops_are_met(name):
    loaded = palette.load(name)
    table = loaded.lookup("#000000")
    for place, color in loaded.stops:
        row = table[round(place * palette.ENTRIES)]
        wanted = [255 * float(part) for part in palette.parse_color(color)]
        got = [255 * float(naive.srgb_from_linear(float(v))) for v in row]
        assert got == pytest.approx(wanted, abs=2.5)  # a stop may lie between two rows


@every_palette
def test_cyclic_palettes_close(name):
    loaded = palette.load(name)
    table = loaded.lookup("#000000")[:-1]
    if loaded.cyclic:
        assert table[-1] == pytest.approx(table[0], abs=1e-6)
    steps = np.abs(np.diff(255 * palette.srgb_from_linear(table), axis=0))
    assert steps.max() < 6  # of a byte: no jumps


def test_there_are_many_palettes_and_no_two_alike():
    """In OKLab, where 0.02 is a just noticeable difference; the best of all shifts is compared."""
    at = np.arange(64) / 64
    names = catalog.names("palette")
    lab = {name: palette.oklab_from_linear(palette.load(name).linear(at)) for name in names}
    assert len(names) >= 24
    assert all(np.ptp(colors[:, 0]) > 0.4 for colors in lab.values())  # light and dark
    for k, first in enumerate(names):
        for second in names[:k]:
            off = [np.roll(lab[first], shift, axis=0) - lab[second] for shift in range(64)]
            nearest = np.linalg.norm(off, axis=2).mean(axis=1).min()
            assert nearest > 0.03, (first, second)


def test_lookup_table():
    two = palette.parse({"stops": ["#000000", "#ffffff"]})
    table = two.lookup("#ff0000")
    assert table.shape == (palette.ENTRIES + 2, 3)
    assert table.dtype == np.float32
    assert table[0] == pytest.approx([0, 0, 0], abs=1e-6)
    assert table[palette.ENTRIES // 2] == pytest.approx([1, 1, 1], abs=1e-6)
    assert table[-2] == pytest.approx([0, 0, 0], abs=1e-6)
    assert table[-1].tolist() == [1, 0, 0]
    # Half way from black to white in OKLab is L = 1/2, whose light is 1/8.
    assert table[palette.ENTRIES // 4] == pytest.approx([0.125] * 3, abs=1e-6)
    assert (table >= 0).all()
    assert (table <= 1).all()


@pytest.mark.parametrize("blend", ["linear", "smooth", "cosine"])
@pytest.mark.parametrize("space", ["oklab", "oklch", "srgb"])
def test_places_have_any_shape(space, blend):
    made = palette.Palette([(0, "red"), (0.4, "teal"), (1, "blue")], space=space, blend=blend)
    expected = made.linear(np.linspace(0, 1, 12))
    shaped = made.linear(np.linspace(0, 1, 12).reshape(3, 4))
    np.testing.assert_allclose(shaped.reshape(12, 3), expected, atol=1e-12)
    np.testing.assert_allclose(made.linear(0), expected[0], atol=1e-12)
    assert made.linear([0.5, 1]).shape == (2, 3)


def test_one_color_is_a_palette():
    table = palette.parse({"stops": ["#336699"]}).lookup("#000")
    assert np.ptp(table[:-1], axis=0).max() < 1e-6


@given(light)
def test_srgb_is_the_standards(v):
    assert float(palette.srgb_from_linear(v)) == pytest.approx(
        float(naive.srgb_from_linear(v)), abs=1e-12
    )
    assert float(palette.linear_from_srgb(v)) == pytest.approx(
        float(naive.linear_from_srgb(v)), abs=1e-12
    )


@given(light)
def test_srgb_there_and_back(v):
    assert float(palette.linear_from_srgb(palette.srgb_from_linear(v))) == pytest.approx(
        v, abs=1e-6
    )


def test_every_byte_comes_back():
    for byte in range(256):
        linear = float(palette.linear_from_srgb(byte / 255))
        assert palette.encoding()[int(linear * (palette.LEVELS[8] - 1) + 0.5)] == byte


def test_encoding_is_within_a_byte_and_rises():
    table = palette.encoding().astype(int)
    exact = [
        float(255 * naive.srgb_from_linear(naive.mpf(k) / (len(table) - 1)))
        for k in range(0, len(table), 37)
    ]
    assert np.abs(table[::37] - exact).max() <= 0.5 + 1e-9
    assert (np.diff(table) >= 0).all()
    assert table[0] == 0
    assert table[-1] == 255
    # between two levels, half a level more: at most a byte where sRGB is steepest
    fine = np.random.default_rng(4).uniform(0, 1, 2000)
    drawn = table[(fine * (len(table) - 1) + 0.5).astype(int)]
    assert np.abs(drawn - 255 * palette.srgb_from_linear(fine)).max() < 0.62


# Björn Ottosson's table of OKLab test values: XYZ -> Lab; and sRGB colors as CSS Color 4 has them.
OKLAB = [
    ((1, 1, 1), (1, 0, 0)),
    ((0, 0, 0), (0, 0, 0)),
    ((1, 0, 0), (0.62796, 0.22486, 0.12585)),
    ((0, 1, 0), (0.86644, -0.23389, 0.17950)),
    ((0, 0, 1), (0.45201, -0.03246, -0.31153)),
]


@pytest.mark.parametrize(("linear", "lab"), OKLAB)
def test_oklab(linear, lab):
    assert palette.oklab_from_linear(np.array(linear, float)) == pytest.approx(lab, abs=2e-5)
    assert palette.linear_from_oklab(np.array(lab, float)) == pytest.approx(linear, abs=2e-4)


@given(light, light, light)
def test_oklab_there_and_back(red, green, blue):
    color = np.array([red, green, blue])
    again = palette.linear_from_oklab(palette.oklab_from_linear(color))
    assert again == pytest.approx(color, abs=1e-6)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "1 to 4096 stops"),
        ({"stops": []}, "1 to 4096 stops"),
        ({"stops": "#ffffff"}, "1 to 4096 stops"),
        ({"stops": ["#fff"] * 4097}, "1 to 4096 stops"),
        ({"stops": ["reddish"]}, "'reddish' is not a color"),
        ({"stops": ["#12345"]}, "'#12345' is not a color"),
        ({"stops": ["#12345g"]}, "'#12345g' is not a color"),
        ({"stops": ["#12 34 "]}, "is not a color"),
        ({"stops": [7]}, "'7' is not a color"),
        ({"stops": [[0, "#fff", 1]]}, "is not a color"),
        ({"stops": [[2, "#fff"]]}, "2 of palette stop 1 is not from 0 to 1"),
        ({"stops": [[0, "#fff"], [-0.1, "#000"]]}, "stop 2 is not from 0 to 1"),
        ({"stops": [[float("nan"), "#fff"]]}, "nan of palette stop 1"),
        ({"stops": [["a", "#fff"]]}, "'a' of palette stop 1"),
        ({"stops": [[0.5, "#fff"], [0.4, "#000"]]}, "don't rise at stop 2"),
        ({"stopps": ["#fff"]}, "unknown key 'stopps'; did you mean 'stops'"),
        ({"stops": ["#fff"], "cyclic": "perhaps"}, "cyclic"),
        ({"stops": ["#fff"], "title": 3}, "title"),
    ],
)
def test_what_is_wrong_is_said(table, message):
    with pytest.raises(InputError) as caught:
        palette.parse(table)
    assert message in str(caught.value)


def test_unknown_palette():
    with pytest.raises(ValueError, match="did you mean 'lagoon'"):
        palette.load("lagon")


# CSS Color 4's own examples: OKLCH -> sRGB, of which the third is 51 % green.
@pytest.mark.parametrize(
    ("text", "srgb"),
    [
        ("oklch(0.62796 0.25768 29.234)", (1, 0, 0)),
        ("oklch(51.975% 0.17686 142.495)", (0, 0.50196, 0)),
        ("oklch(0.45201 0.31321 264.052)", (0, 0, 1)),
        ("oklch(1 0 0)", (1, 1, 1)),
        ("oklch(0 0 120deg)", (0, 0, 0)),
    ],
)
def test_oklch_colors(text, srgb):
    assert palette.parse_color(text) == pytest.approx(srgb, abs=2e-3)


def test_oklch_beyond_srgb_keeps_lightness_and_hue():
    linear = palette.linear_from_srgb(palette.parse_color("oklch(0.7 0.4 150)"))
    lightness, chroma, hue = palette.oklch_from_oklab(palette.oklab_from_linear(linear))
    assert lightness == pytest.approx(0.7, abs=2e-3)
    assert hue == pytest.approx(150, abs=0.3)
    assert 0.15 < chroma < 0.4


@pytest.mark.parametrize(
    ("first", "last", "middle"),
    [(20, 60, 40), (350, 30, 10), (30, 350, 10), (100, -100, 180), (0, 170, 85)],
)
def test_hues_go_the_shorter_way(first, last, middle):
    stops = [f"oklch(0.7 0.05 {first})", f"oklch(0.7 0.05 {last})"]
    colors = palette.parse({"stops": stops, "space": "oklch", "cyclic": False})
    lab = palette.oklab_from_linear(colors.linear(np.array([0.5])))
    lightness, chroma, hue = palette.oklch_from_oklab(lab)[0]
    assert (lightness, chroma) == pytest.approx((0.7, 0.05), abs=1e-4)
    assert (hue - middle + 180) % 360 - 180 == pytest.approx(0, abs=0.2)


def test_gray_has_no_hue_of_its_own():
    stops = ["oklch(0.6 0.1 40)", "#808080", "oklch(0.6 0.1 250)"]
    colors = palette.parse({"stops": stops, "space": "oklch", "cyclic": False})
    lab = palette.oklab_from_linear(colors.linear(np.array([0.3, 0.7])))
    assert palette.oklch_from_oklab(lab)[:, 2] % 360 == pytest.approx([40, 250], abs=0.2)


@pytest.mark.parametrize("space", palette.SPACES)
@pytest.mark.parametrize("blend", palette.BLENDS)
@pytest.mark.parametrize("cyclic", [True, False])
def test_every_space_and_blend_meets_the_stops(space, blend, cyclic):
    given = [[0.1, "#ff3020"], [0.35, "#f0f0f0"], [0.8, "#1030a0"]]
    table = {"stops": given, "space": space, "blend": blend, "cyclic": cyclic}
    colors = palette.parse(table)
    assert palette.parse(colors.to_table()) == colors
    found = palette.srgb_from_linear(colors.linear(np.array([0.1, 0.35, 0.8])))
    wanted = [palette.parse_color(color) for _, color in given]
    assert found == pytest.approx(np.array(wanted), abs=1e-4)
    ends = colors.lookup("#000")[[0, palette.ENTRIES]]
    assert (ends[0] == pytest.approx(ends[1], abs=1e-6)) is cyclic
    one = palette.parse({**table, "stops": ["#3060a0"]}).lookup("#000")
    assert np.ptp(one[:-1], axis=0).max() < 1e-6


def test_srgb_and_cosine():
    table = {"stops": ["#000000", "#ffffff"], "space": "srgb", "cyclic": False}
    at = np.linspace(0, 1, 9)
    straight = palette.srgb_from_linear(palette.parse(table).linear(at))
    assert straight[:, 1] == pytest.approx(at, abs=1e-6)
    waves = palette.srgb_from_linear(palette.parse({**table, "blend": "cosine"}).linear(at))
    assert waves[:, 1] == pytest.approx(np.sin(np.pi * at / 2) ** 2, abs=1e-6)


def test_smooth_palettes_have_no_kinks_and_go_nowhere_else():
    stops = [[0.0, "#102030"], [0.2, "#ff8000"], [0.5, "#e0e0ff"], [0.6, "#400060"]]
    table = {"stops": stops, "space": "srgb", "blend": "smooth"}
    at = np.linspace(0, 1, 100_001)
    drawn = palette.srgb_from_linear(palette.parse(table).linear(at))
    slopes = np.diff(drawn, axis=0) * 1e5
    assert np.abs(np.diff(slopes, axis=0)).max() < 0.02  # at a kink it would jump by some 1
    assert slopes[0] == pytest.approx(slopes[-1], abs=0.02)
    colors = np.array([palette.parse_color(color) for _, color in stops] * 2)
    for k, (start, end) in enumerate([(0, 0.2), (0.2, 0.5), (0.5, 0.6), (0.6, 1)]):
        part = drawn[(at >= start) & (at <= end)]
        rises = np.diff(part, axis=0) * np.sign(colors[k + 1] - colors[k])
        assert rises.min() > -1e-9


def test_smooth_slopes_are_harmonic_means():
    grays = {"stops": [[0, "#000"], [0.5, "#404040"], [1, "#ffffff"]], "cyclic": False}
    colors = palette.parse({**grays, "space": "srgb", "blend": "smooth"})
    near = palette.srgb_from_linear(colors.linear(np.array([0.5 - 1e-5, 0.5 + 1e-5])))[:, 0]
    first, second = 2 * 64 / 255, 2 * (255 - 64) / 255
    assert (near[1] - near[0]) / 2e-5 == pytest.approx(2 / (1 / first + 1 / second), rel=1e-3)


def test_names_of_css_stay_when_pillow_has_read_them():
    ImageColor.getrgb("teal")  # from then on Pillow's table holds numbers
    assert palette.parse_color("teal") == palette.parse_color("#008080")


def test_names_of_css_are_colors():
    assert palette.parse_color("red") == (1, 0, 0)
    assert palette.parse_color("RebeccaPurple") == palette.parse_color("#663399")
    assert palette.parse({"stops": ["white", "navy"]}).stops == ((0.0, "white"), (0.5, "navy"))
    with pytest.raises(InputError, match=r"'redd' is not a color .*; did you mean 'red'"):
        palette.parse_color("redd")
