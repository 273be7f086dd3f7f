"""Machine code that comes with the package: for whom, its place among caches, its bytes."""

import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from fractals.backends import cache_folder, code_cache, machine_code, shipped
from fractals.backends.cpu import programs
from fractals.backends.cpu.programs import program_of

V3, V4 = (set(shipped.LEVELS[level]) for level in ("x86-64-v3", "x86-64-v4"))


@pytest.mark.parametrize(
    ("features", "level"),
    [
        (V4, "x86-64-v4"),
        (V4 | {"avx512vnni", "sse4a"}, "x86-64-v4"),
        (V3, "x86-64-v3"),
        (V3 | {"vaes", "avxvnni"}, "x86-64-v3"),
        (V3 - {"fma"}, ""),
        (V4 - {"fma"}, ""),
        # Its vectors are as long as those of the higher level, for which host code would choose
        (V4 - {"avx512dq"}, ""),
        (V3 | {"avx512f"}, "x86-64-v3"),
        (set(), ""),
    ],
)
def test_the_level_is_chosen_by_features(features, level):
    assert shipped.level_of(features, "x86_64") == level


def test_each_arm_has_one_level():
    for features in (set(), {"neon", "fp-armv8", "sve"}):
        assert shipped.level_of(features, "aarch64") == "aarch64"


def test_a_program_for_a_level_is_known_by_what_the_level_is_compiled_with():
    """The text of a process that compiles for a level is the one that others look for."""
    for level in shipped.LEVELS:
        environment = shipped.environment_of(level)
        code = "from fractals.backends import machine_code; print(machine_code.TARGET)"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
            text=True,
        )
        cpu, flags = environment.values()
        assert done.stdout.strip() == machine_code.target_text(cpu, flags, environment)


# --- The order of look-up


def make_double(_target):
    def double(values):
        values[0] *= 2

    return double


def make_half(_target):
    def half(values):
        values[0] /= 2

    return half


LAYOUT = machine_code.layout_of((np.zeros(1),))


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return the file of a level that this processor has, in place of those of the package."""
    for name in machine_code.SETTINGS:
        monkeypatch.delenv(f"NUMBA_{name}", raising=False)
    monkeypatch.delenv(shipped.SWITCH, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    own = {"x86-64-v3": frozenset(machine_code.FEATURES)}
    monkeypatch.setattr(shipped, "X86", own)
    monkeypatch.setattr(shipped, "LEVELS", own)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    shipped.shipped.cache_clear()
    cache_folder.take_messages()
    yield shipped.file_of("x86-64-v3")
    shipped.shipped.cache_clear()
    code_cache.forget_programs()
    cache_folder.take_messages()


def ship(file, *makes, together=False):
    """Write the file of a level, with some programs; `together`: as `shipped.packed` takes it."""
    contents = {}
    environment = shipped.environment_of("x86-64-v3")
    target = machine_code.target_text(*environment.values(), environment)
    for make in makes:
        store = program_of(make, "float64").store
        key = f"{LAYOUT} for {target}"
        kinds = {"loop": False, "checked": False, "packed": False, "long": False}
        data = programs._compiled((make, "float64", (), LAYOUT), kinds)
        contents[store.place(key)] = store.content(key, data)
    file.write_bytes(shipped.packed(contents, together))


def used(make=make_double):
    """Run a program as in a new process; return what it made of 4, and how its code came."""
    code_cache.forget_programs()
    shipped.shipped.cache_clear()
    values, load = np.full(1, 4.0), shipped.Shipped.load
    with (
        mock.patch.object(programs, "_compiled", side_effect=programs._compiled) as compiled,
        mock.patch.object(shipped.Shipped, "load", autospec=True, side_effect=load) as loaded,
    ):
        program_of(make, "float64")(values)
    by = "compiled" if compiled.called else "shipped" if loaded.called else "cached"
    return values[0], by


def test_the_cache_of_the_user_comes_before_the_package_and_the_compiler_last(
    installed, monkeypatch
):
    ship(installed, make_double)
    assert used() == (8, "shipped")
    assert used() == (8, "cached")  # as it was unpacked
    assert used(make_half) == (2, "compiled")
    assert used(make_half) == (2, "cached")
    monkeypatch.setenv(shipped.SWITCH, "0")
    assert used() == (8, "compiled")  # and not what was unpacked
    monkeypatch.delenv(shipped.SWITCH)
    installed.unlink()
    assert used() == (8, "cached")


def test_programs_that_were_packed_together_are_found(installed):
    ship(installed, make_double, make_half, together=True)
    places = [*shipped.shipped().places.values()]
    assert len({tuple(place[:2]) for place in places}) == 2  # a group of each kind
    assert used() == (8, "shipped")
    assert used(make_half) == (2, "shipped")
    assert used(make_half) == (2, "cached")


def test_groups_have_programs_of_a_kind_and_are_not_larger_than_said(monkeypatch):
    """The bytes do not depend on the order in which programs were found."""
    monkeypatch.setattr(shipped, "GROUP", shipped.GROUP // 50)  # compressed as larger ones are
    sizes = {f"cpu-{kind}-{k:012}/a.code": 2400 * k for kind in "ab" for k in range(1, 5)}
    contents = {place: os.urandom(size) for place, size in sizes.items()}
    groups = shipped._groups(contents)
    assert sorted(place for group in groups for place in group) == sorted(contents)
    for group in groups:
        assert len({place[:6] for place in group}) == 1
        assert sum(map(sizes.get, group)) <= shipped.GROUP
    assert len(groups) == 6
    backwards = dict(reversed(contents.items()))
    assert shipped.packed(contents, True) == shipped.packed(backwards, True)


def test_where_no_cache_can_be_kept_the_package_is_used(installed, monkeypatch):
    ship(installed, make_double)
    monkeypatch.setattr(code_cache, "folder", lambda: None)
    assert used() == (8, "shipped")
    assert used(make_half) == (2, "compiled")
    assert used(make_half) == (2, "compiled")


def test_code_of_other_sources_is_not_found(installed, monkeypatch):
    ship(installed, make_double)
    of = code_cache._sources

    def edited(*given):
        found = of(*given)
        return found._replace(digest=f"{found.digest[:-1]}x")

    monkeypatch.setattr(code_cache, "_sources", edited)
    assert used() == (8, "compiled")


def test_a_loop_of_the_package_counts_as_stored(installed, monkeypatch):
    assert not programs.is_stored(make_double, "float64", ())
    ship(installed, make_double)
    shipped.shipped.cache_clear()
    assert programs.is_stored(make_double, "float64", ())
    assert not programs.is_stored(make_half, "float64", ())
    code_cache.forget_programs()
    monkeypatch.setattr(code_cache, "_store", lambda *_: None)
    assert not programs.is_stored(make_double, "float64", ())


DAMAGES = {
    "a bit of the code": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "cut": lambda data: data[:-40],
    "empty": lambda data: b"",
    "the line": lambda data: data[:40] + b"\xff" + data[41:],
    "no table": lambda data: data.replace(b"{", b"[[1]]\n{", 1),
    "another mark": lambda data: data.replace(b"code 1", b"code 0", 1),
    "another program": lambda data: data.replace(b"make_double", b"make_triple", 1),
}


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_reported_and_not_run(damage, together, installed):
    ship(installed, make_double, together=together)
    installed.write_bytes(DAMAGES[damage](installed.read_bytes()))
    cache_folder.take_messages()
    assert used() == (8, "compiled")
    lines = cache_folder.take_messages()
    if damage != "another program":  # it is only missing
        assert len(lines) == 1
        assert "machine code of the package" in lines[0]
        assert str(installed) in lines[0]


def test_what_is_used_is_told_and_why_nothing_is(installed, monkeypatch):
    assert shipped.facts()["unused"] == "this installation came without programs"
    ship(installed, make_double, make_half)
    shipped.shipped.cache_clear()
    facts = {"level": "x86-64-v3", "file": str(installed), "programs": 2}
    size = installed.stat().st_size
    assert shipped.facts() == {**facts, "bytes": size, "kernels": 0, "unused": ""}
    for name, value, reason in (
        (shipped.SWITCH, "0", f"{shipped.SWITCH} is 0"),
        ("NUMBA_OPT", "1", "NUMBA_OPT is set"),
    ):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert shipped.why_not() == reason
    for owner, name, value, reason in (
        (sys, "platform", "darwin", "no release has programs for this system"),
        (machine_code, "FEATURES", {"sse2"}, "no release has programs for this processor"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(owner, name, value)
            assert shipped.why_not() == reason


def test_the_command_line_tells_what_is_used(installed, run, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(installed.parent))  # and not that of all tests
    ship(installed, make_double)
    shipped.shipped.cache_clear()
    assert "1 program came with the package, for x86-64-v3" in run("devices")[1].decode()
    assert str(installed) in run("cache")[1].decode()
    installed.unlink()
    shipped.shipped.cache_clear()
    assert "first pictures are compiled, because this installation " in run("devices")[1].decode()
    assert "not used, because this installation came without programs" in run("cache")[1].decode()


# --- What is drawn for a file, and its bytes


def test_films_that_are_drawn_for_a_wheel_are_made_of_strips():
    """A smaller or shorter film is drawn frame by frame, without the programs of a strip."""
    path = Path(__file__).parents[2] / "scripts" / "prebuilt.py"
    spec = importlib.util.spec_from_file_location("prebuilt", path)
    prebuilt = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prebuilt)
    films = [name for name in prebuilt.FIRST if prebuilt.SECONDS in name]
    assert films
    for name in films:
        film = prebuilt.film_of(name, device="cpu", on_message=lambda line: None)
        assert {part.method for part in film.parts} == {"strip"}, name


COMPILE = """
import hashlib, sys
import numpy as np
from fractals.backends import machine_code
from fractals.backends.cpu import programs, target
for samples in map(int, sys.argv[1:]):
    layout = programs.color_layout(np.uint8)
    what = "fractals.backends.cpu.pixels:make_paint_body", "float64", (samples,), layout
    data = target.compiled(*what, False)
    print(samples, machine_code.loaded(data) and hashlib.sha256(data).hexdigest())
"""
BODIES = "1", "2"


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="machine code comes for Linux on x86-64",
)
def test_code_does_not_depend_on_what_was_compiled_before(tmp_path):
    """Two processes compile programs in two orders, and with other seeds of hashes."""
    found = []
    for seed, turn in (("1", 1), ("2", -1)):
        environment = {
            **os.environ,
            **shipped.environment_of("x86-64-v3"),
            "PYTHONHASHSEED": seed,
            "NUMBA_CACHE_DIR": str(tmp_path / seed),
        }
        done = subprocess.run(
            [sys.executable, "-c", COMPILE, *BODIES[::turn]],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        found.append(sorted(done.stdout.splitlines()))
    assert found[0] == found[1]
    assert len(found[0]) == len(BODIES)
