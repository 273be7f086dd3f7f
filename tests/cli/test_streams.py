"""Streams that are full or closed, signals, and damage that must not end in a traceback."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.command_line import hear_signals

import fractals
from fractals.cli import signals
from fractals.cli.verbs import COMMANDS
from fractals.tools.bench_report import make_report
from fractals.tools.caches import CACHES

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="needs /dev/full, a shell and signals")


def shell(line, folder, **settings):
    """Run a line of a shell in which `$F` is the command; return exit code, stdout and stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "F": f"{sys.executable} -m fractals"}
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=120,
        **settings,
    )
    return done.returncode, done.stdout, done.stderr.decode()


PYTHON = "--device python"
TINY = f"--size 8x8 {PYTHON} --max-iterations 9"
SMALL = {"size": (8, 8), "device": "python", "max_iterations": 9}
WRITERS = [
    "--help",
    "render --help",
    "--version",
    "list formats",
    "list palettes --json",
    "devices",
    "show seahorse",
    "show --schema",
    "convert seahorse -",
    "completion bash",
    "render --dry-run",
    "help find nucleus",
    "list scenes",
    "devices --json",
    "cache",
    "gallery",
    "compute --dry-run --json",
    f"compute {TINY} -o new.npz --json",
    f"recolor own.npz -o new.png --json {PYTHON}",
    "tiles --dry-run -o tiles/",
    f"film --cycle 1 --fps 2 {TINY} --dry-run",
    f"film --cycle 1 --fps 2 {TINY} -o new.gif --json",
    "find nucleus seahorse",
    "find period seahorse",
    "find julia seahorse",
    "find misiurewicz seahorse --json",
    "find interesting seahorse --size 64x48 --count 1",
    "verify own.png --json",
    "bench --read own.json",
    "gpu source",
    "gpu predict seahorse --size 64x48 --card rtx4090",
    "gpu divergence own.toml",
    "gpu access own.py",
    "learn",
    "learn 0",
    "learn --page 1",
    f"render {TINY} -o new.png --json",
    f"render {TINY} -o -",
]
SILENT = {  # verbs that print no data
    "cluster-keys",
    "explore",
    "proof",
    "sheet",
    "surprise",
    "trace",
    "worker",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with the files that the command lines of `WRITERS` read."""
    folder = tmp_path_factory.mktemp("made")
    fractals.render(**SMALL).save(folder / "own.png")
    fractals.compute(**SMALL).save(folder / "own.npz")
    small = fractals.Scene().replace(size=(32, 32), max_iterations=9)
    fractals.save_scene(small, folder / "own.toml")
    (folder / "own.json").write_text(json.dumps(make_report([])))
    (folder / "own.py").write_text("print('own')\n")
    return folder


@pytest.fixture
def own(run, made, monkeypatch):
    """Copy the files that the command lines of `WRITERS` read into the test's folder.

    The caches that "cache" looks into are small: thousands of programs that tests compiled are not.
    """
    for name in CACHES:
        monkeypatch.setitem(CACHES, name, lambda: made)
    shutil.copytree(made, ".", dirs_exist_ok=True)


def without_facts(err):
    """Return the lines on stderr that do not say what was found or drawn."""
    facts = ("-: ", "nucleus of", "Misiurewicz point of", "own.py: no kernel")
    starts = tuple(f"fractals: {each}" for each in facts)
    return [line for line in err.splitlines() if not line.startswith(starts)]


def test_every_verb_is_tried():
    assert {words.split()[0] for words in WRITERS} - {"--help", "--version"} == {*COMMANDS} - SILENT


@posix
@pytest.mark.parametrize("words", WRITERS)
def test_a_full_stdout_is_one_line(run, own, monkeypatch, words):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code, _, err = run(*words.split())
    assert without_facts(err) == ["fractals: stdout can't be written: No space left on device"]
    assert code == 1


@pytest.mark.parametrize("words", WRITERS)
def test_a_closed_stdout_is_one_line(run, own, monkeypatch, words):
    monkeypatch.setattr(sys, "stdout", None)
    code, _, err = run(*words.split())
    (line,) = without_facts(err)
    assert line.startswith("fractals: stdout is closed: ")
    assert code == 1


@posix
def test_a_full_stdout_is_no_error_where_nothing_is_printed(run, monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code, _, err = run("render", *TINY.split(), "-o", "a.png")
    assert (code, err.count("\n")) == (0, 1)


@posix
@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
def test_a_process_ends_with_that_line(tmp_path, redirect):
    code, _, err = shell(f"$F list formats {redirect}", tmp_path)
    assert code == 1
    assert err.startswith("fractals: stdout ")
    assert err.count("\n") == 1


@posix
@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full", ">&-", "<&- >&- 2>&-"])
def test_a_picture_needs_no_streams(tmp_path, redirect):
    words = "render --size 8x8 --device python --max-iterations 9 -o a.png"
    assert shell(f"$F {words} {redirect}", tmp_path)[0] == 0
    assert os.listdir(tmp_path) == ["a.png"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@posix
def test_a_pipe_that_is_closed_early_is_no_traceback(tmp_path):
    assert shell("$F list palettes | head -n 1", tmp_path)[2] == ""


@posix
@pytest.mark.parametrize("words", WRITERS)
def test_a_pipe_that_nobody_reads_is_no_message(run, own, monkeypatch, words):
    reader, writer = os.pipe()
    os.close(reader)
    with contextlib.suppress(BrokenPipeError), open(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        code, _, err = run(*words.split())
    assert (code, without_facts(err)) == (1, [])


LONG = "a" * 300


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("render", LONG), 2, "unknown scene 'aaa"),
        (("render", f"{LONG}.toml"), 3, "File name too long"),
        (("render", *TINY.split(), "-o", f"{LONG}.png"), 1, "File name too long"),
        (("convert", "seahorse", f"{LONG}.toml"), 1, "File name too long"),
        (("show", f"{LONG}.npz"), (1, 3), "aaa"),
        (("show", f"{LONG}.fz"), (1, 3), "aaa"),
        (("list", "palettes", "--preview", f"{LONG}.png"), 1, "File name too long"),
        (("render", "--formula", "z^2+\udcff"), 2, "is not UTF-8 text"),
        (("render", "--zoom", "\udcff"), 2, "is not UTF-8 text"),
        (("render", "--palette", "\udcff"), 2, "is not UTF-8 text"),
        (("rend\udcff",), 2, "did you mean 'render'"),
        (("render", "--size", f"{'9' * 400}x1cm@300dpi"), 2, "is not a size"),
        (("render", "--size", f"0x1in@{'9' * 400}dpi"), 2, "is not a size"),
        (("render", "--julia", "1e999999999,0"), 2, "--julia"),
        (("render", "--threads", "9" * 5000), 2, "is not a whole number from 1 to 1024"),
        (("render", "--max-iterations", "1e999999"), 2, "is not 'auto' or a whole number"),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.skipif(os.name != "posix", reason="other systems have other bounds of names")
def test_odd_text_is_one_line(run, words, code, message):
    found, out, err = run(*words)
    assert found in (code if isinstance(code, tuple) else (code,)), err
    assert out == b""
    assert message in err
    assert err.startswith("fractals: ")
    assert err.count("\n") == 1
    assert len(err) < 230
    assert os.listdir() == []


@posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root and Windows read everything")
def test_folders_without_rights_are_one_line(tmp_path):
    (tmp_path / "e").mkdir(mode=0o600)
    for words in ("render e/foo", "render e/foo.toml", "render --size 2x2 -o e/a.png"):
        code, _, err = shell(f"$F {words}", tmp_path)
        assert code in (1, 2, 3)
        assert err.count("\n") == 1
        assert "Traceback" not in err


@posix
def test_a_variable_that_numba_can_not_read_is_one_line(made, tmp_path):
    compiles = "FRACTALS_PREBUILT=0 NUMBA_CACHE_DIR=code NUMBA_NUM_THREADS=1.5 $F recolor"
    code, _, err = shell(f"{compiles} {made}/own.npz --cpu -o a.png", tmp_path)
    first, *others = err.splitlines()
    assert code == 0
    assert first.startswith("fractals: Environment variable 'NUMBA_NUM_THREADS' is defined but")
    assert all(line.startswith("fractals: ") for line in others)


@posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root and Windows read everything")
def test_what_may_not_be_read_is_not_called_damaged(tmp_path):
    code, _, err = shell(f"$F render {TINY} -o a.png && $F compute {TINY} -o a.fz", tmp_path)
    assert code == 0, err
    for name, named in (("a.png", "a.png"), ("a.fz", "a.fz/header.json")):
        (tmp_path / name).chmod(0)
        found = shell(f"$F show {name}", tmp_path)
        assert found == (3, b"", f"fractals: {named}: Permission denied\n")
    (tmp_path / "a.fz").chmod(0o700)  # so that it can be removed


@posix
def test_a_current_folder_that_was_removed_is_named(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code, _, err = shell("rmdir ../gone; $F render --size 8x8 --device python", gone)
    assert (code, err) == (1, "fractals: the current folder was removed: change to another\n")


def test_a_permission_error_is_one_line(run, monkeypatch):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied", "e/a.png")

    monkeypatch.setattr(os, "access", forbidden)
    code, _, err = run("render", "--size", "2x2", "-o", "a.png")
    assert (code, err) == (1, "fractals: 'e/a.png': Permission denied\n")


def test_an_internal_error_is_one_line_and_verbose_has_the_traceback(run, monkeypatch):
    def broken(*_):
        raise KeyError("x")

    monkeypatch.setattr(os, "access", broken)
    code, _, err = run("render", "--size", "2x2", "-o", "a.png")
    assert code == 1
    assert err == "fractals: internal error: KeyError: 'x' (--verbose says where)\n"
    assert "Traceback" in run("-v", "render", "--size", "2x2", "-o", "a.png")[2]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("can't start new thread"), "give --threads 1"),
        (MemoryError(), "out of memory: give a smaller --size or --supersampling"),
    ],
)
def test_a_resource_that_is_used_up_is_one_line(run, monkeypatch, error, words):
    def broken(*_):
        raise error

    monkeypatch.setattr(os, "access", broken)
    code, _, err = run("render", "--size", "2x2", "-o", "a.png")
    assert (code, err.count("\n"), words in err) == (1, 1, True)


ENDLESS = ["render", "--device", "python", "--size", "400x400", "--no-interior-shortcuts"]
ENDLESS += ["--max-iterations", "1000000", "--center=-0.1,0", "--width", "0.01", "-o", "a.png"]


def has_opened(process, folder):
    """Return whether a process writes a file of this folder, which may have no name yet."""
    opened = []
    for link in Path(f"/proc/{process.pid}/fd").glob("*"):
        with contextlib.suppress(OSError):  # closed meanwhile
            opened.append(os.readlink(link))
    return any(name.startswith(f"{folder}/") for name in opened)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="sees open files in /proc")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_signals_leave_no_file(tmp_path, name):
    process = subprocess.Popen(
        [sys.executable, "-m", "fractals", *ENDLESS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        preexec_fn=hear_signals,
    )
    deadline = time.monotonic() + 60
    while not has_opened(process, tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert has_opened(process, tmp_path), "no unfinished file appeared"
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + getattr(signal, name)
    assert err.decode().splitlines()[-1] == f"fractals: ended by {name}"
    assert os.listdir(tmp_path) == []


@pytest.fixture
def handlers():
    """Restore the handlers of signals."""
    numbers = [signal.SIGTERM, signal.SIGHUP]
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@posix
@pytest.mark.usefixtures("handlers")
def test_a_signal_that_is_ignored_stays_ignored():
    """As under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signals.end_by_signal()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN

    def be_ended():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    with pytest.raises(SystemExit) as ended:
        be_ended()
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # the next one ends the process


@posix
@pytest.mark.usefixtures("handlers")
def test_a_signal_waits_until_a_program_is_compiled():
    from numba.core.compiler_lock import global_compiler_lock

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signals.end_by_signal()
    done = []

    def compile_and_draw():
        with global_compiler_lock:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.5)
            done.append(True)
        time.sleep(5)
        done.append(True)

    with pytest.raises(SystemExit):
        compile_and_draw()
    assert done == [True]


def test_an_interrupt_during_imports_is_one_line(tmp_path):
    script = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == WHAT:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "sys.argv = ['fractals', 'render', '--size', '4x4']\n"
        "import fractals.__main__\n"
    )
    for what in ("click", "fractals.cli.signals", "fractals.cli.render", "numpy", "fractals.scene"):
        done = subprocess.run(
            [sys.executable, "-c", script.replace("WHAT", repr(what))],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr.lstrip()) == (130, b"fractals: interrupted\n"), what


LOST = """
import os, signal, time
from fractals.cli import signals
signals.end_by_signal()
signals.end_in_spite_of_destructors()
class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.1)
try:
    Dying()
    time.sleep(20)
except (KeyboardInterrupt, SystemExit) as error:
    print(repr(error))
Dying.__del__ = lambda self: 1 / 0
Dying()
"""


@posix
@pytest.mark.parametrize(
    ("name", "raised"), [("SIGINT", "KeyboardInterrupt()"), ("SIGTERM", "SystemExit(143)")]
)
def test_a_signal_in_a_destructor_is_not_lost(name, raised):
    words = (sys.executable, "-c", LOST.format(name=name))
    pipes = {"capture_output": True, "text": True}
    ended = subprocess.run(words, preexec_fn=hear_signals, **pipes, timeout=60)
    assert ended.stdout == f"{raised}\n"
    assert ended.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"  # as ever
    assert ended.returncode == 0


def test_a_file_that_ends_too_soon_is_no_ctrl_c(run, monkeypatch):
    """click takes an EOFError, as of damaged code of Python, for an end of what a user types."""

    def ends(*_):
        raise EOFError("marshal data too short")

    monkeypatch.setattr(os, "access", ends)
    code, _, err = run("render", "--size", "2x2", "-o", "a.png")
    line = "fractals: internal error: EOFError: marshal data too short (--verbose says where)"
    assert (code, err.strip()) == (1, line)
