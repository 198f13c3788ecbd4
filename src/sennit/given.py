"""What constructors were given, kept so that a scene can be written as a person wrote it (`Scene.write`)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

__all__ = ["Given", "Unsayable", "remembers", "remembers_maker"]

Function = TypeVar("Function", bound=Callable[..., Any])
_DEEPEST = 6


class Unsayable:
    """Stands for an argument that no text can hold: `what` it was, "a function" or "an iterator"."""

    def __init__(self, what: str) -> None:
        self.what = what


class Given:
    """The arguments that a thing was made with: of its constructor, or of one of its class's makers."""

    def __init__(self, maker: str | None, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.maker = maker
        """Name of the maker; None: the constructor."""
        self._args = tuple(map(_kept, args))
        self._options = {name: _kept(value) for name, value in options.items()}

    def arguments(self, kind: type) -> dict[str, Any]:
        """They by their names, in the order of the signature."""
        bound = inspect.signature(kind if self.maker is None else getattr(kind, self.maker))
        return dict(bound.bind(*self._args, **self._options).arguments)


def _kept(value: Any, depth: int = 0) -> Any:
    """`value` as it is now: what its owner may change is copied; what can't be written is named instead."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        return [_kept(part, depth + 1) for part in value]
    if hasattr(value, "vertices") and hasattr(value, "faces") and not type(value).__module__.startswith("sennit."):
        return {"vertices": np.array(value.vertices), "faces": np.array(value.faces)}
    if type(value).__module__.startswith("sennit.") and not inspect.isfunction(value):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if callable(value):
        return Unsayable("a function")
    if hasattr(type(value), "__next__"):
        return Unsayable("an iterator")
    return Unsayable(f"a {type(value).__name__}")


def remembers(constructor: Function) -> Function:
    """An ``__init__`` whose object keeps what it was given; of nested ones the outermost counts."""

    @functools.wraps(constructor)
    def made(self: Any, *args: Any, **options: Any) -> None:
        constructor(self, *args, **options)
        self._given = Given(None, args, options)

    return made  # type: ignore[return-value]


def remembers_maker(maker: Function) -> Function:
    """A maker, to stand under ``@classmethod``, whose object keeps what it was given."""

    @functools.wraps(maker)
    def making(cls: Any, *args: Any, **options: Any) -> Any:
        thing = maker(cls, *args, **options)
        thing._given = Given(maker.__name__, args, options)
        return thing

    return making  # type: ignore[return-value]
