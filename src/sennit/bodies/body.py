"""What all bodies of a scene have in common: numbers of their own, which a scene takes over."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from sennit.validation import FloatArray, label

__all__ = ["HISTORY", "STATE", "AbstractBody"]

STATE = {"q": (), "v": (), "quat": (4,), "spin": (3,), "bend": (13,), "stretch": (2,), "bead": (7,)}
"""The state of bodies, and the shape of one row of each array. `q`: degrees of freedom (m; roll in rad; a rigid body's
rotation is in `quat` and its three places in q stay 0), `v`: their rates, `quat`: attitude, `spin`: angular momentum,
`bend`, `stretch`: integration points of rods, `bead`: place, velocity and presence of what slides."""
HISTORY = {"q": (), "v": (), "quat": (4,), "spin": (3,), "bend": (3,), "stretch": (), "bead": (7,)}
"""The same of the step before, as far as a two-step scheme needs it."""

_numbers = itertools.count(1)


class AbstractBody:
    """A body: it owns degrees of freedom and has points. Its arrays are its own until a scene takes them over."""

    def __init__(self, name: str | None) -> None:
        self._number = next(_numbers)
        self._name = label("name", name)
        self._scene: Any = None
        self._index = 0
        """Number among the scene's bodies of the same kind."""
        self._dof0 = 0
        self._block0 = 0
        self._arrays: dict[str, FloatArray] = {}
        self._history: dict[str, FloatArray] = {}
        self._home: dict[str, FloatArray] = self._arrays
        """The arrays that the body's degrees of freedom are numbered in: the scene's, or its own."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name or f"{type(self).__name__.lower()} {self._number}"

    @property
    def scene(self) -> Any:
        """The scene that it was added to, or None."""
        return self._scene

    @property
    def arrays(self) -> dict[str, FloatArray]:
        """Its state now, by the names of `STATE`: the arrays themselves, not copies."""
        return self._arrays

    @property
    def first_dof(self) -> int:
        """Number of its first degree of freedom among those of its scene."""
        return self._dof0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _own(self, **arrays: FloatArray) -> None:
        """Set up the body's arrays; groups that are not given stay empty."""
        for group, row in STATE.items():
            self._arrays[group] = np.ascontiguousarray(arrays.get(group, np.zeros((0, *row))))
        self._forget_history()

    def _forget_history(self) -> None:
        for group, row in HISTORY.items():
            self._history[group] = np.zeros((len(self._arrays[group]), *row))

    def _touched(self, moved: bool = False) -> None:
        """The state was set from outside: a two-step scheme starts afresh, what depends on it is brought up to date."""
        if self._scene is not None:
            self._scene._state_was_set(self, moved)
