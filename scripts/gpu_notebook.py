"""Write notebooks/gpu.ipynb from the scripts and pages of the GPU lessons.

python scripts/gpu_notebook.py            # write the notebook
python scripts/gpu_notebook.py --check    # exit code 1 if the notebook is stale
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LESSONS = ROOT / "lessons"
NOTEBOOK = ROOT / "notebooks" / "gpu.ipynb"
REPOSITORY = "fractals-numba/fractals"
STEPS = (
    "step_10_vector_add",
    "step_11_mandelbrot_gpu",
    "step_12_divergence",
    "step_13_overlap",
    "step_a_shared_memory",
    "step_b_neural_picture",
    "step_c_attention",
    "step_d_training",
    "step_e_counting",
    "step_f_rays",
)
COLAB = f"https://colab.research.google.com/github/{REPOSITORY}/blob/main/notebooks/gpu.ipynb"
HEAD = f"""[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({COLAB})

# GPU programming with Numba, step by step

These are steps 10 to 13 and A to F of the lessons of `fractals`. Colab lends a GPU: choose
*Runtime, Change runtime type, T4 GPU*. Without a GPU every cell runs in a simulator.

Run the cells in order. Each script is written to a file by its cell, so later steps can import it.
Change a script, run its cell, and run the cell below it again."""
INSTALL = f'%pip install --quiet "fractals-numba[gpu12] @ git+https://github.com/{REPOSITORY}"'


def markdown(text: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code(text: str) -> dict:
    source = text.strip().splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def page(step: str) -> str:
    """Return the text of a page for the notebook: links lead to the repository, code is below."""
    text = (LESSONS / f"{step}.md").read_text("utf-8")
    text = re.sub(
        r"<!-- code: \S+ (\S+) -->\n```python\n.*?```\n",
        r"*Code: block `[\1]` of the script below.*\n",
        text,
        flags=re.DOTALL,
    )
    text = text.replace("](../", f"](https://github.com/{REPOSITORY}/blob/main/")
    text = re.sub(r"!\[[^\]]*\]\(pictures/.*?\)\n\n", "", text)  # the script shows its picture
    return re.sub(
        r"\]\((\w+\.md)\)", rf"](https://github.com/{REPOSITORY}/blob/main/lessons/\1)", text
    )


def written(name: str) -> dict:
    return code(f"%%writefile {name}.py\n" + (LESSONS / f"{name}.py").read_text("utf-8"))


def notebook() -> str:
    cells = [markdown(HEAD), code(INSTALL), markdown("Two helpers that all steps import:")]
    cells += [written("gpu"), written("ladder")]
    for step in STEPS:
        cells += [markdown(page(step)), written(step), code(f"%run {step}.py")]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    metadata = {
        "accelerator": "GPU",
        "colab": {"gpuType": "T4", "provenance": []},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    table = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    text = notebook()
    if "--check" in sys.argv[1:]:
        stale = not NOTEBOOK.exists() or NOTEBOOK.read_text("utf-8") != text
        if stale:
            print("notebooks/gpu.ipynb is stale: run python scripts/gpu_notebook.py")
        return int(stale)
    NOTEBOOK.parent.mkdir(exist_ok=True)
    NOTEBOOK.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
