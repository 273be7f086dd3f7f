"""Sites: their page's modules, run by Node, give the counts and pixels of `render`, bit for bit."""

import errno
import json
import random
import re
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from support.scenes import slow_but
from support.sites import asker, drawn, needs_node, skip_unless_fused

import fractals
from fractals import catalog
from fractals.color import palette
from fractals.errors import FractalsError, OptionError
from fractals.explorer import outside
from fractals.explorer.frames import FrameView, Move, map_between, text_of
from fractals.explorer.site import tables, write
from fractals.explorer.site.write import write_site
from fractals.kernels.angles import direction
from fractals.scene.model import validate

FEW = 0.02  # share of samples near the border whose count a fused multiply-add changes
SIZE = (70, 50)
SHIP = "burning_ship"
LAYERS = [
    {"coloring": "distance", "blend": "multiply", "opacity": 0.7},
    {"coloring": "field_lines", "blend": "screen", "palette": "ink"},
]
DEEP_SCENES = {
    "armada": ["p"],
    "heirloom": ["j", "deep j"],
    "skyline": ["p", "deep p"],
    "pinwheel": ["p", "extended p"],
}
PAIRS = [("oklab", "smooth"), ("oklch", "linear"), ("srgb", "cosine")]
SCENES = {
    "home": {},
    "place": {"center": ("-1.7623", "-0.0285"), "width": "0.08", "palette": "hokusai"},
    "turned": {"coloring": "slopes", "rotation": 30, "stretch": 1.3},
    "mirror": {"coloring": "decomposition", "mirror": True, "supersampling": 3, "offset": 0.3},
    "layers": {"layers": LAYERS, "center": ("-1.76", "-0.03"), "width": "0.3"},
    "julia": {"julia": ("-1.2", "0.35"), "coloring": "final_angle"},
    "range": {"coloring": "count", "range": (3, 40), "transfer": "sqrt", "inside": "#203040"},
    "limit": {"max_iterations": 57, "escape_radius": 10, "density": 2.5},
    "deep": {
        "formula": "newton",
        "center": ("-0.45390668724265", "0.52849186224598"),
        "width": "2e-8",
    },
    "newton": {"formula": "newton"},
    "pole": {"formula": "newton", "center": ("0", "0"), "width": "1e-30", "precision": "float64"},
    "roots": {"formula": "newton", "coloring": "root"},
}


@pytest.fixture(scope="module")
def ask(site):
    """Return a function that has Node answer questions."""
    with asker(site) as found:
        yield found


def scene_of(name):
    keys = {"formula": SHIP, "size": SIZE, "supersampling": 2, **SCENES[name]}
    return fractals.load_scene({}, **keys)


@needs_node
@pytest.mark.filterwarnings("ignore:counts of up to")  # "pole"
@pytest.mark.parametrize("name", slow_but(["place", "layers", "julia", "turned", "pole"], SCENES))
def test_counts_and_pixels_are_those_of_the_cpu(ask, tmp_path, name):
    skip_unless_fused(ask)
    scene = scene_of(name)
    told, count, pixels = drawn(ask, tmp_path / "raw", scene)
    raw = fractals.compute(scene, device="cpu", threads=1)
    image = fractals.render(scene, device="cpu", threads=1)
    assert len(np.unique(raw.count)) > 1
    assert told["limit"] == image.summary.max_iterations
    assert told["offset"] == image.summary.count_offset
    assert np.array_equal(count, raw.count)
    assert np.array_equal(pixels, image.pixels)


@needs_node
@pytest.mark.parametrize("name", slow_but(["home"], ["home", "turned", "julia"]))
def test_browsers_without_relaxed_simd_draw_nearly_the_same(ask, tmp_path, name):
    scene = scene_of(name)
    _, count, pixels = drawn(ask, tmp_path / "raw", scene, "plain")
    assert (count != fractals.compute(scene, device="cpu", threads=1).count).mean() <= FEW
    image = fractals.render(scene, device="cpu", threads=1)
    assert (abs(pixels.astype(int) - image.pixels).max(2) > 2).mean() <= 2 * FEW  # of 4 samples


@needs_node
def test_palettes_have_the_numbers_of_the_program(ask, tmp_path):
    names = catalog.names("palette")
    stops = [[0.1, "#102030"], [0.4, "oklch(0.7 0.2 140)"], [0.8, "gold"]]
    own = {"stops": stops, "cyclic": False}
    given = [*names, *({**own, "space": space, "blend": blend} for space, blend in PAIRS)]
    asked = [
        {"do": "lookup", "palette": each, "inside": "#0af", "encoded": False}
        | {"file": str(tmp_path / str(k))}
        for k, each in enumerate(given)
    ]
    assert not [each for each in ask(*asked) if "error" in each]
    for k, each in enumerate(given):
        made = palette.load(each) if isinstance(each, str) else palette.parse(each)
        found = np.frombuffer((tmp_path / str(k)).read_bytes(), np.float32).reshape(-1, 3)
        true = made.lookup("#00aaff")
        assert abs(found - true).max() < 1e-7, each
        assert (found == true).mean() > 0.9, each  # the others are nearly 0


@needs_node
def test_blocks_are_whole_tiles_and_large_only_where_a_view_is_quick(ask):
    views = [(2, 300, 1), (2, 300, 2), (2, 300, 8), (2, 3000, 1)]
    views += [(3, 300, 1), (3, 3000, 1), (100, 300, 1)]
    (told,) = ask({"do": "sides", "views": views})
    sides = dict(zip(views, told["answer"], strict=True))
    assert sides[2, 300, 1] == 4 * sides[2, 3000, 1]
    assert sides[2, 300, 2] == 2 * sides[2, 3000, 1]
    assert sides[2, 300, 8] == sides[2, 3000, 1]
    for (n, _, _), side in sides.items():
        assert side % max(1, 64 // n) == 0
        assert side >= 100


@needs_node
def test_angles_have_the_directions_of_the_program(ask):
    """Functions of browsers and C libraries differ in last bits, which moves samples."""
    chance = random.Random(5)
    angles = [0, 90, -180, 30, 5e-324, -13.7, *(chance.uniform(-360, 360) for _ in range(200))]
    (told,) = ask({"do": "directions", "angles": angles})
    assert told["answer"] == [list(direction(angle)) for angle in angles]


@needs_node
@pytest.mark.parametrize("keys", [{"antialias": "jittered"}, {"gamut": "p3"}, {}])
def test_a_page_says_what_the_program_draws_otherwise(ask, tmp_path, keys):
    told, _, pixels = drawn(ask, tmp_path / "raw", scene_of("limit").replace(**keys))
    plain = drawn(ask, tmp_path / "raw", scene_of("limit"))[2]
    assert np.array_equal(pixels, plain)
    words = {"antialias": "jittered samples", "gamut": "HDR and wide gamuts"}
    assert [key for key, said in words.items() if said in told["note"]] == list(keys)


@needs_node
@pytest.mark.parametrize("view", [{}, {"rotation": 20.5, "stretch": 1.2}, {"mirror": True}])
def test_moves_end_at_the_places_of_the_server(ask, view):
    chance = random.Random(str(view))
    table = {"formula": SHIP, "view": {**view, "center": ["-1.7623", "-0.0285"], "width": "0.08"}}
    scene, size = validate(table), (640, 401)

    def some(most):
        return chance.choice([0, chance.randint(-most, most)])

    moves = [
        {
            "at": [chance.randint(0, 16 * side) for side in size],
            "by": [some(3000), some(3000)],
            "scale": some(150),
            "turn": some(4000),
        }
        for _ in range(60)
    ]
    question = {"do": "moves", "scene": scene.to_table(), "size": size, "moves": moves}
    place = FrameView.of(scene, size)
    for move, told in zip(moves, ask(question)[0]["answer"], strict=True):
        before = place
        at, by = tuple(move["at"]), tuple(move["by"])
        place = before.moved(Move(at, by, move["scale"], move["turn"]))
        true = place.scene().view
        assert told["view"]["center"] == list(true.center)
        assert told["view"]["width"] == true.width
        assert told["view"]["rotation"] == true.rotation
        assert told["at"] == list(text_of(place, (160, 80)))
        assert told["map"] == pytest.approx(map_between(before, place), rel=1e-9, abs=1e-6)


@needs_node
@pytest.mark.parametrize("name", ["place", "layers", "julia"])
def test_links_are_those_of_the_program(ask, name):
    scene = scene_of(name)
    link, table = ask(
        {"do": "link", "scene": scene.to_table()},
        {"do": "table", "link": outside.link_of(scene)},
    )
    assert outside.of_link(link["answer"]) == scene
    assert validate(table["answer"]) == scene
    told = ask({"do": "table", "link": link["answer"][:-30]})[0]
    assert "damaged" in told["error"]


@needs_node
@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"coloring": "stripe_average"}, "program"),
        ({"coloring": "root"}, "those of 'burning_ship' escape"),
        ({"formula": "mandelbulb"}, "fractals explore"),
        ({"center": ("1e400", "2")}, "1e400 from 0"),
        ({"formula": "newton", "center": ("0.3", "0.3"), "width": "1e-30"}, "any depth"),
        ({"layers": [{"layers": [{"coloring": "count"}]}]}, "groups"),
        ({"formula": {"name": "newton", "power": 9}}, "power"),
    ],
)
def test_what_a_site_can_not_draw_it_says(ask, tmp_path, keys, word):
    table = fractals.load_scene({}, **{"formula": SHIP, **keys}).to_table()
    (told,) = ask({"do": "draw", "scene": table, "file": str(tmp_path / "raw")})
    assert word in told["error"]


@needs_node
@pytest.mark.parametrize(
    "table",
    [
        {"view": {"width": "abc"}},
        {"view": {"width": "-1"}},
        {"view": {"center": ["1"]}},
        {"iteration": {"max_iterations": 1.5}},
        {"color": {"palette": "nope"}},
        {"color": {"coloring": "nope"}},
        {"color": {"inside": "no color"}},
        {"formula": "nope"},
        {"image": 3},
    ],
)
def test_bad_scenes_are_answered_by_a_line(ask, tmp_path, table):
    scene = {"formula": SHIP} | table
    (told,) = ask({"do": "draw", "scene": scene, "file": str(tmp_path / "raw")})
    assert 10 < len(told["error"]) < 300
    assert "\n" not in told["error"]
    assert not re.search(r"undefined|null|NaN|not a function|TypeError", told["error"])


def test_a_site_asks_for_its_own_files_only(site):
    for path in [site / "index.html", *(site / "client").rglob("*.js")]:
        text = path.read_text()
        assert not re.search(r"""["'`(]/(client|catalog|thumbnail)""", text), path
        for name in re.findall(r'(?:from|import\() ?"(\.[^"]+)"', text):
            assert (path.parent / name).is_file(), (path, name)
    page = (site / "index.html").read_text()
    for name in re.findall(r'(?:href|src)="([^"#]+)"', page):
        assert (site / name).is_file(), name
    assert "client/site/start.js" in page


def test_a_sites_catalog_has_what_it_can_draw(site):
    found = json.loads((site / "catalog.json").read_text())
    assert {each["name"] for each in found["formulas"]} == {SHIP, "newton"}
    scenes = {each["name"] for each in found["scenes"]}
    assert "armada" in scenes
    assert not scenes & {"seahorse", "caldera"}
    for name in scenes:
        assert (site / "thumbnail/scene" / name).read_bytes()


def test_most_formulas_colorings_and_flat_scenes_are_drawn():
    assert len(tables.formulas()) > 90
    assert len(tables.colorings()) > 20
    assert len(tables.scenes()) > 25
    assert {"caravan", "skyline", "wheels"} <= tables.scenes().keys()  # deep ones


def test_deep_scenes_need_deep_programs():
    names = {name: tables.program_names(validate(tables.scenes()[name])) for name in DEEP_SCENES}
    assert names == DEEP_SCENES


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OptionError, match="other files"):
        write_site(tmp_path, formulas=(SHIP,))
    with pytest.raises(OptionError, match="is a file"):
        write_site(tmp_path / "mine.txt", formulas=(SHIP,))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(OptionError, match="no site has the formula 'nope'"):
        write_site(tmp_path / "new", formulas=("nope",))
    with pytest.raises(OptionError, match="did you mean 'burning_ship'"):
        write_site(tmp_path / "new", formulas=("newton", "burning_shp"))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("count", [1, 6, 23, 194])
def test_progress_is_told_from_the_first_file_on(monkeypatch, count):
    monkeypatch.setattr(write, "_made", lambda some: ((each["name"], "") for each in some))
    said = []
    assert write._make_programs([{"name": str(k)} for k in range(count)], 1, said.append) == {}
    first, *others = said
    assert first.startswith(f"{count} file")
    assert min(count, 7) <= len(others) <= write.LINES
    assert all(first.split(":")[0] in line for line in others)


def test_a_process_that_does_not_start_is_an_error(monkeypatch):
    """Its thread ended, and the site told of files that were not there."""

    def made(some):
        raise BlockingIOError("no process is free")

    monkeypatch.setattr(write, "_made", made)
    with pytest.raises(FractalsError, match="no process is free"):
        write._make_programs([{"name": "0"}], 1, str)


@pytest.fixture(scope="module")
def gallery():
    """Return the scenes that a site can draw, looked at once."""
    return tables.scenes()


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["programs", "page"])
def test_a_site_that_can_not_be_finished_leaves_what_was_there(
    tmp_path, monkeypatch, problem, moment, gallery
):
    monkeypatch.setattr(tables, "scenes", lambda: gallery)

    def made(asked, processes, on_message):
        Path(asked[0]["folder"], "colors.bin").write_text("programs")
        if moment == "programs":
            raise problem
        return {}

    def page(where, formulas, scenes):
        (where / "index.html").write_text("page")
        raise problem

    whole = write._write_page
    monkeypatch.setattr(write, "_make_programs", made)
    monkeypatch.setattr(write, "_write_page", page)
    new, old = tmp_path / "some" / "new", tmp_path / "old"
    ends = FractalsError, KeyboardInterrupt
    with pytest.raises(ends, match=r"disk full|^$"):
        write.write_site(new, formulas=(SHIP,))
    assert list(tmp_path.iterdir()) == []
    moment = "page"
    monkeypatch.setattr(write, "_write_page", whole)
    write.write_site(old, formulas=(SHIP,))
    (old / "CNAME").write_text("mine")
    before = {path: path.stat().st_mtime_ns for path in old.rglob("*") if path.is_file()}
    (old / write.UNFINISHED).mkdir()  # of a process that was killed
    monkeypatch.setattr(write, "_write_page", page)
    with pytest.raises(ends, match=r"disk full|^$"):
        write.write_site(old, formulas=("newton",))
    assert {path: path.stat().st_mtime_ns for path in old.rglob("*") if path.is_file()} == before
    monkeypatch.setattr(write, "_write_page", whole)
    write.write_site(old, formulas=("newton",))
    assert (old / "CNAME").read_text() == "mine"
    assert "newton" in (old / "catalog.json").read_text()
    assert not (old / write.UNFINISHED).exists()


def test_a_site_that_is_ended_begins_no_other_file(monkeypatch):
    """The program went on with all files after SIGTERM."""
    begun, ended = threading.Event(), threading.Event()
    made, workers = [], []

    def slow(some):
        for each in some:
            made.append(each["name"])
            begun.set()
            ended.wait()
            yield each["name"], ""

    def join(worker):
        workers.append(worker)
        begun.wait()
        raise SystemExit(143)

    monkeypatch.setattr(write, "_made", slow)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", join)
        with pytest.raises(SystemExit):
            write._make_programs([{"name": str(k)} for k in range(20)], 1, str)
    ended.set()
    workers[0].join()
    assert made == ["0"]


def test_a_scene_that_a_site_can_not_draw_is_refused(tmp_path):
    scene = fractals.load_scene({}, formula="mandelbulb")
    with pytest.raises(OptionError, match="escape time"):
        write_site(tmp_path / "new", scene, formulas=(SHIP,))
    assert not (tmp_path / "new").exists()


def test_a_formula_whose_programs_can_not_be_made_is_left_out(tmp_path, monkeypatch):
    def made(asked, processes, on_message):
        return {each["name"]: "no sine" for each in asked if "newton" in json.dumps(each)}

    monkeypatch.setattr(write, "_make_programs", made)
    said = []
    write.write_site(tmp_path / "new", formulas=(SHIP, "newton"), on_message=said.append)
    facts = json.loads(zlib.decompress((tmp_path / "new" / write.MARK).read_bytes()))
    assert list(facts["formulas"]) == [SHIP]
    assert facts["first"] == {"formula": {"name": SHIP}}
    assert "basins" not in facts["scenes"]
    assert any("newton,power=3" in line and "no sine" in line for line in said)
    with pytest.raises(FractalsError, match="no sine"):
        write.write_site(tmp_path / "new", formulas=("newton",))
