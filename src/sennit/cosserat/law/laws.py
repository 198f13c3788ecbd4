"""Elastic laws of a strand: energy per length as a function of bending, twist, shear and stretch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sennit import validation
from sennit.attributes import guarded
from sennit.cosserat.kernels.element import COUPLED, LINEAR, VARIED, VARIED_COUPLED
from sennit.cosserat.kernels.law import evaluate_densities
from sennit.cosserat.law.varied import Matter, VariedStiffness, compliance, mean_stiffness
from sennit.cosserat.mesh import thirds_of
from sennit.cosserat.tables import LawTable
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["Law", "LawData", "checked_stiffness"]

_KEPT_MESHES = 8
_NAMES = ("bend d1", "bend d2", "twist", "shear d1", "shear d2", "stretch")


@dataclass(frozen=True, eq=False)
class LawData:
    """A law as the kernels take it. `stiffness` (6, 6), SI units, is the tangent at rest; where it varies, the mean."""

    stiffness: FloatArray
    extensible: bool
    length: float
    """Length of the strand, m: the unit of length."""
    address: int = LINEAR
    keep_alive: Any = None
    matter: Matter | None = None
    """Of a strand that varies along its length."""
    bending: float = field(init=False)
    """Unit of bending stiffness, N·m²."""
    K: FloatArray = field(init=False)
    """Stiffness in bending and twist (3, 3), in the kernels' units."""
    C: FloatArray = field(init=False)
    """Compliance in shear and stretch (3, 3), in the kernels' units."""
    sweep_compliances: tuple[tuple[float, ...], tuple[float, ...]] = field(init=False)
    """K⁻¹ and C as the sweeps take them: nothing if zero, three numbers if diagonal, all nine otherwise."""
    _meshes: dict[bytes, VariedStiffness] = field(init=False, default_factory=dict)
    """What was asked for last."""

    def __post_init__(self) -> None:
        K, B, L = self.stiffness[:3, :3], self.stiffness[:3, 3:], self.stiffness[3:, 3:]
        bending = float(np.sqrt(K[0, 0] * K[1, 1]))
        put = object.__setattr__
        put(self, "bending", bending)
        if self.address == LINEAR and self.extensible and B.any():
            put(self, "address", COUPLED)
        C = compliance(L) * (bending / self.length**2) if self.extensible else np.zeros((3, 3))
        put(self, "K", np.ascontiguousarray(K / bending))
        put(self, "C", np.ascontiguousarray(C))
        inverse = np.linalg.inv(K / bending)
        put(self, "sweep_compliances", ((), ()) if self.varies else (_shortest(inverse), _shortest(C)))

    @classmethod
    def along(cls, matter: Matter, extensible: bool, ends: FloatArray) -> LawData:
        """The law of a strand that varies: `ends` are those of its elements, in units of the length."""
        places = matter.length * thirds_of(ends)
        weights = np.diff(ends)[:, None] * np.array((1.0, 4.0, 1.0)) / 6.0
        matrices = matter.stiffness(places)
        address = VARIED_COUPLED if extensible and matrices[..., :3, 3:].any() else VARIED
        with validation.in_range("length and stiffness of a strand"):
            mean = mean_stiffness(matrices, weights)
            return cls(mean, extensible, matter.length, address, matter=matter)

    def at(self, places: FloatArray) -> VariedStiffness:
        """Stiffness at places (k, m), in units of the length, of a strand that varies; see `Matter`."""
        assert self.matter is not None
        key = places.tobytes()
        if key not in self._meshes:
            if len(self._meshes) >= _KEPT_MESHES:
                self._meshes.clear()
            matrices = self.matter.stiffness(places * self.length)
            mixed = matrices[..., :3, 3:].any(axis=(-2, -1))
            if self.extensible and self.address == VARIED and mixed.any():
                raise InputError(
                    f"stiffness couples bending with shear and stretch at s = {(places * self.length)[mixed][0]:g} m, "
                    f"but at none of the nodes that the strand was made with: give more nodes, so that it is seen"
                )
            self._meshes[key] = VariedStiffness.of(matrices, self.bending, self.length, self.extensible)
        return self._meshes[key]

    @property
    def varies(self) -> bool:
        """Whether it is another one from place to place."""
        return self.address in (VARIED, VARIED_COUPLED)

    @property
    def force_unit(self) -> float:
        """What a force of 1 is in the kernels' units: B/L², N."""
        return self.bending / self.length**2

    @property
    def linear(self) -> bool:
        """Whether moment and force are K(u − û) and L(v − v̂), without coupling."""
        return self.address in (LINEAR, VARIED)

    def densities(self, u: FloatArray, v: FloatArray, matrices: FloatArray | None = None) -> FloatArray:
        """Energy densities (k,) at strains u − û and v − v̂ (k, 3), in the kernels' units; `matrices`: see `write`."""
        densities = np.zeros(len(u))
        evaluate_densities(self.own_table(matrices), u, v, densities)
        return densities

    def table(self, slots: int) -> LawTable:
        """A table for any law like this one, with as many slots to remember stretches of."""
        return LawTable(one=1, strains=6, slots=slots, rows=6 * slots if self.address == VARIED_COUPLED else 6)

    def write(self, table: LawTable, matrices: FloatArray | None = None) -> None:
        """Fill the kernels' table; `matrices` (k, 6, 6), SI units, is the stiffness of its slots, where it varies."""
        table.K[0], table.C[0] = self.K.ravel(), self.C.ravel()
        table.address[0], table.extensible[0] = self.address, self.extensible
        table.length[0], table.bending[0] = self.length, self.bending
        if self.address == VARIED_COUPLED:
            assert matrices is not None
            table.stiffness[:] = matrices.reshape(-1, 6)
        else:
            table.stiffness[:] = self.stiffness

    def own_table(self, matrices: FloatArray | None = None) -> LawTable:
        """A table of this law without slots; with those of `matrices` (k, 6, 6), where it varies."""
        table = self.table(0 if matrices is None else len(matrices))
        self.write(table, matrices)
        return table


def checked_stiffness(name: str, matrices: FloatArray, s: FloatArray | None = None) -> FloatArray:
    """Symmetric, positive definite matrices (k, 6, 6), made symmetric to rounding; `s` (k,), m: where each is."""
    turned = np.swapaxes(matrices, 1, 2)

    def where(bad: Any) -> tuple[int, str]:
        row = int(np.argmax(bad))
        return row, "" if s is None else f" at s = {s[row]:g} m"

    lopsided = ~np.isclose(matrices, turned, rtol=1e-10, atol=0.0).all(axis=(1, 2))
    if lopsided.any():
        raise InputError(
            f"{name} must be symmetric{where(lopsided)[1]}: stiffness[i, j] is what strain j adds to stress i, and the "
            f"reverse"
        )
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    bad = (diagonal <= 0.0).any(axis=1)
    if bad.any():
        row, place = where(bad)
        raise InputError(
            f"{name} must be positive definite{place}, got the diagonal {validation.quoted(diagonal[row].copy())}"
        )
    units = np.sqrt(diagonal)
    lowest = np.linalg.eigvalsh(matrices / (units[:, :, None] * units[:, None, :]))[:, 0]
    if (lowest <= 1e-14).any():
        row, place = where(lowest <= 1e-14)
        raise InputError(
            f"{name} must be positive definite{place}, but its smallest scaled eigenvalue is {lowest[row]:.3g}"
        )
    return np.asarray(0.5 * (matrices + turned))


def _shortest(matrix: np.ndarray[Any, Any]) -> tuple[float, ...]:
    symmetric = 0.5 * (matrix + matrix.T)
    if not symmetric.any():
        return ()
    diagonal = np.diag(symmetric)
    values = diagonal if np.array_equal(symmetric, np.diag(diagonal)) else symmetric.ravel()
    return tuple(float(x) for x in values)


@guarded()
class Law:
    """An elastic law given by its energy density: ``Law(function)``.

    `function` is compiled by Numba and has the form ``function(strain, stress, tangent) -> energy``: `strain` (6,) is
    (u − û, v − v̂), that is bending about d1 and d2 and twist in 1/m, shear along d1 and d2 and stretch (dimensionless);
    it fills `stress` (6,), the derivative of the energy density (moment in N·m, force in N, body frame), and `tangent`
    (6, 6), the second derivative, and returns the energy per length in J/m. The energy must be zero at rest and convex
    where it is used.

    The derivatives are compared with finite differences of the energy when the law is made, at rest and at random
    strains of the size of `typical_strain` (6,): by default 1/m for the first three and 0.1 for the others.

    Raises `InputError` when `function` is not compiled by Numba, does not have this form, is not at rest at zero
    strain, is not stable there, or when a derivative is wrong: the message names it.

    Example:
        >>> import numba
        >>> @numba.njit
        ... def spring(strain, stress, tangent):
        ...     energy = 0.0
        ...     for i in range(6):
        ...         k = 1e-3 if i < 3 else 1e3
        ...         stress[i] = k * strain[i]
        ...         energy += 0.5 * k * strain[i] ** 2
        ...         for j in range(6):
        ...             tangent[i, j] = k if i == j else 0.0
        ...     return energy
        >>> law = Law(spring)
    """

    function: Callable[..., float]
    """Its energy density, compiled by Numba."""
    stiffness: FloatArray
    """Tangent at rest (6, 6): N·m², N·m and N."""

    def __init__(self, function: Callable[..., float], *, typical_strain: object = None) -> None:
        if not hasattr(function, "py_func"):
            raise InputError(
                f"law must be a function compiled by Numba, got {validation.quoted(function)}: put @numba.njit above it"
            )
        import numba  # here, because it takes long to import; whoever gives a law has done so

        self.function = function
        scale = np.array((1.0, 1.0, 1.0, 0.1, 0.1, 0.1))
        if typical_strain is not None:
            scale = validation.array("typical_strain", typical_strain, (6,))
            if not (scale > 0.0).all():
                raise InputError(f"typical_strain must be above 0, got {validation.quoted(typical_strain)}")
        self._scale = scale
        try:
            pointer: Any = numba.types.CPointer(numba.types.float64)  # type: ignore[no-untyped-call]
            self._pointer = numba.cfunc(numba.types.float64(pointer, pointer, pointer))(_pointer_form(function))
            _, stress, tangent = self.evaluate(np.zeros(6))
        except numba.core.errors.NumbaError as error:
            first = str(error).strip().splitlines()[0]
            raise InputError(
                f"law must have the form f(strain (6,), stress (6,), tangent (6, 6)) -> float; Numba says: {first}"
            ) from error
        self.stiffness = 0.5 * (tangent + tangent.T)
        self._check(stress)

    @property
    def address(self) -> int:
        """Where the compiled function is."""
        address: Any = self._pointer.address
        return int(address)

    def evaluate(self, strain: object) -> tuple[float, FloatArray, FloatArray]:
        """Energy per length (J/m), stress (6,) and tangent (6, 6) at one strain (6,)."""
        stress, tangent = np.zeros(6), np.zeros((6, 6))
        energy = float(self.function(validation.array("strain", strain, (6,)), stress, tangent))
        return energy, stress, tangent

    def _check(self, stress_at_rest: FloatArray) -> None:
        diagonal = np.diag(self.stiffness)
        sound = bool(np.isfinite(self.stiffness).all() and (diagonal > 0.0).all())
        units = np.sqrt(np.abs(diagonal))
        if not sound or np.linalg.eigvalsh(self.stiffness / np.outer(units, units))[0] <= 0.0:
            raise InputError(
                f"law is not stable at rest: its tangent there is not positive definite, diagonal "
                f"{validation.quoted(diagonal)}"
            )
        if np.any(np.abs(stress_at_rest) > 1e-9 * units**2 * self._scale):
            worst = int(np.argmax(np.abs(stress_at_rest) / (units**2 * self._scale)))
            raise InputError(
                f"law must be at rest at zero strain, but its stress there is {stress_at_rest[worst]:.6g} in "
                f"{_NAMES[worst]}: express rest strains by rest_curvature and rest_stretch"
            )
        random = np.random.default_rng(7)
        for trial in range(8):
            strain = np.zeros(6) if trial == 0 else 0.5 * self._scale * random.uniform(-1.0, 1.0, 6)
            self._compare(strain)

    def _compare(self, strain: FloatArray) -> None:
        """Compare stress and tangent with fourth-order differences of energy and stress."""
        energy, stress, tangent = self.evaluate(strain)
        if not (np.isfinite(energy) and np.isfinite(stress).all() and np.isfinite(tangent).all()):
            raise InputError(f"law must be finite within typical_strain, but is not at {validation.quoted(strain)}")
        units = np.diag(self.stiffness) * self._scale**2
        rounding = 1e-10 * max(float(units.max()), abs(energy))
        for i in range(6):
            h = 1e-4 * self._scale[i]
            energies, stresses = [], []
            for k in (-2, -1, 1, 2):
                moved = strain.copy()
                moved[i] += k * h
                w, sigma, _ = self.evaluate(moved)
                energies.append(w)
                stresses.append(sigma)
            slope = (energies[0] - 8 * energies[1] + 8 * energies[2] - energies[3]) / (12 * h)
            slopes = (stresses[0] - 8 * stresses[1] + 8 * stresses[2] - stresses[3]) / (12 * h)
            if abs(slope - stress[i]) * self._scale[i] > 2e-4 * units[i] + rounding:
                raise InputError(
                    f"law's stress is not the derivative of its energy: stress[{i}] ({_NAMES[i]}) is {stress[i]:.6g} "
                    f"at strain {validation.quoted(strain)}, the energy's slope is {slope:.6g}"
                )
            for j in range(6):
                error = abs(slopes[j] - tangent[j, i]) * self._scale[i] * self._scale[j]
                if error > 2e-4 * np.sqrt(units[i] * units[j]) + rounding:
                    raise InputError(
                        f"law's tangent is not the derivative of its stress: tangent[{j}, {i}] is {tangent[j, i]:.6g} "
                        f"at strain {validation.quoted(strain)}, the stress's slope is {slopes[j]:.6g}"
                    )


def _pointer_form(function: Any) -> Callable[..., float]:
    """`function` over arrays as a function over bare pointers."""
    from numba import carray  # type: ignore[attr-defined]

    def by_pointer(strain: Any, stress: Any, tangent: Any) -> Any:
        return function(carray(strain, 6), carray(stress, 6), carray(tangent, (6, 6)))

    return by_pointer
