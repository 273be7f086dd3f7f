"""`pytest --near` in a small repository: what has changed, what runs then, and what is said."""

import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import near

# --- A small repository

AREAS = """
core = ["fractals/core.py"]
contract = ["tests/test_contract.py"]
[area.red]
code = ["fractals/red/", "README.md"]
tests = ["tests/red"]
steps = ["docs"]
[area.pale]
code = ["fractals/red/pale.py"]
tests = ["tests/test_pale.py", "tests/red/test_red.py"]
steps = ["cuda"]
"""
SEEDS = """
import pytest
@pytest.mark.many
@pytest.mark.parametrize("seed", range(8))
def test_seeds(seed): pass
"""
FILES = {
    "fractals/core.py": "",
    "fractals/red/a.py": '"""\n>>> 1 + 1\n2\n"""',
    "fractals/red/pale.py": "",
    "README.md": "",
    "pytest.ini": "[pytest]\nmarkers = many: seeds\n"
    "addopts = -p support.near -p no:cacheprovider --doctest-modules\ntestpaths = tests fractals\n",
    "tests/areas.toml": AREAS,
    "tests/test_contract.py": "def test_contract(): pass\n",
    "tests/test_pale.py": SEEDS,
    "tests/red/test_red.py": "def test_red(): pass\n",
    "tests/red/test_green.py": "def test_green(): pass\n",
}


def run_git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def write(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")


def commit_all(folder):
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "--message", "all")


@pytest.fixture
def repository(tmp_path):
    """Return a repository of some files, with two commits on main."""
    run_git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    write(tmp_path, "README.md", "first")
    write(tmp_path, ".gitignore", "__pycache__/\n")
    commit_all(tmp_path)
    for name, text in FILES.items():
        write(tmp_path, name, text)
    commit_all(tmp_path)
    return tmp_path


def changed(folder, revision=""):
    return near.changed_files(revision, folder)[1]


def test_what_has_changed_on_a_branch(repository):
    run_git(repository, "switch", "--quiet", "--create", "branch")
    assert changed(repository) == [*sorted(FILES)]  # as on main: those of the last commit
    write(repository, "fractals/red/a.py", "1")
    commit_all(repository)
    write(repository, "fractals/new name.py", "")
    write(repository, "fractals/core.py", "1")
    (repository / "README.md").unlink()
    run_git(repository, "mv", "fractals/red/pale.py", "fractals/moved.py")
    moved = ["fractals/moved.py", "fractals/red/pale.py"]
    edited = ["README.md", "fractals/core.py", "fractals/new name.py", "fractals/red/a.py"]
    assert changed(repository) == sorted([*edited, *moved])
    run_git(repository, "branch", "--quiet", "--force", "main", "main~")
    assert len(changed(repository)) > 6  # main is where the branch left it
    assert changed(repository, "HEAD") == sorted({*edited, *moved} - {"fractals/red/a.py"})


def test_on_main_it_is_what_waits_or_the_last_commit(repository):
    assert changed(repository) == [*sorted(FILES)]
    write(repository, "fractals/red/a.py", "1")
    assert changed(repository) == ["fractals/red/a.py"]


def test_what_cannot_be_told(repository, tmp_path_factory, monkeypatch):
    with pytest.raises(near.NotNear, match="git knows no commit nowhere"):
        changed(repository, "nowhere")
    with pytest.raises(near.NotNear, match="is no checkout of git"):
        changed(repository / "fractals")
    with pytest.raises(near.NotNear, match="not a git repository"):
        changed(tmp_path_factory.mktemp("none"))
    run_git(repository, "branch", "--move", "trunk")
    with pytest.raises(near.NotNear, match="no branch main: name a commit, --near=REV"):
        changed(repository)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(near.NotNear, match="git is not installed"):
        changed(repository)


@pytest.mark.parametrize(
    ("files", "areas", "paths", "steps"),
    [
        ([], [], [], []),
        (["README.md"], ["red"], ["fractals/red", "tests/red"], ["docs"]),
        (
            ["fractals/red/pale.py"],
            ["pale"],
            ["fractals/red/pale.py", "tests/test_pale.py", "tests/red/test_red.py"],
            ["cuda"],
        ),
        (  # a test runs itself; its areas say which steps run it, too
            ["tests/red/test_red.py"],
            [],
            ["tests/red/test_red.py"],
            ["cuda", "docs"],
        ),
        (["tests/red/test_gone.py"], [], [], ["docs"]),
        (["tests/red/data.txt"], ["red"], ["fractals/red", "tests/red"], ["docs"]),
        (
            ["fractals/red/a.py", "fractals/red/pale.py"],
            ["pale", "red"],
            ["fractals/red", "tests/red", "tests/test_pale.py"],
            ["cuda", "docs"],
        ),
    ],
)
def test_a_change_runs_the_tests_of_its_areas_and_the_contract(
    repository, files, areas, paths, steps
):
    table = near.read_areas(repository)
    found = near.choose(files, table, repository)
    assert (found.areas, found.cause) == ({*areas}, "")
    assert found.paths == {"tests/test_contract.py", *paths}
    assert near.ordered(found.steps) == [*near.ALWAYS, *steps]
    said = "\n".join(found.lines("1234567", files, table))
    left_out = ", ".join(name for name in ("pale", "red") if name not in areas)
    assert f"left out, because none of their files changed: {left_out}" in said


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("fractals/core.py", "fractals/core.py belongs to the core"),
        ("strange.txt", "strange.txt belongs to no area"),
    ],
)
def test_everything_runs_after_a_change_of_the_core_or_of_a_file_without_an_area(path, cause):
    table = near.tomllib.loads(AREAS)
    found = near.choose(["fractals/red/a.py", path], table)
    assert found.cause == cause
    assert f"everything runs, because {cause}" in "\n".join(found.lines("1", [path], table))


# --- pytest in the small repository


@pytest.fixture
def run_pytest(repository):
    """Return a function that runs pytest there: the tests that passed, and what was printed."""
    write(repository, "tests/support/near.py", Path(near.__file__).read_text("utf-8"))
    commit_all(repository)
    outer = ("PYTEST_", "GIT_", "COV_")  # variables that this process has for itself
    environment = {key: value for key, value in os.environ.items() if not key.startswith(outer)}
    environment |= {"PYTHONPATH": str(repository / "tests"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a start then takes a third of the time

    def call(*arguments):
        command = [sys.executable, "-m", "pytest", "-v", *arguments]
        done = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True
        )
        lines = [line for line in done.stdout.splitlines() if " PASSED" in line]
        return [word for line in lines for word in line.split() if "::" in word], done

    return call


def seeds_of_today():
    """Return the two of eight seeds whose turn it is."""
    day = datetime.date.today().toordinal()
    return [f"tests/test_pale.py::test_seeds[{k}]" for k in range(8) if k % 4 == day % 4]


CONTRACT, RED = "tests/test_contract.py::test_contract", "tests/red/test_red.py::test_red"
DOCTEST, GREEN = "fractals/red/a.py::a", "tests/red/test_green.py::test_green"


@pytest.mark.parametrize("processes", [[], ["-p", "xdist", "-n2"]], ids=["one", "two"])
def test_pytest_runs_what_is_near(repository, run_pytest, processes):
    write(repository, "fractals/red/pale.py", "1")
    found, done = run_pytest("--near", *processes)
    assert sorted(found) == sorted([CONTRACT, RED, *seeds_of_today()])
    assert done.returncode == 0
    assert re.search(r"^near: 1 files differ from \w+: fractals/red/pale.py$", done.stdout, re.M)
    assert "near: left out, because none of their files changed: red\n" in done.stdout


def test_pytest_takes_the_paths_that_are_given_too(repository, run_pytest):
    write(repository, "fractals/red/a.py", FILES["fractals/red/a.py"] + "\n")
    assert sorted(run_pytest("--near")[0]) == sorted([CONTRACT, RED, GREEN, DOCTEST])
    assert run_pytest("--near", "tests/red")[0] == [GREEN, RED]
    assert run_pytest("--near", f"{RED}")[0] == [RED]
    assert run_pytest("--near", "-k", "green", "tests", "fractals")[0] == [GREEN]
    found, done = run_pytest("--near", "tests/test_pale.py")
    assert (found, done.returncode) == ([], pytest.ExitCode.NO_TESTS_COLLECTED)


def test_pytest_without_near_and_after_a_change_of_the_core_runs_all(repository, run_pytest):
    write(repository, "fractals/core.py", "1")
    everything = run_pytest()[0]
    assert len([name for name in everything if "test_seeds" in name]) == 8
    assert {CONTRACT, RED, GREEN, DOCTEST} <= {*everything}
    assert run_pytest("--near")[0] == everything
    assert run_pytest("--near=HEAD", "tests/red")[0] == [GREEN, RED]
    write(repository, "fractals/core.py", "")
    run_git(repository, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    assert run_pytest("--near=HEAD")[0] == [CONTRACT]


def test_pytest_says_in_one_line_that_it_cannot_know(repository, run_pytest):
    for folder, words in ((".git", "not a git repository"), ("", "no commit nowhere")):
        if folder:
            (repository / folder).rename(repository / "gone")
        else:
            (repository / "gone").rename(repository / ".git")
        found, done = run_pytest("--near=nowhere")
        assert (found, done.returncode) == ([], pytest.ExitCode.USAGE_ERROR)
        (line,) = done.stderr.strip().splitlines()
        assert line.startswith("ERROR: --near: ")
        assert words in line


def test_the_steps_are_printed_for_ci(repository, run_pytest):
    def printed(*arguments):
        command = [sys.executable, "tests/support/near.py", *arguments]
        return subprocess.run(command, cwd=repository, capture_output=True, text=True)

    write(repository, "fractals/red/a.py", "1")
    assert printed().stdout == "lint types tests docs\n"
    assert "near: changed areas: red\n" in printed().stderr
    write(repository, "fractals/core.py", "1")
    assert printed("HEAD").stdout == "all\n"
    done = printed("nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "--near: git knows no commit nowhere\n"
