"""The options of searches, as `fractals.rendering.options` describes them."""

from collections.abc import Callable

from fractals.rendering.options import SourceOptions, check_function, option


class SearchOptions(SourceOptions):
    """How far a search of a minibrot or of a spiral's eye goes."""

    max_period: int | None = option(
        None,
        "Highest period to search, such as 1e6 (default: by the depth of the view).",
        "That of an eye is its preperiod plus its period. By default it is `max_iterations` of the "
        'scene or, where that is "auto", at most ten million.',
    )
    progress: Callable[[str, int, int], None] | None = option(
        None, "Called as ``progress(what, steps_done, steps)`` several times a second."
    )

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        super().check()
        check_function("progress", self.progress)


class SpiralOptions(SearchOptions):
    """How the eye of a spiral is searched."""

    digits: int | None = option(
        None,
        "Decimals of the center; a zoom to 1e-N needs N (default: 50 more than the view needs).",
    )
