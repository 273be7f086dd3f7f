"""A profile of CMYK, made for tests: four inks on white paper, whose colors are pale."""

import itertools
import struct

import numpy as np

TO_XYZ = np.array(  # of linear sRGB, with the white D50
    [
        [0.4360747, 0.3850649, 0.1430804],
        [0.2225045, 0.7168786, 0.0606169],
        [0.0139322, 0.0971045, 0.7141733],
    ]
)
WHITE = TO_XYZ.sum(axis=1)
PALE = 0.6  # how far colors are from gray, of what they are in sRGB
NODES = {"inks": 9, "colors": 17}  # of the tables, along each side


def lab_of(rgb):
    """Return CIE Lab of colors of sRGB, 0 to 1."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = linear @ TO_XYZ.T / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def rgb_of(lab):
    """Return the nearest colors of sRGB, 0 to 1."""
    y = (lab[:, 0] + 16) / 116
    f = np.stack([y + lab[:, 1] / 500, y, y - lab[:, 2] / 200], axis=1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * WHITE
    linear = (xyz @ np.linalg.inv(TO_XYZ).T).clip(0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def colors_of(inks):
    """Return the colors of inks, both 0 to 1."""
    rgb = (1 - inks[:, :3] - inks[:, 3:]).clip(0, 1)
    return PALE * rgb + (1 - PALE) * rgb.mean(axis=1, keepdims=True)


def inks_of(rgb):
    """Return the inks of colors; those that are too strong get the most ink."""
    gray = rgb.mean(axis=1, keepdims=True)
    lack = 1 - (gray + (rgb - gray) / PALE).clip(0, 1)
    black = lack.min(axis=1, keepdims=True)
    return np.concatenate([lack - black, black], axis=1)


def grid(sides, nodes):
    """Return the points of a table, 0 to 1; the last number changes fastest."""
    return np.array(list(itertools.product(np.linspace(0, 1, nodes), repeat=sides)))


def table(values, inputs, nodes):
    """Return a table of 8 bits, as of ICC's lut8Type; `values` are 0 to 1."""
    outputs, straight = values.shape[1], bytes(range(256))
    head = struct.pack(">4s4x4B", b"mft1", inputs, outputs, nodes, 0)
    matrix = struct.pack(">9i", *(65536 * np.eye(3, dtype=int)).ravel())
    entries = np.rint(255 * values.clip(0, 1)).astype(np.uint8).tobytes()
    return head + matrix + straight * inputs + entries + straight * outputs


def in_bytes(lab):
    """Return Lab as its table has it, 0 to 1."""
    return np.stack([lab[:, 0] / 100, (lab[:, 1] + 128) / 255, (lab[:, 2] + 128) / 255], axis=1)


def profile():
    """Return the bytes of the profile, of ICC's version 2."""
    inks, colors = grid(4, NODES["inks"]), grid(3, NODES["colors"])
    lab = np.stack([100 * colors[:, 0], 255 * colors[:, 1] - 128, 255 * colors[:, 2] - 128], axis=1)
    name = b"Pale inks\0"
    tags = {
        b"desc": struct.pack(">4s4xI", b"desc", len(name)) + name + bytes(78),
        b"cprt": b"text\0\0\0\0Public domain\0",
        b"wtpt": struct.pack(">4s4x3i", b"XYZ ", *(round(65536 * v) for v in WHITE)),
        b"A2B0": table(in_bytes(lab_of(colors_of(inks))), 4, NODES["inks"]),
        b"B2A0": table(inks_of(rgb_of(lab)), 3, NODES["colors"]),
    }
    at, index, body = 128 + 4 + 12 * len(tags), b"", b""
    for tag, data in tags.items():
        index += struct.pack(">4sII", tag, at + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    size = at + len(body)
    head = struct.pack(">I4xI4s4s4s12x4s", size, 0x02400000, b"prtr", b"CMYK", b"Lab ", b"acsp")
    light = struct.pack(">3i", *(round(65536 * v) for v in (0.9642, 1, 0.8249)))
    head += bytes(28) + light
    return head + bytes(128 - len(head)) + struct.pack(">I", len(tags)) + index + body
