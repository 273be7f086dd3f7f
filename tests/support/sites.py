"""Sites whose page's modules are asked by Node."""

import contextlib
import functools
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


@contextlib.contextmanager
def asker(site):
    """Give a function that asks a site's modules; a process of Node for each flavor goes on."""
    with contextlib.ExitStack() as processes:

        @functools.cache
        def process(flavor):
            command = [NODE, FLAG, "--no-warnings", SCRIPT, site, flavor]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            made = processes.enter_context(subprocess.Popen(command, text=True, **pipes))
            processes.callback(made.stdin.close)  # ends it
            return made

        def answer(question, flavor):
            made = process(flavor)
            made.stdin.write(json.dumps(question) + "\n")
            made.stdin.flush()
            line = made.stdout.readline()
            assert line, f"Node has ended: {made.wait(20)}"
            return json.loads(line)

        yield lambda *questions, flavor="fused": [answer(each, flavor) for each in questions]


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
