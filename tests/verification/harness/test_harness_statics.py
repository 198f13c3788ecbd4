"""`sennit harness`: forces, bends and tensions against closed forms and an independent balance."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from sennit.harness.plan import Plan, read_plan
from sennit.harness.rest import Rest, bring_to_rest, build

CLIPS = "name,kind,x_m,y_m,z_m,dx,dy,dz\n"
LIGHT = 1e-7
"""kg/m: nothing."""


def plan_of(folder: Path, route: str, clips: str, **numbers: float) -> Plan:
    (folder / "route.csv").write_text(route)
    (folder / "clips.csv").write_text(clips)
    given = {"EI": 0.01, "kg_per_m": 0.1, "diameter_mm": 4.0, "bend_radius_mm": 30.0, "slack_mm": 0.0} | numbers
    return read_plan(folder / "route.csv", folder / "clips.csv", None, given)


def at_rest(plan: Plan, points: int | None = None) -> Rest:
    rest = bring_to_rest(build(plan, points=points))
    assert rest.status == "converged"
    return rest


def test_a_clamped_span_with_slack_is_the_elastica(tmp_path: Path, validated) -> None:
    """Two connectors face each other, the cable between them is cut longer: the elastica with modulus k.

    Of a strut with clamped ends a quarter is the elastica from its inflection: with K = K(k), E = E(k)
        distance/length = 2 E/K − 1,   P = 16 K² EI/length²,   κ_max = 2 k √(P/EI)
    (A. E. H. Love, Mathematical Theory of Elasticity, §263).
    """
    span, slack, EI = 0.4, 0.1, 0.01
    plan = plan_of(
        tmp_path, f"x_m,y_m,z_m\n0,0,0\n{span},0,0\n",
        CLIPS + f"A,connector,0,0,0,1,0,0\nB,connector,{span},0,0,1,0,0\n",
        EI=EI, kg_per_m=LIGHT, diameter_mm=0.8, slack_mm=1e3 * slack,
    )  # fmt: skip
    rest = at_rest(plan)
    length = span + slack
    m = brentq(lambda m: 2 * ellipe(m) / ellipk(m) - 1 - span / length, 1e-9, 0.99)
    push = 16 * ellipk(m) ** 2 * EI / length**2
    radius = 1.0 / (2 * math.sqrt(m) * math.sqrt(push / EI))
    cable = rest.cables[0]
    assert cable.cut_length == pytest.approx(length, rel=1e-5)
    for case, error in (
        ("force", abs(np.linalg.norm(rest.held[0].force) - push) / push),
        ("radius", abs(cable.radius.min() - radius) / radius),
    ):
        validated(
            "Harness: a slack cable between two connectors", area="rods in scenes",
            quantity="force of a connector" if case == "force" else "smallest bend radius",
            reference="elastica with clamped ends, elliptic integrals", error=error, bound=1e-4,
        )  # fmt: skip


def test_an_arc_is_bent_to_its_radius(tmp_path: Path, validated) -> None:
    """A straight cable held at both ends of a half circle, along its tangents: moments alone, one radius everywhere."""
    R, EI = 0.12, 0.02
    angles = np.linspace(0.0, np.pi, 25)
    rows = "".join(f"{R * math.cos(a)!r},{R * math.sin(a)!r},0\n" for a in angles)
    plan = plan_of(
        tmp_path, "x_m,y_m,z_m\n" + rows, CLIPS + f"A,connector,{R},0,0,0,1,0\nB,connector,{-R},0,0,0,-1,0\n", EI=EI,
        kg_per_m=LIGHT, diameter_mm=0.8,
    )  # fmt: skip
    rest = at_rest(plan)
    error = float(np.abs(rest.cables[0].radius[2:] - R).max()) / R
    validated(
        "Harness: a cable laid in a half circle", area="rods in scenes", quantity="bend radius everywhere",
        reference="the circle", error=error, bound=1e-4,
    )  # fmt: skip
    for held in rest.held:
        assert np.linalg.norm(held.torque) == pytest.approx(EI / R, rel=2e-3)
        assert np.linalg.norm(held.force) < 0.01 * EI / R**2


def test_a_level_span_is_a_beam(tmp_path: Path, validated) -> None:
    """A light, stiff cable that connectors hold level at both ends: each carries wL/2 and wL²/12 of moment.

    What the sag's tension takes over is (w²L⁷/EI²)(EA/EI)/2·10⁵ or so, 2·10⁻⁴ of it here.
    """
    span, EI, w = 0.5, 0.1, 0.005 * 9.81
    plan = plan_of(
        tmp_path, f"x_m,y_m,z_m\n0,0,0\n{span},0,0\n",
        CLIPS + f"A,connector,0,0,0,1,0,0\nB,connector,{span},0,0,1,0,0\n",
        EI=EI, kg_per_m=0.005,
    )  # fmt: skip
    rest = at_rest(plan)
    wrong = max(abs(np.linalg.norm(held.torque) - w * span**2 / 12) / (w * span**2 / 12) for held in rest.held)
    validated(
        "Harness: a level cable between two connectors", area="rods in scenes", quantity="moment of a connector",
        reference="beam with clamped ends, wL²/12", error=wrong, bound=1e-3,
    )  # fmt: skip
    for held in rest.held:
        assert held.force[2] == pytest.approx(-w * span / 2, rel=1e-6)
    k = len(rest.cables[0].s) // 2
    assert 1.0 / rest.cables[0].radius[k] == pytest.approx(w * span**2 / 24 / EI, rel=5e-3)


ROUTES = """cable,x_m,y_m,z_m
power,0,-0.014,0.30
power,0.10,-0.014,0.30
power,0.24,-0.014,0.25
power,0.30,-0.014,0.12
power,0.42,-0.014,0
signal,0,0,0.30
signal,0.10,0,0.30
signal,0.24,0,0.25
signal,0.30,0,0.12
signal,0.42,0,0
sensor,0.24,0,0.25
sensor,0.30,0.05,0.28
sensor,0.42,0.10,0.30
"""
HOLDERS = """name,kind,x_m,y_m,z_m,dx,dy,dz,cable
A power,connector,0,-0.014,0.30,1,0,0,power
A signal,connector,0,0,0.30,1,0,0,signal
clip 1,clip,0.10,-0.014,0.30,1,0,0,power
clip 1s,clip,0.10,0,0.30,1,0,0,signal
tie 2,tie,0.30,0,0.12,0,0,-1,signal
clip 3,eye,0.30,-0.014,0.12,,,,power
B power,connector,0.42,-0.014,0,1,0,0,power
B signal,connector,0.42,0,0,1,0,0,signal
S,connector,0.42,0.10,0.30,1,0,0,sensor
"""
CABLES = """cable,EI,kg_per_m,diameter_mm,bend_radius_mm,slack_mm,branch_of
power,0.012,0.15,8,80,10,
signal,0.0018,0.06,5,50,10,
sensor,0.0004,0.02,3,30,5,signal
"""


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> tuple[Plan, Rest]:
    folder = tmp_path_factory.mktemp("three")
    for name, text in (("route", ROUTES), ("clips", HOLDERS), ("cables", CABLES)):
        (folder / f"{name}.csv").write_text(text)
    plan = read_plan(folder / "route.csv", folder / "clips.csv", folder / "cables.csv", {})
    return plan, at_rest(plan)


def test_holders_carry_the_weight_and_its_moment(three: tuple[Plan, Rest], validated) -> None:
    """Forces and moments of all holders about the origin, against the weight at the places of the cables: what the
    junction passes on is inside.
    """
    _, rest = three
    weight = np.array((0.0, 0.0, -9.81))
    force = sum(held.force for held in rest.held if held.holder.kind != "junction")
    moment = sum(
        np.cross(held.holder.place, held.force) + held.torque for held in rest.held if held.holder.kind != "junction"
    )
    wanted, turning = np.zeros(3), np.zeros(3)
    for one in rest.cables:
        middle = 0.5 * (one.line[1:] + one.line[:-1])
        masses = one.cable.kg_per_m * np.diff(one.s)
        wanted += masses.sum() * weight
        turning += np.cross((masses[:, None] * middle).sum(axis=0), weight)
    assert np.allclose(force, wanted, rtol=0, atol=1e-6 * np.linalg.norm(wanted))
    validated(
        "Harness: three cables, one a branch", area="rods in scenes", quantity="moment of all holders about the origin",
        reference="moment of the weight", error=float(np.linalg.norm(moment - turning) / np.linalg.norm(turning)),
        bound=1e-4,
    )  # fmt: skip


def test_bends_are_those_of_the_spline_away_from_holders(three: tuple[Plan, Rest]) -> None:
    """Curvature from statics and from the shape itself, where nothing jumps."""
    plan, rest = three
    made = build(plan)
    bring_to_rest(made)
    for one in rest.cables:
        (rod, *_), length = made.rods[one.cable.name], 0.0
        count = max(101, round(801 * rod.length / one.cut_length))
        bend = np.linalg.norm(rod.curvatures(count)[:, :2], axis=1)
        s, length = one.s[:count], rod.length
        far = np.min([np.abs(s - held.at) for held in rest.held if held.holder.cable == one.cable.name], axis=0)
        junctions = [held for held in rest.held if held.holder.kind == "junction" and one.cable.name == "signal"]
        assert length > 0.0
        clear = far > 0.03
        if junctions:
            clear &= s < 0.2
        assert np.abs(bend - 1.0 / one.radius[:count])[clear].max() < 0.03 * bend.max()


def test_more_control_points_change_nothing_that_counts(three: tuple[Plan, Rest]) -> None:
    plan, rest = three
    fine = at_rest(plan, points=120)
    for a, b in zip(rest.cables, fine.cables, strict=True):
        assert a.radius.min() == pytest.approx(b.radius.min(), rel=0.01)
    for one, other in zip(rest.held, fine.held, strict=True):
        assert np.linalg.norm(one.force - other.force) < 0.03 * max(np.linalg.norm(held.force) for held in rest.held)
