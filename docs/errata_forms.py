"""Formulas of the four papers as they are printed, beside the forms that work: small programs for docs/errata.md.

Nothing of sennit is used but where a function says so: what is wrong here shows by itself. Functions give plain numbers
and arrays; ``make_errata_figures.py`` draws them, and ``tests/test_errata.py`` holds the numbers that the page quotes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_bvp, solve_ivp
from scipy.interpolate import BSpline, CubicSpline

Array = NDArray[np.float64]
GRAVITY = 9.81


def cross(a: Array) -> Array:
    """The matrix [a] with [a] b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotation(a: Array) -> Array:
    """The exponential of [a], by Rodrigues' formula."""
    angle = float(np.linalg.norm(a))
    if angle < 1e-12:
        return np.eye(3) + cross(a)
    k = cross(a / angle)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


# STRANDS (Pai 2002).

STIFFNESS = np.array([1.0, 2.0, 0.7])
REST = np.array([0.4, -0.7, 0.9])
TIP_FORCE, TIP_MOMENT = np.array([2.0, -3.0, 2.5]), np.array([1.0, 0.7, -1.2])
ALONG = np.array([0.0, 0.0, 1.0])
SWEEPS = {
    "turned": "turned once (right)",
    "term": "(9a) without (9b)",
    "printed": "(9a) and (9b)",
    "other index": "(9a) and (9b), other index",
    "scalar": "(11) with unequal stiffness",
}


def swept_tip(form: str, count: int) -> Array:
    """Where the tip of a strand comes to lie (m, length 1) under a wrench that follows it: `count` Euler steps."""
    h, n, m = 1.0 / count, TIP_FORCE, TIP_MOMENT
    u = REST + m / STIFFNESS
    strains = [u]
    for _ in range(count):
        turn = rotation(h * u)
        if form == "turned":
            n, m = turn @ n, turn @ (m + h * np.cross(ALONG, n))
            u = REST + m / STIFFNESS
        else:
            moment = np.cross(u, STIFFNESS * (u - REST)) + np.cross(ALONG, n)
            change = moment / STIFFNESS
            if form == "scalar":
                change = np.cross(REST, u) + np.cross(ALONG, n) / STIFFNESS
            force = n + h * np.cross(u, n)
            n = {"printed": turn @ force, "other index": turn.T @ force}.get(form, force)
            u = u + h * change
        strains.append(u)
    place, frame = np.zeros(3), np.eye(3)
    for u in strains[:0:-1]:
        # half of the step's turn: the chord of an arc, exact to second order
        place = place + h * frame @ rotation(0.5 * h * u) @ ALONG
        frame = frame @ rotation(h * u)
    return place


def exact_tip() -> Array:
    """The same tip by DOP853, from the tip to the base, to 1e-12."""

    def slope(_s: float, y: Array) -> Array:
        n, m, frame = y[:3], y[3:6], y[6:15].reshape(3, 3)
        u = REST + m / STIFFNESS
        turned = frame @ cross(u)
        return np.concatenate([-np.cross(u, n), -np.cross(u, m) - np.cross(ALONG, n), turned.ravel(), frame @ ALONG])

    start = np.concatenate([TIP_FORCE, TIP_MOMENT, np.eye(3).ravel(), np.zeros(3)])
    y = solve_ivp(slope, (1.0, 0.0), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return -y[6:15].reshape(3, 3).T @ y[15:]


def sweep_errors(form: str, counts: tuple[int, ...]) -> Array:
    """Distance of the tip from where it should be, for each number of steps, of the length."""
    return np.array([np.linalg.norm(swept_tip(form, count) - exact_tip()) for count in counts])


def tip_height(sign: float, weight: float = 2.0) -> float:
    """Height of the tip of a level cantilever, wL³/EI = `weight`, with n' = `sign` f; of the length."""
    s = np.linspace(0.0, 1.0, 41)

    def slope(s: Array, y: Array) -> Array:
        return np.array([y[1], -sign * weight * (1.0 - s) * np.cos(y[0]), np.sin(y[0])])

    def ends(a: Array, b: Array) -> Array:
        return np.array([a[0], b[1], a[2]])

    return float(solve_bvp(slope, ends, s, np.zeros((3, 41)), tol=1e-9).y[2, -1])


def repeated_sweeps(load: float, damping: float = 1.0, limit: int = 200) -> list[float]:
    """Changes of the tip's angle (rad) from sweep to sweep: cantilever, dead end force PL²/EI = `load`.

    Each sweep takes the force's direction at the tip from the last one, as the paper's explicit method must.
    """

    def swept(angle: float) -> float:
        """Angle at the tip if the force makes with the tip the angle that it had before."""

        def slope(_s: float, y: Array) -> list[float]:  # from the tip: angle from the tip's tangent, curvature
            return [y[1], load * np.cos(y[0] + angle)]

        return -float(solve_ivp(slope, (1.0, 0.0), [0.0, 0.0], rtol=1e-10, atol=1e-12).y[0, -1])

    angle, changes = 0.0, []
    while len(changes) < limit and (not changes or abs(changes[-1]) > 1e-8):
        changes.append(damping * (swept(angle) - angle))
        angle += changes[-1]
    return changes


def log_error(away: float, by_trace: bool) -> float:
    """Error (rad) of the rotation vector read from a rotation by π − `away`, by the trace or by the quaternion."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    exact = (np.pi - away) * axis
    turned = rotation(exact)
    if by_trace:
        angle = np.arccos(np.clip((np.trace(turned) - 1.0) / 2.0, -1.0, 1.0))
        sine = np.sin(angle)
        odd = np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
        with np.errstate(all="ignore"):
            found = angle * odd / (2.0 * sine)
    else:  # its vector part from the largest column of q qᵀ, its scalar part from that
        four = np.empty((4, 4))
        four[1:, 1:] = turned + turned.T + (1.0 - np.trace(turned)) * np.eye(3)
        four[0, 0] = 1.0 + np.trace(turned)
        four[0, 1:] = four[1:, 0] = [
            turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]
        ]  # fmt: skip
        q = four[np.argmax(np.diag(four))]
        q = q / np.linalg.norm(q) * (1.0 if q[0] >= 0.0 else -1.0)
        size = np.linalg.norm(q[1:])
        found = 2.0 * np.arctan2(size, q[0]) * q[1:] / size
    return float(np.linalg.norm(found - exact))


def shooting_growth(weight: float) -> float:
    """∂θ(L)/∂κ(0) of a thread that hangs from a level clamp, wL³/EI = `weight`; its shape is sennit's."""
    import sennit as sn

    thread = sn.Strand(1.0, stiffness=np.diag([1.0, 1.0, 1.0, 1e3, 1e3, 1e3]), nodes="auto", tolerance=1e-7)
    state = thread.solve(base=sn.Pose.along((0, 0, 0), (1, 0, 0)), force=(0, 0, -weight))
    tangents = state.rotations[:, :, 2]
    theta = CubicSpline(state.s, np.arctan2(tangents[:, 2], tangents[:, 0]))

    def slope(s: float, y: Array) -> list[float]:
        return [y[1], -weight * (1.0 - s) * np.sin(theta(s)) * y[0]]

    return float(solve_ivp(slope, (0.0, 1.0), [0.0, 1.0], method="DOP853", rtol=1e-8, atol=1e-12).y[0, -1])


# MICADO (Theetten and Grisoni 2008).


def plane_residual(sign: float) -> float:
    """Distance from the plane after one constrained step over that before it; (12) has `sign` −1."""
    rng = np.random.default_rng(1)
    half = rng.normal(size=(12, 12))
    stiffness, weights, normal = half @ half.T + np.eye(12), np.array([0.2, 0.5, 0.25, 0.05]), np.array([0.6, 0.0, 0.8])
    true = np.kron(weights, normal)
    row, gap = sign * true, 0.1
    system = np.block([[stiffness, row[:, None]], [row[None], np.zeros((1, 1))]])
    moved = np.linalg.solve(system, np.append(np.zeros(12), -gap))[:12]
    return abs(gap + true @ moved) / gap


def orientation_force() -> float:
    """Net force of the orientation's multiplier, of its size: the sum of b'_i(u) over all control points."""
    knots = np.concatenate([np.zeros(3), np.arange(6.0), np.full(3, 5.0)])
    return float(abs(BSpline(knots, np.eye(8), 3).derivative()(2.3).sum()))


def distance_errors(steps: int) -> list[float]:
    """Errors of a distance of 1 m after each linear step of (15), from a point 0.9 m away that is pushed aside."""
    x, out = np.array([0.9, 0.0]), []
    for k in range(steps):
        aside = np.array([0.0, 0.15]) if k == 0 else np.zeros(2)
        along = (1.0 - x @ x - 2.0 * x @ aside) / (4.0 * x @ x)  # λ of 2 x·Δx = 1 − |x|², Δx = aside + 2 λ x
        x = x + aside + 2.0 * along * x
        out.append(float(np.linalg.norm(x)) - 1.0)
    return out


def pearl_travel(stretch: float, corrected: bool, dt: float = 1e-3) -> float:
    """How far (m) a pearl falls in a second on an upright wire with |x'| = `stretch`, by (30)."""
    u = speed = 0.0
    for _ in range(round(1.0 / dt)):
        speed += dt * GRAVITY / (stretch if corrected else 1.0)
        u += dt * speed
    return stretch * u


def pearl_momentum(corrected: bool, seconds: float = 2.0, dt: float = 1e-4) -> tuple[Array, Array]:
    """Times and total momentum: a free wire of 2 kg and a pearl of 0.5 kg that 2 N push along it, drag 1 N·s/m."""
    wire, pearl, drag, push = 2.0, 0.5, 1.0, 2.0
    velocity = slide = 0.0
    times, momenta = [0.0], [0.0]
    for k in range(round(seconds / dt)):
        force = drag * slide if corrected else push - drag * slide  # (31): what the wire is given
        acceleration = force / wire
        slide += dt * ((push - drag * slide) / pearl - (acceleration if corrected else 0.0))
        velocity += dt * acceleration
        times.append((k + 1) * dt)
        momenta.append(pearl * (velocity + slide) + wire * velocity)
    return np.array(times), np.array(momenta)


def frenet_roll(aside: float, count: int = 4001) -> tuple[Array, Array, float]:
    """Places, angle (rad) of Frenet's normal from a frame that is carried along, and the largest torsion (1/m).

    The curve is (t, t³/6, `aside` t²/2), −1 < t < 1: an S that is all but plane.
    """
    t = np.linspace(-1.0, 1.0, count)
    first = np.column_stack([np.ones_like(t), t**2 / 2, aside * t])
    second = np.column_stack([0 * t, t, np.full_like(t, aside)])
    third = np.column_stack([0 * t, np.ones_like(t), 0 * t])
    binormal = np.cross(first, second)
    torsion = np.einsum("ij,ij->i", binormal, third) / (binormal**2).sum(axis=1)
    speed = np.linalg.norm(first, axis=1)
    roll = np.concatenate([[0.0], np.cumsum(0.5 * (torsion * speed)[1:] + 0.5 * (torsion * speed)[:-1])]) * (
        t[1] - t[0]
    )
    return t, roll, float(np.abs(torsion).max())


def stretch_curvatures(stretch: float) -> Array:
    """Eigenvalues of the Hessian of (|r'| − 1)²/2 at |r'| = `stretch`."""
    tangent = np.array([1.0, 0.0, 0.0])
    hessian = (1.0 - 1.0 / stretch) * (np.eye(3) - np.outer(tangent, tangent)) + np.outer(tangent, tangent)
    return np.linalg.eigvalsh(hessian)


# Multizone models (James and Pai 2002).


def seam_error(form: str) -> float:
    """Error of the seams' displacements, of their size: three zones in turned frames, two seams of four nodes.

    `form`: "right", "printed" (11–13), "twice" (both the similarity and the trailing F), "no trailing F".
    """
    rng = np.random.default_rng(2)
    size = 12
    world = [rotation(np.array(a)) for a in ((0.0, 0.0, 0.0), (0.3, -0.8, 0.2), (0.9, -1.1, 0.7))]
    big = [np.kron(np.eye(4), turn) for turn in world]

    def zone(seams: int) -> Array:
        half = rng.normal(size=(size * seams, size * seams))
        return half @ half.T + size * np.eye(size * seams)

    first, middle, last = zone(1), zone(2), zone(1)
    near, far, between = middle[:size, :size], middle[size:, size:], middle[:size, size:]
    loads = [rng.normal(size=size) for _ in range(4)]  # p^ of zone 0; of zone 1 near and far; of zone 2

    def turned(a: int, b: int) -> Array:
        """Components in the frame of zone a from those in the frame of b."""
        return big[a].T @ big[b]

    def across(matrix: Array, j: int) -> Array:
        """Influence of zone j + 1 on the seam, acting on displacements in the frame of zone j."""
        here, there = turned(j, j + 1), turned(j + 1, j)
        return {
            "right": here @ matrix @ there, "printed": there @ matrix @ here,
            "twice": here @ matrix @ there @ there, "no trailing F": here @ matrix,
        }[form]  # fmt: skip

    def answer() -> Array:
        to = {j: turned(j + 1, j) if form == "printed" else turned(j, j + 1) for j in (0, 1)}
        system = np.block(
            [[first + across(near, 0), to[0] @ between], [between.T @ turned(1, 0), far + across(last, 1)]]
        )
        return np.linalg.solve(system, -np.concatenate([loads[0] + to[0] @ loads[1], loads[2] + to[1] @ loads[3]]))

    found = answer()
    # the same in one frame for all: displacements and forces in the world
    rotate = big[1]
    system = np.block([
        [big[0] @ first @ big[0].T + rotate @ near @ rotate.T, rotate @ between @ rotate.T],
        [rotate @ between.T @ rotate.T, rotate @ far @ rotate.T + big[2] @ last @ big[2].T],
    ])  # fmt: skip
    right = -np.concatenate([big[0] @ loads[0] + rotate @ loads[1], rotate @ loads[2] + big[2] @ loads[3]])
    exact = np.linalg.solve(system, right)
    exact = np.concatenate([big[0].T @ exact[:size], rotate.T @ exact[size:]])
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def rotation_defect(transposed: bool, poisson_ratio: float = 0.3) -> tuple[float, float]:
    """What Kelvin's tractions over a closed box make of a rigid motion: errors for a translation and for a rotation.

    Somigliana: u(x) = −∮ T u for a body that moves rigidly, x inside; T_ij is the traction i of a force along j.
    """
    nodes, weights = np.polynomial.legendre.leggauss(24)
    place, axis = np.array([0.2, -0.15, 0.1]), np.array([0.3, 0.5, -0.8])
    moved, turned = np.zeros((3, 3)), np.zeros(3)
    for side in range(3):
        for sign in (1.0, -1.0):
            normal = np.zeros(3)
            normal[side] = sign
            for a, wa in zip(nodes, weights, strict=True):
                for b, wb in zip(nodes, weights, strict=True):
                    y = np.insert(np.array([a, b]) / 2.0, side, sign / 2.0)
                    d = y - place
                    r = float(np.linalg.norm(d))
                    d /= r
                    free = 1.0 - 2.0 * poisson_ratio
                    odd = np.outer(normal, d) - np.outer(d, normal)
                    traction = (d @ normal) * (free * np.eye(3) + 3.0 * np.outer(d, d)) - free * odd
                    traction *= -wa * wb / 4.0 / (8.0 * np.pi * (1.0 - poisson_ratio) * r * r)
                    kernel = traction if transposed else traction.T
                    moved -= kernel
                    turned -= kernel @ np.cross(axis, y)
    wanted = np.cross(axis, place)
    return float(np.abs(moved - np.eye(3)).max()), float(np.linalg.norm(turned - wanted) / np.linalg.norm(wanted))


# Massless cables (Servin and Lacoursière 2007).

MODULUS, POISSON, RADIUS, LENGTH = 200e9, 0.3, 5e-3, 4.0
"""The paper's steel cable."""


def cable_stiffnesses() -> dict[str, float]:
    """Stiffness in stretch (N/m) and in twist (N·m/rad) of the paper's steel cable, right and as printed."""
    area = np.pi * RADIUS**2
    twist = area * MODULUS / (4.0 * LENGTH * (1.0 + POISSON))
    stretch = area * MODULUS / LENGTH
    return {"twist, printed": twist, "twist": twist * RADIUS**2, "stretch": stretch, "stretch of 2 m": 2.0 * stretch}


def winch_speed(asked: float, dt: float, printed: bool) -> float:
    """Speed (m/s) of a load on a winch without slip after the first step, from rest; rows (12, 13)."""
    mass = 10.0
    row = np.array([[mass, -1.0], [1.0, 0.0]])
    return float(np.linalg.solve(row, [-mass * GRAVITY * dt, asked / dt if printed else asked])[0])


def winch_lag(speed: float, dt: float, printed: bool) -> float:
    """How far (m) a load lags behind a stiff cable of growing length L(t) = 1 + `speed` t."""
    place, length = 1.0, 1.0
    for _ in range(100):
        gap = place - length
        velocity = -gap / dt + (0.0 if printed else speed)
        place += dt * velocity
        length += dt * speed
    return abs(place - length)


def swing(stiffness: float, form: str, periods: float = 5.0, dt: float = 0.01) -> tuple[Array, Array]:
    """Times and elongation of the paper's two boxes on a cable: `form` "printed" (13), "spook", or "exact"."""
    omega = np.sqrt(2.0 * stiffness / 1000.0)
    times = dt * np.arange(round(periods * 2.0 * np.pi / omega / dt) + 1)
    if form == "exact":
        fine = np.linspace(0.0, times[-1], 2001)
        return fine, np.cos(omega * fine)
    softened = omega**2 / (1.0 + (dt * omega) ** 2 / 4.0)
    # at rest in the middle of the first step's velocities
    x, v, out = 1.0, 0.0 if form == "printed" else 0.5 * dt * softened, [1.0]
    for _ in times[1:]:
        v = (v - dt * omega**2 * x) / (1.0 + (dt * omega) ** 2) if form == "printed" else v - dt * softened * x
        x += dt * v
        out.append(x)
    return times, np.array(out)


def left_after(stiffness: float) -> float:
    """Part of the amplitude that (13) leaves after five periods of the two boxes, 10 ms a step."""
    omega = np.sqrt(2.0 * stiffness / 1000.0)
    return float((1.0 + (0.01 * omega) ** 2) ** (-0.5 * 5.0 * 2.0 * np.pi / omega / 0.01))


def let_go(clamped: bool, dt: float = 1e-3) -> tuple[float, float]:
    """Fall (m) in 0.1 s and largest push (N): 1,000 kg above the lower end of the paper's cable, just taut, let go.

    With a row of both signs the cable is a strut; `clamped` to λ ≤ 0 it is a cable.
    """
    mass, compliance = 1000.0, 1.0 / cable_stiffnesses()["stretch"]
    gap = v = push = 0.0
    for _ in range(round(0.1 / dt)):
        free = v - dt * GRAVITY  # of the path's length, too
        force = (-gap / dt - free) / (dt / mass + compliance / dt)
        force = min(force, 0.0) if clamped else force
        push = max(push, force)
        v = free + dt * force / mass
        gap += dt * v
    return -gap, push


def euler_twist(bend: float, angle: float) -> float:
    """Change (rad) of Ψ_a + Ψ_b (17) when cable and bodies turn as one by `angle` about the world's y axis.

    The bodies hold the ends of a cable that bends by `bend` between them, in a plane that leans.
    """
    lean = rotation(np.array([0.3, 0.2, -0.4]))
    out = lean @ np.array([1.0, 0.0, 0.0])
    back = lean @ rotation(np.array([0.0, 0.0, bend])) @ np.array([-1.0, 0.0, 0.0])

    def frame(d: Array) -> Array:
        side = np.cross(d, np.array([0.2, 0.3, 1.0]))
        side /= np.linalg.norm(side)
        return np.column_stack([d, side, np.cross(d, side)])

    def measured(turn: Array) -> float:
        return sum(float(np.arctan2((turn @ frame(d))[2, 1], (turn @ frame(d))[2, 2])) for d in (out, back))

    change = measured(rotation(np.array([0.0, angle, 0.0]))) - measured(np.eye(3))
    return float((change + np.pi) % (2.0 * np.pi) - np.pi)


def carried_twist(bend: float, angle: float) -> float:
    """The same change of the angle between the ends' directors, one carried to the other by the least rotation."""
    lean = rotation(np.array([0.3, 0.2, -0.4]))
    out = lean @ np.array([1.0, 0.0, 0.0])
    on = lean @ rotation(np.array([0.0, 0.0, bend])) @ np.array([1.0, 0.0, 0.0])
    first, last = np.cross(out, [0.2, 0.3, 1.0]), np.cross(on, [0.7, 0.1, 0.4])

    def measured(turn: Array) -> float:
        a, b = turn @ out, turn @ on
        least = np.cross(a, b)
        size = float(np.linalg.norm(least))
        carried = rotation(least / size * np.arctan2(size, a @ b)) @ turn @ first if size > 0.0 else turn @ first
        end = turn @ last
        return float(np.arctan2(np.cross(carried, end) @ b, carried @ end))

    return measured(rotation(np.array([0.0, angle, 0.0]))) - measured(np.eye(3))


def node_friction(friction: float, angle: float, nodes: int) -> float:
    """Ratio of tensions that Coulomb's law at `nodes` points allows over a bend of `angle` (rad)."""
    half = friction * np.tan(angle / nodes / 2.0)
    return float(((1.0 + half) / (1.0 - half)) ** nodes)


def top_frequency(count: int) -> float:
    """Highest frequency (rad/s) of a metre of 1 cm² of steel as `count` masses on springs."""
    stiffness, mass = 200e9 * 1e-4 * count, 0.8 / count
    chain = 2.0 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    chain[-1, -1] = 1.0
    return float(np.sqrt(stiffness / mass * np.linalg.eigvalsh(chain)[-1]))
