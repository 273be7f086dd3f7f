"""Views given relative to a scene: --at, --pan, --zoom x10, --width 50%."""

import re
from decimal import Decimal

import click
import pytest
from support.command_line import one_line

import fractals
from fractals.cli.render import render_command
from fractals.cli.scenes import requested_scene
from fractals.errors import FractalsError

TURNED = {
    "center": ["-0.743643887037151", "0.131825904205330"],
    "width": "0.012",
    "rotation": 33,
    "mirror": True,
    "stretch": 1.5,
    "stretch_angle": 20,
}


def asked(*sources, **options):
    return requested_scene(sources, options)


@pytest.mark.parametrize("view", [{}, TURNED], ids=["home", "turned"])
@pytest.mark.parametrize("pixel", [(0, 0), (8, 2), (5, 6)])
def test_at_centers_the_view_on_a_pixel(view, pixel):
    """The count of that pixel is the count in the middle of the new view."""
    old = fractals.load_scene({"view": view}, size=(9, 7), supersampling=1, max_iterations=300)
    counts = fractals.compute(old, device="python").count
    new = asked(old, at=f"{pixel[0]},{pixel[1]}", size="1x1")
    found = fractals.compute(new.replace(width="1e-9"), device="python").count
    assert found[0, 0] == counts[pixel[1], pixel[0]]


def test_at_keeps_the_digits_of_a_deep_view():
    center = ("-0.7436438870371510000000000000000000000000001234", "0.13182590420533")
    old = fractals.load_scene(center=center, width="1e-40", size=(101, 101))
    assert asked(old, at="50,50").view.center == center
    moved = asked(old, at="51,50").view.center
    assert moved[1] == center[1]
    step = Decimal("1e-40") / 101
    assert abs(Decimal(moved[0]) - Decimal(center[0]) - step) < step / 10**5


def test_pan_moves_by_widths_of_the_scene():
    view = {"center": ["0", "0"], "width": "2"}
    assert asked({"view": view}, pan="0.5,-0.25").view.center == ("1", "-0.5")
    assert asked({"view": view}, pan="0.5,-0.25", zoom="x10").view.center == ("1", "-0.5")
    assert asked({"view": view | {"rotation": 90}}, pan="1,0").view.center == ("0", "2")
    assert asked({"view": view}, pan="1,0", center="3,4").view.center == ("5", "4")
    assert asked({"view": view}, pan="10%,-25 %").view.center == ("0.2", "-0.5")


@pytest.mark.parametrize(
    ("view", "option", "expected"),
    [
        ({"width": "2e-6"}, {"zoom": "x10"}, ("0.0000002", None)),
        ({"width": "0.01"}, {"zoom": "x0.5"}, ("0.02", None)),
        ({"width": "0.01"}, {"width": "50%"}, ("0.005", None)),
        ({"zoom": "40"}, {"zoom": "x10"}, (None, "4E+2")),
        ({"zoom": "40"}, {"width": "x2"}, (None, "2E+1")),
        ({}, {"zoom": "x8"}, (None, "8")),
        ({"width": "0.01"}, {"zoom": "1e3"}, (None, "1e3")),
    ],
)
def test_relative_zoom_and_width(view, option, expected):
    found = asked({"view": view}, **option).view
    assert (found.width, found.zoom) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--at", "5000,1"), "--at: 5000,1 lies outside the 1920x1080 pixels of the scene"),
        (("--at=-1,1"), "outside"),
        (("--at", "5"), "is not two numbers X,Y"),
        (("--at", "a,b"), "is not two numbers X,Y"),
        (("--pan", "nan,1"), "is not two numbers X,Y such as 0.5,0 or 10%,0"),
        (("--pan", "%,1"), "is not two numbers X,Y"),
        (("--pan", "0,-1e999999"), "--pan: '0,-1e999999' is beyond 1e100000 widths"),
        (("--at", "1,1", "--center", "0,0"), "--center and --at are both given"),
        (("--at", "1,1", "--projection", "exponential", "strip"), ""),
        (("--zoom", "x0"), "is not a factor such as x10 or 50%"),
        (("--zoom", "x"), "--zoom: 'x' is not a factor such as x10 or 50%"),
        (("--zoom", "10x"), "--zoom: '10x' is not a factor such as x10 or 50%"),
        (("--center", "-0.75", "0.1"), "'0.1' is no scene: X,Y is one word, such as \"-0.75,0.1\""),
        (("--center", "-0,75", "0,1"), "'0,1' is no scene: X,Y is one word"),
        (("--center=-0,75,0,1",), "is not two numbers X,Y with points: write -0.75,0.1"),
        (("--center=-0,75; ,1",), "is not two numbers X,Y with points: write -0.75,.1"),
        (("--zoom", "1,000"), "--zoom: '1,000' has a comma: write 1000"),
        (("--zoom", "1.000.000"), "'1.000.000' has a point between thousands: write 1000000"),
        (("--width", "0,01"), "--width: '0,01' has a comma: write 0.01"),
        (("--width", "1,5e-7"), "has a comma: write 1.5e-7"),
        (("--density", "0,5"), "--density: '0,5' is not a finite number: write 0.5"),
        (("--rotation", "pi/4"), "'pi/4' is not a finite number: write degrees, such as 45"),
        (("\u2014size", "64x48"), "'\u2014size' is no scene: an option is --size"),
        (("-o", ""), "-o: the name is empty"),
        (("--max-iterations", "1,000"), "write 1000"),
        (("--width", "600"), "is 130 times the width of the whole fractal, 4.6: --size is for"),
        (("--width", "1e9"), "--size is for pixels"),
        (("--size", "1200"), "write 1200x for the width"),
    ],
)
def test_wrong_values_are_answered_in_one_line(run, arguments, words):
    arguments = arguments if isinstance(arguments, tuple) else (arguments,)
    code, out, err = run("render", "--dry-run", *arguments)
    assert (code, out) == (2, b"")
    assert one_line(err)
    assert words in err


@pytest.mark.parametrize("text", ["45°", "45deg", "45 degrees", " 45"])
def test_an_angle_may_have_the_sign_of_degrees(text):
    assert requested_scene(("mandelbrot",), {"rotation": text}).view.rotation == 45


def test_wide_views_that_are_asked_for(run):
    assert run("render", "--dry-run", "--zoom", "0.01")[0] == 0
    assert run("render", "--dry-run", "--width", "40")[0] == 0
    exponential = ("--projection", "exponential", "--width", "100")
    assert run("render", "--dry-run", *exponential)[0] == 0


def test_numbers_as_people_write_them():
    assert asked(max_iterations="1e6").iteration.max_iterations == 1_000_000
    assert asked(supersampling="3").image.supersampling == 3
    assert asked("seahorse", size="640x").image.size == (640, 360)
    assert asked(size="x540").image.size == (960, 540)
    assert asked(palette="Ember").color.palette == "ember"


OPTIONS = [
    "network",
    "formula",
    "julia",
    "center",
    "at",
    "pan",
    "width",
    "zoom",
    "rotation",
    "stretch",
    "stretch_angle",
    "projection",
    "size",
    "supersampling",
    "antialias",
    "max_iterations",
    "precision",
    "escape_radius",
    "palette",
    "coloring",
    "transfer",
    "density",
    "offset",
    "inside",
    "bits",
    "dpi",
    "compression",
    "quality",
    "brightness",
    "gamma",
    "vibrancy",
    "background",
    "estimator_radius",
    "position",
    "target",
    "field",
    "roll",
    "lens",
    "focus",
    "ray_step",
    "panorama",
    "sun",
    "sun_power",
    "haze",
    "emission",
    "emission_color",
    "sky",
    "sun_color",
    "stereo",
    "eye",
    "whole",
    "gamut",
    "hdr",
    "denoise",
    "relight",
    "dither",
    "bounces",
    "samples",
    "heights",
    "rise",
    "tilt",
    "exposure",
    "curve",
    "bloom",
    "bloom_threshold",
    "bloom_radius",
    "vignette",
    "grain",
]
ODD = [
    "",
    "x",
    "-1",
    "0",
    "1e400",
    "nan",
    "[]",
    "{}",
    "0,0",
    "1,2,3",
    "100",
    "1.5",
    "a=b",
    "9" * 50,
]
FOREIGN = re.compile(
    r"Input should|Field required|should be|valid (tuple|dictionary|number|integer)"
)


@pytest.mark.parametrize("key", OPTIONS)
def test_errors_of_options_are_in_our_words(key):
    """Each names its option, and none is a sentence of the library that validates."""
    failed = 0
    for text in ODD:
        try:
            asked(**{key: text})
        except FractalsError as error:
            failed += 1
            for line in str(error).splitlines():
                assert line.startswith("--") or "unknown" in line, line
                assert not FOREIGN.search(line), line
    assert failed > 3


@pytest.mark.parametrize(
    ("options", "size", "dpi"),
    [
        ({"size": "A3"}, (4961, 3508), 300),
        ({"size": "a3@150dpi"}, (2480, 1754), 150),
        ({"size": "30x20cm"}, (3543, 2362), 300),
        ({"size": "30x20cm", "dpi": "100"}, (1181, 787), 100),
        ({"size": "letter", "dpi": "100"}, (1100, 850), 100),
        ({"size": "4x3in@100dpi", "dpi": "72"}, (400, 300), 72),
        ({"size": "640x"}, (640, 360), None),
    ],
)
def test_sizes_on_paper(options, size, dpi):
    image = asked(**options).image
    assert (image.size, image.dpi) == (size, dpi)


def test_paper_lies_as_the_picture_does_and_keeps_its_dpi():
    upright = fractals.load_scene(size=(100, 200), dpi=100)
    image = requested_scene((upright,), {"size": "a4"}).image
    assert (image.size, image.dpi) == ((827, 1169), 100)


def test_every_option_of_the_scene_is_among_them():
    names = {each.name for each in render_command.params if isinstance(each, click.Option)}
    others = {"device", "cpu", "gpu", "threads", "no_interior_shortcuts", "no_cache", "force"}
    others |= {"formulas", "lossy", "title", "author", "rights"}  # names are any text
    others |= {"output", "overwrite", "dry_run", "as_json", "mirror", "fit"}
    others |= {"preview", "no_preview", "keep"}
    others |= {"cluster", "keys", "returns", "insecure"}
    assert names - others == set(OPTIONS)
