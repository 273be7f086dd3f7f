"""The notebook of the GPU steps: made from their scripts and pages, and not stale."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_notebook_is_what_the_script_makes():
    command = [sys.executable, "scripts/gpu_notebook.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_script_makes_it_stale(tmp_path):
    for folder in ("scripts", "lessons", "notebooks"):
        (tmp_path / folder).mkdir()
        for path in (ROOT / folder).glob("*.*"):
            if path.is_file():
                (tmp_path / folder / path.name).write_bytes(path.read_bytes())
    script = tmp_path / "lessons" / "step_10_vector_add.py"
    script.write_text(script.read_text("utf-8") + "# changed\n", "utf-8")
    command = [sys.executable, "scripts/gpu_notebook.py", "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "is stale" in done.stdout) == (1, True)


def test_the_cells_run_the_scripts_in_order():
    table = json.loads((ROOT / "notebooks" / "gpu.ipynb").read_text("utf-8"))
    sources = ["".join(cell["source"]) for cell in table["cells"]]
    assert "colab.research.google.com" in sources[0]
    written = [s.split()[1] for s in sources if s.startswith("%%writefile")]
    runs = [s.split()[1] for s in sources if s.startswith("%run")]
    assert written == ["gpu.py", "ladder.py", *runs]
    assert len(runs) == 10
    assert not [s for s in sources if "](step_" in s or "](../" in s], "links leave the notebook"
    for name in written:
        (cell,) = [s for s in sources if s.startswith(f"%%writefile {name}")]
        text = (ROOT / "lessons" / name).read_text("utf-8")
        assert cell == f"%%writefile {name}\n{text}".strip()
