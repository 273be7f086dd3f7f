"""Makes the HTML that notebooks show, and xarray Datasets of raw numbers."""

import base64
import html
from collections.abc import Mapping
from typing import Any

from fractals.errors import OptionError

INSTALL = "pip install 'fractals-numba[notebook]'"


def timings_html(timings: Mapping[str, float]) -> str:
    """Return a table of the seconds of each stage that took any."""
    spent = {stage: seconds for stage, seconds in timings.items() if seconds > 0}
    if not spent:
        return ""
    heads = "".join(f"<th>{html.escape(stage)}</th>" for stage in spent)
    cells = "".join(f"<td>{seconds:.3g} s</td>" for seconds in spent.values())
    return f"<table><tr>{heads}</tr><tr>{cells}</tr></table>"


def picture_html(data: bytes, facts: str) -> str:
    """Return a PNG, and a line of facts under it."""
    source = base64.b64encode(data).decode()
    return (
        f'<figure><img src="data:image/png;base64,{source}">'
        f"<figcaption>{html.escape(facts)}</figcaption></figure>"
    )


def dataset(planes: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
    """Return an xarray Dataset of arrays of shape (height, width), which are not copied.

    Raises
    ------
    OptionError
        The package xarray is not installed.
    """
    try:
        import xarray
    except ImportError:
        raise OptionError(f"xarray is not installed: {INSTALL}") from None
    variables = {name: (("row", "column"), plane) for name, plane in planes.items()}
    return xarray.Dataset(variables, attrs=dict(facts))
