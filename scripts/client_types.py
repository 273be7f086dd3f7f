"""Write the types of the explorer's page that are the server's: `.ci/messages.d.ts`.

They are made from the server's own declarations: messages of the page
(`fractals/explorer/protocol.py`), what the server says, the catalog and answers to uploads
(`fractals/explorer/answers.py`), and the tables of a scene (`fractals/scene`). So a key that the
server does not know is an error of `.ci/run javascript`. After a change of the declarations:

    uv run python scripts/client_types.py
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fractals.explorer.answers import SAID, Catalog, Uploaded
from fractals.explorer.protocol import KINDS
from fractals.scene.model import Scene
from fractals.scene.table import Table
from fractals.tools.schema import schema_of

FILE = Path(__file__).parents[1] / ".ci" / "messages.d.ts"
PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
    "array": "unknown[]",
}
# Values of a scene that have several forms; `.ci/globals.d.ts` says what the page knows of them
FORMS = {
    "formula": "Formula",
    "palette": "Palette",
    "coloring": "Coloring",
    "layers": "Paint[]",
}
HEAD = """\
// Written by scripts/client_types.py from fractals/explorer/protocol.py and answers.py, and from
// fractals/scene.
"""
SCENE = ("Camera", "Color", "Layer", "PictureMask", "Scene")  # names that stand alone


def kinds_of(schema: dict[str, Any]) -> list[str]:
    """Return a part of a JSON Schema as types of TypeScript, of which a value has one."""
    if "$ref" in schema:
        return [schema["$ref"].rpartition("/")[2]]
    if "const" in schema or "enum" in schema:
        found = schema.get("enum", [schema.get("const")])
        return [f'"{value}"' if isinstance(value, str) else str(value) for value in found]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return list(dict.fromkeys(kind for each in schema[union] for kind in kinds_of(each)))
    if isinstance(schema.get("type"), list):
        return [PLAIN[each] for each in schema["type"]]
    if schema.get("type") == "array":
        # The page counts no elements of equal types: a point is number[]
        items = schema.get("prefixItems", [schema.get("items", {})])
        kinds = kinds_of({"anyOf": items})
        if len({type_of(each) for each in items}) > 1:
            return [f"[{', '.join(map(type_of, items))}]"]
        return [f"({' | '.join(kinds)})[]" if len(kinds) > 1 else f"{kinds[0]}[]"]
    values = schema.get("additionalProperties")
    if schema.get("type") == "object" and isinstance(values, dict):
        return [f"Record<string, {type_of(values)}>"]
    return [PLAIN.get(schema.get("type", ""), "unknown")]


def type_of(schema: dict[str, Any]) -> str:
    """Return a part of a JSON Schema as a type of TypeScript."""
    return " | ".join(kinds_of(schema))


def namespace(name: str, kinds: Iterable[type[Table]], forms: dict[str, str]) -> list[str]:
    """Return the lines of the tables of some kinds, and of the tables in them."""
    tables: dict[str, Any] = {}
    for kind in kinds:
        schema = schema_of(kind)
        tables |= {**schema.pop("$defs"), kind.__name__: schema}
    lines = [f"declare namespace {name} {{"]
    for title, each in sorted(tables.items()):
        about = each.get("description", "").splitlines()[0]
        lines.append(f"  /** {about} */\n  interface {title} {{")
        for key, value in each["properties"].items():
            needed = key in each.get("required", [])
            written = forms.get(key) or type_of(value)
            lines.append(f"    {key.rstrip('_')}{'' if needed else '?'}: {written};")
        lines.append("  }")
    return [*lines, "}\n"]


def union(name: str, space: str, kinds: Iterable[type[Table]]) -> str:
    """Return a type that is one of some."""
    return f"type {name} =" + "".join(
        f"\n  | {space}.{each}" for each in sorted(kind.__name__ for kind in kinds)
    )


def text() -> str:
    """Return the file."""
    aliases = "\n".join(f"type {name} = Scenes.{name};" for name in SCENE)
    return "\n".join(
        [
            HEAD,
            *namespace("Sent", KINDS.values(), {}),
            f"/** A message of the page. */\n{union('Sent', 'Sent', KINDS.values())};\n",
            *namespace("Received", [*SAID.values(), Catalog, Uploaded], {}),
            f"/** A message of the server. */\n{union('Received', 'Received', SAID.values())};\n",
            *namespace("Scenes", [Scene], FORMS),
            f"{aliases}\n",
        ]
    )


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
