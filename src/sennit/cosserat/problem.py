"""One equilibrium problem of a strand as arrays: mesh, rest strains, loads, holds and law, in the kernels' units.

Units: lengths in L, forces in B/L², moments in B/L, energies in B/L, where B is a bending stiffness of the law; so
everything is of order one, whatever the strand is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sennit.cosserat.kernels.element import LANES
from sennit.cosserat.law.laws import LawData
from sennit.cosserat.mesh import nodes_of
from sennit.validation import FloatArray

__all__ = ["Hold", "Loads", "Problem", "element_samples"]


@dataclass(frozen=True, slots=True)
class Hold:
    """A place where the strand's position is given: an element end, and whether its rotation is given too."""

    end: int
    turned: bool


@dataclass(frozen=True, slots=True)
class Loads:
    """Loads on a mesh of n nodes, in the kernels' units. Rows of zeros where there are none.

    ``dead_*`` are in the world frame, ``follower_*`` in the frame of their node; ``*_force`` and ``*_torque`` are per
    length, ``*_point`` and ``*_moment`` act at the element ends (the tip's own load included, in the last row).
    """

    dead_force: FloatArray
    dead_torque: FloatArray
    follower_force: FloatArray
    follower_torque: FloatArray
    dead_point: FloatArray
    dead_moment: FloatArray
    follower_point: FloatArray
    follower_moment: FloatArray

    @classmethod
    def none(cls, nodes: int, ends: int) -> Loads:
        """No loads, in fresh arrays."""
        return cls(*(np.zeros((nodes, 3)) for _ in range(4)), *(np.zeros((ends, 3)) for _ in range(4)))

    @property
    def dead_forces_only(self) -> bool:
        """Whether they have a potential: no torques, and no forces that turn with the strand."""
        none = (
            self.dead_torque, self.follower_torque, self.follower_force, self.follower_point, self.dead_moment,
            self.follower_moment,
        )  # fmt: skip
        return not any(array.any() for array in none)

    @property
    def all_follow(self) -> bool:
        """Whether every load turns with the strand, so that two sweeps give the answer."""
        dead = (self.dead_force, self.dead_torque, self.dead_point, self.dead_moment)
        return not any(array.any() for array in dead)


def element_samples(values: FloatArray, stride: int) -> FloatArray:
    """Values at nodes (n, 3) as values at the three slots of each element (elements, 3, 3)."""
    if stride == 2:
        return np.stack((values[:-2:2], values[1:-1:2], values[2::2]), axis=1)
    return np.stack((values[:-1], 0.5 * (values[1:] + values[:-1]), values[1:]), axis=1)


@dataclass(frozen=True, slots=True)
class IntervalData:
    """Intervals between nodes (intervals,), and values at the nodes and between them (2·intervals + 1, 3)."""

    h: FloatArray
    rest_u: FloatArray
    rest_v: FloatArray
    force: FloatArray
    torque: FloatArray
    unit_stretch: bool
    """Whether the rest stretch is (0, 0, 1) everywhere."""
    points: bool
    """Whether follower loads act at single nodes."""


@dataclass(eq=False)
class Problem:
    """What the kernels of the energy method need to know, apart from where the holds are."""

    ends: FloatArray
    """Element ends, from 0 to 1."""
    order: int
    law: LawData
    rest_u: FloatArray
    """Rest curvature at the slots (elements, 3, 3)."""
    rest_v: FloatArray
    loads: Loads
    holds: Sequence[Hold]
    springy_tip: bool = False
    """Whether a spring holds the tip's position: what is applied at the tip then acts on the strand."""

    floor: float = field(init=False)
    """Shift that is always on the tangent's diagonal: it holds turns that cost nothing where no rotation is given."""
    stride: int = field(init=False)
    s: FloatArray = field(init=False)
    h: FloatArray = field(init=False)
    dead_forces_only: bool = field(init=False)
    all_follow: bool = field(init=False)
    segment: np.ndarray = field(init=False)
    held: np.ndarray = field(init=False)
    fixed: np.ndarray = field(init=False)
    load_n: FloatArray = field(init=False)
    constants: FloatArray = field(init=False)
    _sweep_data: IntervalData | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.stride = 2 if self.order == 4 else 1
        self.s = nodes_of(self.ends, self.stride)
        self.h = np.diff(self.ends)
        elements = len(self.h)
        # segments: before the first hold, between holds, after the last one
        places = [hold.end for hold in self.holds]
        bounds = sorted({0, elements, *places})
        self.segment = np.repeat(np.arange(len(bounds) - 1, dtype=np.uint32), np.diff(bounds))
        self.held = np.array([a in places and b in places for a, b in zip(bounds, bounds[1:], strict=False)])
        self.fixed = np.zeros(elements + 1, dtype=bool)
        for hold in self.holds:
            self.fixed[hold.end] = hold.turned
        self.floor = 0.0 if self.fixed.any() else 1e-7
        self.dead_forces_only, self.all_follow = self.loads.dead_forces_only, self.loads.all_follow
        self.load_n = self._known_forces(bounds, places)
        self.constants = self._pack()

    @property
    def elements(self) -> int:
        """Number of elements."""
        return len(self.h)

    def _known_forces(self, bounds: list[int], places: list[int]) -> FloatArray:
        """Known part N of the internal force at the slots: the dead forces between the slot and the segment's end.

        Before the first hold it is what the free start leaves, N = −(loads before); everywhere else N counts the loads
        beyond, up to the next hold, whose unknown λ does the rest.
        """
        within = self.loads_within(self.loads.dead_force)
        whole, half = within[:, 0], within[:, 1]
        n = np.zeros((self.elements, 3, 3))
        point = self.loads.dead_point
        for a, b in zip(bounds, bounds[1:], strict=False):
            if a not in places and b in places:
                before = point[a:b] + np.concatenate((np.zeros((1, 3)), whole[a : b - 1]))
                n[a:b, 0] = -np.cumsum(before, axis=0)
                n[a:b, 2] = n[a:b, 0] - whole[a:b]
            else:
                beyond = point[a + 1 : b + 1] + np.concatenate((whole[a + 1 : b], np.zeros((1, 3))))
                if b in places and not (self.springy_tip and b == self.elements):
                    beyond[-1] = 0.0  # what is applied at a hold is the hold's affair
                n[a:b, 2] = np.cumsum(beyond[::-1], axis=0)[::-1]
                n[a:b, 0] = n[a:b, 2] + whole[a:b]
        n[:, 1] = n[:, 2] + half
        return n

    def _pack(self) -> FloatArray:
        """Constants of the elements in blocks of lanes: (blocks, CONSTANTS, LANES)."""
        slots = (self.rest_u.reshape(-1, 9), self.rest_v.reshape(-1, 9), self.load_n.reshape(-1, 9))
        constants = pack(np.concatenate((self.h[:, None], *slots), axis=1))
        constants[:, 0][constants[:, 0] == 0.0] = 1.0  # unused lanes divide by their length as well
        return constants

    def sweep_data(self) -> IntervalData:
        """What the explicit sweeps need; made once."""
        if self._sweep_data is None:
            self._sweep_data = self.interval_data(self.loads.follower_force, self.loads.follower_torque)
        return self._sweep_data

    def interval_data(self, force: FloatArray, torque: FloatArray) -> IntervalData:
        """Rest strains and loads (n, 3) at the nodes and between them, where they follow the elements' parabolas."""
        samples = (element_samples(force, self.stride), element_samples(torque, self.stride))
        slots = (self.rest_u, self.rest_v, *samples)
        u, v, f, t = (_refined(values, self.stride) for values in slots)
        points = bool(self.loads.follower_point.any() or self.loads.follower_moment.any())
        return IntervalData(np.diff(self.s), u, v, f, t, bool(np.all(v == (0.0, 0.0, 1.0))), points)

    def rest_at_nodes(self) -> tuple[FloatArray, FloatArray]:
        """û and v̂ at the nodes, (n, 3) each."""
        data = self.sweep_data()
        return data.rest_u[::2], data.rest_v[::2]

    def loads_within(self, density: FloatArray) -> FloatArray:
        """∫ of a density (n, 3) from each slot to its element's end, (elements, 3, 3)."""
        f, h = element_samples(density, self.stride), self.h[:, None]
        within = np.zeros((self.elements, 3, 3))
        if self.stride == 2:
            within[:, 0] = h / 6.0 * (f[:, 0] + 4.0 * f[:, 1] + f[:, 2])
            within[:, 1] = h / 24.0 * (-f[:, 0] + 8.0 * f[:, 1] + 5.0 * f[:, 2])
        else:
            within[:, 0] = 0.5 * h * (f[:, 0] + f[:, 2])
            within[:, 1] = 0.5 * within[:, 0]
        return within

    def node_weights(self) -> FloatArray:
        """Quadrature weights of the nodes (n,) for loads per length."""
        weights = np.zeros(len(self.s))
        if self.stride == 2:
            weights[:-1:2] += self.h / 6.0
            weights[2::2] += self.h / 6.0
            weights[1::2] = 4.0 * self.h / 6.0
        else:
            weights[:-1] += 0.5 * self.h
            weights[1:] += 0.5 * self.h
        return weights

    def integral_beyond(self, density: FloatArray) -> FloatArray:
        """∫ of a density (n, 3) from each node to the tip, (n, 3)."""
        within = self.loads_within(density)
        ends = np.concatenate((np.cumsum(within[::-1, 0], axis=0)[::-1], np.zeros((1, 3))))
        if self.stride == 1:
            return ends
        result = np.empty_like(density)
        result[::2] = ends
        result[1::2] = ends[1:] + within[:, 1]
        return result


def pack(rows: FloatArray) -> FloatArray:
    """Rows (elements, k) in blocks of lanes (blocks, k, LANES), zeros in the unused lanes."""
    blocks = -(-len(rows) // LANES)
    padded = np.zeros((blocks * LANES, rows.shape[1]))
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(blocks, LANES, -1).transpose(0, 2, 1))


def _refined(slots: FloatArray, stride: int) -> FloatArray:
    """Values at the slots (elements, 3, 3) as values at the nodes and between them."""
    if stride == 1:
        result = np.empty((2 * len(slots) + 1, 3))
        result[:-1:2], result[1::2], result[-1] = slots[:, 0], slots[:, 1], slots[-1, 2]
        return result
    a, b, c = slots[:, 0], slots[:, 1], slots[:, 2]
    result = np.empty((4 * len(slots) + 1, 3))
    result[:-1:4], result[2::4], result[-1] = a, b, c[-1]
    result[1::4] = (3.0 * a + 6.0 * b - c) / 8.0
    result[3::4] = (3.0 * c + 6.0 * b - a) / 8.0
    return result
