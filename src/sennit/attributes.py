"""What can be set on the objects that users hold, and what is said of everything else.

A name that is mistyped, or that can't be changed, would otherwise be kept silently, and nothing would follow from it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

from sennit.errors import SettingError, SolveReport

__all__ = ["guarded", "settable", "unchanging"]

Kind = TypeVar("Kind", bound=type)
_put, _drop = object.__setattr__, object.__delattr__


def guarded(*names: str) -> Callable[[Kind], Kind]:
    """A class whose objects refuse to be given attributes that they do not have, by a `SettingError`.

    Properties with a setter can be set, and plain attributes called `names`. Other attributes that the class annotates
    are filled once, by its constructor. Names that begin with an underscore pass at once, at 0.15 µs: what a step
    writes is in objects that are not guarded. Classes that users derive may have attributes of their own.

    What can be set is refused while a haptic loop holds the scene of the object (its `_scene`): it would be lost.
    """

    def guard(kind: Kind) -> Kind:
        _equip(kind, frozenset(names), _set, _delete)
        return kind

    return guard


def unchanging(kind: Kind) -> Kind:
    """A class whose objects never change: whatever is set is refused by a `SettingError`, private names too.

    Its constructor fills ``__dict__``, or uses ``object.__setattr__``, as those of frozen dataclasses do.
    """
    _equip(kind, None, _set_never, _delete_never)
    return kind


def _equip(kind: Any, plain: frozenset[str] | None, setter: Any, deleter: Any) -> None:
    kind._settable, kind.__setattr__, kind.__delattr__ = plain, setter, deleter


@functools.cache
def settable(kind: type) -> frozenset[str]:
    """Names of what can be set on the objects of a class, at any time."""
    plain: frozenset[str] | None = getattr(kind, "_settable", None)
    if plain is None:
        return frozenset()
    members = {name: getattr(kind, name, None) for name in dir(kind) if not name.startswith("_")}
    return plain | {name for name, member in members.items() if isinstance(member, property) and member.fset}


@functools.cache
def _annotated(kind: type) -> frozenset[str]:
    """Names of the public attributes that a class or its bases annotate."""
    return frozenset(name for base in kind.__mro__ for name in _own_annotations(base) if not name.startswith("_"))


def _own_annotations(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = vars(kind).get("__annotations__", {})
    return found


@functools.cache
def _is_ours(kind: type, name: str) -> bool:
    """Whether an attribute is sennit's to refuse: any of its own objects, what it defines of those derived from it."""
    if kind.__module__.startswith("sennit."):
        return True
    owner = next((base for base in kind.__mro__ if name in vars(base) or name in _own_annotations(base)), None)
    return owner is not None and owner.__module__.startswith("sennit.")


def _set(self: Any, name: str, value: object) -> None:
    if name[:1] != "_":
        kind: Any = type(self)
        if name in settable(kind):
            scene: Any = getattr(self, "_scene", None)
            if scene is not None and scene._lent and _is_ours(kind, name):
                scene._check_here(f"{name!r} of {getattr(self, 'name', None) or self!r}")
        elif _is_ours(kind, name):
            if name not in _annotated(kind) or hasattr(self, name):  # else the constructor fills it
                raise SettingError(_refusal(kind, name))
    _put(self, name, value)


def _delete(self: Any, name: str) -> None:
    kind: Any = type(self)
    if name[:1] != "_" and _is_ours(kind, name):
        raise SettingError(f"{name!r} of {_words(kind)} can't be deleted")
    _drop(self, name)


def _set_never(self: Any, name: str, value: object) -> None:
    raise SettingError(_refusal(type(self), name))


def _delete_never(self: Any, name: str) -> None:
    raise SettingError(f"{_words(type(self))} never changes: {name!r} can't be deleted")


def _refusal(kind: type, name: str) -> str:
    """What is wrong with setting `name`, the nearest name that there is, and what can be set."""
    allowed = sorted(settable(kind))
    known = sorted({*(n for n in dir(kind) if not n.startswith("_")), *_annotated(kind)})
    if name in known:
        problem = f"{name!r} of {_words(kind)} can't be set"
    else:
        problem = f"{_words(kind)} has no attribute {name!r}"
        near = [*get_close_matches(name.lower(), allowed, 1), *get_close_matches(name.lower(), known, 1)]
        problem += f": did you mean {near[0]!r}?" if near else ""
    if allowed:
        rest = f"What can be set: {', '.join(allowed)}"
    elif getattr(kind, "_settable", None) is None:
        rest = f"It never changes: make a new {kind.__name__} instead"
    else:
        rest = "Nothing of it can be set"
    return f"{problem}{' ' if problem.endswith('?') else '. '}{rest}"


def _words(kind: type) -> str:
    """Its name, with the article that it takes."""
    return f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}"


unchanging(SolveReport)  # which stands above, with the errors that carry it
