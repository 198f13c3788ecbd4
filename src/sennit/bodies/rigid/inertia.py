"""Mass, centre of mass and inertia of simple shapes and of closed meshes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sennit import validation
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["MassProperties", "box", "capsule", "check_inertia", "cylinder", "mesh", "sphere"]

_ROUNDING = 1e-9
"""How far an inertia may be from symmetry and from the triangle inequality, relative to its largest moment."""


@dataclass(frozen=True)
class MassProperties:
    """Mass, centre of mass and inertia of a solid of uniform density."""

    mass: float
    """Of the whole solid, kg."""
    centre: FloatArray
    """(3,) m: the centre of mass in the frame that the shape was given in."""
    inertia: FloatArray
    """(3, 3) kg·m²: about the centre of mass, along the axes of that frame; not diagonal in general."""


@validation.in_range("size, mass and density")
def box(size: object, *, mass: object = None, density: object = None) -> MassProperties:
    """Mass properties of a box, I_x = m (b² + c²)/12 and so on.

    Arguments: `size` (3,), edge lengths along x, y, z, m; `mass`, kg, or `density`, kg/m³: one of them.
    """
    edges = validation.vector("size", size)
    if not np.all(edges > 0.0):
        raise InputError(f"size must hold three lengths above 0, got {validation.quoted(size)}")
    a, b, c = (edges * edges).tolist()
    m = _mass(float(np.prod(edges)), mass, density)
    return _centred(m, m / 12.0 * (b + c), m / 12.0 * (a + c), m / 12.0 * (a + b))


@validation.in_range("radius, mass and density")
def sphere(radius: object, *, mass: object = None, density: object = None) -> MassProperties:
    """Mass properties of a solid sphere, I = 2 m r²/5.

    Arguments: `radius`, m; `mass`, kg, or `density`, kg/m³: one of them.
    """
    r = validation.number("radius", radius, positive=True)
    m = _mass(4.0 / 3.0 * math.pi * r**3, mass, density)
    return _centred(m, 0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r)


@validation.in_range("radius, length, mass and density")
def cylinder(radius: object, length: object, *, mass: object = None, density: object = None) -> MassProperties:
    """Mass properties of a solid cylinder about z, I_z = m r²/2, I_x = I_y = m (3 r² + l²)/12.

    Arguments: `radius`, `length`, m; `mass`, kg, or `density`, kg/m³: one of them.
    """
    r = validation.number("radius", radius, positive=True)
    l = validation.number("length", length, positive=True)
    m = _mass(math.pi * r * r * l, mass, density)
    across = m / 12.0 * (3.0 * r * r + l * l)
    return _centred(m, across, across, 0.5 * m * r * r)


@validation.in_range("radius, length, mass and density")
def capsule(radius: object, length: object, *, mass: object = None, density: object = None) -> MassProperties:
    """Mass properties of a solid capsule about z: a cylinder of mass c and two half balls of mass b together.

    I_z = c r²/2 + 2 b r²/5. Across: c (3 r² + l²)/12 + b (2 r²/5 + l²/4 + 3 r l/8), since the centre of mass of a half
    ball is 3 r/8 from its flat side, and its moment about there is that of the ball less (3 r/8)².

    Arguments: `radius`, `length` of the straight part, m; `mass`, kg, or `density`, kg/m³: one of them.
    """
    r = validation.number("radius", radius, positive=True)
    l = validation.number("length", length, positive=True)
    middle, ends = math.pi * r * r * l, 4.0 / 3.0 * math.pi * r**3
    m = _mass(middle + ends, mass, density)
    c, b = m * middle / (middle + ends), m * ends / (middle + ends)
    across = c / 12.0 * (3.0 * r * r + l * l) + b * (0.4 * r * r + 0.25 * l * l + 0.375 * r * l)
    return _centred(m, across, across, 0.5 * c * r * r + 0.4 * b * r * r)


@validation.in_range("vertices, mass and density")
def mesh(vertices: object, faces: object, *, mass: object = None, density: object = None) -> MassProperties:
    """Mass properties of the solid inside a closed triangle mesh, by exact integration over its tetrahedra.

    Arguments: `vertices` (n, 3), m; `faces` (m, 3), indices, counter-clockwise seen from outside; vertices at the same
    place are taken as one. `mass`, kg, or `density`, kg/m³: one of them. A closed surface inside another that is wound
    the other way is a cavity. Faces that cut through each other are not looked for.

    Raises `InputError` for a mesh with holes, with faces wound against their neighbours, or inside out.
    """
    import trimesh

    points = validation.array("vertices", vertices, (None, 3))
    triangles = _faces(faces, len(points))
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if len(triangles) < 4 or extent == 0.0:
        raise InputError(f"faces must enclose a volume, got {len(triangles)} triangles over an extent of {extent:g} m")
    # Integrals in units of its size and about a place inside: far from the origin they would lose digits, and vertices
    # are merged by a distance of 1e-8.
    offset = points.mean(axis=0)
    surface = trimesh.Trimesh((points - offset) / extent, triangles, process=False)
    surface.merge_vertices()
    if not surface.is_watertight:
        edges, counts = np.unique(surface.edges_sorted, axis=0, return_counts=True)
        wrong = int(np.count_nonzero(counts != 2))
        raise InputError(
            f"faces must enclose a volume: {wrong} of {len(edges)} edges do not belong to exactly two triangles. Close "
            "the holes (trimesh.repair.fill_holes), or give mass and inertia with RigidBody.from_inertia"
        )
    if not surface.is_winding_consistent:
        raise InputError(
            "faces must be wound the same way (counter-clockwise seen from outside), and some are wound against their "
            "neighbours: trimesh.repair.fix_normals puts that right"
        )
    volume = float(surface.volume)
    if not volume > 0.0:
        raise InputError(
            f"faces must enclose a positive volume, got {volume * extent**3:.6g} m³: the mesh is inside out. Reverse "
            "each triangle, faces[:, ::-1]"
        )
    m = _mass(volume * extent**3, mass, density)
    inertia = np.array(surface.moment_inertia, dtype=np.float64) * (m * extent**2 / float(surface.mass))
    centre = surface.center_mass * extent + offset
    return MassProperties(m, _frozen(centre), _frozen(check_inertia("inertia", inertia)))


@validation.in_range("moments")
def check_inertia(name: str, value: object) -> FloatArray:
    """`value` as a new (3, 3) inertia, kg·m², symmetric to the last bit.

    Raises `InputError` if it is not symmetric (to 1e-9), if a principal moment is not positive, or if one exceeds the
    sum of the other two, which no distribution of mass allows (equality is a flat body, and is allowed).
    """
    given = validation.array(name, value, (3, 3))
    size = float(np.abs(given).max())
    if not np.abs(given - given.T).max() <= _ROUNDING * size:
        raise InputError(f"{name} must be a symmetric matrix, got {validation.quoted(given)}")
    result = 0.5 * (given + given.T)
    moments = np.linalg.eigvalsh(result)
    shown = ", ".join(f"{moment:.6g}" for moment in moments)
    if not moments[0] > 1e-12 * size:
        raise InputError(f"{name} must have positive principal moments, in kg·m², got {shown}")
    if moments[2] > moments[0] + moments[1] + _ROUNDING * size:
        raise InputError(
            f"{name} must have principal moments of which none exceeds the sum of the other two, got {shown} kg·m²; "
            "are they about the centre of mass, and are products of inertia given with a minus sign?"
        )
    return result


def _faces(faces: object, vertices: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    result = validation.array("faces", faces, (None, 3))
    if not np.all((result == np.floor(result)) & (result >= 0) & (result < vertices)):
        raise InputError(f"faces must hold indices of vertices, whole numbers from 0 to {vertices - 1}")
    return result.astype(np.int64)


def _mass(volume: float, mass: object, density: object) -> float:
    """The mass (kg) of a body of `volume` (m³), of which either `mass` or `density` was given."""
    if (mass is None) == (density is None):
        raise InputError(
            f"give mass (kg) or density (kg/m³), and not both: got mass={validation.quoted(mass)}, "
            f"density={validation.quoted(density)}"
        )
    if density is None:
        return validation.number("mass", mass, positive=True)
    return volume * validation.number("density", density, positive=True)


def _centred(mass: float, *moments: float) -> MassProperties:
    return MassProperties(mass, _frozen(np.zeros(3)), _frozen(np.diag(moments)))


def _frozen(values: FloatArray) -> FloatArray:
    values = np.array(values, dtype=np.float64)
    values.flags.writeable = False
    return values
