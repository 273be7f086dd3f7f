"""Chooses tests by what has changed: `pytest --near`, and the steps of `.ci/run --near`.

tests/areas.toml lists which tests and steps belong to which files. A file has changed if git says
that it differs from the commit where the branch left main, or that it is not committed yet.
"""

import datetime
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALWAYS = ("lint", "types", "tests")  # steps of .ci/run, whatever has changed
PARTS = 4  # --near runs every fourth of the tests of a function that is marked `many`


class NotNear(Exception):
    """It can't be told what has changed."""


def git(*arguments, folder=ROOT):
    """Return what a command of git prints, without the last line's end."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    except OSError:
        raise NotNear("git is not installed") from None
    if done.returncode:
        raise NotNear(done.stderr.strip().partition("\n")[0])
    return done.stdout.rstrip("\n")


def changed_files(revision="", folder=ROOT):
    """Return a commit, and the paths that differ from it, whether they are committed or not."""
    if Path(git("rev-parse", "--show-toplevel", folder=folder)).resolve() != folder.resolve():
        raise NotNear(f"{folder} is no checkout of git")
    revision = revision or branched_at(folder)
    try:
        commit = git("rev-parse", "--short", "--verify", f"{revision}^{{commit}}", folder=folder)
    except NotNear:
        raise NotNear(f"git knows no commit {revision}") from None
    differ = git("diff", "--name-only", "--no-renames", "-z", commit, "--", folder=folder)
    others = git("ls-files", "--others", "--exclude-standard", "-z", folder=folder)
    return commit, sorted({*differ.split("\0"), *others.split("\0")} - {""})


def branched_at(folder):
    """Return the commit where the branch left main.

    On main it is HEAD, or the commit before it if everything is committed.
    """
    mains = git("branch", "--all", "--format=%(refname:short)", folder=folder).split()
    main = next((name for name in ("main", "origin/main") if name in mains), None)
    if not main:
        raise NotNear("there is no branch main: name a commit, --near=REV")
    found = git("merge-base", "HEAD", main, folder=folder)
    if found != git("rev-parse", "HEAD", folder=folder):
        return found
    return "HEAD" if git("status", "--porcelain", folder=folder) else "HEAD~"


def read_areas(folder=ROOT):
    """Return the table of areas.toml."""
    return tomllib.loads((folder / "tests" / "areas.toml").read_text("utf-8"))


def lies_in(path, place):
    """Return whether a path is a place, lies in it or matches it."""
    return path == place or path.startswith(place.rstrip("/") + "/") or fnmatchcase(path, place)


def areas_of(path, table):
    """Return the areas of a file: the one whose code names it most closely.

    A file that is no area's code, such as a test, is of all areas whose tests it is among.
    """
    code = {"core": table["core"], **{name: area["code"] for name, area in table["area"].items()}}
    named = [(len(p), name) for name, places in code.items() for p in places if lies_in(path, p)]
    if named:
        return {max(named)[1]}
    tests = {name: area["tests"] for name, area in table["area"].items()}
    tests["contract"] = table["contract"]
    return {name for name, places in tests.items() if any(lies_in(path, p) for p in places)}


@dataclass
class Near:
    """What runs after some files have changed: paths and steps, or everything."""

    areas: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    steps: set[str] = field(default_factory=set)
    cause: str = ""  # why everything runs, if it does

    def lines(self, commit, files, table):
        """Return what runs and why, as lines."""
        few = ", ".join(files[:6]) + (", ..." if len(files) > 6 else "")
        first = f"near: {len(files)} files differ from {commit}: {few}"
        if self.cause:
            return [first, f"near: everything runs, because {self.cause}"]
        left_out = sorted(table["area"].keys() - self.areas)
        return [
            first,
            f"near: changed areas: {', '.join(sorted(self.areas)) or 'none'}",
            f"near: runs {' '.join(sorted(self.paths))}",
            f"near: left out, because none of their files changed: {', '.join(left_out)}",
            f"near: .ci/run --near runs {' '.join(ordered(self.steps))}",
        ]


def ordered(steps):
    """Return steps, those that always run first."""
    return [*ALWAYS, *sorted(steps - {*ALWAYS})]


def choose(files, table, folder=ROOT):
    """Return what runs after files have changed."""
    near = Near(paths={*table["contract"]})
    for path in files:
        owners = areas_of(path, table) - {"contract"}
        if path.startswith("tests/") and fnmatchcase(path, "*/test_*.py"):
            if (folder / path).exists():
                near.paths.add(path)
            near.steps |= {step for name in owners for step in steps_of(name, table)}
        elif "core" in owners or not areas_of(path, table):
            near.cause = f"{path} belongs to {'the core' if owners else 'no area'}"
            return near
        else:
            near.areas |= owners
    for name in near.areas:
        near.steps |= steps_of(name, table)
        near.paths |= paths_of(table["area"][name], folder)
    near.paths = {p for p in near.paths if not any(lies_in(p, q) for q in near.paths - {p})}
    return near


def steps_of(name, table):
    """Return the steps of .ci/run that an area names."""
    return {*table["area"].get(name, {}).get("steps", [])}


def paths_of(area, folder):
    """Return the tests of an area, and its code of the package, which has doctests."""
    places = [*area["tests"], *(place for place in area["code"] if place.startswith("fractals/"))]
    found = (path for place in places for path in folder.glob(place.rstrip("/")))
    return {p.relative_to(folder).as_posix() for p in found if p.is_dir() or p.suffix == ".py"}


def within(paths, given, folder):
    """Return those of the paths that lie in given ones, and given ones that lie in a path."""
    kept = []
    for argument in given:
        place = (folder / argument.partition("::")[0]).resolve()
        mine = [ROOT / path for path in paths]
        kept += [argument] if any(place.is_relative_to(path) for path in mine) else []
        kept += [str(path) for path in mine if path != place and path.is_relative_to(place)]
    return kept


# --- The plug-in of pytest


def pytest_addoption(parser):
    """Add the option --near, or --near=REV."""
    parser.addoption(
        "--near",
        nargs="?",
        const="",
        metavar="REV",
        help="run the tests of what has changed since main, or since a commit: tests/areas.toml",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args):
    """Take no path that follows --near for its commit."""
    args[:] = ["--near=" if argument == "--near" else argument for argument in args]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Replace the paths that are collected by those of what has changed."""
    config.near_lines, config.near_day = [], None
    if hasattr(config, "workerinput"):  # a process of pytest-xdist does as it is told
        if "near" in config.workerinput:
            config.args, config.near_day = config.workerinput["near"]
        return
    if config.option.near is None:
        return
    try:
        commit, files = changed_files(config.option.near)
    except NotNear as error:
        raise pytest.UsageError(f"--near: {error}") from None
    table = read_areas()
    near = choose(files, table)
    config.near_lines = near.lines(commit, files, table)
    if near.cause:
        return
    day = datetime.date.today()
    config.near_day = day.toordinal()
    said = f"near: a quarter of the tests marked `many`, that of {day}: .ci/run tests has all"
    config.near_lines.append(said)
    if config.args_source is config.ArgsSource.ARGS:
        config.args = within(near.paths, config.args, config.invocation_params.dir)
    else:
        config.args = [str(ROOT / path) for path in sorted(near.paths)]


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_configure_node(node):
    """Tell a process of pytest-xdist what it collects."""
    if node.config.near_day:
        node.workerinput["near"] = [node.config.args, node.config.near_day]


def pytest_collection_modifyitems(config, items):
    """Leave out three quarters of the tests of each function that is marked `many`."""
    if not config.near_day:
        return
    seen = {}
    for item in items:
        if item.get_closest_marker("many"):
            seen.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = set()
    for alike in seen.values():
        parts = min(PARTS, len(alike))
        left_out |= {x for k, x in enumerate(alike) if k % parts != config.near_day % parts}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_report_header(config):
    """Return what runs, what is left out, and why."""
    return config.near_lines


if __name__ == "__main__":  # .ci/run --near: prints the steps, or "all"
    try:
        since, differ = changed_files(*sys.argv[1:])
    except NotNear as problem:
        sys.exit(f"--near: {problem}")
    areas = read_areas()
    chosen = choose(differ, areas)
    sys.stderr.write("\n".join(chosen.lines(since, differ, areas)) + "\n")
    sys.stdout.write("all\n" if chosen.cause else " ".join(ordered(chosen.steps)) + "\n")
