"""Odd values of every option of formulas and colorings, key of a scene, and explorer's message."""

import inspect
import json
from collections.abc import Mapping

import pytest
from support.odd import LONG, VALUES

from fractals import FractalsError, catalog
from fractals.explorer import outside, protocol
from fractals.io.load import load_scene
from fractals.scene.model import TABLES, Scene
from fractals.scene.numbers import check_floats

FORMULAS = [(kind, name) for kind in catalog.FORMULAS for name in catalog.names(kind)]
# The keys of flames stand in tables within lists.
TRANSFORM = {"weight": 1, "color": 0.5, "variations": {"linear": 1}, "affine": [1, 0, 0, 0, 1, 0]}
DEEP = ("weight", "color", "color_speed", "opacity", "affine", "post", "xaos", "variations")


def answer(read, given):
    """Return what a reader says to a value: "" of one that it takes."""
    try:
        read(given)
    except FractalsError as error:
        said = str(error)
        assert said
        assert all(line.isprintable() and len(line) < 2000 for line in said.splitlines())
        return said
    return ""


@pytest.mark.parametrize(("kind", "name"), FORMULAS, ids=[name for _, name in FORMULAS])
def test_options_of_formulas(kind, name):
    for option in inspect.signature(catalog.load(kind, name)).parameters:
        for value in VALUES:
            table = {"formula": {"name": name, option: value}}
            said = answer(load_scene, table)
            assert len(said.splitlines()) <= 1, (option, said)
            if value is LONG:
                assert said, option


def test_a_number_beyond_all_floats_is_named():
    table = {"name": "flame", "transforms": [{**TRANSFORM, "weight": LONG}]}
    assert answer(load_scene, {"formula": table}) == (
        "formula: transforms.weight: a whole number of more than 308 digits is too large"
    )
    check_floats({"a": [10**308, -(10**308), True, "9" * 400]})


@pytest.mark.parametrize("key", DEEP)
def test_options_of_transforms(key):
    for value in VALUES:
        for given in (value, [value] * 6, {"linear": value}, {"julian": 1, "julian_power": value}):
            transforms = [{**TRANSFORM, key: given}]
            answer(load_scene, {"formula": {"name": "flame", "transforms": transforms}})


@pytest.mark.parametrize("name", catalog.names("coloring"))
def test_options_of_colorings(name):
    for option in catalog.load("coloring", name)().options:
        for value in VALUES:
            said = answer(load_scene, {"color": {"coloring": {"name": name, option: value}}})
            assert len(said.splitlines()) <= 1, (option, said)


@pytest.mark.parametrize("read", [load_scene, outside.scene_of], ids=["file", "browser"])
def test_keys_of_scenes(read):
    for value in VALUES:
        for key in Scene.model_fields:
            answer(read, {key: value})
        for table, model in TABLES.items():
            for key in model.model_fields:
                answer(read, {table: {key: value}})


@pytest.mark.parametrize("name", protocol.KINDS)
def test_values_of_messages(name):
    model = protocol.KINDS[name]
    usual = {"frame": 1, "job": 1, "seq": 1, "base": 1, "at": [1, 2], "size": [64, 48], "v": 1}
    good = {key: value for key, value in usual.items() if key in model.model_fields}
    for key in model.model_fields:
        for value in VALUES:
            if isinstance(value, bytes | complex) or value == 10**5000:
                continue  # neither of them is written to JSON
            text = json.dumps({**good, "t": name, key: value})
            answer(protocol.parse, text)
            assert isinstance(protocol.names_of(text), Mapping)
