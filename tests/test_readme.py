"""The commands of README run in its order, in one folder, as a newcomer types them, but small."""

import shlex
import threading
import urllib.request
from pathlib import Path

import pytest

import fractals
from fractals.explorer.server import Running

README = Path(__file__).parents[1] / "README.md"
SIZED = ["--size", "32x18"]
# What a verb gets in addition: later options override those that README gives.
SMALL = {
    "render": SIZED,
    "compute": SIZED,
    "recolor": [],  # has the size of the raw numbers
    "film": ["--size", "64x36", "--fps", "2", "--device", "cpu"],
    "explore": ["--no-browser"],
}


def blocks():
    """Yield the language and the text of each code block."""
    for part in README.read_text("utf-8").split("\n```")[1::2]:
        language, _, text = part.partition("\n")
        yield language, text


def commands(text):
    """Return the words of each line of a block, without `uv run`."""
    lines = (shlex.split(line.removeprefix("uv run "), comments=True) for line in text.splitlines())
    return [words for words in lines if words]


@pytest.fixture
def served(monkeypatch):
    """Have the explorer end after one request, and return the statuses of the answers."""
    statuses, serve = [], Running.serve

    def serve_once(running):
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        thread = threading.Thread(target=serve, args=(running,), daemon=True)
        thread.start()
        try:
            with browser.open(running.invitation(), timeout=60) as page:
                statuses.append(page.status)
        finally:
            running.close()
            thread.join(60)

    monkeypatch.setattr(Running, "serve", serve_once)
    return statuses


def test_commands_run_in_order(run, served):
    found = [words for language, text in blocks() if not language for words in commands(text)]
    others = [words[:2] for words in found if words[0] != "fractals"]
    assert others == [["git", "clone"], ["pytest"]]
    verbs = [words[1] for words in found if words[0] == "fractals"]
    assert set(verbs) == set(SMALL)
    for program, verb, *words in (words for words in found if words[0] == "fractals"):
        code, _, err = run(verb, *words, *SMALL[verb])
        assert code == 0, f"{program} {verb} {words}: {err}"
        if "-o" in words:
            assert Path(words[words.index("-o") + 1]).exists()
    assert Path("seahorse.png").exists()
    assert Path("mandelbrot.png").exists()
    assert served == [200] * verbs.count("explore")


def test_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = (text for language, text in blocks() if language == "python")
    small = fractals.load_scene("seahorse", size=(32, 18), supersampling=1)
    assert 'compute("seahorse")' in code
    exec(code.replace('compute("seahorse")', "compute(small)"), {"small": small})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dusk.png", "ember.png"]


def test_readme_and_architecture_are_short():
    lines = README.read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert any("No release is published yet" in line for line in lines[:15])
    assert README.with_name("ARCHITECTURE.md").stat().st_size <= 15_000
    # Before the first release nothing has changed for anybody, so CHANGELOG holds no history.
    assert README.with_name("CHANGELOG.md").stat().st_size <= 8_000
