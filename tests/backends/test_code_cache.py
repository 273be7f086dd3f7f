"""The cache of compiled code, filled and read by several processes."""

import contextlib
import dataclasses
import errno
import functools
import gc
import importlib.metadata
import math
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from math import floor
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import llvmlite.binding
import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher, cpu_target
from support.compiled_code import programs_in

import fractals
from fractals import catalog
from fractals.backends import cache_folder, code_cache, machine_code
from fractals.backends.cpu import backend, programs
from fractals.backends.cpu.programs import program_of
from fractals.tools import caches

DRAW = """
import hashlib, sys
import fractals
from fractals.backends.cpu import backend
backend.FUSED = False  # plain loops, which compile sooner
SCENES = {
    "mandelbrot": {},
    "cubic": {"formula": {"name": "multibrot", "power": 3}},
    "colors": {},
    "linear": {"color": {"transfer": "linear"}},
}
for name in sys.argv[1:]:
    small = {"image": {"size": [24, 16], "supersampling": 1}, "iteration": {"max_iterations": 60}}
    if name in ("colors", "linear"):
        raw = fractals.compute(SCENES[name], small, device="python")
        pixels = fractals.recolor(raw, device="cpu").pixels
    else:
        pixels = fractals.compute(SCENES[name], small, device="cpu").count  # one program less
    print(name, hashlib.sha256(pixels.tobytes()).hexdigest())
"""
PROCESSES = ("mandelbrot",), ("cubic", "linear")


def draw(folder, *names, cwd=None, **environment):
    done = subprocess.run(
        [sys.executable, "-c", DRAW, *names],
        cwd=cwd,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())


@contextlib.contextmanager
def other_folder(monkeypatch, path):
    """Keep compiled code in another folder."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(path))
    code_cache.folder.cache_clear()
    try:
        yield
    finally:
        monkeypatch.undo()
        code_cache.folder.cache_clear()
        numba.config.reload_config()  # which Numba does otherwise when it compiles next


def test_code_that_tests_compile_is_kept_apart_from_a_developers():
    """Also in one process, where this module is imported before the tests."""
    assert Path(code_cache.folder()).is_relative_to(os.path.realpath(os.environ["NUMBA_CACHE_DIR"]))


def test_code_that_several_processes_cached_does_not_clash(tmp_path):
    """Two processes at a time; then one that finds what they have compiled."""
    # Numba tells functions of one name apart by numbers that begin at 1 in every process.
    folder = tmp_path / "cache"
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda names: draw(folder, *names), PROCESSES))
    expected = {name: value for one in found for name, value in one.items()}
    before = sorted(folder.rglob("*.code"))
    assert len(set(expected.values())) == 3
    assert draw(folder, *reversed([*expected])) == expected
    assert sorted(folder.rglob("*.code")) == before  # all of it was used


def test_code_is_found_again_when_modules_come_from_bytecode(tmp_path):
    # A first run reads the package's source, and leaves bytecode for the next one.
    home = tmp_path / "home"
    source = Path(fractals.__file__).parent
    shutil.copytree(source, home / "fractals", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": ""}
    draw(tmp_path / "cache", "colors", cwd=home, **environment)
    before = programs_in(tmp_path)
    assert before
    assert list(home.rglob("code_cache*.pyc"))
    draw(tmp_path / "cache", "colors", cwd=home, **environment)
    assert programs_in(tmp_path) == before


def store_of(*identity):
    """Return the store that a program is given."""
    return code_cache.program(lambda store: store, *identity, scope=object())


def test_formulas_of_one_name_are_told_apart(monkeypatch, tmp_path):
    from fractals.formulas.powers import mandelbrot, tricorn

    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path))
    formula = mandelbrot()
    different = (
        formula,
        dataclasses.replace(formula, step=tricorn().step),
        dataclasses.replace(formula, inside=None),
        dataclasses.replace(formula, holomorphic=False),
    )
    assert len({store_of("cpu", own).folder for own in different}) == 4


@dataclasses.dataclass(frozen=True)
class Options:
    formula: object
    julia: bool = False
    statistics: tuple = ()


@dataclasses.dataclass(frozen=True)
class OtherOptions(Options):
    pass


def test_options_are_told_apart_by_their_class_and_all_their_fields():
    from fractals.formulas.powers import mandelbrot, tricorn

    formula = mandelbrot()
    different = [
        Options(formula),
        OtherOptions(formula),
        Options(tricorn()),
        Options(formula, True),
        Options(formula, False, (1, (2, 3))),
        Options(formula, False, ((1, 2), 3)),
        Options(formula, False, ("(1, 2)", 3)),
        Options(Options(formula)),
        (formula, False, ()),
    ]
    texts = [text_of(one) for one in different]
    assert len(set(texts)) == len(texts)
    assert text_of(Options(mandelbrot())) == texts[0]
    assert not any(" at 0x" in text for text in texts)


def text_of(value):
    """Return the text of a value; parts that have none are named by their identity."""
    return code_cache._text(value, code_cache._Parts())


def folder_of(*identity):
    store = store_of(*identity)
    return store and store.folder


def test_a_formula_from_elsewhere_within_options_is_cached_by_its_code():
    from fractals.formulas.powers import mandelbrot

    ours = mandelbrot()

    def with_step(step):
        return folder_of("cpu", Options(dataclasses.replace(ours, step=step)))

    assert folder_of("cpu", Options(ours))
    assert with_step(lambda x, y, a, b: (x, y)) == with_step(lambda x, y, a, b: (x, y))
    assert with_step(lambda x, y, a, b: (x, y)) != with_step(lambda x, y, a, b: (y, x))
    assert with_step(numba.njit(lambda x, y, a, b: (x, y))) is None


def test_a_program_with_a_function_from_elsewhere_is_told():
    from fractals.formulas.own import expression
    from fractals.formulas.powers import mandelbrot

    ours = mandelbrot()
    for formula in (ours, expression("z**3 + c*sin(z)")):
        assert not code_cache.is_foreign("cpu", mandelbrot, Options(formula), max)
    for step in (foreign_step, numba.njit(lambda x, y, a, b: (x, y)), np.fmax):
        assert code_cache.is_foreign("cpu", Options(dataclasses.replace(ours, step=step)))
    assert code_cache.is_foreign("cpu", [{"steps": (foreign_step,)}])


def test_the_folder_is_named_by_the_versions_of_what_compiles(monkeypatch):
    """Edits of the package stay in it: see `test_cache_keys.py`."""
    before = code_cache._versions()
    assert code_cache._versions() == before
    for name in ("numba", "llvmlite"):
        with monkeypatch.context() as changed:
            versions = {"numba": "1", "llvmlite": "2", name: "3"}
            changed.setattr(code_cache, "_version", versions.get)
            assert code_cache._versions() != before
    monkeypatch.setattr(sys, "version", "4")
    assert code_cache._versions() != before


def test_a_version_is_that_of_the_metadata(monkeypatch, tmp_path):
    """Two folders, as an update that was broken off leaves them, don't tell it by their names."""
    for name in ("numba", "llvmlite"):
        assert code_cache._version(name) == importlib.metadata.version(name)
    for folder in ("made_up", "made_up-1.dist-info", "made_up-2.dist-info"):
        (tmp_path / folder).mkdir()
    (tmp_path / "made_up" / "__init__.py").touch()
    for folder in ("made_up-1.dist-info", "made_up-2.dist-info"):
        (tmp_path / folder / "METADATA").write_text("Name: made_up\nVersion: 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert code_cache._version("made_up") == "7"
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        code_cache._version("made_up_of_nothing")


def test_without_a_writable_folder_nothing_is_cached(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache_folder.take_messages()
    with other_folder(monkeypatch, blocked):
        assert code_cache.folder() is None
        assert not store_of("cpu").kept
    (line,) = cache_folder.take_messages()
    assert line.startswith("compiled code is not kept")
    assert str(blocked) in line


@pytest.mark.parametrize("kind", ["formula", "coloring"])
def test_all_that_comes_with_the_package_is_cached(kind):
    for name in catalog.names(kind):
        assert store_of("cpu", catalog.load(kind, name)()), name


# --- Damaged files, full disks, folders that others can write to

PIECES = {"first": 3, "digest": 30, "head": 80, "middle": 0.5, "last": 0.999}
DAMAGES = {
    "empty": lambda data: b"",
    "a byte": lambda data: data[:1],
    "truncated in the digest": lambda data: data[:40],
    "truncated to half": lambda data: data[: len(data) // 2],
    "a byte short": lambda data: data[:-1],
    "a byte long": lambda data: data + b"\0",
    "zeros": lambda data: bytes(len(data)),
    "zeros at the end": lambda data: data[:-4096] + bytes(4096),
    "garbage": lambda data: os.urandom(len(data)),
    "garbage after the mark": lambda data: data[:25] + os.urandom(len(data) - 25),
    "text": lambda data: b"hello\n",
    "other data": lambda data: bytes(range(100)),
    "twice": lambda data: data + data,
    "reversed": lambda data: data[::-1],
    "another mark": lambda data: data.replace(b"code 3", b"code 0", 1),
    **{
        f"a bit in the {name}": functools.partial(lambda place, data: flipped(data, place), place)
        for name, place in PIECES.items()
    },
}


def flipped(data, place):
    k = int(place * len(data)) if place < 1 else place
    return data[:k] + bytes([data[k] ^ 4]) + data[k + 1 :]


def make_triple(_target):
    def triple(values):
        values[0] *= 3

    return triple


def make_negative(_target):
    def negative(values):
        values[0] *= -1

    return negative


TRIPLES = []  # the machine code of `make_triple`: each of these tests would compile it twice


def compiled(folder):
    """Call a program whose code is kept in a folder; return what it made, and how it came."""
    code_cache.forget_programs()  # as in a new process
    values, compile_ = np.full(1, 2.0), programs._compiled

    def once(*given):
        TRIPLES[:] = TRIPLES or [compile_(*given)]
        return TRIPLES[0]

    with (
        mock.patch.object(code_cache, "folder", return_value=str(folder)),
        mock.patch.object(programs, "_compiled", side_effect=once) as made,
    ):
        program_of(make_triple, "float64")(values)
    return values[0], "compiled" if made.called else "loaded"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_removed_and_compiled_anew(damage, tmp_path):
    assert compiled(tmp_path) == (6, "compiled")
    assert compiled(tmp_path) == (6, "loaded")
    (path,) = programs_in(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(DAMAGES[damage](whole))
    cache_folder.take_messages()
    assert compiled(tmp_path) == (6, "compiled")
    (line,) = cache_folder.take_messages()
    assert "damaged" in line
    assert str(path) in line
    assert compiled(tmp_path) == (6, "loaded")
    notes = {one for one in tmp_path.rglob("modules-*/*") if one.is_file()}  # of the first test
    assert {path} == {one for one in tmp_path.rglob("*") if one.is_file()} - notes


def test_a_whole_file_that_cannot_be_loaded_stays(tmp_path, monkeypatch):
    """The reason lies elsewhere, as in another LLVM: the message says which."""
    assert compiled(tmp_path) == (6, "compiled")
    (path,) = programs_in(tmp_path)
    cache_folder.take_messages()

    def refuse(*_):
        monkeypatch.undo()
        raise AttributeError("link has another name")

    monkeypatch.setattr(machine_code.MachineCode, "__init__", refuse)
    assert compiled(tmp_path) == (6, "compiled")
    (line,) = cache_folder.take_messages()
    assert "damaged" not in line
    assert "link has another name" in line
    assert [path] == programs_in(tmp_path)
    assert compiled(tmp_path) == (6, "loaded")


def test_code_that_calls_what_this_process_lacks_is_not_called(tmp_path, monkeypatch):
    """LLVM's linker takes such a function to be at address 0."""
    assert compiled(tmp_path) == (6, "compiled")
    cache_folder.take_messages()
    with mock.patch.object(machine_code, "stands_alone", side_effect=[False, True]):
        assert compiled(tmp_path) == (6, "compiled")
    (line,) = cache_folder.take_messages()
    assert "this process lacks" in line


@pytest.mark.parametrize("other", [("text", "other key"), ("other text", "key")])
def test_code_copied_from_elsewhere_is_removed(other, tmp_path):
    """A backup may restore files wrongly: the digest is that of program and signature, too."""
    text, key = other
    own = code_cache.Store(str(tmp_path / "own"), "text")
    foreign = code_cache.Store(str(tmp_path / "foreign"), text)
    own.save("key", b"own")
    foreign.save(key, b"foreign")
    shutil.copy(foreign._path(key), own._path("key"))
    cache_folder.take_messages()
    assert own.load("key", bytes) is None
    (line,) = cache_folder.take_messages()
    assert "copied" in line or "damaged" in line
    own.save("key", b"own")
    assert own.load("key", bytes) == b"own"


def test_a_full_disk_fails_no_program(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.replace", full)
    cache_folder.take_messages()
    assert compiled(tmp_path) == (6, "compiled")
    assert compiled(tmp_path) == (6, "compiled")
    (line,) = cache_folder.take_messages()
    assert "No space left" in line
    assert str(tmp_path) in line
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


on_unix = pytest.mark.skipif(os.name == "nt", reason="folders have no modes")


# --- The bounds of the folder


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return files of compiled code, by how many days ago each was read last: name -> path."""
    days = {"new": 0, "weeks": 29, "month": 31, "old version": 31, "older": 400}
    made = {}
    for name, age in days.items():
        digest = ("a" if name == "old version" else "b") * 16
        path = tmp_path / f"fractals-{digest}" / f"{name}-program" / "1.code"
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(1000))
        made[name] = path
        for each in (path, path.parent):
            os.utime(each, (time.time() - age * 86400,) * 2)
    return made


def left(kept):
    return {name for name, path in kept.items() if path.exists()}


def test_files_that_nobody_read_for_a_month_are_removed(kept, tmp_path):
    other = tmp_path / "fractals-of-mine" / "old"
    other.parent.mkdir()
    other.write_text("of another program")
    os.utime(other, (0, 0))
    cache_folder.remove_old(tmp_path)
    assert left(kept) == {"new", "weeks"}
    assert other.exists()


def test_the_oldest_files_beyond_the_bound_are_removed(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folder, "KEEP", 10**9)
    monkeypatch.setattr(cache_folder, "MOST", 3500)
    cache_folder.remove_old(tmp_path)
    assert left(kept) in ({"new", "weeks", name} for name in ("month", "old version"))
    monkeypatch.setattr(cache_folder, "MOST", 0)
    cache_folder.remove_old(tmp_path)
    assert left(kept) == set()


def test_empty_folders_of_programs_are_removed_later(kept, tmp_path):
    """Another process may be about to write into one that is new."""
    cache_folder.remove_old(tmp_path)
    folder = kept["older"].parent
    assert folder.exists()
    os.utime(folder, (0, 0))
    cache_folder.remove_old(tmp_path)
    assert not folder.exists()
    assert kept["new"].exists()


@on_unix
def test_what_links_lead_to_is_not_removed(kept, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old").write_text("")
    os.utime(outside / "old", (0, 0))
    (tmp_path / ("fractals-" + "c" * 16)).symlink_to(outside)
    (kept["new"].parent / "link").symlink_to(outside)
    (kept["new"].parent.parent / "folder").symlink_to(outside)
    cache_folder.remove_old(tmp_path)
    assert (outside / "old").exists()


def test_reading_keeps_a_file(tmp_path):
    store = code_cache.Store(str(tmp_path / "program"))
    store.save("key", b"code")
    path = store._path("key")
    os.utime(path, (time.time() - 29 * 86400,) * 2)
    assert store.load("key", bytes) == b"code"
    assert time.time() - path.stat().st_mtime < 86400


@on_unix
def test_what_links_lead_to_is_no_file_of_the_cache(kept, tmp_path, tmp_path_factory, monkeypatch):
    """It would be deleted with the cache, and counted."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "file").write_text("precious")
    cache = tmp_path / ("fractals-" + "b" * 16)
    (tmp_path / ("fractals-" + "c" * 16)).symlink_to(outside)
    (cache / "link").symlink_to(outside / "file")
    (cache / "folder").symlink_to(outside)
    (tmp_path / "other").symlink_to(tmp_path)  # of the cache itself
    for folder in (tmp_path, tmp_path / "other"):
        monkeypatch.setitem(caches.CACHES, "compiled programs", lambda folder=folder: folder)
        found = caches.contents("compiled programs")
        assert {path.resolve() for path in found} == {path.resolve() for path in kept.values()}
        assert len(found) == len(kept)


def test_the_folder_is_looked_through_at_the_first_save_and_now_and_then(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(cache_folder, "remove_old", looked.append)
    monkeypatch.setattr(cache_folder, "_until_sweep", 0)
    (tmp_path / "fractals").mkdir()
    store = code_cache.Store(str(tmp_path / "fractals" / "program"))
    for _ in range(3):
        store.save("key", b"code")
    assert looked == [tmp_path]
    store.save("key", bytes(cache_folder.SOME))
    assert looked == [tmp_path, tmp_path]


@on_unix
def test_folders_are_made_for_this_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with pytest.raises(cache_folder.UntrustedFolderError, match="nobody' does not exist"):
        cache_folder.trusted_folder(tmp_path / "nobody" / ".cache")
    assert not any(tmp_path.iterdir())
    made = cache_folder.trusted_folder(tmp_path / "a" / "b")
    assert made == (tmp_path / "a" / "b").resolve()
    assert [folder.stat().st_mode & 0o777 for folder in (made, made.parent)] == [0o700, 0o700]


@on_unix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, mode):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(cache_folder.UntrustedFolderError, match="others can write"):
        cache_folder.trusted_folder(folder)


@on_unix
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link", "dangling", "huge"])
def test_what_is_no_file_of_code_is_never_waited_for(kind, tmp_path):
    store = code_cache.Store(str(tmp_path / "program"))
    store.save("key", b"code")
    path = store._path("key")
    kept = path.rename(tmp_path / "kept")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(2**40)
    else:
        target = {"device": "/dev/zero", "link": kept, "dangling": tmp_path / "none"}[kind]
        path.symlink_to(target)
    found = []

    def load_twice():
        found.append(store.load("key", bytes))
        store.save("key", b"code")
        found.append(store.load("key", bytes))

    thread = threading.Thread(target=load_twice, daemon=True)
    thread.start()
    thread.join(60)  # what waits for a pipe takes no CPU time, so `deadline` would not end it
    assert found == [None, None if kind == "folder" else b"code"]
    assert kept.exists()
    assert not (tmp_path / "none").exists()


@on_unix
@pytest.mark.parametrize("whose", ["file", "folder"])
@pytest.mark.parametrize("how", ["another user's", "writable", "a link"])
def test_code_that_others_could_have_written_is_not_run(whose, how, tmp_path, monkeypatch):
    """What was planted while the folder was open stays there when its mode is changed."""
    store = code_cache.Store(str(tmp_path / "program"))
    store.save("key", b"planted")
    path = store._path("key")
    at = path if whose == "file" else path.parent
    if how == "a link":
        at.symlink_to(at.rename(tmp_path / "elsewhere"))
    elif how == "writable":
        at.chmod(0o777)
    else:
        by_name = os.lstat if whose == "folder" else os.fstat

        def other(given):
            info = by_name(given)
            named = given == at if whose == "folder" else stat.S_ISREG(info.st_mode)
            found = SimpleNamespace(**{n: getattr(info, n) for n in dir(info) if n[:3] == "st_"})
            found.st_uid += 4321 * named
            return found

        monkeypatch.setattr(os, by_name.__name__, other)
    cache_folder.take_messages()
    assert store.load("key", bytes) is None
    (line,) = cache_folder.take_messages()
    assert str(at) in line
    assert "chmod" not in line
    monkeypatch.undo()
    assert path.exists() == (whose == "folder")


@on_unix
def test_a_link_to_nothing_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "cache").symlink_to(tmp_path / "none")
    for name in ("cache", "cache/below"):
        with pytest.raises(cache_folder.UntrustedFolderError, match="does not exist"):
            cache_folder.trusted_folder(tmp_path / name)
    assert not (tmp_path / "none").exists()


ROOT, USER, OTHER = 0, 1000, 1001


def chain(*folders):
    return [
        (f"/{k}", SimpleNamespace(st_uid=user, st_gid=12345, st_mode=stat.S_IFDIR | mode))
        for k, (user, mode) in enumerate(folders)
    ]


@pytest.mark.parametrize(
    "folders",
    [
        [(ROOT, 0o755), (USER, 0o700)],
        [(ROOT, 0o755), (ROOT, 0o1777), (USER, 0o700)],  # /tmp
        [(ROOT, 0o755), (USER, 0o755), (USER, 0o755)],
        [(ROOT, 0o755), (USER, 0o700), (USER, 0o777), (USER, 0o700)],  # a home closed to others
    ],
)
def test_a_chain_of_folders_is_trusted(folders):
    cache_folder.check_chain(chain(*folders), USER)


@pytest.mark.parametrize(
    ("folders", "problem"),
    [
        ([(ROOT, 0o755), (ROOT, 0o700)], "'/1' belongs to another user"),
        ([(ROOT, 0o755), (OTHER, 0o755), (USER, 0o700)], "'/1' belongs to another user"),
        ([(ROOT, 0o755), (USER, 0o777), (USER, 0o700)], "others can write to '/1'"),
        ([(ROOT, 0o755), (USER, 0o775), (USER, 0o700)], "others can write to '/1'"),
        ([(ROOT, 0o777), (USER, 0o755), (USER, 0o700)], "others can write to '/0'"),
        ([(ROOT, 0o1777), (OTHER, 0o700), (USER, 0o700)], "'/1' belongs to another user"),
        ([(ROOT, 0o755), (USER, 0o720)], "others can write to '/1'"),
        ([(ROOT, 0o1777), (USER, 0o1777)], "others can write to '/1'"),
    ],
)
def test_a_chain_of_folders_is_refused(folders, problem):
    with pytest.raises(cache_folder.UntrustedFolderError, match=re.escape(problem)):
        cache_folder.check_chain(chain(*folders), USER)


@on_unix
def test_a_group_of_the_owner_alone_may_write_to_a_parent(monkeypatch):
    folders = chain((ROOT, 0o755), (USER, 0o775), (USER, 0o700))
    monkeypatch.setattr("pwd.getpwuid", lambda user: SimpleNamespace(pw_name="ada"))
    for members, trusted in (([], True), (["ada"], True), (["ada", "bob"], False)):
        group = SimpleNamespace(gr_name="ada", gr_mem=members)
        monkeypatch.setattr("grp.getgrgid", lambda _, group=group: group)
        with contextlib.nullcontext() if trusted else pytest.raises(OSError, match="others"):
            cache_folder.check_chain(folders, USER)


@on_unix
def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    folder = cache_folder.trusted_folder(tmp_path / "cache")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 4321)
    with pytest.raises(cache_folder.UntrustedFolderError, match="another user"):
        cache_folder.trusted_folder(folder)


@on_unix
def test_a_link_is_followed_once(tmp_path):
    folder = cache_folder.trusted_folder(tmp_path / "cache")
    (tmp_path / "link").symlink_to(folder)
    assert cache_folder.trusted_folder(tmp_path / "link") == folder


def test_without_a_home_no_folder_is_made_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cache_folder.UntrustedFolderError, match="no home"):
        cache_folder.trusted_folder("~/.cache/fractals")
    assert not list(tmp_path.iterdir())


def test_messages_are_shown_once():
    cache_folder.take_messages()
    for line in ("one of a kind", "one of a kind", "another of a kind"):
        cache_folder.report(line)
    assert cache_folder.take_messages() == ["one of a kind", "another of a kind"]
    cache_folder.report("one of a kind")
    assert cache_folder.take_messages() == []


# --- Programs of this process


def test_a_program_is_made_once():
    made = []
    for _ in range(2):
        code_cache.program(lambda store: made.append(store), "a test", Options(1))
    code_cache.program(lambda store: made.append(store), "a test", Options(2))
    assert len(made) == 2


def test_programs_used_last_are_kept():
    programs = code_cache._Programs(2)
    made = []
    for key in "abacab":
        programs.get(key, lambda key=key: made.append(key))
    assert made == ["a", "b", "c", "b"]


SCALE = 2.0


def foreign_step(x, y, a, b):
    return helper(x), y


def helper(x):
    return SCALE * x


def test_foreign_functions_are_known_by_all_they_refer_to(monkeypatch):
    def make(factor):
        return lambda x: factor * x

    key = text_of
    assert key(make(2.0)) == key(make(2.0))
    assert key(make(2.0)) != key(make(3.0))
    assert key(make(2.0)) != key(make(2))
    assert key(make(0.0)) != key(make(-0.0))
    assert key(make(make)) == key(make(make))
    before = key(foreign_step)
    assert key(foreign_step) == before
    monkeypatch.setitem(globals(), "SCALE", 4.0)  # as in a notebook's other cell
    assert key(foreign_step) != before


LIST = [2.0]


def step_by_list(x):
    return LIST[0] * x


def step_by_modules(x):
    return math.sin(x) + np.pi * floor(x)


def step_by_module_of_the_user(x):
    return fractals_of_a_user.scale * x


fractals_of_a_user = SimpleNamespace(scale=2)


def test_foreign_functions_are_cached_by_all_they_refer_to(monkeypatch):
    def make(factor):
        return lambda x: factor * x

    assert folder_of(make(2.0)) == folder_of(make(2.0))
    assert len({folder_of(make(factor)) for factor in (2.0, 3.0, 2, 0.0, -0.0, (2, 0))}) == 6
    assert folder_of(make(make)) == folder_of(make(make))
    assert folder_of(step_by_modules)
    for unknown in (step_by_module_of_the_user, make(np.ones(2))):
        assert folder_of(unknown) is None
    by_list = folder_of(step_by_list)
    monkeypatch.setitem(globals(), "LIST", [3.0])
    assert folder_of(step_by_list) != by_list
    before = folder_of(foreign_step)
    assert folder_of(foreign_step) == before
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert folder_of(foreign_step) != before
    monkeypatch.undo()
    assert folder_of(foreign_step) == before
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    assert folder_of(foreign_step) != before


OWN = """
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number

def make():
    return Formula("own", "mine", step=step, derivative=derivative, degree=2)

def step(x, y, a, b):
    return fma(x, x, a - y * y), fma(number(SCALE, x) * x, y, b)

def derivative(x, y, p, q):
    return number(2, x) * (x * p - y * q), number(2, x) * (x * q + y * p)
"""


def test_a_formula_in_a_file_compiles_once_for_each_text(run, tmp_path, monkeypatch):
    file = tmp_path / "own.py"
    # For the simulator programs compile sooner, and are kept alike.
    drawing = ["render", "--formula", file, "--device", "simulator", "--size", "24x16"]
    drawing += ["--max-iterations", "60"]

    def draw_own(scale):
        file.write_text(OWN.replace("SCALE", scale))
        code_cache.forget_programs()  # as in a new process
        code, _, err = run(*drawing, "--overwrite", "-o", tmp_path / "own.png")
        assert code == 0, err
        (folder,) = (tmp_path / "compiled").glob("fractals-*")
        return (tmp_path / "own.png").read_bytes(), len(list(folder.rglob("*.code")))

    with other_folder(monkeypatch, tmp_path / "compiled"):
        first, codes = draw_own("2")
        assert draw_own("2") == (first, codes)
        other, more = draw_own("3")
        assert other != first
        assert more > codes
        assert draw_own("2") == (first, more)


def test_a_formula_from_elsewhere_is_known_by_what_its_functions_refer_to(monkeypatch):
    """The key of a formula of ours is found once; one from elsewhere may change at any time."""
    own = fractals.Scene().make_formula()
    foreign = dataclasses.replace(own, step=uses_a_global)
    keys = [text_of(formula) for formula in (own, foreign)]
    monkeypatch.setitem(uses_a_global.__globals__, "SHIFT", 2.0)
    assert text_of(own) == keys[0] != keys[1]
    assert text_of(foreign) != keys[1]
    gone = dataclasses.replace(own, title="another")
    assert text_of(gone) != keys[0]
    kept = len(code_cache._formula_texts)
    del gone
    gc.collect()
    assert len(code_cache._formula_texts) < kept


SHIFT = 1.0


def uses_a_global(x, y, a, b):
    return x * x - y * y + a + SHIFT, 2 * x * y + b


def test_functions_that_call_themselves_have_keys():
    def countdown(x):
        return countdown(x - 1) if x else 0

    assert text_of(countdown) == text_of(countdown)
    assert folder_of(countdown) == folder_of(countdown) != folder_of(lambda: countdown)


def test_two_threads_compile_at_once_each_in_its_own_folder(tmp_path, monkeypatch):
    meeting = threading.Barrier(2, timeout=60)
    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path))
    code_cache.forget_programs()

    def run(make_body):
        program, values = program_of(make_body, "float64"), np.ones(1)
        meeting.wait()
        program(values)
        return values[0]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, [make_triple, make_negative])) == [3, -1]
    folders = tmp_path.glob("cpu-*")  # beside the texts of modules, of a process's first program
    assert [len(list(folder.glob("*.code"))) for folder in folders] == [1, 1]


def test_memory_of_own_formulas_is_freed(monkeypatch):
    """What Numba and LLVM know of a program's functions is forgotten once it is compiled."""
    monkeypatch.setattr(backend, "FUSED", False)  # plain loops, which compile sooner

    def draw(k):
        fractals.compute(formula=f"z^2+c+{k}e-9*z", size=(8, 6), max_iterations=9, device="cpu")
        gc.collect()

    def alive(kind):
        return sum(type(thing) is kind for thing in gc.get_objects())

    draw(1)  # and what all programs share
    draw(2)
    kinds = llvmlite.binding.ModuleRef, CPUDispatcher
    known, before = len(cpu_target.typing_context._globals), list(map(alive, kinds))
    programs = alive(machine_code.MachineCode)
    draw(3)
    assert len(cpu_target.typing_context._globals) - known <= 2  # the program's own
    assert list(map(alive, kinds)) == before
    assert alive(machine_code.MachineCode) > programs
    code_cache.forget_programs()
    gc.collect()
    assert alive(machine_code.MachineCode) < programs  # those of the formulas before are freed, too


def test_a_later_picture_loads_no_program(monkeypatch):
    drawn = {"image": {"size": [8, 6]}}
    for _ in range(2):  # the second one compiles the loop over the tiles, where it is not stored
        fractals.render(drawn, device="cpu", on_message=str)

    def loaded(*_):
        raise AssertionError("loaded again")

    monkeypatch.setattr(code_cache.Store, "load", loaded)
    fractals.render(drawn, {"view": {"width": "2"}}, device="cpu", on_message=str)
