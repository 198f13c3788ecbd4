"""What a `Rod` asks of its model: the one that it is made with, chosen once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from sennit.bodies.rod.table import Masses, RodKind, RodTables
from sennit.material import Material, Section
from sennit.tables import Table
from sennit.validation import FloatArray

__all__ = ["RodModel"]


class RodModel(ABC):
    """A way to make a rod of control points: its tables, its shapes and what is read along it.

    In all functions `t` is a rod's tables, q (n, 4) its control points (m) and rolls (rad), u and s arrays of
    parameters and rest lengths; frames are those of its state, carried to q.
    """

    name: ClassVar[str]
    """What users call it."""
    kind: ClassVar[type[RodKind]]
    """The class of its tables."""
    table: ClassVar[str]
    """What a scene calls that table."""
    smooth: ClassVar[bool]
    """Whether its tangent is continuous, so that something can slide along it."""
    mass_points: ClassVar[int]
    """Gauss points of a span, or of a part of it between jumps, at which masses that vary are integrated."""
    point_kind: ClassVar[int]
    """Kind of its points, see `bodies.kernels.points`."""
    carry_frames: Callable[..., None]
    accept_strains: Callable[..., None]
    energy: Callable[..., tuple[float, float, float]]
    """Functions of its ``kernels.kind``: of one rod."""

    def __reduce__(self) -> str:
        return self.name.upper()  # the only one of its class, by its name in its module

    # ------------------------------------------------------------------------------------------------ making rods

    @abstractmethod
    def smallest(self, closed: bool) -> int:
        """The fewest control points; raises `InputError` if it can't be closed."""

    @abstractmethod
    def spans(self, n: int, closed: bool) -> int:
        """Number of spans of a rod of `n` control points."""

    @abstractmethod
    def straight_points(self, start: ArrayLike, end: ArrayLike, n: int) -> FloatArray:
        """Control points (n, 3), m, of a straight rod."""

    @abstractmethod
    def fitted_points(self, points: ArrayLike, n: int, closed: bool) -> FloatArray:
        """Control points (n, 3), m, of a rod through `points` (k, 3), m."""

    @abstractmethod
    def tables(self, points: FloatArray, section: Section, material: Material, **options: Any) -> RodTables:
        """The tables of a rod with these control points."""

    @abstractmethod
    def masses(self, t: RodTables, mass: float, inertia: float) -> Masses:
        """Masses of a rod of `mass` (kg/m) and of polar `inertia` (kg·m), both over its length at rest."""

    @abstractmethod
    def lumped(self, t: RodTables, u: FloatArray, mass: FloatArray, inertia: FloatArray) -> Masses:
        """Masses of lumps at the parameters `u` (k,): of `mass` (kg) and polar `inertia` (kg·m²)."""

    @abstractmethod
    def cells(self, t: RodTables) -> tuple[FloatArray | None, FloatArray]:
        """Parameters u between which the parts of the rod lie that each bending point (None: they share the rod
        otherwise) and each stretching point stands for.
        """

    @abstractmethod
    def speeds_at(self, t: RodTables, u: FloatArray) -> FloatArray:
        """|r′| (k,) at rest, m, at the parameters `u`."""

    def tables_at_rest(self, points: FloatArray, closed: bool) -> dict[str, Table]:
        """Tables of its kind, by name, that follow from the control points (n, 3) at rest: files do not have them."""
        return {}

    @abstractmethod
    def hold_rolls(self, rolls: FloatArray) -> None:
        """Set those of the rolls (n,), or of their rates, to 0 that never move."""

    # ------------------------------------------------------------------------------------------------------ places

    @abstractmethod
    def parameter_at(self, t: RodTables, s: ArrayLike) -> FloatArray:
        """The parameters u (k,) at the rest lengths `s`, m."""

    @abstractmethod
    def length_at(self, t: RodTables, u: ArrayLike) -> FloatArray:
        """The rest lengths s (k,), m, at the parameters `u`."""

    @abstractmethod
    def length_here(self, t: RodTables, u: float) -> float:
        """The rest length s, m, at one parameter `u` within the rod."""

    @abstractmethod
    def basis_at(self, t: RodTables, u: ArrayLike) -> tuple[int, FloatArray]:
        """First of four control points, and N, N′, NR (for the roll), N″ of them (16,), at one parameter."""

    @abstractmethod
    def stations(self, t: RodTables, count: int) -> FloatArray:
        """Parameters u of `count` equal steps of the rest length from end to end."""

    # ------------------------------------------------------------------------------------------------------ reading

    @abstractmethod
    def values_along(self, t: RodTables, nodal: FloatArray, u: FloatArray) -> FloatArray:
        """Positions (k, 3) at `u` from the control points, or velocities from theirs, in the columns of `nodal`."""

    @abstractmethod
    def references(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """Tangents and reference vectors in the first six columns of (k, …)."""

    @abstractmethod
    def frames(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """Rotations (k, 3, 3) with columns d1, d2, d3."""

    @abstractmethod
    def curvatures(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """κ1, κ2, τ (k, 3), 1/m."""

    @abstractmethod
    def tensions(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """Tension EA ε (k,), N."""

    @abstractmethod
    def minimum_bend_radius(self, t: RodTables, q: FloatArray) -> float:
        """Smallest radius to which the rod is bent, m."""

    def speed_ratio(self, t: RodTables, q: FloatArray) -> float:
        """How evenly the curve of a scene's degrees of freedom q runs: 1, or less where it is nearly folded."""
        return 1.0

    @abstractmethod
    def fresh_frames(self, t: RodTables, q: FloatArray, u: FloatArray) -> tuple[FloatArray, float]:
        """Make the reference vectors of its state anew, parallel along the present curve; sections stay as they are.

        The rolls in `q` and the state of its bending points are changed in place. Returns t and u1 (k, 6) at the
        parameters `u`, and the largest angle (rad) by which a section had to be turned.
        """

    @abstractmethod
    def rest_strains(self, t: RodTables) -> tuple[FloatArray, FloatArray]:
        """Rest lengths s (k,), m, of the places that have strains of their own, and κ̂1, κ̂2, τ̂ (k, 3) there, 1/m."""
