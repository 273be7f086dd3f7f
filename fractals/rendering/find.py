"""The public searches of the scene of any sources: `find_nucleus`, `find_misiurewicz`, ..."""

from typing import Unpack

from fractals.deep import misiurewicz, nucleus
from fractals.deep.misiurewicz import Misiurewicz
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
        A scene: gallery names, files, tables and scenes, merged from left to right.
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
        The scene and the options of `find_nucleus`.

    Returns
    -------
    int

    Raises
    ------
    SceneError, OptionError, FractalsError
        The view or an option is invalid, or no nucleus is found.

    Examples
    --------
    >>> find_period(center=(-1.75, 0), width=0.1)
    3
    """
    return nucleus.find_period(load_scene(*sources, **keys), max_period, progress)


@with_keywords(SceneKeywords)
def find_misiurewicz(
    *sources: Source,
    digits: int | None = None,
    max_period: int | None = None,
    progress: Progress | None = None,
    **keys: Unpack[SceneKeywords],
) -> Misiurewicz:
    """Find a Misiurewicz point near the center of a scene's view: the eye of a spiral.

    The critical orbit of such a point ends in a repelling cycle. Around the point the set repeats
    at each zoom by the same factor, without end. The search takes the point of the shortest period
    in a small circle around the center, then in a larger one, then in parts of the view.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene: gallery names, files, tables and scenes, merged from left to right.
    digits : int, optional
        Decimals of the result; by default 50 more than the view needs.
    max_period : int, optional
        Highest preperiod plus period; by default the limit of `find_nucleus`.
    progress : callable, optional
        Called as ``progress(what, steps_done, steps)`` several times a second.
    **keys
        Keys of the scene, such as ``center`` and ``width``.

    Returns
    -------
    Misiurewicz
        Center, preperiod, period, and the zoom factor and rotation after which the view repeats;
        ``misiurewicz.scene()`` shows it.

    Raises
    ------
    SceneError
        The scene is invalid, shows a Julia set, or has a formula without a complex derivative.
    OptionError
        A keyword is unknown, or `digits` or `max_period` is out of range.
    FractalsError
        No such point was found in view.

    Examples
    --------
    >>> found = find_misiurewicz("seahorse")
    >>> found.preperiod, found.period, found.factor
    (28, 2, '1.1144')
    """
    return misiurewicz.find_misiurewicz(load_scene(*sources, **keys), digits, max_period, progress)
