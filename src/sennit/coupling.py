"""The spring and damper between a hand and a body."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray

__all__ = ["VirtualCoupling"]


@unchanging
@dataclass(frozen=True)
class VirtualCoupling:
    """A spring and damper in six degrees of freedom between a hand and the tip of a body; it never changes.

    Arguments: `stiffness` k (N/m, positive), `damping` b (N·s/m), `rotational_stiffness` k_r (N·m/rad),
    `rotational_damping` b_r (N·m·s); the last three may be zero.

    At the end of a step Δt the tip feels, in the world frame and at the tip's point::

        force  = k (x_h − x_t) + b (v_h − (x_t − x_t⁻)/Δt)
        torque = k_r log(R_h R_tᵀ) + (b_r/Δt) log(R_d R_tᵀ),    R_d = exp(ω_h Δt) R_t⁻

    with h the hand, t the tip, ⁻ the step before, and log the rotation vector, at most π long. R_d is how the tip would
    be turned had it followed the hand's angular velocity. log(R_h R_tᵀ) = R_t ρ with ρ = log(R_tᵀ R_h), so that the
    springs' part is minus the gradient of `energy`.

    **The hand feels minus this force and minus this torque**, both at the hand's point, without a lever arm. The
    springs' force lies along x_h − x_t, so that the springs exert no net moment. The damper's force does not: it is a
    dashpot between two world-frame velocities, which also resists hand and tip circling each other at rest relative
    to one another, with a net moment (x_t − x_h) × (damper's force) that neither side gives back. Its power is that of
    a damper all the same: b (v_h − v_t)².

    Passive: when `hand_velocity` is the backward difference of the hand's pose, the work that hand and tip do on the
    coupling in a step is no less than the energy it gains, as long as ρ stays shorter than π all the way. Work is the
    wrench at the step's end times the motion of hand relative to tip: x_h − x_t − (x_h⁻ − x_t⁻) and log(dR_h dR_tᵀ),
    where dR = R R⁻ᵀ. Where both turn in one step about different axes, the sum of the works counted at each side by its
    own log(dR) differs from this by about ½ torque · (θ_h × θ_t), of second order in the step. Beyond π the rotational
    spring slips to the other side. A device that holds a force during the next tick injects up to ½ k (change of
    x_h − x_t)² by the spring and b (change of x_h − x_t)² / Δt by the damper per tick, which its own friction, at least
    k Δt/2 + b, must dissipate.

    Raises `InputError` for numbers that are not finite, a stiffness that is not positive, and negative others.
    """

    stiffness: float
    """Force over the distance between hand and body: k, N/m."""
    damping: float = 0.0
    """Force over the velocity of the hand relative to the body: b, N·s/m."""
    rotational_stiffness: float = 0.0
    """Torque over the angle between the two: k_r, N·m/rad."""
    rotational_damping: float = 0.0
    """Torque over the relative angular velocity: b_r, N·m·s."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", validation.number("stiffness", self.stiffness, positive=True))
        for name in ("damping", "rotational_stiffness", "rotational_damping"):
            object.__setattr__(self, name, validation.number(name, getattr(self, name), minimum=0.0))

    @property
    def damped(self) -> bool:
        """Whether it has a damper, and so needs the hand's velocity, the tip's pose a step before and the step."""
        return self.damping > 0.0 or self.rotational_damping > 0.0

    def energy(self, hand: Pose, tip: Pose) -> float:
        """Energy in the springs between `hand` and `tip`, ½ k (x_h − x_t)² + ½ k_r log(R_h R_tᵀ)², in J."""
        _check_poses(hand=hand, tip=tip)
        offset = hand.position - tip.position
        turn = _turn_between(hand.quaternion, tip.quaternion)
        return float(0.5 * self.stiffness * (offset @ offset) + 0.5 * self.rotational_stiffness * (turn @ turn))

    def wrench(
        self,
        hand: Pose,
        tip: Pose,
        *,
        hand_velocity: ArrayLike | None = None,
        previous_tip: Pose | None = None,
        dt: float | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Force (N) and torque (N·m) on the tip, (3,) each: world frame, at the tip's point. The hand feels minus both.

        Arguments: the poses of `hand` and `tip`; `hand_velocity`, (6,), the hand's twist in the world frame, linear
        (m/s) then angular (rad/s); `previous_tip`, the tip's pose one step before; `dt`, that step (s). A coupling
        without dampers needs the first two only.

        Raises `InputError` when a damper needs an argument that is missing.
        """
        _check_poses(hand=hand, tip=tip)
        force = self.stiffness * (hand.position - tip.position)
        torque = self.rotational_stiffness * _turn_between(hand.quaternion, tip.quaternion)
        if not self.damped:
            return force, torque
        if hand_velocity is None or previous_tip is None or dt is None:
            given = {"hand_velocity": hand_velocity, "previous_tip": previous_tip, "dt": dt}
            missing = [name for name, value in given.items() if value is None]
            raise InputError(
                f"{', '.join(missing)} missing: a coupling with damping={self.damping:g} and "
                f"rotational_damping={self.rotational_damping:g} needs hand_velocity (6 numbers; zeros for a hand at "
                "rest), previous_tip (a Pose) and dt (s)"
            )
        _check_poses(previous_tip=previous_tip)
        twist = validation.array("hand_velocity", hand_velocity, (6,))
        step = validation.number("dt", dt, minimum=1e-15)
        force += self.damping * (twist[:3] - (tip.position - previous_tip.position) / step)
        followed = _turned(step * twist[3:], previous_tip.quaternion)
        torque += (self.rotational_damping / step) * _turn_between(followed, tip.quaternion)
        return force, torque


def _check_poses(**poses: object) -> None:
    for name, pose in poses.items():
        if not isinstance(pose, Pose):
            raise InputError(f"{name} must be a sennit.Pose, got {validation.quoted(pose)}")


# On single quaternions plain floats are ten times as fast as arrays; a haptic loop calls this every millisecond.


def _turn_between(to: FloatArray, start: FloatArray) -> FloatArray:
    """Rotation vector in the world frame, (3,), rad, at most π long, that turns `start` into `to` (quaternions)."""
    a, b, c, d = to.tolist()
    w, x, y, z = start.tolist()
    cosine = a * w + b * x + c * y + d * z
    turn = np.array((b * w - a * x - c * z + d * y, c * w - a * y + b * z - d * x, d * w - a * z - b * y + c * x))
    sine = math.hypot(*turn.tolist())
    if sine > 0.0:
        turn *= math.copysign(2.0 * math.atan2(sine, abs(cosine)) / sine, cosine)
    return turn


def _turned(by: FloatArray, start: FloatArray) -> FloatArray:
    """The quaternion `start`, (4,), turned by the rotation vector `by`, (3,), rad, of the world frame."""
    b, c, d = by.tolist()
    angle = math.hypot(b, c, d)
    a, scale = math.cos(0.5 * angle), math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    b, c, d = scale * b, scale * c, scale * d
    w, x, y, z = start.tolist()
    return np.array(
        (
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )
    )
