"""The page at which guests of a class come in, in three languages; pages of the gate as files."""

import base64
import hashlib
import html
from pathlib import Path
from string import Template

from fractals.explorer.classroom import LENGTH, LONGEST

CLIENT = Path(__file__).parent / "client"

# By language: titles and labels, then why nobody is let in.
TEXTS = {
    "en": {
        "title": "Come in",
        "text": "This is a class. Its leader tells you the code.",
        "code": "Code",
        "name": "Your name",
        "enter": "Come in",
        "wrong": "This is not the code of the class. Type its letters again.",
        "closed": "The class lets no more guests in. Ask its leader.",
        "often": "Too many codes were tried. Wait ten seconds, then try again.",
        "far": "Only guests of the same network are let in.",
    },
    "de": {
        "title": "Eintreten",
        "text": "Das ist eine Klasse. Wer sie leitet, nennt Ihnen den Code.",
        "code": "Code",
        "name": "Ihr Name",
        "enter": "Eintreten",
        "wrong": "Das ist nicht der Code der Klasse. Geben Sie die Buchstaben noch einmal ein.",
        "closed": "Die Klasse lässt niemanden mehr ein. Fragen Sie ihre Leitung.",
        "often": "Es wurden zu viele Codes versucht. Versuchen Sie es in zehn Sekunden noch "
        "einmal.",
        "far": "Eingelassen wird nur, wer im selben Netz ist.",
    },
    "zh": {
        "title": "请进",
        "text": "这是一个课堂。主持人会告诉您代码。",
        "code": "代码",
        "name": "您的名字",
        "enter": "进入",
        "wrong": "这不是本课堂的代码，请重新输入。",
        "closed": "课堂不再接受新成员，请询问主持人。",
        "often": "尝试次数过多，请等十秒再试。",
        "far": "只有同一网络中的访客可以进入。",
    },
}


def page(name: str) -> tuple[str, str]:
    """Return the text of a page, and the source of its style for a content security policy."""
    text = (CLIENT / name).read_text("utf-8")
    return text, source_of(text, "style")


def source_of(text: str, tag: str) -> str:
    """Return the source of a page's style or script for a content security policy."""
    content = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


PAGE, STYLE = page("enter.html")
SCRIPT = source_of(PAGE, "script")


def language_of(accepted: str) -> str:
    """Return the first language of a header Accept-Language that has texts.

    >>> language_of("fr-CH, de;q=0.8, en;q=0.7"), language_of("")
    ('de', 'en')
    """
    for each in accepted.lower().split(","):
        name = each.partition(";")[0].strip().partition("-")[0]
        if name in TEXTS:
            return name
    return "en"


def page_of(accepted: str, problem: str, code: str, name: str) -> tuple[str, str]:
    """Return the page, with what was typed, and the source of its style.

    `problem`: the key of a text, or "".
    """
    language = language_of(accepted)
    texts = TEXTS[language]
    wrong = f'<p class="wrong" role="alert">{texts[problem]}</p>' if problem else ""
    typed = {"given": code[: 4 * LENGTH], "own": name[: 4 * LONGEST]}
    values = {key: html.escape(value) for key, value in typed.items()}
    limits = {"length": LENGTH, "longest": LONGEST}
    found = Template(PAGE).substitute(texts, language=language, problem=wrong, **values, **limits)
    return found, STYLE
