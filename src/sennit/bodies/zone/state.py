"""A solved zone: its deformed surface, the forces and tractions on it, and what it stores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sennit.attributes import unchanging
from sennit.elastostatics import steady
from sennit.elastostatics.greens import rows_of
from sennit.elastostatics.kernels.compliance import place_free, row_products, spread
from sennit.elastostatics.surface import IntArray
from sennit.elastostatics.tables import Touched
from sennit.errors import SolveReport
from sennit.tables import WORK
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.zone.zone import Zone

__all__ = ["Probe", "ZoneState", "read_only"]


@unchanging
@dataclass(frozen=True, eq=False)
class Probe:
    """Where a zone is touched, and how stiff it is there."""

    face: int
    """Face that is touched."""
    barycentric: FloatArray
    """Place in that face, (3,)."""
    foot: FloatArray
    """Point of the undeformed surface nearest to the place asked for, (3,), m."""
    distance: float
    """Distance between the two, m."""
    radius: float
    """Radius of the patch, m; 0 for the bare point."""
    vertices: IntArray
    """Vertices of the patch, (k,)."""
    weights: FloatArray
    """Their weights, which sum to 1, (k,)."""
    displacement: FloatArray
    """Displacement of the patch, Σ w_i u_i, (3,), m."""
    compliance: FloatArray
    """Displacement of the patch over the force on it, (3, 3), m/N."""

    def __post_init__(self) -> None:
        for values in (self.barycentric, self.foot, self.vertices, self.weights, self.displacement, self.compliance):
            values.flags.writeable = False

    @property
    def stiffness(self) -> FloatArray:
        """Force on the patch over its displacement, (3, 3), N/m."""
        return np.asarray(np.linalg.inv(self.compliance))


@unchanging
class ZoneState:
    """A zone in equilibrium.

    Arrays hold a row for each vertex, in the frame of the zone's vertices; forces are what the outside applies. Strains
    are small: displacements are as far from the truth as they are large beside the body. Everything is computed when it
    is first asked for, and read-only.
    """

    zone: Zone
    """The zone that was solved."""
    _vertices: IntArray
    _applied: FloatArray
    _support: IntArray
    _report: SolveReport | None
    _pull: FloatArray | None
    """Weight, (3,), N/m³, which is among the forces; None: it has none."""
    _felt: tuple[FloatArray, IntArray] | None
    """Of a zone that is touched: weights of the vertices, and what the probe felt, as words of a `Touched`."""

    def __init__(
        self, zone: Zone, vertices: IntArray, applied: FloatArray, *, displacements: FloatArray | None = None,
        support: IntArray | None = None, report: SolveReport | None = None, pull: FloatArray | None = None,
    ) -> None:  # fmt: skip
        # `applied` (k, 3), N, at distinct `vertices` (k,) are all the forces that are known. Without `displacements`
        # (n, 3) those follow from them, with nothing else held than the zone's fixed vertices. Of what acts at vertices
        # of the support only weight is among them.
        own = self.__dict__  # it never changes: nothing else can fill it
        own["zone"], own["_vertices"], own["_applied"] = zone, vertices, applied
        own["_support"] = zone._fixed if support is None else support
        own["_report"], own["_pull"], own["_felt"] = report, pull, None
        if displacements is not None:
            own["displacements"] = read_only(displacements)

    def __repr__(self) -> str:
        x, y, z = self.force
        return f"ZoneState({self.zone.name!r}, force ({x:.4g}, {y:.4g}, {z:.4g}) N)"

    @classmethod
    def _touched(cls, zone: Zone, vertices: IntArray, weights: FloatArray, touched: Touched) -> Self:
        """The state of a zone that a probe touches, which acts on `vertices` with `weights` (k,)."""
        force = touched.force[0].copy()
        state = cls(zone, vertices, weights[:, None] * force)
        own = state.__dict__
        own["force"], own["_felt"] = read_only(force), (weights, touched.words(WORK).copy())
        return state

    @cached_property
    def probe(self) -> Probe | None:
        """Where the zone was touched; None for other states."""
        if self._felt is None:
            return None
        weights, words = self._felt
        felt = self.zone._places.recalled(words)
        return Probe(
            int(felt.face[0]), felt.barycentric[0].copy(), felt.foot[0].copy(), float(felt.distance[0]),
            float(felt.radius[0]), self._vertices, weights, felt.moved[0].copy(),
            felt.compliance[0] / self.zone._modulus,
        )  # fmt: skip

    @property
    def report(self) -> SolveReport:
        """How it was solved; the residual is the error of prescribed displacements over the largest displacement."""
        if self._report is None:
            self._report = SolveReport("converged", 0, 0.0, "greens", len(self.zone._surface.vertices))
        return self._report

    @cached_property
    def displacements(self) -> FloatArray:
        """Displacements u of the vertices (n, 3), m."""
        greens = self.zone._greens
        out = np.empty((len(greens.slot), 3))
        packed = np.empty(len(greens.compliance))
        slots = greens.slot[self._vertices]
        rows = rows_of(slots[slots >= 0])
        values = self._applied[slots >= 0].ravel() / self.zone._modulus
        spread(greens.compliance, rows, values, packed)
        place_free(greens.free, packed, out)
        return read_only(out)

    @cached_property
    def positions(self) -> FloatArray:
        """Deformed vertices (n, 3), m."""
        return read_only(self.zone._surface.vertices + self.displacements)

    @cached_property
    def forces(self) -> FloatArray:
        """Nodal forces (n, 3), N: what the outside, supports and weight included, applies at each vertex, E S u.

        Free vertices carry their loads to the last bit; what holds the others follows from the displacements.
        """
        result = np.zeros_like(self.displacements)
        result[self._vertices] += self._applied
        if len(self._support):
            reactions = np.empty(3 * len(self._support))
            row_products(self.zone._greens.stiffness, rows_of(self._support), self.displacements.ravel(), reactions)
            result[self._support] = self.zone._modulus * reactions.reshape(-1, 3)
        return read_only(result)

    @cached_property
    def corner_tractions(self) -> FloatArray:
        """Tractions at the three corners of each face, (m, 3, 3), Pa: [face, corner, component], E Y u.

        They jump where faces meet in an edge. Pointwise values are less accurate than forces.
        """
        boundary, pull = self.zone._boundary, self._pull
        nodes = (self.zone._modulus * steady.times(boundary.tractions, self.displacements.ravel())).reshape(-1, 3)
        if pull is None:
            return read_only(np.asarray(nodes[boundary.corner_nodes]))
        weight = self.zone._weight
        nodes -= steady.times(boundary.tractions, weight.displacements(pull).ravel()).reshape(-1, 3)
        return read_only(np.asarray(nodes[boundary.corner_nodes] + weight.tractions(pull)))

    @cached_property
    def tractions(self) -> FloatArray:
        """Tractions (n, 3), Pa: at each vertex the mean of its corners', weighted by the areas of their faces."""
        surface = self.zone._surface
        total = np.zeros_like(surface.vertices)
        for corner in range(3):
            np.add.at(total, surface.faces[:, corner], self.corner_tractions[:, corner] * surface.areas[:, None])
        return read_only(total / (3.0 * surface.vertex_areas)[:, None])

    @cached_property
    def energy(self) -> float:
        """Elastic energy ½ Σ f·u, J; with weight what that does inside is in it, too."""
        if self._pull is not None:
            inside = float(self._pull @ self.zone._weight.inner @ self._pull) / self.zone._modulus
            return 0.5 * (float(np.einsum("ij,ij->", self.forces, self.displacements)) + inside)
        work = float(np.einsum("ij,ij->", self._applied, self.displacements[self._vertices]))
        if self.displacements[self._support].any():
            work += float(np.einsum("ij,ij->", self.forces[self._support], self.displacements[self._support]))
        return 0.5 * work

    @cached_property
    def force(self) -> FloatArray:
        """Sum of the forces that the outside applies besides the support, weight included, (3,), N; the support
        carries the opposite.

        What holds free vertices at prescribed displacements is counted, and so is all that a probe applies; the share
        of a traction that falls on fixed vertices is the support's.
        """
        return read_only(self._applied.sum(axis=0))

    @cached_property
    def torque(self) -> FloatArray:
        """Torque of those forces about the origin of the zone's frame, at undeformed places, (3,), N·m."""
        places = self.zone._surface.vertices[self._vertices]
        return read_only(np.cross(places, self._applied).sum(axis=0))

    def plot(self, axes: Any = None, *, show: str = "traction", scale: float | None = None) -> Any:
        """Draw the deformed surface coloured by its tractions with matplotlib; returns the figure.

        Arguments: `axes`, matplotlib axes made with ``projection="3d"``, a new figure by default; `show`,
        ``"traction"`` for magnitudes, ``"pressure"`` for what pushes inwards, ``"displacement"``; `scale`, by which
        displacements are drawn larger than they are (by default 1, more where they would hardly be seen).
        """
        from sennit.bodies.zone.plot import plot_zone

        return plot_zone(self, axes, show, scale)


def read_only(array: FloatArray) -> FloatArray:
    """The same array, which can't be written any more."""
    array.flags.writeable = False
    return array
