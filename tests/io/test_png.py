"""Our PNGs, of 8 and 16 bits: read by others, and the same in whatever order they are made."""

import io
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scenes import scene

import fractals
from fractals.color import palette
from fractals.io import png
from fractals.io.image import format_of, lost
from fractals.tools.pixels import read_pixels

SIZES = [(1, 1), (1, 7), (7, 1), (3, 2), (33, 129), (400, 50)]
TEXTS = {"fractals:scene": '{"title": "Grüße, 世界"}'}


@pytest.fixture(params=["zlib", "isal"])
def compressor(request, monkeypatch):
    """Each library that compresses fast."""
    module = zlib if request.param == "zlib" else pytest.importorskip("isal.isal_zlib")
    monkeypatch.setattr(png, "fast_zlib", module)


@pytest.fixture
def short_strips(monkeypatch):
    """Strips of few rows, so that small pictures have many."""
    monkeypatch.setattr(png, "STRIP", 1000)
    monkeypatch.setattr(png, "MIN_ROWS", 2)


def chunks_of(data):
    """Yield kind and content of each chunk, its checksum checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert checksum == zlib.crc32(kind + content)
        yield kind, content
        at += 12 + length


def decode(data):
    """Return the pixels of a PNG as lists, by the letter of its specification; filters 0 to 2."""
    found = list(chunks_of(data))
    assert [kind for kind, _ in found if kind != b"IDAT"][-1] == found[-1][0] == b"IEND"
    width, height, bits, color, *others = struct.unpack(">IIBBBBB", found[0][1])
    assert (found[0][0], color, others) == (b"IHDR", 2, [0, 0, 0])
    raw = zlib.decompress(b"".join(content for kind, content in found if kind == b"IDAT"))
    step = 3 * bits // 8
    above, rows = bytes(width * step), []
    assert len(raw) == height * (1 + len(above))
    for y in range(height):
        line = bytearray(raw[y * (1 + len(above)) :][: 1 + len(above)])
        filtered, row = line[0], line[1:]
        assert filtered in (0, 1, 2)
        for x in range(len(row)):
            left = row[x - step] if x >= step else 0
            row[x] = (row[x] + (0, left, above[x])[filtered]) % 256
        rows.append(struct.unpack(f">{3 * width}{'B' if bits == 8 else 'H'}", row))
        above = row
    return np.array(rows).reshape(height, width, 3)


def noise(size, bits, seed=0):
    """Return pixels of which some rows repeat, so that there is something to compress."""
    width, height = size
    numbers = np.random.default_rng(seed)
    pixels = numbers.integers(0, 2**bits, (height, width, 3), f"u{bits // 8}")
    pixels[height // 3 : height // 2] = 2**bits - 1
    return pixels


def encoded(pixels, compression="fast", threads=1, dpi=None):
    file = io.BytesIO()
    height, width = pixels.shape[:2]
    start = png.begin((width, height), 8 * pixels.itemsize, TEXTS, "fractals 1", dpi)
    png.write(file, start, pixels, compression, threads)
    return file.getvalue()


@pytest.mark.parametrize("compression", ["fast", "small"])
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_reader_gets_the_pixels(compressor, short_strips, size, bits, compression):
    pixels = noise(size, bits)
    data = encoded(pixels, compression)
    assert (decode(data) == pixels).all()
    with PIL.Image.open(io.BytesIO(data)) as picture:
        picture.verify()
    with PIL.Image.open(io.BytesIO(data)) as picture:
        seen = np.asarray(picture.convert("RGB"))
        assert picture.info["fractals:scene"] == TEXTS["fractals:scene"]
        assert picture.info["Software"] == "fractals 1"
    assert (seen == (pixels if bits == 8 else pixels >> 8)).all()  # Pillow reads 8 bits


@pytest.mark.parametrize("bits", [8, 16])
def test_own_reader(tmp_path, compressor, short_strips, bits):
    for size in SIZES:
        pixels = noise(size, bits)
        (tmp_path / "a.png").write_bytes(encoded(pixels))
        found = read_pixels(tmp_path / "a.png", 16)
        assert found.dtype == pixels.dtype
        assert (found == pixels).all()


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_are_not_seen(compressor, short_strips, threads):
    pixels = noise((90, 200), 8)
    assert encoded(pixels, threads=threads) == encoded(pixels)


def test_order_is_not_seen(short_strips):
    pixels = noise((90, 200), 8)
    rows = png.strip_rows((90, 200), 8)
    strips = [
        (k, png.compress(pixels[top : top + rows])) for k, top in enumerate(range(0, 200, rows))
    ]
    assert len(strips) > 20
    random.Random(1).shuffle(strips)
    file = io.BytesIO()
    writer = png.PngWriter(file, png.begin((90, 200), 8, TEXTS, "fractals 1"))
    for number, strip in strips:
        writer.put(number, strip)
    writer.end()
    assert file.getvalue() == encoded(pixels)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_checksums_of_pieces(first, second):
    joined = png.join_checksums(zlib.adler32(first), zlib.adler32(second), len(second))
    assert joined == zlib.adler32(first + second)


def test_checksums_of_long_pieces():
    piece = bytes([255]) * 1_000_003
    joined = png.join_checksums(zlib.adler32(piece), zlib.adler32(piece), len(piece))
    assert joined == zlib.adler32(piece + piece)


def test_strips_have_some_rows_and_depend_on_the_size_alone():
    assert png.strip_rows((200_000, 200_000), 16) == png.MIN_ROWS
    assert png.strip_rows((5, 3), 8) == 3
    assert 3 * 1920 * png.strip_rows((1920, 1080), 8) <= png.STRIP


@pytest.mark.parametrize("dpi", [1, 72, 300, 299.5, 65_535])
def test_physical_size(dpi):
    data = encoded(noise((4, 4), 8), dpi=dpi)
    with PIL.Image.open(io.BytesIO(data)) as picture:
        assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=0.02)
    assert b"pHYs" not in encoded(noise((4, 4), 8))


def test_a_level_picture_is_small_and_small_is_smaller():
    pixels = fractals.render({"image": {"size": [320, 180]}}, device="cpu").pixels
    fast, small = len(encoded(pixels)), len(encoded(pixels, "small"))
    assert small < 0.95 * fast < fast < 0.5 * pixels.size


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data[:-6], "damaged"),
        (lambda data: data[:200] + b"x" + data[201:], "damaged"),
        (lambda data: b"GIF89a" + data, "no header"),
        (lambda data: b"", "no header"),
        (
            lambda data: (
                data[:8] + png.chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 9, 4, 3, 0, 0, 0))
            ),
            "RGB",
        ),
        (
            lambda data: (
                data[:8]
                + png.chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0))
                + data[33:]
            ),
            "filtered",
        ),
        (
            lambda data: (  # of more bytes than 64 bits count
                data[:8]
                + png.chunk(b"IHDR", struct.pack(">IIBBBBB", 2**32 - 1, 2**32 - 1, 16, 2, 0, 0, 0))
                + data[33:]
            ),
            "incomplete",
        ),
    ],
)
def test_bad_files(tmp_path, spoil, words):
    path = tmp_path / "a.png"
    path.write_bytes(spoil(encoded(noise((8, 8), 8))))
    with pytest.raises(fractals.SceneError, match=words):
        read_pixels(path, 16)


def test_files_of_others(tmp_path):
    gradient = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    PIL.Image.fromarray(np.stack(3 * [gradient * gradient], axis=2)).save(tmp_path / "a.png")
    with pytest.raises(fractals.SceneError, match="in another way"):
        read_pixels(tmp_path / "a.png", 16)
    with pytest.raises(fractals.SceneError, match="No such file"):
        read_pixels(tmp_path / "b.png", 16)


def test_images_are_encoded_with_their_scene(tmp_path):
    image = fractals.render(scene(size=(33, 20), bits=16, dpi=150), device="cpu")
    assert image.pixels.dtype == np.uint16
    assert image._repr_png_() == image.encode()
    image.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == image.encode()
    assert fractals.load_scene(tmp_path / "a.png") == image.scene
    assert (decode(image.encode()) == image.pixels).all()


def test_16_bits_are_not_8_bits_scaled_up():
    """Both are rounded from the same light, so that they agree to half a step of 8 bits."""
    drawn = scene(size=(64, 36), supersampling=2)
    coarse = fractals.render(drawn, device="cpu").pixels
    fine = fractals.render(drawn, {"image": {"bits": 16}}, device="cpu").pixels
    assert abs(fine / 257 - coarse).max() < 0.6
    assert len(np.unique(fine)) > 4 * len(np.unique(coarse))
    assert (np.unique(fine) % 257 != 0).mean() > 0.9


def test_every_value_of_16_bits_can_occur():
    table = palette.encoding(16)
    light = np.arange(len(table)) / (len(table) - 1)
    assert table.dtype == np.uint16
    assert len(np.unique(table)) == 2**16
    assert abs(palette.linear_from_srgb(table / 65535) - light).max() < 2e-5


@pytest.mark.parametrize("name", ["a.jpg", "a.webp", "a.ppm"])
def test_other_types_hold_8_bits(tmp_path, name):
    image = fractals.render(scene(bits=16), device="cpu")
    with pytest.raises(fractals.OptionError, match=r"8 bits.*write a \.png or \.tif"):
        image.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_png_names_its_color_space():
    found = chunks_of(fractals.render(scene(), device="cpu").encode())
    kinds = [kind for kind, _ in found]
    assert kinds.index(b"sRGB") < kinds.index(b"IDAT")


def strip_of(path):
    """Return the pixels of a TIFF's only strip, by the letter of its specification."""
    with PIL.Image.open(path) as picture:
        tags = dict(picture.tag_v2)
    width, height, bits = tags[256], tags[257], tags[258]
    assert (tags[259], tags[262], tags[277], tags[317], len(tags[273])) == (8, 2, 3, 2, 1)
    data = path.read_bytes()[tags[273][0] :]
    assert len(data) == tags[279][0]
    given = np.frombuffer(zlib.decompress(data), {8: "u1", 16: "<u2"}[bits[0]])
    given = given.reshape(height, width, 3)
    return np.cumsum(given, axis=1, dtype=given.dtype)


@pytest.mark.parametrize("bits", [8, 16])
def test_a_tiff_has_every_bit(tmp_path, bits):
    image = fractals.render(scene(bits=bits, size=(33, 17)), device="cpu")
    image.save(tmp_path / "a.tif")
    assert np.array_equal(strip_of(tmp_path / "a.tif"), image.pixels)
    with PIL.Image.open(tmp_path / "a.tif") as picture:
        assert np.array_equal(np.asarray(picture), image.pixels >> (bits - 8))


@pytest.mark.parametrize("name", ["a.jpg", "a.jpeg", "a.webp", "a.tif", "a.tiff"])
def test_pictures_of_other_types_carry_their_scene(tmp_path, name):
    drawn = scene(title="Grüße, 世界", size=(9, 7))
    image = fractals.render(drawn, device="cpu")
    image.save(tmp_path / name)
    assert fractals.load_scene(tmp_path / name) == drawn
    assert lost(format_of(name), drawn) == ""
    PIL.Image.new("RGB", (4, 4)).save(tmp_path / f"other-{name}")
    with pytest.raises(fractals.SceneError, match="carries no scene"):
        fractals.load_scene(tmp_path / f"other-{name}")
    (tmp_path / name).write_bytes(b"no picture")
    with pytest.raises(fractals.SceneError, match="the picture is damaged"):
        fractals.load_scene(tmp_path / name)
    with pytest.raises(fractals.SceneError, match="no such file"):
        fractals.load_scene(tmp_path / f"none-{name}")


def test_a_scene_too_large_for_a_jpeg_is_reported(tmp_path):
    stops = ["#123456", "#fedcba"] * 2000
    image = fractals.render(scene(size=(9, 7), palette={"stops": stops}), device="cpu")
    image.save(tmp_path / "a.jpg")
    image.save(tmp_path / "a.tif")
    assert "carries at most 65000 bytes of a scene" in lost("JPEG", image.scene)
    assert lost("TIFF", image.scene) == ""
    assert fractals.load_scene(tmp_path / "a.tif") == image.scene
    with pytest.raises(fractals.SceneError, match="carries no scene"):
        fractals.load_scene(tmp_path / "a.jpg")


def test_a_tiff_of_more_than_4_gib_is_refused(tmp_path):
    with pytest.raises(fractals.OptionError, match="TIFF holds at most 4 GiB"):
        fractals.render_to(tmp_path / "a.tif", size=(60_000, 60_000))


@pytest.mark.parametrize(("name", "side"), [("a.jpg", 65_501), ("a.webp", 16_384)])
def test_types_with_a_largest_side(tmp_path, name, side):
    with pytest.raises(fractals.OptionError, match="at most"):
        fractals.render_to(tmp_path / name, scene(size=(side, 1)))


@pytest.mark.parametrize("name", ["a.jpg", "a.tif"])
def test_dpi_of_other_types(tmp_path, name):
    fractals.render(scene(dpi=300), device="cpu").save(tmp_path / name)
    with PIL.Image.open(tmp_path / name) as picture:
        assert picture.info["dpi"] == pytest.approx((300, 300))


def test_the_benchmark_of_writers(tmp_path, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import encode

    assert encode.main(["mandelbrot", "noise", "--size", "64x48", "--runs", "1", "--json"]) == 0
    saved = tmp_path / "encode.json"
    saved.write_text(capsys.readouterr().out)
    assert encode.main(["--read", str(saved)]) == 0
    shown = capsys.readouterr().out
    assert "64x48" in shown
    assert "16 bits, 1 thread" in shown
    assert "Pillow, 6" in shown
    assert encode.main(["--runs", "0"]) == 2
    saved.write_text("{}")
    assert encode.main(["--read", str(saved)]) == 3
    assert capsys.readouterr().err.count("encode: ") == 2
