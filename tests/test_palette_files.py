"""Palettes of other programs: every sample is read or refused, and bad files never surprise."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fractals import catalog, palette
from fractals.errors import SceneError

AT = np.linspace(0, 1, 6001)[:-1] + 1 / 12007


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


KFP = "Re: 0\r\nIterDiv: 2.5\r\nColors: 0,0,255,0,255,0,255,0,0,9,8,7,\r\nGLSL: vec3\\ a\r\n"
VALID = {"kfp": KFP}


def test_kfp_goes_round_along_cosines():
    found = palette_in("kfp", KFP)
    keys = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [7, 8, 9]])
    k = (4 * AT).astype(int)
    weight = np.sin((4 * AT - k - 0.5) * np.pi) / 2 + 0.5  # as Kalles Fraktaler writes it
    wanted = (1 - weight)[:, None] * keys[k] + weight[:, None] * keys[(k + 1) % 4]
    assert srgb(found) == pytest.approx(wanted, abs=1e-4)
    assert read("kfp", KFP).lost == ("IterDiv: 2.5", "GLSL: vec3\\ a")


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
    ],
)
def test_what_is_wrong_is_said(name, text, message):
    with pytest.raises(SceneError) as caught:
        read(name, text)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", VALID)
def test_samples(name, data):
    seen = 0
    for path in sorted((data / "formats" / name).iterdir()):
        found = palette_in(name, path.read_bytes())
        assert np.ptp(found.lookup("#000000"), axis=0).max() > 0.05, path.name
        seen += 1
    assert seen > 4


def survives(name, text):
    """Read a file that may be anything: it becomes a palette, or an error of one line."""
    try:
        imported = read(name, text)
    except SceneError as error:
        lines = [str(error)]
    else:
        assert palette.parse(imported.table["color"]["palette"]).stops
        lines = list(imported.lost)
    assert all(lines)
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize("name", VALID)
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


@pytest.mark.parametrize("name", VALID)
@settings(deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_read_or_refused(name, text):
    survives(name, text)
