"""What the tests of boundary stiffness share: meshes of equal triangles, exact forces, solves by plain numpy."""

from __future__ import annotations

import numpy as np
import scipy.spatial
import trimesh

from references.meshes import block, rows, sphere
from sennit.elastostatics.surface import Surface


def geodesic(frequency):
    """A unit sphere of 10 k² + 2 vertices: an icosahedron with each edge cut into k."""
    ico = trimesh.creation.icosahedron()
    k = frequency
    points, faces, count = [], [], 0
    i, j = (a.ravel() for a in np.meshgrid(np.arange(k + 1), np.arange(k + 1), indexing="ij"))
    inside = i + j <= k
    number = np.full((k + 1, k + 1), -1)
    number[i[inside], j[inside]] = np.arange(inside.sum())
    i, j = i[inside], j[inside]
    up = i + j < k
    one = np.stack((number[i[up], j[up]], number[i[up] + 1, j[up]], number[i[up], j[up] + 1]), 1)
    down = i + j < k - 1
    a, b = i[down], j[down]
    two = np.stack((number[a + 1, b], number[a + 1, b + 1], number[a, b + 1]), 1)
    for corners in ico.vertices[ico.faces]:
        p, q, r = corners
        points.append(p + np.outer(i / k, q - p) + np.outer(j / k, r - p))
        faces.append(np.concatenate((one, two)) + count)
        count += len(i)
    points, faces = np.concatenate(points), np.concatenate(faces)
    points /= np.linalg.norm(points, axis=1)[:, None]
    _, first, inverse = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    return points[first], inverse.ravel()[faces]


def solid(name):
    """Surfaces by name."""
    if name == "block":
        return Surface(*block((1.0, 0.7, 0.5), (4, 3, 2)))
    if name == "noisy sphere":
        vertices, faces = sphere(1.0, 2)
        return Surface(vertices + 0.03 * np.random.default_rng(5).normal(size=vertices.shape), faces)
    if name == "cavity":
        v, f = geodesic(3)
        return Surface(np.concatenate((v, 0.5 * v)), np.concatenate((f, f[:, ::-1] + len(v))))
    raise KeyError(name)


def affine(surface, nu, seed=0):
    """A random affine displacement (3n,) and its exact nodal forces ∫N σn (3n,), E = 1."""
    rng = np.random.default_rng(seed)
    gradient = rng.normal(size=(3, 3))
    u = surface.vertices @ gradient.T + rng.normal(size=3)
    strain = 0.5 * (gradient + gradient.T)
    stress = (strain + nu / (1 - 2 * nu) * np.trace(strain) * np.eye(3)) / (1 + nu)
    return u.ravel(), uniform_load(surface, slice(None), surface.normals @ stress).ravel()


def uniform_load(surface, faces, tractions):
    """Nodal forces (n, 3) of tractions that are uniform on each of `faces`."""
    out = np.zeros_like(surface.vertices)
    pull = np.broadcast_to(tractions, surface.normals[faces].shape) * surface.areas[faces, None] / 3.0
    for corner in range(3):
        np.add.at(out, surface.faces[faces, corner], pull)
    return out


def solve(S, loads, fixed, given=None):
    """Displacements (3n,) under nodal `loads` with the vertices `fixed` held, at `given` (3n,) or at zero."""
    held = rows(fixed)
    free = np.setdiff1d(np.arange(len(S)), held)
    u = np.zeros(len(S)) if given is None else given.copy()
    u[free] = np.linalg.solve(S[np.ix_(free, free)], loads[free] - S[np.ix_(free, held)] @ u[held])
    return u


def rigid_motions(vertices):
    """(3n, 6): translations and rotations."""
    out = np.zeros((len(vertices), 3, 6))
    for k in range(3):
        out[:, k, k] = 1.0
        out[:, :, 3 + k] = np.cross(np.eye(3)[k], vertices)
    return out.reshape(-1, 6)


def solve_floating(S, loads, vertices):
    """Displacements (3n,) without rigid motion under loads that balance."""
    Q = np.linalg.qr(rigid_motions(vertices))[0]
    u = np.linalg.solve(S + np.trace(S) / len(S) * Q @ Q.T, loads)
    return u - Q @ (Q.T @ u)


def extruded_ellipse(a, b, length, rings):
    """A bar along x of elliptical section, half axes a along y and b along z; ring k of its ends has 6 k points."""
    plane = np.concatenate(
        [np.zeros((1, 2))]
        + [k / rings * np.stack((np.cos(t), np.sin(t)), 1) for k in range(1, rings + 1)
           for t in [2 * np.pi * np.arange(6 * k) / (6 * k)]]
    )  # fmt: skip
    cap = scipy.spatial.Delaunay(plane).simplices
    p, q, r = (plane[cap[:, k]] for k in range(3))
    turn = (q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0]
    cap = np.where((turn > 0)[:, None], cap, cap[:, ::-1])
    cap = cap[np.abs(turn) > 1e-9]
    rim = 6 * rings
    steps = max(2, round(length / (2 * np.pi * np.sqrt(0.5 * (a * a + b * b)) / rim)))
    x = np.linspace(0.0, length, steps + 1)
    layers = [np.insert(plane * (a, b), 0, x[0], axis=1)]
    layers += [np.insert(plane[-rim:] * (a, b), 0, s, axis=1) for s in x[1:-1]]
    layers += [np.insert(plane * (a, b), 0, x[-1], axis=1)]
    start = np.cumsum([0] + [len(layer) for layer in layers])
    faces = [cap[:, ::-1], cap + start[-2]]
    first = [start[0] + len(plane) - rim, *start[1:-2], start[-2] + len(plane) - rim]
    k = np.arange(rim)
    for step, (low, high) in enumerate(zip(first[:-1], first[1:], strict=True)):
        one, two, three, four = low + k, low + (k + 1) % rim, high + (k + 1) % rim, high + k
        even = ((k + step) % 2 == 0)[:, None]
        faces.append(np.where(even, np.stack((one, two, three), 1), np.stack((one, two, four), 1)))
        faces.append(np.where(even, np.stack((one, three, four), 1), np.stack((two, three, four), 1)))
    return Surface(np.concatenate(layers), np.concatenate(faces))
