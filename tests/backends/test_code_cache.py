"""The cache of compiled code, filled and read by several processes."""

import dataclasses
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest

from fractals import catalog
from fractals.backends import code_cache

DRAW = """
import hashlib, sys
import fractals
SCENES = {
    "mandelbrot": {},
    "celtic": {"formula": "celtic"},
    "cubic": {"formula": {"name": "multibrot", "power": 3}},
    "quartic": {"formula": {"name": "multibrot", "power": 4}},
    "linear": {"color": {"transfer": "linear"}},
    "sqrt": {"color": {"transfer": "sqrt"}},
}
for name in sys.argv[1:]:
    small = {"image": {"size": [24, 16], "supersampling": 1}}
    if name == "colors":
        raw = fractals.compute(small, device="python")
        pixels = fractals.recolor(raw, device="cpu").pixels
    else:
        pixels = fractals.render(SCENES[name], small, device="cpu").pixels
    print(name, hashlib.sha256(pixels.tobytes()).hexdigest())
"""
NAMES = ("mandelbrot", "celtic", "cubic", "quartic", "linear", "sqrt")


def draw(folder, *names, **environment):
    done = subprocess.run(
        [sys.executable, "-c", DRAW, *names],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Fill a cache from a process for each picture, two at a time; return folder and hashes."""
    folder = tmp_path_factory.mktemp("cache")
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: draw(folder, name), NAMES))
    return folder, {name: value for one in found for name, value in one.items()}


def test_code_that_several_processes_cached_does_not_clash(filled):
    # Numba tells functions of one name apart by numbers that begin at 1 in every process.
    folder, expected = filled
    assert len(set(expected.values())) == len(NAMES)
    assert draw(folder, *reversed(NAMES)) == expected


def test_a_warm_cache_is_used(filled):
    folder, _ = filled
    before = sorted(folder.rglob("*.nbc"))
    draw(folder, *NAMES)
    assert sorted(folder.rglob("*.nbc")) == before


def test_code_is_found_again_when_modules_come_from_bytecode(tmp_path):
    # A first run reads the modules' source, and leaves bytecode for the next one.
    environment = {"PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    draw(tmp_path / "cache", "colors", **environment)
    before = sorted(tmp_path.rglob("*.nbc"))
    assert before
    draw(tmp_path / "cache", "colors", **environment)
    assert sorted(tmp_path.rglob("*.nbc")) == before


def test_formulas_of_one_name_are_told_apart(monkeypatch, tmp_path):
    from fractals.formulas import mandelbrot, tricorn

    seen = []
    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path))
    formula = mandelbrot.make()
    for own in (
        formula,
        dataclasses.replace(formula, step=tricorn.step),
        dataclasses.replace(formula, inside=None),
        dataclasses.replace(formula, holomorphic=False),
    ):

        def decorate(kept):
            assert kept
            seen.append(code_cache.numba.config.CACHE_DIR)
            return mock.MagicMock()

        code_cache.cached(decorate, "cpu", own)
    assert len(set(seen)) == 4


@dataclasses.dataclass(frozen=True)
class Options:
    formula: object
    julia: bool = False
    statistics: tuple = ()


@dataclasses.dataclass(frozen=True)
class OtherOptions(Options):
    pass


def test_options_are_told_apart_by_their_class_and_all_their_fields():
    from fractals.formulas import mandelbrot, tricorn

    formula = mandelbrot.make()
    different = [
        Options(formula),
        OtherOptions(formula),
        Options(tricorn.make()),
        Options(formula, True),
        Options(formula, False, (1, (2, 3))),
        Options(formula, False, ((1, 2), 3)),
        Options(formula, False, ("(1, 2)", 3)),
        Options(Options(formula)),
        (formula, False, ()),
    ]
    texts = [code_cache._text(one) for one in different]
    assert len(set(texts)) == len(texts)
    assert code_cache._text(Options(mandelbrot.make())) == texts[0]
    assert not any(" at 0x" in text + code_cache._label(text) for text in texts)


def test_a_formula_from_elsewhere_within_options_is_not_cached():
    from fractals.formulas import mandelbrot

    ours = mandelbrot.make()
    foreign = dataclasses.replace(ours, step=lambda x, y, a, b: (x, y))
    assert code_cache.cached(lambda kept: mock.Mock(kept=kept), "cpu", Options(ours)).kept
    assert code_cache.cached(lambda kept: kept, "cpu", Options(foreign)) is False


def test_an_edit_anywhere_starts_an_empty_folder(monkeypatch, tmp_path):
    package = tmp_path / "package"
    (package / "backends").mkdir(parents=True)
    source = package / "formula.py"
    source.write_text("a = 1\n")
    monkeypatch.setattr(code_cache, "__file__", str(package / "backends" / "code_cache.py"))
    before = code_cache._fingerprint()
    assert code_cache._fingerprint() == before
    source.write_text("a = 2\n")
    assert code_cache._fingerprint() != before


def test_without_a_writable_folder_nothing_is_cached(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    code_cache.folder.cache_clear()
    try:
        assert code_cache.folder() is None
        assert code_cache.cached(lambda kept: kept, "cpu") is False
    finally:
        code_cache.folder.cache_clear()


def test_a_formula_from_elsewhere_is_not_cached():
    from fractals.kernels.formula import Formula

    own = Formula("own", "mine", step=lambda x, y, a, b: (x, y), derivative=None, degree=2)
    assert code_cache.cached(lambda kept: kept, "cpu", own) is False


@pytest.mark.parametrize("kind", ["formula", "coloring"])
def test_all_that_comes_with_the_package_is_cached(kind):
    for name in catalog.names(kind):
        made = code_cache.cached(
            lambda kept: mock.Mock(kept=kept), "cpu", catalog.load(kind, name)()
        )
        assert made.kept, name


def test_numba_still_numbers_functions_as_the_cache_expects():
    # If this fails with a new Numba, nothing is cached any more: look for another way.
    assert code_cache.NUMBERED
