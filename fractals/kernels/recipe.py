"""ByRecipe: values that hold functions, and are pickled and copied by how they were made."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

M = TypeVar("M", bound="ByRecipe")


class ByRecipe:
    """A value whose functions may be made of text or of options, and so can't be pickled.

    A pickle holds the recipe in their place: a function and its arguments, which return an equal
    value. Without a recipe the value is pickled as any other.
    """

    recipe: ClassVar[tuple[Callable[..., Any], tuple[Any, ...]] | None] = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the recipe, for `pickle` and `copy`."""
        return self.recipe or super().__reduce_ex__(protocol)


def with_recipe(made: M, function: Callable[..., M], *arguments: Any) -> M:
    """Return a value with its recipe; the function is of a module, so that a pickle can name it."""
    object.__setattr__(made, "recipe", (function, arguments))  # the value is frozen
    return made
