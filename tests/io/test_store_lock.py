"""Who may go on with a store, and what is said of one that is damaged or can't be written."""

import contextlib
import json
import os
import threading

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from support.scenes import scene
from support.stores import change_header, contents, interrupted

import fractals
from fractals import EscapeData, OptionError, SceneError
from fractals.errors import FractalsError
from fractals.io.stores import store


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture."""
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)


# Who may go on


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"max_iterations": 61}, "iteration.max_iterations differs"),
        ({"size": (17, 9)}, "image.size differs"),
        (
            {"center": ["0.1", "0"], "escape_radius": 9},
            "iteration.escape_radius, view.center differ",
        ),
        ({"formula": {"name": "multibrot", "power": 4}}, "formula"),
        ({"julia": ["0", "1"]}, "julia"),
        ({"rotation": 3, "zoom": "2"}, "view.rotation, view.width differ"),
        (
            {"precision": "float32", "supersampling": 2},
            "image.supersampling, iteration.precision differ",
        ),
    ],
    ids=str,
)
def test_a_store_of_another_scene_is_refused(tmp_path, keys, named):
    drawn, path = scene(), tmp_path / "a.fz"
    fractals.compute_to(path, drawn, device="python")
    before = contents(path)
    with pytest.raises(OptionError) as refused:
        fractals.compute_to(path, drawn.replace(**keys), device="python")
    assert named in str(refused.value)
    assert "overwrite=True" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert contents(path) == before
    fractals.compute_to(path, drawn.replace(**keys), device="python", overwrite=True)
    fractals.compute(drawn.replace(**keys), device="python").save(tmp_path / "b.fz")
    assert contents(path) == contents(tmp_path / "b.fz")


def test_what_only_colors_is_no_difference(tmp_path):
    drawn = scene(size=(40, 33), zoom="1", precision="float64", center=["-0.75", "0"])
    path = tmp_path / "a.fz"
    interrupted(path, drawn, device="python")
    width = str(float(fractals.plan(drawn).width)) + "00"
    other = drawn.replace(palette="ember", coloring="smooth", bits=16, title="other")
    other = other.replace(precision="auto", width=width, center=["-0.750", "0.0e3"])
    fractals.compute_to(path, other, device="python")
    fractals.compute(drawn, device="python").save(tmp_path / "b.fz")
    assert contents(path) == contents(tmp_path / "b.fz")


def test_a_store_that_lacks_a_plane_is_refused(tmp_path):
    fractals.compute_to(tmp_path / "a.fz", scene(coloring="smooth"), device="python")
    with pytest.raises(OptionError, match="keeps count, z, and the coloring 'distance' needs dz"):
        fractals.compute_to(tmp_path / "a.fz", scene(coloring="distance"), device="python")


def test_another_version_of_the_program_does_not_go_on(tmp_path, monkeypatch):
    interrupted(tmp_path / "a.fz", scene(size=(40, 33)), device="python")
    monkeypatch.setattr(store, "__version__", "9.9")
    with pytest.raises(OptionError, match=r"and this is 9\.9.* overwrite=True computes"):
        fractals.compute_to(tmp_path / "a.fz", scene(size=(40, 33)), device="python")


def test_what_is_refused_destroys_nothing(tmp_path):
    path = tmp_path / "a.fz"
    fractals.compute_to(path, scene(), device="python")
    before = contents(path)
    with pytest.raises(OptionError, match="too deep"):
        fractals.compute_to(
            path, scene(zoom="1e30", precision="float32"), device="python", overwrite=True
        )
    assert contents(path) == before


def test_one_process_at_a_time(tmp_path):
    with (
        store.claimed(tmp_path / "a.fz"),
        pytest.raises(FractalsError, match="another process"),
    ):
        fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    assert not (tmp_path / "a.fz").exists()
    fractals.compute_to(tmp_path / "a.fz", scene(), device="python")


@pytest.mark.skipif(os.name != "posix", reason="there is no flock")
def test_two_at_once_are_harmless_where_nothing_can_be_claimed(tmp_path, monkeypatch):
    import fcntl

    def refuse(*_):
        raise OSError(95, "Operation not supported")

    drawn, path = scene(size=(60, 60)), tmp_path / "a.fz"
    interrupted(path, drawn, device="python")
    monkeypatch.setattr(fcntl, "flock", refuse)
    both = [
        threading.Thread(target=fractals.compute_to, args=(path, drawn), kwargs={"device": device})
        for device in ("cpu", "python")
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    fractals.compute(drawn, device="cpu").save(tmp_path / "b.fz")
    assert contents(path) == contents(tmp_path / "b.fz")


# Bad input


def begun(path):
    fractals.compute_to(path, scene(), device="python")
    return json.loads((path / "header.json").read_text())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 4}, "reads version 3: take a newer"),
        ({"version": 1}, "an older fractals began it; compute its scene again"),
        ({"format": "zarr"}, "not a store"),
        ({"shape": [9, 17]}, "don't fit together"),
        ({"shape": "large"}, "don't fit together"),
        ({"tile_rows": 0}, "don't fit together"),
        ({"planes": {"count": "<i4"}}, "don't fit together"),
        ({"planes": {"count": "nonsense", "z": "<c16"}}, "header.json is damaged"),
        ({"planes": {"count": "|O", "z": "<c16"}}, "header.json is damaged"),
        ({"planes": {"count": "<i4", "z": "<c16", "../z": "<c16"}}, "don't fit together"),
        ({"planes": {"count": "<i4", "z": "<c16", "dz": "<c8"}}, "don't fit together"),
        ({"planes": {"count": "<i4", "z": "<c16", "more": "<c16"}}, "don't fit together"),
        ({"planes": {"count": "<i4", "z": "<c16", "statistics0": ","}}, "header.json is damaged"),
        ({"planes": ["count", "z"]}, "header.json is damaged"),
        ({"max_iterations": None}, "max_iterations is None, and not a whole number"),
        ({"max_iterations": float("inf")}, "max_iterations is inf, and not a whole number"),
        ({"max_iterations": 2**31}, "max_iterations is 2147483648, and not a whole number"),
        ({"count_offset": -1}, "count_offset is -1, and not a number"),
        ({"method": "guess"}, "the method 'guess' is neither direct nor perturbation"),
        ({"tile_rows": 1e30}, "don't fit together"),
        ({"scene": {"view": {"width": "x"}}}, "view.width: 'x' is not a decimal"),
        ({"tile_rows": 2}, "tiles.npy is damaged at its beginning"),
    ],
    ids=str,
)
def test_damaged_headers(tmp_path, change, words):
    path = tmp_path / "a.fz"
    begun(path)
    change_header(path, **change)
    with pytest.raises(SceneError) as refused:
        EscapeData.load(path)
    assert words in str(refused.value)
    assert str(refused.value).startswith(str(path))
    assert len(str(refused.value).splitlines()) == 1
    fractals.compute_to(path, scene(), device="python", overwrite=True)
    assert EscapeData.load(path).max_iterations == 60


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=strategies.data())
def test_headers_of_any_kind_are_read_or_refused(tmp_path, data):
    path = tmp_path / "a.fz"
    if not (tmp_path / "header.json").exists():
        (tmp_path / "header.json").write_text(json.dumps(begun(path)))
    header = (tmp_path / "header.json").read_text()
    at = data.draw(strategies.integers(0, len(header)))
    piece = data.draw(strategies.sampled_from(["", "9", "-1", "e999", "null", "[", "{}", '"', "é"]))
    cut = data.draw(strategies.integers(0, 9))
    (path / "header.json").write_text(header[:at] + piece + header[at + cut :], "utf-8")
    with contextlib.suppress(SceneError):
        fractals.recolor(EscapeData.load(path), device="python")


def npy_header(text):
    content = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(content).to_bytes(2, "little") + content


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("header.json", None, "not a store that fractals wrote"),
        ("header.json", b"{", "header.json: "),
        ("header.json", b"\xff\xff", "header.json: "),
        ("z.npy", None, "z.npy is missing"),
        ("z.npy", b"", "z.npy is damaged at its beginning"),
        ("count.npy", b"junk" * 100, "count.npy is damaged at its beginning"),
        ("tiles.npy", 100, "tiles.npy is damaged at its beginning"),
        ("dz.npy", -1, "dz.npy is not of its size"),
        *(
            # NumPy's own reader of headers raises errors that are no ValueError.
            ("z.npy", npy_header(text), "z.npy is damaged at its beginning")
            for text in (
                "-" * 8000 + "1",
                "{'descr': ',', 'fortran_order': False, 'shape': (1, 9), }",
                "{'descr': '<c16', 'fortran_order': False, 'shape': (-1, 9), }",
                f"{{'descr': '<c16', 'fortran_order': False, 'shape': ({10**20}, 9), }}",
            )
        ),
    ],
)
def test_damaged_files(tmp_path, name, content, words):
    path = tmp_path / "a.fz"
    begun(path)
    file = path / name
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content if isinstance(content, bytes) else file.read_bytes()[:content])
    with pytest.raises(SceneError) as refused:
        EscapeData.load(path)
    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_incomplete_stores_say_what_to_type(tmp_path):
    path = tmp_path / "a.fz"
    claimed = interrupted(path, scene(size=(40, 33)), device="python")
    words = rf"{claimed.sum()} of {claimed.size} tiles there \(.* %\): fractals compute .*a\.fz"
    with pytest.raises(SceneError, match=words):
        EscapeData.load(path)


def test_other_folders_are_left_alone(tmp_path):
    path = tmp_path / "a.fz"
    path.mkdir()
    (path / "precious.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(FractalsError, match=r"holds other things \('precious\.txt'\)"):
            fractals.compute_to(path, scene(), device="python", overwrite=overwrite)
    assert (path / "precious.txt").read_text() == "mine"
    (tmp_path / "file.fz").write_text("mine")
    with pytest.raises(FractalsError, match="can't be written: File exists"):
        fractals.compute_to(tmp_path / "file.fz", scene(), device="python")
    begun(tmp_path / "b.fz")
    raw = fractals.compute(scene(), device="python")
    with pytest.raises(FractalsError, match=r"exists already.*overwrite=True"):
        raw.save(tmp_path / "b.fz", overwrite=False)


def test_full_disk(tmp_path, monkeypatch):
    path, put = tmp_path / "a.fz", store.PlaneFiles.put
    drawn, room = scene(size=(40, 33)), 20_000

    def full(self, name, offset, content):
        if name == "dz" and offset > room:
            raise OSError(28, "No space left on device")
        put(self, name, offset, content)

    monkeypatch.setattr(store.PlaneFiles, "put", full)
    with pytest.raises(FractalsError, match=r"a\.fz' can't be written: No space left on device"):
        fractals.compute_to(path, drawn, device="python")
    monkeypatch.setattr(store.PlaneFiles, "put", put)
    assert fractals.compute_to(path, drawn, device="python").before > 0
    fractals.compute(drawn, device="python").save(tmp_path / "b.fz")
    assert contents(path) == contents(tmp_path / "b.fz")


def test_a_disk_that_is_too_small_is_told_before_any_work(tmp_path):
    drawn = scene(size=(200_000, 200_000), supersampling=16, max_iterations=1, coloring="count")
    header = store.make_header(drawn, {"count": "<i4", "z": "<c16"}, 1, 0, "direct")
    with pytest.raises(FractalsError, match=r"takes .* GiB, and .* GiB are free"):
        store.create_store(tmp_path, header)


def test_read_only(tmp_path, monkeypatch):
    interrupted(tmp_path / "a.fz", scene(size=(40, 33)), device="python")

    def refuse(*_):
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(store.PlaneFiles, "put", refuse)
    with pytest.raises(FractalsError, match="can't be written: Read-only file system"):
        fractals.compute_to(tmp_path / "a.fz", scene(size=(40, 33)), device="python")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FractalsError, match="can't be written to"):
        fractals.compute_to(tmp_path / "b.fz", scene(), device="python")


def test_a_folder_that_can_not_be_opened_is_not_left(tmp_path, monkeypatch):
    """A umask of 777 makes folders that are closed to their owner."""

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "FolderLock", refuse)
    with pytest.raises(FractalsError, match="can't be written: Permission denied"):
        fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    assert not any(tmp_path.iterdir())
    (tmp_path / "b.fz").mkdir()
    with pytest.raises(FractalsError, match="can't be written: Permission denied"):
        fractals.compute_to(tmp_path / "b.fz", scene(), device="python")
    assert (tmp_path / "b.fz").is_dir()


def test_other_names_and_formulas_without_one(tmp_path):
    with pytest.raises(OptionError, match=r"a store's name ends in \.fz"):
        fractals.compute_to(tmp_path / "a.zarr", scene(), device="python")
    with pytest.raises(OptionError, match=r"ends in \.fz, \.npz, \.exr"):
        fractals.compute(scene(), device="python").save(tmp_path / "a.zarr")
    own = scene().replace(formula=scene().make_formula())
    with pytest.raises(SceneError, match="a function of yours"):
        fractals.compute_to(tmp_path / "a.fz", own, device="python")
    assert not (tmp_path / "a.fz").exists()


def test_a_store_is_a_scene(tmp_path):
    fractals.compute_to(tmp_path / "a.fz", scene(palette="ember"), device="python")
    assert fractals.load_scene(tmp_path / "a.fz") == scene(palette="ember")
    with pytest.raises(SceneError, match="no such store"):
        fractals.load_scene(tmp_path / "b.fz")
