"""What the tests of scenes share: bodies with a point at a given place, slopes, momenta, the bits of a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from references import meshes
from references.rotation import exp

import sennit as sn
from sennit.bodies.rigid.body import RigidMatter
from sennit.bodies.rod.made import AddedMass, Materials, Numbers, RodMatter, Sections

G = 9.81
SOFT = sn.Material(1e7, 0.45, 1000)
ROPE = sn.Section.circle(5e-3)
WIRE = sn.Section.circle(5e-3)
STIFF = sn.Material(2e11, 0.3, 1.0)  # a wire that neither bends nor weighs anything to speak of

LENGTH = 0.6
CONTROL_POINTS = 7
DIRECTION = np.array((2.0, 1.0, -0.5)) / np.sqrt(5.25)
UP = np.array((0.2, 0.1, 1.0))


@dataclass(frozen=True)
class Motion:
    """A rigid motion x -> R x + c of everything."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def point(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x, dtype=float) @ self.rotation.T + self.shift

    def vector(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(v, dtype=float) @ self.rotation.T


STILL = Motion()
MOVED = Motion(exp(np.array((0.7, -1.1, 0.4))), np.array((0.3, -2.0, 1.5)))


# --- bodies with a point at `at`


def rod(scene, at, motion=STILL, model="spline", along=DIRECTION, s=0.4, length=LENGTH, n=CONTROL_POINTS, **more):
    """A straight rod in the scene, and its point at fraction `s`, which lies at `at`."""
    start = np.asarray(at) - s * length * np.asarray(along)
    body = sn.Rod.straight(
        motion.point(start),
        motion.point(start + length * np.asarray(along)),
        section=more.pop("section", ROPE),
        material=more.pop("material", SOFT),
        control_points=n,
        model=model,
        up=motion.vector(UP),
        **more,
    )
    scene.add(body)
    return body


def spline(scene, at, motion=STILL):
    body = rod(scene, at, motion)
    return body.at(0.4 * body.length)


def discrete(scene, at, motion=STILL):
    # 0.4 of 6 edges lies inside an edge
    body = rod(scene, at, motion, model="discrete")
    return body.at(0.4 * body.length)


BESIDE = np.array((0.012, -0.02))


def beside(scene, at, motion=STILL, model="spline"):
    """A point beside the axis of a rod: off it along its section's d1 and d2."""
    d2 = UP - (UP @ DIRECTION) * DIRECTION
    d2 /= np.linalg.norm(d2)
    body = rod(scene, at - BESIDE[0] * np.cross(d2, DIRECTION) - BESIDE[1] * d2, motion, model=model)
    return body.at(0.4 * body.length, offset=BESIDE)


def ring(scene, at, motion=STILL, control_points=9):
    angle = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    e1, e2 = DIRECTION, np.cross(DIRECTION, UP) / np.linalg.norm(np.cross(DIRECTION, UP))
    curve = 0.15 * (np.outer(np.cos(angle) - 1.0, e1) + np.outer(np.sin(angle), e2))
    body = sn.Rod.through(
        motion.point(np.asarray(at) + curve),
        section=ROPE,
        material=SOFT,
        control_points=control_points,
        closed=True,
        up=motion.vector(UP),
    )
    scene.add(body)
    return body.at(0.0)


TILT = exp(np.array((0.3, -0.5, 0.8)))
CORNER = np.array((0.05, -0.1, 0.15))


def rigid(scene, at, motion=STILL):
    body = sn.RigidBody.box(size=(0.2, 0.3, 0.4), mass=0.5, position=(0, 0, 0))
    body.pose = sn.Pose.from_rotation(motion.point(np.asarray(at) - TILT @ CORNER), motion.rotation @ TILT)
    scene.add(body)
    return body.at(CORNER)


def slider(scene, at, motion=STILL):
    body = rod(scene, at, motion)
    bead = scene.add(sn.Slider(body, at=0.4 * body.length, mass=0.05))
    return bead.at()


def world(scene, at, motion=STILL):
    return sn.World.at(sn.Pose.from_rotation(motion.point(at), motion.rotation @ TILT))


TISSUE = sn.Material(2e4, 0.45, 1000)


@cache
def tissue() -> sn.Zone:
    vertices, faces = meshes.block((0.3, 0.2, 0.1), (4, 3, 2))
    return sn.Zone.from_mesh(vertices, faces, material=TISSUE, fixed=np.flatnonzero(vertices[:, 2] < 1e-9))


def pad(scene, on=None, **material) -> sn.Zone:
    """A block of tissue in the scene, held at its lower side; its Green's functions are computed once."""
    given = {"youngs_modulus": 2e4, "poisson_ratio": 0.45, "density": 1000, "relaxation_time": 0.05} | material
    return scene.add(tissue().with_material(sn.Material(**given)), on=on)


PLACE = np.array((0.16, 0.09, 0.1))


def patch(scene, at, motion=STILL):
    """A patch of a pad that rides on a rigid body, off its centre."""
    bone = sn.RigidBody.box(size=(0.2, 0.3, 0.4), mass=0.5, position=(0, 0, 0))
    bone.pose = sn.Pose.from_rotation(motion.point(np.asarray(at) - TILT @ (CORNER + PLACE)), motion.rotation @ TILT)
    scene.add(bone)
    return pad(scene, on=bone.at(CORNER)).at(PLACE, radius=0.12)


def vertex(scene, at, motion=STILL):
    """A bare vertex of a pad that rides on the world."""
    number = int(np.argmin(np.linalg.norm(tissue().vertices - PLACE, axis=1)))
    origin = motion.point(np.asarray(at) - TILT @ tissue().vertices[number])
    frame = sn.World.at(sn.Pose.from_rotation(origin, motion.rotation @ TILT))
    return pad(scene, on=frame).at(number)


KINDS: dict[str, Callable] = {
    "spline": spline,
    "discrete": discrete,
    "beside": beside,
    "ring": ring,
    "rigid": rigid,
    "slider": slider,
    "patch": patch,
    "vertex": vertex,
    "world": world,
}
DYNAMIC = [kind for kind in KINDS if kind != "world"]


# --- constraints over points. Each takes (p, q, motion), the points where they are when it is made.


@dataclass(frozen=True)
class Rows:
    make: Callable
    count: int
    two: bool = True  # ties two points; otherwise the first only
    angular: bool = False  # has rows that measure a rotation
    carried: bool = False  # has directions that the second point carries, for which it needs a whole frame


def standing(place: np.ndarray) -> Callable:
    """A path that stays where it begins."""
    place = np.array(place)
    return lambda t: place


N1 = np.array((0.3, -0.4, 0.9)) / np.linalg.norm((0.3, -0.4, 0.9))

CONSTRAINTS: dict[str, Rows] = {
    "fix": Rows(lambda p, q, m: sn.Fix(p), 3, two=False),
    "align": Rows(lambda p, q, m: sn.Align(p, p.frame[:, 2]), 2, two=False, angular=True),
    "clamp": Rows(lambda p, q, m: sn.Clamp(p), 6, two=False, angular=True),
    "plane": Rows(lambda p, q, m: sn.OnPlane(p, m.vector(N1)), 1, two=False),
    "axis": Rows(lambda p, q, m: sn.OnAxis(p, m.vector(N1)), 2, two=False),
    "sphere": Rows(lambda p, q, m: sn.OnSphere(p, p.position + m.vector((0.3, 0.2, -0.1)), 0.4), 1, two=False),
    "circle": Rows(
        lambda p, q, m: sn.OnCircle(p, p.position + m.vector((0.3, 0.2, -0.1)), m.vector(N1), 0.35),
        2,
        two=False,
    ),
    "follow": Rows(lambda p, q, m: sn.Follow(p, standing(p.position)), 3, two=False),
    "distance": Rows(lambda p, q, m: sn.Distance(p, q), 1),
    "distance, at most": Rows(lambda p, q, m: sn.Distance(p, q, bound="at_most"), 1),
    "plane of": Rows(lambda p, q, m: sn.OnPlane(p, m.vector(N1), of=q), 1, carried=True),
    "axis of": Rows(lambda p, q, m: sn.OnAxis(p, m.vector(N1), of=q), 2, carried=True),
    "ball": Rows(lambda p, q, m: sn.Ball(p, q), 3),
    "fuse, free to turn": Rows(lambda p, q, m: sn.Fuse(p, q, align=False), 3),
    "fuse": Rows(lambda p, q, m: sn.Fuse(p, q), 6, angular=True),
    "lock": Rows(lambda p, q, m: sn.Lock(p, q), 6, angular=True),
    "hinge": Rows(lambda p, q, m: sn.Hinge(p, q, axis=m.vector(N1)), 5, angular=True),
    "prismatic": Rows(lambda p, q, m: sn.Prismatic(p, q, axis=m.vector(N1)), 5, angular=True),
    "screw": Rows(lambda p, q, m: sn.Screw(p, q, axis=m.vector(N1), lead=0.8), 5, angular=True),
}


def pairs() -> list[tuple[str, str, str]]:
    """(constraint, kind of p, kind of q): every one that ties something that can move.

    A slider turns freely about its rod: it has a tangent, but nothing that could hold a roll. A bare vertex of a zone
    has no direction at all.
    """
    out = []
    for name, rows in CONSTRAINTS.items():
        for first in KINDS:
            if (first == "slider" and rows.angular and name != "align") or (first == "vertex" and rows.angular):
                continue
            if not rows.two:
                if first != "world":
                    out.append((name, first, "world"))
                continue
            for second in KINDS:
                if second in ("slider", "vertex") and (rows.angular or rows.carried):
                    continue
                if {first, second} != {"world"}:
                    out.append((name, first, second))
    return out


A = np.array((0.1, 0.2, 0.3))
B = np.array((0.4, -0.1, 0.35))


def pair(first: str, second: str, motion: Motion = STILL, *, gap: bool = True, stir: float = 1.0, **options):
    """A scene with a point of each kind, stirred into a generic shape: scene, p, q."""
    scene = sn.Scene(gravity=(0, 0, 0), **options)
    p = KINDS[first](scene, A, motion)
    q = KINDS[second](scene, B if gap else A, motion)
    if stir:
        shake(scene, stir, motion)
    return scene, p, q


# --- moving everything


def layout(scene) -> list[tuple[int, str]]:
    """Where degrees of freedom that belong together begin, in the order in which the bodies were added."""
    out, count = [], 0
    assert scene.dofs >= 0  # numbered now
    for body in scene.bodies:
        if isinstance(body, sn.Rod):
            k, n = min(body.at(0.0).jacobian()[0]), len(body.control_points)
            # the last edge of a discrete rod is the one before its last control point, whose roll is nobody's
            last = n - 1 if body.model == "discrete" else n
            out += [(k + 4 * i, "point" if i < last else "point without roll") for i in range(n)]
            count += 4 * n
        elif isinstance(body, sn.RigidBody):
            k = min(body.at((0, 0, 0)).jacobian()[0])
            out += [(k, "point without roll"), (k + 3, "turn")]
            count += 6
        elif isinstance(body, sn.Zone):
            ends = body._dof0 + np.cumsum(body._place_sizes)
            for k, size in zip(ends - body._place_sizes, body._place_sizes, strict=True):
                out += [(int(k), "own")] + ([(int(k) + 3, "own turn")] if size == 6 else [])
            count += int(body._place_sizes.sum())
        else:
            out.append((body.at().jacobian()[0][-1], "place"))
            count += 1
    assert count <= scene.dofs  # a keyhole has a slider of its own
    return out


def increment(scene, seed: int, size: float = 1.0, motion: Motion = STILL) -> np.ndarray:
    """A random increment of all degrees of freedom, its vectors turned by `motion`: centimetres, tenths of a radian."""
    rng = np.random.default_rng(seed)
    dq = np.zeros(scene.dofs)
    for k, what in layout(scene):
        if what == "place":
            dq[k] = size * 0.01 * rng.uniform(-1, 1)
            continue
        scale = 0.15 if what.endswith("turn") else 0.02
        vector = size * scale * rng.uniform(-1, 1, 3)
        # a zone's are seen in its own frame
        dq[k : k + 3] = vector if what.startswith("own") else motion.vector(vector)
        if what == "point":
            dq[k + 3] = size * 0.15 * rng.uniform(-1, 1)
    return dq


def shake(scene, size: float, motion: Motion = STILL, seed: int = 1) -> None:
    for k in range(3):
        scene.displace(increment(scene, 100 * seed + k, size, motion))


def slope(scene, read: Callable[[], np.ndarray], direction: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Central difference of what `read` returns along `direction`; the scene is left as it was."""
    before = scene.snapshot()
    scene.displace(h * direction)
    ahead = np.array(read())
    scene.restore(before)
    scene.displace(-h * direction)
    behind = np.array(read())
    scene.restore(before)
    return (ahead - behind) / (2 * h)


def dense(entry: tuple[np.ndarray, np.ndarray], dofs: int) -> np.ndarray:
    """A Jacobian given as (numbers of its columns, their entries), with all columns; repeated numbers add up."""
    columns, values = entry
    out = np.zeros((len(values), dofs))
    np.add.at(out.T, np.asarray(columns, dtype=int), np.asarray(values).T)
    return out


def spin(rate: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """The angular velocity of a frame that changes at `rate`: R' R^T = [omega]."""
    w = rate @ frame.T
    return np.array((w[2, 1] - w[1, 2], w[0, 2] - w[2, 0], w[1, 0] - w[0, 1])) / 2


def refused(call: Callable, *words: str, kind: type[Exception] = sn.InputError) -> str:
    """`call` raises, with `words` in its message, which is returned."""
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert word in message, message
    return message


# --- momentum


def momentum(body) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum (about the origin) of a straight-born rod or a rigid body, from its points.

    A rod's velocity is cubic in s on each of its n - 3 spans (linear on the n - 1 edges of a discrete one), and r x v
    of degree six: four Gauss points are exact.
    """
    if isinstance(body, sn.RigidBody):
        p = body.mass * body.velocity
        inertia = body.pose.rotation @ body.inertia @ body.pose.rotation.T
        return p, np.cross(body.pose.position, p) + inertia @ body.angular_velocity
    if isinstance(body, sn.Zone):
        return np.zeros(3), np.zeros(3)  # has no mass
    n = len(body.control_points)
    spans = n - 1 if body.model == "discrete" else n - 3
    x, w = np.polynomial.legendre.leggauss(4)
    rho = body.material.density
    section = body.section
    linear, angular = np.zeros(3), np.zeros(3)
    h = body.length / spans
    for e in range(spans):
        for xi, wi in zip(x, w, strict=True):
            at = body.at(h * (e + (xi + 1) / 2))
            dm = rho * section.area * wi * h / 2
            velocity, t = at.velocity, at.frame[:, 2]
            linear += dm * velocity
            angular += dm * np.cross(at.position, velocity)
            angular += rho * (section.I1 + section.I2) * wi * h / 2 * (at.angular_velocity @ t) * t
    return linear, angular


def total_momentum(*bodies) -> tuple[np.ndarray, np.ndarray]:
    parts = [momentum(body) for body in bodies]
    return sum(p for p, _ in parts), sum(l for _, l in parts)


# --- the bits of a state


def bits(thing) -> list:
    """Everything that a scene's snapshot holds, as comparable values; arrays as their bytes."""
    if isinstance(thing, sn.Scene):
        thing = thing.snapshot()
    # whether it has moved before says what is an error in the input, and stays when it is reset
    return _bits({name: value for name, value in vars(thing).items() if name != "_moving"})


def _bits(thing) -> list:
    if isinstance(thing, np.ndarray):
        return [thing.dtype.str, thing.shape, thing.tobytes()]
    if isinstance(thing, dict):
        return [(str(key), _bits(value)) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [_bits(value) for value in thing]
    along = Sections | Materials | Numbers | AddedMass
    if isinstance(thing, RodMatter | RigidMatter | sn.Section | sn.Material | along):
        return _bits(vars(thing))
    if hasattr(thing, "kind"):  # an event; its text names things by numbers that go on counting
        return [thing.kind, *_bits(thing.time)]
    if isinstance(thing, float):
        return [np.float64(thing).tobytes()]
    if isinstance(thing, int | str | bytes | np.generic) or thing is None:
        return [thing]
    return [type(thing).__name__]  # a body, a constraint, the scene: their numbers are elsewhere


def drop(height: float, steps: int, dt: float, acceleration: float = G) -> float:
    """Where backward Euler takes a body that falls from rest: a dt^2 n (n + 1) / 2 below `height`, exactly."""
    return height - acceleration * dt * dt * steps * (steps + 1) / 2
