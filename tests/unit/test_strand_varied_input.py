"""What strands that vary along their length are given: mistakes name the argument and the place s; what can be read."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import sennit as sn
from sennit.haptics.handover import described_strand, made_strand

NYLON = sn.Material(2.7e9, 0.39, 1150)
THREAD, THIN = sn.Section.circle(2e-4), sn.Section.circle(1e-4)
YIELDS = sn.Material(1e9, 0.3, 1000, yield_stress=1e6)
STIFF = np.diag((1e-3,) * 3 + (1e3,) * 3)
PIECES = [(0.1, THREAD, NYLON), (None, THIN, NYLON)]
SLIPS = sn.Properties(EA=1, EI=1, GJ=1, mass=1, radius=1, EI_stuck=2, slip_moment=1)


def properties(**given) -> sn.Properties:
    return sn.Properties(**({"EA": 1.0, "EI": 1.0, "GJ": 1.0, "mass": 1.0, "radius": 1.0} | given))


def unsteady(value):
    """A function of s that tells another multiple each time."""
    calls = itertools.count(1)
    return lambda s: value * float(next(calls))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ["section", "pieces", "properties", "stiffness", "law"]),
        ({"section": THREAD}, ["section", "material", "None"]),
        ({"section": [THREAD], "material": NYLON}, ["section", "two or more"]),
        ({"section": [THREAD, 3], "material": NYLON}, ["section", "two or more", "3"]),
        ({"section": [THREAD, sn.Section.rectangle(1e-4, 1e-4)], "material": NYLON}, ["one kind", "pieces"]),
        ({"section": lambda s: 3, "material": NYLON}, ["section(0)", "sennit.Section", "3"]),
        ({"section": lambda s: sn.Section.circle(1e-4 - 1e-3 * s), "material": NYLON}, ["section at s = 0.1 m", "0.0"]),
        ({"section": lambda s: THREAD if s < 0.2 else None, "material": NYLON}, ["section(0.2)", "None"]),
        ({"section": THREAD, "material": [NYLON, YIELDS]}, ["strand", "elastic", "yield_stress"]),
        ({"section": THREAD, "material": lambda s: YIELDS}, ["strand", "elastic", "yields"]),
        ({"pieces": [(None, THREAD, YIELDS)]}, ["strand", "elastic", "yield_stress"]),
        ({"pieces": 3}, ["pieces", "list", "3"]),
        ({"pieces": [(0.1, THREAD)]}, ["pieces", "(length, section, material)"]),
        ({"pieces": [(0.1, THREAD, NYLON)]}, ["pieces", "sum", "0.25 m", "0.1 m", "None"]),
        ({"pieces": [(0.3, THREAD, NYLON), (None, THREAD, NYLON)]}, ["None", "0.3 m"]),
        ({"pieces": [(-0.1, THREAD, NYLON), (None, THREAD, NYLON)]}, ["length of piece 0", "-0.1"]),
        ({"pieces": [(0.1, THREAD, NYLON), (None, 3, NYLON)]}, ["section of piece 1", "3"]),
        ({"pieces": [(0.01, THREAD, NYLON)] * 24 + [(None, THREAD, NYLON)], "nodes": 21}, ["nodes", "25", "10"]),
        ({"pieces": PIECES, "section": THREAD}, ["section and material and pieces"]),
        ({"pieces": PIECES, "stiffness": STIFF}, ["stiffness", "pieces", "not both"]),
        ({"properties": 3}, ["properties", "sennit.Properties", "3"]),
        ({"properties": SLIPS}, ["elastic", "EI_stuck"]),
        ({"properties": properties(EI=lambda s: 1 - 5 * s)}, ["EI", "s = 0.2 m"]),
        ({"properties": properties(GJ=lambda s: "x")}, ["GJ(0)", "'x'"]),
        ({"stiffness": lambda s: np.eye(3)}, ["stiffness(0)", "(6, 6)", "(3, 3)"]),
        ({"stiffness": lambda s: STIFF * (1 - 5 * s)}, ["stiffness", "positive definite", "s = 0.2 m"]),
        ({"stiffness": lambda s: STIFF * np.nan}, ["stiffness(0)", "finite"]),
        ({"stiffness": lambda s: STIFF + s * np.triu(np.ones((6, 6)), 1)}, ["stiffness", "symmetric", "s = 0.0"]),
        ({"stiffness": np.stack((STIFF, -STIFF))}, ["stiffness", "positive definite", "s = 0.25 m"]),
        ({"stiffness": STIFF[None]}, ["stiffness", "two matrices", "1"]),
        ({"stiffness": np.ones((3, 5, 5))}, ["stiffness", "(3, 5, 5)"]),
        ({"stiffness": unsteady(STIFF)}, ["stiffness", "function of s alone", "s = 0.25 m"]),
        ({"stiffness": STIFF, "mass_per_length": lambda s: 0.1 - s}, ["mass per length", "s = 0.1"]),
        ({"stiffness": STIFF, "mass_per_length": unsteady(1.0)}, ["mass_per_length", "function of s alone"]),
        ({"stiffness": STIFF, "mass_per_length": (1.0, 0.0)}, ["mass per length", "s = 0.25 m"]),
        ({"stiffness": STIFF, "mass_per_length": (1.0,)}, ["mass_per_length", "two numbers"]),
        ({"stiffness": STIFF, "mass_per_length": [[1.0, 2.0]]}, ["mass_per_length", "(1, 2)"]),
        ({"stiffness": np.stack((STIFF + 1e-3, STIFF)), "extensible": True, "order": 2}, ["order=4", "order=2"]),
    ],
)  # fmt: skip
def test_mistakes(given: dict, words: list[str]) -> None:
    with pytest.raises(sn.InputError) as caught:
        sn.Strand(**({"length": 0.25, "nodes": 41} | given))
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_a_function_is_asked_again_where_holds_move_nodes() -> None:
    def section(s: float) -> sn.Section:
        return sn.Section.circle(-1.0 if s == 0.1003 else 2e-4)

    thread = sn.Strand(0.25, section, NYLON, nodes=21)
    assert thread.solve(base=sn.Pose()).report.converged
    with pytest.raises(sn.InputError, match=r"section at s = 0\.1003 m: radius"):
        thread.solve(base=sn.Pose(), via=[(0.1003, (0, 0, 0.1))])


def test_coupling_that_no_node_saw_is_told() -> None:
    def stiffness(s: float) -> np.ndarray:
        matrix = STIFF.copy()
        if 0.101 < s < 0.102:
            matrix[0, 3] = matrix[3, 0] = 1e-3
        return matrix

    thread = sn.Strand(0.25, stiffness=stiffness, nodes=11, extensible=True)
    with pytest.raises(sn.InputError, match=r"couples .* at s = 0\.1015 m"):
        thread.solve(base=sn.Pose(), tip_force=(0, 1e-5, 0), via=[(0.1015, sn.Pose((0, 0, 0.1)))])


def test_what_can_be_read() -> None:
    thread = sn.Strand(0.25, pieces=PIECES, nodes=26, order=2)
    assert thread.section is None
    assert thread.material is None
    assert thread.radius == pytest.approx(2e-4)
    EI = thread.stiffness[:, 0, 0]
    assert EI.shape == (26,)
    np.testing.assert_allclose(EI[:10], NYLON.youngs_modulus * THREAD.I1)
    np.testing.assert_allclose(EI[11:], NYLON.youngs_modulus * THIN.I1)
    np.testing.assert_allclose(thread.mass_per_length[[0, -1]], [s.mass_per_length(NYLON) for s in (THREAD, THIN)])
    stranded = sn.Strand(0.25, properties=properties(mass=0.2), nodes=21)
    assert stranded.mass_per_length == 0.2
    assert stranded.stiffness.shape == (6, 6)
    assert np.isinf(stranded.stiffness[3, 3])


def test_a_mass_of_its_own_goes_before_that_of_section_and_material() -> None:
    plain = {"length": 0.25, "section": THREAD, "material": NYLON, "nodes": 21}
    heavy = 10.0 * THREAD.mass_per_length(NYLON)
    tips = []
    for given in (
        plain | {"mass_per_length": heavy},
        plain | {"mass_per_length": lambda s: heavy},
        plain | {"mass_per_length": (heavy, heavy)},
        {
            "length": 0.25,
            "pieces": [(0.1, THREAD, NYLON), (None, THREAD, NYLON)],
            "mass_per_length": heavy,
            "nodes": 21,
        },
        plain | {"stiffness": sn.Strand(**plain).stiffness, "mass_per_length": (heavy, heavy)},
    ):
        tips.append(sn.Strand(**given).solve(base=sn.Pose(), gravity=(0, -9.81, 0)).positions[-1])
    np.testing.assert_allclose(tips, np.tile(tips[0], (len(tips), 1)), atol=1e-9)
    light = sn.Strand(**plain).solve(base=sn.Pose(), gravity=(0, -9.81, 0)).positions[-1]
    assert abs(light[1]) < 0.7 * abs(tips[0][1])
    beside = sn.Strand(**plain, stiffness=lambda s: STIFF)  # a section and a material tell the mass of a stiffness
    np.testing.assert_allclose(beside.mass_per_length, THREAD.mass_per_length(NYLON))


def test_a_function_of_a_piece_is_asked_on_that_piece_only() -> None:
    seen: list[float] = []

    def section(s: float) -> sn.Section:
        seen.append(s)
        return sn.Section.circle(2e-4 - 1e-3 * (s - 0.1))

    thread = sn.Strand(0.25, pieces=[(0.1, THREAD, NYLON), (0.05, section, NYLON), (None, THIN, NYLON)], nodes=41)
    thread.solve(base=sn.Pose(), tip_force=(0, 1e-5, 0))
    assert min(seen) == pytest.approx(0.1)
    assert max(seen) == pytest.approx(0.15)
    assert thread.radius == pytest.approx(2e-4)


def test_one_without_functions_may_be_pickled() -> None:
    thread = sn.Strand(0.25, pieces=PIECES, nodes=21, mass_per_length=(0.1, 0.2))
    again = pickle.loads(pickle.dumps(thread))
    loads = {"base": sn.Pose(), "gravity": (0, -9.81, 0)}
    np.testing.assert_array_equal(again.solve(**loads).positions, thread.solve(**loads).positions)


def test_properties_do_not_shear() -> None:
    cord = sn.Strand(1.0, properties=properties(EA=50.0), nodes=11, extensible=True)
    state = cord.solve(base=sn.Pose(), tip_force=(0.2, 0.0, 1.0))
    assert np.abs(state.stretches[:, :2]).max() == 0.0
    local = np.einsum("kij,ki->kj", state.rotations, state.forces)
    np.testing.assert_allclose(state.stretches[:, 2], 1.0 + local[:, 2] / 50.0, rtol=1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"pieces": PIECES, "extensible": True},
        {"section": lambda s: sn.Section.circle(2e-4 - 4e-4 * s), "material": NYLON},
        {"properties": properties(EA=lambda s: 1e3 + s, EI=(1e-3, 2e-3), GJ=1e-3, mass=1e-3), "extensible": True},
        {"stiffness": lambda s: STIFF * (1 + s) + 1e-4, "mass_per_length": (0.1, 0.2), "extensible": True},
        {"stiffness": STIFF, "mass_per_length": (1e-3, 2e-3)},
    ],
)
def test_the_same_in_the_process_of_a_loop(given: dict) -> None:
    """What a loop's process is sent makes the same strand, function or not."""
    thread = sn.Strand(0.25, nodes=21, **given)
    other = made_strand(described_strand(thread))
    coupling = sn.VirtualCoupling(20.0)
    loads = {"base": sn.Pose(), "gravity": (0, -9.81, 0), "coupling": coupling, "hand": sn.Pose((0, 0.1, 0.15))}
    a, b = thread.solve(**loads), other.solve(**loads)
    np.testing.assert_allclose(b.positions, a.positions, atol=1e-12)
    np.testing.assert_allclose(b.hand_force, a.hand_force, atol=1e-9 * np.abs(a.hand_force).max())


def test_a_picture(tmp_path) -> None:
    state = sn.Strand(0.25, pieces=PIECES, nodes=21).solve(base=sn.Pose(), tip_force=(0, 1e-5, 0))
    state.plot().savefig(tmp_path / "pieces.png")
