"""The page of a loop of tissue: its surfaces, the probe or tool, the force, and a mouse that moves the loop's hand.

The loop tells where its bones are and which forces act on the skin, 60 times a second; surfaces are solved for here, in
the process that started it, which the loop does not wait for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.zone.chain import ZoneChain
from sennit.bodies.zone.zone import Zone
from sennit.controls import Control, Dashboard, Readout, Watch
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape, Mesh
from sennit.haptics.board import FAILED, Board
from sennit.haptics.mouse import MouseDevice
from sennit.haptics.tissue_stage import TissueFrame, TissueReader
from sennit.live.play import Handle, Place, Tie
from sennit.portrait import solids
from sennit.portrait.cast import Portrait
from sennit.portrait.parts import Solid, SolidView, Surface, SurfaceView, Tube, TubeView
from sennit.portrait.shapes import shapes_mesh
from sennit.validation import FloatArray

__all__ = ["TissuePlay"]

FLESH, STEEL, GHOST, RED = (226, 178, 160), (176, 182, 190), (70, 120, 190), (196, 40, 44)
CLEAR = 0.06
"""How far outside of the skin a hand waits that holds nothing, over the size of the body."""
ARROW = 0.25
"""Length of the arrow of the largest force so far, over the size of the body."""
STOPPED = "the bones stopped on their way, where a seam would have been torn apart: ask for smaller steps"


class TissuePlay:
    """Shows the tissue `body` of a loop, with what the loop's hand holds: a `tool`, or a probe.

    `panel` has the controls and watches of whoever made the loop; `mouse` is the loop's device, if it is one.
    """

    def __init__(
        self, body: Zone | ZoneChain, board: Board, tell: Callable[[dict[str, Any]], None], *, panel: Dashboard,
        mouse: MouseDevice | None, dt: float, tool: AbstractShape | None = None, title: str | None = None,
    ) -> None:  # fmt: skip
        self.body, self.panel, self.dt = body, panel, dt
        self.title = title or (body.name if isinstance(body, Zone) else "tissue")
        self.camera: tuple[FloatArray, FloatArray] | None = None
        self.ground: float | None = None
        self.time_scale = 1.0
        self._board, self._tell, self._mouse, self._tool = board, tell, mouse, tool
        self._zones = list(body.zones) if isinstance(body, ZoneChain) else [body]
        rest = list(body.rest_poses) if isinstance(body, ZoneChain) else [Pose()]
        self._chain = _own_chain(body) if isinstance(body, ZoneChain) else None
        self._skins = body._skins if isinstance(body, ZoneChain) else [body._surface]
        self.positions: list[FloatArray] = []
        """Where the vertices of each zone are seen, (n, 3) each, m."""
        self._solve(TissueFrame(0.0, 0.0, False, False, Pose(), np.zeros(3), rest, np.zeros((0, 5))))
        places = np.concatenate(self.positions)
        self._low, self._high = places.min(axis=0), places.max(axis=0)
        self.size = float(np.linalg.norm(self._high - self._low))
        """Of the body at rest, m."""
        self._reach = 0.0 if tool is None else min(float(tool._table.ball[0]), self.size)
        above = 0.5 * (self._low + self._high)
        above[2] = self._high[2] + CLEAR * self.size + self._reach
        self._hand = Pose(above)
        self._most = 0.0
        self._reader: TissueReader | None = None
        self._taken: FloatArray | None = None
        self._watches = (
            Watch("force of the hand", lambda: float(np.linalg.norm(self.force)), "N"),
            Watch("largest displacement", lambda: 1e3 * max(float(off.max()) for off in self._moved()), "mm"),
        )
        self._portrait = self._made()

    def watch(self, memory: str) -> None:
        """Show what is written into the memory called `memory` from now on."""
        self._reader = TissueReader(memory, len(self._zones))

    def look(self) -> float:
        """Take the loop's newest state over and solve for its surfaces; returns the time of its last step, s."""
        newest = None if self._reader is None else self._reader.read()
        if newest is not None:
            self._solve(newest)
        return self._frame.took

    def _solve(self, frame: TissueFrame) -> None:
        self._frame = frame
        loads: dict[int, dict[int, FloatArray]] = {}
        for zone, vertex, *force in frame.pressed.tolist():
            z, v = int(zone), int(vertex)
            if self._zones[z]._greens.slot[v] >= 0:  # what the support bears moves nothing
                loads.setdefault(z, {})[v] = frame.poses[z].rotation.T @ force
        if self._chain is not None:
            self.positions = list(self._chain.solve(frame.poses, loads=loads).positions(single=True))
        else:
            u = (
                self._zones[0].solve(loads=loads[0]).displacements
                if loads
                else np.zeros((len(self._zones[0].vertices), 3))
            )
            self.positions = [frame.poses[0] @ (self._zones[0].vertices + u)]

    def _moved(self) -> list[FloatArray]:
        """How far each vertex is from where its bone alone would carry it, m."""
        return [
            np.linalg.norm(places - pose @ zone.vertices, axis=1)
            for places, pose, zone in zip(self.positions, self._frame.poses, self._zones, strict=True)
        ]

    def close(self) -> None:
        """Let go of the memory."""
        if self._reader is not None:
            self._reader.close()

    # --------------------------------------------------------------------------------------------------- what is read

    @property
    def time(self) -> float:
        """The loop's time, s."""
        return self._frame.time

    @property
    def failed_steps(self) -> int:
        """How many steps of the loop had no solution."""
        return int(self._board.counts[FAILED])

    @property
    def force(self) -> FloatArray:
        """What the hand feels, (3,), N."""
        return -self._frame.force

    @property
    def trouble(self) -> str:
        """Why bones do not follow."""
        return STOPPED if self._frame.stopped else ""

    @property
    def spell(self) -> None:
        """None: it has no steps in time."""

    @property
    def portrait(self) -> Portrait:
        """The skin of each zone, what the hand holds, the hand, and the force on it."""
        return self._portrait

    @property
    def controls(self) -> Sequence[Control]:
        """Those of the panel."""
        return self.panel.controls

    @property
    def watches(self) -> Sequence[Watch]:
        """Those of the panel, the force and the largest displacement."""
        return (*self.panel.watches, *self._watches)

    @property
    def readouts(self) -> Sequence[Readout]:
        """Those of the panel."""
        return self.panel.readouts

    @property
    def handles(self) -> Sequence[Handle]:
        """None: bones are led by what the panel declares."""
        return ()

    @property
    def ties(self) -> Sequence[Tie]:
        """None."""
        return ()

    @property
    def gravity(self) -> FloatArray | None:
        """None."""
        return None

    def _engaged(self) -> bool:
        return bool(self._now("engaged")[0])

    def _now(self, name: str) -> FloatArray:
        sheet = self._board.now
        return sheet.read()[sheet.parts[name]]

    @property
    def hand(self) -> Pose:
        """Where the hand is, or waits while it holds nothing."""
        if not self._engaged():
            return self._hand
        row = self._now("hand")
        return Pose(row[:3], row[3:] if row[3:].any() else (1.0, 0.0, 0.0, 0.0))

    @property
    def tip(self) -> Pose:
        """Where the probe or the tool is."""
        return self._frame.tip if self._engaged() else self._hand

    @property
    def holding(self) -> bool:
        """Whether the page's hand, or the loop's, holds something."""
        return self._taken is not None or self._engaged()

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is, and where what it holds is: (3,) each, m."""
        return self.hand.position.copy(), self.tip.position.copy()

    # ----------------------------------------------------------------------------------------------- what is taken

    def grab(self, part: int, place: Place) -> None:
        """Take the probe or the tool: the loop's hand takes hold there, and follows the mouse."""
        number = validation.count("part", part, 0, len(self.portrait.cast.parts) - 1)
        if self.portrait.subject(number) is not self:
            raise InputError("this cannot be dragged: take the probe or the tool in the hand")
        if self._mouse is None:
            raise InputError("the loop's device is in another hand: give it a MouseDevice to lead it from the page")
        where = self._hand @ validation.vector("place", place)
        self._taken = self._hand.position - where
        self._mouse.move(self._hand.position, self._hand.quaternion)
        self._mouse.grab()

    def drag(self, hand: FloatArray) -> None:
        """Move the hand to (3,), m."""
        where = validation.vector("hand", hand)
        if self._taken is None or self._mouse is None:
            raise InputError("nothing is held: grab first")
        self._hand = Pose(where + self._taken, self._hand.quaternion)
        self._mouse.move(self._hand.position)

    def release(self) -> None:
        """Let go: the hand waits outside of the skin."""
        if self._taken is None or self._mouse is None:
            return
        self._taken = None
        self._mouse.release()
        self._hand = Pose(self._outside(self._hand.position), self._hand.quaternion)

    def _outside(self, place: FloatArray) -> FloatArray:
        """The nearest place, or nearly so, that is well outside of all zones."""
        clear = CLEAR * self.size + self._reach
        shapes = [
            Mesh(zone.vertices, zone.faces).moved(pose)
            for zone, pose in zip(self._zones, self._frame.poses, strict=True)
        ]
        step = 1e-4 * self.size
        around = np.concatenate((np.zeros((1, 3)), step * np.eye(3), -step * np.eye(3)))
        here = place.copy()
        for _ in range(60):
            gaps = np.array([shape.signed_distance(here + around) for shape in shapes]).min(axis=0)
            if gaps[0] >= 0.99 * clear:
                return here
            way = gaps[1:4] - gaps[4:]
            length = float(np.linalg.norm(way))
            here = here + (clear - gaps[0]) * (way / length if length > 0.1 * step else np.array((0.0, 0.0, 1.0)))
        return np.array((*here[:2], self._high[2] + clear))

    def step(self) -> None:
        """It makes no steps of its own."""
        raise InputError("tissue is at rest at every moment: there is no single step")

    def reset(self) -> None:
        """Let go, and set all controls back."""
        self.release()
        self.panel._reset_controls()
        self._most = 0.0

    def set_gravity(self, value: FloatArray) -> None:
        """There is none."""
        raise InputError("tissue in the hand has no gravity to change")

    def pin(self, part: int, place: Place) -> None:
        """Nothing can be pinned."""
        raise InputError("nothing can be pinned here: the bones stay where they are led")

    def switch(self, tie: int, on: bool) -> None:
        """There are no ties."""
        raise InputError("there is nothing to switch")

    def remove(self, tie: int) -> None:
        """There are no ties."""
        raise InputError("there is nothing to remove")

    # -------------------------------------------------------------------------------------------------- what is seen

    def _made(self) -> Portrait:
        portrait = Portrait()
        for z, (zone, skin) in enumerate(zip(self._zones, self._skins, strict=True)):
            part = Surface(
                name=zone.name, colour=FLESH, count=len(zone.vertices), faces=np.asarray(skin.faces),
                fields=("displacement",),
            )  # fmt: skip
            portrait.add(part, self._skin_reader(z))
        small = 0.012 * self.size
        if self._tool is None:
            mesh = solids.ball(2.0 * small)
            held = Solid(name="probe", colour=STEEL, vertices=mesh.vertices, faces=mesh.faces, smooth=True)
        else:
            mesh = shapes_mesh((self._tool,), STEEL)
            held = Solid(
                name="tool", colour=STEEL, vertices=mesh.vertices, faces=mesh.faces, face_colours=mesh.colours,
                smooth=mesh.smooth,
            )  # fmt: skip
        portrait.add(held, self._read_tip, self)
        mesh = solids.ball(small)
        ghost = Solid(name="hand", colour=GHOST, vertices=mesh.vertices, faces=mesh.faces, smooth=True, opacity=0.6)
        portrait.add(ghost, self._read_hand, self)
        arrow = Tube(name="force", colour=RED, role="tie", count=2, half=(0.4 * small, 0.4 * small))
        portrait.add(arrow, self._read_force)
        return portrait

    def _skin_reader(self, z: int) -> Callable[[SurfaceView], None]:
        def read(view: SurfaceView) -> None:
            view.vertices[:] = self.positions[z]
            rest = self._frame.poses[z] @ self._zones[z].vertices
            view.fields["displacement"][:] = np.linalg.norm(self.positions[z] - rest, axis=1)

        return read

    def _read_tip(self, view: SolidView) -> None:
        tip = self.tip
        view.position[:], view.quaternion[:] = tip.position, tip.quaternion

    def _read_hand(self, view: SolidView) -> None:
        hand = self.hand
        view.position[:], view.quaternion[:] = hand.position, hand.quaternion

    def _read_force(self, view: TubeView) -> None:
        force = self.force
        size = math.hypot(*force.tolist())
        self._most = max(self._most, size)
        view.shown[0] = float(size > 1e-3 * self._most)
        start = self.tip.position
        end = (
            start + (ARROW * self.size / self._most) * force if self._most > 0.0 else start + np.array((0.0, 0.0, 1e-6))
        )
        view.centres[:] = start, end
        across = np.cross(end - start, (1.0, 0.0, 0.0) if abs(force[0]) < 0.9 * size else (0.0, 1.0, 0.0))
        length = float(np.linalg.norm(across))
        view.directors[:] = across / length if length > 0.0 else (1.0, 0.0, 0.0)


def _own_chain(chain: ZoneChain) -> ZoneChain:
    """The same chain with a workspace of its own: it is solved in another thread."""
    seams = [(s.zones[0], s.vertices[0], s.zones[1], s.vertices[1]) for s in chain.seams]
    return ZoneChain(
        list(chain.zones), seams, method=chain.method, modes=chain.modes, rest_poses=chain.rest_poses,
        projection=any(seam.leader is not None for seam in chain.seams),
    )  # fmt: skip
