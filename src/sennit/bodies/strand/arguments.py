"""What users pass to a strand, checked and turned into what the numerics take."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.cosserat.law.laws import Law, LawData
from sennit.cosserat.model import StrandModel
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.material import Material, Section
from sennit.validation import FloatArray


def checked_pose(name: str, value: object) -> Pose:
    """`value`, which must be a pose."""
    if not isinstance(value, Pose):
        raise InputError(
            f"{name} must be a sennit.Pose, got {validation.quoted(value)}: for a point use via= or tip_position="
        )
    return value


def kept_profile(name: str, profile: Any, nodes: int) -> Any:
    """A profile that the caller cannot change any more: a function, or a copy of the array."""
    return profile if callable(profile) else validation.array(name, profile, (3,), (nodes, 3))


def profile_key(profile: Any) -> Any:
    """Equal for equal profiles: the same function, or the same numbers."""
    return profile.tobytes() if isinstance(profile, np.ndarray) else profile


def reach_of(model: StrandModel) -> tuple[FloatArray, FloatArray] | None:
    """Arclengths and ∫|v̂| up to them, in units of the length; None if |v̂| = 1 everywhere."""
    ends = model.ends([])
    size = np.linalg.norm(model.rest_strains(ends)[1], axis=2)
    if not (size > 0.0).all():
        raise InputError(f"rest_stretch must not vanish: its smallest length is {size.min():g}")
    if np.array_equal(size, np.ones_like(size)):
        return None
    pieces = np.diff(ends) * (size[:, 0] + 4.0 * size[:, 1] + size[:, 2]) / 6.0
    return ends, np.concatenate(([0.0], np.cumsum(pieces)))


def checked_tip_loads(
    tip: Pose | None,
    tip_position: ArrayLike | None,
    coupling: VirtualCoupling | None,
    tip_force: ArrayLike | None,
    tip_torque: ArrayLike | None,
) -> tuple[FloatArray | None, FloatArray | None]:
    """Force and torque on the tip; refuses those that what holds the tip would swallow."""
    if tip_force is not None:
        for name, value in (("tip", tip), ("tip_position", tip_position), ("coupling", coupling)):
            if value is not None:
                raise InputError(f"give {name}= or tip_force=, not both: the force on a held tip is part of the answer")
    if tip_torque is not None and tip is not None:
        raise InputError("give tip= or tip_torque=, not both: the torque on a held tip is part of the answer")
    return (
        None if tip_force is None else validation.vector("tip_force", tip_force),
        None if tip_torque is None else validation.vector("tip_torque", tip_torque),
    )


def checked_tolerance(nodes: object, tolerance: float | None) -> float | None:
    """Tolerance of an automatic mesh, or None for a mesh of a given size."""
    if isinstance(nodes, str):
        if nodes != "auto":
            raise InputError(f'nodes must be a whole number or "auto", got {validation.quoted(nodes)}')
        wanted = 1e-6 if tolerance is None else tolerance
        return validation.number("tolerance", wanted, minimum=1e-10, maximum=0.1)
    if tolerance is not None:
        raise InputError(f'tolerance= goes with nodes="auto", got nodes={validation.quoted(nodes)}')
    return None


def checked_order(order: Any) -> Literal[1, 2, 4]:
    """Order of accuracy."""
    value = validation.count("order", order, 1, 4, why="but 3")
    if value == 3:
        raise InputError("order must be 1, 2 or 4, got 3")
    return value  # type: ignore[return-value]


def checked_nodes(nodes: object, order: int) -> int:
    """Number of nodes (of the first mesh, if it is automatic)."""
    if isinstance(nodes, str) and nodes == "auto":
        if order != 4:
            raise InputError(f'nodes="auto" needs order=4, got order={order}')
        return 41
    return validation.count("nodes", nodes, 3, odd=order == 4, why="(order=4 pairs the elements)" if order == 4 else "")


def checked_mass(section: Section | None, material: Material | None, mass_per_length: float | None) -> float | None:
    """Mass per length in kg/m, or None where nothing tells it."""
    if mass_per_length is not None:
        return validation.number("mass_per_length", mass_per_length, positive=True)
    if section is not None and material is not None:
        return section.mass_per_length(material)
    return None


def law_data(
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
        return LawData(law.stiffness, extensible, length, law.address, law)
    if stiffness is not None:
        return LawData(checked_stiffness(stiffness), extensible, length)
    if not isinstance(section, Section) or not isinstance(material, Material):
        raise InputError(
            f"give section= (a sennit.Section) and material= (a sennit.Material), or stiffness=, or law=; "
            f"got section={validation.quoted(section)}, material={validation.quoted(material)}"
        )
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = section.bending_stiffness(material)
    matrix[3:, 3:] = section.stretching_stiffness(material)
    return LawData(matrix, extensible, length)


def checked_stiffness(stiffness: ArrayLike) -> FloatArray:
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
