"""Rods that change along their length: tapers, pieces whose stiffness jumps, numbers given directly, added masses.

Forces are so small that the curve is Euler and Bernoulli's: with w the tip's deflection over the length, what the exact
curve adds is w² of it, below 1e-9.  Frequencies are eigenvalues of the rod's own stiffness and mass.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import iv, jv

import sennit as sn

LENGTH, E, DENSITY = 2.0, 40e9, 1800.0
CARBON = sn.Material(E, 0.3, DENSITY)
SOFT = sn.Material(0.1 * E, 0.3, DENSITY)
FORCE, TORQUE = 1e-6, 1e-4
WIRE = sn.Section.circle(3e-3)
MODELS = ("spline", "discrete")


def straight(**given) -> sn.Rod:
    return sn.Rod.straight((0, 0, 0), (LENGTH, 0, 0), **given)


def settled(rod: sn.Rod, gravity=(0, 0, 0), force=(0, 0, 0), torque=(0, 0, 0)) -> sn.Rod:
    scene = sn.Scene(gravity=gravity)
    scene.add(rod)
    scene.add(sn.Clamp(rod.at(0)))
    scene.add(sn.Load(rod.at(LENGTH), force=force, torque=torque))
    scene.settle()
    return rod


def drop(rod: sn.Rod) -> float:
    return -float(settled(rod, force=(0, 0, -FORCE)).at(LENGTH).position[2])


def orders(sizes, errors) -> np.ndarray:
    return np.diff(np.log(np.abs(errors))) / -np.diff(np.log(sizes))


@pytest.mark.parametrize("model", MODELS)
def test_a_fishing_rod_bends_as_its_integral_says(model, validated):
    """12 to 2 mm thick: δ = ∫F (L − s)²/(EI) ds."""

    def radius(s):
        return 6e-3 - 2.5e-3 * s

    exact = quad(lambda s: FORCE * (LENGTH - s) ** 2 / (E * math.pi * radius(s) ** 4 / 4), 0, LENGTH, epsabs=0)[0]
    sizes = (20, 30, 60)
    rods = [
        straight(section=lambda s: sn.Section.circle(radius(s)), material=CARBON, control_points=n, model=model)
        for n in sizes
    ]
    errors = [drop(rod) / exact - 1 for rod in rods]
    order = float(orders([rod.tables.spans for rod in rods], errors)[-1])
    # The same from sections at the ends: radii are linear between, and it is the same rod.
    ends = straight(section=[sn.Section.circle(6e-3), sn.Section.circle(1e-3)], material=CARBON, model=model)
    np.testing.assert_allclose(ends.stiffness, rods[1].stiffness, rtol=1e-9)
    assert order > (3.7 if model == "spline" else 1.9)
    weight = quad(lambda s: DENSITY * math.pi * radius(s) ** 2, 0, LENGTH)[0]
    assert rods[0].mass == pytest.approx(weight, rel=1e-12)
    validated(
        "Rod that tapers 6 to 1",
        area="rods in scenes",
        quantity="tip, 30 points, spline" if model == "spline" else "tip, 30 points, discrete",
        reference="∫F (L − s)²/EI ds",
        error=abs(errors[1]),
        bound=1e-4 if model == "spline" else 1e-2,
        order=order,
    )


@pytest.mark.parametrize("at", [0.61, 0.5, 0.203])
@pytest.mark.parametrize("ratio", [0.1, 0.01, 20.0])
def test_a_jump_of_stiffness_within_a_span(at, ratio, validated):
    """A force at the tip makes moments that are linear everywhere, for which spans with a jump are exact."""
    other = sn.Material(ratio * E, 0.3, DENSITY)
    exact = quad(
        lambda s: FORCE * (LENGTH - s) ** 2 / (E * WIRE.I1 * (1 if s < at * LENGTH else ratio)), 0, LENGTH,
        points=[at * LENGTH], epsabs=0,
    )[0]  # fmt: skip
    pieces = [(at * LENGTH, WIRE, CARBON), (None, WIRE, other)]
    error = abs(drop(straight(pieces=pieces, control_points=20)) / exact - 1)
    validated(
        "Rod whose stiffness jumps",
        area="rods in scenes",
        quantity="tip under a force, 20 points",
        reference="∫F (L − s)²/EI ds",
        error=error,
        bound=1e-6,
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_jump_under_its_own_weight_is_of_second_order_at_least(model, validated):
    at, line = 0.61 * LENGTH, DENSITY * WIRE.area * 1e-3
    EI = E * WIRE.I1
    exact = quad(
        lambda s: 0.5 * line * (LENGTH - s) ** 3 / (EI * (1 if s < at else 0.1)), 0, LENGTH, points=[at], epsabs=0
    )[0]
    sizes = (9, 17, 33, 65)
    errors = []
    for n in sizes:
        pieces = [(at, WIRE, CARBON), (None, WIRE, SOFT)]
        rod = settled(straight(pieces=pieces, control_points=n, model=model), gravity=(0, 0, -1e-3))
        errors.append(abs(float(rod.at(LENGTH).position[2]) / -exact - 1))
    # The place of the jump in its span differs from one mesh to the next: the order is that of all four together.
    order = -float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
    assert order > 1.8
    validated(
        "Rod whose stiffness jumps, under its weight",
        area="rods in scenes",
        quantity="tip, 33 points, spline" if model == "spline" else "tip, 33 points, discrete",
        reference="∫w (L − s)³/(2 EI) ds",
        error=errors[2],
        bound=1e-4 if model == "spline" else 4e-3,
        order=order,
    )


@pytest.mark.parametrize("model", MODELS)
def test_stretch_and_twist_of_pieces_in_series(model, validated):
    """Compliances of pieces add up."""
    thin = sn.Section.circle(2e-3)
    pieces = [(0.7, WIRE, CARBON), (0.3, thin, SOFT), (None, WIRE, SOFT)]
    parts = ((0.7, WIRE, CARBON), (0.3, thin, SOFT), (1.0, WIRE, SOFT))
    rod = settled(straight(pieces=pieces, control_points=16, model=model), force=(FORCE, 0, 0), torque=(TORQUE, 0, 0))
    longer = sum(size * FORCE / (m.youngs_modulus * s.area) for size, s, m in parts)
    turned = sum(size * TORQUE / (m.shear_modulus * s.J) for size, s, m in parts)
    frames = rod.frames(2)[[0, -1]]
    angle = math.atan2(frames[1][:, 0] @ frames[0][:, 1], frames[1][:, 0] @ frames[0][:, 0])
    stretched = (np.linalg.norm(np.diff(rod.centerline(2), axis=0)) - LENGTH) / longer - 1
    assert stretched == pytest.approx(0, abs=1e-3)  # the length's rounding over what is added to it
    validated(
        "Pieces in series",
        area="rods in scenes",
        quantity="twist, spline" if model == "spline" else "twist, discrete",
        reference="sum of L T/GJ",
        error=abs(angle / turned - 1),
        bound=1e-12,
    )


def frequency(rod: sn.Rod) -> float:
    """The lowest angular frequency of bending in the plane of x and z, clamped at its start, rad/s."""
    t = rod.tables
    n = t.n
    force, values = np.zeros(4 * n), np.zeros(64 * n)
    from sennit.bodies.rod.spline.kernels.forces import assemble

    assemble(0, t.kind, t.rest.ravel().copy(), t.kind.bend, t.kind.stretch, 0.0, 1, 1.0, 1.0, 1, force, values)
    K, M = np.zeros((n, n)), np.zeros((n, n))
    band = values.reshape(n, 4, 4, 4)
    for i in range(n):
        for k in range(min(4, n - i)):
            K[i, i + k] = K[i + k, i] = band[i, 2, k, 2]
            M[i, i + k] = M[i + k, i] = t.masses.mass[i, k]
    return math.sqrt(eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True)[0])


@pytest.mark.parametrize("shape", ["wedge", "cone"])
def test_kirchhoffs_wedge_and_cone(shape, validated):
    """Clamped at the thick end. ω = (x/2)² √(EI₀/ρA₀)/L²; x: Jₐ(x) Iᵦ(x) + Iₐ(x) Jᵦ(x) = 0 with (a, b) = (1, 2) for
    the wedge (5.315), (2, 3) for the cone (8.719).  The last thousandth is cut off, which weighs nothing.
    """
    a = 1 if shape == "wedge" else 2
    x = brentq(lambda x: jv(a, x) * iv(a + 1, x) + iv(a, x) * jv(a + 1, x), 4, 6.5)
    assert x**2 / 4 == pytest.approx(5.315 if shape == "wedge" else 8.719, abs=1e-3)
    whole, size = LENGTH / 0.999, 0.02

    def section(s):
        here = size * (1 - s / whole)
        return sn.Section.rectangle(size, here) if shape == "wedge" else sn.Section.circle(here)

    rod = straight(section=section, material=CARBON, control_points=60)
    thick = section(0.0)
    exact = x**2 / 4 * math.sqrt(E * thick.I1 / (DENSITY * thick.area)) / whole**2
    validated(
        "Kirchhoff's wedge and cone",
        area="rods in scenes",
        quantity="lowest frequency, 60 points",
        reference="Kirchhoff 1880",
        error=abs(frequency(rod) / exact - 1),
        bound=1e-4,
    )


@pytest.mark.parametrize("model", MODELS)
def test_an_added_mass_weighs_where_it_is(model, validated):
    """m g a²(3 L − a)/(6 EI) at the tip, of a mass at a on a rod that weighs next to nothing."""
    at, mass, gravity = 1.3, 0.02, 1e-4
    EI = E * WIRE.I1
    light = sn.Material(E, 0.3, 1e-6)
    rod = straight(section=WIRE, material=light, control_points=40, model=model)
    before = rod.mass
    rod.add_mass(at=at, mass=mass, length=0.01)
    assert rod.mass - before == pytest.approx(mass, rel=1e-12)
    settled(rod, gravity=(0, 0, -gravity))
    exact = mass * gravity * at**2 * (3 * LENGTH - at) / (6 * EI)
    validated(
        "Mass added to a rod",
        area="rods in scenes",
        quantity="tip, spline" if model == "spline" else "tip, discrete",
        reference="m g a² (3 L − a)/(6 EI)",
        error=abs(float(rod.at(LENGTH).position[2]) / -exact - 1),
        bound=1e-4 if model == "spline" else 2e-3,
    )
