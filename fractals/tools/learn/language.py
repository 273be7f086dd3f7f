"""The language of the lessons: that of the user, and what the command says in it."""

import ast
import functools
import locale
import os
import re
import tomllib
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "zh")
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides, as in POSIX


def of_the_user() -> str:
    """Return the language of the user, of those that the lessons have; English for others."""
    given = next(filter(None, map(os.environ.get, VARIABLES)), None)
    if given is None:  # macOS and Windows keep it elsewhere
        given = locale.getlocale()[0] or ""
    return "zh" if given.lower().startswith(("zh", "chinese")) else "en"


@functools.cache
def table(folder: Path, language: str, name: str) -> dict[str, Any]:
    """Return a table of texts in a language, such as "verdicts"; an empty one in English."""
    if language == "en":
        return {}
    return tomllib.loads((folder / language / f"{name}.toml").read_text("utf-8"))


@functools.cache
def _patterns(folder: Path, language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return a pattern for each text, those with the most words of their own first."""
    known = sorted(table(folder, language, "verdicts").items(), key=lambda pair: -len(pair[0]))
    parts = [(text.split("{}"), there) for text, there in known]
    return [(re.compile("(.+?)".join(map(re.escape, part)), re.DOTALL), to) for part, to in parts]


def said(text: str, folder: Path, language: str) -> str:
    """Return a text of the command in a language; one that is not in the table as it is.

    Parameters
    ----------
    text : str
        In English.
    folder : Path
        Of the lessons.
    language : str
        One of `LANGUAGES`.
    """
    for pattern, there in _patterns(folder, language):
        if found := pattern.fullmatch(text):
            parts = [said(part, folder, language) for part in found.groups()]
            return there.format(*parts)
    return text


def exercise_text(path: Path, folder: Path, language: str) -> str:
    """Return the text of an exercise, with its docstrings in a language."""
    text = path.read_text("utf-8")
    documents = table(folder, language, "exercises").get(path.stem, {})
    lines = text.splitlines()
    for node in reversed(list(ast.walk(ast.parse(text)))):
        name = "module" if isinstance(node, ast.Module) else getattr(node, "name", "")
        if name in documents:
            old = node.body[0]  # type: ignore[attr-defined]
            indent = " " * old.col_offset
            new = f'"""{documents[name].strip()}'.split("\n")
            new = [f"{indent}{line}".rstrip() for line in new]
            close = [f'{indent}"""'] if len(new) > 1 else []
            new[-1] += "" if close else '"""'
            lines[old.lineno - 1 : old.end_lineno] = new + close
    return "\n".join(lines) + "\n"
