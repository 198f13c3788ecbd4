"""A rigid tool in the hand that presses on tissue with friction, on bones that move."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit import validation
from sennit.bodies.zone.felt import FeltBody
from sennit.bodies.zone.felt_press import FeltPress
from sennit.coupling import VirtualCoupling, _turn_between, _turned
from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError, SolveError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape, Box, Capsule, Cylinder, Mesh, Plane, Sphere
from sennit.haptics.subjects import NOTHING, REHEARSED
from sennit.haptics.tissue import FIRM, BonesSubject, skeleton_table
from sennit.validation import FloatArray, quoted

if TYPE_CHECKING:
    from sennit.haptics.bones import LiveBones

__all__ = ["ToolSubject", "described_tool", "described_touch", "made_tool"]

_HERE = Pose()
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Box, Capsule, Cylinder, Mesh, Plane, Sphere)
}  # fmt: skip


def described_tool(tool: object) -> dict[str, Any]:
    """What makes a shape again. Raises `InputError` for what is no shape that a hand can hold."""
    if not isinstance(tool, AbstractShape) or type(tool).__name__ not in _KINDS:
        raise InputError(f"tool must be one shape of {', '.join(_KINDS)}, in the hand's frame, got {quoted(tool)}")
    names = {"Box": ("size",), "Capsule": ("radius", "length"), "Cylinder": ("radius", "length"),
             "Mesh": ("vertices", "faces"), "Plane": (), "Sphere": ("radius",)}  # fmt: skip
    kind = type(tool).__name__
    sizes = [getattr(tool, name) for name in names[kind]]
    return {"kind": kind, "sizes": sizes, "pose": [*tool.pose.position.tolist(), *tool.pose.quaternion.tolist()]}


def described_touch(
    tissue: Any, probe: float | None, tool: AbstractShape | None, friction: float | None, skeleton: object,
    coupling: VirtualCoupling, rate: float, ticks: int | None,
) -> dict[str, Any]:  # fmt: skip
    """How a hand touches tissue, as data. Raises `InputError` for what does not go together."""
    if probe is not None and tool is not None:
        raise InputError(f"the hand holds a probe or a tool: give probe={probe!r} or tool={tool!r}, not both")
    c = coupling
    if tool is None and (c.rotational_stiffness > 0.0 or c.rotational_damping > 0.0):
        raise InputError("a probe is a point, which nothing turns: give a coupling without rotational parts")
    if c.rotational_damping > 0.0 and c.rotational_stiffness == 0.0:
        raise InputError(
            f"a tool that only a damper turns would turn away from the hand: give rotational_stiffness beside "
            f"rotational_damping={c.rotational_damping:g}"
        )
    return {
        "tool": None if tool is None else described_tool(tool),
        "probe": None if probe is None else validation.number("probe", probe, positive=True),
        "friction": 0.0 if friction is None else validation.number("friction", friction, minimum=0.0),
        "skeleton": skeleton_table(tissue, skeleton, rate, ticks),
    }


def made_tool(entry: dict[str, Any]) -> AbstractShape:
    """The shape that `described_tool` described."""
    kind, sizes, row = entry["kind"], entry["sizes"], entry["pose"]
    pose = Pose(row[:3], row[3:])
    made: AbstractShape
    if kind == "Sphere":
        made = Sphere((0.0, 0.0, 0.0), *sizes)
    elif kind == "Plane":
        made = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    else:
        made = _KINDS[kind](*sizes)
    return made._at(pose)


class ToolSubject(BonesSubject):
    """`body`, pressed by a rigid `tool` (a shape in the hand's frame) that `coupling` holds to the hand, with
    `friction`; `skeleton` as of `TissueSubject`.

    Contact is that of `Zone.press`, at vertices, with the coupling in series; no surface is computed. Without
    rotational parts in the coupling the tool turns with the hand, and no torque is felt.

    Passivity is kept by a budget, as `elastostatics.felt.kernels.contact` does: the hand gets the part γ ≤ 1 of the
    wrench for which γ times the energy that was stored is no more than the budget, all work that hand and bones have
    done less what they got back. So the budget is never negative: no path of the hand takes out more than was put in.
    """

    def __init__(
        self, body: FeltBody, tool: AbstractShape, coupling: VirtualCoupling, dt: float, friction: float = 0.0,
        skeleton: FloatArray | LiveBones | None = None,
    ) -> None:  # fmt: skip
        super().__init__(body, dt, skeleton)
        self.tool, self.coupling, self.friction = tool, coupling, friction
        self.press = FeltPress(body, FIRM / coupling.stiffness)
        self.budget = 0.0
        """Work that hand and bones have done so far and not got back, J: never negative."""
        self.share = 1.0
        """γ: part of the wrench that is felt."""
        self.count = 0
        """Vertices that the tool presses on."""
        self._turns = coupling.rotational_stiffness > 0.0 or coupling.rotational_damping > 0.0
        self.afresh()

    @property
    def touching(self) -> bool:
        """Whether the tool touches."""
        return self.count > 0

    def afresh(self) -> None:
        """The hand takes hold anew in the next step, at rest: outside, since nobody knows how it would have come in."""
        self.tip: Pose | None = None
        """Where the tool is; None before the hand has come."""
        self._hand: Pose | None = None
        self.wrench, self.count = NOTHING, 0
        self._behind, self._twisted = np.zeros(3), np.zeros(3)  # of the tool, from the hand: m, rad
        self._stored = 0.0
        self._carried: tuple[Any, FloatArray, FloatArray] | None = None
        self.press.forget()

    def rehearse(self) -> None:
        """Press on some places, and move the bones."""
        vertices, normals = self.body.surface.vertices, self.body.surface.vertex_normals
        reach = min(float(self.tool._table.ball[0]), float(np.ptp(vertices, axis=0).max()))
        for k in range(REHEARSED):
            self.body.place(self.body.poses)
            at = (k * len(vertices)) // REHEARSED
            foot = vertices[at] - self.tool.pose.position
            for far in np.linspace(1.2, 0.9, 4) * reach:
                with contextlib.suppress(InputError, SolveError):
                    self._feel(Pose(foot + far * normals[at]), 1)
            self.afresh()
        self.budget, self.share = 0.0, 1.0

    def step(self, hand: Pose | None, periods: int = 1) -> None:
        """One tick with the hand there. Raises `InputError` while a tool that has just come is inside the body, and
        `SolveError` where contact is not found.
        """
        self._move()
        self._ticks += 1
        if hand is None:
            self.afresh()
        else:
            self._feel(hand, periods)

    def _feel(self, hand: Pose, periods: int) -> None:
        if self._hand is None:
            self._begin(hand)
            return
        c, dt = self.coupling, periods * self.dt
        k = c.stiffness + c.damping / dt
        behind = (c.damping / dt / k) * self._behind  # x = h − e with e = (F + (b/Δt) e⁻)/k'
        kr = c.rotational_stiffness + c.rotational_damping / dt
        held = Pose._trusted(hand.position - behind, hand.quaternion.copy())
        twisted = tilt = np.zeros(3)
        if self._turns:  # the shape is where it is turned as in the last tick
            twisted = (c.rotational_damping / dt / kr) * self._twisted
            tilt = twisted - self._twisted
            held = Pose._trusted(held.position.copy(), _turned(-self._twisted, hand.quaternion))
        press = self.press
        soft, turning = 1.0 / k, 1.0 / kr if self._turns else 0.0
        pressed, arms = press.solve(self.tool, held, self.friction, soft, turning, tilt)
        if not pressed.report.converged:
            raise SolveError(pressed.report, None)
        R = self.body.poses[press.home].rotation
        forces = pressed.forces @ R.T
        force, torque = forces.sum(axis=0), np.zeros(3)
        if self._turns:
            torque = np.cross(arms @ R.T, forces).sum(axis=0)
        press.keep(self.tool, held, pressed)
        self._pay(hand, force, torque, forces)
        behind, twisted = behind + soft * force, twisted + turning * torque
        springs = 0.5 * c.stiffness * (behind @ behind) + 0.5 * c.rotational_stiffness * (twisted @ twisted)
        self._stored = press.energy(pressed.forces) + float(springs)
        self._behind, self._twisted, self._hand = behind, twisted, hand
        self.count = len(pressed.vertices)
        turn = _turned(-twisted, hand.quaternion) if self._turns else hand.quaternion.copy()
        self.tip = Pose._trusted(hand.position - behind, turn)
        wrench = np.empty(6)
        wrench[:3], wrench[3:] = self.share * force, self.share * torque
        self.wrench = wrench

    def _pay(self, hand: Pose, force: FloatArray, torque: FloatArray, forces: FloatArray) -> None:
        """What the hand and the bones do in this tick, and how much of the wrench may be felt."""
        assert self._hand is not None
        work = float(force @ (hand.position - self._hand.position))
        if self._turns:
            work += float(torque @ _turn_between(hand.quaternion, self._hand.quaternion))
        places, ids = self.press.carried(), self.press.ids
        if self._carried is not None:
            then, where, pushed = self._carried
            if then is ids:
                work -= 0.5 * float(((forces + pushed) * (places - where)).sum())
            else:
                _, a, b = np.intersect1d(ids, then, assume_unique=True, return_indices=True)
                work -= 0.5 * float(((forces[a] + pushed[b]) * (places[a] - where[b])).sum())
        self._carried = ids, places, forces
        self.share = 1.0 if self._stored <= self.budget else self.budget / self._stored
        if self.budget + self.share * work < 0.0:
            self.share = self.budget / -work
        self.budget = max(self.budget + self.share * work, 0.0)

    def _begin(self, hand: Pose) -> None:
        """The hand has come: the tool is in it, and must be outside."""
        self.wrench = NOTHING
        depth, zone = self.press.depth(self.tool, hand)
        if depth > 0.0:
            self.press.forget()
            place = ", ".join(f"{c:.4g}" for c in hand.position)
            raise InputError(
                f"the tool reaches {1e3 * depth:.3g} mm into {self.body.zones[zone].name} when the hand takes hold, at "
                f"({place}) m: nobody knows how it came there. Begin outside; it is felt from where it leaves the body"
            )
        self._hand = self.tip = hand

    def pressed(self) -> tuple[IntArray, FloatArray]:
        """The vertices that may touch, and what the tool does to them."""
        if not self.touching or self._carried is None:
            return np.zeros(0, np.int64), np.zeros((0, 3))
        return self._carried[0].copy(), self._carried[2].copy()

    def place(self) -> FloatArray:
        """Of the tool."""
        out = np.zeros(7)
        out[3] = 1.0
        if self.tip is not None:
            out[:3], out[3:] = self.tip.position, self.tip.quaternion
        return out
