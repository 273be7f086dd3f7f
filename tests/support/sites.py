"""Sites whose page's modules are asked by Node."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(not NODE, reason="Node is not installed")
SCRIPT = Path(__file__).parents[1] / "explorer/site/ask.mjs"
FLAG = "--experimental-wasm-relaxed-simd"  # Node 20 has relaxed SIMD behind it


def asker(site):
    """Return a function that has Node answer questions about a site."""

    def answers(*questions, flavor="fused"):
        command = [NODE, FLAG, "--no-warnings", SCRIPT, site, flavor]
        asked = "".join(f"{json.dumps(each)}\n" for each in questions)
        found = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in found.stdout.splitlines()]

    return answers


def drawn(ask, path, scene, flavor="fused"):
    """Return what Node tells of a scene, the counts and the pixels."""
    (told,) = ask({"do": "draw", "scene": scene.to_table(), "file": str(path)}, flavor=flavor)
    assert "error" not in told, told
    content, n = path.read_bytes(), scene.image.supersampling
    width, height = scene.image.size
    samples = width * height * n * n
    count = np.frombuffer(content[: 4 * samples], np.int32).reshape(height * n, width * n)
    pixels = np.frombuffer(content[4 * samples :], np.uint8).reshape(height, width, 3)
    return told["answer"], count, pixels


def skip_unless_fused(ask):
    """Skip the test where no bits can be equal."""
    if not ask({"do": "fused"})[0]["answer"]:
        pytest.skip("this processor, or this Node, has no fused multiply-add of vectors")
