"""Parameters of Ultra Fractal: one layer's formula, view and colors; what is lost is told."""

import base64
import cmath
import math
import zlib

import pytest
from support.deadline import deadline

import fractals
from fractals.errors import SceneError
from fractals.explorer.pages import uploaded
from fractals.io.foreign import formats, ultra_fractal

# Made up for these tests.
LAYER = """layer:
  caption="{name}" opacity=100 visible={visible}
mapping:
  center=-0.75/0.125 magn=4 angle=30{more}
formula:
  maxiter=500 filename="{file}" entry="{entry}" p_power=3/0 p_bailout=16
inside:
  transfer=none solid=4278190335
outside:
  density=2 transfer=linear offset=100 filename="Standard.ucl" entry="Smooth" p_power=3/0
gradient:
  title="a \\
    b" smooth=no rotation=3 index=0 color=255 index=1300 color=16711680
opacity:
  smooth=no index=0 opacity=255
"""


def layer(name="Back", visible="yes", file="Standard.ufm", entry="Mandelbrot", more=""):
    return LAYER.format(name=name, visible=visible, file=file, entry=entry, more=more)


HEAD = 'fractal:\n  title="Two words" width=640 height=480 layers=1\n  credits="A; B"\n'
ONE = f"One {{ ; comment\n{HEAD}{layer()}}}\n"
OWN = "own.ufm:Cubes {\ninit:\n z = 0\nloop:\n z = z^@power + #pixel\nbailout:\n |z| < 100\n}\n"


def packed(text):
    """Return text in the way of Ultra Fractal: zlib after four bytes, the lowest bits first."""
    data = b"\1\2\3\4" + zlib.compress(text.encode(), 9)
    data += bytes(-len(data) % 3)
    digits = base64.b64encode(data[::-1]).decode()[::-1]
    return "::" + "\n  ".join(digits[k : k + 60] for k in range(0, len(digits), 60))


def test_a_layer_is_a_scene():
    found = ultra_fractal.read_upr(ONE.encode(), "")
    scene = fractals.load_scene(found.table)
    assert found.lost == ()
    assert scene.title == "Two words"
    assert scene.formula.name == "multibrot"
    assert scene.view.center == ("-0.75", "0.125")
    assert scene.view.frame == ("0", "0.75")  # 3 / 4
    assert scene.view.rotation == 30
    assert tuple(scene.image.size) == (640, 480)
    assert (scene.iteration.max_iterations, scene.iteration.escape_radius) == (500, 4.0)
    assert scene.color.coloring.name == "smooth"
    assert (scene.color.transfer, scene.color.density, scene.color.offset) == ("linear", 0.1, 0.25)
    assert scene.color.inside == "#ff0000"
    assert found.table["color"]["palette"]["stops"] == [[0.0, "#ff0000"], [0.25, "#0000ff"]]


def test_a_turned_view_is_turned_as_the_plane_is():
    """The view goes from its center along e^(i angle): the picture turns the other way."""
    text = ONE.replace("angle=30", "angle=90").replace("center=-0.75/0.125", "center=0/1")
    turned = fractals.load_scene(ultra_fractal.read_upr(text.encode(), "").table)
    turned = turned.replace(size=(8, 6), supersampling=1, max_iterations=60)
    plain = turned.replace(rotation=0, size=(6, 8), width=0.75)
    own, other = (fractals.compute(scene, device="python").count for scene in (turned, plain))
    assert (own == other.T[:, ::-1]).all()  # up is to the left, and right is up
    assert len(set(own.flat)) > 4


def test_layers_formulas_and_what_is_lost(tmp_path):
    more = ' stretch=2\ntransform:\n filename="a.uxf" entry="Lake" p_x=1'
    two = layer("Top", file="own.ufm", entry="Cubes", more=more) + layer(visible="no")
    two = two.replace('entry="Smooth"', 'entry="Other"', 1).replace(
        "transfer=linear", "transfer=log", 1
    )
    path = tmp_path / "many.upr"
    path.write_text(f"{OWN}Two {{\n{HEAD}{two}}}\n{ONE}")
    assert formats.entries(str(path)) == [
        ("Two", "formula Cubes"),
        ("One", "formula Mandelbrot"),
    ]
    found = ultra_fractal.read_upr(path.read_bytes(), "Two")
    assert found.lost == (
        "the stretch of the view ('stretch=2'): it is drawn without, "
        "as no document says which way that goes",
        "a transformation of the plane: line 18: entry: the transformation 'Lake' is not in this "
        "file, and no file 'a.uxf' is beside it: a file that is sent alone must hold what it names",
        "the coloring outside ('Other'): smooth counts here",
        "the exact curve of colors ('transfer=log density=2')",
    )
    assert found.table["iteration"]["escape_radius"] == 10.0
    both = path.read_text().replace("visible=no", "visible=yes")
    some = ultra_fractal.read_upr(both.encode(), "Two layer=1").lost
    assert some[0] == "the other layers: 'layer=1' of 2 is drawn"
    assert (
        ultra_fractal.read_upr(both.encode(), "Two").lost[0]
        == "the other layers: 'layer=2' of 2 is drawn"
    )
    below = formats.read(f"{path}#Two layer=2")
    assert below.table["iteration"]["escape_radius"] == 4.0
    told = uploaded("many.upr", path.read_bytes(), "Two")
    assert told["asked"] == [("layer", "1", ("1", "2"), "Layer")]
    together = f"Two {{\n{HEAD}{two}}}\n{OWN.removeprefix('own.ufm:')}"  # as the explorer sends it
    assert ultra_fractal.read_upr(together.encode(), "Two").table == found.table
    path.write_text(f"Two {{\n{HEAD}{two}}}")
    with pytest.raises(SceneError, match="the formula 'Cubes' is not in this file, and no file"):
        formats.read(f"{path}#Two")
    (tmp_path / "OWN.ufm").write_text(OWN.removeprefix("own.ufm:"))
    assert formats.read(f"{path}#Two").table["formula"]["name"] == "multibrot"


UXF = """Mirror {
transform:
  if imag(#pixel - @center) < 0
    #pixel = conj(#pixel - @center) + @center
  endif
default:
  param center
    default = (0, 0)
  endparam
}
Twist {
global:
  complex turn = 1i*@amount
transform:
  complex away = #pixel - #center
  #pixel = #center + away*exp(turn*cabs(away))
default:
  float param amount
    default = 1.0
  endparam
}
Clip {
transform:
  #solid = real(#pixel) < 0
}
Nothing {
default:
  title = "N"
}
"""


def mirror(z):
    return complex(z.real, abs(z.imag - 0.1) + 0.1)


def twist(z):
    away = z - CENTER
    return CENTER + away * cmath.exp(0.75j * abs(away))


CENTER = -0.75 + 0.125j
MIRROR = '\ntransform:\n filename="a.uxf" entry="Mirror" p_center=0/0.1'
TWIST = '\ntransform:\n filename="a.uxf" entry="Twist" p_amount=0.75'


@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
@pytest.mark.parametrize("julia", [False, True])
@pytest.mark.parametrize(
    ("more", "where"),
    [
        (MIRROR, mirror),
        (TWIST, twist),
        (MIRROR + TWIST, lambda z: twist(mirror(z))),  # the first one sees the pixel first
        (TWIST + MIRROR, lambda z: mirror(twist(z))),
    ],
    ids=["mirror", "twist", "mirror, twist", "twist, mirror"],
)
def test_transformations_of_the_plane(tmp_path, more, where, julia):
    path = tmp_path / "a.upr"
    own = layer(entry="Julia", more=more) if julia else layer(more=more)
    own = own.replace("p_power=3/0", "p_seed=-0.7/0.3 p_power=3/0" if julia else "p_power=3/0")
    path.write_text(f"One {{\n{HEAD}{own}}}")
    (tmp_path / "A.UXF").write_text(UXF)
    found = formats.read(str(path))
    assert not any("transformation" in line for line in found.lost)
    scene = fractals.load_scene(found.table).replace(size=(16, 12), supersampling=1)
    raw = fractals.compute(scene, device="python", max_iterations=60)
    height, turn, compared = 0.75, cmath.exp(1j * math.pi / 6), 0
    for j in range(12):
        for i in range(16):
            at = CENTER + turn * height / 12 * complex(i + 0.5 - 8, 6 - j - 0.5)
            place = where(at)
            z, c = (place, -0.7 + 0.3j) if julia else (0j, place)
            counts = set()
            for move in (0, 1e-9, 1e-9j):
                z, n = (place + move if julia else 0j), 0
                while n < 60 and (n == 0 or abs(z) ** 2 <= 16):
                    z, n = z**3 + (c if julia else place + move), n + 1
                counts.add(n)
            if len(counts) == 1:
                assert int(raw.count[j, i]) in counts, (at, counts)
                compared += 1
    assert compared > 120
    assert len(set(raw.count.flat)) > 4


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("Clip", "line 24: the transformation 'Clip': '#solid' is set, and can only be read"),
        ("Nothing", "line 26: the transformation 'Nothing': it has no section transform"),
        ("Other", "the transformation 'Other' of 'a.uxf': the file has no such transformation"),
    ],
)
def test_transformations_that_are_lost(tmp_path, entry, words):
    path = tmp_path / "a.upr"
    own = layer(more=MIRROR.replace("Mirror", entry))
    path.write_text(f"One {{\n{HEAD}{own}}}")
    (tmp_path / "a.uxf").write_text(UXF)
    found = formats.read(str(path))
    assert [line for line in found.lost if words in line]
    path.write_text(f"One {{\n{HEAD}{layer()}}}")
    assert formats.read(str(path)).table == found.table


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        ("stretch=1 skew=0", ()),
        (
            "skew=12.5",
            (
                "the skew of the view ('skew=12.5'): it is drawn without, as no document says "
                "which way that goes",
            ),
        ),
    ],
)
def test_a_view_that_is_neither_stretched_nor_skewed_loses_nothing(given, lost):
    plain = ultra_fractal.read_upr(f"One {{\n{HEAD}{layer()}}}".encode(), "")
    found = ultra_fractal.read_upr(f"One {{\n{HEAD}{layer(more=f' {given}')}}}".encode(), "")
    assert found.lost == plain.lost + lost
    assert found.table == plain.table


def test_blanks_beside_an_equals_sign_mean_nothing():
    spaced = ONE.replace("=", " = ")
    assert ultra_fractal.read_upr(spaced.encode(), "") == ultra_fractal.read_upr(ONE.encode(), "")
    with pytest.raises(SceneError, match="line 6: 'caption = opacity = 100"):
        ultra_fractal.read_upr(spaced.replace(' "Back"', "").encode(), "")


def test_compressed_parameters_are_the_same():
    text = f"One {{\n{packed(HEAD + layer())}\n}}\n"
    assert ultra_fractal.read_upr(text.encode(), "") == ultra_fractal.read_upr(ONE.encode(), "")
    plain = base64.b64encode(zlib.compress((HEAD + layer()).encode())).decode()
    assert ultra_fractal.read_upr(f"One {{\n::{plain}\n}}".encode(), "") == ultra_fractal.read_upr(
        ONE.encode(), ""
    )
    with pytest.raises(SceneError, match="line 2: the compressed parameters can't be read"):
        ultra_fractal.read_upr(text.replace("::", "::AB").encode(), "")
    with deadline(), pytest.raises(SceneError, match="line 2: the parameters have more than"):
        ultra_fractal.read_upr(f"One {{\n{packed(' ' * 9_000_000)}\n}}".encode(), "")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("magn=4", "magn=-4", "line 8: magn: '-4' is not greater than 0"),
        ("center=-0.75/0.125", "center=1", "line 8: center: 1 number, and not 2"),
        ("center=-0.75/0.125", "center=x/1", "line 8: center: 'x' is not"),
        (
            'entry="Mandelbrot"',
            'entry="Moth"',
            "only the Mandelbrot and Julia sets of it are known",
        ),
        (
            "Standard.ufm",
            "x.ufm",
            "no file 'x.ufm' is beside it: a file that is sent alone must hold",
        ),
        ("p_power=3/0", "p_power=a", "power: a number, or two"),
        ("maxiter=500", "maxiter=many", "line 10: maxiter: 'many' is not a whole number"),
        ("index=0", "index", "line 16: 'index color=255"),
        ("formula:", "", "the entry has no layer"),
        ("One {", "comment {", "the file has no entry such as 'name { fractal:"),
    ],
)
def test_wrong_parameters_are_told(old, new, words):
    text = ONE.replace("layer:", "") if "no layer" in words else ONE
    with pytest.raises(SceneError) as caught:
        ultra_fractal.read_upr(text.replace(old, new).encode(), "")
    assert words in str(caught.value)


def test_an_unknown_layer_is_told():
    for wanted in ("layer=2", "One layer=0"):
        with pytest.raises(
            SceneError, match=r"layer: . is not from 1 to 1|layer: '. is not|layer: 2"
        ):
            ultra_fractal.read_upr(ONE.encode(), wanted)
