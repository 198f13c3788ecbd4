"""What a page can run: anything that steps, is seen and can be touched. A scene is one (`ScenePlay`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sennit.controls import Control, Readout, Watch
from sennit.geometry.pose import Pose
from sennit.live.spells import Spell
from sennit.portrait.cast import Portrait
from sennit.validation import FloatArray

__all__ = ["Cutting", "Handle", "Place", "Play", "Pointing", "Tie", "Undoing"]

Place = float | int | FloatArray
"""Where a part was grabbed: on a tube the part of its length, 0 to 1; on a solid (3,), m, in its frame; on a surface
the number of a vertex."""


@dataclass(frozen=True, eq=False, slots=True)
class Handle:
    """Something that a gizmo moves: a clamp's target, a point of the world."""

    name: str
    turns: bool
    """Whether its rotation matters."""
    read: Callable[[], Pose]
    move: Callable[[Pose], None]


@dataclass(frozen=True, eq=False, slots=True)
class Tie:
    """A constraint as a page lists it."""

    name: str
    kind: str
    enabled: bool
    parts: tuple[int, ...]
    """The parts of the portrait that show it."""


class Play(Protocol):
    """What a page runs. Calls come from one thread, between steps; one that raises `InputError` changes nothing."""

    title: str
    dt: float
    """A step, s."""
    camera: tuple[FloatArray, FloatArray] | None
    """Eye and target, (3,) each, m; None: chosen from the size of what is seen."""
    ground: float | None
    """Height of the ground, m; None: below what is seen."""
    time_scale: float
    """Simulated seconds in a real one, at the beginning."""

    @property
    def time(self) -> float:
        """Simulated time, s."""

    @property
    def trouble(self) -> str:
        """What the person at the page should know now, in a sentence; "" if all is well."""

    @property
    def spell(self) -> Spell | None:
        """What had to be done to the last steps so that they stay sound, for a quiet badge; None: nothing."""

    @property
    def portrait(self) -> Portrait:
        """What is seen; another object when other things are there than before."""

    @property
    def controls(self) -> Sequence[Control]:
        """What people set: sliders, switches, buttons, menus, text fields."""

    @property
    def watches(self) -> Sequence[Watch]:
        """What is plotted."""

    @property
    def readouts(self) -> Sequence[Readout]:
        """What is shown as text."""

    @property
    def handles(self) -> Sequence[Handle]:
        """What gizmos move."""

    @property
    def ties(self) -> Sequence[Tie]:
        """Constraints that can be switched off and removed."""

    @property
    def gravity(self) -> FloatArray | None:
        """Acceleration of free fall, (3,), m/s²; None where there is none to change."""

    @property
    def holding(self) -> bool:
        """Whether something is grabbed."""

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is and where the place that it holds is, (3,) each, m; only while `holding`."""

    def step(self) -> None:
        """Advance by `dt`."""

    def reset(self) -> None:
        """Begin again: state, controls, what was pinned, switched and removed."""

    def set_gravity(self, value: FloatArray) -> None:
        """Change the gravity, (3,), m/s²."""

    def grab(self, part: int, place: Place) -> None:
        """Take hold of a body at a material place, where it is now, with a spring and a damper."""

    def drag(self, hand: FloatArray) -> None:
        """Move the hand that holds on to (3,), m, world frame."""

    def release(self) -> None:
        """Let go."""

    def pin(self, part: int, place: Place) -> None:
        """Hold a material place where it is now; it appears among the ties."""

    def switch(self, tie: int, on: bool) -> None:
        """Switch a tie on or off."""

    def remove(self, tie: int) -> None:
        """Take a tie out of the simulation; `reset` brings it back."""


@runtime_checkable
class Undoing(Protocol):
    """A play that can go back to how it was before something was done to it."""

    @property
    def undoable(self) -> bool:
        """Whether there is something to undo."""

    def remember(self) -> Callable[[], None]:
        """Something is about to be done to it; what is returned is called if it could not be done."""

    def undo(self) -> None:
        """Go back to how it was when it was last told to remember. Raises `InputError` if there is no such moment."""


@runtime_checkable
class Cutting(Protocol):
    """A play in which rods can be cut."""

    @property
    def cuttable(self) -> Sequence[int]:
        """The parts of the portrait that scissors cut."""

    def cut(self, places: Sequence[tuple[int, Place]]) -> list[str]:
        """Cut parts at material places; why some could not be cut is returned. Raises `InputError`, and changes
        nothing, if none could be.
        """


@runtime_checkable
class Pointing(Protocol):
    """A play whose forces can be shown. `wanted`: whether those of constraints, and those of contacts."""

    @property
    def forces(self) -> Sequence[str]:
        """Which there are: "constraints", "contacts"."""

    def arrow_room(self, wanted: tuple[bool, bool]) -> int:
        """How many arrows there are at most; it changes with the portrait only."""

    def arrows(self, wanted: tuple[bool, bool], room: int) -> FloatArray:
        """Place (m) and force (N) of each, (room, 6); rows of zeros where there is none."""
