"""What the hand feels against `VirtualCoupling`, and the work that it does against the energy that is there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn
from sennit.demos import suture
from sennit.haptics.subjects import SceneSubject, StrandSubject, _quaternion

DT = 1e-3
COUPLING = sn.VirtualCoupling(400.0, 3.0)
TURNING = sn.VirtualCoupling(400.0, 3.0, rotational_stiffness=0.5, rotational_damping=2e-3)


def rope() -> tuple[sn.Scene, sn.Rod]:
    scene = sn.Scene(drag=0.5)
    material = sn.Material(2e7, 0.4, 1100.0, relaxation_time=2e-3)
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(0.01), material=material, control_points=8)
    )
    scene.add(sn.Fix(rod.at(0.0)))
    scene.add(sn.Fix(rod.at(1.0)))
    scene.settle()
    return scene, rod


def box() -> tuple[sn.Scene, sn.RigidBody]:
    scene = sn.Scene(gravity=(0, 0, 0))
    return scene, scene.add(sn.RigidBody.box((0.1, 0.2, 0.3), mass=1.5))


def swing(t: float, start: np.ndarray, part: float = 1.0) -> sn.Pose:
    """A closed path of half a second, or a smaller one."""
    angle = 2 * math.pi * t / 0.5
    turn = 0.4 * part * math.sin(angle)
    axis = np.array((0.6, 0.0, 0.8)) * math.sin(turn / 2)
    place = start + 0.06 * part * np.array((math.sin(angle), 1 - math.cos(angle), math.sin(2 * angle)))
    return sn.Pose(place, (math.cos(turn / 2), *axis))


def difference(after: sn.Pose, before: sn.Pose) -> np.ndarray:
    from sennit.coupling import _turn_between

    return np.concatenate(
        ((after.position - before.position) / DT, _turn_between(after.quaternion, before.quaternion) / DT)
    )


def test_a_rope_is_pulled_as_the_coupling_says() -> None:
    """To rounding: a point of a rod is linear in its degrees of freedom, so one linear solve is exact."""
    scene, rod = rope()
    grip = rod.at(0.4)
    subject = SceneSubject(scene, grip, COUPLING, DT)
    start, before, hand_before = grip.position, None, None
    for k in range(100):
        hand = sn.Pose(swing(k * DT, start).position)
        tip_before = sn.Pose(grip.position)
        subject.step(hand)
        tip = sn.Pose(grip.position)
        if before is not None:
            force, _ = COUPLING.wrench(
                hand, tip, hand_velocity=difference(hand, hand_before), previous_tip=tip_before, dt=DT
            )
            np.testing.assert_allclose(subject.wrench[:3], force, rtol=1e-9, atol=1e-9)
        before, hand_before = tip_before, hand
        np.testing.assert_allclose(subject.place()[:3], tip.position)
    assert np.linalg.norm(subject.wrench) > 1.0 and not subject.wrench[3:].any()


def test_a_box_is_pulled_and_turned_as_the_coupling_says() -> None:
    """But for the square of the angle between hand and grip, by which two ways to take its rate differ."""
    errors = []
    for part in (1.0, 0.5):
        scene, body = box()
        grip = body.at((0.0, 0.1, 0.0))
        subject = SceneSubject(scene, grip, TURNING, DT)
        start, hand_before, worst = grip.position, None, 0.0
        for k in range(100):
            hand, tip_before = swing(k * DT, start, part), grip.pose
            subject.step(hand)
            if hand_before is not None:
                twist = difference(hand, hand_before)
                wanted = TURNING.wrench(hand, grip.pose, hand_velocity=twist, previous_tip=tip_before, dt=DT)
                worst = max(worst, float(np.linalg.norm(subject.wrench[:3] - wanted[0]) / (1.0 * part)))
                worst = max(worst, float(np.linalg.norm(subject.wrench[3:] - wanted[1]) / (0.1 * part)))
            hand_before = hand
        errors.append(worst)
        np.testing.assert_allclose(np.abs(subject.place()[3:]), np.abs(grip.pose.quaternion), atol=1e-9)
    assert errors[0] < 2e-3 and errors[1] < 0.35 * errors[0]


@pytest.mark.parametrize("coupling", [COUPLING, TURNING, sn.VirtualCoupling(2000.0)])
def test_a_closed_path_of_the_hand_takes_no_energy_out(coupling: sn.VirtualCoupling) -> None:
    """Work of the hand ≥ energy gained, at every moment since the start, springs of the coupling included."""
    scene, rod = rope()
    grip = rod.at(0.4)
    subject = SceneSubject(scene, grip, coupling, DT)
    place = grip.pose
    first = scene.energy.total
    subject.step(place)
    work, before, worst = 0.0, place, 0.0
    for k in range(1, 1001):
        moved = swing(k * DT, place.position)
        hand = sn.Pose(moved.position, (moved @ sn.Pose((0, 0, 0), place.quaternion)).quaternion)
        subject.step(hand)
        motion = difference(hand, before) * DT
        work += float(subject.wrench @ motion)
        worst = min(worst, work - (scene.energy.total - first))
        before = hand
    # the path is closed: the hand is where it began, twice over
    np.testing.assert_allclose(before.position, place.position, atol=1e-12)
    typical = 0.5 * coupling.stiffness * 0.06**2
    assert work > 0.01 * typical  # it has stirred the rope
    assert worst > -1e-3 * typical  # what the linearisation of the rotation leaves; nothing otherwise


def test_a_hand_that_takes_hold_elsewhere_does_not_strike() -> None:
    """No damper takes the way between letting go and taking hold for a velocity."""
    scene, rod = rope()
    grip = rod.at(0.4)
    coupling = sn.VirtualCoupling(10.0, 50.0)
    subject = SceneSubject(scene, grip, coupling, DT)
    here = grip.position
    subject.step(sn.Pose(here))
    for _ in range(5):
        subject.step(None)
        assert not subject.wrench.any()
    subject.step(sn.Pose(here + np.array((0.0, 0.1, 0.0))))
    # the spring alone: 1 N; a damper that saw 0.1 m in a millisecond would pull with 5000 N
    assert np.linalg.norm(subject.wrench[:3]) < 1.5


@pytest.mark.parametrize("coupling", [sn.VirtualCoupling(10.0, 50.0), sn.VirtualCoupling(10.0, 50.0, 0.01, 0.01)])
def test_a_hand_after_a_pause_does_not_strike(coupling: sn.VirtualCoupling) -> None:
    """It went 0.1 m while nothing was stepped: taken anew, or for the way of 100 ticks, but not of one (5000 N)."""
    wrenches = []
    for periods in (0, 100):
        scene, rod = rope()
        grip = rod.at(0.4)
        subject = SceneSubject(scene, grip, coupling, DT)
        here = grip.pose
        subject.step(here)
        if not periods:
            subject.afresh()
        subject.step(sn.Pose(here.position + np.array((0.0, 0.1, 0.0)), here.quaternion), max(periods, 1))
        wrenches.append(subject.wrench[:3])
    assert np.linalg.norm(wrenches[0]) < 1.5  # the spring's
    # and the damper's at 1 m/s, less what the rope gives way
    assert 20.0 < np.linalg.norm(wrenches[1]) < 51.0


def test_a_strand_after_a_pause_is_not_struck(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand's velocity that its solve is given: the way since the last step over the time that it took."""
    strand, coupling = suture.thread(), sn.VirtualCoupling(50.0, 1.0)
    given: list[dict[str, object]] = []
    solve = strand.solve

    def noted(**conditions: object) -> sn.StrandState:
        given.append(conditions)
        return solve(**conditions)  # type: ignore[arg-type]

    monkeypatch.setitem(vars(strand), "solve", noted)
    subject = StrandSubject(strand, suture.base(), coupling, DT)
    hands = [suture.grip(0.1 + 0.001 * k) for k in range(4)]
    subject.step(hands[0])
    subject.step(hands[1])
    subject.step(hands[2], 10)
    subject.afresh()
    assert not subject.wrench.any()
    subject.step(hands[3])
    np.testing.assert_allclose(given[1]["hand_velocity"], difference(hands[1], hands[0]))
    np.testing.assert_allclose(given[2]["hand_velocity"], difference(hands[2], hands[1]) / 10)
    assert given[2]["coupling"] is coupling
    assert not np.any(given[3]["hand_velocity"]) and given[3]["coupling"].damping == 0.0  # type: ignore[attr-defined]


def test_a_strand_that_lets_go_without_a_solution_has_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = StrandSubject(suture.thread(), suture.base(), sn.VirtualCoupling(50.0, 1.0), DT)
    subject.step(suture.grip(0.1))
    kept = subject.state
    assert kept is not None
    failed = sn.StrandState(kept.strand, kept._solution, sn.SolveReport("failed", 3, 1.0, "energy", 201, "lost"))
    with monkeypatch.context() as patched:
        patched.setitem(vars(subject.strand), "solve", lambda **_: failed)
        with pytest.raises(sn.SolveError):
            subject.step(None)
    assert subject.state is kept and subject._hand is None  # what it does next is no motion from there


def test_rehearsal_leaves_no_trace() -> None:
    one, two = rope(), rope()
    grips = [rod.at(0.4) for _, rod in (one, two)]
    subjects = [SceneSubject(pair[0], grip, TURNING, DT) for pair, grip in zip((one, two), grips, strict=True)]
    subjects[0].rehearse()
    assert subjects[0].time == 0.0 and not subjects[0].wrench.any()
    for k in range(20):
        for subject, grip in zip(subjects, grips, strict=True):
            subject.step(swing(k * DT, grip.position))
        np.testing.assert_array_equal(subjects[0].wrench, subjects[1].wrench)


def test_another_point_can_be_held() -> None:
    scene, rod = rope()
    subject = SceneSubject(scene, None, COUPLING, DT)
    subject.step(sn.Pose((0, 0, 1)))
    assert not subject.wrench.any() and len(scene.constraints) == 2
    subject.hold(rod.at(0.3))
    subject.step(sn.Pose((0.3, 0.0, 0.1)))
    assert subject.wrench[2] > 0.0
    subject.hold(rod.at(0.6))
    assert len(scene.constraints) == 3 and subject.grip is not None and subject.grip.s == 0.6  # type: ignore[attr-defined]
    subject.let_go()
    assert len(scene.constraints) == 2


def test_a_strand_is_pulled_as_its_own_solve_says() -> None:
    strand, coupling = suture.thread(), sn.VirtualCoupling(50.0, 0.1, 0.01, 1e-5)
    subject = StrandSubject(strand, suture.base(), coupling, DT, np.array(suture.GRAVITY))
    state, before = None, None
    for k in range(50):
        hand = suture.grip(0.1 + k / 4000)
        subject.step(hand)
        twist = np.zeros(6) if before is None else difference(hand, before)
        state = strand.solve(
            base=suture.base(), coupling=coupling, hand=hand, hand_velocity=twist, dt=DT, guess=state,
            max_iterations=None if state is None else 3, throw=False, gravity=suture.GRAVITY,
        )  # fmt: skip
        np.testing.assert_allclose(-subject.wrench[:3], state.hand_force, rtol=1e-6, atol=1e-11)
        np.testing.assert_allclose(-subject.wrench[3:], state.hand_torque, rtol=1e-6, atol=1e-11)
        np.testing.assert_allclose(subject.place()[:3], state.positions[-1], atol=1e-9)
        before = hand
    assert subject.time == pytest.approx(50 * DT)


def test_a_strand_that_is_let_go_hangs_free() -> None:
    strand = suture.thread()
    subject = StrandSubject(strand, suture.base(), sn.VirtualCoupling(50.0, 0.1), DT, np.array(suture.GRAVITY))
    for k in range(5):
        subject.step(suture.grip(0.1 + k / 4000))
    for _ in range(60):
        subject.step(None)
    assert not subject.wrench.any()
    free = strand.solve(base=suture.base(), gravity=suture.GRAVITY)
    np.testing.assert_allclose(subject.place()[:3], free.positions[-1], atol=1e-7)


def test_a_strand_without_a_solution_keeps_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = StrandSubject(suture.thread(), suture.base(), sn.VirtualCoupling(50.0), DT)
    subject.step(suture.grip(0.1))
    kept, wrench = subject.state, subject.wrench
    assert kept is not None
    failed = sn.StrandState(kept.strand, kept._solution, sn.SolveReport("failed", 3, 1.0, "energy", 201, "lost"))
    monkeypatch.setitem(vars(subject.strand), "solve", lambda **_: failed)
    with pytest.raises(sn.SolveError, match="lost"):
        subject.step(suture.grip(0.2))
    assert subject.state is kept and subject.wrench is wrench and subject.time == pytest.approx(DT)


@pytest.mark.parametrize("seed", range(6))
def test_quaternions_of_matrices(seed: int) -> None:
    q = np.random.default_rng(seed).normal(size=4)
    if seed >= 2:
        q[seed - 2] *= 30.0  # each of the four may be the largest
    pose = sn.Pose((0, 0, 0), q)
    found = np.array(_quaternion(pose.rotation.ravel().tolist()))
    np.testing.assert_allclose(found * np.sign(found @ pose.quaternion), pose.quaternion, atol=1e-12)
