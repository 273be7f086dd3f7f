"""Private names of Numba are in three files. What those of numba-cuda do is seen in test_ptx.py."""

import tomllib
from pathlib import Path

from fractals.backends.cpu import entry

ROOT = Path(__file__).parents[2]


def test_the_oldest_version_that_is_tested_is_the_oldest_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (allowed,) = (text for text in project["dependencies"] if text.startswith("numba"))
    assert allowed == "numba>=0.61.2"  # newer ones than those tested are served by plain Numba
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "numba==0.61.2" in script
    assert entry.TESTED[0] == (0, 61)


def test_all_private_names_are_here():
    """No other file imports from the insides of Numba, but for those that its docs show."""
    documented = {
        "numba.core": {"cgutils", "config", "types"},
        "numba.core.codegen": {"get_host_cpu_features"},
        "numba.core.errors": {"NumbaError"},
    }
    for path in (ROOT / "fractals").rglob("*.py"):
        own = "numba_private", "numba_compiler", "numba_code"
        if path.stem in own:
            continue
        for line in path.read_text("utf-8").splitlines():
            words = line.split()
            if words[:1] == ["from"] and words[1].startswith(("numba.core", "numba.np")):
                names = {name.strip("(),") for name in words[3:]}
                assert names <= documented.get(words[1], set()), f"{path}: {line}"
