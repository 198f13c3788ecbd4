"""What a loop's process must know of what it runs, and of what holds that: a registry of what can be run."""

from __future__ import annotations

import functools
from typing import Any

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.strand.strand import Strand
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.haptics import handover
from sennit.haptics.mouse import MouseDevice
from sennit.scene.scene import Scene
from sennit.validation import FloatArray, quoted

__all__ = ["checked_reach", "described_subject"]


@functools.singledispatch
def described_subject(
    subject: object, grip: Any, base: Any, gravity: FloatArray | None, coupling: VirtualCoupling, device: object
) -> dict[str, Any]:
    """What the loop's process must know of the subject and of what holds it."""
    # Here, because chains need SciPy, which takes long to import and loops of scenes do without.
    from sennit.bodies.zone.chain import ZoneChain
    from sennit.bodies.zone.zone import Zone
    from sennit.haptics.tissue import described_tissue

    if not isinstance(subject, Zone | ZoneChain):
        raise InputError(
            "subject must be a sennit.Scene, a sennit.Strand, a sennit.Zone or a sennit.ZoneChain, got "
            f"{quoted(subject)}"
        )
    if grip is not None or base is not None or gravity is not None:
        raise InputError("grip=, base= and gravity= are for scenes and strands: tissue is touched by a probe")
    return {"tissue": described_tissue(subject)}


@described_subject.register(Strand)
def _described_strand(
    subject: Strand, grip: Any, base: Any, gravity: FloatArray | None, coupling: VirtualCoupling, device: object
) -> dict[str, Any]:
    if grip is not None:
        raise InputError("grip= is for scenes: of a strand the hand holds the tip")
    if not isinstance(base, Pose):
        raise InputError(f"a strand needs base=, a sennit.Pose that holds its first end, got {quoted(base)}")
    return {
        "strand": handover.described_strand(subject),
        "base": handover.described_pose(base),
        "gravity": gravity,
    }


@described_subject.register(Scene)
def _described_scene(
    subject: Scene, grip: Any, base: Any, gravity: FloatArray | None, coupling: VirtualCoupling, device: object
) -> dict[str, Any]:
    if base is not None or gravity is not None:
        raise InputError("base= and gravity= are for strands; a scene has its own")
    subject._made_anew()
    if subject._fragile:
        raise InputError(
            f"{subject._fragile[0].name} can break, which a haptic loop can't do yet: set its breaking_load and "
            "breaking_curvature to None, or run the scene without a loop"
        )
    if grip is None:
        if not isinstance(device, MouseDevice):
            raise InputError("a scene needs grip=, the point that the hand holds: grip=rope.at(0.5)")
        return {"grip": None}
    validation.instance("grip", grip, Point, "a point of a body of the scene, as rope.at(0.5)")
    if (coupling.rotational_stiffness > 0.0 or coupling.rotational_damping > 0.0) and not grip.has_frame:
        raise InputError(f"a coupling that turns needs a grip that can be turned, but {grip!r} cannot")
    return {"grip": handover.described_point(subject, grip)}


def checked_reach(subject: object, reach: float | None) -> float | None:
    """How far from what may touch zones of a scene their skins are held in a loop, m; None where none can be touched.

    Raises `InputError` where it is missing, or where there is nothing that it is for.
    """
    soft = subject._soft if isinstance(subject, Scene) else []
    if not soft:
        if reach is not None:
            raise InputError(f"reach={quoted(reach)} is for scenes in which zones can be touched, and none can be here")
        return None
    if reach is None:
        zone, others = soft[0]
        raise InputError(
            f"{zone.name} can be touched by {others[0].name}: give reach=, m. Vertices of zones that are nearer than "
            "that to what may touch them when the loop begins are felt, and no others; the more of them there are, the "
            "longer takes a step"
        )
    return validation.number("reach", reach, positive=True)
