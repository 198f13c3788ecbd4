"""A spline rod in a given shape, with the calls that the tests below make on it."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.spline.kernels.forces import (
    accept_strains_spline,
    assemble_spline,
    carry_frames_spline,
    energy_spline,
    update_tensions_spline,
)


class PosedSpline:
    """A rod's tables, a shape q and the state whose frames lie on it, placed behind strangers' rows and numbers."""

    dof0, b0, s0, band0, rod = 5, 2, 3, 7, 1

    def __init__(self, tables, q=None):
        self.tables, self.n, self.closed = tables, tables.n, int(tables.closed)

        def behind(rows, array):
            return np.concatenate((np.full((rows, *array.shape[1:]), 9, array.dtype), array))

        self.bend = behind(self.b0, tables.bend_table), behind(self.b0, tables.bend_span)
        self.stretch = behind(self.s0, tables.stretch_table), behind(self.s0, tables.stretch_span)
        self.constants = behind(1, tables.constants[None])
        self.state, self.pulls = behind(self.b0, tables.bend_state), behind(self.s0, tables.stretch_state)
        self.b1, self.s1 = len(self.state), len(self.pulls)
        self.q = behind(self.dof0, tables.rest.ravel())
        if q is not None:
            self.move(q)

    @property
    def own_state(self):
        return self.state[self.b0 :]

    def move(self, q):
        """Go to the shape q (n, 4), frames carried."""
        self.q = self.q.copy()
        self.q[self.dof0 :] = np.ravel(q)
        self.state = self.carried(self.q)

    def carried(self, q):
        out = np.full_like(self.state, 9.0)
        out[self.b0 :] = np.nan
        carry_frames_spline(q, self.dof0, self.n, self.closed, *self.bend, self.state, out, self.b0, self.b1)
        return out

    def accept(self):
        accept_strains_spline(
            self.q, self.dof0, self.n, self.closed, *self.bend, self.state, self.b0, self.b1, *self.stretch, self.pulls,
            self.s0, self.s1,
        )  # fmt: skip

    def energy(self, q=None):
        q, state = (self.q, self.state) if q is None else (q, self.carried(q))
        return energy_spline(
            q, self.dof0, self.n, self.closed, self.constants, self.rod, *self.bend, state, self.b0, self.b1,
            *self.stretch, self.pulls, self.s0, self.s1,
        )  # fmt: skip

    def potential(self, q, rate):
        """Energy and what Kelvin–Voigt damping adds to it, rate/2 Σ w J D (strain − last strain)²."""
        state, pulls = self.carried(q), self.pulls.copy()
        accept_strains_spline(
            q, self.dof0, self.n, self.closed, *self.bend, state, self.b0, self.b1, *self.stretch, pulls, self.s0,
            self.s1,
        )  # fmt: skip
        t = self.tables
        bend = (state - self.state)[self.b0 :, 10:] ** 2 @ t.constants[1:4]
        stretch = (pulls - self.pulls)[self.s0 :, 1] ** 2 * t.constants[0]
        lost = np.sum(t.bend_table[:, 0] * t.bend_table[:, 1] * bend)
        lost += np.sum(t.stretch_table[:, 0] * t.stretch_table[:, 1] * stretch)
        return sum(self.energy(q)) + 0.5 * rate * lost

    def store_tensions(self, rate=0.0, dq=None):
        update_tensions_spline(
            self.q, np.zeros_like(self.q) if dq is None else dq, self.dof0, self.n, self.closed, self.constants,
            self.rod, *self.stretch, self.pulls, self.s0, self.s1, rate,
        )  # fmt: skip

    def assembled(self, q=None, *, rate=0.0, exact=1, push=1, weight_f=1.0, weight_k=1.0):
        """Force (4 n,) and dense stiffness (4 n, 4 n) at q."""
        q, state = (self.q, self.state) if q is None else (q, self.carried(q))
        force, values = np.zeros(self.dof0 + 4 * self.n), np.zeros(self.band0 + 64 * self.n)
        assemble_spline(
            q, self.dof0, self.n, self.closed, self.constants, self.rod, *self.bend, state, self.b0, self.b1,
            *self.stretch, self.pulls, self.s0, self.s1,
            rate, exact, weight_f, weight_k, push, force, values, self.band0,
        )  # fmt: skip
        assert not np.any(force[: self.dof0]) and not np.any(values[: self.band0])
        band = values[self.band0 :].reshape(self.n, 4, 4, 4)
        matrix = np.zeros((self.n, 4, self.n, 4))
        for i in range(self.n):
            matrix[i, :, i] += np.triu(band[i, :, 0]) + np.triu(band[i, :, 0], 1).T
            for k in range(1, 4):
                if i + k >= self.n and not self.closed:
                    assert not np.any(band[i, :, k])
                    continue
                matrix[i, :, (i + k) % self.n] += band[i, :, k]
                matrix[(i + k) % self.n, :, i] += band[i, :, k].T
        return force[self.dof0 :], matrix.reshape(4 * self.n, 4 * self.n)


@pytest.fixture(scope="session")
def posed():
    return PosedSpline


@pytest.fixture(scope="session")
def slender():
    """Section and material of a rod with E I = 1 (both ways), EA = the argument, G J = 1/1.3, mass per length 1."""

    def make(EA):
        radius = 2.0 / np.sqrt(EA)
        area = np.pi * radius**2
        return sn.Section.circle(radius), sn.Material(EA / area, 0.3, 1.0 / area)

    return make
