"""Makes the source of a plan: what iterates the samples of a tile."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from fractals.backends.base import Backend
from fractals.deep import orbit_cache
from fractals.rendering.direct import Direct
from fractals.rendering.iteration import FindOrbit, Method
from fractals.rendering.known import Known
from fractals.rendering.perturb import Perturbation
from fractals.rendering.plan import Plan, make_plan
from fractals.rendering.probe import LIMIT_SIZE


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
    begun = perf_counter()
    if known is None and (limit := _limit_by_other_method(backend, plan, find_orbit, watch)):
        plan = replace(plan, max_iterations=limit, settled=True)
    begun = perf_counter() - begun
    source: Direct | Perturbation
    if plan.deep:
        source = Perturbation(backend, plan.scene, plan, plan.layers, find_orbit, watch, known)
    else:
        source = Direct(backend, plan.scene, plan, plan.layers, known)
    source.probing += begun
    return source


def _limit_by_other_method(
    backend: Backend, plan: Plan, find_orbit: FindOrbit, watch: Callable[[int], None] | None
) -> int | None:
    """Return the limit "auto" of a view that is not deep, if its probe needs the other method.

    Chaotic samples have other counts by the other method, and which one draws a picture depends on
    its size. So the method of the probe is that of a picture of the probe's size.
    """
    coarser = plan.size[0] * plan.supersampling < LIMIT_SIZE[0]
    either = (plan.deep or coarser) and plan.view.projection == "plane"
    if not (plan.probed and plan.depth < 1 and either):
        return None
    image = plan.scene.image.model_copy(update={"size": LIMIT_SIZE, "supersampling": 1})
    scene = plan.scene.model_copy(update={"image": image})
    probed = make_plan(scene, plan.device, plan.interior_shortcuts, plan.threads)
    if probed.deep == plan.deep:
        return None
    return make_source(backend, probed, find_orbit, watch).max_iterations
