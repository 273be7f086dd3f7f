"""Every number of small files of other programs, replaced by one that overflows or is none."""

import re

import pytest
from support.fuzz import TEXTS
from support.odd import NINES, NUMBERS

from fractals import SceneError
from fractals.errors import InputError
from fractals.io.load import load_scene

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

# But the turns of a loop, which are unrolled: up to their bound they take seconds.
NUMBER = re.compile(r"(?<!while k < )\d+(\.\d*)?([eE][+-]?\d+)?")
FORMULA = (
    "A {\n z = pixel*magn:\n"
    " z = sqr(z) + sin(p2) + maxit + scrnpix + magxmag + center + rotskew\n |z| < 4 + p1\n}\n"
)
OWN = {
    "own.par": "a { type=formula formulafile=own.par formulaname=A params=1/0/2/0.5/3 maxiter=100\n"
    " invert=1/2/3 center-mag=0.1/0.2/3/1/30/2 bailout=4 distest=3 logmap=4 decomp=2\n"
    " potential=255/200/0 inside=3 outside=-5 }\nfrm:" + FORMULA,
    "order.par": "a { type=lyapunov params=3/0.5/20 maxiter=100 }\n",
    "cells.par": "a { type=cellular params=11/41/0/0 }\n",
    "memory.par": "a { type=phoenix params=0.5/0.2/2 }\n",
    "biomorph.par": "a { type=manowar params=0.1/2 biomorph=2 }\n",
}
FILES = {**{name: text for name, text in TEXTS.items() if not name.endswith(".csv")}, **OWN}


@pytest.mark.many
@pytest.mark.parametrize("name", FILES)
def test_numbers_of_files(tmp_path, name):
    for each, content in FILES.items():  # some name others
        (tmp_path / each).write_text(content)
    text, path, said = FILES[name], tmp_path / name, []
    for number in NUMBER.finditer(text):
        for odd in NUMBERS:
            path.write_text(text[: number.start()] + odd + text[number.end() :])
            try:
                load_scene(path)
            except InputError as error:
                said += str(error).splitlines()
    assert said
    assert all(line.isprintable() for line in said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("params=1/0/2", f"params=1/0/{NINES}", "params: 9999999999999999999999999999999999999999"),
        ("params=1", "params=1e999", "params: 1e999 is too large"),
        ("invert=1", "invert=1e999", "invert: 1e999 is too large"),
        ("/0.2/3/1/", "/0.2/1e-999/1/", "magnification of 1e-999 is too small for a formula"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, said):
    path = tmp_path / "a.par"
    path.write_text(OWN["own.par"].replace("own.par", "a.par").replace(old, new))
    with pytest.raises(SceneError, match=re.escape(said)) as caught:
        load_scene(path)
    assert "\n" not in str(caught.value)
