"""What a text names: files, entries of files, and several sources, in this order."""

import os
import shlex
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fractals.cli.convert import show_entries
from fractals.cli.messages import as_argument
from fractals.cli.scenes import merged_parts, requested_scene, source_name
from fractals.errors import FractalsError
from fractals.explorer.pages import uploaded
from fractals.io.foreign import formats
from fractals.io.load import load_scene
from fractals.io.palettes import find_palette

posix = pytest.mark.skipif(os.name != "posix", reason="characters of names, quotes of shells")
SIGNS = "ab1+/#*-$&'~!?,. "


def names(signs):
    return st.text(signs, min_size=1, max_size=8).map(str.strip).filter(bool)


entries = st.lists(names(SIGNS), min_size=2, max_size=5, unique_by=str.lower)
folders = names(SIGNS.replace("/", "")).filter(lambda name: name.strip("."))


def par(entries):
    """Return a file whose entries differ in the limit, from 7 on."""
    return "".join(f"{name} {{ type=mandel maxiter={k} }}\n" for k, name in enumerate(entries, 7))


def limit(source):
    return requested_scene((source,), {}).iteration.max_iterations


@posix
@settings(max_examples=40, deadline=None)
@example(["a", "a+b", "b", "c/d"], "a+b", "a+b.par")
@example(["#", "a#b", "-", "a  b", "a+mandelbrot.par#a"], "#1.par#", "-a.par")
@example(["*", "$a", "'", "~", "&"], "a.par+b.par", "a.par+b.par")
@given(entries, folders, folders.map(lambda name: f"{name}.par"))
def test_what_show_offers_can_be_typed(entries, folder, file):
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, folder, file)
        path.parent.mkdir()
        path.write_text(par(entries))
        found = formats.entries(str(path))
        assert [name for name, _ in found] == entries
        for k, (name, _) in enumerate(found, 7):
            (typed,) = shlex.split(as_argument(f"{path}#{name}"))
            assert merged_parts(typed) == [typed]
            assert limit(typed) == load_scene(typed).iteration.max_iterations == k
            sent = uploaded(file, path.read_bytes(), name)["scene"]
            assert sent["iteration"]["max_iterations"] == k
            for both in (["seahorse", typed], [typed, "seahorse"], [typed, typed]):
                if f"{name}+{both[1]}" not in entries:
                    assert merged_parts("+".join(both)) == both
            assert "/" not in source_name(typed)


@settings(max_examples=30, deadline=None)
@given(st.lists(names("ab1+/#*- "), min_size=2, max_size=4, unique_by=str.lower))
def test_formulas_have_such_names_too_and_words_after_them(entries):
    text = "".join(
        f"{name} {{ z = pixel: z = z*z + p1, |z| < {k} }}\n" for k, name in enumerate(entries, 5)
    ).encode()
    for k, name in enumerate(entries, 5):
        for words, number in (("", "0"), (" p1=0.5", "0.5"), ("\tp2=3 p1=2", "2")):
            told = uploaded("a.frm", text, name + words)
            assert told["scene"]["formula"]["test"] == f"norm(z) < {k}.0"
            assert told["asked"][0][:2] == ("p1", number)


@posix
def test_show_prints_what_can_be_typed(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("-a b.par").write_text(par(["a*b", "c"]))
    Path("plain.par").write_text(par(["a+b", "c/d", "e#f"]))
    assert show_entries("-a b.par", False)
    assert show_entries("plain.par", False)
    assert capfd.readouterr().out.splitlines() == [
        "'./-a b.par#a*b'  type mandel",
        "'./-a b.par#c'  type mandel",
        "plain.par#a+b  type mandel",
        "plain.par#c/d  type mandel",
        "plain.par#e#f  type mandel",
    ]


def test_files_come_before_entries_and_entries_before_several_sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.par").write_text(par(["x", "x+seahorse"]))
    assert merged_parts("a.par#x+seahorse") == ["a.par#x+seahorse"]
    assert merged_parts("a.par#X+Seahorse+menger") == ["a.par#X+Seahorse", "menger"]
    assert merged_parts("a.par#x+lantern+") == ["a.par#x", "lantern"]
    assert merged_parts("menger+a.par#x+-") == ["menger", "a.par#x", "-"]
    assert merged_parts("gallery:seahorse+a.par") == ["gallery:seahorse", "a.par"]
    Path("a.par#x").write_text("")
    Path("a.par#x+lantern.toml").write_text("title = 'one'\n")
    assert merged_parts("a.par#x+lantern.toml") == ["a.par#x+lantern.toml"]
    assert load_scene("a.par#x+lantern.toml").title == "one"


def test_messages_name_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a+b").mkdir()
    Path("a+b/t.par").write_text(par(["x", "y"]))
    for text, words in (
        ("a+b/t.par#z", "t.par: no entry 'z'; the file has x, y"),
        ("a+b/t.par#x+nothing", "unknown scene 'nothing'"),
        ("a+b/u.par", "unknown scene 'a'"),
    ):
        with pytest.raises(FractalsError, match=words):
            requested_scene((text,), {})


def test_drives_of_windows_and_folders_with_signs():
    path = r"C:\a+b#c\t.par"
    assert formats.split(rf"{path}#x/y#z", path.__eq__) == (Path(path), "x/y#z")
    assert formats.split(r"D:\many.par#C:\x") == (Path(r"D:\many.par"), r"C:\x")


def test_suffixes_of_entries_are_no_suffixes_of_files(tmp_path, run):
    Path("a.par").write_text(par(["x.png", "y.npz", "z.toml", "w.fz"]))
    for k, name in enumerate(["x.png", "y.npz", "z.toml", "w.fz"], 7):
        code, out, err = run("show", f"a.par#{name}")
        assert (code, f"max_iterations = {k}\n" in out.decode()) == (0, True), err
        assert run("convert", f"a.par#{name}", f"{k}.toml")[0] == 0


def test_palettes_of_files_with_marks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.map#1").mkdir()
    gradient = "{{\ngradient:\n index=0 color={} index=200 color=0\n}}\n"
    Path("x.map#1/a.ugr").write_text(f"a#b {gradient.format(255)}c+d/e {gradient.format(65280)}")
    for name, color in (("a#b", "#ff0000"), ("c+d/e", "#00ff00")):
        found, _ = find_palette(f"x.map#1/a.ugr#{name}")
        assert found.stops[0][1] == color
