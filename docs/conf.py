"""Settings of Sphinx. `.ci/run docs` builds the pages into docs/_build."""

import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext")]
os.environ.setdefault("MPLBACKEND", "agg")  # matplotlib draws into files only

from fractals import __version__  # noqa: E402

project = "fractals"
author = copyright = "The fractals authors"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "drawn",
    "catalog_pages",
    "notebooks",
]
exclude_patterns = ["_build", "_drawn"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]  # [text]{#anchor}
copybutton_exclude = ".linenos, .gp, .go"
highlight_language = "none"
autodoc_typehints = "none"  # the docstrings name the types
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
default_role = "py:obj"  # `name` in a docstring
smartquotes = False  # they turn -- of options into a dash
html_theme = "furo"
html_title = f"fractals {version}"
html_theme_options = {
    "source_repository": "https://github.com/fractals-numba/fractals/",
    "source_branch": "main",
    "source_directory": "docs/",
}
html_static_path = ["_static"]
html_css_files = ["docs.css"]

# The lessons stand in a folder of their own, which also holds their programs.
LESSONS, COPY = ROOT / "lessons", HERE / "lessons"
SHOWN = ("*.md", "*.png", "*.webp", "*.jpg", "*.svg")
shutil.rmtree(COPY, ignore_errors=True)
for pattern in SHOWN:
    for path in [*LESSONS.glob(pattern), *LESSONS.glob(f"zh/{pattern}")]:
        target = COPY / path.relative_to(LESSONS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)

SOURCE = "https://github.com/fractals-numba/fractals/blob/main/"
FENCE = re.compile(r"^(```+|:::+).*?^\1 *$", re.MULTILINE | re.DOTALL)
COPIES, PICTURES = HERE / "_drawn", (".png", ".jpg", ".webp", ".svg")
LISTS = ("lessons", "lessons-zh")  # pages that list the copied ones
LISTED = re.compile(r"^(lessons/\S+)\n", re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s#]+)([^)\s]*\))")


def link_to_source(app, docname, source):
    """Let links to files of the repository that are no page lead to the repository."""
    page = HERE / f"{docname}.md"
    folder = LESSONS / page.relative_to(COPY).parent if COPY in page.parents else page.parent

    def changed(match):
        name = match[2]
        here, path = (page.parent / name).resolve(), (folder / name).resolve()
        if re.match(r"\w+:|/", name) or (here.exists() and HERE in here.parents):
            return match[0]
        if not path.exists():
            return match[0]  # Sphinx warns that there is no such page
        if (copy := COPY / os.path.relpath(path, LESSONS)).exists() and path.suffix == ".md":
            return f"{match[1]}/{copy.relative_to(HERE).as_posix()}{match[3]}"
        if path.suffix in PICTURES:  # in a page the picture itself is shown
            COPIES.mkdir(exist_ok=True)
            shutil.copy(path, COPIES)
            return f"{match[1]}/_drawn/{path.name}{match[3]}"
        return f"{match[1]}{SOURCE}{path.relative_to(ROOT).as_posix()}{match[3]}"

    parts, at = [], 0
    for fence in [*FENCE.finditer(source[0]), None]:
        end = fence.start() if fence else len(source[0])
        parts += [LINK.sub(changed, source[0][at:end]), fence[0] if fence else ""]
        at = fence.end() if fence else end
    source[0] = "".join(parts)


def link_to_twin(app, docname, source):
    """Put a link to the page in the other language below the title."""
    folder, _, name = docname.rpartition("/")
    chinese = docname.endswith("-zh")
    if COPY in (HERE / docname).parents and name != "README":
        twin = f"../{name}" if folder.endswith("/zh") else f"zh/{name}"
        word = "English" if folder.endswith("/zh") else "中文"
        exists = (COPY / "zh" / f"{name}.md").exists() and (COPY / f"{name}.md").exists()
    else:
        twin = name.removesuffix("-zh") if chinese else f"{name}-zh"
        word = "English" if chinese else "中文"
        exists = (HERE / folder / f"{twin}.md").exists()
    link = f"[{word}]({twin}.md)"
    if exists and f"]({twin}.md)" not in source[0]:
        source[0] = re.sub(r"^(# .*\n)", rf"\1\n{link}\n", source[0], count=1)


def edit_where_it_stands(app, pagename, templatename, context, doctree):
    """Let the button that edits a page of the lessons lead to their folder."""
    if pagename.startswith("lessons/"):
        context["theme_source_directory"] = ""


def list_lessons(app, docname, source):
    """Drop lessons that a checkout does not have: Sphinx can't be told not to warn of them."""
    if docname in LISTS:
        source[0] = LISTED.sub(lambda name: name[0] * any(HERE.glob(f"{name[1]}.md")), source[0])


def show_keys_once(app, what, name, obj, options, signature, returned):
    """Show `**keys` in place of the 30 keys of a scene in the signature of a function."""
    if not signature:
        return None
    if name == "fractals.Scene":
        return "(**keys)", returned
    if "=..." in signature:
        signature = re.sub(r", \w+=\.\.\.", "", signature).removesuffix(")") + ", **keys)"
    return re.sub("<function warn.*?>", "warn", signature), returned


def show_examples_as_code(app, context, lines):
    """Show the examples at the end of a verb's help as code."""
    if "| Examples:" in lines:
        at = lines.index("| Examples:")
        code = [f"   {line.removeprefix('|').strip()}" for line in lines[at + 1 :]]
        lines[at:] = [".. code-block:: bash", "", *code]


def setup(app):
    """Connect the changes of pages."""
    app.connect("source-read", link_to_source)
    app.connect("source-read", list_lessons)
    app.connect("source-read", link_to_twin)
    app.connect("html-page-context", edit_where_it_stands)
    app.connect("env-get-outdated", lambda *_: set(LISTS))  # their number may have changed
    app.connect("autodoc-process-signature", show_keys_once)
    app.connect("sphinx-click-process-epilog", show_examples_as_code)
