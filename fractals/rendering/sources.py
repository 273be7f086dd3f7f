"""Makes the source of a plan: what iterates the samples of a tile."""

from collections.abc import Callable

from fractals.backends.base import Backend
from fractals.deep import orbit_cache
from fractals.rendering.direct import Direct
from fractals.rendering.iteration import FindOrbit, Method
from fractals.rendering.known import Known
from fractals.rendering.perturb import Perturbation
from fractals.rendering.plan import Plan


def make_source(
    backend: Backend,
    plan: Plan,
    find_orbit: FindOrbit = orbit_cache.find,
    watch: Callable[[int], None] | None = None,
    known: Known | None = None,
) -> Method:
    """Return what iterates a plan's samples; its programs are compiled.

    Parameters
    ----------
    find_orbit : callable
        Finds or computes reference orbits: one of those in `fractals.deep.orbit_cache`.
    watch : callable, optional
        Called with the number of steps while a reference orbit is computed.
    known : Known, optional
        What another process has found. Nothing is probed then.
    """
    if plan.deep:
        return Perturbation(backend, plan.scene, plan, plan.layers, find_orbit, watch, known)
    return Direct(backend, plan.scene, plan, plan.layers, known)
