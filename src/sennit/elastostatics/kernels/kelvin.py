"""Integrals of Kelvin's solution times the linear shape functions over one triangle.

A unit force at x in direction l, in an infinite solid of shear modulus G and Poisson's ratio ν, gives at y, with
r = y − x, r = |r| and outward normal n, the displacement and the traction

    U_lk = [(3−4ν) δ_lk / r + r_l r_k / r³] / (16π G (1−ν))
    T_lk = −[(1−2ν)(δ_lk r·n + n_l r_k − n_k r_l) / r³ + 3 r·n r_l r_k / r⁵] / (8π (1−ν))

(Brebbia and Dominguez, Boundary Elements, 1992, ch. 3; l is the force's direction, k that of the answer. With l and k
exchanged, T still annihilates translations but not rotations.) E = 1 everywhere, so 1/G = 2 (1+ν).

Close to the triangle the integrals are closed forms. In the triangle's plane r = ρ + h n with h constant, and since
∇r = ρ/r there, the divergence theorem turns each moment into integrals over the edges. With m the outward normal and t
the direction of an edge, p = ρ·m, q² = p² + h², L_k = ∮ r^k ds, and Ω = h ∫1/r³ the solid angle:

    ∫1/r       = Σ p L₋₁ − h Ω                       ∫ρ/r   = Σ m L₁
    ∫ρ/r³      = −Σ m L₋₁                            3∫ρ/r⁵ = −Σ m L₋₃
    ∫ρᵢρⱼ/r³   = δᵢⱼ ∫1/r − Σ mⱼ ∮ρᵢ/r               ∫ρᵢρⱼρₖ/r³ = δᵢₖ ∫ρⱼ/r + δⱼₖ ∫ρᵢ/r − Σ mₖ ∮ρᵢρⱼ/r
    3∫ρᵢρⱼ/r⁵  = δᵢⱼ ∫1/r³ − Σ mⱼ ∮ρᵢ/r³             3∫ρᵢρⱼρₖ/r⁵ = δᵢₖ ∫ρⱼ/r³ + δⱼₖ ∫ρᵢ/r³ − Σ mₖ ∮ρᵢρⱼ/r³
    3h² ∫1/r⁵  = ∫1/r³ + Σ p L₋₃

They lose digits as r grows (1e-8 at 40 edges): from `NEAR` edges on, Gauss points are as good and cheaper.

`elements` is the table `Elements`, `points` the table `Points`.
"""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import kernel

NEAR = 3.1
"""Closer to the centroid than this many times the longest edge, integrals are closed forms. (No point of a regular grid
lies exactly there, so that rounding does not decide.)"""

# Dunavant's rule of degree 4 (1985): two orbits of three points; the point nearest to corner j has N_j = 1 − 2a.
_A, _WEIGHT_A = 0.44594849091596488632, 0.22338158967801146570
_B, _WEIGHT_B = 0.09157621350977074346, 0.10995174365532186764
POINTS = 6

TENSORS = 15
"""U (6), then T (9) at one Gauss point."""

LANES = 64
"""Points handled together: what is kept for each component is one row of this many."""


@kernel
def describe(elements, f, a, b, c):
    """Row f of `elements` from corners a, b, c, each (3,), counter-clockwise seen from outside."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    twice = math.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / twice, ny / twice, nz / twice
    ex, ey, ez = ux / length, uy / length, uz / length
    fx, fy, fz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    for k in range(3):
        elements.corners[f, 0, k] = a[k]
        elements.corners[f, 1, k] = b[k]
        elements.corners[f, 2, k] = c[k]
        elements.centre[f, k] = (a[k] + b[k] + c[k]) / 3.0
    elements.along[f, 0], elements.along[f, 1], elements.along[f, 2] = ex, ey, ez
    elements.across[f, 0], elements.across[f, 1], elements.across[f, 2] = fx, fy, fz
    elements.normal[f, 0], elements.normal[f, 1], elements.normal[f, 2] = nx, ny, nz
    elements.length[f] = length
    elements.apex_along[f] = vx * ex + vy * ey + vz * ez
    elements.apex_across[f] = vx * fx + vy * fy + vz * fz
    wx, wy, wz = vx - ux, vy - uy, vz - uz
    elements.reach[f] = math.sqrt(
        max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz)
    )


@kernel
def describe_all(elements, places):
    """`describe` for all rows of `elements`, whose vertices stand at `places` (n, 3)."""
    for f in range(len(elements.vertices)):
        i, j, k = elements.vertices[f, 0], elements.vertices[f, 1], elements.vertices[f, 2]
        describe(elements, f, places[i], places[j], places[k])


@kernel
def _edge(px, py, qx, qy, length, h):
    """Integrals along the edge from (px, py) to (qx, qy), plane coordinates from the point's foot.

    Returns m, t, p, L₋₁, L₋₃, L₁, ∮s/r = r₂ − r₁ and ∮s/r³ = 1/r₁ − 1/r₂. For a point on the edge L₋₁, L₋₃ and ∮s/r³
    diverge and are given as 0: what they multiply is zero there.
    """
    tx, ty = (qx - px) / length, (qy - py) / length
    mx, my = ty, -tx
    p = px * mx + py * my
    s1, s2 = px * tx + py * ty, qx * tx + qy * ty
    q2 = p * p + h * h
    r1, r2 = math.sqrt(s1 * s1 + q2), math.sqrt(s2 * s2 + q2)
    opposite = s1 * s2 <= 0.0
    if opposite:
        touches = q2 <= 1e-26 * length * length
    else:
        touches = r1 + r2 - length <= 1e-13 * length
    if touches:
        return mx, my, tx, ty, p, 0.0, 0.0, 0.5 * (s2 * r2 - s1 * r1), r2 - r1, 0.0
    # L₋₃ = (s₂/r₂ − s₁/r₁)/q² and the gap r₁ + r₂ − length of L₋₁, each without its cancellation.
    steep = abs(s1) / r1 + abs(s2) / r2
    if opposite:
        gap = q2 / (r1 + abs(s1)) + q2 / (r2 + abs(s2))
        cubed = steep / q2
    else:
        gap = r1 + r2 - length
        cubed = math.copysign(1.0, s1) * (1.0 / (r1 * r1) - 1.0 / (r2 * r2)) / steep
    below = math.log((r1 + r2 + length) / gap)
    above = 0.5 * (s2 * r2 - s1 * r1 + q2 * below)
    return mx, my, tx, ty, p, below, cubed, above, r2 - r1, 1.0 / r1 - 1.0 / r2


@kernel
def near_integrals(x, y, z, elements, f, nu, inside, out_u, out_t):
    """∫U N_j and ∫T N_j over triangle f as seen from (x, y, z) <- `out_u` and `out_t` (3, 3, 3), in closed form.

    They are those of corner j: direction of the force, direction of the answer.

    `inside`: the point lies on the triangle, corners and edges included. Then N_j(y) − N_j(x) stands in place of N_j
    in the integrals of T, which are weakly singular: the rest is the free term, got from the other triangles.
    """
    corner = elements.corners[f, 0]
    dx, dy, dz = corner[0] - x, corner[1] - y, corner[2] - z
    ex, ey, ez = elements.along[f, 0], elements.along[f, 1], elements.along[f, 2]
    fx, fy, fz = elements.across[f, 0], elements.across[f, 1], elements.across[f, 2]
    nx, ny, nz = elements.normal[f, 0], elements.normal[f, 1], elements.normal[f, 2]
    h = 0.0 if inside else dx * nx + dy * ny + dz * nz
    ax, ay = dx * ex + dy * ey + dz * ez, dx * fx + dy * fy + dz * fz
    length, cx2, cy2 = elements.length[f], elements.apex_along[f], elements.apex_across[f]
    bx, by = ax + length, ay
    cx, cy = ax + cx2, ay + cy2

    ra = math.sqrt(ax * ax + ay * ay + h * h)
    rb = math.sqrt(bx * bx + by * by + h * h)
    rc = math.sqrt(cx * cx + cy * cy + h * h)
    if inside:
        omega = 0.0
    else:
        # Van Oosterom and Strackee, 1983: tan Ω/2 = a·(b×c) / (abc + (a·b) c + (b·c) a + (c·a) b).
        ab, bc, ca = ax * bx + ay * by + h * h, bx * cx + by * cy + h * h, cx * ax + cy * ay + h * h
        omega = 2.0 * math.atan2(h * length * cy2, ra * rb * rc + ab * rc + bc * ra + ca * rb)

    a0 = -h * omega  # ∫1/r
    a1, a2 = 0.0, 0.0  # ∫ρ/r
    b1, b2 = 0.0, 0.0  # ∫ρ/r³
    s11, s12, s22 = 0.0, 0.0, 0.0  # Σ mⱼ ∮ρᵢ/r
    d11, d12, d22 = 0.0, 0.0, 0.0  # Σ mⱼ ∮ρᵢ/r³
    s111, s112, s122, s222 = 0.0, 0.0, 0.0, 0.0  # Σ m₁∮ρ₁ρ₁/r, m₂∮ρ₁ρ₁/r, m₁∮ρ₂ρ₂/r, m₂∮ρ₂ρ₂/r
    d111, d112, d122, d222 = 0.0, 0.0, 0.0, 0.0  # the same with r³
    c1, c2, cp = 0.0, 0.0, 0.0  # Σ m L₋₃, Σ p L₋₃
    for edge in range(3):
        if edge == 0:
            mx, my, tx, ty, p, l_1, l_3, l1, w, v = _edge(ax, ay, bx, by, length, h)
        elif edge == 1:
            side = math.sqrt((cx2 - length) * (cx2 - length) + cy2 * cy2)
            mx, my, tx, ty, p, l_1, l_3, l1, w, v = _edge(bx, by, cx, cy, side, h)
        else:
            side = math.sqrt(cx2 * cx2 + cy2 * cy2)
            mx, my, tx, ty, p, l_1, l_3, l1, w, v = _edge(cx, cy, ax, ay, side, h)
        q2 = p * p + h * h
        a0 += p * l_1
        a1 += mx * l1
        a2 += my * l1
        b1 -= mx * l_1
        b2 -= my * l_1
        s11 += mx * (p * mx * l_1 + tx * w)
        s12 += my * (p * mx * l_1 + tx * w)
        s22 += my * (p * my * l_1 + ty * w)
        d11 += mx * (p * mx * l_3 + tx * v)
        d12 += my * (p * mx * l_3 + tx * v)
        d22 += my * (p * my * l_3 + ty * v)
        second = l1 - q2 * l_1
        xx = p * p * mx * mx * l_1 + 2.0 * p * mx * tx * w + tx * tx * second
        yy = p * p * my * my * l_1 + 2.0 * p * my * ty * w + ty * ty * second
        s111 += mx * xx
        s112 += my * xx
        s122 += mx * yy
        s222 += my * yy
        second = l_1 - q2 * l_3
        xx = p * p * mx * mx * l_3 + 2.0 * p * mx * tx * v + tx * tx * second
        yy = p * p * my * my * l_3 + 2.0 * p * my * ty * v + ty * ty * second
        d111 += mx * xx
        d112 += my * xx
        d122 += mx * yy
        d222 += my * yy
        c1 += mx * l_3
        c2 += my * l_3
        cp += p * l_3

    # Moments 1, ρ₁, ρ₂ of U's tensor (δ (3−4ν)/r + r r/r³) in the basis (e1, e2, n).
    k = 3.0 - 4.0 * nu
    t11, t12, t22 = a0 - s11, -s12, a0 - s22  # ∫ρᵢρⱼ/r³
    u0 = (k * a0 + t11, t12, h * b1, k * a0 + t22, h * b2, k * a0 + h * omega)
    u1 = (k * a1 + 2.0 * a1 - s111, -s112, h * t11, k * a1 - s122, h * t12, k * a1 + h * h * b1)
    u2 = (k * a2 - s112, -s122, h * t12, k * a2 + 2.0 * a2 - s222, h * t22, k * a2 + h * h * b2)

    # And of T's: (1−2ν)(δ h + n_l r_k − n_k r_l)/r³ + 3 h r r/r⁵; the second part is symmetric.
    k = 1.0 - 2.0 * nu
    h2 = h * h
    w0 = ((k + 1.0) * omega - h * d11, -h * d12, -h2 * c1,
          (k + 1.0) * omega - h * d22, -h2 * c2, (k + 1.0) * omega + h * cp)  # fmt: skip
    q1, q2 = h * b1, h * b2
    w1 = (k * q1 + 2.0 * q1 - h * d111, -h * d112, h * omega - h2 * d11,
          k * q1 - h * d122, -h2 * d12, k * q1 - h2 * h * c1)  # fmt: skip
    w2 = (k * q2 - h * d112, -h * d122, -h2 * d12,
          k * q2 + 2.0 * q2 - h * d222, h * omega - h2 * d22, k * q2 - h2 * h * c2)  # fmt: skip

    # N_j = α_j + g_j·ρ; α_j is N_j at the point's foot.
    inverse = 1.0 / length
    gc = 1.0 / cy2
    gx0, gy0 = -inverse, (cx2 * inverse - 1.0) * gc
    gx1, gy1 = inverse, -cx2 * inverse * gc
    gx2, gy2 = 0.0, gc
    scale_u = (1.0 + nu) / (8.0 * math.pi * (1.0 - nu))
    scale_t = -1.0 / (8.0 * math.pi * (1.0 - nu))
    for j in range(3):
        if j == 0:
            gx, gy = gx0, gy0
            alpha = 1.0 - gx * ax - gy * ay
        elif j == 1:
            gx, gy = gx1, gy1
            alpha = -gx * ax - gy * ay
        else:
            gx, gy = gx2, gy2
            alpha = -gx * ax - gy * ay
        # In the global frame: Σ K_ab e_a e_b.
        k11 = scale_u * (alpha * u0[0] + gx * u1[0] + gy * u2[0])
        k12 = scale_u * (alpha * u0[1] + gx * u1[1] + gy * u2[1])
        k13 = scale_u * (alpha * u0[2] + gx * u1[2] + gy * u2[2])
        k22 = scale_u * (alpha * u0[3] + gx * u1[3] + gy * u2[3])
        k23 = scale_u * (alpha * u0[4] + gx * u1[4] + gy * u2[4])
        k33 = scale_u * (alpha * u0[5] + gx * u1[5] + gy * u2[5])
        px, py, pz = k11 * ex + k12 * fx + k13 * nx, k11 * ey + k12 * fy + k13 * ny, k11 * ez + k12 * fz + k13 * nz
        qx, qy, qz = k12 * ex + k22 * fx + k23 * nx, k12 * ey + k22 * fy + k23 * ny, k12 * ez + k22 * fz + k23 * nz
        sx, sy, sz = k13 * ex + k23 * fx + k33 * nx, k13 * ey + k23 * fy + k33 * ny, k13 * ez + k23 * fz + k33 * nz
        out = out_u[j]
        out[0, 0] = ex * px + fx * qx + nx * sx
        out[0, 1] = out[1, 0] = ex * py + fx * qy + nx * sy
        out[0, 2] = out[2, 0] = ex * pz + fx * qz + nx * sz
        out[1, 1] = ey * py + fy * qy + ny * sy
        out[1, 2] = out[2, 1] = ey * pz + fy * qz + ny * sz
        out[2, 2] = ez * pz + fz * qz + nz * sz
        if inside:
            alpha = 0.0
        k11 = scale_t * (alpha * w0[0] + gx * w1[0] + gy * w2[0])
        k12 = scale_t * (alpha * w0[1] + gx * w1[1] + gy * w2[1])
        k13 = scale_t * (alpha * w0[2] + gx * w1[2] + gy * w2[2])
        k22 = scale_t * (alpha * w0[3] + gx * w1[3] + gy * w2[3])
        k23 = scale_t * (alpha * w0[4] + gx * w1[4] + gy * w2[4])
        k33 = scale_t * (alpha * w0[5] + gx * w1[5] + gy * w2[5])
        # n_l r_k − n_k r_l: row n has +, column n has −.
        v1 = scale_t * k * (alpha * b1 + gx * t11 + gy * t12)
        v2 = scale_t * k * (alpha * b2 + gx * t12 + gy * t22)
        l13, l23, l31, l32 = k13 - v1, k23 - v2, k13 + v1, k23 + v2
        px, py, pz = k11 * ex + k12 * fx + l13 * nx, k11 * ey + k12 * fy + l13 * ny, k11 * ez + k12 * fz + l13 * nz
        qx, qy, qz = k12 * ex + k22 * fx + l23 * nx, k12 * ey + k22 * fy + l23 * ny, k12 * ez + k22 * fz + l23 * nz
        sx, sy, sz = l31 * ex + l32 * fx + k33 * nx, l31 * ey + l32 * fy + k33 * ny, l31 * ez + l32 * fz + k33 * nz
        out = out_t[j]
        out[0, 0] = ex * px + fx * qx + nx * sx
        out[0, 1] = ex * py + fx * qy + nx * sy
        out[0, 2] = ex * pz + fx * qz + nx * sz
        out[1, 0] = ey * px + fy * qx + ny * sx
        out[1, 1] = ey * py + fy * qy + ny * sy
        out[1, 2] = ey * pz + fy * qz + ny * sz
        out[2, 0] = ez * px + fz * qx + nz * sx
        out[2, 1] = ez * py + fz * qy + nz * sy
        out[2, 2] = ez * pz + fz * qz + nz * sz


@kernel
def far_tensors(points, first, lanes, weight, elements, f, nu, out):
    """U and T from `lanes` points at `first` to the six Gauss points of triangle f <- `out`.

    `out` (POINTS * TENSORS * LANES,) has a row of lanes for each Gauss point and component. Points with
    ``weight[lane] == 0`` get zeros.
    """
    px, py, pz, corners = points.x, points.y, points.z, elements.corners[f]
    scale_u = (1.0 + nu) / (8.0 * math.pi * (1.0 - nu))
    scale_t = -1.0 / (8.0 * math.pi * (1.0 - nu))
    k4, k2 = 3.0 - 4.0 * nu, 1.0 - 2.0 * nu
    nx, ny, nz = elements.normal[f, 0], elements.normal[f, 1], elements.normal[f, 2]
    area = 0.5 * elements.length[f] * elements.apex_across[f]
    count = np.uint64(lanes)
    base = np.uint64(first)
    step = np.uint64(LANES)
    for q in range(POINTS):
        j = q % 3
        a = _A if q < 3 else _B
        w = area * (_WEIGHT_A if q < 3 else _WEIGHT_B)
        n0 = 1.0 - 2.0 * a if j == 0 else a
        n1 = 1.0 - 2.0 * a if j == 1 else a
        n2 = 1.0 - 2.0 * a if j == 2 else a
        gx = n0 * corners[0, 0] + n1 * corners[1, 0] + n2 * corners[2, 0]
        gy = n0 * corners[0, 1] + n1 * corners[1, 1] + n2 * corners[2, 1]
        gz = n0 * corners[0, 2] + n1 * corners[1, 2] + n2 * corners[2, 2]
        wu, wt = w * scale_u, w * scale_t
        at = np.uint64(q * TENSORS * LANES)
        for lane in range(count):
            here = base + lane
            x, y, z = gx - px[here], gy - py[here], gz - pz[here]
            on = weight[lane]
            r2 = x * x + y * y + z * z + (1.0 - on)
            i2 = 1.0 / r2
            i1 = math.sqrt(r2) * i2 * on
            i3 = i1 * i2
            ku, s = wu * k4 * i1, wu * i3
            o = at + lane
            out[o] = ku + s * x * x
            out[o + step] = s * x * y
            out[o + np.uint64(2) * step] = s * x * z
            out[o + np.uint64(3) * step] = ku + s * y * y
            out[o + np.uint64(4) * step] = s * y * z
            out[o + np.uint64(5) * step] = ku + s * z * z
            v = wt * k2 * i3
            rn = x * nx + y * ny + z * nz
            d = v * rn
            s = 3.0 * wt * rn * i3 * i2
            cz, cy, cx = v * (nx * y - ny * x), v * (nx * z - nz * x), v * (ny * z - nz * y)
            xy, xz, yz = s * x * y, s * x * z, s * y * z
            out[o + np.uint64(6) * step] = d + s * x * x
            out[o + np.uint64(7) * step] = xy + cz
            out[o + np.uint64(8) * step] = xz + cy
            out[o + np.uint64(9) * step] = xy - cz
            out[o + np.uint64(10) * step] = d + s * y * y
            out[o + np.uint64(11) * step] = yz + cx
            out[o + np.uint64(12) * step] = xz - cy
            out[o + np.uint64(13) * step] = yz - cx
            out[o + np.uint64(14) * step] = d + s * z * z


@kernel
def far_integrals(tensors, component, lanes, out, total):
    """∫K N_j for one component of `tensors` <- `out` (3 * LANES,), ∫K added to `total` (LANES,)."""
    count = np.uint64(lanes)
    step = np.uint64(TENSORS * LANES)
    at = np.uint64(component * LANES)
    for lane in range(count):
        o = at + lane
        a0, a1, a2 = tensors[o], tensors[o + step], tensors[o + np.uint64(2) * step]
        o += np.uint64(3) * step
        b0, b1, b2 = tensors[o], tensors[o + step], tensors[o + np.uint64(2) * step]
        sa, sb = a0 + a1 + a2, b0 + b1 + b2
        # N_j is 1 − 2a at the orbit's point j and a at the two others.
        both = _A * sa + _B * sb
        out[lane] = both + (1.0 - 3.0 * _A) * a0 + (1.0 - 3.0 * _B) * b0
        out[lane + np.uint64(LANES)] = both + (1.0 - 3.0 * _A) * a1 + (1.0 - 3.0 * _B) * b1
        out[lane + np.uint64(2 * LANES)] = both + (1.0 - 3.0 * _A) * a2 + (1.0 - 3.0 * _B) * b2
        total[lane] += sa + sb
