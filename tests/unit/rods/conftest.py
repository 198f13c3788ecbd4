"""A rod of either model in a given shape, with the calls that the tests below make on it."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.discrete.kernels import kind as discrete_kernels
from sennit.bodies.rod.spline.kernels import kind as spline_kernels
from sennit.bodies.rod.table import joined_rods

KERNELS = {"spline": spline_kernels, "discrete": discrete_kernels}


class Posed:
    """A rod's tables, a shape q and the state whose frames lie on it, placed behind a stranger's rows and numbers."""

    dof0, band0, rod = 5, 7, 1

    def __init__(self, tables, q=None):
        self.kernels = KERNELS[tables.model.name]
        self.n, self.closed = tables.n, tables.closed
        self.tables = copy.copy(tables)
        self.tables.leave()
        self.tables.bend.fill(tables.made["bend"])
        self.tables.stretch.fill(tables.made["stretch"])
        self.tables.bends.relaxation[:] = self.tables.stretches.relaxation[:] = 1.0  # s: the rate is one over the step
        points = tables.model.straight_points((0, 0, 0), (1, 0, 0), 4)
        stranger = tables.model.tables(points, sn.Section.circle(0.1), sn.Material(1.0, 0.3, 1.0))
        for name in ("bends", "bend", "stretches", "stretch", "masses"):
            for array in stranger.part(name).fields().values():
                array[...] = 9
        self.kind = joined_rods(tables.model.kind, [stranger, self.tables])
        self.kind.rods.dof[self.rod], self.kind.rods.band[self.rod] = self.dof0, self.band0
        self.strangers = len(stranger.bend_u)
        self.q = np.concatenate((np.full(self.dof0, 9.0), tables.rest.ravel()))
        if q is not None:
            self.move(q)

    @property
    def frames(self):
        """The state of its bending points."""
        return self.tables.bend

    @property
    def tensions(self):
        """The state of its stretching points."""
        return self.tables.stretch

    @property
    def nodes(self):
        """Its part of q: (n, 4), a view."""
        return self.q[self.dof0 :].reshape(-1, 4)

    def move(self, q):
        """Go to the shape q (n, 4), frames carried."""
        self.q = self.q.copy()
        self.q[self.dof0 :] = np.ravel(q)
        self.kind.bend.fill(self.carried(self.q))

    def carried(self, q, source=None):
        """All frames of its kind with its own carried to q; the stranger's are left."""
        source = self.kind.bend if source is None else source
        out = source.copy()
        for array in self.own(out).fields().values():
            array[...] = np.nan
        self.kernels.carry_frames(self.rod, self.kind, q, source, out)
        return out

    def own(self, frames):
        """Its part of all frames of its kind."""
        return frames.part(self.strangers, len(frames))

    def accept(self):
        self.kernels.accept_strains(self.rod, self.kind, self.q, self.kind.bend, self.kind.stretch)

    def energy(self, q=None):
        q, frames = (self.q, self.kind.bend) if q is None else (q, self.carried(q))
        return self.kernels.energy(self.rod, self.kind, q, frames, 0.0)

    def potential(self, q, rate):
        """Energy and what Kelvin–Voigt damping adds to it, rate/2 Σ w J D (strain − last strain)²."""
        frames, tensions = self.carried(q), self.kind.stretch.copy()
        self.kernels.accept_strains(self.rod, self.kind, q, frames, tensions)
        t = self.tables
        bend = np.sum((self.own(frames).strain - self.frames.strain) ** 2 * t.bends.stiffness, axis=1)
        stretch = (tensions.strain[-len(t.stretch_u) :] - self.tensions.strain) ** 2 * t.stretches.stiffness
        lost = np.sum(t.bends.weight * t.bends.speed * bend)
        lost += np.sum(t.stretches.weight * t.stretches.speed * stretch)
        return sum(self.energy(q)) + 0.5 * rate * lost

    def store_tensions(self, rate=0.0, dq=None):
        dq = np.zeros_like(self.q) if dq is None else dq
        self.kernels.update_tensions(self.rod, self.kind, self.q, dq, self.kind.stretch, rate)
        return self.tensions.tension

    def largest_turn(self, dq):
        return self.kernels.largest_turn(self.rod, self.kind, self.q, dq)

    def rotate(self, rotation):
        frames, matrix = self.kind.bend, tuple(rotation.ravel().tolist())
        self.kernels.rotate_frames(self.rod, self.kind, frames, frames, matrix)

    def assembled(self, q=None, *, rate=0.0, exact=1, push=1, weight_f=1.0, weight_k=1.0):
        """Force (4 n,) and dense stiffness (4 n, 4 n) at q."""
        q, frames = (self.q, self.kind.bend) if q is None else (q, self.carried(q))
        force, values = np.zeros(self.dof0 + 4 * self.n), np.zeros(self.band0 + 64 * self.n)
        self.kernels.assemble(
            self.rod, self.kind, q, frames, self.kind.stretch, rate, exact, weight_f, weight_k, push, force, values
        )
        assert not np.any(force[: self.dof0]) and not np.any(values[: self.band0])
        band = values[self.band0 :].reshape(self.n, 4, 4, 4)
        matrix = np.zeros((self.n, 4, self.n, 4))
        for i in range(self.n):
            own = band[i, :, 0]
            np.testing.assert_allclose(own, own.T, rtol=0, atol=1e-12 * np.max(np.abs(own)))
            matrix[i, :, i] += np.triu(own) + np.triu(own, 1).T
            for k in range(1, 4):
                if i + k >= self.n and not self.closed:
                    assert not np.any(band[i, :, k])
                    continue
                matrix[i, :, (i + k) % self.n] += band[i, :, k]
                matrix[(i + k) % self.n, :, i] += band[i, :, k].T
        return force[self.dof0 :], matrix.reshape(4 * self.n, 4 * self.n)


@pytest.fixture(scope="session")
def posed():
    return Posed


@pytest.fixture(scope="session")
def slender():
    """Section and material of a rod with E I = 1 (both ways), EA = the argument, G J = 1/1.3, mass per length 1."""

    def make(EA):
        radius = 2.0 / np.sqrt(EA)
        area = np.pi * radius**2
        return sn.Section.circle(radius), sn.Material(EA / area, 0.3, 1.0 / area)

    return make
