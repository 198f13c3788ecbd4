"""What a hand feels of a chain of zones: against quadratic tetrahedra of the joined body, over seams, and its work."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from references.meshes import block

import sennit as sn
from sennit.bodies.zone.felt import FeltBody
from sennit.haptics.tissue import TissueSubject, skeleton_table

SIZE, RADIUS = (0.03, 0.02, 0.012), 5e-3
FLESH = sn.Material(5e4, 0.45, 1000.0)
JOINT = sn.Pose((0.03, 0.0, 0.006))


def bottom(vertices, seams):
    """Ids of the vertices that the bone holds: at the bottom, off the seams."""
    off = np.min([np.abs(vertices[:, 0] - x) for x in seams], axis=0)
    return np.flatnonzero((vertices[:, 2] < 1e-9) & (off > 4e-3))


def zone(start, length, cells, **options):
    vertices, faces = block((length, *SIZE[1:]), cells, (start, 0.0, 0.0))
    return sn.Zone.from_mesh(vertices, faces, material=FLESH, fixed=bottom(vertices, (0.03,)), **options)


@pytest.fixture(scope="module")
def chain():
    """Two blocks along x, joined at x = 0.03."""
    zones = [zone(start, SIZE[0], (10, 7, 4), name=f"block at {start}") for start in (0.0, 0.03)]
    ends = []
    for each in zones:
        ids = np.flatnonzero(np.abs(each.vertices[:, 0] - 0.03) < 1e-9)
        ends.append(ids[np.lexsort(np.round(each.vertices[ids], 9).T)])
    return sn.ZoneChain(zones, [tuple(ends)])


def bent(angle):
    """The second block turned about the line through the seam's middle."""
    turn = sn.Pose((0, 0, 0), (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0))
    return [sn.Pose(), JOINT @ turn @ JOINT.inverse()]


def test_a_felt_chain_against_tetrahedra_of_the_joined_body(chain, validated) -> None:
    """Amid a block and on the seam, for which the joined body has no name."""
    pytest.importorskip("skfem")
    pytest.importorskip("tetgen")
    body = FeltBody(chain, RADIUS)
    joined = zone(0.0, 2 * SIZE[0], (20, 7, 4), method="fem")
    errors = []
    for x in (0.046, 0.03):
        place = np.array((x, 0.0105, SIZE[2]))
        felt = body.feel(body.nearest(place)[0]).compliance
        wanted = joined.touch(place, force=(0.0, 0.0, -1.0), radius=RADIUS).probe.compliance
        errors.append(np.abs(felt - wanted).max() / np.abs(wanted).max())
    validated(
        "Two joined blocks under a probe, amid one", area="zones", quantity="compliance, all of its nine numbers",
        reference="quadratic tetrahedra of one body", error=errors[0], bound=0.02,
    )  # fmt: skip
    validated(
        "Two joined blocks under a probe, on the seam", area="zones", quantity="compliance, all of its nine numbers",
        reference="quadratic tetrahedra of one body", error=errors[1], bound=0.03,
    )  # fmt: skip


@pytest.mark.parametrize(("method", "friction"), [("auto", 0.4), ("modes", 0.0)])
def test_random_probing_over_a_seam_takes_no_work_out(chain, method, friction) -> None:
    """To and fro over the seam of a bent chain, trembling: work since the start is never negative."""
    seams = [seam.vertices for seam in chain.seams]
    few = sn.ZoneChain(list(chain.zones), seams, method=method, modes=16)
    table = skeleton_table(few, lambda t: bent(0.2), 1000.0, 1)
    subject = TissueSubject(FeltBody(few, RADIUS), sn.VirtualCoupling(1500.0, 0.3), 1e-3, friction, table)
    rng = np.random.default_rng(int(10 * friction) + len(method))
    x, v = np.array((0.03, 0.01, 0.02)), np.zeros(3)
    subject.step(sn.Pose(x))
    work = turned = least = 0.0
    zones = []
    for k in range(1000):
        goal = np.array((0.03 + 0.012 * np.sin(k / 90.0), 0.01 + 0.006 * np.cos(k / 130.0), 0.0115))
        v = 0.97 * v + 3e-5 * rng.normal(size=3) + 2e-3 * (goal - x)
        before, x = x, x + v
        subject.step(sn.Pose(x))
        done = float(subject.wrench[:3] @ (x - before))
        work, turned = work + done, turned + abs(done)
        least = min(least, work)
        if subject.touching:
            zones.append(subject.anchor.zone)
    assert len(zones) > 300 and sum(a != b for a, b in pairwise(zones)) >= 3  # it went over the seam
    assert least >= -1e-9 * turned and turned > 1e-3
    assert subject.budget >= 0.0


def test_the_error_that_modes_tell_is_the_error(chain) -> None:
    """Over random loads and bends. It is an estimate: a step of block Jacobi for what is left, off by the coupling."""
    zones, seams = list(chain.zones), [seam.vertices for seam in chain.seams]
    rng = np.random.default_rng(4)
    ratios, told = [], []
    for modes in (8, 16, 32):
        few = sn.ZoneChain(zones, seams, method="modes", modes=modes)
        for trial in range(6):
            loads = {}
            for z in range(2):
                free = np.setdiff1d(np.arange(len(zones[z].vertices)), zones[z].fixed)
                chosen = rng.choice(free, (2, 40)[trial % 2], replace=False)
                loads[z] = {int(i): tuple(0.02 * rng.normal(size=3)) for i in chosen}
            poses = bent(float(rng.uniform(-0.6, 0.6)))
            state, exact = few.solve(poses, loads=loads), chain.solve(poses, loads=loads, method="direct")
            error = np.linalg.norm(state._solved.v - exact._solved.v) / np.linalg.norm(exact._solved.v)
            ratios.append(error / state.report.error_estimate)
            told.append(state.report.error_estimate)
    assert 0.85 < min(ratios) and max(ratios) < 1.15, (min(ratios), max(ratios))
    assert max(told) > 3.0 * min(told)
