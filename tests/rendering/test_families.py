"""A family of images in one file: everything that draws asks the family of a scene's formula."""

import pytest
from support.stripes import StripesData, StripesFamily, installed, make_formula

import fractals
from fractals import catalog
from fractals.cli.verbs import run_verb as main
from fractals.explorer.packing import unpack
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.shown import RefinedView
from fractals.films.plan import STARTED
from fractals.rendering import families


@pytest.fixture
def stripes(monkeypatch):
    with installed(monkeypatch) as scene:
        yield scene


def test_a_family_in_one_file_draws(stripes, tmp_path):
    drawn = fractals.render(stripes)
    assert [int(row[0, 0]) for row in drawn.pixels] == [0, 0, 0, 100, 100, 100]
    assert fractals.plan(stripes).to_table()["method"] == "stripes"
    raw = fractals.compute(stripes)
    assert fractals.recolor(raw, palette="ember").pixels.max() == 200
    for name, write in (
        ("a.png", lambda path: fractals.render_to(path, stripes)),
        ("b.png", lambda path: fractals.recolor_to(path, raw)),
    ):
        assert write(tmp_path / name).method == "stripes"
        assert fractals.load_scene(tmp_path / name).make_any_formula() == make_formula(3)


def test_the_command_line_asks_the_family(stripes, tmp_path, capsys):
    path = str(tmp_path / "a.png")
    assert main(["render", "--formula", "stripes,every=1", "--size", "8x6", "-o", path]) == 0
    assert "stripes" in capsys.readouterr().err
    assert main(["render", "--formula", "stripes", "--dry-run"]) == 0
    assert "less than 1 s" in capsys.readouterr().out
    assert (
        main(["render", "--formula", "stripes", "--pan", "0.5,0", "-o", path, "--overwrite"]) == 0
    )
    capsys.readouterr()
    assert main(["compute", "--formula", "stripes", "-o", str(tmp_path / "a.fz")]) == 2
    assert "is kept in no store: render draws it" in capsys.readouterr().err
    assert main(["nucleus", "--formula", "stripes"]) == 2


def test_the_explorer_asks_the_family(stripes):
    scene = fractals.load_scene(stripes)
    engine = Engine("cpu", 1)
    said, sent = [], []
    view = RefinedView(
        key=("",),
        make=RefinedView.passes,
        priority=VIEW,
        engine=engine,
        scene=scene,
        frame=1,
        paint=0,
        say=lambda kind, **keys: said.append((kind, keys.get("pass"))),
        put=lambda message, frame, paint: sent.append(unpack(message)),
    )
    for _ in view.passes():
        pass
    engine.end()
    assert ("drawn", "exact") in said
    assert sent[0][1] == fractals.render(scene).pixels.tobytes()


def test_a_film_asks_the_family(stripes):
    moves = {"fps": 4, "tracks": {"formula.every": [[0, 1], [1, 4]]}}
    film = fractals.film(stripes, film=moves)
    first, *_, last = film
    assert [int(row[0, 0]) for row in first] == [0, 25700] * 3
    assert [int(row[0, 0]) for row in last] == [0, 0, 0, 0, 25700, 25700]
    plan = film.plan(measured=True)
    assert (plan.seconds, plan.samples, plan.memory) == (2 + STARTED, 4 * 48, 2**20)


def test_a_family_that_keeps_no_numbers_says_so(stripes, monkeypatch):
    for name in ("compute", "recolor"):
        monkeypatch.delattr(StripesFamily, name)
    with pytest.raises(fractals.OptionError, match="an image of the family 'stripes'"):
        fractals.compute(stripes)
    with pytest.raises(fractals.OptionError, match="no raw numbers"):
        fractals.recolor(StripesData(fractals.load_scene(stripes), None))


def test_every_family_has_what_is_asked_for():
    wanted = [name for name in vars(families.Family) if not name.startswith("_")]
    assert len(wanted) > 6
    for name in catalog.names("family"):
        family = families.load(name)
        assert family.title
        assert all(hasattr(family, each) for each in wanted)


def test_other_values_are_no_formulas():
    with pytest.raises(fractals.SceneError, match="neither a name nor a table"):
        fractals.load_scene({"formula": 7})


def test_keys_of_other_families_are_told_in_one_line(capsys, tmp_path):
    told = []
    keys = {"lens": 0.1, "ray_step": 0.5, "haze": 2, "quality": 3, "tilt": 30}
    fractals.render("mandelbrot", size=(8, 6), device="cpu", on_message=told.append, **keys)
    line = (
        "scatter.quality: for scatter images; relief.tilt: for reliefs, which have "
        "relief.heights; camera.lens, light.haze: for solids and reliefs; camera.ray_step: for "
        "solids; not used here"
    )
    assert told == [line]
    with pytest.warns(
        fractals.FractalsWarning, match=r"^scatter\.quality: for scatter images; not"
    ):
        fractals.plan("arena", quality=3, device="cpu")
    main(["render", "mandelbrot", "--lens", "0.1", "--cpu", "--dry-run"])
    assert "camera.lens: for solids and reliefs; not used here" in capsys.readouterr().err


def test_each_scene_of_the_gallery_uses_its_keys():
    assert not any(families.unused(fractals.load_scene(name)) for name in fractals.names("gallery"))


def test_statements_that_could_be_a_program_tell_what_they_were_taken_for(capsys):
    main(["render", "--formula", "z = z*z*0.1; w = w + 0*z", "--cpu", "--dry-run"])
    assert "neither x nor y were taken for those of a solid" in capsys.readouterr().err
    for formula in ("x = x*x + a; y = y + b", "z*z + c", {"name": "program", "step": "z = z*z"}):
        assert not families.unused(fractals.load_scene({"formula": formula}))


def test_supersampling_replaces_a_word_of_a_source_alone():
    draft, given = fractals.load_scene(size=(8, 6), quality="draft"), {"device": "cpu"}
    assert fractals.plan(draft, **given).samples == 48
    assert fractals.plan(draft, supersampling=3, **given).samples == 9 * 48
    assert fractals.plan(draft.replace(supersampling=3), **given).samples == 9 * 48
    assert fractals.plan(draft, supersampling=3, quality="draft", **given).samples == 48
    solid = fractals.load_scene(draft, formula="mandelbulb", supersampling=3)
    assert solid.scatter.quality == "draft"
