"""Makes a notebook of each page whose code is Python, and puts a link to it below the title.

A block ```` ```{fractal} python ```` becomes a cell of code, and the text between is kept as it is.
The code has run: the build runs these blocks.
"""

import json
import re
from pathlib import Path

import fractals

FOLDER = "_drawn"  # as of `drawn`
SOURCE = "https://github.com/fractals-numba/fractals/blob/main/docs/"
BLOCK = re.compile(
    r"^```{fractal} python\n((?::\w+:[^\n]*\n)*)(.*?)^```\n", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(\]\()(?!\w+:|#|/)([^)]+\))")


def cells_of(text, folder):
    """Return the cells of a page of a folder."""
    cells, at = [], 0
    for block in [*BLOCK.finditer(text), None]:
        words = text[at : block.start() if block else None].strip()
        if words:
            words = LINK.sub(rf"\g<1>{SOURCE}{folder}\2", words)
            cells.append(cell("markdown", words))
        if block:
            cells.append(cell("code", block[2].rstrip()))
            at = block.end()
    return cells


def cell(kind, text):
    """Return a cell as a notebook's file has it."""
    made = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def add_notebook(app, docname, source):
    """Write the notebook of a page that has Python to run, and link to it."""
    if not BLOCK.search(source[0]):
        return
    folder, _, name = docname.rpartition("/")
    target = Path(app.srcdir) / FOLDER / f"{name}.ipynb"
    target.parent.mkdir(exist_ok=True)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    table = {"nbformat": 4, "nbformat_minor": 4, "metadata": kernel}
    table["cells"] = cells_of(source[0], f"{folder}/" if folder else "")
    target.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", "utf-8")
    link = f"{{download}}`This page as a notebook </{FOLDER}/{target.name}>`"
    source[0] = re.sub(r"^(# .*\n)", rf"\1\n{link}\n", source[0], count=1)


def setup(app):
    """Connect it before the links of pages are changed."""
    app.connect("source-read", add_notebook, priority=100)
    return {"version": fractals.__version__, "parallel_read_safe": True}
