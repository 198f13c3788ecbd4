"""Elastic laws of a strand: energy per length as a function of bending, twist, shear and stretch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.cosserat.kernels.law import COUPLED, LINEAR, evaluate_densities
from sennit.cosserat.tables import LawTable
from sennit.errors import InputError
from sennit.material import Material, Section, elastic_material
from sennit.validation import FloatArray

__all__ = ["Law", "LawData"]

_NAMES = ("bend d1", "bend d2", "twist", "shear d1", "shear d2", "stretch")


@dataclass(frozen=True, eq=False)
class LawData:
    """A law as the kernels take it. `stiffness` (6, 6) is the tangent at rest, in SI units."""

    stiffness: FloatArray
    extensible: bool
    length: float
    """Length of the strand, m: the unit of length."""
    address: int = LINEAR
    keep_alive: Any = None
    bending: float = field(init=False)
    """Unit of bending stiffness, N·m²."""
    K: FloatArray = field(init=False)
    """Stiffness in bending and twist (3, 3), in the kernels' units."""
    C: FloatArray = field(init=False)
    """Compliance in shear and stretch (3, 3), in the kernels' units."""
    sweep_compliances: tuple[tuple[float, ...], tuple[float, ...]] = field(init=False)
    """K⁻¹ and C as the sweeps take them: nothing if zero, three numbers if diagonal, all nine otherwise."""

    def __post_init__(self) -> None:
        K, B, L = self.stiffness[:3, :3], self.stiffness[:3, 3:], self.stiffness[3:, 3:]
        bending = float(np.sqrt(K[0, 0] * K[1, 1]))
        put = object.__setattr__
        put(self, "bending", bending)
        if self.address == LINEAR and self.extensible and B.any():
            put(self, "address", COUPLED)
        compliance = np.linalg.inv(L) * (bending / self.length**2) if self.extensible else np.zeros((3, 3))
        put(self, "K", np.ascontiguousarray(K / bending))
        put(self, "C", np.ascontiguousarray(0.5 * (compliance + compliance.T)))
        inverse = np.linalg.inv(K / bending)
        put(self, "sweep_compliances", (_shortest(inverse), _shortest(compliance)))

    @classmethod
    def given(
        cls,
        length: float,
        section: Section | None,
        material: Material | None,
        stiffness: ArrayLike | None,
        law: Law | None,
        extensible: bool,
    ) -> LawData:
        """The law that section and material, a stiffness or a `Law` give."""
        given = [name for name, value in (("stiffness", stiffness), ("law", law)) if value is not None]
        if len(given) > 1:
            raise InputError("give stiffness= or law=, not both")
        if law is not None:
            if not isinstance(law, Law):
                raise InputError(f"law must be a sennit.Law, got {validation.quoted(law)}")
            return cls(law.stiffness, extensible, length, law.address, law)
        if stiffness is not None:
            return cls(_checked_stiffness(stiffness), extensible, length)
        if not isinstance(section, Section) or not isinstance(material, Material):
            raise InputError(
                f"give section= (a sennit.Section) and material= (a sennit.Material), or stiffness=, or law=; "
                f"got section={validation.quoted(section)}, material={validation.quoted(material)}"
            )
        matrix = np.zeros((6, 6))
        matrix[:3, :3] = section.bending_stiffness(elastic_material(material, "a strand"))
        matrix[3:, 3:] = section.stretching_stiffness(material)
        return cls(matrix, extensible, length)

    @property
    def force_unit(self) -> float:
        """What a force of 1 is in the kernels' units: B/L², N."""
        return self.bending / self.length**2

    @property
    def linear(self) -> bool:
        """Whether moment and force are K(u − û) and L(v − v̂), without coupling."""
        return self.address == LINEAR

    def densities(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Energy densities (k,) at strains u − û and v − v̂ (k, 3), in the kernels' units."""
        densities = np.zeros(len(u))
        evaluate_densities(self.own_table(), u, v, densities)
        return densities

    @staticmethod
    def table(slots: int) -> LawTable:
        """A table for any law, with as many slots to remember stretches of."""
        return LawTable(one=1, strains=6, slots=slots)

    def write(self, table: LawTable) -> None:
        """Fill the kernels' table."""
        table.K[0], table.C[0] = self.K.ravel(), self.C.ravel()
        table.address[0], table.extensible[0] = self.address, self.extensible
        table.length[0], table.bending[0] = self.length, self.bending
        table.stiffness[:] = self.stiffness

    def own_table(self) -> LawTable:
        """A table of this law without slots."""
        table = self.table(0)
        self.write(table)
        return table


def _checked_stiffness(stiffness: ArrayLike) -> FloatArray:
    """A symmetric, positive definite (6, 6) matrix."""
    matrix = validation.array("stiffness", stiffness, (6, 6))
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise InputError(
            "stiffness must be symmetric: stiffness[i, j] is what strain j adds to stress i, and the reverse"
        )
    diagonal = np.diag(matrix)
    if (diagonal <= 0.0).any():
        raise InputError(f"stiffness must be positive definite, got the diagonal {validation.quoted(diagonal)}")
    units = np.sqrt(diagonal)
    lowest = float(np.linalg.eigvalsh(matrix / np.outer(units, units))[0])
    if lowest <= 1e-14:
        raise InputError(f"stiffness must be positive definite, but its smallest scaled eigenvalue is {lowest:.3g}")
    return 0.5 * (matrix + matrix.T)


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
