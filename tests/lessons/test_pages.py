"""The pages: their code is the scripts', their commands parse, and no part is missing."""

import importlib.machinery
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from fractals.cli.verbs import cli
from fractals.lessons.steps import LANGUAGES, all_steps, lessons_folder

ROOT = Path(__file__).parents[2]
LESSONS = lessons_folder()
PAGES = sorted([*LESSONS.glob("*.md"), *LESSONS.glob("zh/*.md")])
STEP_PAGES = [page for page in PAGES if page.name.startswith("step_")]
MAX_SCRIPT, MIN_PAGE, MAX_PAGE = 60, 40, 160  # lines; of scripts, without blank ones and marks
LONGER = {"f": 75}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(LESSONS)))
every_step_page = pytest.mark.parametrize(
    "page", STEP_PAGES, ids=lambda p: str(p.relative_to(LESSONS))
)


@pytest.fixture(scope="module")
def writer():
    """Return scripts/lessons as a module."""
    loader = importlib.machinery.SourceFileLoader("write_lessons", str(ROOT / "scripts/lessons"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@every_page
def test_the_code_on_a_page_is_that_of_the_scripts(page, writer):
    text = page.read_text("utf-8")
    assert writer.filled(text, writer.language_of(page)) == text, "run scripts/lessons"


@every_step_page
def test_a_page_shows_code_and_names_its_commands(page):
    text = page.read_text("utf-8")
    step = next(step for step in all_steps() if step.script.stem == page.stem)
    assert f"<!-- code: {step.script.name} " in text
    assert re.search(rf"fractals learn {step.key}[\n`]", text)
    if step.exercise.exists():
        assert f"fractals learn --start {step.key}" in text
    assert MIN_PAGE <= len(text.splitlines()) <= MAX_PAGE


@every_page
def test_commands_on_pages_parse(page):
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    for line in "\n".join(blocks).splitlines():
        if line.startswith("fractals "):
            name, *words = shlex.split(line, comments=True)[1:]
            command = cli.get_command(cli.make_context("fractals", []), name)
            assert command, line
            command.make_context(name, words)


@every_page
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not re.match("https?:", target):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("step", all_steps(), ids=lambda step: step.script.stem)
def test_a_script_is_short_and_says_what_it_is(step):
    text = step.script.read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    most = LONGER.get(step.key, MAX_SCRIPT)
    assert sum(bool(line) and not line.startswith("# [") for line in lines) <= most
    assert text.startswith(f'"""Step {step.key.upper()}: ')


def test_pages_are_there_in_both_languages():
    for step in all_steps():
        for language in LANGUAGES:
            assert step.page(language).exists(), (step.key, language)


@pytest.mark.parametrize("page", sorted(LESSONS.glob("step_*.md")), ids=lambda page: page.stem)
def test_a_translation_has_the_same_code(page):
    def markers(path):
        return re.findall("<!-- code: .*? -->", path.read_text("utf-8"))

    assert markers(page) == markers(page.parent / "zh" / page.name)


def pictures_and_links(path):
    text = re.sub("```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    return len(re.findall(r"!\[", text)), len(re.findall(r"\]\(", text))


@pytest.mark.parametrize("page", sorted(LESSONS.glob("*.md")), ids=lambda page: page.stem)
def test_a_translation_has_the_same_pictures_and_links(page):
    translated = page.parent / "zh" / page.name
    assert pictures_and_links(page) == pictures_and_links(translated)
    assert "！[" not in translated.read_text("utf-8")


def test_the_chinese_readme_has_the_same_commands_and_pictures():
    def commands(path):
        blocks = re.findall("```(?:python)?\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
        return [line.partition("#")[0].rstrip() for block in blocks for line in block.split("\n")]

    english, chinese = LESSONS.parent / "README.md", LESSONS.parent / "README.zh.md"
    assert commands(english) == commands(chinese)
    gallery = re.findall(r"\]\((gallery/[^)]*)\)", english.read_text("utf-8"))
    assert set(gallery) == set(re.findall(r"\]\((gallery/[^)]*)\)", chinese.read_text("utf-8")))


def test_a_page_that_differs_is_found(writer):
    page = "<!-- code: step_01_python.py escape -->\n```python\nx = 1\n```\nMore.\n"
    text = writer.filled(page)
    assert text != page
    assert "def escape(c, limit):" in text
    assert text.endswith("```\nMore.\n")
    with pytest.raises(SystemExit, match="no block"):
        writer.filled("<!-- code: step_01_python.py missing -->\n")
