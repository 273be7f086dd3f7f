"""Files of strangers: they reach no other files, hang nothing, and end in one line."""

import json
import os
import signal
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from support.command_line import hear_signals
from support.deadline import deadline
from support.memory import most_memory
from support.scenes import scene
from support.stores import change_header, contents

import fractals
from fractals import EscapeData, FractalsError, InputError, OptionError, SceneError
from fractals.errors import listed, shown
from fractals.io import files, film_files, load, png
from fractals.io.foreign import formats, par
from fractals.io.load import load_scene
from fractals.io.stores.store import open_store
from fractals.tools.pixels import read_pixels

posix = pytest.mark.skipif(os.name != "posix", reason="modes, pipes, and links without a right")
MAP = "0 0 0\n255 255 255\n"


def one_line(error):
    return len(str(error.value).split("\n")) == 1


def refused(path):
    """Return the one line that a file is refused with, before the deadline."""
    with pytest.raises(FractalsError) as caught, deadline():
        EscapeData.load(path) if Path(path).suffix in (".npz", ".fz", ".exr") else load_scene(path)
    assert one_line(caught)
    return str(caught.value)


# Other files


@pytest.fixture
def victim(tmp_path):
    """A folder with a scene of a stranger, and private files beside that folder."""
    inside = tmp_path / "got"
    inside.mkdir()
    (tmp_path / "secret.map").write_text("TOPSECRET password\n")
    (tmp_path / "good.map").write_text(MAP)
    PIL.Image.new("RGB", (4, 4)).save(tmp_path / "private.jpg")
    os.symlink(tmp_path / "good.map", inside / "link.map")
    (inside / "own").mkdir()
    (inside / "own" / "x.map").write_text(MAP)
    (inside / "bad.map").write_text("TOPSECRET password\n")
    return inside


@pytest.mark.parametrize("kind", ["toml", "json", "png", "fz"])
@pytest.mark.parametrize(
    "name", ["{}/good.map", "../good.map", "own/../../good.map", "link.map", "{}/secret.map"]
)
def test_a_palette_elsewhere_is_not_read(victim, kind, name):
    palette = name.format(victim.parent)
    table = {"color": {"palette": palette}}
    path = victim / f"a.{kind}"
    if kind == "toml":
        path.write_text(f"[color]\npalette = '{palette}'\n")
    elif kind == "json":
        path.write_text(json.dumps(table))
    elif kind == "png":
        start = png.begin((1, 1), 8, {files.SCENE_KEY: json.dumps(table)}, "x")
        with path.open("wb") as file:
            png.write(file, start, np.zeros((1, 1, 3), np.uint8))
    else:
        fractals.compute_to(path, scene(), device="python")
        change_header(path, scene={**scene().to_table(), **table})
    said = refused(path)
    assert "TOPSECRET" not in said
    assert "not in the folder of the scene" in said or kind == "fz"
    assert not isinstance(load_scene({"color": {"palette": str(victim / "own/x.map")}}), str)


@pytest.mark.parametrize(
    ("function", "table"),
    [
        ("find_palette", {"color": {"palette": "x.map"}}),
        ("read_trap_image", {"color": {"coloring": {"name": "picture_trap", "picture": "x.png"}}}),
        ("embed_film", {"film": {"keys": []}}),
    ],
)
def test_an_error_keeps_what_it_is_about_where_a_file_is_named(
    tmp_path, monkeypatch, function, table
):
    """The explorer's page says it in its own language; see `FractalsError.about`."""

    def failing(*_):
        raise InputError("too much", code="takes_at_most", limit=3)

    monkeypatch.setattr(film_files if function == "embed_film" else load, function, failing)
    (tmp_path / "a.json").write_text(json.dumps(table))
    with pytest.raises(SceneError, match="too much") as caught:
        load_scene(tmp_path / "a.json")
    assert caught.value.about == {"code": "takes_at_most", "limit": 3}


def test_an_error_in_a_file_of_another_program_keeps_what_it_is_about(tmp_path, monkeypatch):
    def failing(*_):
        raise SceneError("too much", code="takes_at_most", limit=3)

    monkeypatch.setattr(par, "scene_of", failing)
    (tmp_path / "a.par").write_text("a { type=mandel }")
    with pytest.raises(SceneError, match=r"a\.par: a: too much") as caught:
        load_scene(tmp_path / "a.par")
    assert caught.value.about == {"code": "takes_at_most", "limit": 3}


def test_palettes_beside_a_scene_and_those_that_the_user_names(victim, monkeypatch):
    (victim / "a.toml").write_text("[color]\npalette = 'own/x.map'\n")
    assert len(load_scene(victim / "a.toml").color.palette.stops) == 2
    (victim / "a.toml").write_text("[color]\nlayers = [{palette = 'bad.map'}]\n")
    said = refused(victim / "a.toml")
    assert "TOPSECRET" not in said
    assert "fractals show" in said
    monkeypatch.chdir(victim)
    for table in ({"color": {"palette": "../good.map"}}, {"color": {"palette": "link.map"}}):
        assert len(load_scene(table).color.palette.stops) == 2
    assert len(load_scene(palette=str(victim.parent / "good.map")).color.palette.stops) == 2


@pytest.mark.parametrize("name", ["{}/private.jpg", "../private.jpg"])
def test_a_picture_elsewhere_is_not_embedded(victim, name):
    picture = name.format(victim.parent)
    coloring = {"name": "picture_trap", "picture": picture}
    group = {"layers": [{"layers": [{"picture_mask": picture}]}]}
    for color in ({"coloring": coloring}, {"layers": [{"picture_mask": picture}]}, group):
        (victim / "a.json").write_text(json.dumps({"color": color}))
        assert "not in the folder of the scene" in refused(victim / "a.json")
    own = {"name": "picture_trap", "picture": str(victim.parent / "private.jpg")}
    assert load_scene({"color": {"coloring": own}}).color.coloring.name == "picture_trap"


def test_folders_and_texts_of_other_encodings_are_told_in_words(tmp_path):
    (tmp_path / "a.png").mkdir()
    (tmp_path / "a.npz").mkdir()
    (tmp_path / "a.toml").write_bytes('title = "größer"\n'.encode("latin-1"))
    (tmp_path / "b.toml").write_bytes('title = "a"\n'.encode("utf-16")[:-1])
    for name, said in (("png", "Is a directory"), ("toml", "neither UTF-8 nor UTF-16 text")):
        with pytest.raises(SceneError, match=f"a.{name}: {said}$"):
            load_scene(tmp_path / f"a.{name}")
    with pytest.raises(SceneError, match=r"b\.toml: neither UTF-8 nor UTF-16 text$"):
        load_scene(tmp_path / "b.toml")
    with pytest.raises(InputError, match=r"a\.npz: Is a directory$"):
        EscapeData.load(tmp_path / "a.npz")


def test_a_scene_that_is_a_text_is_no_name_of_a_file(tmp_path):
    (tmp_path / "a.toml").write_text("title = 'x'\n")
    fractals.compute(scene(), device="python").save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        arrays = dict(archive)
    for text in (json.dumps(str(tmp_path / "a.toml")), "[]", "3", "null", "[" * 100_000, "{"):
        np.savez(tmp_path / "b.npz", **{**arrays, "scene": np.array(text)})
        refused(tmp_path / "b.npz")
    with pytest.raises(OptionError, match="is no scene"):
        load_scene(["a.toml"])


@posix
def test_a_store_with_a_link_is_not_written_through(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_bytes(b"mine" * 1000)
    path = tmp_path / "a.fz"
    fractals.compute_to(path, scene(), device="python")
    tiles = (path / "tiles.npy").read_bytes()
    (path / "tiles.npy").write_bytes(tiles[:128] + bytes(len(tiles) - 128))
    (path / "z.npy").unlink()
    os.symlink(precious, path / "z.npy")
    with pytest.raises(FractalsError, match=r"z\.npy is a symbolic link"):
        fractals.compute_to(path, scene(), device="python")
    assert precious.read_bytes() == b"mine" * 1000
    (path / "z.npy").unlink()
    os.mkfifo(path / "z.npy")
    with pytest.raises(FractalsError, match=r"z\.npy is not a regular file"):
        fractals.compute_to(path, scene(), device="python")


def test_every_flipped_bit_of_a_header_is_noticed(tmp_path):
    path = tmp_path / "a.fz"
    fractals.compute_to(path, scene(), device="python")
    whole = (path / "header.json").read_bytes()
    given = json.loads(whole)
    for place in range(0, 8 * len(whole), 7):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        (path / "header.json").write_bytes(damaged)
        try:
            assert json.loads(damaged) == given  # blanks
        except (ValueError, AssertionError):
            refused(path)


# Raw numbers


def changed(raw, **arrays):
    """Return the arrays of an archive, changed."""
    kept = {
        "count": raw.count,
        "z": raw.z,
        "dz": raw.dz,
        "max_iterations": np.int64(raw.max_iterations),
        "scene": np.array(raw.scene.to_json()),
    }
    return {key: array for key, array in {**kept, **arrays}.items() if array is not None}


@pytest.fixture(scope="module")
def numbers():
    return fractals.compute(scene(), device="python")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dz": np.zeros((1, 1), complex)}, "dz has the shape"),
        ({"dz": np.array([["text"]])}, "dz is of <U4"),
        ({"z": np.zeros((9, 16), ">c16")}, "z is of >c16"),
        ({"z": np.zeros((9, 16), np.clongdouble)}, "z is of"),
        ({"z": np.zeros((9, 16))}, "z is of float64"),
        ({"count": np.zeros((9, 16), np.int64)}, "count is of int64"),
        ({"count": np.zeros((9, 16), bool)}, "count is of bool"),
        ({"count": np.zeros((0, 0), np.int32)}, "has the shape (0, 0)"),
        ({"count": np.zeros(9, np.int32)}, "has the shape (9,)"),
        ({"count": np.full((9, 16), 61, np.int32)}, "a count of 61"),
        ({"count": np.full((9, 16), -1, np.int32)}, "a count of -1"),
        ({"max_iterations": np.int64(-5)}, "max_iterations is -5"),
        ({"max_iterations": np.int64(2**31)}, "max_iterations is 2147483648"),
        ({"max_iterations": np.array([1, 2])}, "not a whole number"),
        ({"max_iterations": np.float64(60)}, "not a whole number"),
        ({"max_iterations": None}, "missing"),
        ({"count_offset": np.int64(2**40)}, "count_offset is 1099511627776"),
        ({"count_offset": np.float64("nan")}, "count_offset is nan"),
        ({"statistics x.y": np.zeros((9, 16), np.float32)}, "statistics x.y is of float32"),
        ({"statistics x.y": np.zeros((9, 15))}, "statistics x.y has the shape"),
        ({"scene": np.array(5)}, "the scene in it is not a text"),
        ({"method": np.array(5)}, "the method in it is not a text"),
        ({"method": np.array("guess")}, "the method 'guess' is neither"),
        ({"scene": np.array('{"image": {"size": [9, 9]}}')}, "the scene inside"),
        ({"z": None}, "missing"),
    ],
    ids=str,
)
def test_archives_of_any_numbers_are_refused(tmp_path, numbers, change, words):
    np.savez(tmp_path / "a.npz", **changed(numbers, **change))
    assert words in refused(tmp_path / "a.npz")


def test_a_scene_of_code_points_that_are_no_unicode(tmp_path, numbers):
    """NumPy makes strings of them, which crash what is written in Rust."""
    text = np.array([ord("{"), 0x110000, 0xD800], "<u4").view("<U3").reshape(())
    np.savez(tmp_path / "a.npz", **changed(numbers, scene=text))
    assert "utf-32" in refused(tmp_path / "a.npz")


def test_archives_that_unpack_to_more_than_the_memory(tmp_path, numbers):
    arrays = changed(numbers)
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                if key != "z":
                    np.lib.format.write_array(file, np.asanyarray(array))
                    continue
                header = {"descr": "<c16", "fortran_order": False, "shape": (10_000, 1000)}
                np.lib.format.write_array_header_1_0(file, header)
                for _ in range(160):
                    file.write(bytes(10**6))
    assert "would unpack from" in refused(tmp_path / "a.npz")
    np.savez_compressed(tmp_path / "b.npz", **arrays)
    assert (EscapeData.load(tmp_path / "b.npz").count == numbers.count).all()
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
        for k in range(30_000):
            archive.writestr(f"a{k:050}.npy", b"")
    assert "directory is too large" in refused(tmp_path / "c.npz")


def test_numbers_in_python_are_checked_before_they_are_used(numbers):
    fields = {"count": numbers.count, "z": numbers.z, "dz": numbers.dz}
    for change, words in (
        ({"dz": np.zeros((1, 1), complex)}, "dz has the shape"),
        ({"count": np.full_like(numbers.count, 99)}, "a count of 99"),
        ({"count": numbers.count.tolist()}, "count: give a NumPy array"),
        ({"z": numbers.z.astype(np.clongdouble)}, "z of type"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ):
        given = {"max_iterations": 60, "scene": numbers.scene, **fields, **change}
        with pytest.raises(FractalsError) as caught:
            fractals.recolor(EscapeData(**given), device="cpu")
        assert words in str(caught.value)
        assert one_line(caught)


def test_bad_numbers_do_not_clear_a_store(tmp_path, numbers):
    numbers.save(tmp_path / "a.fz")
    before = contents(tmp_path / "a.fz")
    bad = EscapeData(
        np.full_like(numbers.count, 99), numbers.z, numbers.dz, 60, scene=numbers.scene
    )
    with pytest.raises(FractalsError, match="a count of 99"):
        bad.save(tmp_path / "a.fz", overwrite=True)
    bad.count = numbers.count.astype(np.int64)
    with pytest.raises(FractalsError, match="count is of int64"):
        bad.save(tmp_path / "a.fz", overwrite=True)
    assert contents(tmp_path / "a.fz") == before


def test_statistics_may_be_nan_and_infinite(numbers):
    z = numbers.z.copy()
    z[::2], z[1::3] = np.nan, np.inf
    for coloring in ("smooth", "distance", "histogram", "rank", "decomposition"):
        raw = EscapeData(numbers.count, z, z, 60, scene=numbers.scene.replace(coloring=coloring))
        plain, compiled = (fractals.recolor(raw, device=d).pixels for d in ("python", "cpu"))
        assert (plain == compiled).all()


def test_counts_of_a_store_are_checked_on_use(tmp_path, numbers):
    path = tmp_path / "a.fz"
    numbers.save(path)
    whole = (path / "count.npy").read_bytes()
    count = np.frombuffer(whole[128:], "<i4").copy()
    count[3] = 2**31 - 1
    (path / "count.npy").write_bytes(whole[:128] + count.tobytes())
    tiles = np.load(path / "tiles.npy")
    header = json.loads((path / "header.json").read_text())
    assert len(tiles) == -(-9 // header["tile_rows"])
    for k in range(len(tiles)):
        rows = count.reshape(9, 16)[k * header["tile_rows"] : (k + 1) * header["tile_rows"]]
        tiles[k, 0] = open_store(path).sum_of(k, "count", np.ascontiguousarray(rows))
    np.save(path / "tiles.npy", tiles)
    with pytest.raises(FractalsError, match="a count of 2147483647"):
        fractals.recolor(EscapeData.load(path), device="cpu")


def test_an_exr_of_a_formula_without_degree(tmp_path):
    pytest.importorskip("OpenEXR")
    for formula in ("sine", "newton"):
        drawn = scene(formula=formula, coloring="count", size=(16, 9))
        raw = fractals.compute(drawn, device="python")
        raw.save(tmp_path / f"{formula}.exr")
        again = EscapeData.load(tmp_path / f"{formula}.exr")
        assert (again.count == raw.count).all()
        wanted, found = (fractals.recolor(each, device="python").pixels for each in (raw, again))
        assert (wanted == found).all()


# Pictures


def chunked(*chunks):
    return png.SIGNATURE + b"".join(png.chunk(kind, content) for kind, content in chunks)


def header(width, height, bits=8):
    return b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)


SCENE_TEXT = b"iTXt", b"fractals:scene" + 5 * b"\0" + scene().to_json().encode()
IDAT, IEND = (b"IDAT", zlib.compress(bytes(10))), (b"IEND", b"")


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ([header(16, 9), SCENE_TEXT, IEND], "it has no pixels"),
        ([IDAT, header(16, 9), SCENE_TEXT, IEND], "not a PNG"),
        ([header(16, 9), SCENE_TEXT, IDAT], "its end is missing"),
        ([header(16, 9), IDAT, IEND], "carries no scene"),
        ([header(16, 9), (b"iTXt", SCENE_TEXT[1] + b" " * 2**25), IDAT, IEND], "are the most"),
        (
            [
                header(16, 9),
                (b"zTXt", b"fractals:scene\0\0" + zlib.compress(bytes(2**26))),
                IDAT,
                IEND,
            ],
            "longer than",
        ),
        ([header(16, 9), *[(b"tEXt", b"a\0")] * 20_000, IDAT, IEND], "shorter than"),
        (
            [header(16, 9), (b"iTXt", b"fractals:scene" + 5 * b"\0" + b'"a.toml"'), IDAT, IEND],
            "not a text",
        ),
    ],
)
def test_pngs_are_read_within_bounds(tmp_path, chunks, words):
    path = tmp_path / "a.png"
    path.write_bytes(chunked(*chunks))
    assert words in refused(path)


def test_texts_of_other_kinds_are_read(tmp_path):
    text = scene().to_json().encode()
    for kind, content in (
        (b"tEXt", b"fractals:scene\0" + text),
        (b"zTXt", b"fractals:scene\0\0" + zlib.compress(text)),
        (b"iTXt", b"fractals:scene\0\1\0en\0szene\0" + zlib.compress(text)),
    ):
        (tmp_path / "a.png").write_bytes(chunked(header(16, 9), (kind, content), IDAT, IEND))
        assert load_scene(tmp_path / "a.png") == scene()


@pytest.mark.parametrize("bits", [8, 16])
def test_sizes_of_pictures_are_compared_before_unpacking(tmp_path, bits):
    path = tmp_path / "a.png"
    path.write_bytes(chunked(header(60_000, 60_000, bits), SCENE_TEXT, IDAT, IEND))
    for size in ((16, 9), (60_000, 60_000)):
        if bits == 8 and size[0] > 16:
            continue  # Pillow needs the memory of the picture
        incomplete = pytest.raises(SceneError, match=r"60000x60000|incomplete")
        with incomplete as caught, deadline():
            read_pixels(path, bits, size)
        assert one_line(caught)
    path.write_bytes(chunked(header(16, 9, bits), SCENE_TEXT, IDAT, IEND))
    with pytest.raises(SceneError, match=r"cut short|incomplete"):
        read_pixels(path, bits, (16, 9))


# Time and memory

HANGS = {
    "digits.xpf": lambda: "(initstate)(formula 'user)(usrform \"" + "1" * 150_000 + '")',
    "short.xpf": lambda: "(initstate)(formula 'user)(usrform \"" + "1" * 499 + '")',
    "brackets.xpf": lambda: "(a)" * 2_000_000,
    "words.xpf": lambda: "(a " + "b " * 3_000_000,
    "blanks.ugr": lambda: "a" + " " * 8_000_000 + "b",
    "braces.ugr": lambda: "a" + "{" * 4_000_000,
    "goes_on.ugr": lambda: "a {\n" + 'gradient: title="x\\\n' * 90_000,
    "braces.par": lambda: "a{}" * 100_000,
    "goes_on.par": lambda: "a { " + "x\\\n" * 99_000,
    "params.par": lambda: "a { type=mandel params=" + "1/" * 2_000_000 + "1 }",
    "corners.par": lambda: "a { corners=" + "/".join(["1." + "1" * 149_000] * 4) + " }",
    "keys.par": lambda: "a { " + " ".join(f"k{k}=1" for k in range(90_000)) + " }",
    "braces.ufm": lambda: "a{}" * 30_000,
    "goes_on.ufm": lambda: 'a {\ninit: z = "x\\\n' * 30_000,
    "quotes.ufm": lambda: "a { loop: x = " + '"' * 500_000 + "}",
    "params.ufm": lambda: "a { loop: z = " + "+".join(f"@p{k}(z)" for k in range(200_000)) + "}",
    "asked.ufm": lambda: "a { loop:\n z = " + "".join(f"@p{k}\n" for k in range(7000)) + "}",
    "turns.ufm": lambda: (
        "a { loop:\nint i = 0\n"
        + "while i < 9\n" * 30
        + "i = 0\n"
        + "endwhile\n" * 30
        + "bailout: |z| < 4 }"
    ),
    "calls.ufm": lambda: (
        "a { global:\nfloat func f0()\nreturn 1\nendfunc\n"
        + "".join(
            f"float func f{k}()\nreturn f{k - 1}() + f{k - 1}()\nendfunc\n" for k in range(1, 31)
        )
        + "loop:\nz = f30()\nbailout: |z| < 4 }"
    ),
    "powers.ufm": lambda: "a { loop:\n" + "z = z^z*z + z\n" * 30 + "bailout: |z| < 4 }",
    "sides.ufm": lambda: (
        "a { loop:\n" + "if |z| < 1\nz = z*z\nelse\n" * 38 + "endif\n" * 38 + "bailout: |z| < 4 }"
    ),
    "layers.upr": lambda: "a { " + "layer:\nformula: entry=b\n" * 20_000 + "}",
    "words.upr": lambda: "a { layer: " + "k=1 " * 100_000 + "}",
    "keys.kfr": lambda: "Re: 0\n" + "".join(f"a{k}: 1\n" for k in range(90_000)),
    "colors.kfr": lambda: "Colors: " + "1," * 4_000_000,
    "spheres.ggr": lambda: (
        "GIMP Gradient\n1024\n"
        + "".join(
            f"{k / 1024:.7f} {(k + 0.5) / 1024:.7f} {(k + 1) / 1024:.7f} "
            f"1 0 0 1 0 1 {k % 7 / 9} 1 {3 + k % 2} {1 + k % 2}\n"
            for k in range(1024)
        )
    ),
    "dots.toml": lambda: "a" + ".a" * 20_000 + " = 1",
    "tables.toml": lambda: "".join(f"[a{k}.b.c.d]\n" for k in range(50_000)),
    "nested.toml": lambda: "a = " + "[" * 100_000,
    "hex.toml": lambda: "[view]\nrotation = 0x" + "f" * 10_000,
    "keys.toml": lambda: "".join(f"k{k} = 1\n" for k in range(30_000)),
    "long.toml": lambda: "[color]\npalette = '" + "x" * 8_000_000 + "'",
    "large.toml": lambda: "# \n" * 4_000_000,
    "dots.f3.toml": lambda: "location" + ".a" * 20_000 + " = 1",
    "keys.json": lambda: json.dumps({f"zoomm{k}": 1 for k in range(100_000)}),
    "layers.json": lambda: json.dumps({"color": {"layers": [{"x": 1}] * 10_000}}),
    "layer.json": lambda: json.dumps({"color": {"layers": [{f"k{k}": 1 for k in range(50_000)}]}}),
    "name.json": lambda: json.dumps({"color": {"palette": "a" * 20_000_000}}),
    "coloring.json": lambda: json.dumps({"color": {"coloring": "a" * 20_000_000}}),
    "formula.json": lambda: json.dumps({"formula": "a" * 20_000_000}),
    "expression.json": lambda: json.dumps({"formula": "z+" * 10_000_000}),
    "nested.json": lambda: "[" * 200_000,
    "objects.json": lambda: "[" + "{}," * 5_000_000 + "{}]",
    "julia.json": lambda: json.dumps({"julia": ["1e999999", "0"]}),
}


@pytest.mark.parametrize("name", HANGS)
def test_nothing_hangs(tmp_path, name):
    """Valid or not: an answer before the deadline, of at most eleven lines, and with 500 MB."""
    path = tmp_path / name
    path.write_text(HANGS[name]())
    lost, before = [], most_memory()
    try:
        with deadline():
            load_scene(path, lost=lost)
    except FractalsError as error:
        lines = str(error).split("\n")
        assert len(lines) <= 11
        assert max(map(len, lines)) < 2000
    assert len(lost) < 100
    assert most_memory() - before < 500e6


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "a.json",
            '{"color": {"palette": ["#000", "#111", "#222", "#333"]}}',
            "6 brackets and commas",
        ),
        ("a.toml", "[color]\npalette = ['#000', '#111']\n", "6 keys, values and lines"),
    ],
)
def test_a_scene_of_many_signs_is_not_parsed(tmp_path, monkeypatch, name, content, words):
    """Each may become an object of 200 bytes."""
    (tmp_path / name).write_text(content)
    assert load_scene(tmp_path / name)
    monkeypatch.setattr(files, "MAX_SIGNS", 5)
    with pytest.raises(SceneError, match=words):
        load_scene(tmp_path / name)


def test_ten_errors_are_listed():
    with pytest.raises(SceneError) as caught:
        load_scene({f"zoomm{k}": 1 for k in range(50)})
    lines = str(caught.value).split("\n")
    assert len(lines) == 11
    assert lines[-1] == "and 40 more"
    assert listed(["a"] * 10) == ["a"] * 10


# Texts


def test_control_characters_are_escaped(tmp_path):
    evil = "\x1b]0;owned\x07\nfractals: a.png: all is well"
    for table in (
        {evil: 1},
        {"view": {evil: 1}},
        {"view": {"center": [evil, "0"]}},
        {"color": {"palette": evil}},
        {"color": {"palette": evil + ".map"}},
        {"color": {"palette": {evil: 1}}},
        {"color": {"palette": [evil]}},
        {"color": {"coloring": evil}},
        {"color": {"coloring": {"name": "picture_trap", "picture": evil}}},
        {"color": {"layers": [{"picture_mask": evil}]}},
        {"color": {"layers": [{"layers": [{"picture_mask": {"picture": evil}}]}]}},
        {"color": {"coloring": {"name": "smooth", evil: 1}}},
        {"color": {"transfer": evil}},
        {"formula": evil},
        {"formula": {"name": "multibrot", evil: 1}},
        {"formula": {"name": "newton", "polynomial": evil}},
        {"formula": {"name": "hybrid", "formulas": evil}},
        {"iteration": {"max_iterations": evil}},
        {"image": {"bits": evil}},
        {"title": "x" * 2000 + evil},
    ):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(table))
        for source in (path, table):
            with pytest.raises(FractalsError) as caught:
                load_scene(source)
            assert str(caught.value).isprintable(), table
            assert len(str(caught.value)) < 1000 + len(str(path))


def test_texts_that_are_no_unicode():
    for table in (
        {"formula": "z^2+\udcff"},
        {"view": {"zoom": "\udcff"}},
        {"title": "\udcff"},
        {"\udcff": 1},
        {"color": {"layers": [{"\udcff": 1}]}},
        {"color": {"palette": {"title": "\udcff", "stops": ["#fff"]}}},
    ):
        with pytest.raises(FractalsError) as caught:
            load_scene(table)
        str(caught.value).encode()


def test_integers_that_python_does_not_write():
    for key in ("max_iterations", "rotation", "zoom", "bits", "size", "density", "offset"):
        value = [10**5000] * 2 if key == "size" else 10**5000
        with pytest.raises(FractalsError) as caught:
            load_scene({}, **{key: value})
        assert len(str(caught.value).split("\n")) == (2 if key == "size" else 1)
    assert shown(10**5000) == "an integer of more than 4300 digits"


def test_names_that_are_too_long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    long = "a" * 300
    for name in (long, f"{long}.toml", f"{long}.kfr", f"{long}.png", f"{long}.fz", "a\0.toml"):
        with pytest.raises(FractalsError) as caught:
            load_scene(name)
        assert one_line(caught)
    for name in (f"{long}.npz", f"{long}.fz", f"{long}.exr", "a\0.npz", "a\0.fz"):
        with pytest.raises(FractalsError) as caught:
            EscapeData.load(name)
        assert one_line(caught)
    for name in (f"{long}.png", "a\0.png"):
        with pytest.raises(FractalsError, match="can't be written"):
            files.check_output(name, False)
    for table in (
        {"color": {"palette": f"{long}.map"}},
        {"color": {"coloring": {"name": "picture_trap", "picture": f"{long}.png"}}},
    ):
        with pytest.raises(FractalsError) as caught:
            load_scene(table)
        assert one_line(caught)


# Files that are written


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@posix
def test_permissions_links_and_pipes(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    os.symlink("a", tmp_path / "link")
    for name in ("a", "link"):
        with files.written(tmp_path / name) as file:
            file.write(name.encode())
        assert path.read_bytes() == name.encode()
        assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "link").is_symlink()
    mask = os.umask(0o027)
    try:
        with files.written(tmp_path / "new") as file:
            file.write(b"x")
    finally:
        os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with files.written(tmp_path / "pipe") as file:
        file.write(b"x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)
    assert listing(tmp_path) == ["a", "link", "new", "pipe"]


@posix
def test_a_file_that_may_not_be_replaced_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "public").mkdir()
    (tmp_path / "public").chmod(0o1777)  # as /tmp is
    theirs = tmp_path / "public" / "a.png"
    theirs.write_bytes(b"theirs")
    os.symlink(theirs, tmp_path / "link.png")
    os.symlink("none/a.png", tmp_path / "gone.png")
    os.symlink("new.png", tmp_path / "new link.png")
    os.symlink("/dev/null", tmp_path / "null.png")
    for name in ("public/a.png", "link.png", "new link.png", "null.png"):  # ours, and root's
        files.check_output(tmp_path / name, True)
    for name in ("public/a.png", "link.png", "new link.png"):  # the last one leads to no file
        with pytest.raises(FractalsError, match="exists already"):
            files.check_output(tmp_path / name, False)
    with pytest.raises(FractalsError, match=r"the folder '.*none' does not exist"):
        files.check_output(tmp_path / "gone.png", True)
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(theirs).st_uid + 12345)
    for name in ("public/a.png", "link.png"):
        with pytest.raises(FractalsError, match="is another user's, who alone may replace it"):
            fractals.render_to(tmp_path / name, scene(), overwrite=True, device="nosuch")
    (tmp_path / "public").chmod(0o777)
    files.check_output(theirs, True)


@posix
@pytest.mark.parametrize(
    "name", ["a" * 251 + ".mp4", "ä" * 125 + ".mp4", "\U0001f600" * 62 + ".mp4"]
)
def test_work_on_a_file_with_a_long_name_is_kept_beside_it(tmp_path, name):
    own, other = (files.folder_beside(tmp_path / each, ".bands") for each in (name, name[1:]))
    own.mkdir()
    assert own.parent == tmp_path
    assert own != other
    assert own == files.folder_beside(tmp_path / name, ".bands")
    assert files.folder_beside(tmp_path / "a.mp4", ".film") == tmp_path / "a.mp4.film"


def test_a_folder_that_stays_empty_is_removed(run, tmp_path):
    (tmp_path / "old").mkdir()
    for words in ("render nosuch -o a/b/", "render nosuch seahorse -o old/new"):
        code, _, err = run(*words.split())
        assert (code, err.count("\n")) == (2, 1)
    with pytest.raises(FractalsError, match=r"'old/x{300}' can't be made: "):
        files.made_folder(f"old/{'x' * 300}").__enter__()
    with files.made_folder("old"), files.made_folder("old/c/d/e"):
        Path("old/c/kept").write_bytes(b"")
    assert [str(path) for path in sorted(Path().rglob("*"))] == ["old", "old/c", "old/c/kept"]


@pytest.mark.parametrize("unnamed", [True, False])
def test_the_second_of_two_that_write_a_new_file_is_refused(tmp_path, monkeypatch, unnamed):
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "a"

    def write_while_another_does():
        with files.written(path, overwrite=False) as second:
            with files.written(path, overwrite=False) as first:
                first.write(b"first")
            second.write(b"second")

    with pytest.raises(FractalsError, match="by another process in the meantime"):
        write_while_another_does()
    assert path.read_bytes() == b"first"
    with files.written(path) as file:
        file.write(b"third")
    assert path.read_bytes() == b"third"
    with pytest.raises(ZeroDivisionError), files.written(path) as file:
        raise ZeroDivisionError
    assert listing(tmp_path) == ["a"]


WRITER = """
import sys, time
from fractals.io import files
with files.written(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("begun", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="every file has a name here")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_no_signal_leaves_half_a_file(tmp_path, name):
    number = getattr(signal, name)
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path / "a"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hear_signals,
    )
    assert child.stdout.readline() == b"begun\n"
    child.send_signal(number)
    child.communicate()
    assert listing(tmp_path) == []


def test_a_long_name_with_a_mark_is_split():
    assert formats.split("a" * 5000 + "#b") == (Path("a" * 5000), "b")
