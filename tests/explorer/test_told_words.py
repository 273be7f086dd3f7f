"""What the server answers to odd values, in the words in which the page shows it."""

import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from fractals import find_misiurewicz, find_nucleus
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.explorer import outside, protocol, questions
from fractals.explorer.pages import uploaded
from fractals.rendering.plan import noise_note
from fractals.scene.model import Scene

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
        errors = []
        for frame, scene in enumerate(SCENES, 2):
            await client.say("open", frame=frame, scene=scene)
            errors.append(await client.until("error"))
        for job, export in enumerate(EXPORTS, 1):
            await client.say("export", job=job, frame=1, **export)
            errors.append(await client.until("error"))
        return errors

    errors = server.run(talk)
    code = "const { meaningOf } = await import(process.argv[1]);"
    code += "console.log(JSON.stringify(JSON.parse(process.argv[2]).map(meaningOf)))"
    command = ["node", "--input-type=module", "-e", code, HEARD.as_uri(), json.dumps(errors)]
    shown = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    assert len(shown) == len(SCENES) + len(EXPORTS)
    for error, words in zip(errors, shown, strict=True):
        line = error["message"]
        assert bool(error.get("code")) == bool(re.search(r"' is not \S+ or (more|less)$", line))
        own = re.sub(r"'[^']*'", "", words)  # what was given stays as it was typed
        assert words[0].isupper() or words[0] == "'", (line, words)
        assert not OTHERS.search(own), (line, words)


BEYOND = [
    ({"color": {"density": -1e9}}, "takes_at_least", "color.density", -1e6),
    ({"view": {"rotation": 1000}}, "takes_at_most", "view.rotation", 360),
    ({"color": {"layers": [{"opacity": 2}]}}, "takes_at_most", "color.layers.0.opacity", 1),
    ({"formula": "tricorn", "view": {"stretch": 0}}, "takes_at_least", "view.stretch", 0.001),
]


@pytest.mark.parametrize(("table", "code", "key", "limit"), BEYOND)
def test_a_value_beyond_a_limit_tells_its_key_and_the_limit(table, code, key, limit):
    told = {"code": code, "key": key, "limit": limit}
    file = json.dumps(table).encode()
    for read in (outside.scene_of, Scene.model_validate, lambda _: uploaded("a.json", file)):
        with pytest.raises(SceneError) as error:
            read(table)
        assert error.value.about == told
        assert f"{limit:g}" in str(error.value)


def test_what_can_not_be_gone_to_has_a_code(server):
    async def talk(client):
        far = {"view": {"center": ["1e400", "0"], "width": "1"}}
        await client.say("open", frame=1, scene=far)
        errors = [await client.until("error")]
        await client.say("open", frame=2, scene={"julia": ["0", "1"]})
        await client.until("placed", frame=2)
        await client.say("open", frame=3, julia={"frame": 2, "at": [0, 0]})
        errors.append(await client.until("error"))
        await client.say("view", frame=4, base=2, scale=-4096)  # of 2**64
        errors.append(await client.until("error"))
        deep = {"formula": "newton", "view": {"center": ["0.3", "0"], "width": "1e-60"}}
        await client.say("open", frame=5, scene=deep)
        errors.append(await client.until("error"))
        await client.say("open", frame=6, link="eNnothing")
        errors.append(await client.until("error"))
        await client.say("open", frame=7, scene={"formula": "de_jong"})
        await client.until("placed", frame=7)
        await client.say("find", job=1, what="nucleus", frame=7)
        errors.append(await client.until("error"))
        await client.say("open", frame=8, scene={"formula": "de_jong", "julia": ["0", "1"]})
        return [*errors, await client.until("error")]

    far, julia, wide, deep, link, family, points = server.run(talk)
    assert (deep["code"], link["code"]) == ("too_deep", "link_is_damaged")
    assert family["code"] == "of_another_family"
    assert (points["code"], points["name"]) == ("has_no_julia_sets", "de_jong")
    assert (far["code"], far["name"]) == ("too_far", "1e400")
    assert julia["code"] == "is_a_julia_set"
    assert wide["code"] == "too_wide"
    for told in (far, wide, deep):
        assert told["name"] in told["message"]


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_keys_have_names_of_the_page():
    """In German: words of the panels, where there are some."""
    code = "const [client, keys] = process.argv.slice(1);"
    code += "const { names } = await import(`${client}/words/en.js`);"
    code += "Object.assign(names, (await import(`${client}/words/de.js`)).names);"
    code += "const { meaningOf, inWords } = await import(`${client}/heard.js`);"
    code += "console.log(JSON.stringify([meaningOf({ message: '', code: 'takes_at_most',"
    code += " key: 'color.layers.0.opacity', limit: 1 }), inWords('color.density: x'),"
    code += " inWords('formula: power is 2', 'formula')]));"
    command = ["node", "--input-type=module", "-e", code, HEARD.parent.as_uri()]
    shown = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    assert shown == ["Deckkraft: 1 or less", "Dichte: x", "Formula: power is 2"]


def test_a_message_beyond_a_limit_tells_its_key_and_the_limit():
    with pytest.raises(OptionError) as error:
        protocol.parse('{"t": "pick", "frame": 0, "at": [9999999, 0]}')
    assert error.value.about == {"code": "takes_at_least", "key": "frame", "limit": 1}
    with pytest.raises(OptionError) as error:
        protocol.parse('{"t": "pick", "frame": 1, "at": [9999999, 0]}')
    assert error.value.about == {"code": "takes_less_than", "key": "at.0", "limit": 2**20}


def test_what_a_search_lacks_has_a_code():
    with pytest.raises(FractalsError) as error:
        find_nucleus(center=(2, 2), width=0.01, max_period=3)
    assert error.value.about == {"code": "no_minibrot_was_found"}
    for search in (find_nucleus, find_misiurewicz):
        with pytest.raises(SceneError) as error:
            search(julia=(0, 1))
        assert error.value.about == {"code": "of_a_julia_set"}


WRONG = [
    ("z**2 + q!", "unknown_character", 9, "!"),
    ("z**2 + k*c", "unknown_name", 8, "k"),
    ("z**2 + (", "operand_expected", 9, None),
    ("z**2 c", "operator_expected", 6, None),
    ("(z**2 + c", "sign_expected", 10, ")"),
    ("sin z", "sign_expected", 5, "("),
    ("z + 1e999", "number_too_large", 5, None),
    ("z" + "+z" * 90, "formula_too_large", 162, None),
    ("(" * 60, "formula_too_large", 51, None),
    ({"name": "program", "step": "c = z"}, "variable_expected", 1, None),
    ({"name": "program", "test": "|z| < 4"}, "unknown_character", 1, "|"),
    ({"name": "newton", "polynomial": "z**3 -"}, "operand_expected", 7, None),
    ({"name": "newton", "start": "c)"}, "operator_expected", 2, None),
    ({"name": "solid_expression", "step": "x = y+"}, "operand_expected", 7, None),
]


@pytest.mark.parametrize(("formula", "code", "column", "name"), WRONG)
def test_a_wrong_formula_tells_its_column_and_what_is_wrong(formula, code, column, name):
    with pytest.raises(SceneError) as error:
        outside.scene_of({"formula": formula})
    named = {"name": name} if name else {}
    assert error.value.about == {"code": code, "column": column, "key": "formula", **named}
    assert f"column {column}: " in str(error.value)


@pytest.mark.parametrize(
    ("formula", "key"),
    [
        ("nope", "formula.name"),
        ({"name": "multibrot", "power": 99}, "formula"),
        ("z" * 20_000, "formula"),
    ],
)
def test_an_error_tells_that_it_is_about_the_formula(formula, key):
    with pytest.raises(SceneError) as error:
        outside.scene_of({"formula": formula})
    assert error.value.about["key"] == key


def test_a_code_outlasts_another_process():
    """Workers and compilers send their errors as bytes."""
    error = OptionError("a line", code="takes_at_most", limit=4)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.about) == ("a line", error.about)


SAID = dict.fromkeys(("title", "author", "rights", "note"), "x")
LOSING = [
    {"color": {"coloring": "slopes", "density": -1.5, "offset": 0.3, "layers": [{}]}},
    {
        "color": {
            "transfer": "linear",
            "mask": "escaped",
            "range": [0, 1],
            "palette": ["#000", "#fff"],
        }
    },
    {**SAID, "view": {"stretch": 2.0}},
    {"film": {"keys": [{"at": 0}, {"at": 1, "width": "1"}]}},
    {"formula": "flame", "view": {"stretch": 2.0, "mirror": False}},
    {"formula": "flame", "view": {"mirror": True}},
]


def lines_of_writers():
    """Yield what other programs lack of these scenes, and the text of each line's source."""
    for table in LOSING:
        scene = Scene.model_validate({"iteration": {"max_iterations": 500}, **table})
        for text in questions.texts_of_others(scene, 500):
            yield from text["lost"]


LOSING_FILES = {
    "a.kfr": "Re: -0.5\nIm: 0.1\nZoom: 2\nColorMethod: 5\nIterDiv: 0.5\nSlopes: 1\nUseOpenGL: 1\n"
    "Iterations: 99999999999\n",
    "b.par": "a { type=mandel corners=-2/1/-1/1 logmap=yes potential=255/1/1 colors=@my.map }",
    "c.par": "a { type=mandel corners=-2/1/-1/1 logmap=-3 }",
    "d.par": "a { type=cellular params=11/3311100320/41 maxiter=20 }",
    "e.par": "a { type=formula formulafile=x.frm formulaname=Mandelbrot corners=-2/1/-1/1 }",
}


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_the_commonest_losses_of_files_are_in_the_languages_of_the_page():
    lines = [
        line
        for name, text in LOSING_FILES.items()
        for line in uploaded(name, text.encode())["lost"]
    ]
    code = "const { LOSSES } = await import(process.argv[1]);"
    code += "console.log(JSON.stringify(LOSSES))"
    losses = HEARD.parent / "panels/losses.js"
    command = ["node", "--input-type=module", "-e", code, losses.as_uri()]
    known = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    found = {re.sub(r"'[^']*'|-?\d[\d.]*(?:e[+-]?\d+)?", "#", line) for line in lines}
    assert found - {english for english, _, _ in known} == set()
    assert len(found) >= 9
    for english, german, chinese in known:
        assert len({english, german, chinese}) == 3
        assert english.count("#") == german.count("#") == chinese.count("#")


SPIDER = SimpleNamespace(name="spider")


def notes():
    """Yield what is said of counts that may be wrong."""
    for precision in ("float64", "double-double"):
        plan = SimpleNamespace(noise=0.25, precision=precision, formula=SPIDER)
        yield noise_note(plan)


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
@pytest.mark.parametrize("language", ["de", "zh"])
def test_what_is_said_of_a_scene_is_in_the_language_of_the_page(language):
    lines = list(dict.fromkeys([*lines_of_writers(), *notes()]))
    code = "const [client, language, lines] = process.argv.slice(1);"
    code += "const { ofServer } = await import(`${client}/words.js`);"
    code += "const { names } = await import(`${client}/words/en.js`);"
    code += "Object.assign(names, (await import(`${client}/words/${language}.js`)).names);"
    code += "console.log(JSON.stringify(JSON.parse(lines).map((line) => ofServer(line))));"
    command = ["node", "--input-type=module", "-e", code]
    command += [HEARD.parent.as_uri(), language, json.dumps(lines)]
    shown = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    english = [line for line, words in zip(lines, shown, strict=True) if line == words]
    assert english == []
    assert len(lines) >= 16
    values = [
        re.findall(r"'[^']*'|-?[\d.]+", line.replace("Fraktaler-3", "").replace("float64", ""))
        for line in lines
    ]
    for own, words in zip(values, shown, strict=True):
        assert all(value in words for value in own), (own, words)
