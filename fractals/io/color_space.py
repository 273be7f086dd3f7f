"""How files say what their colors are: the ICC profile of Display P3, and chunks of PNG.

The profile is written here, byte for byte the same everywhere, so no file of others is needed.
"""

import functools
import struct

NAME = "Display P3"
# Code points of ITU-T H.273 in a PNG's cICP: primaries, transfer, matrix (0: RGB), full range.
CICP = {"p3": bytes((12, 13, 0, 1)), "bt2020": bytes((9, 16, 0, 1))}
# Of Display P3 in ICC's connection space, whose white is D50 (Bradford's adaptation from D65)
WHITE = (0.9642, 1.0, 0.8249)
RED, GREEN, BLUE = (
    (0.515119, 0.241189, -0.001050),
    (0.291978, 0.692244, 0.041879),
    (0.157103, 0.066567, 0.784071),
)
ADAPTATION = (
    *(1.047886, 0.022919, -0.050216),
    *(0.029582, 0.990484, -0.017079),
    *(-0.009252, 0.015073, 0.751678),
)
# sRGB's curve, from values to light: (a v + b) ** g, or c v below d; g, a, b, c, d
CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
VERSION = 0x04300000


@functools.cache
def profile(gamut: str) -> bytes:
    """Return the ICC profile of a gamut; b"" for sRGB, which needs none."""
    if gamut != "p3":
        return b""
    curve = b"para" + struct.pack(">IHH", 0, 3, 0) + _fixed(*CURVE)
    tags = {
        b"desc": _text(NAME),
        b"cprt": _text("No rights reserved"),
        b"wtpt": _point(WHITE),
        b"chad": b"sf32" + bytes(4) + _fixed(*ADAPTATION),
        b"rXYZ": _point(RED),
        b"gXYZ": _point(GREEN),
        b"bXYZ": _point(BLUE),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, data, places = struct.pack(">I", len(tags)), b"", dict[bytes, int]()
    begin = 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        if content not in places:
            places[content] = begin + len(data)
            data += content + bytes(-len(content) % 4)
        table += name + struct.pack(">II", places[content], len(content))
    size = begin + len(data)
    head = struct.pack(">I4xI4s4s4s", size, VERSION, b"mntr", b"RGB ", b"XYZ ")
    head += struct.pack(">6H4s", 2026, 1, 1, 0, 0, 0, b"acsp") + bytes(28) + _fixed(*WHITE)
    return head + bytes(128 - len(head)) + table + data


def _fixed(*values: float) -> bytes:
    return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))


def _point(place: tuple[float, float, float]) -> bytes:
    return b"XYZ " + bytes(4) + _fixed(*place)


def _text(text: str) -> bytes:
    data = text.encode("utf-16-be")
    return b"mluc" + struct.pack(">4xII2s2sII", 1, 12, b"en", b"US", len(data), 28) + data
