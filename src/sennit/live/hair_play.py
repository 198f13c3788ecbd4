"""Hair on a page: the head is moved by its gizmo, by a script, or by controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sennit.controls import Dashboard
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import matrix_to_quaternion
from sennit.hair.hair import Hair
from sennit.live.play import Handle, Place, Tie
from sennit.live.spells import Spell
from sennit.portrait.cast import Portrait
from sennit.portrait.parts import Colour, Solid, SolidView, Surface, SurfaceView
from sennit.portrait.solids import Mesh
from sennit.validation import FloatArray

__all__ = ["HairPlay", "tube_faces", "tube_vertices"]

_SIDES = 3
"""Sides of a strand as it is drawn."""


class HairPlay(Dashboard):
    """Hair that is stepped and seen; all strands are one surface, whatever their number.

    Arguments:
        hair: what is stepped; `reset` lets all rods begin anew.
        head: what is drawn of the head, in its frame.
        script: pose of the head at a time, s, until somebody moves it.
        dt: a step, s.
        stations: places along a strand that are drawn.
        radius: with which strands are drawn, m; by default their own.
    """

    def __init__(
        self, hair: Hair, head: Mesh, script: Callable[[float], Pose], *, dt: float = 1.0 / 60.0, stations: int = 14,
        radius: float | None = None, colour: Colour = (122, 76, 40), title: str = "Hair",
        camera: tuple[FloatArray, FloatArray] | None = None, ground: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.title, self.dt, self.camera, self.ground = title, dt, camera, ground
        self.time_scale = 1.0
        self.hair, self.script, self.scripted = hair, script, True
        self._begun, self._gravity = hair.pose, hair.gravity
        self._zero = hair.time
        self._portrait = self._drawn(head, stations, hair.radius if radius is None else radius, colour)

    def _drawn(self, head: Mesh, stations: int, radius: float, colour: Colour) -> Portrait:
        portrait, hair = Portrait(), self.hair
        surface = Surface(
            name="hair", colour=colour, count=hair.count * stations * _SIDES, faces=tube_faces(hair.count, stations)
        )

        def read(view: SurfaceView) -> None:
            view.vertices[:] = tube_vertices(hair.centerlines(stations), radius)

        def place(view: SolidView) -> None:
            view.position[:], view.quaternion[:] = hair.pose.position, matrix_to_quaternion(hair.pose.rotation)

        portrait.add(surface, read, hair)
        part = Solid(
            name="head", colour=(226, 178, 150), role="obstacle", vertices=head.vertices, faces=head.faces,
            face_colours=head.colours, smooth=head.smooth,
        )  # fmt: skip
        portrait.add(part, place)
        return portrait

    # --------------------------------------------------------------------------------------------------- what there is

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.hair.time - self._zero

    @property
    def trouble(self) -> str:
        """Which rods could not go on."""
        failed = self.hair.failures
        return f"{len(failed)} strands stand still: {next(iter(failed.values()))}" if failed else ""

    @property
    def spell(self) -> Spell | None:
        """None."""
        return None

    @property
    def portrait(self) -> Portrait:
        """The strands and the head."""
        return self._portrait

    @property
    def handles(self) -> Sequence[Handle]:
        """The head's."""
        return (Handle("head", True, lambda: self.hair.pose, self._move),)

    @property
    def ties(self) -> Sequence[Tie]:
        """There are none."""
        return ()

    @property
    def gravity(self) -> FloatArray | None:
        """Acceleration of free fall, (3,), m/s²."""
        return self.hair.gravity

    @property
    def holding(self) -> bool:
        """Nothing is ever held."""
        return False

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """There is none."""
        self._refuse()

    # ----------------------------------------------------------------------------------------------------- what it does

    def _move(self, pose: Pose) -> None:
        self.scripted = False
        self.hair.pose = pose

    def step(self) -> None:
        """Advance by `dt`."""
        if self.scripted:
            self.hair.pose = self.script(self.time + self.dt)
        self.hair.step(self.dt)

    def reset(self) -> None:
        """Begin again: rods stand up where the head begins."""
        self.scripted = True
        self.hair.pose = self._begun
        self.hair.step(1e-9)  # which takes the head there
        self.hair.reset()
        self.hair.gravity = self._gravity
        self._zero = self.hair.time
        for control in self.controls:
            if control.start is not None and control.value != control.start:
                control.value = control.start
                control.act(control.start)

    def set_gravity(self, value: FloatArray) -> None:
        """Change the gravity, (3,), m/s²."""
        self.hair.gravity = value

    def _refuse(self) -> NoReturn:
        raise InputError("strands of hair can't be taken in hand: move the head by its gizmo")

    def grab(self, part: int, place: Place) -> None:
        """Refused."""
        self._refuse()

    def drag(self, hand: FloatArray) -> None:
        """Refused."""
        self._refuse()

    def release(self) -> None:
        """Nothing is held."""

    def pin(self, part: int, place: Place) -> None:
        """Refused."""
        self._refuse()

    def switch(self, tie: int, on: bool) -> None:
        """Refused."""
        self._refuse()

    def remove(self, tie: int) -> None:
        """Refused."""
        self._refuse()


def tube_faces(strands: int, stations: int) -> NDArray[np.int64]:
    """Triangles of strands of three sides, (f, 3), wound outwards; vertices are those of `tube_vertices`."""
    k = np.arange((stations - 1) * _SIDES)
    beside = k - k % _SIDES + (k + 1) % _SIDES
    one = np.concatenate(
        (np.column_stack((k, beside, beside + _SIDES)), np.column_stack((k, beside + _SIDES, k + _SIDES)))
    )
    starts = stations * _SIDES * np.arange(strands)
    return np.asarray((starts[:, None, None] + one).reshape(-1, 3), dtype=np.int64)


def tube_vertices(lines: FloatArray, radius: float) -> FloatArray:
    """Corners of thin tubes round lines (strands, stations, 3), m, pointed at the tip: (strands × stations × 3, 3)."""
    way = np.gradient(lines, axis=1)
    way /= np.maximum(np.linalg.norm(way, axis=2, keepdims=True), 1e-12)
    side = np.cross(way, np.where(np.abs(way[..., 2:]) < 0.9, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    side /= np.maximum(np.linalg.norm(side, axis=2, keepdims=True), 1e-12)
    up = np.cross(way, side)
    thick = radius * np.linspace(1.0, 0.25, lines.shape[1])[:, None]
    angles = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    corners: list[Any] = [lines + thick * (np.cos(a) * side + np.sin(a) * up) for a in angles]
    return np.asarray(np.stack(corners, axis=2).reshape(-1, 3))
