"""The JSON schema of tables, for editors and for the explorer's page; made when it is asked for."""

import inspect
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from fractals.scene.checks import REQUIRED, Either, JsonSchema, TableEntry
from fractals.scene.table import Table, plain_values

Schema = dict[str, Any]
UNIONS = (Union, UnionType)
NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}
LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


def schema_of(table: type[Table]) -> Schema:
    """Return the schema of a table; those of tables in it are its ``$defs``."""
    defs: Schema = {}
    whole = _table(table, defs)
    return {"$defs": dict(sorted(defs.items())), **whole}


def _table(table: type[Table], defs: Schema) -> Schema:
    entries = table.model_fields
    required = [name for name, entry in entries.items() if entry.default is REQUIRED]
    return {
        "additionalProperties": table.is_open,
        "description": inspect.getdoc(table),
        "properties": {name: _entry(entry, defs) for name, entry in entries.items()},
        **({"required": required} if required else {}),
        "title": table.__name__,
        "type": "object",
    }


def _entry(entry: TableEntry, defs: Schema) -> Schema:
    schema = _type(entry.hint, entry.limits, defs)
    hint = entry.annotation
    kinds = set(get_args(hint) if get_origin(hint) in UNIONS else [hint]) - {NoneType}
    if not all(isinstance(kind, type) and issubclass(kind, Table) for kind in kinds):
        schema["title"] = entry.name.replace("_", " ").title()
    if entry.description:
        schema["description"] = entry.description
    if entry.default is not REQUIRED:
        schema["default"] = plain_values(entry.default)
    return dict(sorted(schema.items()))


def _type(hint: Any, limits: Mapping[str, Any], defs: Schema) -> Schema:
    """Return the schema of a type; the tables in it are added to `defs`."""
    base, inner = get_origin(hint), get_args(hint)
    if base is Annotated:
        return _annotated(inner[0], inner[1:], limits, defs)
    if base in UNIONS:
        return {"anyOf": [_type(each, limits, defs) for each in inner]}
    if base is Literal:
        words = {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
        return {**words, "type": NAMES[type(inner[0])]}
    schema: Schema
    if base is dict:
        more = inner[1] is Any or _type(inner[1], {}, defs)
        schema = {"additionalProperties": more, "type": "object"}
    elif base is list or (base is tuple and inner[-1] is ...):
        schema = {"items": _type(inner[0], {}, defs), "type": "array"}
    elif base is tuple:
        parts, count = [_type(each, {}, defs) for each in inner], len(inner)
        schema = {"maxItems": count, "minItems": count, "prefixItems": parts, "type": "array"}
    elif hint is NoneType:
        return {"type": "null"}
    elif hint is Any:
        return {}
    elif hint in NAMES:
        schema = {"type": NAMES[hint]}
    else:
        if hint.__name__ not in defs:
            defs[hint.__name__] = {}  # a group of layers is in itself
            defs[hint.__name__] = _table(hint, defs)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    for name, limit in limits.items():
        said = LIMITS.get(name) or name.removesuffix("_length") + LENGTHS[schema["type"]]
        schema[said] = limit
    return dict(sorted(schema.items()))


def _annotated(hint: Any, marks: Iterable[Any], limits: Mapping[str, Any], defs: Schema) -> Schema:
    for mark in marks:
        if isinstance(mark, JsonSchema):
            return dict(sorted(mark.schema.items()))
        if isinstance(mark, TableEntry):
            limits = {**mark.limits, **limits}
    schema = _type(hint, limits, defs)
    if any(isinstance(mark, Either) for mark in marks):
        schema["oneOf"] = schema.pop("anyOf")
    return schema
