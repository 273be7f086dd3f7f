"""`fractals.explore`, the verbs, and what is missing."""

import base64
import gzip
import hashlib
import importlib.util
import inspect
import json
import os
import re
import runpy
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image, ImageOps

import fractals
from fractals import catalog
from fractals.errors import FractalsError, OptionError, to_install
from fractals.explorer import answers, pages, server
from fractals.explorer.gate import POLICY
from fractals.scene.keywords import SceneKeywords
from fractals.tools import surprise
from fractals.tools.gallery import picture_file

GALLERY = Path(__file__).parents[2] / "gallery"


def test_explore_serves_until_it_is_closed(tmp_path):
    lines = []
    running = fractals.explore(
        "seahorse", device="cpu", browser=False, block=False, on_message=lines.append
    )
    try:
        assert running.url.startswith("http://127.0.0.1:")
        assert repr(running) == f"Running({running.url})"
        (line,) = lines
        assert f"{running.url}/enter?token=" in line
    finally:
        running.close()


def test_a_missing_extra_is_one_line(monkeypatch, run):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name)
    )
    with pytest.raises(
        FractalsError, match=f"requires uvicorn: {re.escape(to_install('explore'))}"
    ):
        fractals.explore(browser=False)
    for arguments in (("--no-browser",), ("--site", "site", "--site-formula", "burning_ship")):
        code, _, err = run("explore", *arguments)
        assert (code, err.count("\n"), "requires uvicorn" in err) == (1, 1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--port", "70000"), 2, "70000"),
        (("--clients", "0"), 2, "'0'"),
        (("--cert", "a.pem"), 2, "--cert and --key"),
        (("--host", "192.0.2.1"), 1, "can't listen"),
        (("no-such-scene",), 2, "no-such-scene"),
        (("--device", "nope"), 2, "unknown device"),
    ],
)
def test_bad_options(run, arguments, code, message):
    found, _, err = run("explore", "--no-browser", *arguments)
    assert found == code
    assert message in err
    assert err.count("\n") == 1


def test_a_unix_socket_belongs_to_its_owner(tmp_path):
    path = tmp_path / "socket"
    running = fractals.explore(
        uds=str(path), device="cpu", browser=False, block=False, on_message=lambda line: None
    )
    try:
        assert stat.S_ISSOCK(os.stat(path).st_mode)
        assert os.stat(path).st_mode & 0o077 == 0
        assert running.url == "http://127.0.0.1:8000"
    finally:
        running.close()


def test_plain_http_for_others_is_pointed_out():
    lines = []
    running = fractals.explore(
        host="0.0.0.0", device="cpu", browser=False, block=False, on_message=lines.append
    )
    running.close()
    assert "others on the network can read plain HTTP" in lines[0]


def test_keywords_are_checked():
    with pytest.raises(OptionError, match="memory 0"):
        fractals.explore(memory=0, browser=False)
    with pytest.raises(OptionError, match="unknown keyword 'bowser'; did you mean 'browser'"):
        fractals.explore(bowser=False)
    with pytest.raises(OptionError, match="threads: give 1"):
        fractals.explore(threads=0, browser=False)


def test_the_signature_has_every_option_with_its_default():
    shown = inspect.signature(fractals.explore).parameters
    fields = server.ExploreOptions.fields.items()
    # A signature shows the name of a function in place of its address.
    options = {name: getattr(each.default, "__name__", repr(each.default)) for name, each in fields}
    assert {name: repr(shown[name].default) for name in options} == options
    assert shown.keys() == {"sources", *options, *SceneKeywords.__annotations__}


@pytest.fixture(scope="module")
def offered():
    """Return the catalog of the page."""
    return pages.catalog_table()


def test_the_catalog_has_typed_options(offered):
    assert [each["name"] for each in offered["palettes"]] == list(catalog.names("palette"))
    stripes = next(each for each in offered["colorings"] if each["name"] == "stripe_average")
    density = next(each for each in stripes["options"] if each["name"] == "density")
    assert density["type"] in ("int", "float")
    assert density["least"] < density["default"] < density["most"]
    for each in (*offered["colorings"], *offered["formulas"]):  # one sentence, and no markup
        assert re.fullmatch(r"[^`\n]{8,150}[.)']", each["meaning"]), each
        assert not each["meaning"].startswith("Return")
    kinds = {option["type"] for each in offered["colorings"] for option in each["options"]}
    assert kinds <= {"int", "float", "text", "choice"}
    groups = {each["name"]: each["group"] for each in offered["scenes"]}
    known = {"seahorse": "Flat", "clockwork": "Deep", "arena": "Solids", "caldera": "Solids"}
    assert known.items() <= groups.items()
    assert set(groups.values()) == {"Flat", "Deep", "Points", "Solids"}


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ((), True),
        (("--cpu", "--read-only"), True),
        (("seahorse",), False),
        (("--rotation", "0"), False),
        (("--palette", "ember"), False),
    ],
)
def test_the_gallery_is_the_start_page_if_no_scene_is_given(run, monkeypatch, arguments, shown):
    calls = []
    monkeypatch.setattr(server, "start", lambda _, options: calls.append(options) or Nothing())
    assert run("explore", "--no-browser", *arguments)[0] == 0
    assert [options.gallery for options in calls] == [shown]


def test_the_gallery_is_the_start_page_in_python_as_well(monkeypatch):
    calls = []
    monkeypatch.setattr(server, "start", lambda _, options: calls.append(options) or Nothing())
    quiet = {"browser": False, "on_message": lambda line: None}
    fractals.explore(**quiet)
    fractals.explore("seahorse", **quiet)
    fractals.explore(palette="ember", **quiet)
    assert [options.gallery for options in calls] == [True, False, False]


class Nothing:
    """A server that ends at once."""

    def invitation(self):
        return "-"

    def serve(self):
        pass


def test_every_scene_and_formula_has_a_thumbnail():
    wanted = {("scene", name) for name in catalog.names("gallery")}
    wanted |= {("formula", name) for name in catalog.names("formula") if name not in pages.WRITTEN}
    files = pages.thumbnail_files()
    assert files.keys() == wanted
    assert sum(path.stat().st_size for path in files.values()) < 1_000_000


@pytest.mark.parametrize("name", catalog.names("gallery"))
def test_a_thumbnail_shows_the_picture_of_the_gallery(name):
    with Image.open(pages.thumbnail_files()["scene", name]) as small:
        size, found = small.size, np.asarray(small.convert("RGB"), float)
    with Image.open(GALLERY / picture_file(name)) as picture:
        wanted = np.asarray(ImageOps.fit(picture.convert("RGB").reduce(4), size), float)
    assert abs(found - wanted).mean() < 12


def test_the_page_is_in_the_package():
    assert "index.html" in pages.client_files()
    text = pages.client_files()["index.html"].read_text("utf-8")
    assert "style=" not in text  # the content security policy forbids it
    style = re.search("<style>(.*)</style>", text, re.DOTALL)[1]
    source = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'self' 'sha256-{source}';" in POLICY
    assert text.index('class="first"') < text.index('rel="stylesheet"')  # painted before it comes
    assert "onclick" not in text


def test_types_of_messages_are_those_of_the_servers_declarations():
    made = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "client_types.py"))
    assert made["FILE"].read_text("utf-8") == made["text"](), "run python scripts/client_types.py"


def test_the_catalog_and_the_names_of_messages_are_as_declared(offered):
    answers.Catalog.checked(json.loads(json.dumps(offered)))
    text = (Path(answers.__file__).parent / "PROTOCOL.md").read_text("utf-8")
    table = text.partition("## Server to client, text")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(answers.SAID)


def test_the_types_of_the_page_are_written_out():
    count, files = 0, [path for path in pages.CLIENT.rglob("*.js") if path.parent.name != "lib"]
    for path in files:
        comments = re.findall(r"/\*\*.*?\*/", path.read_text("utf-8"), re.DOTALL)
        types = re.findall(r"\{(?:[^{}]|\{[^{}]*\})*\}", " ".join(comments))
        count += sum(len(re.findall(r"\b(?:any|Table)\b", each)) for each in types)
    for path in (Path(__file__).parents[2] / ".ci").glob("*.d.ts"):
        text = re.sub(r"/\*.*?\*/|//.*", "", path.read_text("utf-8"), flags=re.DOTALL)
        count += len(re.findall(r"\b(?:any|Table)\b", text))
    assert len(files) > 60
    assert 0 < count <= 20  # what a template makes, and values that any field may have


def test_the_page_names_its_modules_so_that_they_are_loaded_at_once():
    files = pages.client_files()

    def imported(name):
        text = files[name].read_text("utf-8")
        found = re.findall(r'^(?:import|export)[^;]*?from ?"(\.[^"]+)"', text, re.MULTILINE)
        found += re.findall(r'from"(\./[^"]+)"', text)
        return {os.path.normpath(os.path.join(os.path.dirname(name), each)) for each in found}

    known, new = set(), {"main.js"}
    while new:
        known |= new
        new = set().union(*map(imported, new)) - known
    listed = re.findall(
        r'<link rel="modulepreload" href="/client/(.*)">', files["index.html"].read_text("utf-8")
    )
    assert len(known) > 20
    assert listed == sorted(known)
    assert imported("start.js") == set()  # the page is painted before other scripts run
    loaded = sum(len(gzip.compress(pages.client_bytes(name))) for name in known)
    assert loaded < 105_000  # bytes of a first visit, compressed


def test_modules_are_sent_without_types_and_stay_what_they_are():
    modules = [name for name in pages.client_files() if name.endswith(".js")]
    for name in modules:
        whole, sent = pages.client_files()[name].read_bytes(), pages.client_bytes(name)
        assert sent.count(b"\n") == whole.count(b"\n")
        if name.startswith("lib/"):
            assert sent == whole
            continue
        assert b"/**" not in sent
        lines = pages.COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), whole).split(b"\n")
        for line, kept in zip(lines, sent.split(b"\n"), strict=True):
            assert line.startswith(kept)
            assert line == kept or line.removeprefix(kept).lstrip().startswith(b"// ")
        for found in re.finditer(rb"/\*\*", whole):  # no text of the page has these signs
            before = whole[: found.start()].rpartition(b"\n")[2]
            assert before.count(b'"') % 2 == 0, (name, before)
    assert pages.client_bytes("nothing.js") is None
    assert len(modules) > 60


def test_libraries_of_the_page_have_licences_and_name_no_host():
    folder = pages.CLIENT / "lib"
    licences = (folder / "LICENSES.txt").read_text("utf-8")
    script = (Path(__file__).parents[2] / "scripts" / "client_libraries").read_text("utf-8")
    taken = re.findall(r"^take (\S+) (\S+) (.*)$", script.split("\ncd ")[1], re.MULTILINE)
    for name, version, _ in taken:
        assert f"\n{name} {version}\n" in licences
    names = {name for *_, pairs in taken for name in pairs.split()[1::2]}
    assert {path.name for path in folder.glob("*.js")} == names
    for path in folder.glob("*.js"):
        text = path.read_text("utf-8")
        assert "sourceMappingURL" not in text
        assert not re.search(r"registry|unpkg|jsdelivr", text)


def test_surprises_leave_locked_numbers_of_a_formula():
    scene = fractals.load_scene(formula="clifford", size=(64, 48))
    usual = scene.make_any_formula().parameters
    found = [each.make_any_formula().parameters for _, each in surprise.mutations(scene, 5)]
    assert len({each["a"] for each in found}) > 3
    found = [
        each.make_any_formula().parameters
        for _, each in surprise.mutations(scene, 5, locked=["a", "c", "no number of this one"])
    ]
    assert {(each["a"], each["c"]) for each in found} == {(usual["a"], usual["c"])}
    assert len({each["b"] for each in found}) > 3


def test_surprises_are_twelve_different_scenes():
    scene = fractals.load_scene("seahorse", size=(64, 48))
    found = [each for _, each in surprise.mutations(scene, 5)]
    assert len(found) >= 2 * surprise.COUNT
    assert len({each.to_json() for each in found}) == len(found)
    assert [each for _, each in surprise.mutations(scene, 5)] == found
    assert [each for _, each in surprise.mutations(scene, 6)] != found
    assert any(each.view != scene.view for each in found)
    assert any(each.color.layers for each in found)


def test_captions_of_a_sheet_of_surprises(monkeypatch):
    scene, cells = fractals.load_scene("seahorse", size=(64, 48)), []
    drawn = iter(np.random.default_rng(5).integers(0, 255, (99, 48, 64, 3), np.uint8))
    monkeypatch.setattr(surprise, "render", lambda *_, **__: SimpleNamespace(pixels=next(drawn)))
    monkeypatch.setattr(surprise.sheet, "assemble", lambda found, _: cells.extend(found))
    monkeypatch.setattr(surprise.sheet, "png", lambda _: b"")
    surprise.draw_sheet(scene, 5)
    texts = [each.label for each in cells]
    form = r"\d+  (Near by, in [a-z ]+|[A-Z][a-z ]+(, by [a-z ]+| under [a-z ]+)?)"
    assert len(texts) == surprise.COUNT
    assert all(re.fullmatch(form, text) for text in texts), texts
    assert any("Near by, in" in text for text in texts)


def test_flat_pictures_are_left_out():
    image = fractals.render("seahorse", size=(64, 48), device="cpu")
    assert not surprise.is_flat(image.pixels)
    assert surprise.is_flat(image.pixels // 64 + 100)


def test_the_verb_surprise_writes_a_sheet_and_its_scenes(run):
    code, _, err = run("surprise", "seahorse", "--cpu", "-o", "sheet.png")
    assert code == 0, err
    names = sorted(os.listdir())
    assert names == sorted(["sheet.png", *(f"sheet-{k}.toml" for k in range(1, 13))])
    assert fractals.load_scene("sheet-1.toml").image.size == (1920, 1080)
    assert run("surprise", "seahorse", "--cpu", "-o", "sheet.png")[0] == 1
    assert run("surprise", "seahorse", "-o", "sheet.jpg")[0] == 2


def test_text_stands_out_in_light_and_dark():
    """WCAG 1.4.3 asks for a ratio of 4.5, here over a black and over a white picture too."""
    css = (Path(fractals.explorer.__file__).parent / "client" / "style.css").read_text("utf-8")
    themes = [dict(re.findall(r"--([\w-]+): ([^;]+);", part)) for part in css.split(":root {")[1:3]]

    def rgb(text):
        if text.startswith("#"):
            return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]), 1.0
        *parts, alpha = map(float, re.findall(r"[\d.]+", text))
        return np.array(parts), alpha

    def luminance(color):
        part = color / 255
        part = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        return part @ [0.2126, 0.7152, 0.0722]

    def ratio(first, second):
        low, high = sorted((luminance(first), luminance(second)))
        return (high + 0.05) / (low + 0.05)

    for theme in themes:
        ground, alpha = rgb(theme["ground"])
        grounds = [alpha * ground + (1 - alpha) * picture for picture in (0, 255)]
        for text in ("ink", "faint", "accent", "danger"):
            for under in (*grounds, rgb(theme["solid"])[0]):
                assert ratio(rgb(theme[text])[0], under) >= 4.5, (text, under)
        assert ratio(rgb(theme["on-accent"])[0], rgb(theme["accent"])[0]) >= 4.5
