"""Write a site: the files that a host of static pages serves in place of the explorer's server."""

import contextlib
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fractals import catalog
from fractals.backends.wasm import ENVIRONMENT, HAS_RELAXED
from fractals.errors import FractalsError, OptionError, counted, shown
from fractals.explorer import pages
from fractals.explorer.site import tables
from fractals.kernels.formula import Formula
from fractals.scene.model import Scene, validate
from fractals.threads import threads_for
from fractals.tools import sheet

MARK = "engine/facts.bin"  # by which a folder is known as a site
UNFINISHED = ".unfinished"  # the folder that a site is made in, within its own
COLORS = "colors"  # the file of programs that color
DEEP = "deep", "extended"  # begin the names of programs that draw deep views
# What the page asks of a server, and the file that a site has in its place
ASKED = re.compile(r"""(["'`(])/(client/|catalog\.json|thumbnail/)""")
# Files that a process makes, because its memory grows by some 80 MB a file (measured)
A_PROCESS = 6
LINES = 10  # of progress
START = "client/start.js", "client/site/start.js"


def write_site(
    folder: str | Path,
    first: Scene | None = None,
    formulas: tuple[str, ...] = (),
    threads: int | None = None,
    on_message: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write a site into a folder, and return the folder.

    Parameters
    ----------
    folder : str or Path
        New, empty, or a site that was written before, which stays if the new one can't be made.
    first : Scene, optional
        Is shown first; by default the gallery.
    formulas : tuple of str
        Names of the formulas for which programs are made; default: all.
    threads : int, optional
        Processes that compile at once; default: one for each core.
    on_message : callable, optional
        ``on_message(line)`` receives lines about the work.

    Raises
    ------
    OptionError
        The folder holds other files, a formula is unknown, or a site can't draw the first scene.
    FractalsError
        A program can't be made, or a file can't be written.
    """
    where = Path(folder)
    if where.exists() and not where.is_dir():
        raise OptionError(f"the site '{shown(where)}' is a file: give a folder")
    others = where.is_dir() and {path.name for path in where.iterdir()} - {UNFINISHED}
    if others and not (where / MARK).is_file():
        raise OptionError(
            f"the folder '{shown(where)}' holds other files: give an empty one, or a site"
        )
    known = {formula.name for formula in tables.formulas().values()}
    for name in formulas:
        if name not in known:
            hint = catalog.did_you_mean(name, known)
            raise OptionError(f"no site has the formula '{shown(name)}'{hint}")
    if first and (reason := tables.why_not(first)):
        raise OptionError(f"a site can't draw this scene: {reason}")
    try:
        with _whole(where) as made:
            _write(made, first, formulas, threads_for(threads), on_message)
    except OSError as error:  # that of a full disk names no file
        raise FractalsError(f"'{shown(where)}': {error.strerror or error}") from None
    size = sum(path.stat().st_size for path in where.rglob("*") if path.is_file())
    on_message(f"{shown(where)}: {size / 1e6:.1f} MB, for any host of static pages")
    return where


@contextlib.contextmanager
def _whole(where: Path) -> Iterator[Path]:
    """Give a folder to write a site into, and put the site in its place once all of it is there.

    A full disk or a signal leaves what was there before, and no folder that was made for the site.
    """
    missing = [path for path in (where, *where.parents) if not path.exists()]
    made = where / UNFINISHED
    try:
        shutil.rmtree(made, ignore_errors=True)  # of a process that was killed
        made.mkdir(parents=True)
        yield made
        # MARK is put last, so that a site that is half of each is written again
        for path in sorted(made.iterdir(), key=lambda path: MARK.startswith(path.name)):
            old = where / path.name
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            path.replace(old)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        for path in missing:
            with contextlib.suppress(OSError):  # it holds the site
                path.rmdir()


def _write(
    where: Path,
    first: Scene | None,
    formulas: tuple[str, ...],
    processes: int,
    on_message: Callable[[str], None],
) -> None:
    """Write a site into an empty folder; the arguments are those of `write_site`."""
    (where / "engine").mkdir()
    chosen = {
        label: formula
        for label, formula in tables.formulas().items()
        if not formulas
        or formula.name in formulas
        or (first and first.make_formula().label == label)
    }
    drawn = {
        name: table
        for name, table in tables.scenes().items()
        if validate(table).make_formula().label in chosen
    }
    own = {"": first.to_table()} if first else {}
    files, asked = _asked(chosen, drawn | own, where / "engine")
    lost = _make_programs(asked, processes, on_message)
    for label, programs in files.items():
        if problems := {lost[name] for name in programs.values() if name in lost}:
            on_message(f"without some programs of {label}: {min(problems)}")
        files[label] = {key: name for key, name in programs.items() if name not in lost}
    chosen = {label: formula for label, formula in chosen.items() if files[label]}
    files = {label: files[label] for label in chosen}
    drawn = {name: table for name, table in drawn.items() if _has_program(files, table)}
    if not chosen or (first and not _has_program(files, own[""])):
        raise FractalsError(f"the programs of the site can't be made ({min(lost.values())})")
    usual = tables.EVERYWHERE if tables.EVERYWHERE in chosen else next(iter(chosen))
    facts = tables.facts(drawn, files) | {
        "first": own.get("") or {"formula": _formula_table(chosen[usual])},
        "gallery": first is None,
        "relaxed": HAS_RELAXED,
    }
    text = json.dumps(facts, separators=(",", ":"))
    (where / MARK).write_bytes(zlib.compress(text.encode(), 9))
    names = {formula.name for formula in chosen.values()}
    _write_page(where, names, set(drawn))


def _has_program(files: dict[str, dict[str, str]], table: dict[str, Any]) -> bool:
    scene = validate(table)
    own = files.get(scene.make_formula().label, {})
    return all(name in own for name in tables.program_names(scene))


def _formula_table(formula: Formula) -> dict[str, Any]:
    return {"name": formula.name, **formula.parameters}


def _asked(
    chosen: dict[str, Any], drawn: dict[str, Any], engine: Path
) -> tuple[dict[str, dict[str, str]], list[dict[str, Any]]]:
    """Return the file of each program of each formula, and what is asked of the processes."""
    files: dict[str, dict[str, str]] = {}
    asked: list[dict[str, Any]] = [
        {"name": COLORS, "folder": str(engine), "colorings": tables.color_programs()}
    ]
    for number, label in enumerate(chosen):
        own = files[label] = {}
        for k, found in enumerate(tables.variants(label, drawn).values()):
            name = f"{number}" + f"-{k}" * bool(k)
            own |= dict.fromkeys(found, name)
            asked.append({"name": name, "folder": str(engine), "variants": found})
            if deep := tables.deep_variants(found):
                for kind in DEEP:
                    own |= {f"{kind} {key}": f"{name}-{kind}" for key in deep}
                    asked.append({"name": f"{name}-{kind}", "folder": str(engine), kind: deep})
    return files, asked


def _make_programs(
    asked: list[dict[str, Any]], processes: int, on_message: Callable[[str], None]
) -> dict[str, str]:
    """Have processes make files of programs; return why some can't be made, by their names."""
    rest: Iterator[dict[str, Any]] = iter(asked)
    lock, failed, done = threading.Lock(), list[str](), 0
    lost: dict[str, str] = {}
    between = math.ceil(len(asked) / LINES)
    on_message(f"{counted(len(asked), 'file')} of programs: each takes seconds to be compiled")

    def work() -> None:
        nonlocal done, lost
        while not failed:
            with lock:
                some = list(itertools.islice(rest, A_PROCESS))
            if not some:
                return
            try:
                for name, problem in _made(some):
                    if failed:
                        return
                    with lock:
                        done += 1
                        lost |= {name: problem} if problem else {}
                    if done % between == 0:
                        on_message(f"{done} of {counted(len(asked), 'file')} of programs")
            except (FractalsError, OSError, ValueError) as error:  # no process, or no answer
                failed.append(str(error))

    count = min(processes, len(asked))
    workers = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    try:
        for each in workers:
            each.start()
        for each in workers:
            each.join()
    except BaseException:  # such as Ctrl-C: begin no other file
        failed.append("interrupted")
        raise
    failed += [problem for name, problem in lost.items() if name == COLORS]
    if failed:
        raise FractalsError(f"the programs of the site can't be made ({failed[0]})")
    return lost


def _made(asked: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file that a process has made, or why it can't be made."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "fractals.explorer.site.kernels"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | ENVIRONMENT,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for one in asked:
            with contextlib.suppress(OSError):  # it has ended, and says why on stderr
                process.stdin.write(json.dumps(one) + "\n")
                process.stdin.flush()
            if not (answer := process.stdout.readline()):
                process.kill()
                lines = process.stderr.read().strip().splitlines()
                raise FractalsError(lines[-1] if lines else "a process ended")
            name, problem = json.loads(answer)
            yield name, problem


def _write_page(where: Path, formulas: set[str], scenes: set[str]) -> None:
    """Write the client's files, the catalog and the thumbnails."""
    for name in pages.client_files():
        content = pages.client_bytes(name)
        if name == "problem.html" or content is None:
            continue
        target = where / ("index.html" if name == "index.html" else f"client/{name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix in (".js", ".html", ".css"):
            text = _relative(content.decode())
            content = (text.replace(*START) if name == "index.html" else text).encode()
        target.write_bytes(content)
    found = dict(tables.page_catalog())
    found["formulas"] = [each for each in found["formulas"] if each["name"] in formulas]
    found["scenes"] = [each for each in found["scenes"] if each["name"] in scenes]
    (where / "catalog.json").write_text(json.dumps(found, separators=(",", ":")))
    for (kind, name), path in pages.thumbnail_files().items():
        if name in (scenes if kind == "scene" else formulas | {tables.EVERYWHERE}):
            _thumbnail(where, kind, name).write_bytes(path.read_bytes())
    for name in catalog.names("palette"):
        colors = sheet.turn(name, pages.STRIP[0])
        row = np.broadcast_to(colors, (pages.STRIP[1], pages.STRIP[0], 3))
        png = pages.png_of(np.ascontiguousarray(row))
        _thumbnail(where, "palette", name).write_bytes(png)


def _thumbnail(where: Path, kind: str, name: str) -> Path:
    path = where / "thumbnail" / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _relative(text: str) -> str:
    """Return a text of the client with addresses from the page in place of those from the root.

    >>> _relative('fetch("/catalog.json")')
    'fetch("catalog.json")'
    """
    return ASKED.sub(r"\1\2", text)
