"""Entries of Fractint: formulas of files, views, colors, and what is refused or lost."""

import cmath
import math
from pathlib import Path

import numpy as np
import pytest
from support.fractint import LIMIT, differing, mod, norm, read, run

import fractals
from fractals.cli.verbs import run_verb
from fractals.errors import SceneError
from fractals.formulas.language.syntax import text_of
from fractals.io.foreign import formats, par
from fractals.io.foreign._entries import KNOWN
from fractals.io.foreign._fractint import letters_of
from fractals.io.foreign._screen import ScreenView
from fractals.io.load import load_scene
from fractals.scene import geometry


def test_the_ship_is_mirrored_in_the_formula():
    scene, _ = read("burning-ship center-mag=-1.75/-0.03/50")
    assert (scene.view.center, scene.view.mirror) == (("-1.75", "0.03"), True)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("burning-ship params=0/0/1", "the type 'burning-ship params=0/0/1' is unsupported"),
        ("lambdafn function=foo", "the type 'lambdafn function=foo' is unsupported"),
        ("bifurcation", "the type 'bifurcation' draws a population over its growth rate"),
        ("biflambda", "over its growth rate, which this program does not draw"),
        ("icons3d", "'icons3d' draws the points of one orbit, and of such types henon, icons,"),
        ("latoocarfian function=sin/sin/sin/sinh", "function: the type 'latoocarfian' of other"),
        ("cellular params=5/3311100320/41", "the first row 5 is not up to 16 digits below 4"),
        ("cellular params=11/3311100320/99", "the type of cells 99 is none of 21,"),
        ("cellular params=11/33111003200/41", "the rule 33111003200 is not up to 10 digits"),
        ("cellular params=11/0/41", "the rule 0 is random"),
        ("unity", "the type 'unity' is unsupported"),
        ("mandel bailoutest=foo", "'foo' is none of mod, real, imag, or, and, manh, manr"),
        ("mandel invert=1", "invert: 1 value, and not 3: others depend on the screen"),
        ("mandel bailout=-1", "line 2: bailout: -1 is less than 0"),
        ("formula formulafile=a.frm formulaname=Moth", "the formula 'Moth' is not in this file"),
        ("formula formulafile=a.frm formulaname=Moth", "no file 'a.frm' is beside it"),
    ],
)
def test_other_types_are_refused(entry, words):
    with pytest.raises(SceneError) as caught:
        read(entry)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("Burning_Ship", "burning_ship"),
        ("Celtic_Mandelbrot", "celtic"),
        ("Buffalo", "buffalo"),
        ("Mandelbar", "tricorn"),
    ],
)
def test_a_formula_of_a_file_by_its_name(name, formula):
    scene, lost = read(f"formula formulafile=deep.frm formulaname={name} center-mag=-1.7/0/2")
    assert scene.make_formula().name == formula
    assert lost == (
        f"the formula '{name}' of 'deep.frm', which is not found: the one that usually "
        "has this name is drawn",
    )


@pytest.mark.parametrize("name", [name for name, (_, match) in KNOWN.items() if match])
def test_a_known_formula_counts_as_its_text(name):
    """A text with a parameter that changes nothing is followed; ours is its match."""
    entry = f"formula formulaname={name} center-mag=-0.6/0.3/0.7"
    ours, _ = read(entry)
    text, _ = read(f"{entry} params=0/0/0/0/1e-30")
    ours, text = (
        fractals.compute(s.replace(size=(16, 12), supersampling=1), device="python")
        for s in (ours, text)
    )
    earlier = 0 if name == "spider" else 1  # ours begin at 0
    inner = (text.count > 1) & (text.count < LIMIT - 1)
    assert inner.sum() > 30
    assert (ours.count[inner] == text.count[inner] + earlier).all()


# A formula of a file, the keys of its entry, and the count of a pixel.
FORMULAS = [
    (
        "z = c = pixel: ; comments end lines\n z = sqr(z) + c\n |z| <= 4",
        "",
        lambda p: run(p, lambda z: z * z + p, lambda z: norm(z) > 4),
    ),
    (  # variables that change at once, and numbers of the entry
        "a=real(p1), b=imag(p1), c=real(p2),\nd=imag(p2), e=real(p3), f=imag(p3):\n"
        "g=(a^c)-(b^d)+pixel\nb=e*a*b+f\na=g,\n|a|+|b| <= 100",
        "params=-0.15/1/2/1/1/1",
        lambda p: run(
            -0.15, lambda a, b: (a * a - b + p, a * b + 1),
            lambda a, b: norm(complex(a)) + norm(complex(b)) > 100, -0.15, (1,)),
    ),
    (  # powers that are no whole numbers
        "z=real(pixel)+flip(real(p1)),\nc=flip(imag(pixel))+imag(p1):\nz=(-z)^p2+(p3*c),\n"
        "|z| <= 16",
        "params=0/-1.15/1.5/0/1/0",
        lambda p: run(
            p, lambda z: cmath.exp(1.5 * cmath.log(-z)) + complex(-1.15, p.imag),
            lambda z: norm(z) > 16, p.real),
    ),
    (  # if, elseif, else; names in any case; fn1
        "Z = Pixel\n n = 0:\n IF (n < 3)\n z = FN1(z) + pixel\n ELSEIF (real(z) > 0)\n"
        " z = z*z\n ELSE\n z = conj(z)*z + p1\n ENDIF\n n = n + 1\n |z| < 50",
        "function=cos params=0.2/0.1",
        lambda p: run(
            p, lambda z, n: (
                (cmath.cos(z) + p if n < 3 else z * z if z.real > 0
                 else z.conjugate() * z + 0.2 + 0.1j), n + 1),
            lambda z, n: norm(z) >= 50, more=(0,)),
    ),
    (  # LastSqr, a test of what a step computed on the way
        "z = pixel, z = sqr(z):\n z = z + pixel\n z = sqr(z)\n LastSqr <= 4",
        "",
        lambda p: run(
            p, lambda z, s: ((z + p) ** 2, z + p), lambda z, s: norm(s) > 4, p * p, (0,)),
    ),
    (  # values of comparisons, assignments within an expression
        "z=p1, x=1:\n (x<3)*(z=sqr(z)+pixel)\n x=x+1\n w = (3<=x)*2\n z = z + w*0.1\n |z|<=4",
        "",
        lambda p: run(
            p, lambda z, x: (z * z + p + (0.2 if x + 1 >= 3 else 0), x + 1),
            lambda z, x: norm(z) > 4, 0, (1,)),
    ),
    (  # a minus sign binds as tightly as a power; complex numbers; |real part| of both
        "z = pixel:\n z = -z^2 + (0.3, -0.2)\n |real(z)| <= 4 || |imag(z)| <= 4",
        "",
        lambda p: run(
            p, lambda z: z * z + 0.3 - 0.2j, lambda z: z.real**2 > 4 and z.imag**2 > 4),
    ),
    (  # abs of both parts, cabs, round, floor, and a variable named c that changes
        "c = z = pixel:\n z = abs(z)*z + c\n c = floor(c*4)/4 + round(z)/9\n cabs(z) < 6",
        "",
        lambda p: run(
            p, lambda z, c: (
                complex(abs(z.real), abs(z.imag)) * z + c,
                step_of(c) + rounded(complex(abs(z.real), abs(z.imag)) * z + c) / 9),
            lambda z, c: abs(z) >= 6, more=(p,)),
    ),
    (  # predefined names
        "z = pixel:\n z = z*z + e/10 + pi/100 + ismand*center/10 + maxit/1000\n |z| < 4",
        "center-mag=0.1/0.2/0.5",
        lambda p: run(
            p, lambda z: z * z + cmath.e / 10 + cmath.pi / 100 + (0.1 + 0.2j) / 10 + LIMIT / 1000,
            mod(4)),
    ),
]  # fmt: skip


def checked_square(p):
    """Return whether the column and the row of a pixel of 640x480, by the first view, are odd."""
    column, row = (p.real + 2) * 639 / 4, (1.5 - p.imag) * 479 / 3
    return (int(np.floor(column + 0.5)) + int(np.floor(row + 0.5))) % 2


# What is predefined in the first view, and by the keys of an entry.
FORMULAS += [
    (
        "z = pixel:\n z = z*z + pixel + real(magxmag)/9 + imag(magxmag)/8 + rotskew + center\n"
        " |z| < 4",
        "",
        lambda p: run(p, lambda z: z * z + p + (2 / 3) / 9 + 1 / 8, lambda z: norm(z) >= 4),
    ),
    (  # a half turn, as Fractint writes it
        "z = pixel:\n z = z*z + real(magxmag)/9 + imag(magxmag)/8 + rotskew/999 + center\n"
        " |z| < 4",
        "center-mag=0.1/0.2/-0.5",
        lambda p: run(
            0.2 + 0.4j - p, lambda z: z * z + 0.5 / 9 + 1 / 8 + 180 / 999 + 0.1 + 0.2j,
            lambda z: norm(z) >= 4),
    ),
    (
        "z = pixel:\n z = z*z + real(magxmag)/9 + imag(magxmag)/8 + rotskew + center\n"
        " |z| < 4",
        "corners=-2/2/-1/2",
        lambda p: run(
            p, lambda z: z * z + (2 / 3) / 9 + 1 / 8 + 0.5j, lambda z: norm(z) >= 4),
    ),
    (
        "z = pixel:\n z = z*z + pixel + whitesq/9\n |z| < 4",
        "",
        lambda p: run(p, lambda z: z * z + p + checked_square(p) / 9, lambda z: norm(z) >= 4),
    ),
    (  # columns to the right, rows down, in the picture
        "z = pixel:\n z = z*z + pixel + (real(scrnpix)/real(scrnmax) + imag(scrnpix)/imag(scrnmax))"
        "/9\n |z| < 4",
        "center-mag=0/0/-0.5",
        lambda p: run(
            -p, lambda z: z * z - p + (
                np.floor((p.real + 8 / 3) * 639 / (16 / 3) + 0.5) / 640
                + np.floor((2 - p.imag) * 479 / 4 + 0.5) / 480) / 9,
            lambda z: norm(z) >= 4),
    ),
    (  # blanks within names, numbers and marks mean nothing, and "else if" is "elseif"
        "z = pix el:\n if (real(z) > 1 0)\n z = z*z\n else if (real(z) < = - 1)\n z = z - c o s(z)"
        "\n else z = z*z*z endif\n | z| < 2 5 & & 1",
        "",
        lambda p: run(
            p,
            lambda z: z * z if z.real > 10 else z - np.cos(z) if z.real <= -1 else z * z * z,
            lambda z: norm(z) >= 25,
        ),
    ),
    (  # a variable that some sides of a condition set, and that is read on these alone
        "z = pixel\n if (real(z) > 0)\n t = z + 1, z = t*t\n elseif (imag(z) > 0)\n"
        " t = 2, z = t*z\n endif\n:\n z = z*z + pixel\n |z| < 4",
        "",
        lambda p: run(
            (p + 1) ** 2 if p.real > 0 else 2 * p if p.imag > 0 else p,
            lambda z: z * z + p,
            lambda z: norm(z) >= 4,
        ),
    ),
    (  # what is never set is 0, and a side that no sample takes need not be
        "z = pixel + never\n IF (p1 == 0)\n k = 0.5\n ENDIF:\n z = z*z + pixel + never + k\n"
        " |z| < 4",
        "",
        lambda p: run(p, lambda z: z * z + p + 0.5, lambda z: norm(z) >= 4),
    ),
]  # fmt: skip
LOST = {
    "whitesq": "the pixels of the screen (whitesq): 640x480 in this view",
    "scrnpix": "the pixels of the screen (scrnpix, scrnmax): 640x480 in this view",
    "never": "'never' is never set, so it is 0",
}


def step_of(c):
    return complex(np.floor(c.real * 4), np.floor(c.imag * 4)) / 4


def rounded(z):
    return complex(np.floor(z.real + 0.5), np.floor(z.imag + 0.5))


@pytest.mark.parametrize(("text", "keys", "count"), FORMULAS, ids=range(len(FORMULAS)))
def test_a_formula_in_the_same_file(text, keys, count):
    scene, lost = read(f"formula formulaname=Own {keys}", f"frm:own(XAXIS) {{{text}\n}}")
    assert lost == tuple(line for name, line in LOST.items() if name in text)
    assert load_scene(scene.to_table()) == scene  # the scene needs no file but itself
    different, compared = differing(scene, count)
    assert compared > 60
    assert different == 0


def test_a_variable_that_is_read_where_no_side_sets_it_is_told():
    text = "if (real(pixel) > 0)\n c = 1\n endif\n z = c: z = z*z + pixel, |z| < 4"
    scene, lost = read("formula formulaname=Own", f"frm:own {{{text}\n}}")
    left = "0 here, and in Fractint what the sample before left"
    assert lost == (f"'c' where an 'if' does not set it: {left}",)
    assert scene.formula.start == "z = if(re(c) > 0.0, 1.0, 0.0)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("z = pixel\n z = z*z, |z| < 4", "it has no ':'"),
        ("z = pixel: z = srand(3)*z, |z| < 4", "'srand' is random"),
        ("n = n + 1, z = pixel: z = z*z, |z| < 4", "'n' is read before it is set: there it has"),
        ("t = z, z = pixel: z = z*z + t, |z| < 4", "what the sample before left in it"),
        ("z = pixel: z = z*z ?, |z| < 4", "unknown character '?'"),
        ("z = pixel: if (z < 1)\n z = z*z\n |z| < 4", "not the end"),
        ("z = pixel: z = (z*z, |z| < 4", "not ','"),
        ("z = pixel:", "no condition under which an orbit goes on"),
        ("z = pixel: sin = z, |z| < 4", "'sin' is no variable"),
        ("z = pixel: z = z*" + "(" * 60 + "z" + ")" * 60 + ", |z| < 4", "nested deeper"),
        ("z = pixel: z = " + "+".join(["z"] * 400) + ", |z| < 4", "nested deeper"),
        ("z = pixel: " + "z = z*z, " * 2000 + "|z| < 4", "more than 3000 words"),
        ("z = pixel: " + "z = sin(z), " * 200 + "|z| < 4", "nested deeper"),
        (
            "z=a=b=d=f=g=h=j=k=l=m=n=pixel: a=b*z+1,b=d*z+2,d=f*z+3,f=g*z+4,g=h*z+5,h=j*z+6,"
            "j=k*z,k=l*z,l=m*z,m=n*z,n=a*z,z=a+z,|z|<4",
            "20 numbers beside z, and 18 are the most",
        ),
        (
            "z = pixel: z = " + "*".join(f"sin(z+{k})" for k in range(60)) + ", |z| < 4",
            "operations",
        ),
    ],
)
def test_a_formula_that_does_not_fit_is_refused_with_its_reason(text, words):
    with pytest.raises(SceneError) as caught:
        read("formula formulaname=Own", f"frm:Own {{ {text} }}")
    assert "the formula 'Own': " in str(caught.value)
    assert words in str(caught.value)


def entry_file(folder, text):
    path = folder / "own.par"
    path.write_text(text)
    return str(path)


def test_a_formula_of_a_file_beside_the_entry(tmp_path):
    path = entry_file(
        tmp_path, "a { type=formula formulafile=c:/fractint/MANY.frm formulaname=second maxiter=9 }"
    )
    with pytest.raises(SceneError, match=r"no file '.*' is in its folder, \.\./formula, "):
        load_scene(path)
    text = "comment { text }\nfirst { z = pixel: z = z*z, |z| < 4 }\n"
    (tmp_path / "many.frm").write_text(text + "Second (XAXIS) {; words\nz = 0:\n z = z*z + pixel\n"
                                       "|z| < 9\n}\n")  # fmt: skip
    scene = load_scene(path)
    assert scene.make_formula().parameters["test"] == "norm(z) < 9.0"
    assert formats.entries(path) == [("a", "type formula")]


@pytest.mark.parametrize("name", ["../secret.frm", "/etc/passwd", "linked.frm", "folder"])
def test_files_elsewhere_are_not_read(tmp_path, name):
    folder = tmp_path / "inner"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "secret.frm").write_text("own { z = pixel: z = z*z + pixel, |z| < 4 }")
    (folder / "linked.frm").symlink_to(tmp_path / "secret.frm")
    path = entry_file(folder, f"a {{ type=formula formulafile={name} formulaname=own }}")
    with pytest.raises(SceneError, match=r"no file '.*' is in its folder, \.\./formula, "):
        load_scene(path)


def test_colors_of_a_file_beside_the_entry(tmp_path):
    path = entry_file(tmp_path, "a { colors=@Chroma inside=0 } b { colors=@none.map }")
    (tmp_path / "chroma.MAP").write_text("1 2 3\n4 5 6\n7 8 9\n")
    lost = []
    scene = load_scene(path + "#a", lost=lost)
    assert lost == []
    assert scene.color.inside == "#010203"
    assert [str(color) for _, color in scene.to_table()["color"]["palette"]["stops"]] == [
        "#040506",
        "#070809",
    ]
    load_scene(path + "#b", lost=lost)
    assert (
        "the palette in the file 'none.map', which is not in its folder, ../map, ../maps, maps/"
        in lost[0]
    )


def test_names_of_entries_may_hold_the_mark(tmp_path):
    path = entry_file(tmp_path, "p#3 { maxiter=7 } p#4 { maxiter=8 }")
    assert [name for name, _ in formats.entries(path)] == ["p#3", "p#4"]
    assert load_scene(path + "#p#4").iteration.max_iterations == 8
    assert formats.split("a#b.par#p#3") == (Path("a#b.par"), "p#3")


def test_a_backslash_before_blanks_goes_on():
    scene = load_scene(
        par.read_par(b"a { center-mag=-0.5/0.0000\\ \t\n  0093/2 maxiter=7}", "").table
    )
    assert scene.view.center == ("-0.5", "0.00000093")


def corners_of(scene):
    """Return the places of the corners of a picture of the scene's size."""
    width, center = geometry.place_of(scene)
    a, b, c, d = map(float, geometry.matrix(scene.view))
    across, down = float(width) / 2, float(width) / 2 * 3 / 4
    x, y = map(float, center)
    return [
        complex(x + a * u + b * v, y + c * u + d * v)
        for u, v in ((-across, down), (across, down), (-across, -down))
    ]


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ("corners=-1/1/-2/2", (-1 + 2j, 1 + 2j, -1 - 2j)),
        ("corners=1/-1/-1/2", (1 + 2j, -1 + 2j, 1 - 1j)),
        ("corners=-1/1/1/-1", (-1 - 1j, 1 - 1j, -1 + 1j)),
        ("corners=3/0/0/4/0/4", (3 + 4j, 3 + 0j, 0 + 4j)),
        ("center-mag=-0.5/0.25/0.5/2", (-0.5 + 0.25j + complex(-4 / 3, 2),)),
        ("center-mag=1/0/0.5/-0.5", (1 + complex(16 / 3, 2), 1 + complex(-16 / 3, 2))),
        ("center-mag=0/0/1/0.5/90", (complex(1, 8 / 3),)),
        ("center-mag=1/2/-0.5", (complex(1 + 8 / 3, 0), complex(1 - 8 / 3, 0))),
        ("center-mag=0/0/-1/0.5/90", (complex(-1, -8 / 3),)),
        ("center-mag=0/0/1/0", (complex(-4 / 3, 1), complex(4 / 3, 1))),
    ],
)
def test_stretched_and_mirrored_views_keep_their_corners(keys, wanted):
    """Corners: at the top left, at the top right and at the bottom left."""
    table = par.read_par(f"a {{ {keys} }}".encode(), "").table
    height = float(load_scene(table).view.width) * 9 / 16
    scene = load_scene(table).replace(size=(640, 480), width=repr(height * 4 / 3))
    assert corners_of(scene)[: len(wanted)] == pytest.approx(list(wanted), abs=1e-12)


def test_random_numbers_are_even_and_the_same_in_each_picture():
    scene, lost = read("formula formulaname=Own", "frm:Own { z = 0: z = z + rand, |z| < 1e4 }")
    assert lost == ("rand, which is random in each picture: the same numbers in each here",)
    scene = scene.replace(size=(40, 30), supersampling=1, max_iterations=400)
    raw, again = (fractals.compute(scene, device="cpu") for _ in range(2))
    assert (raw.z == again.z).all()
    sums = raw.z / (raw.count / 12) ** 0.5  # of some 140 numbers from 0 to 1 and their variance
    assert raw.count.mean() == pytest.approx(100 * 2**0.5, abs=1)
    for part in (sums.real, sums.imag):
        assert part.mean() == pytest.approx((3 * 100 * 2**0.5) ** 0.5, rel=0.01)
    across = sums.real - sums.imag  # the sum of both parts is that at which orbits end
    assert across.std() == pytest.approx(2**0.5, rel=0.1)
    assert abs(np.corrcoef(across[:, 1:].flat, across[:, :-1].flat)[0, 1]) < 0.1


@pytest.mark.parametrize(
    "given", [(0.5, 1, 0, 0), (2, -1.5, 30, 0), (-1, 0.5, 100, 20), (3, 1, 0, -9)]
)
def test_corners_of_the_screen_are_pixels(given):
    """Fractint finds the same numbers from the corners, with a positive magnification."""
    view = ScreenView.magnified(0.3 - 0.2j, *given)
    names = {"round": rounded, "floor": step_of_one, "i": 1j}
    trees = {name: text_of(tree) for name, tree in view.pixels().items()}
    opposite = view.top_left + view.bottom_right - view.bottom_left
    for corner, pixel in (
        (view.top_left, 0),
        (view.bottom_right, 639 + 479j),
        (view.bottom_left, 479j),
        (opposite, 639),
    ):
        place = view.center + corner
        names |= {"c": place, "re": lambda z: z.real, "im": lambda z: z.imag}
        assert eval(trees["scrnpix"], {}, names) == pixel
        assert eval(trees["whitesq"], {}, names) == (pixel.real + pixel.imag) % 2
    magnification, factor, rotation, skew = given
    turn = 180 * (magnification < 0)
    found = view.names()
    assert found["magxmag"] == pytest.approx(complex(abs(magnification), factor))
    assert found["rotskew"] == pytest.approx(complex((rotation + turn + 180) % 360 - 180, skew))


def step_of_one(z):
    return complex(np.floor(z.real), np.floor(z.imag))


def test_what_a_first_view_gives_is_drawn(data):
    found = dict(formats.entries(str(data / "formats" / "open" / "first-view.frm")))
    assert [name for name, about in found.items() if about == "a formula"] == ["rot", "mag", "a/b"]
    assert "'z' is read before it is set" in found["noz"]
    assert "it has no ':'" in found["noloop"]


@pytest.mark.parametrize(
    "keys",
    [
        "center-mag=0.1/0.2/1/1/0/10",
        "center-mag=0.1/0.2/3/0.7/25/-30",
        "center-mag=0.1/0.2/-2/1.5/-100/45",
        "center-mag=0.1/0.2/2/-0.8/20/15",
        "corners=-1/1/-1/1/0/-1",
        "corners=-1.2/1/-1/0.9/0.3/-0.7",
        "corners=1.2/-1/-1/0.9/-0.3/-0.7",
    ],
)
@pytest.mark.parametrize("kind", ["mandel", "barnsleym1", "burning-ship"])
def test_the_sides_of_a_view_make_any_angle(kind, keys):
    """The corners of the picture are Fractint's, in a view of 4:3."""
    scene, lost = read(f"{kind} {keys}")
    assert not lost
    name, _, text = keys.partition("=")
    screen = par.screen_of({name: (text, name)})
    turned = kind == "burning-ship"  # drawn at the conjugate
    a, b, c, d = map(float, geometry.matrix(scene.view))
    h = float(scene.view.frame[1])
    center = complex(*map(float, scene.view.center))
    for corner, (x, y) in (
        (screen.top_left, (-2 / 3, 0.5)),
        (screen.bottom_right, (2 / 3, -0.5)),
        (screen.bottom_left, (-2 / 3, -0.5)),
    ):
        found = center + h * complex(a * x + b * y, c * x + d * y)
        wanted = screen.center + corner
        assert found == pytest.approx(wanted.conjugate() if turned else wanted, abs=1e-9)


def test_what_is_lost():
    assert read("newton")[1] == ()
    assert "the colors of the roots" in read("newtbasin")[1]
    assert "the colors of the attractors" in read("frothybasin")[1]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("outside=real", "numbers of colors below 1, which are 1 there, go round ('outside=real')"),
        ("outside=-2", "numbers of colors below 1, which are 1 there, go round ('outside=real')"),
        ("outside=mult", "the quotient of both parts of the last z"),
        ("outside=mult logmap=9 colors=000<254>zzz", "the quotient of both parts of the last z"),
        ("outside=atan logmap=9 colors=000<254>zzz", "the curve of colors (logmap=9): counts go"),
        ("potential=255/200/0", "the continuous potential, which blends the bands of counts"),
        ("potential=255/-9 colors=000zzz<9>000", "the continuous potential, which blends"),
        ("inside=bof60", "the least |z| of the orbit, which gives the colors inside"),
        ("inside=zmag", "|z|² after the last step, which gives the colors inside"),
        ("inside=-102", "the period of the cycle, which gives the colors inside"),
        ("biomorph=0", "one color where only one part of the last z is large"),
        ("distest=1", "the distance to the set, which gives the colors"),
        ("ranges=0/9/-2", "that share a color (line 2: ranges: '0/9/-2' are no counts that rise)"),
        ("ranges=0/9/20", "ranges of counts that share a color (ranges=0/9/20): counts go round"),
        ("logmap=5", "the curve of colors (logmap=5): counts go round the colors evenly"),
        ("logmap=b", "the curve of colors (line 2: logmap: 'b' is not a decimal number such"),
        ("logmode=auto", "the least count at the edge of the screen"),
    ],
)
def test_losses_say_what_the_picture_lacks(keys, words):
    (line,) = read(f"mandel {keys}")[1]
    assert words in line


GRAY = "colors=000<254>zzz"  # number k is gray k


def drawn_grays(entry):
    """Return a scene's pixels as numbers of colors, and its samples."""
    scene = read(f"{entry} {GRAY}")[0].replace(size=(24, 18), supersampling=1)
    raw = fractals.compute(scene, device="python")
    pixels = fractals.recolor(raw, device="python").pixels[..., 0].astype(int)
    return pixels, raw


def test_counts_are_numbers_of_colors():
    pixels, raw = drawn_grays("barnsleym1")
    out = raw.count < LIMIT
    assert np.abs(pixels - raw.count)[out].max() <= 1


@pytest.mark.parametrize(
    ("entry", "radius", "given"),
    [
        ("mandel potential=255/200/0", 2, (255, 200)),
        ("mandel bailout=9 potential=255/2000/40/16bit", math.sqrt(40), (255, 2000)),
        ("julia params=-0.1/0.7 potential=99/60.5/1000 outside=atan", math.sqrt(1000), (99, 60.5)),
    ],
)
def test_the_potential_gives_the_numbers_of_colors(entry, radius, given):
    pixels, raw = drawn_grays(entry)
    out = raw.count < LIMIT
    assert raw.scene.iteration.escape_radius == pytest.approx(radius)
    most, slope = given
    with np.errstate(divide="ignore", invalid="ignore"):
        number = most - 1 - slope * np.sqrt(np.log(abs(raw.z) ** 2) / 2.0 ** (raw.count + 2))
    assert np.abs(pixels - np.maximum(np.floor(number), 1))[out].max() <= 1
    assert len(set(pixels[out])) > 20
    assert not any("potential" in line for line in read(f"{entry} {GRAY}")[1])


def test_a_type_of_another_degree_has_no_potential():
    (line,) = read(f"marksmandel params=0/0/3/0 potential=255/200/0 {GRAY}")[1]
    assert "the continuous potential" in line


def numbers_of_counts(keys, steps):
    """Return the number of the color of each count up to the limit, after Fractint's documents."""
    key, _, text = keys.partition("=")
    numbers = {}
    if key == "ranges":  # "all counts up to 10, then up to 30 in stripes of 5, ..."
        color, count, parts = 0, 0, text.split("/")
        while parts:
            part = int(parts.pop(0))
            width = -part if part < 0 else 0
            end = int(parts.pop(0)) if width else part
            begin, end = count, steps if not parts else end
            while count <= end:
                stripe = (count - begin) // width % 2 if width else 0
                numbers[count] = color + stripe
                count += 1
            color += 2 if width else 1
        return numbers
    flag = {"yes": 1, "old": -1}.get(text) or int(text)
    low = abs(flag) if abs(flag) > 1 else 0
    for count in range(1, steps):
        n, colors = count - low, 255 if low == 0 else 254
        if flag == -1:
            numbers[count] = 1 + math.floor(colors * math.log(count) / math.log(steps))
        elif n <= (1 if flag > 0 else 0):
            numbers[count] = 1
        elif flag > 0:
            curved = colors * math.log(n) / math.log(steps - low)
            numbers[count] = n if n <= curved else 1 + math.floor(curved)
        else:
            curved = colors * math.sqrt(n / (steps - low))
            numbers[count] = 1 + (n if n <= curved else math.floor(curved))
    return numbers


# Keys, a limit, and a view whose counts have many values
CURVES = [
    ("logmap=yes", 2000, "-0.7436/0.1318/900"),
    ("logmap=yes", 20, "-0.5/0/0.7"),  # so few that each has its own number
    ("logmap=old", 2000, "-0.7436/0.1318/900"),
    ("logmap=-1", 150, "-0.7436/0.1318/90"),
    ("logmap=40", 2000, "-0.7436/0.1318/900"),
    ("logmap=2", 150, "-0.7436/0.1318/90"),
    ("logmap=9999", 150, "-0.7436/0.1318/90"),  # beyond the limit: one color
    ("logmap=-30", 2000, "-0.7436/0.1318/900"),
    ("ranges=0/10/50/-7/90/300", 2000, "-0.7436/0.1318/900"),
    ("ranges=30/-1/70", 150, "-0.7436/0.1318/90"),
    ("logmap=yes ranges=0/3/9", 20, "-0.5/0/0.7"),
]


@pytest.mark.parametrize(("keys", "steps", "view"), CURVES)
def test_a_curve_gives_each_count_its_number_of_a_color(keys, steps, view):
    entry = f"mandel {keys} maxiter={steps} inside=0 center-mag={view} {GRAY}"
    scene, lost = read(entry)
    found, _ = drawn_grays(entry)
    numbers = numbers_of_counts(keys.split()[-1], steps)
    scene = scene.replace(size=(24, 18), supersampling=1)
    width, (x, y) = float(scene.view.width), map(float, scene.view.center)
    seen = set()
    for j in range(18):
        for i in range(24):
            c = z = complex(x + (i - 11.5) * width / 24, y + (8.5 - j) * width / 24)
            for count in range(1, steps):
                z = z * z + c
                if norm(z) >= 4:
                    assert found[j, i] == numbers[count]
                    seen.add(numbers[count])
                    break
            else:
                assert found[j, i] == 0
    assert len(seen) > 1 or keys == "logmap=9999"
    assert lost == ()


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ("real", lambda z: int(z.real) + 7),
        ("imag", lambda z: int(z.imag) + 7),
        ("summ", lambda z: int(z.real + z.imag)),
    ],
)
@pytest.mark.parametrize("curve", ["logmap=yes", "logmap=3", "ranges=0/6/9/-2/30"])
def test_a_curve_takes_the_parts_that_are_added_to_counts(curve, rule, part):
    """Fractint 20: a number below 1, or above the limit, is 1, and then the curve gives another."""
    steps = 60
    entry = f"mandel outside={rule} {curve} maxiter={steps} inside=0 center-mag=-0.5/0/0.9"
    found, raw = drawn_grays(entry)
    numbers = numbers_of_counts(curve, steps)
    assert read(f"{entry} {GRAY}")[1] == ()
    seen = set()
    _, c = next(orbits(raw, 1, lambda z, c: c, 1))
    for at, place in np.ndenumerate(c):
        z = complex(place)
        for count in range(1, steps):
            z = z * z + place
            if norm(z) >= 4:
                number = count + part(z)
                number = number if 1 <= number < steps else 1
                if abs(place) < 2:
                    assert found[at] == numbers[number]
                seen.add(number)
                break
    assert len(seen) > 5


def test_a_curve_of_many_counts_is_logarithmic():
    """Beyond 4096 counts a few at the ends of a band may have a color in between."""
    steps = 60_000
    entry = f"mandel logmap=yes maxiter={steps} inside=0 center-mag=-0.7436/0.1318/900"
    found, raw = drawn_grays(entry)
    numbers = numbers_of_counts("logmap=1", steps)
    wanted = np.vectorize(lambda count: numbers.get(count - 1, 0))(raw.count)
    out = raw.count < steps
    assert np.abs(found - wanted)[out].max() <= 1
    assert (found == wanted)[out].mean() > 0.9
    assert len(set(wanted[out])) > 20


def test_an_empty_value_of_a_list_is_0():
    assert read("manowar params=0.1//0/") == read("manowar params=0.1/0/0")
    assert read("mandel center-mag=-1//2") == read("mandel center-mag=-1/0/2")


def test_blanks_beside_an_equals_sign_mean_nothing():
    keys = "center-mag = -0.75 / 0.1/ 9 inside= 0 outside =9 savename= logmap = old"
    same = "center-mag=-0.75/0.1/9 inside=0 outside=9 logmap=old"
    assert read(f"mandel {keys} {GRAY}") == read(f"mandel {same} {GRAY}")
    assert read(f"mandel {keys} {GRAY}")[1] == ()


def test_a_test_before_the_step_is_one_color_later():
    pixels, raw = drawn_grays("mandelfn")
    assert np.abs(pixels - raw.count - 1)[raw.count < LIMIT].max() <= 1


def test_decomposition_gives_numbers_of_colors():
    pixels, raw = drawn_grays("barnsleym1 decomp=256")
    out = raw.count < LIMIT
    wanted = np.floor(np.angle(raw.z[out]) / (2 * np.pi) % 1 * 256)
    assert np.abs(pixels[out] - wanted).max() <= 1


@pytest.mark.parametrize("entry", ["mandel", "barnsleym1", "mandel bailout=50"])
def test_a_biomorph_has_one_color_where_one_part_of_the_last_z_is_small(entry):
    """The bailout is 100 where the entry names none."""
    bailout = 50 if "bailout" in entry else 100
    pixels, raw = drawn_grays(f"{entry} biomorph=200")
    out = raw.count < LIMIT
    near = np.minimum(np.abs(raw.z.real), np.abs(raw.z.imag)) / bailout**0.5
    sure = out & ((near < 0.99) | (near > 1))
    body = sure & (near < 1)
    assert raw.scene.iteration.escape_radius == pytest.approx(bailout**0.5)
    assert sure.sum() > 0.9 * out.sum()
    assert body.any()
    assert (sure & ~body).any()
    assert np.abs(pixels[body] - 200).max() <= 1
    assert np.abs(pixels - raw.count)[sure & ~body].max() <= 1


@pytest.mark.parametrize("keys", ["decomp=256", "outside=9"])
def test_a_biomorph_gives_way_to_parts_of_a_turn_and_to_one_color(keys):
    scene, lost = read(f"mandel biomorph=200 {keys} {GRAY}")
    assert (scene.color.layers, lost) == ((), ())
    assert read(f"mandel biomorph=off {GRAY}")[0].iteration.escape_radius == 2.0


@pytest.mark.parametrize("steps", [150, 200])
def test_the_angle_outside_is_a_number_of_degrees(steps):
    """Fractint 20: ``fabs(atan2(y, x) * 180 / PI)``; 1 for 0 and for numbers above the limit."""
    pixels, raw = drawn_grays(f"barnsleym1 outside=atan maxiter={steps}")
    out = raw.count < steps
    degrees = np.degrees(np.abs(np.angle(raw.z)))
    sure = out & (degrees > 1) & (np.abs(degrees - steps - 1) > 1)
    wanted = np.where(degrees < steps + 1, np.floor(degrees), 1)
    assert np.abs(pixels - wanted)[sure].max() <= 1
    assert sure.sum() > 0.9 * out.sum()
    assert ((degrees > 151) & sure).any()


def orbits(raw, first, step, count):
    """Yield the number of each point of the orbits of a picture's samples, and the points.

    first: the number of z_1, and 2 where orbits begin with the pixel and that is left out.
    """
    (width, height), across = raw.scene.image.size, float(raw.scene.view.width)
    x, y = map(float, raw.scene.view.center)
    rows, columns = np.mgrid[:height, :width]
    c = x + (columns + 0.5 - width / 2) * across / width
    c = c + 1j * (y + (height / 2 - rows - 0.5) * across / width)
    z = c if first == 2 or "julia" in raw.scene.to_table() else 0 * c
    for k in range(count):
        z = step(z, c)
        yield first + k, z


RULES_OF_BOF = [
    ("mandel", 1, lambda z, c: z * z + c),
    ("mandel nobof=yes", 2, lambda z, c: z * z + c),
    ("mandel4", 1, lambda z, c: z**4 + c),
    ("manfn+zsqrd function=cos", 1, lambda z, c: np.cos(z) + z * z + c),
    ("manzpower params=0/0/3", 2, lambda z, c: z**3 + c),
    ("julia params=-0.1/0.7", 1, lambda z, c: z * z - 0.1 + 0.7j),
]


@pytest.mark.parametrize(("kind", "first", "step"), RULES_OF_BOF)
@pytest.mark.parametrize("rule", ["bof60", "bof61"])
def test_inside_by_the_least_size(kind, first, step, rule):
    """Fractint 20: ``sqrt(min_orbit) * 75``, and ``min_index``.

    Orbits of types that begin a pixel as mandel does then begin with 0, unless nobof says
    otherwise; others begin with c, which is not looked at.
    """
    pixels, raw = drawn_grays(f"{kind} inside={rule}")
    least, number = np.full(pixels.shape, np.inf), np.zeros(pixels.shape)
    with np.errstate(all="ignore"):
        for n, z in orbits(raw, first, step, LIMIT + 1 - first):
            nearer = np.abs(z) < least
            least, number = np.where(nearer, np.abs(z), least), np.where(nearer, n, number)
    wanted = np.floor(75 * least) if rule == "bof60" else number
    assert raw.inside.sum() > 40
    assert np.abs(pixels - wanted)[raw.inside].max() <= (rule == "bof60")
    assert len(set(wanted[raw.inside])) > 2


def test_inside_by_the_angle_of_the_last_point():
    """Fractint 20: ``fabs(atan2(y, x) * 180 / PI)``; it ends orbits early where they repeat."""
    pixels, raw = drawn_grays("mandel inside=atan periodicity=0")
    with np.errstate(all="ignore"):
        *_, (_, z) = orbits(raw, 2, lambda z, c: z * z + c, LIMIT - 1)
    wanted = np.floor(np.degrees(np.abs(np.angle(z[raw.inside]))))
    assert np.abs(pixels[raw.inside] - wanted).max() <= 1
    assert read(f"mandel inside=atan periodicity=0 {GRAY}")[1] == ()
    (line,) = read(f"mandel inside=atan {GRAY}")[1]
    assert "at which point of a cycle an orbit ends" in line


NEAR_RULES = [
    ("mandel inside=epscross", lambda c: c, lambda z, c: z * z + c),
    ("mandel inside=epscross proximity=0.1 bailout=9", lambda c: c, lambda z, c: z * z + c),
    ("barnsleym1 inside=-100", lambda c: c, lambda z, c: (z - (1 if z.real >= 0 else -1)) * c),
    ("mandel inside=fmod proximity=0.7", lambda c: c, lambda z, c: z * z + c),
    ("julia params=-0.1/0.7 inside=fmod", lambda c: c, lambda z, c: z * z - 0.1 + 0.7j),
    ("mandel outside=fmod inside=0 proximity=0.5", lambda c: c, lambda z, c: z * z + c),
    (
        "manzpower params=0/0/3 outside=-7 inside=0 proximity=0.6",
        lambda c: c,
        lambda z, c: z**3 + c,
    ),
]


@pytest.mark.parametrize(("entry", "begin", "step"), NEAR_RULES)
def test_colors_of_points_near_an_axis_or_0(entry, begin, step):
    """Fractint 20: a point of an orbit that has not escaped, near an axis, ends it at once.

    fmod is 256 |z|² / proximity of the last |z|² below the proximity, and 0 without one.
    """
    entry = f"{entry} maxiter=60" + " outside=200" * ("outside" not in entry)
    pixels, raw = drawn_grays(entry)
    keys = {"outside": "", **dict(word.split("=") for word in entry.split()[1:])}
    near, bailout = float(keys.get("proximity", "0.01")), float(keys.get("bailout", "4"))
    crosses = keys.get("inside") in ("epscross", "-100")
    (_, places), _ = orbits(raw, 1, lambda z, c: c, 2)
    seen, unsure = set(), 0
    for at, place in np.ndenumerate(places):
        z, number, escaped, last, edge = complex(begin(place)), None, False, 0, False
        for _ in range(-1 if entry.startswith("julia") else 0, 59):
            z = step(z, place)
            if norm(z) >= bailout:
                escaped = True
                break
            edge |= min(abs(abs(z.real) - near), abs(abs(z.imag) - near)) < 1e-6 and crosses
            if crosses and min(abs(z.real), abs(z.imag)) < near:
                number = 2 if abs(z.real) < near else 6
                break
            if norm(z) < near:
                last = 256 * norm(z) / near
                edge |= abs(last - round(last)) < 0.05
        if number is None:
            inside = 60 if crosses else last if keys.get("inside") == "fmod" else 0
            number = (200 if keys["outside"] == "200" else last) if escaped else inside
        if edge:
            unsure += 1
            continue
        assert pixels[at] == int(number), (at, place)
        seen.add(int(number))
    assert unsure < 200
    assert len(seen) > (2 if crosses else 3)
    assert read(f"{entry} {GRAY}")[1] == ()


def test_what_is_near_may_be_anything():
    for keys in (
        "inside=epscross proximity=-1",
        "inside=fmod proximity=9",
        "outside=fmod logmap=9",
    ):
        assert "fmod" in str(read(f"mandel {keys} {GRAY}")[1]) or "epscross" in keys
        assert read(f"mandel {keys} {GRAY}")[1]
    (line,) = read(f"mandel inside=startrail {GRAY}")[1]
    assert "('inside=startrail'): it is one color" in line


def test_inside_by_the_period():
    """Fractint 20: the length of the cycle, and the limit where it finds none."""
    steps = 150
    pixels, raw = drawn_grays(f"mandel inside=period maxiter={steps}")
    _, c = next(orbits(raw, 1, lambda z, c: c, 1))
    sure = {1: np.abs(1 - np.sqrt(1 - 4 * c)) < 0.6, 2: np.abs(c + 1) < 0.15}
    for period, places in sure.items():
        assert set(pixels[places]) == {period}
    assert steps in set(pixels[raw.inside])
    assert max({*pixels[raw.inside]} - {steps}) < 20
    (line,) = read(f"manowar inside=period {GRAY}")[1]
    assert "the period of the cycle" in line


@pytest.mark.parametrize("rule", ["bof60", "bof61", "atan", "period"])
def test_a_curve_of_colors_is_no_rule_of_colors_inside(rule):
    lines = read(f"mandel logmap=5 inside={rule} {GRAY}")[1]
    assert any(f"'inside={rule}'" in line for line in lines)


def test_the_last_of_two_keys_counts(tmp_path):
    """Fractint does one key after another; `corners` and `center-mag` set the same."""
    (tmp_path / "own.map").write_text("0 0 0\n9 9 9\n90 9 9\n")
    path = entry_file(
        tmp_path,
        "a { type=julia type=mandel maxiter=9 maxiter=20 corners=0/1/0/1 center-mag=0.25/0/2 "
        "colors=@none.map map=own.map inside=0 }",
    )
    lost = []
    scene = load_scene(path, lost=lost)
    assert (scene.formula.name, scene.iteration.max_iterations, lost) == ("mandelbrot", 20, [])
    assert scene.view.center == ("0.25", "0")
    assert scene.color.palette.stops[0][1] == "#090909"
    assert read("mandel center-mag=0.25/0/2 corners=0/1/0/1")[0].view.center == ("0.5", "0.5")


def test_words_between_entries_mean_nothing():
    text = "From: a list\nOn Monday Bob wrote:\n\na { type=mandel maxiter=7 }\n-- \nBob\n"
    imported = par.read_par(text.encode(), "")
    assert (imported.table["iteration"]["max_iterations"], imported.lost) == (7, ())


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ("maxiter=1e3", {"max_iterations": 1000}),
        ("maxiter=150.7", {"max_iterations": 150}),
        ("decomp=2/100", {"escape_radius": 10.0}),
        ("params=0/0/", {"escape_radius": 2.0}),
    ],
)
def test_numbers_as_older_entries_have_them(keys, wanted):
    scene, lost = read(f"mandel {keys}")
    assert {key: getattr(scene.iteration, key) for key in wanted} == wanted
    assert lost == ()


def test_a_width_of_the_distance_is_read():
    (line,) = read("mandel distest=1/71")[1]
    assert "the distance to the set" in line


@pytest.mark.parametrize("rule", ["bof61", "-61"])
def test_inside_by_the_step_nearest_to_0(rule):
    """Fractint 20 sets ``min_index = coloriter + 1``, and coloriter is 1 in the first step."""
    pixels, raw = drawn_grays(f"barnsleyj3 inside={rule}")
    inside = raw.count == LIMIT
    assert inside.sum() > 15
    places = np.argwhere(inside)
    scene = raw.scene
    width = float(scene.view.width)
    for j, i in places:
        z = complex((i + 0.5 - 12) * width / 24, (9 - j - 0.5) * width / 24)
        sizes = []
        for _ in range(LIMIT):
            z = z * z - 1 if z.real > 0 else z * z - 1 + (0.1 + 0.36j) * z.real
            sizes.append(abs(z))
        assert pixels[j, i] == 2 + int(np.argmin(sizes))


@pytest.mark.parametrize("rule", ["zmag", "-59"])
@pytest.mark.parametrize(
    ("kind", "start", "step", "calls"),
    [
        ("mandel", lambda p: p, lambda z, p: z * z + p, LIMIT - 1),
        ("julia params=-1.1/0.1", lambda p: p, lambda z, p: z * z - 1.1 + 0.1j, LIMIT),
        (
            "barnsleyj3",
            lambda p: p,
            lambda z, p: z * z - 1 + (z.real <= 0) * (0.1 + 0.36j) * z.real,
            LIMIT - 1,
        ),
    ],
)
def test_inside_by_the_size_of_the_last_z(kind, start, step, calls, rule):
    """Fractint 20: ``|z|² * (maxit >> 1) + 1``, after a step less than the limit.

    Its `coloriter` begins at 0, and at -1 for Julia sets of the type `julia`.
    """
    pixels, raw = drawn_grays(f"{kind} inside={rule}")
    width, (x, y) = float(raw.scene.view.width), map(float, raw.scene.view.center)
    seen = 0
    for j, i in np.argwhere(raw.inside):
        p = complex(x + (i + 0.5 - 12) * width / 24, y + (9 - j - 0.5) * width / 24)
        z = start(p)
        for _ in range(calls):
            z = step(z, p)
        number = int(abs(z) ** 2 * (LIMIT >> 1) + 1)
        assert abs(pixels[j, i] - number) <= 1
        seen += 1
    assert seen > 10


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ("inside=maxiter", 150),  # as many as where a file names none
        ("inside=-1", 150),
        ("inside=maxiter maxiter=300", 45),
        ("inside=256", 1),
        ("inside=255", 255),
    ],
)
def test_numbers_of_colors_inside_go_round(keys, wanted):
    """Fractint 20: ``(n - 1) % 255 + 1`` where n is 256 or more."""
    imported = par.read_par(f"a {{ type=mandel {keys} {GRAY} }}".encode(), "a")
    assert imported.lost == ()
    color = load_scene(imported.table).color
    assert abs(int(color.inside[1:3], 16) - wanted) <= 1


@pytest.mark.parametrize("steps", [2, 2_000_000_000])
def test_the_size_of_the_last_z_with_the_least_and_the_highest_limit(steps):
    entry = f"a {{ type=mandel maxiter={steps} inside=zmag {GRAY} }}"
    imported = par.read_par(entry.encode(), "a")
    assert imported.lost == ()
    assert load_scene(imported.table).color.layers[0].coloring.name == "last_point"


@pytest.mark.parametrize("key", ["inside=period", "inside=-3", "outside=mult"])
def test_a_lost_key_is_named_as_the_file_has_it(tmp_path, capsys, key):
    """Names such as inside= are options of verbs, too."""
    path = entry_file(tmp_path, f"a {{ type=mandel {key} }}")
    assert run_verb(["show", path]) == 0
    assert f"('{key}')" in capsys.readouterr().err


def test_letters_of_lyapunov():
    """Fractint's a is the imaginary part: 0 is ab, 1 aab, 2 aabb, 4 aabbb, 5 aabab."""
    known = {0: "ab", 1: "aab", 2: "aabb", 3: "aaab", 4: "aabbb", 5: "aabab", 7: "aaaab"}
    for order, letters in known.items():
        assert letters_of(order).translate({66: "a", 65: "b"}) == letters


def test_lyapunov_is_colored_by_its_exponent():
    scene, lost = read(f"lyapunov params=1/0.5 center-mag=3/3/1 maxiter=200 {GRAY}")
    assert lost == ()
    scene = scene.replace(size=(12, 9), supersampling=1, max_iterations=200)
    raw = fractals.compute(scene, device="python")
    pixels = fractals.recolor(raw, device="python").pixels[..., 0].astype(int)
    width = float(scene.view.width)
    for j in range(9):
        for i in range(12):
            b, a = 3 + (i + 0.5 - 6) * width / 12, 3 + (4.5 - j - 0.5) * width / 12
            x, total = 0.5, 0.0
            for n in range(200):
                for rate in (a, a, b):
                    total += np.log(abs(rate * (1 - 2 * x)) + 1e-300) if n >= 100 else 0
                    x = rate * x * (1 - x)
            exponent = total / 300
            if abs(exponent) > 0.01 and max(a, b) < 4:
                wanted = 1 + int((1 - np.exp(exponent)) * 255) if exponent < 0 else 1
                assert abs(pixels[j, i] - wanted) <= 3


@pytest.mark.parametrize("kind", ["mandel", "lyapunov"])
def test_inside_is_color_1_by_default(kind):
    """Chaos of type lyapunov has the color of insides."""
    for text, wanted in (("", 1), ("inside=1", 1), ("inside=0", 0), ("inside=200", 200)):
        color = read(f"{kind} {text} {GRAY}")[0].color
        found = color.palette.stops[-1][1] if kind == "lyapunov" else color.inside
        assert int(found[1:3], 16) == wanted


def test_cells_are_fractints():
    """Rows of cells, by a loop over cells; at their middles the picture has their colors."""
    scene, lost = read("cellular params=3113/3210331001/41/5 colors=000e00AXADCTwuI")
    assert any("one for each pixel" in line for line in lost)
    width, height = 576, 432
    rule = [int(digit) for digit in "3210331001"[::-1]]
    row = [0] * width
    for k, digit in enumerate("3113"):
        row[(width - 1 - 16) // 2 + 6 + k] = int(digit)
    rows = []
    for k in range(height + 5):
        if k >= 5:
            rows.append(row)
        row = [rule[sum(row[i - 1 : i + 2])] if 1 <= i < width - 2 else 0 for i in range(width)]
    scene = scene.replace(size=(width, height), supersampling=1, width="2")
    pixels = fractals.render(scene, device="cpu").pixels
    shades = np.array([[0, 0, 0], [170, 0, 0], [40, 134, 40], [53, 49, 117]])
    assert np.abs(pixels.astype(int) - shades[np.array(rows)]).max() <= 1
    assert len(np.unique(rows)) > 2


def test_first_views():
    for entry, center, height in (
        ("magnet2m", (1.1, 0), 3.9), ("lambda", (0.5, 0), 3), ("mandelfn", (0, 0), 12),
        ("fn+fn", (0, 0), 6), ("spider", (-0.5, 0), 3), ("fn(z)+fn(pix)", (0, 0), 5.4),
        ("manzpower", (0, 0), 3), ("burning-ship", (-0.5, -0.3), 3), ("halley", (0, 0), 3),
        ("mandellambda", (1, 0), 6), ("popcornjul", (0, 0), 4.5), ("mandphoenix", (-0.5, 0), 3),
        ("volterra-lotka", (3, 2.25), 4.5), ("lyapunov", (0, 0), 12),
    ):  # fmt: skip
        scene, _ = read(entry)
        assert tuple(map(float, scene.view.center)) == center
        assert float(scene.view.width) * 9 / 16 == pytest.approx(height)


def test_what_a_program_draws_is_the_same_everywhere():
    text = (
        "z = c = pixel, n = 0: z = sqr(z) - z*(n < 3)/9 + c, c = c + round(z)/70 + c^1.5/50,"
        "n = n + 1, |z| < 9"
    )
    scene = read("formula formulaname=o", f"frm:o {{ {text} }}")[0]
    scene = scene.replace(size=(16, 12), supersampling=1)
    raws = [fractals.compute(scene, device=name) for name in ("python", "simulator")]
    for raw in raws[1:]:
        assert raw.count.tobytes() == raws[0].count.tobytes()
        assert raw.z.tobytes() == raws[0].z.tobytes()
    assert len(np.unique(raws[0].count)) > 4


def steps_until(z, c, lost=0):
    """Return the number of a color: steps from z until |z| > 2, without the first ones."""
    for n in range(1, 30):
        z = z * z + c
        if abs(z) >= 2:
            return max(n - lost, 1)
    return 0


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        ("mandel", lambda p: steps_until(p, p)),
        ("manzpower params=0/0/2/0", lambda p: steps_until(p, p)),
        ("julia params=-0.4/0.6", lambda p: steps_until(p, -0.4 + 0.6j, 1)),
        ("julzpower params=-0.4/0.6/2/0", lambda p: steps_until(p, -0.4 + 0.6j)),
    ],
)
def test_numbers_of_colors_are_those_of_fractint(keys, number):
    """Its own loop does not count the first step of a Julia set; orbits of mandel begin at c."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_`" + "abcdefghijklmnopqrstuvwxyz"
    shades = [(k % 4 * 20, k // 4 % 4 * 20, k // 16 * 4) for k in range(256)]
    colors = "".join(digits[part] for shade in shades for part in shade)
    scene, _ = read(f"{keys} center-mag=0/0/0.5 maxiter=30 inside=0 colors={colors}")
    found = fractals.render(scene, size=(16, 12), supersampling=1, device="python").pixels
    for row, column in np.ndindex(12, 16):
        p = complex((column - 7.5) / 3, (5.5 - row) / 3)
        wanted = np.array(shades[number(p)]) * 255 / 63
        assert abs(found[row, column, :3] - wanted).max() < 24, p  # neighbors differ by 80


@pytest.mark.parametrize(
    ("entry", "formula", "height"),
    [
        ("icons", {"l": -2.34, "a": 2.0, "b": 0.2, "g": 0.1, "w": 0.0, "symmetry": 3}, 3),
        (
            "icons corners=-1.6/1.6/-1.2/1.2 params=1.5/-1/0.1/-0.8/0/5",
            {"l": 1.5, "a": -1.0, "b": 0.1, "g": -0.8, "w": 0.0, "symmetry": 5},
            2.4,
        ),
        ("henon params=1.3 center-mag=0/0/2", {"a": 1.3, "b": 0.3}, 1),
        (
            "latoocarfian function=sin/sin/sin/sin params=-0.9/2.8/0.7",
            {"a": -0.9, "b": 2.8, "c": 0.7, "d": 0.744728},
            3,
        ),
    ],
)
def test_the_points_of_one_orbit_are_an_attractor(entry, formula, height):
    """The equations of Fractint's icons, Henon's and Latoocarfian map are those of attractors."""
    scene, lost = read(entry)
    found = scene.make_any_formula()
    assert found.family == "scatter"
    assert dict(found.parameters) == formula
    assert float(scene.view.frame[1]) == pytest.approx(height)
    assert not scene.view.mirror
    assert lost == (
        "the one orbit, and the colors of its hits: many short orbits and other colors",
    )


def test_an_icon_of_fractint_by_its_own_arithmetic():
    """A step of `icons` as Fractint 20 takes it (Dan Farmer), beside one of the attractor."""
    scene, _ = read("icons params=1.56/-1/0.1/-0.82/0.03/4")
    icon = scene.make_any_formula()
    z = 0.3 - 0.2j
    p = 1.56 - abs(z) ** 2 + 0.1 * (z**4).real
    wanted = (p + 0.03j) * z - 0.82 * z.conjugate() ** 3
    x, y = icon.step(z.real, z.imag, tuple(icon.parameters.values()))
    assert complex(x, y) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("outside", "more"), [("real", 7), ("imag", 7), ("summ", 0)])
@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("mandel", 1),
        ("barnsleym1", 1),
        ("burning-ship", -1),  # drawn at the conjugate, whose z is conjugate, too
    ],
)
def test_parts_of_the_last_point_that_are_added_to_counts(kind, way, outside, more):
    """Numbers of colors as of Fractint 20: the count, and parts of z without their decimals."""
    plain, _ = drawn_grays(kind)
    found, raw = drawn_grays(f"{kind} outside={outside}")
    x, y = raw.z.real, way * raw.z.imag
    added = np.trunc({"real": x, "imag": y, "summ": x + y}[outside]) + more
    wanted = plain + added
    sure = (raw.count < LIMIT) & (wanted >= 1)
    assert np.abs(found - wanted)[sure].max() <= 1
    assert len(set(wanted[sure])) > 4
    assert np.abs(added - added.mean()).max() > 1  # so that a part that is not added is seen
