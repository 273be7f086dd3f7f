"""The public searches of the scene of any sources: `find_nucleus`, `find_misiurewicz`, ..."""

from typing import Unpack

from fractals.io.load import Source
from fractals.rendering.options import read_request, with_keywords
from fractals.search import misiurewicz, nucleus
from fractals.search.keywords import SearchKeywords, SpiralKeywords
from fractals.search.misiurewicz import Misiurewicz
from fractals.search.nucleus import Minibrot
from fractals.search.options import SearchOptions, SpiralOptions


@with_keywords(SearchKeywords, SearchOptions)
def find_nucleus(*sources: Source, **keywords: Unpack[SearchKeywords]) -> Minibrot:
    """Find the nucleus of the lowest period in a scene's view: its largest minibrot.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene: gallery names, files, tables and scenes, merged from left to right.
    **keywords
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
    scene, options = read_request(sources, keywords, SearchKeywords, SearchOptions)
    return nucleus.find_nucleus(scene, options.max_period, options.progress)


@with_keywords(SearchKeywords, SearchOptions)
def find_period(*sources: Source, **keywords: Unpack[SearchKeywords]) -> int:
    """Find the lowest period of a nucleus in a scene's view.

    Parameters
    ----------
    *sources, **keywords
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
    scene, options = read_request(sources, keywords, SearchKeywords, SearchOptions)
    return nucleus.find_period(scene, options.max_period, options.progress)


@with_keywords(SpiralKeywords, SpiralOptions)
def find_misiurewicz(*sources: Source, **keywords: Unpack[SpiralKeywords]) -> Misiurewicz:
    """Find a Misiurewicz point near the center of a scene's view: the eye of a spiral.

    The critical orbit of such a point ends in a repelling cycle. Around the point the set repeats
    at each zoom by the same factor, without end. The search takes the point of the shortest period
    in a small circle around the center, then in a larger one, then in parts of the view.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene: gallery names, files, tables and scenes, merged from left to right.
    **keywords
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
    scene, options = read_request(sources, keywords, SpiralKeywords, SpiralOptions)
    return misiurewicz.find_misiurewicz(scene, options.digits, options.max_period, options.progress)
