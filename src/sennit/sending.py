"""How scenes and what is in them are sent to other processes: by pickle.

A scene goes as one packet: everything in it by value, as if no scene held it, and beside it the numbers of its state.
Who receives it makes the tables anew and fills the numbers in, as a file's reader does, so that it goes on bitwise.
A body, constraint, load, obstacle or point of a scene goes as *its place in that scene*: what is sent together, say in
a function that knows a scene and its rope, belongs together where it arrives.

Files that users load are another thing: they hold no pickle (`storage`).
"""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any, ClassVar

__all__ = ["Placed", "at_place", "packet", "unpacked"]


class Placed:
    """Base of what has a place in a scene, and is sent as that place."""

    _scene: Any
    _given: Any = None
    """What it was made with, if a person made it (see `given`)."""
    _remade: ClassVar[tuple[str, ...]] = ()
    """Attributes that its own ``__reduce__`` makes again, if it has one."""

    def _scene_place(self) -> tuple[Any, str, int] | None:
        """Its scene, the name of a list there, and its number in it; None: it is sent by value."""
        return None if self._scene is None else self._scene._place_of(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        place = None if self._remade else self._scene_place()
        return object.__reduce_ex__(self, protocol) if place is None else (at_place, place)


def at_place(scene: Any, kind: str, number: int) -> Any:
    """What has that place in `scene`."""
    return scene._at_place(kind, number)


class _Sender(pickle.Pickler):
    """Writes a scene by a word, its rules of contact by their numbers, and things by their places in it."""

    def __init__(self, file: io.BytesIO, scene: Any) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._scene = scene
        self._rules = {id(rule): i for i, rule in enumerate(scene._rules.rules)}

    def persistent_id(self, thing: Any) -> Any:
        return "scene" if thing is self._scene else self._rules.get(id(thing))


class _Packer(_Sender):
    """Writes what is in the scene by value."""

    def __init__(self, file: io.BytesIO, scene: Any) -> None:
        super().__init__(file, scene)
        self._rules = {}

    def reducer_override(self, thing: Any) -> Any:
        if not isinstance(thing, Placed):
            return NotImplemented
        place = thing._scene_place()
        if place is not None and place[0] is not self._scene:
            return NotImplemented
        state: Any = thing.__getstate__()
        if not thing._remade:
            return copyreg.__newobj__, (type(thing),), state  # type: ignore[attr-defined]
        remade: Any = thing.__reduce__()
        make, arguments = remade
        return make, arguments, {name: value for name, value in state.items() if name not in thing._remade}


class _Receiver(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, scene: Any) -> None:
        super().__init__(file)
        self._scene = scene

    def persistent_load(self, word: Any) -> Any:
        return self._scene if word == "scene" else self._scene._rules.rules[word]


def packet(scene: Any, content: Any, *, whole: bool) -> bytes:
    """`content` as bytes, in which `scene` may occur: what it holds by value (`whole`), or by its place there."""
    file = io.BytesIO()
    (_Packer if whole else _Sender)(file, scene).dump(content)
    return file.getvalue()


def unpacked(packed: bytes, scene: Any) -> Any:
    """What was packed, with another scene in place of the one that packed it."""
    return _Receiver(io.BytesIO(packed), scene).load()
