"""A valid palette file of each format, and functions that read such files."""

import colorsys
import functools

import numpy as np
import pytest

from fractals import catalog
from fractals.color import palette

AT = np.linspace(0, 1, 6001)[:-1] + 1 / 12007
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
    """Return the sRGB values (0 to 255) of a palette at positions from 0 to 1."""
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
    """Return the sRGB values (0 to 255) of a gradient, by GIMP's definition."""
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


def away_from(places):
    """Return which positions are farther than 1e-4 from the given jumps of a gradient."""
    return np.abs(AT[:, None] - np.array(places)[None]).min(axis=1) > 1e-4


GGR = ggr_of(SEGMENTS)
VALID = {"ggr": GGR, "gpl": GPL, "kfp": KFP, "map": MAP, "ugr": UGR}
SWATCHES = {"act", "ase", "cpt", "pal"}  # formats whose samples tests/io/test_swatches.py makes
every_reader = pytest.mark.parametrize("name", VALID)
