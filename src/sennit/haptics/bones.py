"""Bones that are led while a loop runs: where they are asked to be, and how they come there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sennit.bodies.zone.chain import ZoneChain
from sennit.bodies.zone.zone import Zone
from sennit.coupling import _turn_between, _turned
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.haptics.tissue import seam_middles, torn_seam
from sennit.validation import FloatArray, quoted

__all__ = ["LiveBones", "asked_rows"]

SMOOTHING = 0.03
"""Time constant of the filter, s: pages ask some 60 times a second."""
SPEED, TURNING = 0.5, 5.0
"""As fast as bones are led, m/s and rad/s."""
_THERE = 1e-9
"""Bones that are so near to where they are asked to be, m and rad, are put there."""


def asked_rows(body: Zone | ZoneChain, poses: object) -> FloatArray:
    """Poses for all zones of `body` as rows (zones, 7). Raises `InputError` for others, and for such as tear a seam."""
    count = len(body.zones) if isinstance(body, ZoneChain) else 1
    given = [poses] if isinstance(poses, Pose) else poses
    if not isinstance(given, Sequence) or len(given) != count or not all(isinstance(p, Pose) for p in given):
        raise InputError(f"poses must be {count} sennit.Pose, one for each zone, got {quoted(poses)}")
    rows = np.array([[*pose.position, *pose.quaternion] for pose in given])
    torn = torn_seam(body, rows[None]) if isinstance(body, ZoneChain) else None
    if torn is not None:
        raise InputError(f"these poses tear seam {torn[1]} apart: {torn[2]}. The bones stay where they are")
    return rows


class LiveBones:
    """The frames of the zones of `body`, at first at rest, which go to where they are asked to be in steps of `dt` (s).

    They come nearer by a constant share in each tick, and no faster than `SPEED` and `TURNING`; all go the same share
    of their ways, so that they arrive together. What would tear a seam on the way is not done: they stop before it.
    """

    def __init__(self, body: Zone | ZoneChain, dt: float) -> None:
        chain = isinstance(body, ZoneChain)
        self.poses = list(body.rest_poses) if isinstance(body, ZoneChain) else [Pose()]
        """Where they are."""
        self._asked = list(self.poses)
        self._part, self._far, self._wide = 1.0 - math.exp(-dt / SMOOTHING), SPEED * dt, TURNING * dt
        self._seams = seam_middles(body) if chain and isinstance(body, ZoneChain) else []
        self._going = False
        self.refused = ""
        """Why they stopped on the way; empty while they follow."""

    def ask(self, rows: FloatArray) -> None:
        """Lead them to poses (zones, 7) from now on."""
        self._asked = [Pose(row[:3], row[3:]) for row in rows]
        self._going, self.refused = True, ""

    def step(self) -> list[Pose] | None:
        """Where they are in the next tick; None if they stay."""
        if not self._going:
            return None
        ways = [goal.position - now.position for goal, now in zip(self._asked, self.poses, strict=True)]
        turns = [
            _turn_between(goal.quaternion, now.quaternion) for goal, now in zip(self._asked, self.poses, strict=True)
        ]
        farthest = max(math.hypot(*way.tolist()) for way in ways)
        widest = max(math.hypot(*turn.tolist()) for turn in turns)
        if farthest < _THERE and widest < _THERE:
            self._going, wanted = False, self._asked
        else:
            share = min(self._part, self._far / max(farthest, 1e-300), self._wide / max(widest, 1e-300))
            wanted = [
                Pose(now.position + share * way, _turned(share * turn, now.quaternion))
                for now, way, turn in zip(self.poses, ways, turns, strict=True)
            ]
        for number, a, mine, b, other, most in self._seams:
            apart = math.hypot(*(wanted[a] @ mine - wanted[b] @ other).tolist())
            if apart > most:
                self._going = False
                self.refused = (
                    f"on the way to these poses seam {number} would be torn apart, by {1e3 * apart:.3g} mm: the bones "
                    "stopped there. Ask for smaller steps"
                )
                return None
        self.poses = wanted
        return wanted
