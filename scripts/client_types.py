"""Write the types of the messages that the explorer's page sends: `.ci/messages.d.ts`.

They are made from the server's own declarations (`fractals/explorer/protocol.py`), so a key that
the server does not know is an error of `.ci/run javascript`. After a change of the declarations:

    uv run python scripts/client_types.py
"""

from pathlib import Path
from typing import Any

from fractals.explorer.protocol import KINDS
from fractals.tools.schema import schema_of

FILE = Path(__file__).parents[1] / ".ci" / "messages.d.ts"
PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
HEAD = """\
// Written by scripts/client_types.py from fractals/explorer/protocol.py.
"""


def kinds_of(schema: dict[str, Any]) -> list[str]:
    """Return a part of a JSON Schema as types of TypeScript, of which a value has one."""
    if "$ref" in schema:
        return [schema["$ref"].rpartition("/")[2]]
    if "const" in schema or "enum" in schema:
        return [f'"{value}"' for value in schema.get("enum", [schema.get("const")])]
    if "anyOf" in schema:
        return list(dict.fromkeys(kind for each in schema["anyOf"] for kind in kinds_of(each)))
    if schema.get("type") == "array":
        # The page counts no elements of a list: a point is number[]
        items = schema.get("prefixItems", [schema.get("items", {})])
        kinds = kinds_of({"anyOf": items})
        return [f"({' | '.join(kinds)})[]" if len(kinds) > 1 else f"{kinds[0]}[]"]
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return [f"Record<string, {type_of(values)}>" if isinstance(values, dict) else "Table"]
    return [PLAIN.get(schema.get("type", ""), "unknown")]


def type_of(schema: dict[str, Any]) -> str:
    """Return a part of a JSON Schema as a type of TypeScript."""
    return " | ".join(kinds_of(schema))


def text() -> str:
    """Return the file."""
    sent = sorted(kind.__name__ for kind in KINDS.values())
    tables: dict[str, Any] = {}
    for kind in KINDS.values():
        schema = schema_of(kind)
        tables |= {**schema.pop("$defs"), kind.__name__: schema}
    lines = [HEAD]
    for name, each in sorted(tables.items()):
        about = each.get("description", "").splitlines()[0]
        lines.append(f"  /** {about} */\n  interface {name} {{")
        for key, kind in each["properties"].items():
            needed = key in each.get("required", [])
            lines.append(f"    {key}{'' if needed else '?'}: {type_of(kind)};")
        lines.append("  }")
    lines.insert(1, "declare namespace Sent {")
    union = "\n  | ".join(f"Sent.{name}" for name in sent)
    lines.append(f"}}\n\n/** A message of the page. */\ntype Sent =\n  | {union};\n")
    return "\n".join(lines)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
