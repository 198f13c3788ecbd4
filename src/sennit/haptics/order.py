"""What a loop's process is told to do, besides what it simulates: everything is checked here, before it begins."""

from __future__ import annotations

import math
import sys
from typing import Any, Literal

import numpy as np

from sennit import validation
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.haptics import handover
from sennit.haptics.devices import described
from sennit.validation import quoted

__all__ = ["ordered"]

HAND_SPEED, HAND_ACCELERATION = 1.0, 30.0
"""Speed and acceleration of the fastest hand, m/s and m/s²: they bound how fast a coupling's force can change."""
TURN_SPEED, TURN_ACCELERATION = 10.0, 300.0
"""How fast the fastest hand turns, rad/s and rad/s²."""


def ordered(
    device: Any,
    coupling: VirtualCoupling,
    rate: float,
    seconds: float | None,
    *,
    realtime: bool | Literal["auto"],
    frame: Pose | Literal["grip"] | None,
    scale: float,
    force_scale: float,
    max_force: float | None,
    max_torque: float | None,
) -> dict[str, Any]:
    """The order to the process of a loop of `rate` ticks a second; arguments as for `HapticLoop`."""
    own = getattr(device, "rate", rate)
    if own != rate:
        raise InputError(f"rate={rate:g}, but the device was made for rate={own:g}: give both the same")
    if not isinstance(realtime, bool | np.bool_) and not (isinstance(realtime, str) and realtime == "auto"):
        raise InputError(f'realtime must be True, False or "auto", got {quoted(realtime)}')
    if not (frame is None or isinstance(frame, Pose) or (isinstance(frame, str) and frame == "grip")):
        raise InputError(f'frame must be a sennit.Pose or "grip", got {quoted(frame)}')
    larger = validation.number("force_scale", force_scale, positive=True)
    c, force, torque = coupling, _limit("max_force", max_force), _limit("max_torque", max_torque)
    return {
        "coupling": handover.described_coupling(c),
        "rate": rate,
        "ticks": _ticks(device, rate, seconds),
        "realtime": realtime if isinstance(realtime, str) else bool(realtime),
        "device": described(device),
        "frame": handover.described_pose(frame if isinstance(frame, Pose) else Pose()),
        "mounting": [validation.number("scale", scale, positive=True), larger, frame == "grip"],
        # as texts: a limit may be infinite, which JSON is not
        "limits": {
            "force": str(force),
            "torque": str(torque),
            "force_rate": str(larger * (c.stiffness * HAND_SPEED + c.damping * HAND_ACCELERATION)),
            "torque_rate": str(
                larger * (c.rotational_stiffness * TURN_SPEED + c.rotational_damping * TURN_ACCELERATION)
            ),
        },
        "path": [entry for entry in sys.path if entry],
    }


def _ticks(device: Any, rate: float, seconds: float | None) -> int | None:
    """After how many it ends; None: when it is closed."""
    own: int | None = getattr(device, "ticks", None)
    if seconds is None:
        return own
    longest = 2.0**62 / rate  # ticks are counted in 64 bits
    count = max(1, round(validation.number("seconds", seconds, positive=True, maximum=longest) * rate))
    return count if own is None else min(count, own)


def _limit(name: str, value: float | None) -> float:
    return math.inf if value is None else validation.number(name, value, positive=True)
