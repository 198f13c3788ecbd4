"""Places on a surface: the nearest point of a triangle mesh, a patch of weights round it, and what it feels like.

Boxes stand in a complete binary tree, node k above 2k+1 and 2k+2; its leaves hold LEAF triangles each, in the order of
a space-filling curve.
"""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import kernel
from sennit.geometry.kernels.distances import box_distance2, closest_on_triangle

LEAF = 4


@kernel
def nearest(boxes, corners, order, stack, x, y, z):
    """The place of the surface nearest to (x, y, z): squared distance, face, barycentric coordinates.

    `boxes` (2 leaves − 1, 6), `corners` (leaves · LEAF, 9) and their faces `order` (−1: none), `stack` (≥ 64,).
    """
    inner = boxes.shape[0] // 2
    best, face, b0, b1, b2 = math.inf, -1, 0.0, 0.0, 0.0
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        k = stack[top]
        if not box_distance2(boxes, k, x, y, z) < best:
            continue
        if k < inner:
            near, far = 2 * k + 1, 2 * k + 2
            if box_distance2(boxes, far, x, y, z) < box_distance2(boxes, near, x, y, z):
                near, far = far, near
            stack[top] = far
            stack[top + 1] = near
            top += 2
            continue
        first = (k - inner) * LEAF
        for triangle in range(first, first + LEAF):
            if order[triangle] >= 0:
                square, c1, c2, _ = closest_on_triangle(corners, triangle, x, y, z)
                if square < best:
                    best, face, b0, b1, b2 = square, order[triangle], max(1.0 - c1 - c2, 0.0), c1, c2
    return best, face, b0, b1, b2


# Gauss's rule of degree 5 on a triangle: the weight function times a hat is of that degree. P. C. Hammer, O. J. Marlowe
# and A. H. Stroud, Numerical integration over simplexes and cones, Math. Tables Aids Comput. 10 (1956) 130–137.
_NEAR, _FAR = (6.0 - math.sqrt(15.0)) / 21.0, (6.0 + math.sqrt(15.0)) / 21.0
_W_NEAR, _W_FAR = (155.0 - math.sqrt(15.0)) / 1200.0, (155.0 + math.sqrt(15.0)) / 1200.0
_SHARES = np.array(
    [[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]]
    + [[1.0 - 2.0 * a if c == k else a for c in range(3)] for a in (_NEAR, _FAR) for k in range(3)]
)
_PARTS = np.array([9.0 / 40.0] + 3 * [_W_NEAR] + 3 * [_W_FAR])


@kernel
def weigh(vertices, faces, areas, beside, queue, mark, slot, face, x, y, z, radius, ids, weights):
    """Patch of `radius` ρ round (x, y, z) on `face`: w_i = ∮ N_i φ dA / ∮ φ dA, φ = (1 − r²/ρ²)² inside the ball.

    Over faces that neighbours (`beside`, (m, 3)) inside the ball join to `face`. `mark` (m,) and `slot` (n,) hold zeros
    and do so again afterwards; `queue` (m,). Returns the number of vertices.
    """
    inverse = 1.0 / (radius * radius)
    found, total = 0, 0.0
    queue[0] = face
    mark[face] = 1
    done, waiting = 0, 1
    while done < waiting:
        f = queue[done]
        done += 1
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[i, 0] - x, vertices[i, 1] - y, vertices[i, 2] - z
        bx, by, bz = vertices[j, 0] - x, vertices[j, 1] - y, vertices[j, 2] - z
        cx, cy, cz = vertices[k, 0] - x, vertices[k, 1] - y, vertices[k, 2] - z
        wa, wb, wc = 0.0, 0.0, 0.0
        for q in range(7):
            s, t, u = _SHARES[q, 0], _SHARES[q, 1], _SHARES[q, 2]
            px, py, pz = s * ax + t * bx + u * cx, s * ay + t * by + u * cy, s * az + t * bz + u * cz
            inside = max(1.0 - (px * px + py * py + pz * pz) * inverse, 0.0)
            part = _PARTS[q] * inside * inside
            wa += part * s
            wb += part * t
            wc += part * u
        if not wa + wb + wc > 0.0:
            continue
        total += areas[f] * (wa + wb + wc)
        for corner in range(3):
            v = faces[f, corner]
            if slot[v] == 0:
                ids[found] = v
                weights[found] = 0.0
                found += 1
                slot[v] = found
            weights[slot[v] - 1] += areas[f] * (wa if corner == 0 else wb if corner == 1 else wc)
            other = beside[f, corner]
            if mark[other] == 0:
                mark[other] = 1
                queue[waiting] = other
                waiting += 1
    for k in range(waiting):
        mark[queue[k]] = 0
    for k in range(found):
        slot[ids[k]] = 0
        weights[k] /= total
    return found


@kernel
def patch_compliance(C, slot, ids, weights, count, out):
    """out (3, 3) = Σ w_i w_j C_ij over the free nodes of a patch; C is symmetric, so that half of it is read."""
    for a in range(3):
        for b in range(3):
            out[a, b] = 0.0
    for k in range(count):
        i = slot[ids[k]]
        if i < 0:
            continue
        for l in range(k + 1):
            j = slot[ids[l]]
            if j < 0:
                continue
            w = weights[k] * weights[l]
            for a in range(3):
                for b in range(3):
                    value = w * C[3 * i + a, 3 * j + b]
                    out[a, b] += value
                    if l < k:
                        out[b, a] += value


FACE, BARY, FOOT, DISTANCE, RADIUS, FORCE, MOVED = 0, 1, 4, 7, 8, 9, 12
RESULT = 15


@kernel
def touch(
    boxes, corners, order, stack, vertices, faces, areas, spacing, beside, queue, mark, used,
    C, slot, modulus, place, radius, given, moves, ids, weights, compliance, result,
):  # fmt: skip
    """What a probe feels: f = E C_p⁻¹ d with C_p = Σ w_i w_j C_ij, or the displacement under a force.

    `radius` below 0 asks for the usual one, 0 for the bare barycentric point. `given` (3,) is a displacement (`moves`,
    of which a NaN leaves the component free of force) or a force. Fills `ids`, `weights`, `compliance` (3, 3) and
    `result`; returns the number of vertices of the patch, 0 where the radius does not reach the corners of the face, −1
    where the patch can't move.
    """
    x, y, z = place[0], place[1], place[2]
    square, face, b0, b1, b2 = nearest(boxes, corners, order, stack, x, y, z)
    result[FACE] = face
    result[BARY], result[BARY + 1], result[BARY + 2] = b0, b1, b2
    v0, v1, v2 = faces[face, 0], faces[face, 1], faces[face, 2]
    for a in range(3):
        result[FOOT + a] = b0 * vertices[v0, a] + b1 * vertices[v1, a] + b2 * vertices[v2, a]
    result[DISTANCE] = math.sqrt(square)
    x, y, z = result[FOOT], result[FOOT + 1], result[FOOT + 2]
    if radius < 0.0:
        radius = b0 * spacing[v0] + b1 * spacing[v1] + b2 * spacing[v2]
    result[RADIUS] = radius
    if radius == 0.0:
        count = 3
        for corner in range(3):
            ids[corner] = faces[face, corner]
            weights[corner] = result[BARY + corner]
    else:
        for corner in range(3):
            v = faces[face, corner]
            dx, dy, dz = vertices[v, 0] - x, vertices[v, 1] - y, vertices[v, 2] - z
            if not dx * dx + dy * dy + dz * dz < radius * radius:
                result[FORCE] = math.sqrt(dx * dx + dy * dy + dz * dz)
                return 0
        count = weigh(vertices, faces, areas, beside, queue, mark, used, face, x, y, z, radius, ids, weights)
    patch_compliance(C, slot, ids, weights, count, compliance)
    if not moves:
        for a in range(3):
            result[FORCE + a] = given[a]
            total = 0.0
            for b in range(3):
                total += compliance[a, b] * given[b]
            result[MOVED + a] = total / modulus
        return count
    if not _forces(compliance, given, modulus, result):
        return -1
    return count


@kernel
def _forces(compliance, given, modulus, result):
    """Cholesky's elimination on the components of the displacement that are given; the others carry no force."""
    f0, f1, f2 = 0.0, 0.0, 0.0
    l00, l10, l20, l11, l21, l22 = 1.0, 0.0, 0.0, 1.0, 0.0, 1.0
    on0, on1, on2 = not math.isnan(given[0]), not math.isnan(given[1]), not math.isnan(given[2])
    size = max(compliance[0, 0], max(compliance[1, 1], compliance[2, 2]))
    if not size > 0.0:
        return False
    if on0:
        l00 = math.sqrt(compliance[0, 0])
        f0 = given[0] / l00
        l10 = compliance[1, 0] / l00 if on1 else 0.0
        l20 = compliance[2, 0] / l00 if on2 else 0.0
    if on1:
        l11 = math.sqrt(compliance[1, 1] - l10 * l10)
        f1 = (given[1] - l10 * f0) / l11
        l21 = (compliance[2, 1] - l20 * l10) / l11 if on2 else 0.0
    if on2:
        l22 = math.sqrt(compliance[2, 2] - l20 * l20 - l21 * l21)
        f2 = (given[2] - l20 * f0 - l21 * f1) / l22
    f2 = f2 / l22
    f1 = (f1 - l21 * f2) / l11
    f0 = (f0 - l10 * f1 - l20 * f2) / l00
    for a in range(3):
        result[MOVED + a] = compliance[a, 0] * f0 + compliance[a, 1] * f1 + compliance[a, 2] * f2
        if not math.isnan(given[a]):
            result[MOVED + a] = given[a]
    result[FORCE], result[FORCE + 1], result[FORCE + 2] = modulus * f0, modulus * f1, modulus * f2
    return True
