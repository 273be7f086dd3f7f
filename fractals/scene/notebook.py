"""HTML of scenes, for notebooks."""

import html


def folded_html(title: str, text: str) -> str:
    """Return HTML of a title that unfolds to a text."""
    return (
        f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
    )
