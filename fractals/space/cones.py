"""Where the rays of pixels start: cones go ahead of them, which the rays of a block share.

No ray meets anything before its start, as far as distances are right, so it misses nothing that it
would have met from the camera on. Its last digits differ, as other points are tried on the way.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from fractals.space import light as lights
from fractals.space import march
from fractals.space.march import Cone, Space, Starts
from fractals.space.plan import SolidPlan

SHIFTS = 3, 2, 1  # blocks of 8x8, 4x4 and 2x2 pixels
DIAGONAL = 0.75  # of a block, half of it, in sides; a little more, for the corners of panoramas
NEAR = 1.5  # radii of a cone: it goes as long as the surface is farther away
WIDEST = 0.25  # radius of a cone where it leaves the solid, of the solid's
# ``run(out, top, before, cone, camera, space)``, as of `fractals.space.march.make_starts_body`
Run = Callable[[Any, int, Starts, Cone, Any, Any], None]


class Level(NamedTuple):
    """The cones of blocks of one size."""

    shift: int
    camera: NDArray[Any]  # whose pixels are the blocks
    cone: Cone
    space: Space


def levels_of(plan: SolidPlan, camera: NDArray[Any], space: Space) -> list[Level]:
    """Return the cones of a picture, the widest ones first; none for a pair of pictures.

    `camera`: as of `fractals.space.march`. A cone is as wide as its block, and as the lens: what
    is sharp at a distance is seen within the lens up to twice as far, and then in a wider cone.
    """
    scene, solid, real = plan.scene, plan.solid, camera.dtype.type
    if scene.camera.stereo:
        return []
    lens, focus = float(camera[march.LENS]), float(camera[march.FOCUS])
    far = math.hypot(*(float(part) for part in camera[:3])) + solid.bound
    beyond = max(0.0, lens / focus - 2 * lens / far)
    levels = []
    for shift in SHIFTS:
        wider = DIAGONAL * 2**shift * plan.pixel + beyond
        most = wider * far + lens
        if most > WIDEST * solid.bound:
            continue
        numbers, step = space.numbers.copy(), scene.camera.ray_step / solid.shortness
        numbers[march.BOUND] = (solid.bound + most) ** 2
        longer = solid.longer  # as of rays: beyond where a cone ends
        numbers[march.STEP] = longer * step / (1 + wider)
        numbers[march.LEAD] = (1 / NEAR + longer - 1) / longer
        numbers[march.PULL] = 0
        cone = Cone(real(NEAR * wider / step), real(NEAR * lens / step), real(lens))
        coarse = camera.copy()
        coarse[[march.PIXEL, march.COLUMN]] *= 2**shift
        coarse[march.HALF : march.HALF + 2] /= 2**shift
        levels.append(Level(shift, coarse, cone, space._replace(numbers=numbers)))
    return levels


def started(
    levels: Sequence[Level], rows: range, width: int, shot: lights.Shot, run: Run, empty: Any
) -> lights.Shot:
    """Return a shot of some rows of a picture, whose rays start where the cones end.

    `empty`: makes an array of a shape, for `run`.
    """
    found, shift = shot.starts, 31
    for level in levels:
        found = found._replace(shift=shift - level.shift)
        shift, top = level.shift, rows.start >> level.shift
        shape = ((rows.stop - 1) >> shift) + 1 - top, -(-width >> shift)
        out = empty(shape)
        run(out, top, found, level.cone, level.camera, level.space)
        found = Starts(out, shift, top)
    return shot._replace(starts=found)
