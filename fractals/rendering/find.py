"""The public searches for nuclei: `find_nucleus` and `find_period`, of the scene of any sources."""

from typing import Unpack

from fractals.deep import nucleus
from fractals.deep.newton import Progress
from fractals.deep.nucleus import Minibrot
from fractals.io.load import Source, load_scene
from fractals.rendering.options import with_keywords
from fractals.scene.keywords import SceneKeywords


@with_keywords(SceneKeywords)
def find_nucleus(
    *sources: Source,
    max_period: int | None = None,
    progress: Progress | None = None,
    **keys: Unpack[SceneKeywords],
) -> Minibrot:
    """Find the nucleus of the lowest period in a scene's view: its largest minibrot.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene, as of `fractals.load_scene`.
    max_period : int, optional
        Highest period to look for; by default the scene's `max_iterations`, or, where that is
        "auto", an estimate from the depth of the view, at most ten million.
    progress : callable, optional
        Called as ``progress(what, steps_done, steps)`` several times a second.
    **keys
        Keys of the scene, such as ``center`` and ``width``.

    Returns
    -------
    Minibrot
        Center, period, size and angle; ``minibrot.scene()`` shows it.

    Raises
    ------
    SceneError
        The scene is invalid, or shows a Julia set, which has no nuclei.
    OptionError
        A keyword is unknown, or `max_period` is less than 1.
    FractalsError
        No nucleus was found in the view; the message names the nearest.

    Examples
    --------
    >>> find_nucleus(center=(-1.75, 0), width=0.1).period
    3
    """
    return nucleus.find_nucleus(load_scene(*sources, **keys), max_period, progress)


@with_keywords(SceneKeywords)
def find_period(
    *sources: Source,
    max_period: int | None = None,
    progress: Progress | None = None,
    **keys: Unpack[SceneKeywords],
) -> int:
    """Find the lowest period of a nucleus in a scene's view.

    Parameters
    ----------
    *sources, max_period, progress, **keys
        As of `find_nucleus`.

    Returns
    -------
    int

    Raises
    ------
    SceneError, OptionError, FractalsError
        As of `find_nucleus`.

    Examples
    --------
    >>> find_period(center=(-1.75, 0), width=0.1)
    3
    """
    return nucleus.find_period(load_scene(*sources, **keys), max_period, progress)
