"""What all bodies of a scene have in common: numbers of their own, which a scene takes over."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sennit.attributes import guarded
from sennit.bodies.rigid.table import Rigids
from sennit.bodies.table import Motion
from sennit.sending import Placed
from sennit.tables import STATE, Table
from sennit.validation import FloatArray, label

__all__ = ["AbstractBody", "Assembly", "Home"]

_numbers = itertools.count(1)


class Home:
    """The arrays that degrees of freedom are numbered in: a scene's, or a body's own."""

    def __init__(self, q: FloatArray, v: FloatArray, quat: FloatArray) -> None:
        self.q, self.v, self.quat = q, v, quat
        self._tables: tuple[Motion, Rigids] | None = None

    @classmethod
    def of(cls, motion: Motion, rigids: Rigids | None = None) -> Home:
        """The one of these tables."""
        attitudes = rigids or Rigids(rows=0)
        made = cls(motion.q, motion.v, attitudes.quat)
        made._tables = motion, attitudes
        return made

    def __reduce__(self) -> Any:
        # by the tables whose arrays it has, which go on being theirs
        return (Home, (self.q, self.v, self.quat)) if self._tables is None else (Home.of, self._tables)


@guarded()
class AbstractBody(Placed):
    """A body: it owns degrees of freedom and has points. Its tables are its own until a scene joins them.

    A kind of body offers the scene what stands under "for scenes" here, and its kernels (`bodies.kernels.kinds`).
    """

    _rank: ClassVar[int]
    """Place of its kind in the numbering of a scene."""
    _kinds: ClassVar[dict[str, type[AbstractBody]]] = {}
    """sennit's own classes of bodies by name: those that files can hold."""
    _kept: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith("sennit."):
            AbstractBody._kinds[cls.__name__] = cls

    def __init__(self, name: str | None) -> None:
        self._number = next(_numbers)
        self._name = label("name", name)
        self._scene: Any = None
        self._index = 0
        """Number among the scene's bodies of the same kind."""
        self._dof0 = 0
        self._block0 = 0
        self._motion = Motion(dofs=0)
        self._home = Home.of(self._motion)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name or f"{type(self).__name__.lower()} {self._number}"

    @property
    def scene(self) -> Any:
        """The scene that it was added to, or None."""
        return self._scene

    @property
    def first_dof(self) -> int:
        """Number of its first degree of freedom among those of its scene."""
        return self._dof0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _touched(self, moved: bool = False) -> None:
        """The state was set from outside: a two-step scheme starts afresh, what depends on it is brought up to date."""
        if self._scene is not None:
            self._scene._state_was_set(self, moved)

    # ------------------------------------------------------------------------------------------------- for scenes

    @classmethod
    def _join(cls, bodies: Sequence[Self]) -> dict[str, Table]:
        """The scene's tables of these bodies by their names in `SceneTable`; each body becomes a part of them."""
        raise NotImplementedError

    def _take_place(self, motion: Motion, home: Home, dof: int, block: int) -> int:
        """Be the body whose degrees of freedom and block begin there. Returns where the next block does."""
        self._motion = motion.part(dof, dof + len(self._motion))
        self._home, self._dof0, self._block0 = home, dof, block
        return block

    def _leave_tables(self) -> None:
        """No scene holds it any more: it keeps its own numbers."""
        self._motion = self._motion.copy()
        self._home = Home.of(self._motion)
        self._dof0 = self._block0 = self._index = 0

    def _own_tables(self) -> dict[str, Table]:
        """Its parts of the tables of its kind, by name."""
        return {}

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state, by name."""
        arrays: dict[str, Any] = dict(self._motion.fields(STATE))
        for name, part in self._own_tables().items():
            arrays |= {f"{name}.{field}": array for field, array in part.fields(STATE).items()}
        return arrays

    def _own_points(self) -> Sequence[Any]:
        """Points that the scene keeps for it, whether a constraint uses them or not."""
        return ()

    def _note_points(self) -> None:
        """Take over the numbers of its own points, now that they have some."""

    # -------------------------------------------------------------------------------------- for files, see `storage`

    def _describe(self, out: Any) -> dict[str, Any]:
        """What a file's description has of it; arrays go to `out`."""
        raise NotImplementedError

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        """The body that a file's entry describes."""
        raise NotImplementedError

    def _point_from(self, entry: dict[str, Any]) -> Any:
        """The point that a file's entry describes."""
        raise NotImplementedError

    def _may_be_infinite(self, name: str) -> bool:
        """Whether infinity has a meaning in an array of its state."""
        return False

    def _check_state(self) -> None:
        """Raise `ValueError` if the numbers of its state can't be those of a body."""

    def _state_is_known(self) -> bool:
        """Whether the size of its state does not depend on what holds it."""
        return True

    def _forget_beginning(self) -> None:
        """The present state is the one that `reset` goes back to."""

    # ------------------------------------------------------------------------------------------------- in a scene

    def _matter(self) -> Any:
        """What it is made of, as far as that can change, as something that never changes; None: nothing can."""
        return None

    def _is_of(self, matter: Any) -> bool:
        """Whether it is made of that."""
        return self._matter() is matter

    def _become(self, matter: Any) -> None:
        """Be made of `matter` from now on, and let the scene know."""
        self._check_matter(matter)
        if self._scene is None:
            self._be_of(matter)
        else:
            self._scene._change_matter(self, matter)

    def _check_matter(self, matter: Any) -> None:
        """Raise `InputError` if it can't be made of that."""

    def _be_of(self, matter: Any) -> None:
        """Take over the numbers of what `_matter` told, or will tell."""
        raise NotImplementedError

    def _seat(self) -> Any:
        """What it lies on, or how long it is, as far as that can change when something is cut; None: it can't."""
        return None

    def _sit(self, seat: Any) -> None:
        """Be what `_seat` told."""

    def _reach_of_matter(self) -> float:
        """What of its size follows from its matter, m."""
        return 0.0

    def _carrier_changed(self) -> None:
        """What it rides on is made of something else."""

    def _has_left(self) -> bool:
        """Whether it has left what carried it."""
        return False

    def _strain_energy(self) -> float | None:
        """What is stored in it besides a rod's energies, J; None: nothing ever is."""
        return None

    def _hanging_energy(self) -> float:
        """Energy of its weight that no table has, J."""
        return 0.0

    def _hold_rolls(self, moved: FloatArray) -> None:
        """Set those entries of a displacement to 0 that never move."""

    def _carry(self) -> None:
        """It was put elsewhere: carry along what it remembers of its shape."""

    def _hold(self, points: Sequence[Any]) -> bool:
        """Take over the points that constraints and loads use. True if its degrees of freedom changed by it."""
        return False

    def _check_places(self, points: Sequence[Any]) -> None:
        """Whether these of its points can be held at the same time; raises `InputError` if not."""

    def _follow_carrier(self, moved: bool) -> None:
        """It, or what carries it, was set in motion or (`moved`) put elsewhere."""

    def _beginning(self) -> dict[str, Any]:
        """What `reset` takes instead of the numbers of its first state, by their names."""
        return {}

    def _rides_on(self) -> tuple[AbstractBody, ...]:
        """The bodies that it can't be without."""
        return ()

    def _is_held(self) -> bool:
        """Whether it lies in the world's frame, and nothing else need hold it."""
        return False

    def _home_table(self) -> str:
        """Name of the scene's table that it is a row of, of those whose bodies have mass."""
        return ""

    def _extent(self) -> float:
        """What a step's miss of one of its points is small against, m."""
        return self._size()

    def _size(self) -> float:
        """Its length, m, as far as a scene's size is measured by it; 0: not at all."""
        return 0.0

    def _softness(self) -> float:
        """Least bending stiffness over its length, N·m; infinite if it does not bend."""
        return math.inf

    def _firmness(self) -> float:
        """Stiffness against stretching, N; 0 if it does not stretch."""
        return 0.0

    def _stiff_force(self) -> float:
        """EI/L² of a rod: what a force on it is small against, N."""
        return 0.0

    def _weight_mass(self) -> float:
        """Mass that gravity acts on, kg."""
        return 0.0

    def _natural_rate(self) -> float:
        """Square of its slowest natural rate, 1/s²; 0 if it has none."""
        return 0.0

    def _angles(self) -> NDArray[np.int64]:
        """Which of its degrees of freedom are angles, as numbers from 0 on."""
        raise NotImplementedError


class Assembly:
    """Several bodies that come into a scene together, with what ties them."""
