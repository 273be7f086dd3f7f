"""Moves of a solid's camera: around it, towards it, in flight; and what a pixel shows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.python import PythonBackend
from fractals.errors import OptionError
from fractals.rendering.moves import no_camera
from fractals.scene.model import Scene
from fractals.scene.picture import LARGEST
from fractals.space import march
from fractals.space.plan import (
    PALETTE,
    SolidPlan,
    across_of,
    axes_of,
    distance_at,
    effort_of,
    place_of,
    space_in_python,
    steps_for,
    sun_of,
    unit,
)
from fractals.space.solid import Solid

STEEPEST = math.radians(88)  # above or below the target to which a camera looks or goes
SIGHT_FOOTPRINT = 1e-4  # of a ray that looks where the surface is, at distance 1
STRIDE = 0.25  # of the distance to the surface, that a flight goes at once
FASTEST = 2.0  # radii of the solid, of a flight by one distance
CLOSEST = 1e-6  # of a target, in distances to the one before


def solid_of(scene: Scene) -> Solid:
    """Return the solid of a scene; `OptionError`: its formula is no solid."""
    solid = scene.make_any_formula()
    if not isinstance(solid, Solid):
        raise no_camera(scene)
    return solid


def orbited(scene: Scene, right: float, up: float, nearer: float) -> Scene:
    """Return a scene whose camera has gone around its target, and then towards the surface.

    right, up: degrees around the target. nearer: how many times nearer the surface is then, along
    the line of sight, so that no camera passes it.
    """
    solid = solid_of(scene)
    position, target = (np.array(part) for part in place_of(scene.camera, solid))
    far = float(np.linalg.norm(position - target))
    back = _turned(scene, solid, unit(position - target), right, up)
    position = target + far * back
    if nearer != 1:
        seen = _sight(solid, position, -back)
        ahead = far if seen is None else seen
        position = position - back * ahead * (1 - 1 / nearer)
        if (position - target) @ back < CLOSEST * far:  # it would look back: go on to the surface
            target = position - back * max(ahead / nearer, CLOSEST * far)
    return _placed(scene, position, target)


def flown(
    scene: Scene, right: float, up: float, ahead: float, yaw: float = 0.0, pitch: float = 0.0
) -> Scene:
    """Return a scene whose camera has flown, and then looked elsewhere.

    right, up, ahead: in distances to the nearest surface, which are measured again on the way, so
    no flight passes the surface. yaw, pitch: degrees to the right and up. The target lies on the
    surface in the middle of the picture, where there is one.
    """
    solid = solid_of(scene)
    position, target = (np.array(part) for part in place_of(scene.camera, solid))
    far = float(np.linalg.norm(target - position))
    axes, plan = axes_of(scene.camera, solid), bare_plan(scene)
    way = np.array([ahead, right, up]) @ axes
    length = float(np.linalg.norm(way))
    for _ in range(math.ceil(length / STRIDE)):
        step = way / math.ceil(length / STRIDE)
        position = position + step * min(nearness(plan, position), FASTEST * solid.bound)
    sight = _turned(scene, solid, axes[0], -yaw, pitch)
    seen = _sight(solid, position, sight)
    place = position + sight * (far if seen is None else seen)
    return _placed(scene, position, place)


def nearness(plan: SolidPlan, place: NDArray[np.float64]) -> float:
    """Return a length within which no surface is, and which is 0 at the surface alone."""
    bound = plan.solid.bound
    beyond = math.hypot(*place) - bound
    if beyond <= 0:
        return distance_at(plan, place.tolist())
    # At the sphere around the solid, the distance to the sphere alone would stop a flight.
    return beyond + distance_at(plan, (place * (bound / math.hypot(*place))).tolist())


def sharp_at(scene: Scene, column: float, row: float) -> float | None:
    """Return the focus with which the surface at a place of the picture is sharp; None: the sky."""
    if scene.camera.panorama:
        return None
    plan = bare_plan(scene)
    width, height = plan.eye_size
    column, row = (column + plan.corner[0]) % width, row + plan.corner[1]
    ahead, right, up = axes_of(scene.camera, plan.solid)
    x, y = (column - width / 2) * plan.pixel, (height / 2 - row) * plan.pixel
    sight = unit(ahead + x * right + y * up)
    seen = _sight(plan.solid, np.array(place_of(scene.camera, plan.solid)[0]), sight)
    return None if seen is None else float(f"{seen * float(sight @ ahead):.5g}")


def controls_of(scene: Scene) -> dict[str, Any]:
    """Return what controls of a solid show: its place, sun, automatic palette and options."""
    solid = solid_of(scene)
    position, target = place_of(scene.camera, solid)
    return {
        "position": list(position),
        "target": list(target),
        "up": list(scene.camera.up or solid.up),
        "sun": [round(float(part), 6) for part in sun_of(scene, solid)],
        "palette": PALETTE,
        "samples": effort_of(scene).most,
        "knobs": [
            {
                "name": name,
                "value": solid.parameters[name],
                "least": knob.least,
                "most": knob.most,
                "meaning": knob.meaning,
                "whole": isinstance(knob.least, int),
            }
            for name, knob in solid.knobs.items()
            if name in solid.parameters
        ],
    }


def bare_plan(scene: Scene) -> SolidPlan:
    """Return a plan for the field alone: of a camera that may be anywhere."""
    return SolidPlan(scene, solid_of(scene), "cpu", 1, "float64", 0.0)


def _turned(
    scene: Scene, solid: Solid, sight: NDArray[np.float64], right: float, up: float
) -> NDArray[np.float64]:
    """Return a direction, turned by degrees about what is up, and up; never quite to the zenith."""
    axis = unit(np.array(scene.camera.up or solid.up))
    rise = math.asin(min(1.0, max(-1.0, float(sight @ axis))))
    level = sight - (sight @ axis) * axis
    level = unit(level) if np.linalg.norm(level) > 1e-9 else across_of(axis)
    turn = math.radians(right)
    rise = min(STEEPEST, max(-STEEPEST, rise + math.radians(up)))
    level = math.cos(turn) * level + math.sin(turn) * np.cross(axis, level)
    found: NDArray[np.float64] = math.cos(rise) * level + math.sin(rise) * axis
    return found


def _sight(solid: Solid, position: NDArray[np.float64], sight: NDArray[np.float64]) -> float | None:
    """Return how far the surface is in a direction; None: there is none."""
    python = PythonBackend("float64").target
    space = space_in_python(solid, steps_for(solid))
    with np.errstate(all="ignore"):
        walk = march.make_march(python, solid.walk)
        t, _, hits = walk(position.tolist(), sight.tolist(), 0.0, SIGHT_FOOTPRINT, 0.0, space)
    return float(t) if hits else None


def _placed(scene: Scene, position: NDArray[np.float64], target: NDArray[np.float64]) -> Scene:
    if not max(np.abs(position).max(), np.abs(target).max()) < LARGEST:
        raise OptionError("the camera would be too far away: go the other way")
    update = {"position": tuple(position.tolist()), "target": tuple(target.tolist())}
    return scene.model_copy(update={"camera": scene.camera.model_copy(update=update)})
