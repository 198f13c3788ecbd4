"""The part of a scene that lets bodies be made of something else while it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sennit.bodies.body import AbstractBody
from sennit.scene.contents import MATTER
from sennit.scene.sent import Sent

__all__ = ["Changing"]


class Changing(Sent):
    """Bodies whose matter can change: section, material, rest strains, mass, friction. See `MadeRod`.

    A change is made between two steps. It moves nothing, but the energy that is stored, or moves, is another one at
    once: that is the work of whoever made the change.
    """

    def __init__(self) -> None:
        super().__init__()
        self._put_in = 0.0

    @property
    def energy_put_in(self) -> float:
        """Work (J) that was done on the scene by changes of what its bodies are made of, since it first moved.

        Of stiffness, rest shape, mass and inertia; 0 again after `reset`.
        """
        return self._put_in

    def _change_matter(self, body: AbstractBody, matter: Any) -> None:
        """Let a body be made of `matter`, which it has checked."""
        self._check_changeable(body.name)
        for obstacle in self._obstacles:
            obstacle._check_matter(body, matter)
        counted = self._system is not None or self._clock.time > 0.0
        before = self._energy_now() if counted else 0.0
        self._make_of(body, matter)
        if counted:
            self._put_in += self._energy_now() - before
        self._clock.last_step = 0.0  # forces jump: a two-step scheme, which would see them before they act, starts anew

    def _check_changeable(self, name: str) -> None:
        """Raise `InputError` unless what the thing called `name` is made of can be set now."""
        self._check_here(f"what {name} is made of")
        self._check_free()

    def _make_of(self, body: AbstractBody, matter: Any) -> None:
        """Let a body be made of `matter`, and whoever depends on it know."""
        reach = body._reach_of_matter()
        body._be_of(matter)
        for rider in self._bodies:
            if body in rider._rides_on():
                rider._carrier_changed()
        if self._system is None:
            return
        if self._system.touching is not None and body._reach_of_matter() != reach:
            self._changed(ties=False)  # the tables of contact have it, too
            return
        self._system.layout._share_masses()
        self._system.account_anew()

    def _matter_now(self) -> list[tuple[AbstractBody, Any]]:
        """What the bodies are made of, those of which something can change."""
        return [(body, matter) for body in self._bodies if (matter := body._matter()) is not None]

    def _matter_was(self, known: Iterable[tuple[AbstractBody, Any]]) -> None:
        """Let bodies be made of what `_matter_now` told; those that are need nothing."""
        for body, matter in known:
            if not body._is_of(matter):
                self._make_of(body, matter)

    def _matter_has_begun(self) -> None:
        """`reset` leaves bodies made of what they are made of now."""
        for thing, numbers in self._beginnings.values():
            if MATTER in numbers:
                numbers[MATTER] = thing._matter()

    def _energy_now(self) -> float:
        """All energy, J."""
        raise NotImplementedError
