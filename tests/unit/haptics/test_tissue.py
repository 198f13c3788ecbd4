"""Tissue under a probe: against `touch` and the full solve, its work, on bones that move, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.zone.felt import FeltBody
from sennit.errors import InputError
from sennit.haptics import HapticLoop, ScriptedDevice
from sennit.haptics.tissue import TissueSubject, skeleton_table
from tests.references.meshes import block

DT = 1e-3
SOFT = sn.Material(5e4, 0.45, 1000.0)
RADIUS = 6e-3
FIRM = sn.VirtualCoupling(1500.0)


@pytest.fixture(scope="module")
def pad() -> sn.Zone:
    vertices, faces = block((0.04, 0.04, 0.02), (10, 10, 5))
    return sn.Zone.from_mesh(vertices, faces, material=SOFT, fixed=np.flatnonzero(vertices[:, 2] < 1e-9), name="pad")


@pytest.fixture(scope="module")
def chain() -> sn.ZoneChain:
    """Two blocks along x, joined at x = 0.03."""
    zones, ends = [], []
    for start in (0.0, 0.03):
        vertices, faces = block((0.03, 0.02, 0.012), (10, 7, 4), (start, 0.0, 0.0))
        x = vertices[:, 0] - start
        fixed = np.flatnonzero((vertices[:, 2] < 1e-9) & (x > 0.005) & (x < 0.025))
        zones.append(sn.Zone.from_mesh(vertices, faces, material=SOFT, fixed=fixed, name=f"block at {start}"))
        ids = np.flatnonzero(np.abs(vertices[:, 0] - 0.03) < 1e-9)
        ends.append(ids[np.lexsort(np.round(vertices[ids], 9).T)])
    return sn.ZoneChain(zones, [tuple(ends)])


def bent(angle: float) -> list[sn.Pose]:
    """The second block turned about the line through the seam's middle."""
    joint = sn.Pose((0.03, 0.0, 0.006))
    turn = sn.Pose((0, 0, 0), (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0))
    return [sn.Pose(), joint @ turn @ joint.inverse()]


def along(subject: TissueSubject, places: np.ndarray) -> np.ndarray:
    """What the skin gets, at each place of the hand: (n, 3), N."""
    felt = []
    for place in places:
        subject.step(sn.Pose(place))
        felt.append(subject.wrench[:3].copy())
    return np.array(felt)


def line(start: object, end: object, count: int) -> np.ndarray:
    return np.linspace(np.asarray(start, float), np.asarray(end, float), count)


def ripple(values: np.ndarray, degree: int = 6) -> float:
    part = np.linspace(-1.0, 1.0, len(values))
    smooth = np.polynomial.polynomial.polyval(part, np.polynomial.polynomial.polyfit(part, values, degree))
    return float(np.abs(values / smooth - 1.0).max())


def test_a_push_is_that_of_touch_in_series_with_the_coupling(pad: sn.Zone) -> None:
    subject = TissueSubject(FeltBody(pad, RADIUS), FIRM, DT, 0.5)
    depth = 2e-3
    force = along(subject, line((0.021, 0.019, 0.025), (0.021, 0.019, 0.02 - depth), 200))[-1]
    touched = pad.touch((0.021, 0.019, 0.02), displacement=(0.0, 0.0, -depth), radius=RADIUS)
    series = touched.probe.compliance + np.eye(3) / FIRM.stiffness
    # The patch's centre is the place that is touched but for the quadrature of its weights: micrometres.
    assert subject.anchor is not None
    centre = subject.body.feel(subject.anchor).centre
    np.testing.assert_allclose(centre, (0.021, 0.019, 0.02), atol=2e-6)
    np.testing.assert_allclose(force, np.linalg.solve(series, (0.021, 0.019, 0.02 - depth) - centre), rtol=1e-9)
    assert subject.contact.share[0] == 1.0


def test_a_chain_is_felt_as_touch_says_at_any_pose(chain: sn.ZoneChain) -> None:
    body = FeltBody(chain, 5e-3)
    poses = bent(0.3)
    body.place(poses)
    place = np.array((0.052, 0.011, 0.012))
    anchor, gap = body.nearest(poses[1] @ place)
    assert anchor.zone == 1 and abs(gap) < 1e-12
    felt = body.feel(anchor)
    touched = chain.touch(1, place, poses=poses, force=(0, 0, -1), radius=5e-3, method="direct")
    R, probe = poses[1].rotation, touched.probe
    # sweeps against direct; 1e-8 is their tolerance
    np.testing.assert_allclose(felt.compliance, R @ probe.compliance @ R.T, rtol=1e-6, atol=1e-9)
    free = chain.solve(poses, method="direct")
    np.testing.assert_allclose(felt.centre, probe.weights @ free.positions()[1][probe.vertices], atol=1e-9)


def test_a_probe_slides_over_vertices_and_edges_without_ripple(pad: sn.Zone) -> None:
    subject = TissueSubject(FeltBody(pad, RADIUS), FIRM, DT)
    along(subject, line((0.014, 0.0193, 0.021), (0.014, 0.0193, 0.0185), 300))
    felt = along(subject, line((0.014, 0.0193, 0.0185), (0.026, 0.0207, 0.0185), 3000))
    assert ripple(-felt[:, 2]) < 0.01
    assert np.abs(np.diff(felt, axis=0)).max() < 1e-3 * np.abs(felt).max()


def test_a_probe_slides_over_a_seam_without_a_jump(chain: sn.ZoneChain) -> None:
    subject = TissueSubject(FeltBody(chain, 5e-3), FIRM, DT)
    along(subject, line((0.022, 0.01, 0.013), (0.022, 0.01, 0.011), 300))
    felt = along(subject, line((0.022, 0.01, 0.011), (0.038, 0.01, 0.011), 2000))
    assert subject.anchor is not None and subject.anchor.zone == 1
    assert ripple(-felt[:, 2], 8) < 0.01
    assert np.abs(np.diff(felt, axis=0)).max() < 2e-3 * np.abs(felt).max()


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_random_probing_takes_no_work_out(pad: sn.Zone, friction: float, damping: float) -> None:
    """A hand that trembles, jerks, slides off edges and pushes deep: work since the start is never negative."""
    subject = TissueSubject(FeltBody(pad, RADIUS), sn.VirtualCoupling(1500.0, damping), DT, friction)
    rng = np.random.default_rng(int(10 * friction + 100 * damping))
    x, v = np.array((0.02, 0.02, 0.03)), np.zeros(3)
    subject.step(sn.Pose(x))
    work = turned = least = 0.0
    touched = 0
    for k in range(3000):
        goal = np.array((0.02 + 0.015 * np.sin(k / 170.0), 0.02 + 0.015 * np.cos(k / 230.0), 0.019))
        v = 0.98 * v + 3e-5 * rng.normal(size=3) + 1e-3 * (goal - x)
        if rng.random() < 0.003:
            v += 1e-3 * rng.normal(size=3)
        before, x = x, x + v
        subject.step(sn.Pose(x))
        assert np.isfinite(subject.wrench).all()
        done = float(subject.wrench[:3] @ (x - before))
        work, turned = work + done, turned + abs(done)
        least = min(least, work)
        touched += subject.touching
    assert touched > 300 and turned > 0.0
    assert least >= -1e-9 * turned
    assert subject.budget >= 0.0


def test_friction_holds_up_to_its_limit(pad: sn.Zone) -> None:
    subject = TissueSubject(FeltBody(pad, RADIUS), FIRM, DT, 0.3)
    along(subject, line((0.015, 0.02, 0.021), (0.015, 0.02, 0.018), 200))
    felt = along(subject, line((0.015, 0.02, 0.018), (0.022, 0.02, 0.018), 500))
    ratio = np.hypot(felt[:, 0], felt[:, 1]) / -felt[:, 2]
    assert ratio[1] < 0.1 and ratio.max() == pytest.approx(0.3, rel=1e-9)
    assert felt[-1, 0] > 0.0  # drags the skin along with it


def test_bones_that_move_push_a_hand_that_is_held_still(chain: sn.ZoneChain) -> None:
    table = skeleton_table(chain, lambda t: bent(-0.25 * min(t / 0.2, 1.0)), 1000.0, 250)
    subject = TissueSubject(FeltBody(chain, 5e-3), FIRM, DT, 0.2, table)
    felt = along(subject, np.tile((0.05, 0.01, 0.0125), (300, 1)))
    assert not felt[0].any() and -felt[-1, 2] > 0.05  # the second block rises into the probe
    np.testing.assert_array_equal(felt[-1], felt[-2])  # and stays where the table ends
    assert np.abs(np.diff(felt, axis=0)).max() < 0.1 * np.abs(felt).max()


def test_a_probe_that_begins_inside_is_told_of_and_felt_once_it_was_outside(pad: sn.Zone) -> None:
    subject = TissueSubject(FeltBody(pad, RADIUS), FIRM, DT)
    with pytest.raises(InputError, match=r"mm inside pad when the hand takes hold.*Begin outside"):
        subject.step(sn.Pose((0.02, 0.02, 0.017)))
    assert not subject.wrench.any()
    force = along(subject, line((0.02, 0.02, 0.021), (0.02, 0.02, 0.018), 100))[-1]
    assert force[2] < -0.1
    subject.step(None)
    assert not subject.wrench.any() and not subject.touching


def test_the_support_is_firm(pad: sn.Zone) -> None:
    subject = TissueSubject(FeltBody(pad, RADIUS), FIRM, DT)
    force = along(subject, line((0.02, 0.02, -0.002), (0.02, 0.02, 0.001), 100))[-1]
    np.testing.assert_allclose(force[2], 1.5, rtol=1e-3)


def test_a_loop_of_tissue_is_what_steps_are(chain: sn.ZoneChain) -> None:
    def skeleton(t: float) -> list[sn.Pose]:
        return bent(0.3 * t)

    few = sn.ZoneChain(
        list(chain.zones), [s.vertices for s in chain.seams], method="modes", modes=16
    )  # fmt: skip
    path = np.concatenate(
        (line((0.05, 0.01, 0.0135), (0.05, 0.01, 0.0105), 60), line((0.05, 0.01, 0.0105), (0.045, 0.01, 0.0105), 60))
    )
    hand = ScriptedDevice(path)
    with HapticLoop(few, hand, coupling=FIRM, probe=5e-3, friction=0.2, skeleton=skeleton) as loop:
        loop.wait()
    assert loop.statistics.ticks == len(path) and loop.statistics.failed == 0
    subject = TissueSubject(FeltBody(few, 5e-3), FIRM, DT, 0.2, skeleton_table(few, skeleton, 1000.0, len(path)))
    felt = along(subject, path)
    assert np.abs(felt[:, 2]).max() > 0.05
    np.testing.assert_allclose(hand.forces[-1], -felt[-1], rtol=1e-6, atol=1e-9)


def test_bad_input_is_refused(pad: sn.Zone, chain: sn.ZoneChain) -> None:
    hand = ScriptedDevice(np.tile((0.02, 0.02, 0.03), (10, 1)))
    with pytest.raises(InputError, match="probe must be a finite number above 0, got -1.0"):
        HapticLoop(pad, hand, coupling=FIRM, probe=-1.0)
    with pytest.raises(InputError, match="tissue is touched by a probe"):
        HapticLoop(pad, hand, coupling=FIRM, base=sn.Pose())
    with pytest.raises(InputError, match="nothing turns"):
        HapticLoop(pad, hand, coupling=sn.VirtualCoupling(100.0, 0.0, 1.0))
    with pytest.raises(InputError, match="tears seam 0 apart: at 0 s.*mm apart"):
        HapticLoop(chain, hand, coupling=FIRM, skeleton=lambda t: [sn.Pose(), sn.Pose((0.05, 0.0, 0.0))])
    with pytest.raises(InputError, match="2 sennit.Route of poses"):
        HapticLoop(chain, hand, coupling=FIRM, skeleton=[sn.Route([0, 1], [(0, 0, 0), (0, 0, 1)])])
    with pytest.raises(InputError, match="are for a sennit.Zone"):
        HapticLoop(sn.Scene(), sn.MouseDevice(), coupling=FIRM, probe=0.01)
    loose = sn.Zone.from_mesh(pad.vertices, pad.faces, material=SOFT)
    with pytest.raises(InputError, match="held by nothing"):
        HapticLoop(loose, hand, coupling=FIRM)
    with pytest.raises(InputError, match="multiple of 4"):
        sn.ZoneChain(list(chain.zones), [s.vertices for s in chain.seams], method="modes", modes=18)


def test_zones_that_overlap_are_refused(chain: sn.ZoneChain) -> None:
    vertices, faces = block((0.03, 0.02, 0.012), (10, 7, 4), (0.0, 0.0, 0.0))
    inner = vertices.copy()
    inner[:, 0] = 0.03 - 0.6 * inner[:, 0]  # folds back into the first block
    ids = np.flatnonzero(np.abs(vertices[:, 0] - 0.03) < 1e-9)
    others = np.flatnonzero(np.abs(inner[:, 0] - 0.03) < 1e-9)
    first = chain.zones[0]
    held = np.flatnonzero((inner[:, 2] < 1e-9) & (inner[:, 0] < 0.025))
    second = sn.Zone.from_mesh(inner, faces[:, ::-1], material=SOFT, fixed=held, name="folded")
    order = lambda v, i: i[np.lexsort(np.round(v[i], 9).T)]  # noqa: E731
    both = sn.ZoneChain([first, second], [(order(first.vertices, ids), order(inner, others))])
    hand = ScriptedDevice(np.tile((0.02, 0.02, 0.03), (10, 1)))
    with pytest.raises(InputError, match="overlap at the rest poses: vertex"):
        HapticLoop(both, hand, coupling=FIRM)
