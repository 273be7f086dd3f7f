"""RenderOptions: where a scene is drawn, with how many threads, and what is reported."""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fractals.catalog import did_you_mean
from fractals.errors import OptionError
from fractals.io.load import Source, load_scene
from fractals.scene.keywords import RenderKeywords
from fractals.scene.model import Scene
from fractals.threads import Progress

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class RenderOptions:
    """How a scene is drawn: see `fractals.render`. No option changes a picture."""

    device: str = "auto"
    threads: int | None = None
    interior_shortcuts: bool = True
    cache: bool = True
    force: bool = False
    progress: Progress | None = None
    on_message: Callable[[str], None] = warnings.warn

    def __post_init__(self) -> None:
        if not isinstance(self.device, str):
            raise OptionError(f"device={self.device!r:.40}: give a text such as 'auto' or 'cpu'")
        if self.threads is not None:
            if isinstance(self.threads, bool) or not isinstance(self.threads, int):
                raise OptionError(f"threads={self.threads!r:.40}: give a whole number, or None")
            if self.threads < 1:
                raise OptionError(f"{self.threads} threads: give 1 or more")
        for name in ("interior_shortcuts", "cache", "force"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name}={getattr(self, name)!r:.40}: give True or False")
        if not (self.progress is None or callable(self.progress)):
            raise OptionError(f"progress={self.progress!r:.40}: give a function, or None")
        if not callable(self.on_message):
            raise OptionError(f"on_message={self.on_message!r:.40}: give a function")


def read_request(
    sources: Sequence[Source], keywords: Mapping[str, Any], allowed: type = RenderKeywords
) -> tuple[Scene, RenderOptions]:
    """Return the scene and the options that a public function was called with.

    An `OptionError` or a `SceneError` says what is wrong with them; see `split_keywords`.
    """
    keys, options = split_keywords(keywords, allowed, RenderOptions)
    return load_scene(*sources, **keys), RenderOptions(**options)


def split_keywords(
    keywords: Mapping[str, Any], allowed: type, options: type
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of the scene, and the fields of a dataclass of options, among keywords.

    A keyword that the TypedDict `allowed` lacks is an `OptionError`; a `precision` of None keeps
    that of the scene.
    """
    known = allowed.__annotations__
    for name in keywords:
        if name not in known:
            raise OptionError(f"unknown keyword '{name}'{did_you_mean(name, known)}")
    fields = options.__dataclass_fields__  # type: ignore[attr-defined]
    given = {key: value for key, value in keywords.items() if key in fields}
    keys = {key: value for key, value in keywords.items() if key not in fields}
    if keys.get("precision", "") is None:
        del keys["precision"]
    return keys, given


def with_keywords(allowed: type, options: type = RenderOptions) -> Callable[[F], F]:
    """Return a decorator that shows the keywords of a TypedDict in a function's signature.

    Interactive completion and `help` read the signature, where ``**keywords`` has no names. The
    class `options` has the defaults.
    """

    def decorate(function: F) -> F:
        shown = inspect.signature(function)
        named = [p for p in shown.parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(options, name, ...),  # "...": as the scene says
                annotation=hint,
            )
            for name, hint in allowed.__annotations__.items()
        ]
        function.__signature__ = shown.replace(parameters=[*named, *more])  # type: ignore[attr-defined]
        return function

    return decorate
