"""The lessons in Chinese: the same numbers, each verdict, each exercise, and the command."""

import ast
import itertools
import re
from pathlib import Path

import pytest

from fractals.lessons import commands, steps
from fractals.lessons.steps import all_steps, lessons_folder

LESSONS = lessons_folder()
VERDICTS = steps.table(LESSONS, "zh", "verdicts")
CHINESE = re.compile("[\u4e00-\u9fff]")
LARGE = {"万": 10**4, " million": 10**6}


def numbers_of(path):
    """Return the numbers of two digits or more of a page, outside its blocks of code."""
    text = re.sub(r"```.*?```|\]\([^)]*\)|<!--.*?-->", "", path.read_text("utf-8"), flags=re.DOTALL)
    found = re.findall(r"(\d[\d.]*)( ?万| million)?", text.replace("千", ""))
    values = {
        float(number.strip(".")) * LARGE.get(unit.strip(), LARGE.get(unit, 1))
        for number, unit in found
        if number.count(".") < 2
    }
    return {value for value in values if value >= 10 or value % 1}


@pytest.mark.parametrize("page", sorted(LESSONS.glob("*.md")), ids=lambda page: page.stem)
def test_a_translation_has_the_same_numbers(page):
    assert numbers_of(page) == numbers_of(page.parent / "zh" / page.name)


@pytest.mark.parametrize("page", sorted(LESSONS.glob("*.md")), ids=lambda page: page.stem)
def test_a_translation_has_the_same_pictures(page):
    def pictures(path):
        return re.findall(r"!\[[^\]]+\]\((?:\.\./)*(\S+?)\)", path.read_text("utf-8"))

    assert pictures(page) == pictures(page.parent / "zh" / page.name)


def prose(path):
    """Return the text of a page without its blocks of code and their names."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"<!--.*?-->", "", text)


@pytest.mark.parametrize("page", sorted(LESSONS.glob("*.md")), ids=lambda page: page.stem)
def test_a_translation_has_the_same_formulas_and_words_of_programs(page):
    """And the same lines of formulas: what a program has joined is no formula any more."""

    def literal(path):
        text = prose(path)
        formulas = [line for line in text.splitlines() if line.startswith("    ")]
        return formulas, set(re.findall(r"`([^`]+)`", text.replace("\n", " ")))

    assert literal(page.parent / "zh" / page.name) == literal(page)


@pytest.mark.parametrize("page", sorted(LESSONS.glob("zh/*.md")), ids=lambda page: page.stem)
def test_a_paragraph_is_one_line(page):
    """A break would be shown as a space, and what comes next would belong to the paragraph."""
    lines = [line and not re.match(r"[-#|]|\d\.| {4}", line) for line in prose(page).splitlines()]
    assert not any(a and b for a, b in itertools.pairwise(lines))


def template(node):
    """Return the text of a message with {} for what is put in, or None."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
    return None


def verdicts_of(path):
    """Yield the messages of a check: of assertions, and of errors that are raised."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        message = None
        if isinstance(node, ast.Assert):
            message = node.msg
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            message = node.exc.args[0]
        if message is not None:
            yield template(message)


@pytest.mark.parametrize("step", all_steps(), ids=lambda step: step.script.stem)
def test_each_verdict_of_a_check_has_a_translation(step):
    found = list(verdicts_of(step.check))
    assert found
    assert [text for text in found if text not in VERDICTS] == []


@pytest.mark.parametrize("module", [commands, steps], ids=lambda module: module.__name__)
def test_each_error_of_the_command_has_a_translation(module):
    """All but those of a broken installation, and the verdict of a check, which is said before."""
    found = [text for text in verdicts_of(Path(module.__file__)) if text]
    assert len(found) > 4
    missing = [text for text in found if text not in VERDICTS]
    assert [text for text in missing if "installation" not in text and text != "{}: {}"] == []


def test_translations_put_in_as_much_as_the_originals():
    for text, there in VERDICTS.items():
        assert text.count("{}") == there.count("{}"), text
        assert CHINESE.search(there), text


def test_what_is_put_in_is_translated_too():
    text = "a machine without a GPU: choose returns 'cuda:0', expected 'cpu'"
    said = steps.said(text, LESSONS, "zh")
    assert said == "没有 GPU 的机器：choose 返回 'cuda:0'，应为 'cpu'"
    assert steps.said("line 3: NotImplementedError", LESSONS, "zh").startswith("第 3 行：")
    assert steps.said("unheard of", LESSONS, "zh") == "unheard of"
    assert steps.said(text, LESSONS, "en") == text


@pytest.mark.parametrize("step", all_steps(), ids=lambda step: step.script.stem)
def test_an_exercise_differs_in_its_docstrings_only(step):
    def without_docstrings(text):
        tree = ast.parse(text)
        found = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node):
                found.append(ast.get_docstring(node))
                node.body = node.body[1:] or [ast.Pass()]
        return ast.dump(tree), found

    english, documents = without_docstrings(step.exercise.read_text("utf-8"))
    text = steps.exercise_text(step.exercise, LESSONS, "zh")
    chinese, translated = without_docstrings(text)
    assert chinese == english
    assert len(translated) == len(documents)
    assert all(map(CHINESE.search, translated))
    assert max(map(len, text.splitlines())) <= 100
    english_text = step.exercise.read_text("utf-8")
    assert steps.exercise_text(step.exercise, LESSONS, "en") == english_text


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_language_is_that_of_the_user(monkeypatch, variables, expected):
    for name in steps.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert steps.of_the_user() == expected


def test_the_language_where_no_variable_is_set(monkeypatch):
    for name in steps.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(steps.locale, "getlocale", lambda: ("Chinese (Simplified)_China", "936"))
    assert steps.of_the_user() == "zh"
    monkeypatch.setattr(steps.locale, "getlocale", lambda: (None, None))
    assert steps.of_the_user() == "en"
