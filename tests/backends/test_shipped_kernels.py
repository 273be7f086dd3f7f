"""Kernels for CUDA GPUs that come with the package: their place among caches, and their bytes.

What compiles and what draws them is in test_cuda_launch.py, which needs a GPU or its stand-in.
"""

import functools

import pytest
from test_shipped import DAMAGES

from fractals.backends import cache_folder, code_cache, shipped
from fractals.backends.cuda import kernel

LAYOUT = "['<f8[2]', <class 'int'>]"
CODES = {(7, 5): b"code of 7.5", (9, 0): b"code of 9.0" * 1000, (12, 0): b"code of 12.0"}


def make_body(_target):
    """Return a body of the test."""


def make_other_body(_target):
    """Return another one."""


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return the file of kernels, in place of that of the package; a compiler answers "made"."""
    monkeypatch.delenv(shipped.SWITCH, raising=False)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()

    def compiled(program, layout, capability, arguments):
        return "made", b"here"

    monkeypatch.setattr(kernel.CardProgram, "_compiled", compiled)
    forget()
    yield shipped.file_of_kernels()
    forget()


def forget():
    shipped.kernels.cache_clear()
    code_cache.forget_programs()
    cache_folder.take_messages()


def ship(file):
    """Write the file, with one kernel, and forget what there was."""
    store = kernel.card_program("float64", make_body, ())._store
    key, data = kernel.key_of(LAYOUT), kernel.compressed("shipped", CODES)
    file.write_bytes(shipped.packed({store.place(key): store.content(key, data)}))
    forget()


def found(make=make_body, capability=(9, 0), layout=LAYOUT):
    return kernel.card_program("float64", make, ()).code(layout, capability, ())


@pytest.mark.parametrize("capability", CODES)
def test_a_kernel_of_the_package_is_that_of_the_card(installed, capability):
    ship(installed)
    assert found(capability=capability) == ("shipped", CODES[capability])


def test_all_others_are_compiled(installed, monkeypatch):
    assert found() == ("made", b"here")
    ship(installed)
    assert found(capability=(8, 7)) == ("made", b"here")
    assert found(layout="['<f8[3]']") == ("made", b"here")
    assert found(make_other_body) == ("made", b"here")
    forget()
    monkeypatch.setenv(shipped.SWITCH, "0")
    assert found() == ("made", b"here")


def test_the_cache_of_the_user_comes_first(installed):
    ship(installed)
    program = kernel.card_program("float64", make_body, ())
    program._store.save(kernel._own_key(LAYOUT, (9, 0)), kernel._packed("own", b"of before"))
    assert found() == ("own", b"of before")
    assert found(capability=(7, 5)) == ("shipped", CODES[7, 5])


def test_where_no_cache_can_be_kept_the_package_is_used(installed, monkeypatch):
    ship(installed)
    monkeypatch.setattr(code_cache, "folder", lambda: None)
    assert found() == ("shipped", CODES[9, 0])


def test_a_kernel_of_other_sources_is_not_found(installed, monkeypatch):
    ship(installed)
    of = code_cache._sources

    def edited(*given):
        sources = of(*given)
        return sources._replace(digest=f"{sources.digest[:-1]}x")

    monkeypatch.setattr(code_cache, "_sources", edited)
    assert found() == ("made", b"here")


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name != "another program"])
def test_a_damaged_kernel_is_reported_and_not_run(damage, installed):
    ship(installed)
    installed.write_bytes(DAMAGES[damage](installed.read_bytes()))
    assert found() == ("made", b"here")
    (line,) = cache_folder.take_messages()
    assert "machine code of the package" in line
    assert str(installed) in line


def test_names_of_packages_tell_that_a_compiler_is_there(installed, monkeypatch):
    """Where kernels came with the package, so that a first picture imports no Numba."""
    asked = []
    monkeypatch.setattr(kernel, "_compiler", lambda: asked.append(1))
    monkeypatch.delitem(kernel.sys.modules, "numba", raising=False)
    kernel._note.cache_clear()
    for packages, present, times in (
        ("0.30.4 13.5", False, 1),
        ("0.30.4 13.5", True, 0),
        ("0.30.4", True, 1),
        ("", True, 1),
    ):
        asked.clear()
        installed.unlink(missing_ok=True)
        if present:
            ship(installed)
        shipped.kernels.cache_clear()
        version = functools.partial(str, packages)
        monkeypatch.setattr(kernel.numba_private, "version_of_cuda", version)
        kernel.check_compiler()
        assert len(asked) == times
    kernel._note.cache_clear()


def test_the_command_line_tells_of_kernels(installed, run):
    ship(installed)
    assert shipped.facts()["kernels"] == 1
    assert "1 kernel for GPUs" in run("cache")[1].decode()
