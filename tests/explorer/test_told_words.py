"""What the server answers to odd values, in the words in which the page shows it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HEARD = Path(__file__).parents[2] / "fractals/explorer/client/heard.js"
# Keys of the protocol or of a scene, and names of Python
OTHERS = re.compile(r"\b[a-z]\w*\.[a-z_0-9]+|\w+_\w+|\w\(|\w=|[\[\]{}]|\bstr\b|\bint\b|\bfloat\b")
SCENES = [
    {"view": {"zoom": odd}} for odd in ("abc", "-1", "0", "1e99999999", "1,000,000", "3x", "")
] + [
    {"view": {"width": "nan"}},
    {"view": {"center": ["0", "1..2"]}},
    {"view": {"rotation": 1000}},
    {"formula": "nope"},
    {"formula": {"name": "nope"}},
    {"formula": {"name": "multibrot", "power": "x"}},
    {"color": {"palette": "nope"}},
    {"color": {"density": "x"}},
    {"color": {"layers": [{"blend": "nope"}]}},
    {"iteration": {"max_iterations": "many"}},
    {"camera": {"position": [1, 2]}},
    {"julia": ["1", "x"]},
]
EXPORTS = [{"size": size} for size in ([0, 9], [9, 1e9], [9, 2.5], [-3, 9], ["x", 9])] + [
    {"supersampling": 99, "size": [9, 9]}
]


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_refusals_are_in_words_of_the_page(server):
    async def talk(client):
        await client.say("open", frame=1)
        await client.until("placed", frame=1)
        lines = []
        for frame, scene in enumerate(SCENES, 2):
            await client.say("open", frame=frame, scene=scene)
            lines.append(await client.refused())
        for job, export in enumerate(EXPORTS, 1):
            await client.say("export", job=job, frame=1, **export)
            lines.append(await client.refused())
        return lines

    lines = server.run(talk)
    code = "const { inWords } = await import(process.argv[1]);"
    code += "console.log(JSON.stringify(JSON.parse(process.argv[2]).map(inWords)))"
    command = ["node", "--input-type=module", "-e", code, HEARD.as_uri(), json.dumps(lines)]
    shown = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    assert len(shown) == len(SCENES) + len(EXPORTS)
    for line, words in zip(lines, shown, strict=True):
        own = re.sub(r"'[^']*'", "", words)  # what was given stays as it was typed
        assert words[0].isupper() or words[0] == "'", (line, words)
        assert not OTHERS.search(own), (line, words)
