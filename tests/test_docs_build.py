"""The directive that draws while the docs are built: it runs what it shows, once, and can fail."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

pytest.importorskip("sphinx", reason="the group `docs` is not installed")
pytestmark = pytest.mark.slow  # .ci/run docs runs these tests

EXTENSIONS = Path(__file__).parents[1] / "docs" / "_ext"
PAGE = """# Page

```{fractal}
:size: 40x30
fractals render --device python --max-iterations 20 -o first.png
fractals show first.png
```

```{fractal} file
:file: second.toml
[image]
size = [24, 16]
```

```{fractal}
:output:
fractals render first.png second.toml --device python --size 24x16 -o second.png
```

```{fractal}
:size: 24x16
:alt: A "page"
fractals render second.toml --device python -o page.html
```

```{fractal} python
:output:
import fractals
print(fractals.load_scene("second.png").image.size)
```
"""


@pytest.fixture
def build(tmp_path):
    """Return a function that builds a page, and returns its HTML and what Sphinx prints."""

    def run(page):
        source = tmp_path / "source"
        source.mkdir(exist_ok=True)
        (source / "index.md").write_text(page, "utf-8")
        settings = f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\n"
        settings += "extensions = ['myst_parser', 'drawn']\nexclude_patterns = ['_drawn']\n"
        (source / "conf.py").write_text(settings, "utf-8")
        arguments = ["-q", "-W", "--keep-going", source, tmp_path / "built"]
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, (tmp_path / "built" / "index.html"), done.stderr

    return run


def test_blocks_are_run_once_and_in_order(build, tmp_path):
    code, html, printed = build(PAGE)
    assert code == 0, printed
    text = html.read_text("utf-8")
    assert "second.toml" in text
    assert "24x16, python" in text  # what the second command printed
    assert "(24, 16)" in text  # what Python printed
    pictures = sorted((tmp_path / "built" / "_images").iterdir())
    assert len(pictures) == 1  # the first block ends with a command that writes no file
    with Image.open(pictures[0]) as picture:
        assert picture.size == (24, 16)
    (page,) = (tmp_path / "built" / "_drawn").iterdir()
    assert f'<iframe src="_drawn/{page.name}" title="A &quot;page&quot;"' in text
    assert "<canvas" in page.read_text("utf-8")
    results = tmp_path / "source" / "_drawn"
    before = {path: path.stat().st_mtime_ns for path in results.glob("*.*")}
    code, html, printed = build(f"{PAGE}\nMore text.\n")
    assert code == 0, printed
    assert "More text." in html.read_text("utf-8")
    assert {path: path.stat().st_mtime_ns for path in results.glob("*.*")} == before


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("```{fractal}\nfractals render no_such_scene -o a.png\n```", "unknown scene"),
        ("```{fractal} python\n1 / 0\n```", "division by zero"),
        ('```{fractal} toml\nformula = "no_such"\n```', "unknown formula"),
    ],
)
def test_a_failing_block_fails_the_build(build, block, words):
    code, _, printed = build(f"# Page\n\n{block}\n")
    assert code != 0
    assert words in printed
