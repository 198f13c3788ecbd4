"""One equilibrium problem of a strand as arrays: mesh, rest strains, loads, holds and law, in the kernels' units.

Units: lengths in L, forces in B/L², moments in B/L, energies in B/L, where B is a bending stiffness of the law; so
everything is of order one, whatever the strand is made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sennit.cosserat.law.laws import LawData
from sennit.cosserat.law.varied import Matter, VariedStiffness
from sennit.cosserat.mesh import nodes_of, thirds_of
from sennit.cosserat.tables import ElementData, Intervals, Loads, Plan, StretchedIntervals, VariedIntervals
from sennit.validation import FloatArray

__all__ = ["Hold", "Problem", "element_samples"]


@dataclass(frozen=True, slots=True)
class Hold:
    """A place where the strand's position is given: an element end, and whether its rotation is given too."""

    end: int
    turned: bool


def element_samples(values: FloatArray, stride: int) -> FloatArray:
    """Values at nodes (n, 3) as values at the three slots of each element (elements, 3, 3)."""
    if stride == 2:
        return np.stack((values[:-2:2], values[1:-1:2], values[2::2]), axis=1)
    return np.stack((values[:-1], 0.5 * (values[1:] + values[:-1]), values[1:]), axis=1)


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
    matter: Matter | None = None
    """What the strand is made of, where that varies along its length."""
    gravity: FloatArray | None = None
    """What the mass per length is multiplied with to be a weight, m/s² over B/L³, where masses vary."""

    plan: Plan = field(init=False)
    """Mesh and holds as the kernels take them."""
    stride: int = field(init=False)
    """Nodes from one element end to the next."""
    s: FloatArray = field(init=False)
    """Arclengths of the nodes."""
    h: FloatArray = field(init=False)
    """Lengths of the elements."""
    dead_forces_only: bool = field(init=False)
    all_follow: bool = field(init=False)
    points_follow: bool = field(init=False)
    """Whether follower loads act at single nodes."""
    turned: list[int] = field(init=False)
    """Nodes whose rotations are given."""
    held_nodes: NDArray[np.int64] = field(init=False)
    """Nodes at the holds."""
    curled: bool = field(init=False)
    """Whether it turns by more than half a turn when nothing bends it."""
    rest_shape: FloatArray | None = field(init=False, default=None)
    """Rotations of the nodes then, once they were asked for."""
    load_n: FloatArray = field(init=False)
    """Known part of the internal force at the slots (elements, 3, 3)."""
    varied: VariedStiffness | None = field(init=False, default=None)
    """Stiffness at the slots, of a strand that varies along its length."""
    data: ElementData = field(init=False)
    """What the elements are given, in lanes."""
    _intervals: StretchedIntervals | None = field(init=False, default=None)
    _varied_intervals: VariedIntervals | None = field(init=False, default=None)
    _sweep_intervals: Intervals | StretchedIntervals | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.stride = 2 if self.order == 4 else 1
        self.s = nodes_of(self.ends, self.stride)
        self.h = np.diff(self.ends)
        elements = len(self.h)
        # segments: before the first hold, between holds, after the last one
        places = [hold.end for hold in self.holds]
        bounds = sorted({0, elements, *places})
        plan = self.plan = Plan(one=1, elements=elements, segments=len(bounds) - 1, ends=elements + 1)
        plan.order[0], plan.stride[0] = self.order, self.stride
        plan.segment[:] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        plan.held[:] = [a in places and b in places for a, b in zip(bounds, bounds[1:], strict=False)]
        for hold in self.holds:
            plan.fixed[hold.end] = hold.turned
        self.turned = [hold.end * self.stride for hold in self.holds if hold.turned]
        self.held_nodes = np.array([hold.end * self.stride for hold in self.holds], dtype=np.int64)
        self.curled = float(np.sum(np.linalg.norm(self.rest_u[:, 1], axis=1) * self.h)) > math.pi
        # it holds turns that cost nothing where no rotation is given
        plan.floor[0] = 0.0 if plan.fixed.any() else 1e-7
        self.dead_forces_only, self.all_follow = self.loads.dead_forces_only, self.loads.all_follow
        self.points_follow = bool(self.loads.follower_point.any() or self.loads.follower_moment.any())
        self.load_n = self._known_forces(bounds, places)
        plan.longest[0] = self.h.max()
        plan.strongest[0] = np.sqrt(np.max(np.sum(self.load_n**2, axis=2)))
        if self.law.varies:
            self.varied = self.law.at(thirds_of(self.ends))
        self.data = self._packed()

    @property
    def segments(self) -> int:
        """Number of segments."""
        return len(self.plan.held)

    @property
    def elements(self) -> int:
        """Number of elements."""
        return len(self.h)

    def _known_forces(self, bounds: list[int], places: list[int]) -> FloatArray:
        """Known part N of the internal force at the slots: the dead forces between the slot and the segment's end.

        Before the first hold it is what the free start leaves, N = −(loads before); everywhere else N counts the loads
        beyond, up to the next hold, whose unknown λ does the rest.
        """
        within = self.loads_within(self.loads.dead_force) + self.weight_within()
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

    def _packed(self) -> ElementData:
        data = ElementData(self.elements)
        data.put("length", self.h)
        data.length[data.length == 0.0] = 1.0  # unused lanes divide by their length as well
        if self.varied is None:
            data.limp[...] = 1.0
        else:
            K = self.varied.K[:, 1]
            data.put("limp", 1.0 / (K[:, 0, 0] * K[:, 1, 1]))
        for slot, name in enumerate("0m1"):
            data.put(f"rest_u{name}", self.rest_u[:, slot])
            data.put(f"rest_v{name}", self.rest_v[:, slot])
            data.put(f"load_n{name}", self.load_n[:, slot])
        return data

    def sweep_intervals(self) -> Intervals | StretchedIntervals:
        """What the explicit sweeps need; made once."""
        if self.law.varies:
            return self.varied_intervals()
        if self._sweep_intervals is None:
            own = self._sweep_intervals = self.own_intervals()
            if np.all(own.rest_v == (0.0, 0.0, 1.0)):
                self._sweep_intervals = Intervals.of(h=own.h, rest_u=own.rest_u, force=own.force, torque=own.torque)
        return self._sweep_intervals

    def own_intervals(self) -> StretchedIntervals:
        """Rest strains and the loads per length that follow the strand; made once."""
        if self._intervals is None:
            self._intervals = self.intervals(self.loads.follower_force, self.loads.follower_torque)
        return self._intervals

    def varied_intervals(self) -> VariedIntervals:
        """The same of a strand that varies; made once."""
        if self._varied_intervals is None:
            self._varied_intervals = self.with_matter(self.own_intervals())
        return self._varied_intervals

    def with_matter(self, intervals: StretchedIntervals) -> VariedIntervals:
        """`intervals` with what a strand that varies has at the base side, the middle and the tip side of each."""
        s = thirds_of(self.s)
        slots = 3 * len(s)
        bend, give, weight = np.zeros((slots, 9)), np.zeros((slots, 9)), np.zeros((slots, 3))
        if self.law.varies:
            varied = self.law.at(s)
            bend[:], give[:] = np.linalg.inv(varied.K).reshape(-1, 9), varied.C.reshape(-1, 9)
        else:
            bend[:], give[:] = np.linalg.inv(self.law.K).ravel(), self.law.C.ravel()
        if self.gravity is not None:
            assert self.matter is not None
            mass = self.matter.mass(s * self.law.length)
            assert mass is not None
            weight[:] = mass.reshape(-1, 1) * self.gravity
        return VariedIntervals.of(**intervals.fields(), bend=bend, give=give, weight=weight)

    def intervals(self, force: FloatArray, torque: FloatArray) -> StretchedIntervals:
        """Rest strains and loads (n, 3) at the nodes and between them, where they follow the elements' parabolas."""
        samples = (element_samples(force, self.stride), element_samples(torque, self.stride))
        slots = (self.rest_u, self.rest_v, *samples)
        u, v, f, t = (_refined(values, self.stride) for values in slots)
        return StretchedIntervals.of(h=np.diff(self.s), rest_u=u, rest_v=v, force=f, torque=t)

    def rest_at_nodes(self) -> tuple[FloatArray, FloatArray]:
        """û and v̂ at the nodes, (n, 3) each."""
        intervals = self.own_intervals()
        return intervals.rest_u[::2], intervals.rest_v[::2]

    def at_nodes(self) -> VariedStiffness | None:
        """Stiffness at the nodes, of a strand that varies; where it jumps, that just before the node."""
        if self.varied is None:
            return None
        one = self.varied
        return VariedStiffness(*(self._nodal(values) for values in (one.matrices, one.K, one.C)))

    def _nodal(self, values: FloatArray) -> FloatArray:
        """Values at the slots (elements, 3, …) as values at the nodes; where they jump, those just before."""
        if self.stride == 1:
            return np.asarray(np.concatenate((values[:1, 0], values[:, 2])))
        return np.asarray(np.concatenate((values[:1, 0], values[:, 1:].reshape(-1, *values.shape[2:]))))

    def dead_density(self) -> FloatArray:
        """Dead forces per length at the nodes (n, 3), weight included."""
        if not len(self.loads.dead_weight):
            return np.asarray(self.loads.dead_force)
        return np.asarray(self.loads.dead_force + self._nodal(self.loads.dead_weight.reshape(-1, 3, 3)))

    def weight_within(self) -> FloatArray | float:
        """∫ of the weight from each slot to its element's end, (elements, 3, 3), where masses vary; 0 elsewhere."""
        weight = self.loads.dead_weight
        return self._within(weight.reshape(-1, 3, 3)) if len(weight) else 0.0

    def loads_within(self, density: FloatArray) -> FloatArray:
        """∫ of a density (n, 3) from each slot to its element's end, (elements, 3, 3)."""
        return self._within(element_samples(density, self.stride))

    def _within(self, f: FloatArray) -> FloatArray:
        """The same of a density at the slots (elements, 3, 3)."""
        h = self.h[:, None]
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
