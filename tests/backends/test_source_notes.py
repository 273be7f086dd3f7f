"""Notes about modules: a start reads the text of those that changed, and never an outdated note."""

import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import fractals
from fractals.backends import cache_folder, code_cache, sources

PACKAGE = Path(fractals.__file__).parent
BODY, MAKER = "fractals.kernels.escape:make_body", "fractals.backends.cpu.programs"
OTHER = "fractals.kernels.shade:make_value_body"
SECOND = 10**9


class Start:
    """A start of the program on a copy of the package: what it reads, and the keys that it finds.

    Its files count as old as soon as they are written.
    """

    def __init__(self, home, monkeypatch):
        self.package, self.cache = home / "fractals", home / "cache"
        self._patch, self._notes, self._read = monkeypatch, sources.Notes(), []
        monkeypatch.setattr(sources, "PACKAGE", self.package)
        monkeypatch.setattr(sources, "NEW", 0)
        monkeypatch.setattr(sources, "open", self._open, raising=False)
        self.again()

    def _open(self, file, *mode):
        self._read.append(Path(file).name)
        return open(file, *mode)

    def again(self):
        """Begin a process that knows nothing."""
        for known in (sources._read, sources._sources, sources._file, code_cache._notes_in):
            known.cache_clear()
        self._notes = sources.Notes()
        self._patch.setattr(sources, "notes", self._notes)

    def digest(self, body=BODY):
        """Return the digest of a program's modules, and the names of the files that were read."""
        self._read.clear()
        # The file's time is that of the kernel's last tick, which may lie a few milliseconds back.
        time.sleep(0.02)
        found = code_cache._sources(str(self.cache), body, MAKER)
        return found and found.digest, sorted(self._read)

    @property
    def file(self):
        """Return the file of the notes."""
        (file,) = self.cache.rglob("*.code")
        return file


@pytest.fixture
def start(tmp_path, monkeypatch):
    for name in ("kernels", "backends", "formulas", "color"):
        shutil.copytree(
            PACKAGE / name,
            tmp_path / "fractals" / name,
            ignore=shutil.ignore_patterns("__pycache__", "data", "web"),
        )
    for path in PACKAGE.glob("*.py"):
        shutil.copy(path, tmp_path / "fractals")
    (tmp_path / "cache").mkdir(mode=0o700)
    cache_folder.take_messages()
    yield Start(tmp_path, monkeypatch)
    monkeypatch.undo()
    for known in (sources._read, sources._sources, sources._file, code_cache._notes_in):
        known.cache_clear()


needs_times = pytest.mark.skipif(os.name == "nt", reason="there the text is always read")


@needs_times
def test_text_is_read_once(start):
    first, read = start.digest()
    assert {"escape.py", "programs.py"} <= {*read}
    start.again()
    assert start.digest() == (first, [])
    assert start.digest(OTHER)[1].count("shade.py") == 1
    start.again()
    assert start.digest()[1] == start.digest(OTHER)[1] == []
    assert cache_folder.take_messages() == []


def rewritten(file, text):
    """Write a text of equal length in place, with the times and the inode of before."""
    before = file.stat()
    assert len(text) == before.st_size
    file.write_bytes(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(file, text):
    """Put another file in its place, as an installer does, with the times of before."""
    before, new = file.stat(), file.with_suffix(".new")
    new.write_bytes(text)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(new, file)


@needs_times
@pytest.mark.parametrize("write", [rewritten, replaced])
def test_an_edit_that_keeps_size_and_time_is_read(start, write):
    first, _ = start.digest()
    file = start.package / "kernels" / "orbit.py"
    text = file.read_bytes()
    write(file, text.replace(b"0", b"1", 1))
    start.again()
    other, read = start.digest()
    assert (other != first, read) == (True, ["orbit.py"])
    write(file, text)
    start.again()
    assert start.digest() == (first, ["orbit.py"])


@needs_times
def test_a_file_that_is_new_is_read_again(start, monkeypatch):
    """It may change within one step of the clock: then no time tells of it."""
    monkeypatch.setattr(sources, "_STATE", lambda info: (0,))  # a clock that stands still
    monkeypatch.setattr(sources, "NEW", 10)
    first, read = start.digest()
    assert not list(start.cache.rglob("*.code"))
    file = start.package / "kernels" / "orbit.py"
    file.write_bytes(file.read_bytes().replace(b"0", b"1", 1))
    start.again()
    other = start.digest()
    assert (other[0] != first, other[1]) == (True, read)
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 11 * SECOND)
    start.again()
    assert start.digest() == other
    start.again()
    assert start.digest() == (other[0], [])


def info(**changed):
    past = time.time_ns() // SECOND * SECOND - 20 * SECOND + 1
    known = {"dev": 1, "ino": 2, "size": 3, "mtime_ns": past, "ctime_ns": past} | changed
    return SimpleNamespace(**{f"st_{name}": value for name, value in known.items()})


@needs_times
def test_a_state_is_all_that_changes_with_a_text():
    past = info().st_ctime_ns
    names = ("dev", "ino", "size", "mtime_ns", "ctime_ns")
    states = [sources._STATE(info(**{name: past + 1})) for name in names]
    assert len({*states, sources._STATE(info())}) == 6


def test_a_state_is_not_enough_where_the_text_may_change_without_it(monkeypatch):
    past = info().st_ctime_ns
    monkeypatch.setattr(os, "name", "posix")
    assert sources._tells(info())
    assert sources._tells(info(mtime_ns=past // SECOND * SECOND))  # as a wheel's files have
    for whole in (0, past // SECOND * SECOND):
        assert not sources._tells(info(ctime_ns=whole))
    for age in (-3600, 0, 5):
        assert not sources._tells(info(ctime_ns=time.time_ns() // 10 * 10 + 1 - age * SECOND))
    monkeypatch.setattr(os, "name", "nt")
    assert not sources._tells(info())


@needs_times
@pytest.mark.parametrize("damage", ["empty", "cut", "one bit", "another package's", "not ours"])
def test_damaged_notes_are_not_used(start, damage, tmp_path):
    first, read = start.digest()
    data = start.file.read_bytes()
    if damage == "another package's":
        text, made = data[data.index(b"{") :], code_cache.Store(str(start.file.parent), "/other")
        made.save(code_cache.NOTES, text.replace(b'["', b'["0', 1))
    elif damage == "not ours":
        start.file.chmod(0o666)
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        start.file.write_bytes({"empty": b"", "cut": data[:middle], "one bit": flipped}[damage])
    start.again()
    assert start.digest() == (first, read)
    assert "removed" in " ".join(cache_folder.take_messages())
    start.again()
    assert start.digest() == (first, [])


@pytest.mark.parametrize(
    "kept",
    [None, [], {}, {"a": 1}, {"a": [1, 2]}, {"a": [["x"], ["", "", []]]}, {"a": [[], ["", ""]]}],
)
def test_a_table_of_another_form_is_no_notes(kept):
    notes = sources.Notes()
    notes.take(kept)
    assert notes.to_keep() == {}


@needs_times
def test_notes_that_cannot_be_kept_change_nothing(start, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as changed:
        changed.setattr(code_cache, "write_own", full)
        first, read = start.digest()
        start.again()
        assert start.digest() == (first, read)
    (line,) = cache_folder.take_messages()
    assert "No space left" in line


@needs_times
def test_two_processes_that_write_at_once(start):
    """The last one's notes stay; what the other one noted is noted anew."""
    store = code_cache._notes_in(str(start.cache), str(sources.PACKAGE))
    both, _ = start.digest(f"{BODY} {OTHER}")
    whole = json.loads(json.dumps(sources.notes.to_keep()))
    start.again()
    shade = {name: note for name, note in whole.items() if name == "fractals.kernels.shade"}
    store.save(code_cache.NOTES, json.dumps(shade).encode())
    found, read = start.digest(f"{BODY} {OTHER}")
    assert found == both
    assert "shade.py" not in read
    assert "escape.py" in read
    start.again()
    assert start.digest(f"{BODY} {OTHER}") == (both, [])


@needs_times
def test_a_module_that_is_gone_is_not_known(start):
    first, _ = start.digest()
    file = start.package / "kernels" / "orbit.py"
    file.unlink()
    start.again()
    assert start.digest()[0] != first  # the digest of the whole package
    file.with_suffix("").mkdir()
    (file.with_suffix("") / "__init__.py").write_bytes(b"")
    start.again()
    _, read = start.digest()
    assert read == ["__init__.py"]
    shutil.rmtree(start.package)  # as in an archive
    start.again()
    assert start.digest()[0] is None
