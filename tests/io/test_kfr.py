"""Locations of Kalles Fraktaler, against its own steps and its own pixels, written down here."""

import cmath
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import naive

import fractals
from fractals import Scene
from fractals.errors import SceneError
from fractals.io.foreign import deep_zooms
from fractals.io.load import load_scene
from fractals.scene.geometry import matrix

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

SIZE = (16, 9)
LIMIT = 60
# FractalType, Power: its step, of real numbers
STEPS = {
    (0, 2): lambda x, y: (x * x - y * y, 2 * x * y),
    (0, 3): lambda x, y: (x * x * x - 3 * x * y * y, 3 * x * x * y - y * y * y),
    (1, 2): lambda x, y: (x * x - y * y, abs(2 * x * y)),
    (2, 2): lambda x, y: (abs(x * x - y * y), abs(2 * x * y)),
    (3, 2): lambda x, y: (abs(x * x - y * y), 2 * x * y),
    (4, 2): lambda x, y: (x * x - y * y, -2 * x * y),
    (7, 2): lambda x, y: (x * x - y * y, -2 * x * abs(y)),
}


def count(step, c):
    x = y = 0.0
    for n in range(1, LIMIT):
        x, y = step(x, y)
        x, y = x + c.real, y + c.imag
        if x * x + y * y > 1e4:
            return n
    return LIMIT


def read(text):
    return deep_zooms.read_kfr(text.encode(), "")


def scene_of(text):
    imported = read(text)
    return load_scene(imported.table), imported.lost


def unsigned(z):
    return complex(abs(z.real), abs(z.imag))


def folded(before="", power=2, after=""):
    """Return z**power between folds: a, b without the sign of a part, m the mirror image."""
    folds = {
        "a": lambda z: complex(abs(z.real), z.imag),
        "b": lambda z: complex(z.real, abs(z.imag)),
        "m": lambda z: z.conjugate(),
    }

    def step(z):
        for name in before:
            z = folds[name](z)
        z = z**power
        for name in after:
            z = folds[name](z)
        return z

    return step


def moth(a, b):
    return lambda z: z**a * unsigned(z) ** b


# FractalType, Power: the step, less c, of formulas that also have a hybrid formula
NATIVE = {
    **{(0, n): folded("", n) for n in range(9, 13)},
    (1, 3): lambda z: complex(
        (z.real**2 - 3 * z.imag**2) * abs(z.real), (3 * z.real**2 - z.imag**2) * abs(z.imag)
    ),
    (1, 4): lambda z: complex((z**4).real, 4 * abs(z.real * z.imag) * (z.real**2 - z.imag**2)),
    (1, 5): folded("ab", 5),
    **{(2, n): lambda z, n=n: unsigned(z**n) for n in (3, 4, 5)},
    **{(3, n): folded("", n, "a") for n in (3, 4, 5)},
    (4, 3): lambda z: complex(
        -(z.real**2 - 3 * z.imag**2) * z.real, (3 * z.real**2 - z.imag**2) * z.imag
    ),
    (4, 4): folded("m", 4),
    (4, 5): folded("m", 5),
    (5, 2): folded("m", 2, "a"),
    (6, 2): folded("am", 2),
    (8, 2): folded("am", 2, "a"),
    (9, 2): folded("bm", 2, "a"),
    (10, 3): folded("a", 3, "bm"),
    (11, 3): folded("a", 3),
    (12, 3): folded("b", 3),
    (13, 3): folded("", 3, "b"),
    (15, 4): folded("b", 4),
    (16, 4): folded("a", 4),
    (17, 4): folded("am", 4),
    (18, 4): folded("b", 4, "a"),
    (19, 4): folded("a", 4, "a"),
    (20, 4): folded("am", 4, "a"),
    (21, 4): folded("", 4, "b"),
    (22, 4): folded("m", 4, "a"),
    (27, 5): folded("a", 5),
    (28, 5): folded("am", 5),
    (29, 5): folded("m", 5, "a"),
    (30, 5): folded("a", 5, "bm"),
    (33, 4): moth(2, 2),
    (40, 6): moth(3, 3),
    (41, 2): lambda z: unsigned(z) ** 2 - unsigned(z),
    (51, 4): lambda z: z * z * unsigned(z * z),
    (54, 2): moth(1, 1),
    (55, 3): moth(1, 2),
    (56, 3): moth(2, 1),
    (57, 4): moth(1, 3),
    (58, 4): moth(2, 2),
    (59, 4): moth(3, 1),
    (60, 5): moth(1, 4),
    (61, 5): moth(2, 3),
    (62, 5): moth(3, 2),
    (63, 5): moth(4, 1),
    (64, 6): moth(1, 5),
    (65, 6): moth(2, 4),
    (66, 6): moth(3, 3),
    (67, 6): moth(4, 2),
    (68, 6): moth(5, 1),
}


@pytest.mark.parametrize(("kind", "power"), NATIVE)
def test_formulas_with_numbers_of_their_own(kind, power):
    """30 points of each: the imaginary axis points down there, and no point is mirrored here."""
    scene, lost = scene_of(f"Zoom: 1\nFractalType: {kind}\nPower: {power}\n")
    assert lost == ()
    formula, mirrored = scene.make_formula(), scene.view.mirror
    for k in range(30):
        z = cmath.rect(1.3 * (k + 1) / 30, 2.4 * k)
        c = 0.3 - 0.2j
        wanted = NATIVE[kind, power](z) + c
        way = 1 if mirrored else -1  # the conjugate is drawn where that is the same picture
        found = complex(*formula.step(z.real, way * z.imag, c.real, way * c.imag))
        assert abs(complex(found.real, way * found.imag) - wanted) < 1e-12


def test_kalles_fraktaler_has_55_formulas_that_are_drawn():
    assert len(NATIVE) == 55
    assert {key for key in NATIVE if key[0]} == {*deep_zooms.native(), deep_zooms.MANDELBAR}


@pytest.mark.parametrize("ratio", ["381.176471", "180"])
def test_the_older_ratio_is_a_stretch_that_keeps_the_height(ratio):
    """The view is 640 / Ratio times as wide as high, in a picture of 640 x 360."""
    scene, lost = scene_of(f"Zoom: 2\nRatio: {ratio}\n")
    assert lost == ()
    scene = scene.replace(size=(640, 360))
    a, b, c, d = map(float, matrix(scene.view))
    pixel = float(scene.view.width) / 640
    right, up = a * 640 * pixel, d * 360 * pixel
    assert (b, c) == (0, 0)
    assert up == pytest.approx(4 / 2)
    assert right / up == pytest.approx(640 / float(ratio))


@pytest.mark.parametrize("up", [0, 1])
@pytest.mark.parametrize(("angle", "stretch"), [(0, (0, 0)), (35, (0, 0)), (-20, (25, 0.7))])
@pytest.mark.parametrize(("kind", "power"), STEPS)
def test_the_picture_is_its_picture(kind, power, angle, stretch, up):
    """Pixel by pixel; only where a formula forbids the conjugate is the view mirrored."""
    scene, lost = scene_of(
        f"Re: -0.4\nIm: 0.3\nZoom: 2.5\nIterations: {LIMIT}\nFractalType: {kind}\nPower: {power}\n"
        f"RotateAngle: {angle}\nImagPointsUp: {up}\n"
        f"StretchAngle: {stretch[0]}\nStretchAmount: {stretch[1]}\n"
    )
    raw = fractals.compute(scene.replace(size=SIZE, supersampling=1), device="python")
    assert not lost
    assert scene.view.mirror == (bool(up) if kind == 7 else kind in (1, 2) and not up)
    along, factor = cmath.exp(-1j * math.radians(stretch[0])), 2 ** stretch[1]
    turn = cmath.exp(1j * math.radians(angle))
    spacing = 4 / 2.5 / SIZE[1]
    different = compared = 0
    for j in range(SIZE[1]):
        down = (j + 0.5 - SIZE[1] / 2) * spacing
        for i in range(SIZE[0]):
            right = (i + 0.5 - SIZE[0] / 2) * spacing
            # R T S T' G of its matrix.cpp, which turns by -StretchAngle.
            move = complex(right, -down if up else down) / along
            move = complex(move.real * factor, move.imag / factor) * along
            c = complex(-0.4, 0.3) + turn * move
            wanted = {count(STEPS[kind, power], c + move) for move in (0, 1e-9, -1e-9, 1e-9j)}
            compared += len(wanted) == 1
            different += len(wanted) == 1 and int(raw.count[j, i]) not in wanted
    assert compared > 120
    assert different == 0


def shown(text, zoom=1.2):
    """Return the scene of a text, what was lost, and the c of each of its pixels."""
    scene, lost = scene_of(f"Re: -0.3\nIm: 0.2\nZoom: {zoom}\nIterations: {LIMIT}\n{text}")
    spacing = 4 / zoom / SIZE[1]
    left, top = (
        at - (count / 2 - 0.5) * spacing for at, count in zip((-0.3, 0.2), SIZE, strict=True)
    )
    places = [
        [complex(left + i * spacing, top + j * spacing) for i in range(SIZE[0])]
        for j in range(SIZE[1])
    ]
    return scene.replace(size=SIZE, supersampling=1), lost, places


@pytest.mark.parametrize("a", [None, 0.75, 1 - 0.5j])
@pytest.mark.parametrize("kind", deep_zooms.SUMS)
def test_sums_of_two_powers(kind, a):
    power = abs(deep_zooms.SUMS[kind])
    a = 2 if kind == 44 else a
    factor = "" if a is None else f"FactorAR: {a.real}\nFactorAI: {a.imag}\n"
    scene, lost, places = shown(f"FractalType: {kind}\nPower: {power}\n{factor}")
    raw = fractals.compute(scene, device="python")
    sign, a = (1 if deep_zooms.SUMS[kind] > 0 else -1), 1 if a is None else a

    def first(c):
        z = 0j
        for n in range(1, LIMIT):
            z = a * z * z + sign * z**power + c
            if abs(z) > 100:
                return n
        return LIMIT

    different = 0
    for j, row in enumerate(places):
        for i, c in enumerate(row):
            wanted = {first(c + move) for move in (0, 1e-9, -1e-9, 1e-9j)}
            different += len(wanted) == 1 and int(raw.count[j, i]) not in wanted
    assert different == 0
    assert len(set(raw.count.ravel().tolist())) > 5
    assert not lost


@pytest.mark.parametrize(("kind", "power"), [(97, 3), (98, 2), (98, 3), (98, 5)])
def test_nova_converges_to_where_it_does_there(kind, power):
    """There z is less by 1 than here, so that orbits begin at 0."""
    scene, lost, places = shown(f"FractalType: {kind}\nPower: {power}\n", zoom=8)
    raw = fractals.compute(scene, device="python")
    assert lost == (deep_zooms.CONVERGED,)
    compared = 0
    for j, row in enumerate(places):
        for i, c in enumerate(row):
            x = 0j
            for _ in range(LIMIT):
                y = x + 1
                x = ((power - 1) * y**power + 1) / (power * y ** (power - 1)) - 1 + c
            if raw.count[j, i] < LIMIT:  # the view is not mirrored, but conjugate
                compared += 1
                assert abs(complex(raw.z[j, i]).conjugate() - 1 - x) < 1e-4
    assert compared > 25
    written, _ = deep_zooms.write_kfr(scene.to_table())
    assert load_scene(deep_zooms.read_kfr(written, "").table).formula == scene.formula


def test_the_older_angle_is_in_radians_and_turns_the_other_way():
    old, _ = scene_of("Re: 0\nRotate: 0.5\n")
    new, _ = scene_of(f"Re: 0\nRotateAngle: {-math.degrees(0.5)!r}\n")
    assert old == new
    assert old.view.rotation == pytest.approx(math.degrees(0.5))


def test_width_follows_height_and_size():
    scene, _ = scene_of("Re: 0\nIm: 0\nZoom: 4E1086\n")
    assert scene.view.width == "1.777777777777777777777778E-1086"
    scene, _ = scene_of("Zoom: 4\nImageWidth: 300\nImageHeight: 100\n")
    assert (scene.view.width, scene.image.size) == ("3", (300, 100))
    scene, _ = scene_of("Power: 3\n")  # a formula alone has no place
    assert scene.view == Scene().view


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("0/1|0,0,0,0,3,1,0;0,0,0,0,0,0,0;0", "multibrot,power=3"),
        ("0/1|1,1,0,0,2,1,0;0,0,0,0,0,0,0;0", "burning_ship"),
        ("0/1|0,0,0,1,2,1,0;0,0,0,0,0,0,0;0", "tricorn"),
        ("0/1|0,1,0,0,2,1,0;0,0,0,0,0,0,0;0", "perpendicular_burning_ship"),
        ("0/1|1,0,0,0,2,1,0;0,0,0,0,0,0,0;0", "heart"),
    ],
)
def test_plain_hybrids_are_formulas(text, formula):
    scene, _ = scene_of(f"FractalType: 99\nUseHybridFormula: 1\nHybridFormula: {text}\n")
    assert scene.make_formula().label == formula


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "FractalType: 6\nPower: 3\n",
            "line 1: FractalType: the formula 'Perpendicular Mandelbrot' with power 3",
        ),
        (
            "FractalType: 97\nPower: 4\n",
            "the formula of FractalType 97 with power 4 is unsupported",
        ),
        (
            "FractalType: 42\nPower: 2\n",
            "the formula of FractalType 42 with power 2 is unsupported",
        ),
        ("Power: 65\n", "line 1: Power: the formula 'Mandelbrot' with power 65"),
        ("Re: 0\nRatio: -1\n", "line 2: Ratio: -1 is too far from 360"),
        ("Re: 0\nFractalType: 52\n", "line 2: FractalType: the formula of FractalType 52"),
        ("SeedR: 0.5\n", "line 1: SeedR: orbits that begin at 0.5"),
        ("UseHybridFormula: 1\nHybridFormula: 0/2|x\n", "line 2: HybridFormula"),
        ("Re: 1,5\n", "line 1: Re: '1,5' is not a decimal number"),
        ("Re: 0\nZoom: 0\n", "line 2: Zoom: '0' is not greater than 0"),
        ("Re: 0\n\nZoom: 1E9999999\n", "line 3: Zoom: '1E9999999' is beyond 1e"),
        ("Iterations: many\n", "line 1: Iterations: 'many' is not a whole number"),
        ("Colors: 1,2\n", "line 1: Colors: 2 numbers"),
        ("Colors: 1,2,256,\n", "line 1: Colors: '256' is not a number from 0 to 255"),
        ("Colors: \n", "line 1: Colors: 0 numbers"),
        ("IterDiv: 1e-300\n", "line 1: IterDiv: 1e-300 is too near 0"),
        ("hello\n", "line 1: 'hello' is not 'Key: value'"),
        ("hello: world\n", "no key of Kalles Fraktaler"),
        ("", "no key of Kalles Fraktaler"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, words):
    with pytest.raises(SceneError) as caught:
        read(text)
    assert words in str(caught.value)


def test_colors_are_blue_green_red():
    scene, _ = scene_of("Colors: 1,2,3,250,0,16,\r\nInteriorColor: 255,128,0,\r\n")
    assert scene.color.make_palette().stops == ((0.0, "#030201"), (0.5, "#1000fa"))
    assert scene.color.inside == "#0080ff"


@pytest.mark.parametrize(
    ("method", "transfer", "value", "step"),
    [(0, "linear", 300, 300.0), (1, "sqrt", 300, 300**0.5), (3, "log", 300, math.log(301))],
)
def test_a_count_has_its_step_of_the_palette(method, transfer, value, step):
    scene, _ = scene_of(f"IterDiv: 2\nColorMethod: {method}\nColorOffset: 100\n")
    curve = {"linear": value, "sqrt": value**0.5, "log": math.log2(1 + value)}[transfer]
    assert scene.color.transfer == transfer
    turns = scene.color.density * curve + scene.color.offset
    assert turns * 1024 == pytest.approx(step / 2 + 100)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Slopes: 1\n", "slopes (Slopes: 1)"),
        ("ColorMethod: 7\n", "how distance becomes color"),
        ("ColorMethod: 11\n", "fourth root"),
        ("UseOpenGL: 1\nGLSL: vec3\\ colour()\n", "colors by a shader of its own"),
        (
            "BailoutRadiusPreset: 3\nBailoutRadiusCustom: 1E10\n",
            "the escape radius of 1e+10: 1e+09 is the most",
        ),
        ("real: 0\n", "another norm in the escape test (real: 0)"),
        ("Iterations: 99000000000\n", "the limit of 99000000000 iterations"),
        ("Iterations: 18446744073709551615\n", "the limit of 18446744073709551615 iterations"),
        ("Re: 0\nFrobnicate: 3\n", "'Frobnicate: 3', which is not known"),
        ("SmoothMethod: 1\n", "linear smoothing (SmoothMethod: 1)"),
    ],
)
def test_what_is_lost_is_listed(text, words):
    assert [line for line in scene_of(text)[1] if words in line]


def test_defaults_lose_nothing():
    text = "Re: 0\nRatio: 360.000000\nSlopes: 0\nSlopePower: 50\nreal: 1\nimag: 1\nSeedR: 0\n"
    assert scene_of(text)[1] == ()


def test_samples_come_back_the_same(data):
    kept = 0
    for path in sorted((data / "formats" / "kfr").iterdir()):
        if "42-3" in path.name:
            continue
        first = load_scene({"iteration": {"max_iterations": 100_000}}, path)
        written, lost = deep_zooms.write_kfr(first.to_table())
        second = load_scene(deep_zooms.read_kfr(written, "").table)
        kept += not lost
        assert lost or second.unframed().replace(width=1) == first.unframed().replace(width=1)
        assert abs(Fraction(second.view.width) / Fraction(first.view.width or 1) - 1) < 1e-9 or lost
        assert deep_zooms.write_kfr(second.to_table())[0] == written
    assert kept == 4


decimals = st.decimals(-2, 2, allow_nan=False, places=30).map(str)
scenes = st.fixed_dictionaries(
    {
        "formula": st.sampled_from(
            [
                *("mandelbrot", "burning_ship", "buffalo", "celtic", "tricorn"),
                *("perpendicular_burning_ship", {"name": "multibrot", "power": 5}),
            ]
        ),
        "center": st.tuples(decimals, decimals),
        "width": st.tuples(st.integers(1, 10**20), st.integers(-9000, 2)).map(
            "{0[0]}e{0[1]}".format
        ),
        "rotation": st.floats(-180, 180, allow_nan=False),
        "mirror": st.booleans(),
        "stretch": st.sampled_from([1.0, 4.0]),
        "stretch_angle": st.just(0.0),
        "size": st.tuples(st.integers(1, 9999), st.integers(1, 9999)),
        "max_iterations": st.integers(1, 2_000_000_000),
        "escape_radius": st.sampled_from([100.0, 2.0, 1e6]),
        "coloring": st.sampled_from(["smooth", "count"]),
        "transfer": st.sampled_from(["linear", "sqrt", "log"]),
        "density": st.floats(1e-5, 1e3).map(lambda v: float(f"{v:.6g}")),
        "offset": st.integers(0, 1023).map(lambda k: k / 1024),
        "palette": st.fixed_dictionaries(
            {
                "stops": st.lists(st.sampled_from(["#000000", "#123456", "#fedcba"]), min_size=1),
                "space": st.just("srgb"),
                "blend": st.just("cosine"),
            }
        ),
        "inside": st.sampled_from(["#000000", "#010203"]),
    }
)


@settings(deadline=None, max_examples=60)
@given(scenes)
def test_scenes_come_back_the_same(keys):
    if keys["formula"] not in ("burning_ship", "buffalo", "perpendicular_burning_ship"):
        keys = {**keys, "mirror": False}  # the conjugate is the same picture, and comes back
    scene = Scene().replace(**keys)
    written, lost = deep_zooms.write_kfr(scene.to_table())
    assert lost == ()
    imported = deep_zooms.read_kfr(written, "")
    assert imported.lost == ()
    back = load_scene(imported.table)
    assert back.replace(width=1) == scene.replace(width=1, palette=back.color.palette)
    assert abs(Fraction(back.view.width) / Fraction(scene.view.width) - 1) < Fraction(1, 10**24)
    assert back.color.make_palette().stops == scene.color.make_palette().stops
    assert deep_zooms.write_kfr(back.to_table())[0] == written


@pytest.mark.parametrize(
    ("width", "size", "zoom"),
    [
        ("4", (90, 90), "1E0"),
        ("7.111111111111111111111111E-1086", (1920, 1080), "1E1086"),
        ("0.1234567890123456789012345", (97, 31), None),
        ("3." + "7" * 90, (1920, 1080), None),
    ],
)
def test_zooms_are_as_short_as_can_be(width, size, zoom):
    scene = Scene().replace(center=(0, 0), width=width, size=size, max_iterations=9, transfer="log")
    written, _ = deep_zooms.write_kfr(scene.to_table())
    text = written.decode().partition("Zoom: ")[2].partition("\r")[0]
    assert len(text) < 60
    assert zoom in (None, text)
    back = load_scene(deep_zooms.read_kfr(written, "").table)
    assert abs(Fraction(back.view.width) / Fraction(width) - 1) < Fraction(1, 10**24)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": "Sea"}, "the title"),
        ({"transfer": "auto"}, "the transfer 'auto'"),
        ({"palette": {"stops": [[0, "#000"], [0.1, "#fff"]]}}, "256 colors at equal steps"),
        ({"offset": 0.33}, "the offset of 0.33"),
        ({"density": -1}, "the density of -1"),
    ],
)
def test_what_a_location_cannot_say_is_listed(changes, words):
    _, lost = deep_zooms.write_kfr(Scene().replace(**changes).to_table())
    assert [line for line in lost if words in line]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"julia": ("0", "1")}, "no Julia sets"),
        ({"formula": "shark_fin"}, "no formula 'shark_fin'"),
    ],
)
def test_what_it_cannot_draw_is_refused(changes, words):
    with pytest.raises(SceneError, match=words):
        deep_zooms.write_kfr(Scene().replace(**changes).to_table())


# Hybrids: groups of lines of terms, in turn. The texts but the last are of its own formulas/.
NOTHING = "0,0,0,0,0,0,0"
PLAIN = (0, 0, 0, 0)
HYBRIDS = {
    "0/1|1,0,0,0,5,1,0;0,0,0,0,0,0,0;0|0,1,0,1,1,1,0;0,0,0,0,0,0,0;0": (
        [(1, [(((1, 0, 0, 0), 5, 1), (PLAIN, 0, 0), 0), (((0, 1, 0, 1), 1, 1), (PLAIN, 0, 0), 0)])],
        0,
    ),
    "0/1|1,1,0,0,2,1,0;1,1,0,0,1,1,0;1": (
        [(1, [(((1, 1, 0, 0), 2, 1), ((1, 1, 0, 0), 1, 1), 1)])],
        0,
    ),
    "0/1|0,0,0,0,2,1,0;1,1,0,0,2,1,0;2": ([(1, [((PLAIN, 2, 1), ((1, 1, 0, 0), 2, 1), 2)])], 0),
    "0/1|0,0,0,0,2,2,0;0,0,0,0,3,1,0;1": ([(1, [((PLAIN, 2, 2), (PLAIN, 3, 1), 1)])], 0),
    f"0/1|0,0,0,0,9,1,0;{NOTHING};0": ([(1, [((PLAIN, 9, 1), (PLAIN, 0, 0), 0)])], 0),
    f"0/1|1,0,0,1,2,1,0;{NOTHING};0": ([(1, [(((1, 0, 0, 1), 2, 1), (PLAIN, 0, 0), 0)])], 0),
    f"1/2|0,0,0,0,2,1,0;{NOTHING};0/1|1,1,0,0,2,1,0;{NOTHING};0|0,1,1,0,2,-0.5,0.25;{NOTHING};0"
    f"/3|0,0,0,0,3,1,0;{NOTHING};1": (
        [
            (2, [((PLAIN, 2, 1), (PLAIN, 0, 0), 0)]),
            (
                1,
                [
                    (((1, 1, 0, 0), 2, 1), (PLAIN, 0, 0), 0),
                    (((0, 1, 1, 0), 2, -0.5 + 0.25j), (PLAIN, 0, 0), 0),
                ],
            ),
            (3, [((PLAIN, 3, 1), (PLAIN, 0, 0), 1)]),
        ],
        1,
    ),
}


@pytest.mark.parametrize("text", HYBRIDS)
def test_hybrids_are_iterated_as_there(text):
    """Each group is an iteration: the counts are those of its groups in turn."""
    scene, lost, places = shown(f"UseHybridFormula: 1\nHybridFormula: {text}")
    raw, (groups, loop) = fractals.compute(scene, device="python"), HYBRIDS[text]
    unstable = 0
    for j, row in enumerate(places):
        for i, c in enumerate(row):
            found = int(raw.count[j, i])
            if naive.hybrid_count(groups, loop, c, LIMIT, 100) != found:
                moves = 1e-9, -1e-9, 1e-9j
                assert found in [naive.hybrid_count(groups, loop, c + d, LIMIT, 100) for d in moves]
                unstable += 1
    assert unstable < 9
    assert len(np.unique(raw.count)) > 3
    assert not lost
    written, _ = deep_zooms.write_kfr(scene.to_table())
    own = text.removesuffix("1") + "0" if text.endswith(f"{NOTHING};1") else text
    assert f"HybridFormula: {own}\r\n" in written.decode()
    assert load_scene(deep_zooms.read_kfr(written, "").table).formula == scene.formula


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "1 to 8 groups are expected"),
        ("0", "1 to 8 groups are expected"),
        ("x/1|" + f"0,0,0,0,2,1,0;{NOTHING};0", "1 to 8 groups are expected"),
        (f"1/1|0,0,0,0,2,1,0;{NOTHING};0", "the loop starts at group 1 of 1"),
        (f"0/0|0,0,0,0,2,1,0;{NOTHING};0", "a group is repeated '0' times"),
        ("0/1", "1 to 8 lines in a group are expected"),
        ("0/1|0,0,0,0,2,1,0", "a line is two terms and how they are joined"),
        (f"0/1|0,0,0,0,2,1,0;{NOTHING};3", "terms are joined by '3', not by 0, 1 or 2"),
        (f"0/1|0,0,0,0,2,1,0;{NOTHING};2", "a line is multiplied by 0"),
        (f"0/1|{NOTHING};0,0,0,0,2,1,0;0", "a line is multiplied by 0"),
        (f"0/1|0,0,0,0,0,1,0;{NOTHING};0", "the power 0 is not from 1 to 64"),
        (f"0/1|0,0,0,0,2,1;{NOTHING};0", "'0,0,0,0,2,1' is not a term"),
        (f"0/1|0,0,0,0,2,1.2.3,0;{NOTHING};0", "is not a term"),
        ("0/1" + "|0,0,0,0,2,1,0;1,1,0,0,2,1,0;0" * 6, "a group has more than 500 characters"),
    ],
)
def test_hybrids_without_an_expression_are_refused_in_one_line(text, words):
    with pytest.raises(SceneError) as caught:
        read(f"UseHybridFormula: 1\nHybridFormula: {text}\n")
    assert words in str(caught.value)
    assert str(caught.value).startswith("line 2: HybridFormula: ")
    assert "\n" not in str(caught.value)


def test_formulas_of_the_catalog_are_written_as_hybrids_where_it_has_no_other():
    for name, lines in [
        ("heart", ["1,0,0,0,2,1,0"]),
        ("celtic_heart", ["1,0,0,0,2,1,0", "1,0,0,0,1,1,0"]),
    ]:
        written, _ = deep_zooms.write_kfr(load_scene(formula=name, max_iterations=99).to_table())
        text = "|".join(f"{line};{NOTHING};0" for line in lines)
        assert f"HybridFormula: 0/1|{text}\r\n" in written.decode()
        assert load_scene(deep_zooms.read_kfr(written, "").table).formula.name == name


@pytest.mark.parametrize("formula", ["z^2 + c*z", "sin(z) + c", "z^2 + z + 1 + c", "c*z^2"])
def test_expressions_that_are_no_hybrid_are_not_written(formula):
    with pytest.raises(SceneError, match="has no formula '"):
        deep_zooms.write_kfr(load_scene(formula=formula, max_iterations=99).to_table())
