"""What scenes say of themselves, and the author of a picture that was made from the gallery's."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractals.scene.model import Scene

SIGNATURE = ("title", "author", "rights")  # keys that files have where other programs look
SAID = (*SIGNATURE, "note")  # keys about a picture, which change none of its pixels

HOUSE = "The fractals authors"  # of the gallery's scenes, who claim no picture made of them
# Keys that leave a picture what it is: another size is still the same picture.
SAME = ("version", *SAID, "image", "iteration")


def is_derived(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell whether two tables of scenes are of different pictures, and not of different sizes."""
    one, other = ({k: v for k, v in each.items() if k not in SAME} for each in (before, after))
    try:
        return one != other
    except ValueError:  # of an array, which says so of each element, and is in no gallery's scene
        return True


def claims_another(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell whether a table names the gallery's author, but is of another picture than `before`."""
    return after.get("author") == HOUSE and is_derived(before, after)


def unsigned(before: "Scene", after: "Scene", own: str = "") -> "Scene":
    """Return a scene that was made of another, without the gallery's author.

    `own` is the author in that place.
    """
    if after.author != HOUSE or not is_derived(before.to_values(), after.to_values()):
        return after
    return after.model_copy(update={"author": own})
