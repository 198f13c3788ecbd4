"""The virtual coupling: its law, the gradient of its energy, action and reaction, and passivity."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry import Pose, quaternion_conjugate, quaternion_product, rotation_exp, rotation_log

SPRINGS = VirtualCoupling(300.0, rotational_stiffness=0.7)
DAMPED = VirtualCoupling(stiffness=300.0, damping=2.0, rotational_stiffness=0.7, rotational_damping=0.01)
ROTATION = VirtualCoupling(1e-30, rotational_stiffness=0.7)
DT = 1e-3


def random_pose(rng: np.random.Generator) -> Pose:
    return Pose(rng.normal(size=3), rng.normal(size=4))


def turned(pose: Pose, vector: np.ndarray) -> Pose:
    """The pose turned in place by a rotation vector of the world frame."""
    return Pose(pose.position, quaternion_product(rotation_exp(vector), pose.quaternion))


def pairs(count: int, largest: float = 2.8) -> list[tuple[Pose, Pose]]:
    """Random poses of hand and tip, turned against each other by no more than `largest`."""
    rng = np.random.default_rng(6)
    result = []
    for _ in range(count):
        tip = random_pose(rng)
        axis = rng.normal(size=3)
        hand = turned(tip, axis / np.linalg.norm(axis) * rng.uniform(0.0, largest))
        result.append((Pose(rng.normal(size=3), hand.quaternion), tip))
    return result


# ------------------------------------------------------------------------------------------------------------- the law


def test_the_law_written_with_matrices() -> None:
    """Formulas of the class's docstring in the tip's own frame, with scipy's rotations."""
    rng = np.random.default_rng(7)
    for hand, tip in pairs(50):
        twist = rng.normal(size=6) * (1, 1, 1, 100, 100, 100)
        previous = turned(Pose(tip.position + 1e-3 * rng.normal(size=3), tip.quaternion), 0.1 * rng.normal(size=3))
        force, torque = DAMPED.wrench(hand, tip, hand_velocity=twist, previous_tip=previous, dt=DT)
        R_t, R_h, R_before = (Rotation.from_matrix(pose.rotation) for pose in (tip, hand, previous))
        velocity = (tip.position - previous.position) / DT
        np.testing.assert_allclose(
            force, 300.0 * (hand.position - tip.position) + 2.0 * (twist[:3] - velocity), rtol=1e-12, atol=1e-11
        )
        followed = Rotation.from_rotvec(twist[3:] * DT) * R_before
        body = 0.7 * (R_t.inv() * R_h).as_rotvec() + 0.01 / DT * (R_t.inv() * followed).as_rotvec()
        np.testing.assert_allclose(torque, R_t.apply(body), rtol=1e-9, atol=1e-11)


def test_at_rest_together_it_does_nothing() -> None:
    pose = random_pose(np.random.default_rng(8))
    force, torque = DAMPED.wrench(pose, pose, hand_velocity=np.zeros(6), previous_tip=pose, dt=DT)
    np.testing.assert_array_equal(force, np.zeros(3))
    np.testing.assert_allclose(torque, np.zeros(3), atol=1e-15)
    assert DAMPED.energy(pose, pose) == pytest.approx(0.0, abs=1e-30)


@pytest.mark.parametrize("angle", [1e-12, 1e-6, 1.0, 3.0, math.pi - 1e-9])
def test_torque_is_exact_at_small_and_large_angles(angle: float) -> None:
    axis = np.array((2.0, 3.0, 6.0)) / 7.0
    hand = Pose((0, 0, 0), rotation_exp(angle * axis))
    for opposite in (hand, Pose((0, 0, 0), -hand.quaternion)):
        np.testing.assert_allclose(SPRINGS.wrench(opposite, Pose())[1], 0.7 * angle * axis, rtol=1e-14)


def test_wrench_is_minus_the_gradient_of_the_energy() -> None:
    step = 1e-6
    for hand, tip in pairs(30):
        force, torque = SPRINGS.wrench(hand, tip)
        for direction in np.eye(3):
            ahead, behind = (Pose(tip.position + s * step * direction, tip.quaternion) for s in (1, -1))
            slope = (SPRINGS.energy(hand, ahead) - SPRINGS.energy(hand, behind)) / (2 * step)
            assert -slope == pytest.approx(force @ direction, rel=1e-6, abs=1e-5)
            ahead, behind = (turned(tip, s * step * direction) for s in (1, -1))
            slope = (SPRINGS.energy(hand, ahead) - SPRINGS.energy(hand, behind)) / (2 * step)
            assert -slope == pytest.approx(torque @ direction, rel=1e-6, abs=1e-6)


def test_springs_act_and_react_and_exert_no_net_moment() -> None:
    for hand, tip in pairs(30):
        force, torque = SPRINGS.wrench(hand, tip)
        back_force, back_torque = SPRINGS.wrench(tip, hand)
        np.testing.assert_array_equal(back_force, -force)
        np.testing.assert_allclose(back_torque, -torque, atol=1e-14)
        # On the hand acts (−force, −torque), at its own point: the moments of the four about the origin cancel.
        moment = torque + np.cross(tip.position, force) - torque - np.cross(hand.position, force)
        np.testing.assert_allclose(moment, np.zeros(3), atol=1e-12)


def test_moving_everything_moves_the_wrench_with_it() -> None:
    rng = np.random.default_rng(9)
    for hand, tip in pairs(20):
        frame = random_pose(rng)
        twist = rng.normal(size=6)
        previous = Pose(tip.position + 1e-3, turned(tip, rng.normal(size=3) * 0.01).quaternion)
        force, torque = DAMPED.wrench(hand, tip, hand_velocity=twist, previous_tip=previous, dt=DT)
        moved_twist = np.concatenate((frame.rotation @ twist[:3], frame.rotation @ twist[3:]))
        moved = DAMPED.wrench(
            frame @ hand, frame @ tip, hand_velocity=moved_twist, previous_tip=frame @ previous, dt=DT
        )
        np.testing.assert_allclose(moved[0], frame.rotation @ force, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(moved[1], frame.rotation @ torque, rtol=1e-10, atol=1e-10)
        assert DAMPED.energy(frame @ hand, frame @ tip) == pytest.approx(DAMPED.energy(hand, tip), rel=1e-12)


def test_power_of_the_dampers() -> None:
    """What hand and tip put into the dampers is b |v_h − v_t|² + b_r |ω_h − ω_t|², whatever the lever arm."""
    dampers = VirtualCoupling(1e-30, damping=2.0, rotational_damping=0.01)
    rng = np.random.default_rng(10)
    for hand, tip in pairs(30):
        v_h, w_h, v_t, w_t = rng.normal(size=(4, 3))
        dt = 1e-7
        previous = turned(Pose(tip.position - dt * v_t, tip.quaternion), -dt * w_t)
        twist = np.concatenate((v_h, w_h))
        force, torque = dampers.wrench(hand, tip, hand_velocity=twist, previous_tip=previous, dt=dt)
        power = force @ (v_h - v_t) + torque @ (w_h - w_t)
        expected = 2.0 * (v_h - v_t) @ (v_h - v_t) + 0.01 * (w_h - w_t) @ (w_h - w_t)
        assert power == pytest.approx(expected, rel=1e-6)


def test_circling_together_is_damped_in_the_world_frame() -> None:
    """Hand and tip turn as one rigid body: the damper resists, with the net moment that the docstring names."""
    arm, spin = np.array((0.1, 0.0, 0.0)), np.array((0.0, 0.0, 3.0))
    hand, tip = Pose(arm), Pose()
    twist = np.concatenate((np.cross(spin, arm), spin))
    previous = turned(tip, -DT * spin)
    springs_only = SPRINGS.wrench(hand, tip)
    force, torque = DAMPED.wrench(hand, tip, hand_velocity=twist, previous_tip=previous, dt=DT)
    np.testing.assert_allclose(torque, springs_only[1], atol=1e-12)
    damper = force - springs_only[0]
    np.testing.assert_allclose(damper, 2.0 * np.cross(spin, arm), rtol=1e-12, atol=1e-12)
    net = np.cross(tip.position, force) - np.cross(hand.position, force)
    np.testing.assert_allclose(net, np.cross(tip.position - hand.position, damper), atol=1e-12)
    assert np.linalg.norm(net) > 0.01


# ----------------------------------------------------------------------------------------------------------- passivity


class Motion:
    """Random motions of hand and tip: `sequences` of `steps`, turned against each other by no more than 2.8 rad.

    In each step the tip turns by up to `turn` and the hand, relative to it, by up to 0.3 rad.
    """

    def __init__(self, sequences: int, steps: int, turn: float, seed: int) -> None:
        rng = np.random.default_rng(seed)

        def vectors(largest: float) -> np.ndarray:
            direction = rng.normal(size=(sequences, 3))
            direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
            return direction * rng.uniform(0.0, largest, size=(sequences, 1))

        def chain(increments: np.ndarray, start: np.ndarray) -> np.ndarray:
            return quaternion_product(rotation_exp(increments), start)

        shape = (sequences, steps + 1)
        self.tip_position = np.cumsum(rng.normal(scale=3e-3, size=(*shape, 3)), axis=1)
        self.hand_position = np.cumsum(rng.normal(scale=3e-3, size=(*shape, 3)), axis=1)
        self.tip_quaternion = np.empty((*shape, 4))
        self.hand_quaternion = np.empty((*shape, 4))
        self.tip_quaternion[:, 0] = rotation_exp(vectors(3.0))
        self.hand_quaternion[:, 0] = chain(vectors(2.8), self.tip_quaternion[:, 0])
        for i in range(steps):
            carried = vectors(turn)
            self.tip_quaternion[:, i + 1] = chain(carried, self.tip_quaternion[:, i])
            together = chain(carried, self.hand_quaternion[:, i])
            apart = chain(vectors(0.3), together)
            relative = quaternion_product(apart, quaternion_conjugate(self.tip_quaternion[:, i + 1]))
            near = np.linalg.norm(rotation_log(relative), axis=-1, keepdims=True) <= 2.8
            self.hand_quaternion[:, i + 1] = np.where(near, apart, together)
        self.hand_step = np.diff(self.hand_position, axis=1)
        self.tip_step = np.diff(self.tip_position, axis=1)
        hand_change, tip_change = (
            quaternion_product(q[:, 1:], quaternion_conjugate(q[:, :-1]))
            for q in (self.hand_quaternion, self.tip_quaternion)
        )
        self.hand_turn, self.tip_turn = rotation_log(hand_change), rotation_log(tip_change)
        self.relative_turn = rotation_log(quaternion_product(hand_change, quaternion_conjugate(tip_change)))

    def run(self, coupling: VirtualCoupling) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Force and torque at the end of each step, and the energy gained in it: (n, m, 3), (n, m, 3), (n, m)."""
        sequences, count = self.tip_position.shape[:2]
        force, torque = np.empty((2, sequences, count - 1, 3))
        energy = np.empty((sequences, count))
        velocity = np.concatenate((self.hand_step, self.hand_turn), axis=-1) / DT
        for i in range(sequences):
            hands, tips = (
                [Pose(position, quaternion) for position, quaternion in zip(positions[i], quaternions[i], strict=True)]
                for positions, quaternions in (
                    (self.hand_position, self.hand_quaternion),
                    (self.tip_position, self.tip_quaternion),
                )
            )
            energy[i] = [coupling.energy(hand, tip) for hand, tip in zip(hands, tips, strict=True)]
            for j in range(count - 1):
                force[i, j], torque[i, j] = coupling.wrench(
                    hands[j + 1], tips[j + 1], hand_velocity=velocity[i, j], previous_tip=tips[j], dt=DT
                )
        return force, torque, np.diff(energy, axis=1)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sum(a * b, axis=-1)


@pytest.mark.parametrize("coupling", [SPRINGS, DAMPED, ROTATION], ids=["springs", "damped", "rotation"])
def test_passive_step_by_step(coupling: VirtualCoupling) -> None:
    """200 random motions of 200 steps: the work put in is never less than the energy gained.

    The spring's energy is convex along each relative rotation that stays below π, so that its slope at the end of a
    step is no less than its mean slope; the dampers' work is a square.
    """
    motion = Motion(sequences=200, steps=200, turn=0.5, seed=11)
    force, torque, gain = motion.run(coupling)
    angles = np.linalg.norm(
        rotation_log(quaternion_product(motion.hand_quaternion, quaternion_conjugate(motion.tip_quaternion))), axis=-1
    )
    assert 2.75 < angles.max() <= 2.8 + 1e-12
    translation = dot(force, motion.hand_step - motion.tip_step)
    rotation = dot(torque, motion.relative_turn)
    assert (translation + rotation - gain).min() >= -1e-12 * np.abs(gain).max()
    # The dampers dissipate b |Δ(x_h − x_t)|²/Δt and b_r |relative turn|²/Δt beyond what the springs do.
    springs_force, springs_torque, _ = motion.run(SPRINGS) if coupling.damped else (force, torque, gain)
    slip = motion.hand_step - motion.tip_step
    np.testing.assert_allclose(
        dot(force - springs_force, slip), coupling.damping / DT * dot(slip, slip), rtol=1e-8, atol=1e-12
    )
    turn = motion.relative_turn
    np.testing.assert_allclose(
        dot(torque - springs_torque, turn), coupling.rotational_damping / DT * dot(turn, turn), rtol=1e-8, atol=1e-12
    )


def test_passive_at_each_side_when_one_of_them_turns() -> None:
    """With the tip's direction held, the works counted at hand and tip, each by its own rotation vector, suffice."""
    motion = Motion(sequences=20, steps=200, turn=0.0, seed=12)
    force, torque, gain = motion.run(DAMPED)
    at_hand = dot(force, motion.hand_step) + dot(torque, motion.hand_turn)
    at_tip = -dot(force, motion.tip_step) - dot(torque, motion.tip_turn)
    assert (at_hand + at_tip - gain).min() >= -1e-12 * np.abs(gain).max()


def test_works_counted_at_each_side_differ_by_the_commutator() -> None:
    """Both turn: the sum of the two works is that of the relative turn plus ½ torque · (θ_h × θ_t), to third order."""
    motion = Motion(sequences=20, steps=50, turn=0.02, seed=13)
    _, torque, _ = motion.run(SPRINGS)
    difference = dot(torque, motion.hand_turn - motion.tip_turn - motion.relative_turn)
    commutator = 0.5 * dot(torque, np.cross(motion.hand_turn, motion.tip_turn))
    sizes = [np.linalg.norm(v, axis=-1) for v in (torque, motion.hand_turn, motion.tip_turn)]
    third_order = sizes[0] * sizes[1] * sizes[2] * (sizes[1] + sizes[2])
    assert np.abs(commutator).max() > 1e-4
    assert (np.abs(difference - commutator) <= 0.2 * third_order + 1e-12).all()


# ----------------------------------------------------------------------------------------------------------- bad input


def test_positional_order_and_defaults() -> None:
    coupling = VirtualCoupling(200, 2)
    assert (coupling.stiffness, coupling.damping) == (200.0, 2.0)
    assert (coupling.rotational_stiffness, coupling.rotational_damping) == (0.0, 0.0)
    assert type(coupling.stiffness) is float
    assert coupling.damped
    assert not SPRINGS.damped
    assert VirtualCoupling(1, 0, 0, 1).damped
    with pytest.raises(AttributeError):
        coupling.stiffness = 3.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0.0,), "stiffness"),
        ((-1.0,), "stiffness"),
        ((math.inf,), "stiffness"),
        ((True,), "stiffness"),
        ((1.0, -1.0), "damping"),
        ((1.0, math.nan), "damping"),
        ((1.0, 0.0, -1.0), "rotational_stiffness"),
        ((1.0, 0.0, 0.0, "x"), "rotational_damping"),
    ],
)
def test_bad_couplings(arguments: tuple[float, ...], named: str) -> None:
    with pytest.raises(InputError, match=f"^{named} must be a finite number"):
        VirtualCoupling(*arguments)


@pytest.mark.parametrize("coupling", [VirtualCoupling(1.0, 1.0), VirtualCoupling(1.0, rotational_damping=1.0)])
def test_dampers_name_what_is_missing(coupling: VirtualCoupling) -> None:
    complete = {"hand_velocity": np.zeros(6), "previous_tip": Pose(), "dt": DT}
    for kept in itertools.chain.from_iterable(itertools.combinations(complete, n) for n in range(3)):
        missing = ", ".join(name for name in complete if name not in kept)
        with pytest.raises(InputError, match=f"^{missing} missing: a coupling with damping="):
            coupling.wrench(Pose(), Pose(), **{name: complete[name] for name in kept})  # type: ignore[arg-type]
    coupling.wrench(Pose(), Pose(), **complete)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"), [("dt", 0.0), ("dt", -1e-3), ("dt", math.nan), ("hand_velocity", (0, 0, 0))]
)
def test_bad_velocity_and_step(name: str, value: object) -> None:
    arguments = {"hand_velocity": np.zeros(6), "previous_tip": Pose(), "dt": DT, name: value}
    with pytest.raises(InputError, match=f"^{name} must be"):
        DAMPED.wrench(Pose(), Pose(), **arguments)  # type: ignore[arg-type]
