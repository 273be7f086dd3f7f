"""Lines for plotters: contours of a coloring, and external rays, as an SVG file.

A contour joins the points of a view where a coloring has one value; of the smooth count, these are
the equipotential lines of the set. An external ray (Douady and Hubbard, 1984) crosses them at right
angles, and is named by its angle in turns. It is followed inwards by Newton's method (Kawahira,
2009): on the ray of angle t, the n-th point of the orbit of degree d has the angle t d**n.
"""

import cmath
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import hexadecimal, srgb_from_linear
from fractals.errors import OptionError, counted, shown, to_install
from fractals.io import metadata
from fractals.io.files import as_path, check_output, written
from fractals.io.load import Source
from fractals.kernels.formula import Formula
from fractals.meant import writer_of
from fractals.rendering.fit import CURVES, first_values, fit_colors
from fractals.rendering.options import RenderOptions, read_request, with_keywords
from fractals.scene.geometry import matrix, place_of
from fractals.scene.model import Scene
from fractals.tools.keywords import TraceKeywords
from fractals.tools.options import TraceOptions

Line = NDArray[np.float64]  # points of a line in samples of the picture, shape (points, 2)
TOLERANCE = 0.1  # samples by which a line may leave the one that it simplifies
MAX_RAYS = 1024
MIN_WIDTH = 1e-10  # of a view with rays, which are followed in float64
RADIUS = 1e4  # of |z| where a ray begins: there the map is nearly z**d
STEPS = 8  # points of a ray for each iteration
MAX_DEPTH = 300  # iterations: by then a ray has come as near to its end as float64 shows
NEWTON = 20  # steps for a point
MAX_DENOMINATOR = 10**9  # of an angle, to which it is rounded
NO_XML = str.maketrans({each: f"\\u{ord(each):x}" for each in "\ufffe\uffff"})  # as in JSON


@dataclass(frozen=True, eq=False, repr=False)
class LineDrawing:
    """Lines of a scene, for a plotter; notebooks show them.

    Attributes
    ----------
    scene : Scene
        With one sample a pixel, and the coloring that the contours are those of.
    contours : list of (float, list of ndarray)
        Each value of the coloring, after its transfer, and its lines. A line has the shape (points,
        2): columns and rows, in pixels from the top left corner.
    rays : list of ndarray
        External rays, as lines.
    paper, pen : float
        Width of the drawing and of a line, in millimeters.
    colored : bool
        Whether each contour has the color of its value.
    """

    scene: Scene
    contours: list[tuple[float, list[Line]]]
    rays: list[Line]
    paper: float
    pen: float
    colored: bool

    def __repr__(self) -> str:
        return f"LineDrawing({counted(len(self), 'line')}, {self.paper:g} mm wide)"

    def __len__(self) -> int:
        return sum(len(lines) for _, lines in self.contours) + len(self.rays)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LineDrawing):
            return NotImplemented
        return self.svg() == other.svg()

    __hash__ = None  # type: ignore[assignment]  # lists can change

    def svg(self) -> str:
        """Return the text of an SVG file."""
        return svg(self.scene, self.contours, self.rays, self.paper, self.pen, self.colored)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write an SVG file, which also holds the scene.

        Parameters
        ----------
        path : str or Path
            Ending in ``.svg``.
        overwrite : bool
            True: an existing file is replaced.

        Raises
        ------
        OptionError
            The suffix is another one.
        FractalsError
            The file exists, or can't be written.
        """
        check_drawing(path, overwrite)
        with written(path, overwrite) as file:
            file.write(self.svg().encode())


def check_drawing(path: str | Path, overwrite: bool) -> None:
    """Raise a `FractalsError` where lines can't be written to a path."""
    if (suffix := as_path(path).suffix.lower()) != ".svg":
        raise OptionError(f"'{shown(path)}': lines are written to an .svg{writer_of(suffix)}")
    check_output(path, overwrite)


@with_keywords(TraceKeywords, TraceOptions)
def trace(*sources: Source, **keywords: Unpack[TraceKeywords]) -> LineDrawing:
    """Draw a scene in lines, for pen plotters and laser cutters.

    Contours join the points where the scene's coloring has one value. Those of smooth are lines of
    equal potential; distance, which is taken in place of smooth unless ``coloring`` is given,
    follows the set itself. A larger ``size`` gives finer lines.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        The scene, as for `render`.
    **keywords
        Keys of the scene, such as ``coloring`` or ``size``.

    Returns
    -------
    LineDrawing
        ``save("a.svg")`` writes it.

    Raises
    ------
    OptionError
        A keyword is invalid, the coloring has no values here, rays have no meaning for the formula
        or the view, or contourpy is missing.
    SceneError
        A source is invalid.

    Examples
    --------
    >>> lines = trace(size=(64, 48), contours=0, rays="1/3,2/3")
    >>> len(lines), "<svg" in lines.svg()
    (2, True)
    """
    scene, options = read_request(sources, keywords, TraceKeywords, TraceOptions)
    quiet = RenderOptions(device="cpu", on_message=lambda line: None)
    return draw_lines(scene, options, quiet, "coloring" in keywords)


def draw_lines(
    scene: Scene, options: TraceOptions, how: RenderOptions, chosen: bool
) -> LineDrawing:
    """Return the lines of a scene; see `trace`.

    `chosen`: whether its coloring was asked for, and stays.
    """
    angles = angles_of(options.rays)
    if not (options.contours or angles):
        raise OptionError("nothing to draw: give contours= or rays=")
    scene = scene.replace(supersampling=1, antialias="grid", layers=[])
    found = rays(scene, angles) if angles else []
    if not chosen and scene.color.coloring.name == "smooth":
        scene = fit_colors(scene.replace(coloring="distance", transfer="auto"))
    levels: list[tuple[float, list[Line]]] = []
    if options.contours:
        scale = scene.image.size[0] / options.paper
        levels = contours(
            scene, options.contours, options.pen * scale, options.shortest * scale, how
        )
    return LineDrawing(scene, levels, found, options.paper, options.pen, options.colored)


def angles_of(given: Any) -> list[Fraction]:
    """Return the angles that ``rays=`` means, in turns; `OptionError`: they are none.

    >>> [str(angle) for angle in angles_of("4")], [str(angle) for angle in angles_of("1/7,0.5")]
    (['0', '1/4', '1/2', '3/4'], ['1/7', '1/2'])
    """
    if isinstance(given, str) and given.strip().isdecimal():
        given = int(given[:10])
    try:
        if isinstance(given, int):
            if not 0 <= given <= MAX_RAYS:
                raise ValueError
            return [Fraction(k, given) for k in range(given)]
        parts = given[:10_000].split(",") if isinstance(given, str) else list(given)
        angles = [_turn(part) for part in parts[: MAX_RAYS + 1]]
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        angles = [Fraction(2)]
    if len(angles) > MAX_RAYS or any(abs(angle) > 1 for angle in angles):
        raise OptionError(
            f"rays={shown(given, 40)}: give a number of rays up to {MAX_RAYS}, or angles in turns, "
            "such as 1/3,2/3"
        )
    return angles


def _turn(given: Any) -> Fraction:
    """Return an angle in turns; a number with an exponent may have millions of digits."""
    long = isinstance(given, str) and "e" in given.lower()
    return Fraction(float(given) if long else given).limit_denominator(MAX_DENOMINATOR)


def contours(
    scene: Scene, count: int, pen: float, shortest: float, options: RenderOptions
) -> list[tuple[float, list[Line]]]:
    """Return contours of the scene's first coloring: each value, and its lines.

    Equal shares of the view lie between the values. Lines are left out where they would be closer
    than the width of the pen, and lines that are shorter than `shortest`; both are in samples.
    `OptionError`: the coloring has no values, one value only, or contourpy is missing.
    """
    try:
        from contourpy import contour_generator
    except ImportError:
        raise OptionError(f"contours need contourpy: {to_install('trace')}") from None
    if min(scene.image.size) < 2:
        raise OptionError("contours are drawn in pictures of 2x2 pixels or more: give a size=")
    values, layer = first_values(scene, options)
    values = CURVES[layer.transfer](values.astype(np.float64))
    known = np.isfinite(values)
    if not known.any() or np.ptp(values[known]) == 0:
        raise OptionError(
            f"the coloring '{layer.coloring.name}' has no two values in this view: choose another "
            "coloring or view"
        )
    levels = np.unique(np.quantile(values[known], (np.arange(count) + 0.5) / count))
    gaps = np.gradient(levels) if len(levels) > 1 else np.ptp(values[known])
    slope = np.hypot(*np.gradient(values))
    find = contour_generator(z=np.ma.masked_invalid(values)).lines
    found = []
    for level, gap in zip(levels, np.broadcast_to(gaps, len(levels)), strict=True):
        lines = []
        for line in find(level):
            column, row = np.rint(line).astype(int).T
            crowded = gap < pen * slope[row, column]  # False where no slope is known
            for part in runs(line, ~crowded):
                lines.append(simplified(part + 0.5))
        kept = [line for line in lines if length(line) >= shortest]
        if kept:
            found.append((float(level), in_order(kept)))
    return found


def runs(line: Line, kept: NDArray[np.bool_]) -> list[Line]:
    """Return the parts of a line whose points are kept, of two points or more."""
    ends = np.flatnonzero(np.diff(kept, prepend=False, append=False)).reshape(-1, 2)
    return [line[first:last] for first, last in ends if last - first > 1]


def length(line: Line) -> float:
    """Return the length of a line."""
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


def simplified(line: Line) -> Line:
    """Return a line through some of its points, never farther than TOLERANCE from the others.

    By Ramer (1972) and Douglas and Peucker (1973): the point farthest from a chord divides it.

    >>> simplified(np.array([[0, 0], [1, 0.01], [2, 0], [2, 3.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]]
    """
    keep = np.zeros(len(line), bool)
    keep[[0, -1]] = True
    parts = [(0, len(line) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        inner, chord = line[first + 1 : last] - line[first], line[last] - line[first]
        size = math.hypot(*chord)
        if size:  # distance from the chord; it may be beyond an end
            along = np.clip(inner @ chord / size**2, 0, 1)
            inner = inner - along[:, None] * chord
        away = np.hypot(*inner.T)
        far = int(away.argmax())
        if away[far] > TOLERANCE:
            keep[first + 1 + far] = True
            parts += [(first, first + 1 + far), (first + 1 + far, last)]
    return line[keep]


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Return lines in an order in which a pen travels little: each time the nearest, either way."""
    ends = np.array([[line[0], line[-1]] for line in lines])
    left = np.ones(len(lines), bool)
    at, ordered = np.zeros(2), []
    for _ in lines:
        away = np.where(left[:, None], np.hypot(*(ends - at).transpose(2, 0, 1)), np.inf)
        k, end = divmod(int(away.argmin()), 2)
        left[k] = False
        ordered.append(lines[k][:: -1 if end else 1])
        at = ordered[-1][-1]
    return ordered


def rays(scene: Scene, angles: Iterable[Fraction]) -> list[Line]:
    """Return the parts in the view of external rays, whose angles are in turns.

    `OptionError`: the formula is no power plus c, or the view is an exponential map or too deep.
    """
    formula = scene.make_any_formula()
    if not (isinstance(formula, Formula) and formula.is_power):
        raise OptionError(f"rays are those of z**d + c, and '{formula.name}' is another formula")
    if scene.view.projection != "plane":
        raise OptionError("rays are drawn in plane views: leave the projection out")
    width, center = place_of(scene)
    if width < MIN_WIDTH:
        raise OptionError(f"rays are drawn in views wider than {MIN_WIDTH:g}")
    julia = scene.julia and complex(*map(float, scene.julia))
    across, down = (n * scene.image.supersampling for n in scene.image.size)
    to_plane = np.array([float(part) for part in matrix(scene.view)]).reshape(2, 2)
    scale = float(width) / across
    found = []
    for angle in angles:
        points = np.array(ray(angle, formula.degree, julia, scale / 4))
        plane = np.stack([points.real - float(center[0]), points.imag - float(center[1])])
        x, y = np.linalg.inv(to_plane) @ plane / scale
        line = np.stack([across / 2 + x, down / 2 - y], 1)
        found += clipped(line, across, down)
    return found


def ray(
    angle: Fraction, degree: int, julia: complex | None = None, resolution: float = 1e-6
) -> list[complex]:
    """Return points of an external ray, from far outside to where it moves no more.

    `julia`: c of a Julia set; without it the ray is that of the set of all c. `resolution`: of the
    plane; points nearer to each other end the ray.

    >>> end = ray(Fraction(1, 2), 2, resolution=1e-9)[-1]
    >>> abs(end + 2) < 1e-3
    True
    """
    point = RADIUS * cmath.exp(2j * math.pi * float(angle))
    points = [point]
    turn, still = Fraction(angle), 0
    for k in range(1, MAX_DEPTH + 1):
        for part in range(STEPS):
            # |z_k| falls from RADIUS**d to RADIUS, while the angle of z_k is that of the ray
            aim = RADIUS ** (degree ** (1 - (part + 1) / STEPS))
            target = aim * cmath.exp(2j * math.pi * float(turn * degree % 1))
            new = _newton(point, target, k, degree, julia)
            if new is None:
                return points
            still = still + 1 if abs(new - point) < resolution else 0
            point = new
            points.append(point)
            if still > STEPS:
                return points
        turn = turn * degree % 1
    return points


def _newton(
    point: complex, target: complex, steps: int, degree: int, julia: complex | None
) -> complex | None:
    """Return where `steps` iterations give the target, near a point; None: it is not found."""
    for _ in range(NEWTON):
        c = point if julia is None else julia
        z, dz = point, 1 + 0j
        for _ in range(steps):
            dz = degree * z ** (degree - 1) * dz + (julia is None)
            z = z**degree + c
        if not dz or not cmath.isfinite(dz):
            return None
        move = (z - target) / dz
        point -= move
        if abs(move) <= 1e-14 * abs(point):
            break
    return point


def clipped(line: Line, width: int, height: int) -> list[Line]:
    """Return the parts of a line that lie in the picture, each with one point beyond it."""
    inside: NDArray[np.bool_] = np.all((line >= 0) & (line <= (width, height)), axis=1)
    beside = np.zeros_like(inside)
    beside[1:] |= inside[:-1]
    beside[:-1] |= inside[1:]
    return runs(line, inside | beside)


def svg(
    scene: Scene,
    contour_lines: Sequence[tuple[float, Sequence[Line]]],
    ray_lines: Sequence[Line],
    paper: float,
    pen: float,
    colored: bool,
) -> str:
    """Return the text of an SVG file.

    `paper`: width in mm; `pen`: width of a line in mm; `colored`: each contour has the color of its
    value, a group for each. The scene is in the file's description.
    """
    across, down = (n * scene.image.supersampling for n in scene.image.size)
    scale = paper / across
    tall = paper * down / across

    def path(lines: Iterable[Line]) -> str:
        return "".join(
            "M" + "L".join(f"{x:.2f} {y:.2f}".replace(".00", "") for x, y in line * scale)
            for line in lines
        )

    groups = []
    palette, color = scene.color.make_palette(), scene.color
    for k, (level, lines) in enumerate(contour_lines, 1):
        stroke = ""
        if colored:
            at = np.array([level * color.density + color.offset])
            at = at % 1 if palette.cyclic else np.clip(at, 0, 1)
            stroke = f' stroke="{hexadecimal(srgb_from_linear(palette.linear(at))[0])}"'
        groups.append(f'<path id="level-{k}" data-value="{level:.6g}"{stroke} d="{path(lines)}"/>')
    if ray_lines:
        groups.append(f'<path id="rays" d="{path(in_order(ray_lines))}"/>')
    table, said = json.dumps(scene.to_table(), ensure_ascii=False), metadata.signature_of(scene)
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{paper:g}mm" height="{tall:.2f}mm"',
        f' viewBox="0 0 {paper:g} {tall:.2f}" aria-label={quoteattr(said.get("title", "Lines"))}>',
        *([f"<title>{escape(said['title'])}</title>"] if "title" in said else []),
        f"<desc>{escape(table.translate(NO_XML))}</desc>",
        *([f"<metadata>{metadata.rdf(scene)}</metadata>"] if said else []),
        f'<g fill="none" stroke="#000" stroke-width="{pen:g}" stroke-linejoin="round">',
        *groups,
        "</g>",
        "</svg>",
    ]
    return "\n".join(text) + "\n"
