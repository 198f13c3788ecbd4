"""Places on a surface: the nearest point of a triangle mesh, a patch of weights round it, and what it feels like.

Boxes stand in a complete binary tree, node k above 2k+1 and 2k+2; its leaves hold LEAF triangles each, in the order of
a space-filling curve. `skin`, `work`, `answers` and `touched` are the tables `Skin`, `PlaceWork`, `Answers` and
`Touched`.
"""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import kernel
from sennit.geometry.kernels.triangles import box_distance2, closest_on_triangle

LEAF = 4


@kernel
def nearest(skin, work, x, y, z):
    """The place of the surface nearest to (x, y, z): squared distance, face, barycentric coordinates."""
    corners, order, stack = skin.corners, skin.order, work.stack
    inner = len(skin.low) // 2
    best, face, b0, b1, b2 = math.inf, -1, 0.0, 0.0, 0.0
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        k = stack[top]
        if not box_distance2(skin, k, x, y, z) < best:
            continue
        if k < inner:
            near, far = 2 * k + 1, 2 * k + 2
            if box_distance2(skin, far, x, y, z) < box_distance2(skin, near, x, y, z):
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
def weigh(skin, work, face, x, y, z, radius):
    """Patch of `radius` ρ round (x, y, z) on `face`: w_i = ∮ N_i φ dA / ∮ φ dA, φ = (1 − r²/ρ²)² inside the ball.

    Over faces that neighbours inside the ball join to `face`. Fills `work.ids` and `work.weights`, and returns the
    number of vertices.
    """
    vertices, faces, areas, beside = skin.vertices, skin.faces, skin.areas, skin.beside
    queue, mark, used, ids, weights = work.queue, work.mark, work.used, work.ids, work.weights
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
            if used[v] == 0:
                ids[found] = v
                weights[found] = 0.0
                found += 1
                used[v] = found
            weights[used[v] - 1] += areas[f] * (wa if corner == 0 else wb if corner == 1 else wc)
            other = beside[f, corner]
            if mark[other] == 0:
                mark[other] = 1
                queue[waiting] = other
                waiting += 1
    for k in range(waiting):
        mark[queue[k]] = 0
    for k in range(found):
        used[ids[k]] = 0
        weights[k] /= total
    return found


@kernel
def patch_compliance(answers, work, count, touched):
    """C_p = Σ w_i w_j C_ij over the free nodes of a patch; C is symmetric, so that half of it is read."""
    C, slot, ids, weights, out = answers.compliance, answers.slot, work.ids, work.weights, touched.compliance
    for a in range(3):
        for b in range(3):
            out[0, a, b] = 0.0
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
                    out[0, a, b] += value
                    if l < k:
                        out[0, b, a] += value


@kernel
def touch(skin, answers, work, touched, modulus, radius, moves):
    """What a probe feels: f = E C_p⁻¹ d with C_p = Σ w_i w_j C_ij, or the displacement under a force.

    `radius` below 0 asks for the usual one, 0 for the bare barycentric point. What is given is a displacement (`moves`,
    of which a NaN leaves the component free of force) or a force. Fills `touched`, and the patch in `work`; returns the
    number of vertices of the patch, 0 where the radius does not reach the corners of the face, −1 where the patch can't
    move.
    """
    vertices, faces, spacing = skin.vertices, skin.faces, skin.spacing
    given, foot = touched.given, touched.foot
    square, face, b0, b1, b2 = nearest(skin, work, touched.place[0, 0], touched.place[0, 1], touched.place[0, 2])
    touched.face[0] = face
    touched.barycentric[0, 0], touched.barycentric[0, 1], touched.barycentric[0, 2] = b0, b1, b2
    v0, v1, v2 = faces[face, 0], faces[face, 1], faces[face, 2]
    for a in range(3):
        foot[0, a] = b0 * vertices[v0, a] + b1 * vertices[v1, a] + b2 * vertices[v2, a]
    touched.distance[0] = math.sqrt(square)
    x, y, z = foot[0, 0], foot[0, 1], foot[0, 2]
    if radius < 0.0:
        radius = b0 * spacing[v0] + b1 * spacing[v1] + b2 * spacing[v2]
    touched.radius[0] = radius
    touched.farthest[0] = 0.0
    if radius == 0.0:
        count = 3
        for corner in range(3):
            work.ids[corner] = faces[face, corner]
            work.weights[corner] = touched.barycentric[0, corner]
    else:
        for corner in range(3):
            v = faces[face, corner]
            dx, dy, dz = vertices[v, 0] - x, vertices[v, 1] - y, vertices[v, 2] - z
            if not dx * dx + dy * dy + dz * dz < radius * radius:
                touched.farthest[0] = math.sqrt(dx * dx + dy * dy + dz * dz)
                return 0
        count = weigh(skin, work, face, x, y, z, radius)
    patch_compliance(answers, work, count, touched)
    if not moves:
        for a in range(3):
            touched.force[0, a] = given[0, a]
            total = 0.0
            for b in range(3):
                total += touched.compliance[0, a, b] * given[0, b]
            touched.moved[0, a] = total / modulus
        return count
    if not _forces(touched, modulus):
        return -1
    return count


@kernel
def _forces(touched, modulus):
    """Cholesky's elimination on the components of the displacement that are given; the others carry no force."""
    given, compliance, force, moved = touched.given[0], touched.compliance[0], touched.force[0], touched.moved[0]
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
        moved[a] = compliance[a, 0] * f0 + compliance[a, 1] * f1 + compliance[a, 2] * f2
        if not math.isnan(given[a]):
            moved[a] = given[a]
    force[0], force[1], force[2] = modulus * f0, modulus * f1, modulus * f2
    return True
