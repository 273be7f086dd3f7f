"""The checks that tables make of the annotations of their keys, and what tables are as values."""

import copy
import inspect
import json
import math
import pickle
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fractals import Scene, catalog
from fractals.errors import OptionError, SceneError
from fractals.io.load import load_scene
from fractals.scene.checks import REQUIRED, After, Before, Either, entry
from fractals.scene.film import FilmSettings, Key, KeyCamera, Sound
from fractals.scene.model import TABLES, validate
from fractals.scene.numbers import ExactFloat
from fractals.scene.paint import ColoringName, Layer, LayerGroup, PictureMask
from fractals.scene.table import Table
from fractals.tools.schema import schema_of

ALL = (Scene, *TABLES.values(), Layer, LayerGroup, PictureMask, FilmSettings, Key, KeyCamera, Sound)
ENTRIES = [(table, name) for table in ALL for name in table.model_fields]


def name_of(part):
    return getattr(part, "__name__", part)


class Sample(Table):
    """A table of all kinds of values."""

    switch: bool = False
    count: int = entry(3, "how many", ge=1, lt=10**30)
    share: float = entry(0.5, gt=0, le=1)
    text: str = entry("", max_length=5)
    word: Literal["auto", "log"] = "auto"
    pair: tuple[float, int] = (0.0, 1)
    many: tuple[int, ...] = entry((), min_length=1, max_length=3)
    named: dict[str, float] = entry({}, max_length=2)
    maybe: int | None = None
    some: float | Literal["all"] | tuple[int, ...] = 1.0
    changed: Annotated[int, Before(abs), After(lambda value: 2 * value)] = 0
    inner: "Inner | None" = None


class Inner(Table):
    """A table in a table."""

    size: int
    kind: Annotated[int | str, Either(lambda given: isinstance(given, str))] = 0

    def check(self) -> None:
        """Raise an error for one value."""
        if self.size == 13:
            raise ValueError("13 is not taken")


Sample.model_fields["inner"].belong("inner", Inner | None, False)


class Loose(Sample):
    """A table with values of any kind, which are kept as they are."""

    whole: Any = None


class Strict(Table):
    """A table of a message."""

    is_strict = True
    switch: bool = False
    count: int = 0
    share: float = 0.0
    listed: list[int] = entry([])
    code: str = entry("0", pattern="[0-9]+")


KEPT = [
    *(("switch", each, True) for each in (True, 1, 1.0, "true", "YES", "on", np.True_)),
    *(("switch", each, False) for each in (False, 0, "0", "off", np.int64(0))),
    *(("count", each, 7) for each in (7, 7.0, "7", " 7 ", "+7", "7.00", Decimal(7), Fraction(7))),
    *(("count", each, 7) for each in (np.int64(7), np.float32(7), np.array(7))),
    ("count", True, 1),
    ("count", "1_000", 1000),
    ("count", 2**62 + 1, 2**62 + 1),
    ("count", np.int64(2**62 + 1), 2**62 + 1),
    *(("share", each, 0.5) for each in (0.5, "0.5", " 5e-1 ", Fraction(1, 2), np.float32(0.5))),
    ("share", True, 1.0),
    ("share", ExactFloat("0.50"), 0.5),
    ("text", "é", "é"),
    ("pair", ["1", 2.0], (1.0, 2)),
    ("pair", np.array([1, 2]), (1.0, 2)),
    ("many", {1}, (1,)),
    ("many", range(1, 3), (1, 2)),
    ("named", {"a": "1"}, {"a": 1.0}),
    ("maybe", "4", 4),
    ("some", "all", "all"),
    ("some", "2", 2.0),
    ("some", [1, 2], (1, 2)),
    ("changed", -4, 8),
    ("inner", {"size": 3}, Inner(size=3)),
    ("inner", {"size": 3, "kind": "x"}, Inner(size=3, kind="x")),
    ("whole", (object,), (object,)),
]


@pytest.mark.parametrize(("key", "value", "kept"), KEPT)
def test_a_value_is_kept_as_its_type_says(key, value, kept):
    found = getattr(Loose(**{key: value}), key)
    assert found == kept
    assert type(found) is type(kept)
    again = Loose(**{key: found // 2 if key == "changed" else found})
    assert getattr(again, key) == kept


NINES = "9" * 40 + "..."
FAULTS = [
    ({"switch": 2}, ["switch: '2' is not true or false"]),
    ({"switch": " yes"}, ["switch: ' yes' is not true or false"]),
    ({"count": 0}, ["count: '0' is not 1 or more"]),
    ({"count": 10**30}, ["count: '1000000000000000000000000000000' is not less than 1e+30"]),
    ({"count": 1.5}, ["count: '1.5' is not a whole number"]),
    ({"count": math.inf}, ["count: 'inf' is not a whole number"]),
    ({"count": "1e3"}, ["count: '1e3' is not a whole number"]),
    ({"count": "٣"}, ["count: '٣' is not a whole number"]),
    ({"count": b"3"}, ["count: 'b'3'' is not a whole number"]),
    ({"count": "9" * 5000}, [f"count: '{NINES}' is not a whole number of less than 4300 digits"]),
    ({"share": 0}, ["share: '0' is not more than 0"]),
    ({"share": "1.1"}, ["share: '1.1' is not 1 or less"]),
    ({"share": math.nan}, ["share: 'nan' is not a finite number"]),
    ({"share": "inf"}, ["share: 'inf' is not a finite number"]),
    ({"share": 10**400}, [f"share: '1{'0' * 39}...' is not a finite number"]),
    ({"share": 1j}, ["share: '1j' is not a number"]),
    ({"share": "٣"}, ["share: '٣' is not a number"]),
    ({"share": None}, ["share: 'None' is not a number"]),
    ({"text": 3}, ["text: '3' is not a text"]),
    ({"text": "123456"}, ["text: more than 5 characters"]),
    ({"text": "\ud800"}, ["text: '\\ud800' is no Unicode text"]),
    ({"word": "lgo"}, ["word: 'lgo' is not 'auto' or 'log'; did you mean 'log'?"]),
    ({"word": ["auto"]}, ["word: '['auto']' is not 'auto' or 'log'"]),
    ({"pair": [1]}, ["pair: value 2 is missing"]),
    ({"pair": []}, ["pair: value 1 is missing", "pair: value 2 is missing"]),
    ({"pair": [1, 2, 3]}, ["pair: more than 2 values"]),
    ({"pair": ["a", "b"]}, ["pair.0: 'a' is not a number", "pair.1: 'b' is not a whole number"]),
    ({"pair": "1,2"}, ["pair: '1,2' is not a list of values such as [1920, 1080]"]),
    ({"pair": np.array(1)}, ["pair: '1' is not a list of values such as [1920, 1080]"]),
    ({"many": []}, ["many: fewer than 1 value"]),
    ({"many": [1, 2, 3, "x"]}, ["many: more than 3 values"]),
    ({"named": [1]}, ["named: '[1]' is not a table"]),
    ({"named": {"a": "x", 3: 1}}, ["named.3: '3' is not a text", "named.a: 'x' is not a number"]),
    ({"named": dict.fromkeys("abc", 1)}, ["named: more than 2 values"]),
    ({"maybe": "x"}, ["maybe: 'x' is not a whole number"]),
    (
        {"some": "al"},
        [
            "some: 'al' is not a number",
            "some: 'al' is not 'all'; did you mean 'all'?",
            "some: 'al' is not a list of values such as [1920, 1080]",
        ],
    ),
    ({"inner": 3}, ["inner: '3' is not a table"]),
    ({"inner": {}}, ["inner.size: a value is missing"]),
    ({"inner": {"size": 13}}, ["inner: 13 is not taken"]),
    ({"inner": {"size": 1, "siz": 1}}, ["inner.siz: unknown key; did you mean 'size'?"]),
    ({"inner": {"size": 1, "kind": []}}, ["inner.kind: '[]' is not a whole number"]),
    (
        {"size": 1},
        [
            "size: unknown key; 'size' belongs in the table [inner]; in Python "
            "scene.replace() takes it"
        ],
    ),
]


@pytest.mark.parametrize(("values", "said"), FAULTS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_value(values, said):
    with pytest.raises(SceneError) as caught:
        Sample.model_validate(values)
    assert str(caught.value).splitlines() == said


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"switch": 1}, "switch: '1' is not true or false"),
        ({"count": True}, "count: 'True' is not a whole number"),
        ({"count": 1.0}, "count: '1.0' is not a whole number"),
        ({"count": "1"}, "count: '1' is not a whole number"),
        ({"share": "1"}, "share: '1' is not a number"),
        ({"share": False}, "share: 'False' is not a number"),
        ({"listed": [1, "2"]}, "listed.1: '2' is not a whole number"),
        ({"code": "12x"}, "code: '12x' is not a text such as [0-9]+"),
        ({"code": "12\n"}, "code: '12\\n' is not a text such as [0-9]+"),
    ],
)
def test_a_strict_table_takes_no_text_for_a_number(values, said):
    with pytest.raises(SceneError) as caught:
        Strict(**values)
    assert str(caught.value) == said
    made = Strict(switch=True, count=2, share=3, listed=[4], code="12")
    assert repr(made) == "Strict(switch=True, count=2, share=3.0, listed=[4], code='12')"


@pytest.mark.parametrize(("table", "name"), ENTRIES, ids=name_of)
def test_a_default_is_what_its_check_returns(table, name):
    """Values that are the default are not checked."""
    own = table.model_fields[name]
    if own.default is REQUIRED or own.default is None:
        assert own.default is REQUIRED or type(None) in own.annotation.__args__
        return
    found = own.check(own.default)
    assert found == own.default
    assert type(found) is type(own.default)


LIMITED = [
    (table, name)
    for table, name in ENTRIES
    if {"ge", "gt", "le", "lt"} & table.model_fields[name].limits.keys()
]


@settings(max_examples=400)
@given(st.sampled_from(LIMITED), st.floats(-1.5, 1.5), st.floats(allow_nan=False), st.booleans())
def test_numbers_within_their_limits_are_kept_and_others_are_errors(which, share, wild, as_text):
    table, name = which
    own = table.model_fields[name]
    limits = own.limits
    least = limits.get("ge", limits.get("gt", -1e9))
    most = limits.get("le", limits.get("lt", 1e9))
    value = wild if abs(share) > 1.4 else (least + most) / 2 + share * (most - least) / 2
    is_whole = own.default is not None and type(own.default) is int
    if is_whole and math.isfinite(value):
        value = int(value)
    good = (
        math.isfinite(value)
        and value >= least
        and value <= most
        and not ("gt" in limits and value == least)
        and not ("lt" in limits and value == most)
    )
    given = repr(value) if as_text else value
    if good:
        found = own.check(given)
        assert found == value
        assert type(found) is (int if is_whole else float)
    else:
        with pytest.raises(ValueError, match=re.escape(f"'{given}'"[:40])):
            own.check(given)


def test_a_table_is_a_value():
    one, other = Sample(count=4, inner={"size": 2}), Sample(count="4", inner={"size": 2})
    assert one == other
    assert Scene(title="x") == Scene(title="x") != Scene(title="y")
    assert hash(Scene(title="x")) == hash(Scene(title="x"))
    assert Layer() != LayerGroup(layers=[{}])
    assert Sample() != Sample().model_dump()
    for same in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert same == one
        assert same.model_fields_set == {"count", "inner"}
    with pytest.raises(AttributeError, match="scenes never change"):
        del one.count
    with pytest.raises(AttributeError, match="'Sample' object has no attribute 'foo'"):
        _ = one.foo
    first, second = Sample(), Sample()
    first.named["a"] = 1.0
    assert second.named == {}
    assert Sample().named == {}


def test_keys_of_options_are_texts():
    with pytest.raises(SceneError, match=r"^formula\.5: unknown key$"):
        validate({"formula": {"name": "multibrot", 5: 1}})


def test_a_copy_has_other_values_that_are_not_checked():
    one = Sample(count=4)
    two = one.model_copy(update={"share": 0.25})
    assert (two.count, two.share, one.share) == (4, 0.25, 0.5)
    assert two.model_fields_set == {"count", "share"}
    named = ColoringName(name="stripe_average", density=3)
    again = named.model_copy(update={"density": 5, "name": "stripe_average"})
    assert again == ColoringName(name="stripe_average", density=5)
    assert (again.density, again.model_extra) == (5, {"density": 5})
    assert again != named


def test_plain_values():
    made = Loose(pair=[1, 2], named={"a": 1}, inner={"size": 1}, some=[1], whole={"k": (1, 2)})
    python = made.model_dump(exclude_none=True, exclude={"switch"})
    assert python["pair"] == (1.0, 2)
    assert python["inner"] == {"size": 1, "kind": 0}
    assert "maybe" not in python
    assert "switch" not in python
    plain = made.model_dump(mode="json")
    assert json.loads(json.dumps(plain)) == plain
    assert plain["some"] == [1]
    assert plain["whole"] == {"k": [1, 2]}
    assert Sample(count=5, share=0.5).model_dump(exclude_defaults=True) == {"count": 5}
    exact = Loose(whole=[ExactFloat("0.30")])
    assert type(exact.model_dump()["whole"][0]) is ExactFloat
    assert type(exact.model_dump(mode="json")["whole"][0]) is float
    named = load_scene(coloring={"name": "stripe_average", "density": 3}).color
    assert named.coloring.density == 3
    assert named.model_dump()["coloring"] == {"name": "stripe_average", "density": 3}
    assert load_scene().color.model_dump()["coloring"] == "smooth"


def test_rare_keys_are_not_written_where_they_have_their_defaults():
    class Picture(Table):
        size: int = entry(1)
        inner: Inner = entry(Inner(size=2), rare=True)
        seldom: int = entry(3, rare=True)

    class Page(Table):
        picture: Picture = Picture()

    both = {"size": 1, "inner": {"size": 2, "kind": 0}, "seldom": 3}
    assert Page().model_dump() == {"picture": both}
    assert Page().model_dump(exclude_rare=True) == {"picture": {"size": 1}}
    given = Page(picture={"inner": {"size": 4}, "seldom": 3})
    found = given.model_dump(exclude_rare=True)
    assert found == {"picture": {"size": 1, "inner": {"size": 4, "kind": 0}}}


def test_classes_show_their_keys():
    shown = str(inspect.signature(Sample))
    assert shown.startswith("(*, switch=False, count=3, share=0.5, text='', word='auto', pair=(")
    assert "view=View(), image=ImageSettings()" in str(inspect.signature(Scene))
    assert str(inspect.signature(Sound)) == "(*, file, start=0.0)"
    with pytest.raises(OptionError, match=r"Sample\('x'\): give values by key"):
        Sample("x")


@pytest.mark.parametrize("name", catalog.names("gallery"))
def test_scenes_of_the_gallery_are_what_they_were_written_as(name):
    scene = load_scene(name)
    values = scene.to_values()
    assert validate(values) == scene
    assert validate(json.loads(json.dumps(values))) == scene


# --- The JSON schema


def schemas_in(schema):
    """Yield a schema, and all schemas in it."""
    if isinstance(schema, Mapping):
        yield schema
        for value in schema.values():
            yield from schemas_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from schemas_in(value)


def test_the_schema_has_all_keys_their_limits_and_their_meanings():
    schema = schema_of(Scene)
    assert set(schema) == {"$defs", *schema_of(TABLES["view"])}
    assert set(schema["$defs"]) >= {table.__name__ for table in ALL[1:]}
    for part in schemas_in(schema):
        if "$ref" in part:
            assert part["$ref"].removeprefix("#/$defs/") in schema["$defs"]
    for table, name in ENTRIES:
        own = schema if table is Scene else schema["$defs"][table.__name__]
        found, entries = own["properties"][name], table.model_fields[name]
        assert found.get("description", "") == entries.description or not entries.description
        assert ("default" in found) == (entries.default is not REQUIRED)
        inner = found["anyOf"][0] if "anyOf" in found else found
        for limit, word in {"ge": "minimum", "lt": "exclusiveMaximum"}.items():
            assert inner.get(word) == entries.limits.get(limit)
    assert schema["$defs"]["LayerGroup"]["required"] == ["layers"]
    assert schema["properties"]["title"]["maxLength"] == 1000


def test_the_schema_of_each_kind_of_value():
    found = schema_of(Sample)["properties"]
    number, whole = {"type": "number"}, {"type": "integer"}
    assert found["pair"]["title"] == "Pair"
    assert "title" not in found["inner"]
    for part in found.values():
        part.pop("title", None)
    assert found == {
        "switch": {"default": False, "type": "boolean"},
        "count": {
            "default": 3,
            "description": "how many",
            "exclusiveMaximum": 10**30,
            "minimum": 1,
            "type": "integer",
        },
        "share": {"default": 0.5, "exclusiveMinimum": 0, "maximum": 1, "type": "number"},
        "text": {"default": "", "maxLength": 5, "type": "string"},
        "word": {"default": "auto", "enum": ["auto", "log"], "type": "string"},
        "pair": {
            "default": [0.0, 1],
            "maxItems": 2,
            "minItems": 2,
            "prefixItems": [number, whole],
            "type": "array",
        },
        "many": {"default": [], "items": whole, "maxItems": 3, "minItems": 1, "type": "array"},
        "named": {
            "additionalProperties": number,
            "default": {},
            "maxProperties": 2,
            "type": "object",
        },
        "maybe": {"anyOf": [whole, {"type": "null"}], "default": None},
        "some": {
            "anyOf": [
                number,
                {"const": "all", "type": "string"},
                {"items": whole, "type": "array"},
            ],
            "default": 1.0,
        },
        "changed": {"default": 0, "type": "integer"},
        "inner": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}], "default": None},
    }
