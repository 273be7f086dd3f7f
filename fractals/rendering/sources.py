"""Makes the source of a plan: what iterates the samples of a tile."""

from collections.abc import Callable

from fractals.backends.base import Backend
from fractals.deep import orbit_cache
from fractals.rendering.direct import Direct
from fractals.rendering.iteration import FindOrbit, Method
from fractals.rendering.perturb import Perturbation
from fractals.rendering.plan import Plan
from fractals.scene.layers import Layers
from fractals.scene.model import Scene


def make_method(
    backend: Backend,
    scene: Scene,
    plan: Plan,
    layers: Layers,
    find: FindOrbit = orbit_cache.find,
    watch: Callable[[int], None] | None = None,
) -> Method:
    """Return the method of a plan, for what these layers need.

    `find` is who gives it reference orbits; `watch` is called with the steps of one so far.
    """
    if plan.deep:
        return Perturbation(backend, scene, plan, layers, find, watch)
    return Direct(backend, scene, plan, layers)
