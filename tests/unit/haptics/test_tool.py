"""A rigid tool on tissue: against `press`, its work, friction, torques, on bones that move, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.zone.felt import FeltBody
from sennit.errors import InputError, SolveError
from sennit.haptics import HapticLoop, ScriptedDevice
from sennit.haptics.tissue import skeleton_table
from sennit.haptics.tool import ToolSubject, described_tool, made_tool
from tests.references.meshes import block
from tests.unit.haptics.test_tissue import SOFT, bent, chain, line  # noqa: F401  the chain is a fixture

DT = 1e-3
FIRM = sn.VirtualCoupling(1500.0)
BALL = sn.Sphere((0.0, 0.0, 0.0), 0.01)


@pytest.fixture(scope="module")
def pad() -> sn.Zone:
    vertices, faces = block((0.04, 0.04, 0.02), (16, 16, 6))
    return sn.Zone.from_mesh(vertices, faces, material=SOFT, fixed=np.flatnonzero(vertices[:, 2] < 1e-9), name="pad")


def along(subject: ToolSubject, places: np.ndarray) -> np.ndarray:
    """What the skin gets, at each place of the hand: (n, 6), N and N·m."""
    felt = []
    for place in places:
        subject.step(sn.Pose(place))
        felt.append(subject.wrench.copy())
    return np.array(felt)


def test_without_friction_it_is_press_where_the_tool_is(pad: sn.Zone) -> None:
    """And the coupling is in series: the tool is behind the hand by F/k."""
    subject = ToolSubject(FeltBody(pad), BALL, FIRM, DT)
    hand = np.array((0.021, 0.0197, 0.027))
    force = along(subject, line((0.021, 0.0197, 0.031), hand, 60))[-1, :3]
    pressed = pad.press(BALL.moved(subject.tip))
    assert subject.count == len(pressed.patch) > 10
    np.testing.assert_allclose(force, pressed.force, rtol=1e-6, atol=1e-6 * abs(force[2]))
    np.testing.assert_allclose(force, FIRM.stiffness * (hand - subject.tip.position), rtol=1e-9, atol=1e-12)
    assert subject.share == 1.0


def test_with_friction_it_is_press_step_by_step(pad: sn.Zone) -> None:
    subject = ToolSubject(FeltBody(pad), BALL, FIRM, DT, 0.4)
    path = np.concatenate((
        line((0.02, 0.02, 0.0301), (0.02, 0.02, 0.028), 100), line((0.02, 0.02, 0.028), (0.024, 0.021, 0.028), 200)
    ))  # fmt: skip
    state, off, largest = None, 0.0, 0.0
    for place in path:
        subject.step(sn.Pose(place))
        state = pad.press(BALL.moved(subject.tip), friction=0.4, after=state)
        off = max(off, float(np.abs(subject.wrench[:3] - state.force).max()))
        largest = max(largest, float(np.abs(state.force).max()))
    # where a vertex first sticks differs by a part of a step, 20 µm of 4 mm
    assert largest > 0.3 and off < 5e-3 * largest
    tangential = np.hypot(*subject.wrench[:2])
    assert 0.38 < tangential / -subject.wrench[2] < 0.6  # all slip; the imprint is drawn up in front


def test_a_chain_is_pressed_as_it_is_without_a_hand(chain: sn.ZoneChain) -> None:  # noqa: F811
    """Over the seam, on bones that bend: vertices of two zones, in two frames."""
    ball = sn.Sphere((0.0, 0.0, 0.0), 0.008)
    table = skeleton_table(chain, lambda t: bent(-0.5 * t), 1000.0, 200)
    subject = ToolSubject(FeltBody(chain), ball, FIRM, DT, 0.0, table)
    along(subject, line((0.03, 0.01, 0.0215), (0.0303, 0.0104, 0.0185), 120))
    pressed = chain.press(ball.moved(subject.tip), poses=subject.body.poses, method="direct")
    assert len(pressed.patch) == 2
    np.testing.assert_allclose(subject.wrench[:3], pressed.force, rtol=1e-6, atol=1e-6 * abs(pressed.force[2]))


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_random_pressing_takes_no_work_out(chain: sn.ZoneChain, friction: float, turns: bool) -> None:  # noqa: F811
    """A hand that trembles, jerks and twists: work since the start is never negative, as `ToolSubject` says."""
    coupling = sn.VirtualCoupling(1500.0, 0.5, *((0.05, 1e-5) if turns else ()))
    tool = sn.Box((0.008, 0.006, 0.004)) if turns else sn.Sphere((0.0, 0.0, 0.0), 0.006)
    few = sn.ZoneChain(list(chain.zones), [s.vertices for s in chain.seams], method="modes", modes=16)
    subject = ToolSubject(FeltBody(few), tool, coupling, DT, friction)
    rng = np.random.default_rng(int(10 * friction + turns))
    x, v, turn, spin = np.array((0.03, 0.01, 0.025)), np.zeros(3), np.zeros(3), np.zeros(3)
    before = sn.Pose(x)
    subject.step(before)
    work = turned = least = 0.0
    touched = failed = 0
    for k in range(1200):
        goal = np.array((0.03 + 0.012 * np.sin(k / 110.0), 0.01 + 0.006 * np.cos(k / 130.0), 0.0165))
        if turns:
            goal[2] = 0.0125
        v = 0.97 * v + 2e-5 * rng.normal(size=3) + 1e-3 * (goal - x)
        spin = 0.95 * spin + 5e-4 * turns * rng.normal(size=3) - 2e-4 * turn
        if rng.random() < 0.004:
            v += 5e-4 * rng.normal(size=3)
        x, turn = x + v, turn + spin
        angle = float(np.linalg.norm(turn))
        pose = sn.Pose(x, (np.cos(angle / 2), *(np.sin(angle / 2) / max(angle, 1e-12) * turn)))
        try:
            subject.step(pose)
        except SolveError:
            failed += 1
            continue
        done = float(subject.wrench[:3] @ (pose.position - before.position))
        a, b = pose.quaternion, before.quaternion
        relative = sn.Pose((0, 0, 0), a) @ sn.Pose((0, 0, 0), b).inverse()
        q = relative.quaternion * np.sign(relative.quaternion[0])
        done += float(subject.wrench[3:] @ (2.0 * q[1:] * (1.0 + (q[1:] @ q[1:]) / 6.0)))
        before = pose
        work, turned = work + done, turned + abs(done)
        least = min(least, work)
        touched += subject.touching
    assert touched > 200 and turned > 0.0 and failed <= 12, (touched, failed)
    assert least >= -1e-9 * turned
    assert subject.budget >= 0.0


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_random_pressing_of_bones_that_move_takes_no_more_out_than_was_put_in(
    chain: sn.ZoneChain,  # noqa: F811
    friction: float,
) -> None:
    """Bones work by the mean force of a tick on what each vertex that is pressed is carried by: places of the full
    solve without a tool, in `ZoneChain.solve`.
    """
    few = sn.ZoneChain(list(chain.zones), [s.vertices for s in chain.seams], method="modes", modes=16)
    rng, ticks = np.random.default_rng(int(10 * friction)), 500
    angles = 0.12 * np.sin(np.cumsum(rng.normal(size=ticks)) * 3e-3) + 0.1 * np.sin(np.arange(ticks) / 35.0)
    table = skeleton_table(few, lambda t: bent(float(angles[min(round(t * 1000), ticks - 1)])), 1000.0, ticks)
    tool = sn.Sphere((0.0, 0.0, 0.0), 0.006)
    subject = ToolSubject(FeltBody(few), tool, sn.VirtualCoupling(1500.0, 0.5), DT, friction, table)
    body = subject.body
    x, v = np.array((0.034, 0.01, 0.021)), np.zeros(3)
    subject.step(sn.Pose(x))
    work = turned = least = share = 0.0
    touched, before = 0, (np.zeros(0, np.int64), np.zeros((0, 3)), few.solve(body.poses).positions())
    for k in range(1, ticks):
        goal = np.array((0.034 + 0.01 * np.sin(k / 70.0), 0.01 + 0.005 * np.cos(k / 90.0), 0.0166))
        v = 0.97 * v + 2e-5 * rng.normal(size=3) + 2e-3 * (goal - x)
        old, x = x, x + v
        share = subject.share
        subject.step(sn.Pose(x))
        ids, forces = subject.press.ids.copy(), subject._carried[2]  # those that may touch, and theirs
        places = few.solve(body.poses).positions()
        zones, own = body.vertex_zone, body.vertex_of
        done = 0.0
        for i, force in zip(ids.tolist(), forces, strict=True):
            past = before[1][before[0] == i]
            if len(past):
                moved = places[zones[i]][own[i]] - before[2][zones[i]][own[i]]
                done -= 0.5 * float((force + past[0]) @ moved)
        before = ids, forces, places
        hand = float(forces.sum(axis=0) @ (x - old))
        work, turned = work + subject.share * (hand + done), turned + abs(hand) + abs(done)
        least = min(least, work)
        touched += subject.touching
    assert touched > 150 and turned > 1e-4 and 0.0 < share <= 1.0
    assert least >= -1e-9 * turned and subject.budget >= 0.0


def test_a_tool_that_is_tilted_is_felt_as_a_torque(pad: sn.Zone) -> None:
    """A box pressed down and turned in the hand: the torque is the coupling's, and of the moment of the contact."""
    coupling = sn.VirtualCoupling(1500.0, 0.0, 0.2)
    subject = ToolSubject(FeltBody(pad), sn.Box((0.016, 0.016, 0.01)), coupling, DT)
    for k in range(101):
        z, angle = 0.0252 - 2e-3 * min(k / 60, 1.0), 0.06 * max(k - 60, 0) / 40
        subject.step(sn.Pose((0.02, 0.02, z), (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)))
    force, torque = subject.wrench[:3], subject.wrench[3:]
    # the tool has turned less than the hand, by the torque over the coupling's stiffness; small beside one another
    tip = 2.0 * np.arcsin(subject.tip.quaternion[2])
    assert torque[1] == pytest.approx(0.2 * (0.06 - tip), rel=1e-6) and 0.0 < tip < 0.06
    pressed = pad.press(subject.tool.moved(subject.tip))
    np.testing.assert_allclose(force, pressed.force, rtol=5e-3, atol=5e-3 * abs(force[2]))
    arm = np.cross(pressed.positions[pressed.patch] - subject.tip.position, pressed.contact_forces).sum(axis=0)
    assert torque[1] == pytest.approx(arm[1], rel=0.02)


def test_a_tool_that_begins_inside_is_told_of_and_the_support_is_firm(pad: sn.Zone) -> None:
    subject = ToolSubject(FeltBody(pad), BALL, FIRM, DT)
    with pytest.raises(InputError, match=r"the tool reaches 2 mm into pad when the hand takes hold.*Begin outside"):
        subject.step(sn.Pose((0.02, 0.02, 0.028)))
    assert not subject.wrench.any()
    assert along(subject, line((0.02, 0.02, 0.0305), (0.02, 0.02, 0.028), 40))[-1, 2] < -0.1
    subject.step(None)
    assert not subject.wrench.any() and not subject.touching
    subject = ToolSubject(FeltBody(pad), BALL, FIRM, DT)
    assert along(subject, line((0.02, 0.02, -0.0105), (0.02, 0.02, -0.009), 40))[-1, 2] == pytest.approx(1.5, rel=1e-3)


def test_a_loop_with_a_tool_is_what_steps_are(chain: sn.ZoneChain) -> None:  # noqa: F811
    ball = sn.Sphere((0.0, 0.0, 0.001), 0.006)
    path = line((0.035, 0.01, 0.0185), (0.033, 0.01, 0.015), 80)
    hand = ScriptedDevice(path)
    with HapticLoop(chain, hand, coupling=FIRM, tool=ball, friction=0.3) as loop:
        loop.wait()
    assert loop.statistics.ticks == len(path) and loop.statistics.failed == 0
    felt = along(ToolSubject(FeltBody(chain), ball, FIRM, DT, 0.3), path)
    assert np.abs(felt[:, 2]).max() > 0.1
    np.testing.assert_allclose(hand.forces[-1], -felt[-1, :3], rtol=1e-5, atol=1e-7)


def test_tools_travel_and_bad_ones_are_refused(pad: sn.Zone) -> None:
    wedge = sn.Mesh(*block((0.01, 0.01, 0.01), (1, 1, 1)))
    pose = sn.Pose((0.1, 0.2, 0.3), (0.6, 0.0, 0.8, 0.0))
    for shape in (BALL, sn.Box((1.0, 2.0, 3.0)), sn.Capsule(0.1, 0.3), sn.Cylinder(0.1, 0.3),
                  sn.Plane((0, 0, 1), (0, 1, 1)), wedge):  # fmt: skip
        moved = shape.moved(pose)
        again = made_tool(described_tool(moved))
        points = np.random.default_rng(0).normal(size=(20, 3))
        assert again._same_form(shape)
        np.testing.assert_allclose(again.signed_distance(points), moved.signed_distance(points), atol=1e-12)
    hand = ScriptedDevice(np.tile((0.02, 0.02, 0.04), (10, 1)))
    with pytest.raises(InputError, match="tool must be one shape of Box, .* got 3"):
        HapticLoop(pad, hand, coupling=FIRM, tool=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a probe or a tool"):
        HapticLoop(pad, hand, coupling=FIRM, tool=BALL, probe=0.01)
    with pytest.raises(InputError, match="only a damper turns"):
        HapticLoop(pad, hand, coupling=sn.VirtualCoupling(100.0, 0.0, 0.0, 1.0), tool=BALL)
    with pytest.raises(InputError, match="are for a sennit.Zone"):
        HapticLoop(sn.Scene(), sn.MouseDevice(), coupling=FIRM, tool=BALL)


@pytest.mark.parametrize("holds", ["probe", "tool"])
def test_a_loop_that_begins_inside_lets_the_hand_go_until_it_was_outside(pad: sn.Zone, holds: str) -> None:
    """No force while nobody knows how it came in, then no jump: the force grows as the skin gives way."""
    radius = 0.01 if holds == "tool" else 0.0
    above = np.concatenate((np.full(40, -2e-3), line(-2e-3, 1e-3, 60), line(1e-3, -2e-3, 120)))
    hand = ScriptedDevice(np.stack((np.full(220, 0.02), np.full(220, 0.02), 0.02 + radius + above), axis=1))
    given = {"tool": BALL} if holds == "tool" else {"probe": 6e-3}
    with HapticLoop(pad, hand, coupling=FIRM, friction=0.3, **given) as loop:
        loop.wait()
    force = np.linalg.norm(hand.forces, axis=1)
    assert not force[:100].any() and force[-1] > 0.2
    assert loop.statistics.failed >= 40
    assert any(note.kind == "failed" and "Begin outside" in note.text for note in loop.notes)
    assert np.abs(np.diff(force)).max() <= 1.01 * FIRM.stiffness * 1e-3  # what a hand of 1 m/s could do in a tick
    assert np.abs(np.diff(force)).max() < 0.1 * force.max()


def test_bones_that_tear_a_seam_apart_on_their_way_are_refused(chain: sn.ZoneChain) -> None:  # noqa: F811
    hand = ScriptedDevice(np.tile((0.02, 0.01, 0.03), (500, 1)))

    def skeleton(t: float) -> list[sn.Pose]:
        return [sn.Pose(), sn.Pose((max(t - 0.2, 0.0), 0.0, 0.0))]

    with pytest.raises(InputError, match=r"tears seam 0 apart: at 0\.2.* s its sides, zones 0 and 1, .* mm apart"):
        HapticLoop(chain, hand, coupling=FIRM, tool=BALL, skeleton=skeleton)
