"""PNG in strips of rows, compressed one by one, and how files say what their colors are.

Strips are compressed on all cores, and while the picture is being drawn: Pillow writes neither
that way nor 16 bits a channel. A strip knows nothing of its neighbours, and where it ends depends
on the picture's size alone: so the file is the same, byte for byte, in whatever order and by
however many threads its strips were compressed. The ICC profiles of gamuts are written here, so no
file of others is needed.
"""

import contextlib
import functools
import struct
import threading
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.threads import run_tiles

# Code points of ITU-T H.273 in a PNG's cICP: primaries, transfer, matrix (0: RGB), full range.
CICP = {"p3": bytes((12, 13, 0, 1)), "bt2020": bytes((9, 16, 0, 1))}
# Names and primaries of profiles in ICC's connection space, whose white is D50 (Bradford's
# adaptation from D65). Adobe RGB itself has another curve; a profile may have these primaries and
# that of sRGB.
WHITE = (0.9642, 1.0, 0.8249)
PROFILES = {
    "p3": (
        "Display P3",
        (
            (0.515119, 0.241189, -0.001050),
            (0.291978, 0.692244, 0.041879),
            (0.157103, 0.066567, 0.784071),
        ),
    ),
    "adobe": (
        "Adobe RGB primaries with the curve of sRGB",
        (
            (0.609741, 0.311113, 0.019465),
            (0.205273, 0.625675, 0.060875),
            (0.149187, 0.063212, 0.744560),
        ),
    ),
}
ADAPTATION = (
    *(1.047886, 0.022919, -0.050216),
    *(0.029582, 0.990484, -0.017079),
    *(-0.009252, 0.015073, 0.751678),
)
# sRGB's curve, from values to light: (a v + b) ** g, or c v below d; g, a, b, c, d
CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
VERSION = 0x04300000


@functools.cache
def icc_profile(gamut: str) -> bytes:
    """Return the ICC profile of a gamut; b"" for sRGB, which needs none."""
    if gamut not in PROFILES:
        return b""
    name, (red, green, blue) = PROFILES[gamut]
    curve = b"para" + struct.pack(">IHH", 0, 3, 0) + _fixed(*CURVE)
    tags = {
        b"desc": _unicode(name),
        b"cprt": _unicode("No rights reserved"),
        b"wtpt": _point(WHITE),
        b"chad": b"sf32" + bytes(4) + _fixed(*ADAPTATION),
        b"rXYZ": _point(red),
        b"gXYZ": _point(green),
        b"bXYZ": _point(blue),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, data, places = struct.pack(">I", len(tags)), b"", dict[bytes, int]()
    begin = 128 + 4 + 12 * len(tags)
    for tag, content in tags.items():
        if content not in places:
            places[content] = begin + len(data)
            data += content + bytes(-len(content) % 4)
        table += tag + struct.pack(">II", places[content], len(content))
    size = begin + len(data)
    head = struct.pack(">I4xI4s4s4s", size, VERSION, b"mntr", b"RGB ", b"XYZ ")
    head += struct.pack(">6H4s", 2026, 1, 1, 0, 0, 0, b"acsp") + bytes(28) + _fixed(*WHITE)
    return head + bytes(128 - len(head)) + table + data


def _fixed(*values: float) -> bytes:
    return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))


def _point(place: tuple[float, float, float]) -> bytes:
    return b"XYZ " + bytes(4) + _fixed(*place)


def _unicode(text: str) -> bytes:
    data = text.encode("utf-16-be")
    return b"mluc" + struct.pack(">4xII2s2sII", 1, 12, b"en", b"US", len(data), 28) + data


fast_zlib: Any = zlib
with contextlib.suppress(ImportError):  # the extra `fast`: three times as fast, and no larger
    from isal import isal_zlib

    fast_zlib = isal_zlib

Bytes = NDArray[np.uint8]
Pixels = NDArray[np.unsignedinteger[Any]]  # uint8 or uint16

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGB, SUB, UP = 2, 1, 2
PERCEPTUAL = b"\0"  # the intent of sRGB
STRIP = 2**19  # bytes: many strips for many threads, and few ends, as each costs some bytes
MIN_ROWS = 16  # of a strip, as its first one is not compared with the row above
WINDOW = -15  # raw deflate, of 32 KiB
BEGIN = b"\x78\x01"  # of a zlib stream
END = b"\x03\x00"  # an empty last block
ADLER = 65521
INCH = 0.0254  # metres
PIECE = 2**20  # bytes read at a time
# A chunk takes Python about 2 microseconds, so a file of many tiny ones would take minutes. Posters
# have strips of half a MiB; programs that write the smallest chunks write 8 KiB.
FEW_CHUNKS, MIN_CHUNK = 10_000, 256


class PngStrip(NamedTuple):
    """A strip of rows in the file: its chunk, and what is known of the bytes that went into it."""

    chunk: bytes
    checksum: int
    length: int


def row_bytes(size: tuple[int, int], bits: int) -> int:
    """Return how many bytes a row has before it is deflated: the number of its filter, and colors.

    >>> row_bytes((3840, 2160), 8)
    11521
    """
    return 1 + 3 * size[0] * bits // 8


def strip_rows(size: tuple[int, int], bits: int) -> int:
    """Return how many rows make a strip.

    >>> strip_rows((3840, 2160), 8)
    45
    """
    return min(size[1], max(MIN_ROWS, STRIP // (3 * size[0] * bits // 8)))


def begin(
    size: tuple[int, int],
    bits: int,
    texts: Mapping[str, str],
    software: str,
    dpi: float | None = None,
    gamut: str = "srgb",
) -> bytes:
    """Return the beginning of a file: all that stands before its first strip.

    `bits`: 8 or 16, a channel. `texts`: any text, by keyword. `gamut`: "srgb", "p3", "adobe", or
    "bt2020", whose values are those of PQ.
    """
    width, height = size
    parts = [SIGNATURE, chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, RGB, 0, 0, 0))]
    parts.append(chunk(b"sRGB", PERCEPTUAL) if gamut == "srgb" else _other_space(gamut))
    if dpi:
        dots = round(dpi / INCH)
        parts.append(chunk(b"pHYs", struct.pack(">IIB", dots, dots, 1)))
    for key, text in texts.items():
        parts.append(chunk(b"iTXt", key.encode("latin-1") + 5 * b"\0" + text.encode()))
    parts.append(chunk(b"tEXt", b"Software\0" + software.encode("latin-1")))
    parts.append(chunk(b"IDAT", BEGIN))
    return b"".join(parts)


def _other_space(gamut: str) -> bytes:
    """Return the chunks that say what colors are not sRGB; older readers know the profile alone."""
    found = chunk(b"cICP", CICP[gamut]) if gamut in CICP else b""
    if profile := icc_profile(gamut):
        # Stored as it is, because compressors differ.
        stored = BEGIN + b"\1" + struct.pack("<HH", len(profile), 0xFFFF ^ len(profile)) + profile
        stored += struct.pack(">I", zlib.adler32(profile))
        found += chunk(b"iCCP", PROFILES[gamut][0].encode() + b"\0\0" + stored)
    return found


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk: length, kind, content and checksum."""
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return b"".join((struct.pack(">I", len(content)), kind, content, struct.pack(">I", checksum)))


def compress(rows: Pixels, compression: str = "fast") -> PngStrip:
    """Return the strip of these rows, shape (height, width, 3).

    `compression`: "fast", or "small": about a fifth smaller, for some fifty times the time.
    """
    data = _filtered(rows)
    stream: Any
    if compression == "small":
        stream = zlib.compressobj(9, zlib.DEFLATED, WINDOW)
    elif fast_zlib is zlib and rows.itemsize == 1:  # zlib looks long for little but runs of a byte
        stream = zlib.compressobj(1, zlib.DEFLATED, WINDOW, strategy=zlib.Z_RLE)
    else:
        stream = fast_zlib.compressobj(1, zlib.DEFLATED, WINDOW)
    packed = stream.compress(data.data) + stream.flush(zlib.Z_SYNC_FLUSH)  # ends at a whole byte
    return PngStrip(chunk(b"IDAT", packed), zlib.adler32(data.data), data.size)


def _filtered(rows: Pixels) -> Bytes:
    """Return a strip's bytes, each less the one above; in its first row, less that on its left.

    Paeth and a choice row by row take longer than the compression and save next to nothing.
    """
    step = 3 * rows.itemsize
    big = np.ascontiguousarray(rows.astype(">u2") if rows.itemsize == 2 else rows)
    raw = big.view(np.uint8).reshape(len(rows), -1)
    data = np.empty((raw.shape[0], raw.shape[1] + 1), np.uint8)
    data[0, 0], data[1:, 0] = SUB, UP
    data[0, 1 : step + 1] = raw[0, :step]
    np.subtract(raw[0, step:], raw[0, :-step], out=data[0, step + 1 :])
    np.subtract(raw[1:], raw[:-1], out=data[1:, 1:])
    return data


class PngWriter:
    """Writes the strips of a picture, which come from any thread and in any order, to a file."""

    def __init__(self, file: BinaryIO, beginning: bytes) -> None:
        self._file = file
        self._waiting: dict[int, PngStrip] = {}
        self._next, self._checksum = 0, 1
        self._lock = threading.Lock()
        file.write(beginning)

    def put(self, number: int, strip: PngStrip) -> None:
        """Write a strip once all above it are written."""
        with self._lock:
            self._waiting[number] = strip
            while found := self._waiting.pop(self._next, None):
                self._file.write(found.chunk)
                self._checksum = join_checksums(self._checksum, found.checksum, found.length)
                self._next += 1

    def end(self) -> None:
        """Write the end of the file."""
        assert not self._waiting, "a strip is missing"
        self._file.write(chunk(b"IDAT", END + struct.pack(">I", self._checksum)))
        self._file.write(chunk(b"IEND", b""))


def join_checksums(first: int, second: int, length: int) -> int:
    """Return the Adler-32 of two pieces of data from theirs, and the length of the second.

    >>> join_checksums(zlib.adler32(b"fra"), zlib.adler32(b"ctals"), 5) == zlib.adler32(b"fractals")
    True
    """
    low, high = first & 0xFFFF, first >> 16
    low2, high2 = second & 0xFFFF, second >> 16
    high = (high + high2 + length * (low - 1)) % ADLER
    return high << 16 | (low + low2 - 1) % ADLER


def write(
    file: BinaryIO, beginning: bytes, pixels: Pixels, compression: str = "fast", threads: int = 1
) -> None:
    """Write a picture that is in memory, shape (height, width, 3)."""
    writer = PngWriter(file, beginning)
    height, width = pixels.shape[:2]
    rows = strip_rows((width, height), 8 * pixels.itemsize)
    put_rows(writer, 0, pixels, rows, compression, threads)
    writer.end()


def put_rows(
    writer: PngWriter, first: int, pixels: Pixels, rows: int, compression: str, threads: int
) -> int:
    """Write rows of a picture as strips of some rows each; return the number of the next strip.

    `first`: the number of the first strip.
    """

    def work(k: int) -> dict[str, float]:
        writer.put(first + k, compress(pixels[k * rows : (k + 1) * rows], compression))
        return {}

    strips = range(-(-len(pixels) // rows))
    run_tiles(strips, work, min(threads, len(strips)))
    return first + len(strips)


def begins(file: BinaryIO) -> bool:
    """Tell whether a file begins as a PNG does."""
    start = file.read(len(SIGNATURE) + 8)
    file.seek(len(SIGNATURE))
    return start[:8] == SIGNATURE and start[12:16] == b"IHDR"


def read_text(file: BinaryIO, keyword: str, most: int) -> str | None:
    """Return the text of a keyword, or None; the checksums of all chunks are verified.

    `file`: at its first chunk. `most`: bytes of a text that is read. `ValueError`: the file is
    damaged or cut short, or the text is longer.
    """
    begin, found = keyword.encode("latin-1") + b"\0", None
    kinds: set[bytes] = set()
    count = 0
    while b"IEND" not in kinds:
        head = file.read(8)
        if len(head) < 8:
            raise ValueError("its end is missing")
        length, kind = struct.unpack(">I4s", head)
        count += 1
        if count > FEW_CHUNKS and file.tell() < count * MIN_CHUNK:
            raise ValueError(f"its chunks are shorter than {MIN_CHUNK} bytes on average")
        text = kind in (b"tEXt", b"zTXt", b"iTXt") and found is None and b"IDAT" not in kinds
        content = _checked(file, kind, length, most if text else 0, begin)
        if content.startswith(begin):
            if length > most:
                raise ValueError(f"its text has {length} bytes, and {most} are the most")
            found = _text(kind, content[len(begin) :], most)
        kinds.add(kind)
    if b"IDAT" not in kinds:
        raise ValueError("it has no pixels")
    return found


def _checked(file: BinaryIO, kind: bytes, length: int, most: int, begin: bytes) -> bytes:
    """Read a chunk and verify its checksum; return the first `most` bytes if it begins so."""
    kept: list[bytes] = []
    checksum, left = zlib.crc32(kind), length
    while left:
        piece = file.read(min(left, PIECE))
        if not piece:
            raise ValueError("it is cut short")
        if most and (kept or piece.startswith(begin)):
            kept += [piece] * (length - left < most)
        checksum = zlib.crc32(piece, checksum)
        left -= len(piece)
    if file.read(4) != struct.pack(">I", checksum):
        raise ValueError(f"its chunk {kind.decode('latin-1')!r} is damaged")
    return b"".join(kept)


def _text(kind: bytes, content: bytes, most: int) -> str:
    """Return the text in a chunk of texts, after its keyword."""
    packed = kind == b"zTXt"
    if kind == b"iTXt":
        packed, content = content[:1] == b"\1", content[2:]
        content = content.partition(b"\0")[2].partition(b"\0")[2]  # language, keyword in it
    elif packed:
        content = content[1:]
    if packed:
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(content, most)
        except zlib.error as error:
            raise ValueError(f"its text is damaged: {error}") from None
        if not stream.eof:
            raise ValueError(f"its text is cut short, or longer than {most} bytes")
    return content.decode("utf-8" if kind == b"iTXt" else "latin-1")
