"""The discrete rod's answers and the order at which they are reached, against closed forms and independent methods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, null_space
from scipy.optimize import brentq

import sennit as sn
from sennit.bodies.rod.discrete.kernels.basis import discrete_basis
from sennit.bodies.rod.discrete.model import DISCRETE

# E I1 = 1, E I2 = 2, GJ = 0.8 N·m², a rod of about 1 m that hardly stretches.
MATERIAL = sn.Material(1.0, 0.25, 1.0)
SECTION = sn.Section.custom(area=1e6, I1=1.0, I2=2.0, J=2.0, shear1=1.0, shear2=1.0)


class Cantilever:
    """A rod clamped at u = 0 as a scene would clamp it, solved by Newton's method on the dense saddle-point matrix."""

    def __init__(self, posed, tables):
        self.rod = posed(tables)
        self.tables, n = self.rod.tables, tables.n
        self.n, self.q = n, self.rod.nodes.reshape(-1)
        rows = np.zeros((6, n, 4))
        first, basis = self.basis(0.0)
        nodes = slice(first, first + 4)
        slope = basis[1] @ tables.rest[nodes, :3]
        across = np.linalg.svd(slope[None])[2][1:]
        for a in range(3):
            rows[a, nodes, a] = basis[0]
        for a in range(2):
            rows[3 + a, nodes, :3] = basis[1][:, None] * across[a]
        rows[5, nodes, 3] = basis[3]
        self.rows = rows.reshape(6, -1)
        self.target = self.rows @ self.q

    def basis(self, u):
        out = np.empty(16)
        return discrete_basis(u, self.n, out), out.reshape(4, 4).copy()

    def assembled(self):
        return self.rod.assembled()

    def pull_back(self, q, u, force, torque):
        """Generalised force of a force (N) and a torque (N·m) at u."""
        first, basis = self.basis(u)
        nodes, load = q.reshape(-1, 4)[first : first + 4], np.zeros((self.n, 4))
        slope = basis[1] @ nodes[:, :3]
        j = np.linalg.norm(slope)
        t = slope / j
        load[first : first + 4, :3] = np.outer(basis[0], force) + np.outer(basis[1] / j, np.cross(torque, t))
        load[first : first + 4, 3] = basis[3] * (torque @ t)
        return load.ravel()

    def settle(self, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), stages=2):
        """Equilibrium under a force and a torque at the tip, brought up in stages. Returns the tip's place."""
        f, m, size = np.array(force, float), np.array(torque, float), 4 * self.n
        for part in np.arange(1, stages + 1) / stages:
            for _ in range(40):

                def load(q, part=part):
                    return self.pull_back(q, self.n - 1.0, part * f, part * m)

                internal, matrix = self.assembled()
                if np.any(m):  # the torque's load turns with the tip
                    for i in range(size - 16, size):
                        d = np.zeros(size)
                        d[i] = 1e-6
                        matrix[:, i] -= (load(self.q + d) - load(self.q - d)) / 2e-6
                saddle = np.block([[matrix, self.rows.T], [self.rows, np.zeros((6, 6))]])
                step = np.linalg.solve(saddle, np.r_[internal + load(self.q), self.target - self.rows @ self.q])
                dq = step[:size]
                self.rod.store_tensions(0.0, np.concatenate((np.zeros(self.rod.dof0), dq)))
                self.rod.move(self.q + dq)
                self.q = self.rod.nodes.reshape(-1)
                if np.max(np.abs(dq)) < 1e-9:
                    break
            else:
                raise AssertionError("no equilibrium")
        assert self.q[-1] == 0.0  # the roll of no edge
        return self.q.reshape(-1, 4)[-1, :3]


def orders(errors):
    """Orders of convergence from errors at edges halved again and again."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def straight(edges, **options):
    nodes = np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), edges + 1)
    return DISCRETE.tables(nodes, SECTION, MATERIAL, **options)


def elastica_tip(load, length=1.0):
    """Tip (x, y) of an inextensible cantilever of EI = 1 N·m² along x, with `load` (N) at its end along y: shooting."""

    def shot(start, whole=False):
        def slope(s, y):
            return (y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0]))

        out = solve_ivp(slope, (0.0, length), (0.0, start, 0.0, 0.0), rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
        return out[2:] if whole else out[1]

    return shot(brentq(shot, 0.0, load * length, xtol=1e-13), True)


# ------------------------------------------------------------------------------------------------------------- energy


def test_energy_of_a_helix_converges_at_order_two(posed):
    # d1 along the helix's normal, so that t′ = κ d1: κ1 = 0, κ2 = curvature, τ = torsion.
    radius, climb, turns = 0.4, 0.15, 1.5
    size = radius**2 + climb**2
    curvature, torsion = radius / size, climb / size
    errors = []
    for edges in (32, 64, 128):
        x = np.linspace(0.0, 2 * np.pi * turns, edges + 1)
        nodes = np.column_stack((radius * np.cos(x), radius * np.sin(x), climb * x))
        tables = DISCRETE.tables(nodes, SECTION, MATERIAL, straight=True)
        middle = 0.5 * (x[1:] + x[:-1])
        normal = -np.column_stack((np.cos(middle), np.sin(middle), 0 * middle))
        t, u1 = tables.bend.tangent, tables.bend.reference
        q = tables.rest.copy()
        roll = np.arctan2(np.sum(np.cross(t, u1) * normal, axis=1), np.sum(u1 * normal, axis=1))
        q[:-1, 3] = np.unwrap(roll)
        stretch, bend, twist = posed(tables, q).energy()
        length = np.sqrt(size) * x[-1]
        assert stretch < 1e-20
        errors.append((bend / (0.5 * 2.0 * curvature**2 * length) - 1, twist / (0.5 * 0.8 * torsion**2 * length) - 1))
    errors = np.abs(errors)
    assert np.all(errors[-1] < 2e-3)
    np.testing.assert_allclose(orders(errors), 2.0, atol=0.05)


# ------------------------------------------------------------------------------------------------------------ statics


@pytest.mark.parametrize(("up", "stiffness"), [((0, 0, 1), 2.0), ((0, 1, 0), 1.0)])
def test_elastica_converges_at_order_two(posed, up, stiffness):
    # Bending in the plane of x and y: about d2 where d2 is along z, about d1 where d2 is along y.
    exact = elastica_tip(10.0 / stiffness)
    tips = [Cantilever(posed, straight(edges, up=up)).settle(force=(0, 10, 0)) for edges in (16, 32, 64)]
    errors = [np.linalg.norm(tip[:2] - exact) for tip in tips]
    assert errors[-1] < 1.5e-3
    assert np.min(orders(errors)) > 1.7


def test_torque_at_the_tip_bends_to_a_circle(posed):
    # M = EI κ everywhere: the clamp's tangent, the torque's and the energy of the end cells must agree for order 2.
    moment, errors = np.array((0.0, 0.0, 4.0)), []
    exact = np.array((np.sin(2.0), 1 - np.cos(2.0), 0.0)) / 2.0
    for edges in (16, 32, 64):
        errors.append(np.linalg.norm(Cantilever(posed, straight(edges)).settle(torque=moment) - exact))
    assert errors[-1] < 1e-3
    assert np.min(orders(errors)) > 1.9


def test_torque_along_a_straight_rod_twists_it_exactly(posed):
    rod = Cantilever(posed, straight(12))
    rod.settle(torque=(0.5, 0, 0))
    first, basis = rod.basis(12.0)
    assert basis[3] @ rod.q.reshape(-1, 4)[first : first + 4, 3] == pytest.approx(0.5 / 0.8, rel=1e-9)


def test_bent_rod_twists_as_a_strand_does(posed):
    # An arc of 90 degrees, loaded across its plane: bending both ways and twist, coupled by the tangents' turning. The
    # reference is the quasi-static strand, another method altogether.
    angle = 0.5 * np.pi
    curve = np.array(((0, 0, -1), (0, 1, 0), (1, 0, 0)), float).T  # d1 = −z, d2 = y, d3 = x at the clamp
    base = sn.Pose.from_rotation((0, 0, 0), curve)
    strand = sn.Strand(
        length=1.0, stiffness=np.diag((1.0, 2.0, 0.8, 1e7, 1e7, 1e7)), nodes=401, rest_curvature=(-angle, 0, 0)
    )
    exact = strand.solve(base=base, tip_force=(0, 0, 3.0)).tip_pose.position
    errors = []
    for edges in (16, 32, 64):
        x = np.linspace(0.0, angle, edges + 1)
        nodes = np.column_stack((np.sin(x), 1 - np.cos(x), 0 * x)) / angle
        tables = DISCRETE.tables(nodes, SECTION, MATERIAL, up=(0, 1, 0))
        errors.append(np.linalg.norm(Cantilever(posed, tables).settle(force=(0, 0, 3.0)) - exact))
    assert errors[-1] < 1e-3
    assert np.min(orders(errors)) > 1.7


# ----------------------------------------------------------------------------------------------------------- dynamics


def test_lowest_frequency_of_a_cantilever(posed):
    errors = []
    for edges in (16, 32, 64):
        rod = Cantilever(posed, straight(edges))
        _, stiffness = rod.assembled()
        masses = rod.tables.masses
        mass = np.zeros_like(stiffness)
        for i in range(rod.n):
            for k in range(min(4, rod.n - i)):
                for a in range(4):
                    value = (masses.mass if a < 3 else masses.roll)[i, k]
                    mass[4 * i + a, 4 * (i + k) + a] = mass[4 * (i + k) + a, 4 * i + a] = value
        free = null_space(rod.rows)
        lowest = eigh(free.T @ stiffness @ free, free.T @ mass @ free, eigvals_only=True)
        exact = 1.875104068711961**4 / rod.tables.mass_per_length  # EI1 = 1, length 1
        errors.append(abs(lowest[np.argmin(abs(lowest - exact))] / exact - 1))
    assert errors[-1] < 1e-2
    assert np.min(orders(errors)) > 1.8
