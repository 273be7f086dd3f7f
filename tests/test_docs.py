"""The documents: their paths exist, their commands parse, and their Python code compiles."""

import ast
import importlib.util
import itertools
import re
import shlex
from pathlib import Path
from typing import get_args

import click
import pytest

import fractals
from fractals.cli.verbs import cli
from fractals.scene.paint import Blend

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "DEPENDENCIES.md",
    "benchmarks/README.md",
    "gallery/README.md",
    "tests/README.md",
    "tests/data/README.md",
)
# Lessons are copied into docs/ while the pages are built.
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for part in (".", "how-to", "reference", "explanation")
    for path in (ROOT / "docs" / part).glob("*.md")
)
FOLDERS = ("benchmarks", "docs", "examples", "fractals", "gallery", "scripts", "tests")
# Click 8.1 prints the help and exits where newer versions raise this error.
NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", click.exceptions.Exit)
each_document = pytest.mark.parametrize("name", [*DOCUMENTS, *PAGES])


def text_of(name):
    return (ROOT / name).read_text("utf-8")


FENCED = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DRAWN = "{fractal}"  # blocks that docs/_ext/drawn.py runs; their options begin with a colon


def blocks(text, language=""):
    """Return the code blocks of a language; without one, those that name none."""
    return [code for named, code in FENCED.findall(text) if named == language]


def prose(text):
    """Return a text without code blocks, as one line."""
    return " ".join(FENCED.sub("", text).split())


def commands_in(text):
    """Return the arguments of `fractals` in lines of code blocks and in code within sentences."""
    lines = [line for block in blocks(text) + blocks(text, DRAWN) for line in block.splitlines()]
    lines += re.findall(r"`(fractals [^`]+)`", prose(text))
    found = []
    for line in lines:
        line = line.removeprefix("uv run ")
        if line.startswith("fractals "):
            words = shlex.split(line, comments=True)
            ends = [k for k, word in enumerate(words) if word in (">", ">>", "|", "&&")]
            found.append(words[1 : ends[0] if ends else None])
    return found


def check_command(words):
    """Parse arguments as the command line does, without running the verb."""
    command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        command = command.get_command(click.Context(command), name)
        assert command, f"no such verb: {name}"
    try:
        command.make_context("fractals", list(words))
    except (click.exceptions.Exit, NO_ARGUMENTS):
        pass  # --help, or the name of a group of verbs
    except click.MissingParameter:
        assert not words or words[0].startswith("-")  # a verb that a sentence mentions


def links_in(text):
    """Return what links and pictures of a document lead to in the repository."""
    links = re.findall(r'\]\(([^)\s]+)\)|src="([^"]+)"', FENCED.sub("", text))
    targets = [link or source for link, source in links]
    return [target for target in targets if not re.match(r"https?:", target)]


def paths_in(text):
    """Return the names of files and folders of the repository that stand in code of sentences."""
    return re.findall(r"`((?:[\w.-]+/)*[\w.<>{},-]+\.(?:py|md|ipynb)|(?:[\w-]+/)+)`", prose(text))


def exists(path, near):
    """Return whether a path from a document's folder, the root or any package is there.

    `<name>` stands for any name, and `{a,b}.py` for two files.
    """
    if many := re.search(r"{(.*)}", path):
        return all(exists(path.replace(many[0], one), near) for one in many[1].split(","))
    pattern = re.sub(r"<\w+>", "*", path.rstrip("/"))
    if any(near.glob(pattern)) or any(ROOT.glob(pattern)):
        return True
    return any(any((ROOT / folder).rglob(pattern)) for folder in FOLDERS)


def anchors(text):
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", words).strip().lower().replace(" ", "-") for words in headings}


@each_document
def test_paths_exist(name):
    text = text_of(name)
    assert [*paths_in(text), *links_in(text)] or name in PAGES, "nothing was found"
    for path in paths_in(text):
        assert exists(path, (ROOT / name).parent), path
    for link in links_in(text):
        file, _, anchor = link.partition("#")
        target = (ROOT / name).parent / file if file else ROOT / name
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def test_the_contents_of_the_log_lead_to_each_section():
    intro, contents, *_ = re.split("^## ", text_of("benchmarks/LOG.md"), flags=re.MULTILINE)
    links = re.findall(r"\]\(#(.*?)\)", contents)
    assert len(links) == len(set(links))
    sections = anchors(text_of("benchmarks/LOG.md")) - {"contents"} - anchors(intro)
    assert set(links) == sections
    assert "zarr" in contents


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "benchmarks/README.md",
        ".github/ISSUE_TEMPLATE/bug.yml",
        ".github/ISSUE_TEMPLATE/installation.yml",
        ".github/ISSUE_TEMPLATE/picture.yml",
        ".github/pull_request_template.md",
        *PAGES,
    ],
)
def test_commands_parse(name):
    found = commands_in(text_of(name))
    assert found or name in PAGES
    for words in found:
        check_command(words)


def test_examples_of_help_parse():
    group = click.Context(cli)
    texts = [cli.epilog]
    for command in (cli.get_command(group, name) for name in cli.list_commands(group)):
        texts += [each.epilog for each in (command, *getattr(command, "commands", {}).values())]
    found = []
    for text in texts:
        lines = "\n".join(line.strip() for line in text.splitlines())
        found += commands_in(f"```\n{lines}\n```")
    assert len(found) > 30
    for words in found:
        check_command(words)


def test_options_of_benchmark_scripts_exist():
    calls = r"^(?:python|\S+/python) (benchmarks/\S+)([^#\n]*)"
    scripts = re.findall(calls, text_of("benchmarks/README.md"), re.MULTILINE)
    assert len(scripts) > 5
    for path, arguments in scripts:
        for option in re.findall(r" (--[\w-]+)", arguments):
            assert f'"{option}"' in text_of(path), f"{path} {option}"


@pytest.mark.parametrize(
    "line", ["rander", "render --colour red", "find pole", "devices a", "recolor a --bits"]
)
def test_wrong_commands_are_found(line):
    with pytest.raises((AssertionError, click.UsageError, fractals.OptionError)):
        check_command(line.split())


def test_wrong_paths_are_found():
    text = "Read `rendering/no_such.py`, `no_such/` and [this](README.md#no-such)."
    assert paths_in(text) == ["rendering/no_such.py", "no_such/"]
    assert links_in(text) == ["README.md#no-such"]
    assert not exists("rendering/no_such.py", ROOT)
    assert not exists("no_such/", ROOT)
    assert exists("rendering/render.py", ROOT)
    assert "no-such" not in anchors(text_of("README.md"))


UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = [f"{ten}-{unit}" for ten in TENS.split() for unit in UNITS.split()[:10]]
NUMBERS = {word.removesuffix("-zero"): k for k, word in enumerate(UNITS.split() + WORDS)}
KINDS = ("formulas", "palettes", "colorings", "solids", "variations", "attractors")


def numbers_before(noun, text):
    """Return the numbers in front of a noun, or of a link that begins with it."""
    words = re.findall(rf"([\w-]+)\s+\[?{noun}\b", text, re.IGNORECASE)
    numbers = [int(word) if word.isdecimal() else NUMBERS.get(word.lower()) for word in words]
    return [number for number in numbers if number is not None]


@pytest.mark.parametrize("document", ["README.md", "CHANGELOG.md"])
def test_numbers_of_things_are_those_of_the_program(document):
    text = re.sub(r"!\[.*?\]", "", text_of(document), flags=re.DOTALL)  # what a picture shows
    lessons = len([*(ROOT / "lessons").glob("step_*.md")])
    counts = {kind: len(fractals.names(kind)) for kind in KINDS}
    counts |= {"lessons": lessons, "steps": lessons, "blend modes": len(get_args(Blend)) - 1}
    found = {kind: numbers_before(kind, text) for kind in counts}
    assert found["palettes"], "no number was found, so nothing is tested"
    for kind, numbers in found.items():
        assert {*numbers} <= {counts[kind]}, f"{document}: {numbers} {kind}, not {counts[kind]}"


def test_the_chinese_readme_has_the_number_of_lessons():
    assert numbers_before("steps", text_of("README.md")) == [22]
    assert "二十二个小步骤" in text_of("README.zh.md")


def test_numbers_in_words_are_read():
    text = "Fifteen [solids](a.md), 42\n  [palettes](b.md), twenty-two solids, thirty solids"
    assert numbers_before("solids", text) == [15, 22, 30]
    assert numbers_before("palettes", text + ", own palettes") == [42]


def python_in(text):
    """Return the code of a document, without the options of blocks that are drawn."""
    found = [code for named, code in FENCED.findall(text) if named in ("python", f"{DRAWN} python")]
    return [re.sub(r"^(:\w+:.*\n)+", "", code) for code in found]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_python_compiles_and_its_names_exist(name):
    found = python_in(text_of(name))
    assert found or name in PAGES
    for block in found:
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "fractals":
                assert node.attr in fractals.__all__, ast.unparse(node)
            elif isinstance(node, ast.ImportFrom):
                if not importlib.util.find_spec(node.module.partition(".")[0]):
                    continue  # another package, which is not installed
                module = importlib.import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), node.module
        compile(block, name, "exec")


def test_nothing_is_installed_by_name_from_an_index():
    """No release is published; `fractals.errors.to_install` knows where the package is from."""
    by_name = re.compile(r"pip install [^\n@]*fractals-numba(?![^\n]*@)")
    pages = [*map(text_of, (*DOCUMENTS, *PAGES))]
    kinds = {"fractals": ("py", "html", "js"), "lessons": ("md", "py"), "notebooks": ("ipynb",)}
    for folder, suffixes in kinds.items():
        for suffix in suffixes:
            files = set((ROOT / folder).rglob(f"*.{suffix}")) - {ROOT / "fractals/errors.py"}
            pages += [file.read_text("utf-8") for file in files]
    assert len(pages) > 200
    assert [found[0] for text in pages for found in by_name.finditer(text)] == []


def test_python_of_pages_runs_while_they_are_built():
    needs_a_cluster = "docs/how-to/many-machines.md"
    assert {name for name in PAGES if blocks(text_of(name), "python")} <= {needs_a_cluster}


def test_the_reference_has_every_public_name():
    found = re.findall(r"^\.\. auto\w+:: (\w+)$", text_of("docs/reference/python.md"), re.MULTILINE)
    assert sorted(found) == sorted(set(fractals.__all__) - {"__version__"})


def test_blocks_of_pages_are_found():
    found = commands_in(text_of("docs/how-to/find-a-deep-place.md"))
    assert ["find", "interesting", "seahorse", "-o", "views/"] in found
    assert ["recolor", "a"] in commands_in("```{fractal}\n:output:\nfractals recolor a\n```")
    assert python_in("```{fractal} python\n:output:\n1\n```") == ["1\n"]


@pytest.mark.parametrize("name", [name for name in PAGES if re.search("explanation.*-zh", name)])
def test_a_chinese_page_has_the_same_commands_pictures_and_links(name):
    """And a line a paragraph, because a break would be shown as a space."""
    chinese, english = text_of(name), text_of(name.replace("-zh", ""))
    assert FENCED.findall(chinese) == FENCED.findall(english)
    for pattern in (r"!\[", r"\]\(", r"^#+ ", r"^- ", r"^\|", r"`[^`\n]+`"):
        count = [len(re.findall(pattern, text, re.MULTILINE)) for text in (chinese, english)]
        assert count[0] == count[1], pattern
    lines = FENCED.sub("", chinese).splitlines()
    paragraphs = [line.strip() and not re.match(r"[-#|]", line) for line in lines]
    assert not any(a and b for a, b in itertools.pairwise(paragraphs))


TWINS = sorted(name for name in PAGES if name.endswith("-zh.md"))


@pytest.mark.parametrize("name", [name for name in TWINS if name != "docs/lessons-zh.md"])
def test_a_page_in_chinese_has_the_same_commands_links_and_sections(name):
    def parts(text):
        code = [re.sub(r"\s*#(?=\s).*", "", block) for _, block in FENCED.findall(text)]
        links = re.findall(r"\]\(([^)]+)\)", FENCED.sub("", text).replace("-zh.md", ".md"))
        return code, sorted(links), re.findall(r"^#+(?= )", FENCED.sub("", text), re.MULTILINE)

    english = parts(text_of(name.replace("-zh.md", ".md")))
    for there, here in zip(english, parts(text_of(name)), strict=True):
        assert here == there
