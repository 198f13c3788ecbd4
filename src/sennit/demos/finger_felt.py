"""The finger under a hand: a probe that feels it at 1 kHz, while sliders of the page bend its joints."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import sennit as sn
from sennit.demos.finger import FRICTION, Model, hand_pose
from sennit.demos.finger_page import JOINTS, LIMITS
from sennit.haptics import HapticLoop, MouseDevice

__all__ = ["bent", "felt_by", "loop_of"]

COUPLING = sn.VirtualCoupling(stiffness=1500.0, damping=0.5)
MODES = 32


def bent(model: Model, angles: Sequence[float]) -> list[sn.Pose]:
    """Poses of the bones at the three joints' `angles`, rad; the knuckle is where the finger is at rest."""
    return model.finger.poses(angles[1:], sn.Pose((0.0, 0.0, 0.0), hand_pose(angles[0]).quaternion))


def loop_of(model: Model, device: Any) -> HapticLoop:
    """A loop in which `device` holds a probe on the finger; its panel has a slider for each joint."""
    chain = model.chain
    few = sn.ZoneChain(
        list(chain.zones), [seam.vertices for seam in chain.seams], rest_poses=chain.rest_poses, method="modes",
        modes=MODES,
    )  # fmt: skip
    loop = HapticLoop(
        few, device, coupling=COUPLING, probe=model.probe_radius, friction=FRICTION, skeleton="live",
        # A page's mouse is in the world already; other devices begin 3 cm above the middle bone.
        frame=None if isinstance(device, MouseDevice) else chain.rest_poses[1] @ sn.Pose((0.0, 0.0, 0.03)),
    )  # fmt: skip
    angles = [0.0, *model.finger.resting]

    def bender(joint: int) -> Callable[[float], None]:
        def bend(degrees: float) -> None:
            asked = [*angles[:joint], math.radians(degrees), *angles[joint + 1 :]]
            loop.pose(bent(model, asked))
            angles[joint] = asked[joint]

        return bend

    for k, (name, (low, high)) in enumerate(zip(JOINTS, LIMITS, strict=True)):
        start = min(max(math.degrees(angles[k]), low), high)
        loop.panel.control(name, bender(k), start, range=(low, high), unit="deg")
    return loop


def felt_by(model: Model, device: Any, page: dict[str, Any]) -> int:
    """Let `device` feel the finger beside its page, until somebody interrupts; the exit status."""
    loop = loop_of(model, device)
    with loop:
        loop.view(**page)
        with contextlib.suppress(KeyboardInterrupt):
            loop.wait()
    print(loop.statistics)
    return 0
