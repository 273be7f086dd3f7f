"""HTML of values without pictures, for notebooks."""

import html


def folded_html(title: str, text: str) -> str:
    """Return a text under its title, folded up."""
    return (
        f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
    )
