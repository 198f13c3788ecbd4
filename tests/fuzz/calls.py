"""A valid call of everything public that takes arguments, to be spoilt argument by argument.

`CALLS` maps a name, with a note after a comma where something is called in two ways, to a function of a `Kit` that
gives what to call and its keyword arguments. `SETTINGS` does the same for attributes: the owner and a valid value.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from references import meshes

import sennit as sn

STEEL = sn.Material(2e11, 0.3, 7850.0)
SOFT = sn.Material(1e7, 0.4, 1000.0, 0.01)
GEL = sn.Material(5e4, 0.45, 1000.0, 0.05)
ROPE = sn.Section.circle(5e-3)
TRIANGLES = meshes.block((0.3, 0.2, 0.1), (2, 2, 1))
FREE = int(np.argmax(TRIANGLES[0] @ (-1.0, -1.0, 9.0)))  # a vertex at the top, away from the seam of `chain`
TETRAHEDRON = (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))
CORNERS, FACES = TETRAHEDRON[0], np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


@functools.cache
def gel() -> sn.Zone:
    vertices, faces = TRIANGLES
    return sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=np.flatnonzero(vertices[:, 2] < 1e-9))


@functools.cache
def chain() -> sn.ZoneChain:
    """Two blocks side by side, each held at its lower side."""
    zones, seams = [], []
    for k in range(2):
        vertices, faces = meshes.block((0.3, 0.2, 0.1), (2, 2, 1), origin=(0.3 * k, 0, 0))
        zones.append(sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=np.flatnonzero(vertices[:, 2] < 1e-9)))
    sides = [np.flatnonzero((abs(z.vertices[:, 0] - 0.3) < 1e-9) & (z.vertices[:, 2] > 1e-9)) for z in zones]
    order = [side[np.lexsort(zones[k].vertices[side].T)] for k, side in enumerate(sides)]
    seams = [(order[0], order[1])]
    return sn.ZoneChain(zones, seams)


@functools.cache
def strand() -> sn.Strand:
    return sn.Strand(0.25, sn.Section.circle(2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=21)


@functools.cache
def bent() -> sn.StrandState:
    return strand().solve(base=sn.Pose(), tip_force=(0, 1e-4, 0))


@functools.cache
def law() -> sn.Law:
    return sn.rubber_cord(0.01)


@functools.cache
def energy() -> Any:
    def spring(strain, stress, tangent):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(6):
            k = 1e-3 if i < 3 else 1e3
            stress[i] = k * strain[i]
            total += 0.5 * k * strain[i] ** 2
            for j in range(6):
                tangent[i, j] = k if i == j else 0.0
        return total

    return numba.njit(spring)


class Kit:
    """A small scene with one of everything, in which calls are made."""

    def __init__(self) -> None:
        scene = self.scene = sn.Scene(name="kit")
        self.rope = scene.add(
            sn.Rod.straight((0, 0, 1), (1, 0, 1), section=ROPE, material=SOFT, control_points=6, name="rope")
        )
        self.chain = scene.add(
            sn.Rod.straight((0, 1, 1), (1, 1, 1), section=ROPE, material=SOFT, control_points=5, model="discrete")
        )
        self.cord = scene.add(sn.Rod.straight((0, 3, 1), (1, 3, 1), section=ROPE, material=SOFT, control_points=8))
        self.box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.5, position=(1, 0, 0.5), name="box"))
        self.ball = scene.add(sn.RigidBody.sphere(0.1, mass=0.5, position=(0, 0, 3)))
        self.clamp = scene.add(sn.Clamp(self.rope.at(0.0)))
        self.fix = scene.add(sn.Fix(self.chain.at(0.0)))
        self.follow = scene.add(sn.Follow(self.chain.at(1.0), lambda t: (1.0, 1.0, 1.0)))
        self.distance = scene.add(sn.Distance(self.box.at(), self.rope.at(1.0)))
        self.hinge = scene.add(sn.Hinge(self.ball.at(), sn.World.at((0, 0, 3)), axis=(0, 1, 0), motor=sn.Motor(0.1)))
        self.pearl = scene.add(sn.Pearl(self.rope, 0.3, mass=0.01, radius=0.01, friction=0.01))
        self.slider = scene.add(sn.Slider(self.rope, 0.8, mass=0.01, friction=0.01, speed=0.0))
        self.crate = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(3, 0, 0)))
        self.anchor = sn.World.at((3, 0, 2))
        self.cable = scene.add(sn.Cable([self.anchor, self.crate.at((0, 0, 0.1))], stretch_stiffness=1e4))
        self.load = scene.add(sn.Load(self.box.at(), (0, 0, 1.0)))
        self.track = scene.add(sn.OnSphere(self.crate.at(), (3, 0, -5), 4.0, bound="at_least"))
        self.sheave = sn.Sheave(self.anchor, (0, 1, 0), 0.1)
        self.wall = scene.add(sn.Obstacle(sn.Box((0.1, 2.0, 1.0), sn.Pose((6, 0, 0))), name="wall"))
        self.pad = scene.add(gel().with_material(GEL), on=sn.World.at((0, 5, 0)))
        self.zone = gel()
        self.grip = self.rope.at(0.5)
        self.control = scene.control("speed", lambda value: None, 0.5, range=(0.0, 1.0), unit="m/s")
        self.switch = scene.control("brake", lambda value: None, False)
        self.snapshot = scene.snapshot()
        self.spent = False
        """Whether something was accepted: the next trial begins with a new one."""

    @functools.cached_property
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="sennit-fuzz-"))

    @functools.cached_property
    def needle(self) -> sn.Needle:
        """One that is in no scene yet."""
        shape = {"length": 0.05, "radius": 0.02, "thickness": 2e-3, "patch": 0.2}
        forces = {"piercing": 1.0, "cutting": 0.2, "friction": 20.0}
        return sn.Needle(self.rope.at(1.0), self.pad, holes=1, **shape, **forces)

    def tubes(self) -> list[sn.Rod]:
        """Two that fit into one another, in no scene."""
        return [
            sn.Rod.straight((0, 7, 0), (0, 7, length), section=sn.Section.tube(radius, 0.8 * radius), material=SOFT)
            for radius, length in ((5e-3, 0.1), (3e-3, 0.2))
        ]

    @functools.cached_property
    def nest(self) -> sn.Nest:
        """One that is in no scene yet."""
        return sn.Nest(self.tubes())

    @functools.cached_property
    def plain(self) -> sn.Scene:
        """One that can be saved."""
        return sn.Scene.load(self.scene_file)

    @functools.cached_property
    def batch(self) -> sn.Batch:
        """Two of a scene with a rope that a hand holds."""
        return sn.Batch(self.held[0], 2, threads=1)

    @functools.cached_property
    def held(self) -> tuple[Any, Any, Any]:
        """A scene, the rope in it, and the hand that holds it."""
        scene = sn.Scene()
        led = scene.add(
            sn.Rod.straight((0, 0, 1), (1, 0, 1), section=ROPE, material=SOFT, control_points=5, name="led")
        )
        return scene, led, scene.add(sn.Fix(led.at(0.0), name="hand"))

    @functools.cached_property
    def clock(self) -> sn.Clock:
        """Of the scene."""
        return sn.Clock(self.scene, dt=0.01)

    @functools.cached_property
    def recording(self) -> sn.Recording:
        """A short one of the scene."""
        return sn.record(self.scene, 0.01, dt=0.01, fps=100.0, progress=False)

    @functools.cached_property
    def hair(self) -> sn.Hair:
        """Two strands on a ball."""
        ways = [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)]
        ball = sn.Sphere((0, 0, 0), 0.1)
        return sn.Hair(
            0.1 * np.array(ways), ways, length=0.2, section=sn.Section.circle(5e-4), material=SOFT, control_points=6,
            head=ball,
        )  # fmt: skip

    @functools.cached_property
    def pair(self) -> sn.ContactPair:
        """The rope and the wall, which may touch from the first look on."""
        return self.scene.collide(
            self.rope, self.wall, friction=0.2, static_friction=0.3, restitution=0.1, margin=1e-3,
            rolling_friction=1e-3, twisting_friction=1e-3,
        )  # fmt: skip

    @property
    def contacts(self) -> sn.SceneContacts:
        return self.scene.contacts

    def file(self, name: str) -> str:
        return str(self.folder / name)

    @functools.cached_property
    def scene_file(self) -> str:
        scene = sn.Scene()
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.5))
        scene.save(self.file("scene.npz"))
        return self.file("scene.npz")

    @functools.cached_property
    def route_file(self) -> str:
        Path(self.file("route.csv")).write_text("x,y,z\n0,0,0\n0.1,0,0.05\n0.2,0.1,0\n")
        return self.file("route.csv")

    @functools.cached_property
    def robot_file(self) -> str:
        """Two links on a hinge."""
        own = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        links = "".join(f'<link name="{name}"><inertial>{own}</inertial></link>' for name in "ab")
        joint = '<joint name="knee" type="continuous"><parent link="a"/><child link="b"/></joint>'
        Path(self.file("robot.urdf")).write_text(f'<robot name="r">{links}{joint}</robot>')
        return self.file("robot.urdf")

    @functools.cached_property
    def mechanism(self) -> sn.Mechanism:
        """One that is in no scene."""
        return sn.read_mechanism(self.robot_file)

    @functools.cached_property
    def text_file(self) -> str:
        Path(self.file("scene.toml")).write_text("rigid.box = { box = [0.1, 0.1, 0.1], mass = 0.5 }")
        return self.file("scene.toml")

    @functools.cached_property
    def told(self) -> sn.Scene:
        """One that can be written as text."""
        return sn.Scene.read(self.text_file)

    def spare(self) -> sn.RigidBody:
        """A body in the scene that nothing else holds."""
        return self.scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0.5, 0.2, 2.0)))


Made = Callable[[Kit], "tuple[Callable[..., Any], dict[str, Any]]"]


@dataclass(frozen=True)
class Call:
    """How something is called. `also` names further kinds of value that an argument takes; `solves`: it may fail
    with `SolveError`, as what it is asked for need not exist.
    """

    made: Made
    also: dict[str, set[str]] = field(default_factory=dict)
    solves: bool = False
    skip: frozenset[str] = frozenset()
    """Arguments that are not poisoned."""


def call(function: Any, /, also: dict[str, set[str]] | None = None, solves: bool = False, skip: str = "", **given: Any):
    """`function` and each argument may be a lambda that takes the kit, marked by `of`."""

    def made(kit: Kit) -> tuple[Callable[..., Any], dict[str, Any]]:
        values = {name: value.read(kit) if isinstance(value, Of) else value for name, value in given.items()}
        return function.read(kit) if isinstance(function, Of) else function, values

    return Call(made, also or {}, solves, frozenset(skip.split()))


@dataclass(frozen=True)
class Of:
    """Something that is read from the kit when it is needed."""

    read: Callable[[Kit], Any]


def method(owner: str, name: str, /, **more: Any) -> Call:
    return call(Of(lambda kit: getattr(getattr(kit, owner), name)), **more)


P, Q = Of(lambda kit: kit.box.at((0.05, 0, 0))), Of(lambda kit: kit.rope.at(0.7))
PLACE: dict[str, set[str]] = {"centre": {"thing", "array"}}
SOFTNESS = {"compliance": 1e-6, "damping": 1e-3, "name": "tie"}
ANGULAR = SOFTNESS | {"angular_compliance": 1e-6, "angular_damping": 1e-3}
BODY = {"position": (0.0, 0.0, 2.0), "name": "body"}
PROFILE = {"array", "function"}


def still(t: float) -> tuple[float, float, float]:
    return (1.0, 0.0, 0.5)


CALLS: dict[str, Call] = {
    # materials, sections, poses
    "Material": call(sn.Material, youngs_modulus=1e7, poisson_ratio=0.4, density=1000.0, relaxation_time=0.01),
    "Material.varied": call(SOFT.varied, density=900.0, yield_stress=1e6, hardening=1e5),
    "Properties": call(
        sn.Properties,
        EA=2e3,
        EI=0.4,
        GJ=0.3,
        mass=0.15,
        radius=4e-3,
        EI2=0.3,
        inertia=1e-6,
        relaxation_time=0.01,
        also=dict.fromkeys(("EA", "EI", "GJ", "mass", "radius", "EI2", "inertia", "relaxation_time"), PROFILE),
    ),
    "Properties, of strands": call(
        sn.Properties,
        EA=2e3,
        EI=0.4,
        GJ=0.3,
        mass=0.15,
        radius=4e-3,
        EI_stuck=2.0,
        slip_moment=0.1,
        also=dict.fromkeys(("EA", "EI", "GJ", "mass", "radius", "EI_stuck", "slip_moment"), PROFILE),
    ),
    "Material, by shear": call(sn.Material, youngs_modulus=1e7, shear_modulus=4e6, density=1000.0),
    "Section.circle": call(sn.Section.circle, radius=1e-3),
    "Section.rectangle": call(sn.Section.rectangle, width=1e-3, height=2e-3),
    "Section.tube": call(sn.Section.tube, outer=2e-3, inner=1e-3),
    "Section.custom": call(sn.Section.custom, area=1e-6, I1=1e-13, I2=1e-13, J=2e-13, shear1=0.9, shear2=0.9),
    "Section.outline": call(ROPE.outline, n=16),
    "Section.bending_stiffness": call(ROPE.bending_stiffness, material=SOFT),
    "Section.stretching_stiffness": call(ROPE.stretching_stiffness, material=SOFT),
    "Section.mass_per_length": call(ROPE.mass_per_length, material=SOFT),
    "Pose": call(sn.Pose, position=(1.0, 2.0, 3.0), quaternion=(1.0, 0.0, 0.0, 0.0)),
    "Pose.along": call(sn.Pose.along, position=(1.0, 2.0, 3.0), tangent=(1.0, 0.0, 0.0), up=(0.0, 0.0, 1.0)),
    "Pose.from_rotation": call(sn.Pose.from_rotation, position=(1.0, 2.0, 3.0), matrix=np.eye(3)),
    # shapes
    "Sphere": call(sn.Sphere, centre=(0.0, 0.0, 0.0), radius=0.1),
    "Plane": call(sn.Plane, point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)),
    "Box": call(sn.Box, size=(0.1, 0.2, 0.3), pose=sn.Pose()),
    "Mesh": call(sn.Mesh, vertices=CORNERS, faces=FACES, pose=sn.Pose()),
    "Cylinder": call(sn.Cylinder, radius=0.1, length=0.2, pose=sn.Pose()),
    "Capsule": call(sn.Capsule, radius=0.1, length=0.2, pose=sn.Pose()),
    "HeightField": call(sn.HeightField, heights=np.zeros((2, 3)), size=(1.0, 2.0), pose=sn.Pose()),
    "Obstacle": call(sn.Obstacle, shape=sn.Box((0.1, 0.2, 0.3)), name="wall"),
    "Inside": call(
        sn.Inside,
        rod=Of(lambda kit: kit.rope),
        tube=sn.Cylinder(0.1, 2.0),
        friction=0.1,
        static_friction=0.2,
        restitution=0.1,
        open_ends=True,
        name="tube",
        also={key: {"none"} for key in ("friction", "static_friction", "restitution")},
    ),
    "Inside, a chain of places": call(
        sn.Inside, rod=Of(lambda kit: kit.rope), tube=[(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], radius=0.1
    ),
    "Inside, of two": call(
        sn.Inside,
        rod=Of(lambda kit: kit.rope),
        tube=[sn.Cylinder(0.1, 2.0), np.eye(3)],
        radius=[0.1, (0.1, 0.2, 0.1)],
        also={"radius": {"number"}},
    ),
    "Inside, a rod": call(sn.Inside, rod=Of(lambda kit: kit.rope), tube=Of(lambda kit: kit.chain), radius=0.1),
    "Obstacle, of two": call(sn.Obstacle, shape=[sn.Box((0.1, 0.2, 0.3)), sn.Sphere((0, 0, 0), 0.1)]),
    **{
        f"{shape.__class__.__name__}.{name}": call(getattr(shape, name), **given)
        for shape in (
            sn.Sphere((0, 0, 0), 0.1),
            sn.Plane((0, 0, 0), (0, 0, 1)),
            sn.Box((0.1, 0.2, 0.3)),
            sn.Mesh(CORNERS, FACES),
            sn.Cylinder(0.1, 0.2),
            sn.Capsule(0.1, 0.2),
            sn.HeightField(np.zeros((2, 3)), (1, 2)),
        )
        for name, given in {
            "closest": {"points": [(0.5, 0.0, 0.2)]},
            "signed_distance": {"points": [(0.5, 0.0, 0.2)]},
            "moved": {"pose": sn.Pose((0.1, 0.0, 0.0))},
        }.items()
    },
    # strands
    "Strand": call(
        sn.Strand,
        length=0.25,
        section=ROPE,
        material=SOFT,
        nodes=21,
        rest_curvature=(0.0, 0.1, 0.0),
        rest_stretch=(0.0, 0.0, 1.0),
        extensible=True,
        order=4,
        mass_per_length=None,
        tolerance=None,
        also={
            "rest_curvature": PROFILE,
            "rest_stretch": PROFILE,
            "nodes": {"number", "text"},
            "mass_per_length": PROFILE | {"number"},
            "tolerance": {"number"},
        },
    ),
    "Strand, that tapers": call(
        sn.Strand,
        length=0.25,
        section=lambda s: sn.Section.circle(2e-4 - 4e-4 * s),
        material=[SOFT, sn.Material(2e7, 0.3, 2000.0)],
        nodes=11,
        mass_per_length=(0.1, 0.2),
        also={"section": PROFILE, "nodes": {"text"}, "mass_per_length": PROFILE | {"number"}},
    ),
    "Strand, of pieces": call(
        sn.Strand, also={"nodes": {"text"}}, length=0.25, nodes=11, pieces=[(0.1, ROPE, SOFT), (None, ROPE, STEEL)]
    ),
    "Strand, by properties": call(
        sn.Strand,
        also={"nodes": {"text"}},
        length=0.25,
        nodes=11,
        extensible=True,
        properties=sn.Properties(EA=lambda s: 2e3 + s, EI=(0.4, 0.2), GJ=0.3, mass=0.15, radius=4e-3),
    ),
    "Strand, by stiffness that varies": call(
        sn.Strand,
        length=0.25,
        nodes=11,
        stiffness=lambda s: (1.0 + s) * np.diag((1e-3,) * 3 + (1e3,) * 3),
        mass_per_length=lambda s: 0.1 + s,
        also={"stiffness": PROFILE, "nodes": {"text"}, "mass_per_length": PROFILE | {"number"}},
    ),
    "Strand, by stiffness": call(
        sn.Strand,
        length=0.25,
        stiffness=np.diag((1e-3,) * 3 + (1e3,) * 3),
        nodes=21,
        also={"nodes": {"text"}, "stiffness": {"function"}},
    ),
    "Strand, by law": call(
        sn.Strand, also={"nodes": {"text"}}, length=0.25, law=Of(lambda kit: law()), nodes=21, extensible=True
    ),
    "Strand.solve": call(
        Of(lambda kit: strand().solve),
        base=sn.Pose(),
        tip_force=(0.0, 1e-4, 0.0),
        tip_torque=(0.0, 0.0, 1e-6),
        gravity=(0.0, 0.0, -9.81),
        force=(0.0, 1e-5, 0.0),
        torque=(0.0, 0.0, 1e-7),
        point_loads=[sn.PointLoad(0.1, (0, 0, 1e-5))],
        follower=False,
        line_follower=False,
        guess=Of(lambda kit: bent()),
        max_iterations=40,
        throw=True,
        method=None,
        dt=None,
        hand=None,
        hand_velocity=None,
        coupling=None,
        solves=True,
        also={"force": PROFILE, "torque": PROFILE, "method": {"text"}},
    ),
    "Strand.solve, tip": call(
        Of(lambda kit: strand().solve),
        base=sn.Pose(),
        tip=sn.Pose((0.1, 0, 0.1)),
        solves=True,
        throw=False,
    ),
    "Strand.solve, tip position": call(
        Of(lambda kit: strand().solve),
        base=sn.Pose(),
        tip_position=(0.1, 0.0, 0.15),
        solves=True,
        max_iterations=50,
        via=[(0.1, (0.03, 0.0, 0.08))],
    ),
    "Strand.solve, hand": call(
        Of(lambda kit: strand().solve),
        base=sn.Pose(),
        coupling=sn.VirtualCoupling(100.0, 1.0),
        hand=sn.Pose((0, 0, 0.2)),
        hand_velocity=np.zeros(6),
        dt=1e-3,
        guess=Of(lambda kit: bent()),
        solves=True,
    ),
    "Strand.equilibria": call(
        Of(lambda kit: strand().equilibria),
        base=sn.Pose(),
        tip=sn.Pose((0, 0, 0.2)),
        solves=True,
        skip="base",  # each takes a multi-start; `Strand.solve` has the same arguments
    ),
    "StrandState.plot": call(Of(lambda kit: bent().plot), axes=None),
    "Law": call(sn.Law, function=Of(lambda kit: energy()), typical_strain=(1.0, 1.0, 1.0, 0.1, 0.1, 0.1)),
    "Law.evaluate": call(Of(lambda kit: law().evaluate), strain=(0.1,) * 6),
    "rubber_cord": call(
        sn.rubber_cord, radius=0.01, coefficients=None, skip="radius", also={"coefficients": {"array"}}
    ),
    "PointLoad": call(sn.PointLoad, s=0.1, force=(0.0, 0.0, 1e-5), torque=(0.0, 0.0, 0.0), follower=False),
    "VirtualCoupling": call(
        sn.VirtualCoupling, stiffness=100.0, damping=1.0, rotational_stiffness=0.1, rotational_damping=0.01
    ),
    "VirtualCoupling.energy": call(sn.VirtualCoupling(100.0).energy, hand=sn.Pose(), tip=sn.Pose((0.1, 0, 0))),
    "VirtualCoupling.wrench": call(
        sn.VirtualCoupling(100.0, 1.0).wrench,
        hand=sn.Pose(),
        tip=sn.Pose((0.1, 0, 0)),
        hand_velocity=np.zeros(6),
        previous_tip=sn.Pose(),
        dt=1e-3,
    ),
    # rods
    "Rod.straight": call(
        sn.Rod.straight,
        start=(0.0, 0.0, 2.0),
        end=(1.0, 0.0, 2.0),
        section=ROPE,
        material=SOFT,
        control_points=6,
        rest_curvature=(0.0, 0.1),
        rest_twist=0.1,
        up=(0.0, 0.0, 1.0),
        model="spline",
        bending_points=2,
        name="rod",
        also={"rest_curvature": PROFILE},
    ),
    "Rod.through": call(
        sn.Rod.through,
        points=[(0.0, 0, 2), (0.3, 0.1, 2), (0.6, 0, 2), (1.0, 0, 2)],
        section=ROPE,
        material=SOFT,
        control_points=6,
        closed=False,
        straight=False,
        rest_curvature=None,
        rest_twist=0.0,
        up=(0.0, 0.0, 1.0),
        model="spline",
        bending_points=2,
        name="rod",
        also={"rest_curvature": PROFILE},
    ),
    "Rod.at": method("rope", "at", s=0.5, offset=(0.01, -0.02)),
    "Rod.cut": method("cord", "cut", s=0.5),
    "Rod.add_mass": method("cord", "add_mass", at=0.5, mass=0.01, length=0.1, radius=0.01),
    "Rod.remove_mass": method("cord", "remove_mass", added=Of(lambda kit: kit.cord.add_mass(at=0.3, mass=0.01))),
    **{
        f"Rod.{name}": method("rope", name, count=20)
        for name in ("centerline", "curvatures", "frames", "tensions", "velocities")
    },
    "Rod.set_shape": method("rope", "set_shape", points=[(0.0, 0, 1), (0.3, 0.1, 1), (0.6, 0, 1), (1.0, 0, 1)]),
    "Rod.set_velocity": method("rope", "set_velocity", velocity=(0.0, 0.1, 0.0), angular_velocity=(0.0, 0.0, 0.1)),
    # rigid bodies and points
    "RigidBody.box": call(sn.RigidBody.box, size=(0.1, 0.1, 0.1), mass=1.0, **BODY),
    "RigidBody.box, dense": call(sn.RigidBody.box, size=(0.1, 0.1, 0.1), density=1000.0, pose=sn.Pose((0, 0, 2))),
    "RigidBody.sphere": call(sn.RigidBody.sphere, radius=0.1, mass=1.0, **BODY),
    "RigidBody.cylinder": call(sn.RigidBody.cylinder, radius=0.1, length=0.2, mass=1.0, **BODY),
    "RigidBody.capsule": call(sn.RigidBody.capsule, radius=0.1, length=0.2, mass=1.0, **BODY),
    "RigidBody.box, other shape": call(
        sn.RigidBody.box, size=(0.1, 0.1, 0.1), mass=1.0, shape=sn.Capsule(0.1, 0.2), also={"shape": {"none"}}
    ),
    "RigidBody.from_inertia": call(sn.RigidBody.from_inertia, mass=1.0, moments=(0.1, 0.1, 0.1), **BODY),
    "RigidBody.from_mesh": call(sn.RigidBody.from_mesh, vertices=CORNERS, faces=FACES, mass=1.0, **BODY),
    "RigidBody.at": method("box", "at", place=(0.05, 0.0, 0.0)),
    "World.at": call(sn.World.at, place=(0.0, 0.0, 0.0), also={"place": {"thing", "array"}}),
    "WorldPoint": call(sn.WorldPoint, place=(0.0, 0.0, 0.0), also={"place": {"thing", "array"}}),
    "Slider": call(
        sn.Slider,
        rod=Of(lambda kit: kit.rope),
        at=0.6,
        mass=0.01,
        friction=0.1,
        sliding_drag=0.1,
        speed=None,
        name="slider",
        also={"speed": {"number"}},
    ),
    "Pearl": call(
        sn.Pearl,
        rod=Of(lambda kit: kit.rope),
        at=0.6,
        mass=0.01,
        radius=0.01,
        friction=0.1,
        sliding_drag=0.1,
        restitution=0.5,
        speed=None,
        name="pearl",
        also={"speed": {"number"}},
    ),
    # zones
    "Zone.from_mesh": call(
        sn.Zone.from_mesh,
        vertices=CORNERS,
        faces=FACES,
        material=GEL,
        fixed=[0],
        method="bem",
        name="zone",
        also={"fixed": {"array", "number", "empty"}},
    ),
    "Zone.from_tetrahedra": call(
        sn.Zone.from_tetrahedra,
        points=TETRAHEDRON[0],
        cells=TETRAHEDRON[1],
        material=GEL,
        fixed=[0],
        name="zone",
        also={"fixed": {"array", "number", "empty"}},
    ),
    "Zone.with_fixed": method(
        "zone", "with_fixed", fixed=[0, 1, 2], name="zone", also={"fixed": {"array", "number", "empty"}}
    ),
    "Zone.with_material": method("zone", "with_material", material=GEL, name="zone"),
    "Zone.at": method("pad", "at", place=(0.15, 0.1, 0.1), radius=0.2, also={"place": {"number", "array"}}),
    "Zone.solve": method(
        "zone",
        "solve",
        loads={FREE: (0.0, 0.0, -1.0)},
        tractions=None,
        face_tractions=None,
        displacements=None,
        gravity=(0.0, 0.0, -9.81),
        released=[],
        rigid_modes=None,
        also={
            "loads": {"array"},
            "tractions": {"array"},
            "face_tractions": {"array"},
            "displacements": {"array"},
            "released": {"array", "number", "empty"},
            "rigid_modes": {"text"},
        },
    ),
    "Zone.touch": method(
        "zone",
        "touch",
        place=(0.15, 0.1, 0.1),
        displacement=(0.0, 0.0, -1e-3),
        radius=0.2,
        also={"place": {"number", "array"}},
    ),
    "Zone.touch, force": method(
        "zone", "touch", place=FREE, force=(0.0, 0.0, -1.0), also={"place": {"number", "array"}}
    ),
    "Zone.press": method(
        "zone",
        "press",
        shape=sn.Sphere((0.15, 0.1, 0.145), 0.05),
        friction=0.2,
        after=None,
        loads=None,
        tractions=None,
        face_tractions=None,
        throw=False,
        solves=True,
        also={"loads": {"array"}, "tractions": {"array"}, "face_tractions": {"array"}},
    ),
    "ZoneState.plot": call(
        Of(lambda kit: kit.zone.solve(loads={FREE: (0, 0, -1.0)}).plot), axes=None, show="traction", scale=1.0
    ),
    "ZoneChain": call(
        sn.ZoneChain,
        zones=Of(lambda kit: list(chain().zones)),
        seams=Of(lambda kit: [seam.vertices for seam in chain().seams]),
        method="auto",
        rest_poses=None,
        projection=False,
    ),
    "ZoneChain.solve": call(
        Of(lambda kit: chain().solve),
        poses=[sn.Pose(), sn.Pose((0.01, 0, 0))],
        also={key: {"empty"} for key in ("displacements", "tractions", "face_tractions", "loads")},
        loads={0: {FREE: (0, 0, -1.0)}},
        tractions=None,
        face_tractions=None,
        displacements=None,
        gravity=(0.0, 0.0, -9.81),
        method="direct",
    ),
    "ZoneChain.at": call(
        Of(lambda kit: chain().at), zone=0, place=(0.15, 0.1, 0.1), radius=0.2, also={"place": {"number", "array"}}
    ),
    "Scene.add, chain": method(
        "scene",
        "add",
        thing=Of(lambda kit: chain()),
        on=Of(lambda kit: [kit.crate.at(), sn.World.at((0.0, 0.0, 0.0))]),
        skip="thing",  # as in `Scene.add`
    ),
    "ZoneChain.touch": call(
        Of(lambda kit: chain().touch),
        zone=0,
        place=(0.15, 0.1, 0.1),
        poses=[sn.Pose(), sn.Pose()],
        displacement=(0.0, 0.0, -1e-3),
        radius=0.2,
        method="direct",
        also={"place": {"number", "array"}},
    ),
    "ZoneChain.press": call(
        Of(lambda kit: chain().press),
        shape=sn.Sphere((0.15, 0.1, 0.145), 0.05),
        poses=[sn.Pose(), sn.Pose()],
        zone=0,
        friction=0.1,
        after=None,
        method="direct",
        throw=False,
        solves=True,
        also={"zone": {"number", "array"}},
    ),
    "ChainState.positions": call(
        Of(lambda kit: chain().solve([sn.Pose(), sn.Pose()]).positions), world=True, single=False
    ),
}
CALLS |= {
    # constraints and loads
    "Fix": call(sn.Fix, p=Q, target=(0.7, 0.0, 1.0), closing_speed=5.0, **SOFTNESS),
    "Clamp": call(sn.Clamp, p=Q, target=sn.Pose((0.7, 0, 1)), closing_speed=5.0, **ANGULAR),
    "Align": call(
        sn.Align, p=Q, direction=(1.0, 0.0, 0.0), of=P, angular_compliance=1e-6, angular_damping=1e-3, name="tie"
    ),
    "Follow": call(sn.Follow, p=P, path=still, **SOFTNESS),
    "Route": call(
        sn.Route, times=[0.0, 1.0, 2.0], places=[(0, 0, 0), (0, 0, 1), (0, 0, 0)], kind="spline", repeat=True
    ),
    "Route.__call__": call(sn.Route([0.0, 1.0], [(0, 0, 0), (0, 0, 1)]), time=0.5),
    "OnPlane": call(
        sn.OnPlane,
        p=P,
        normal=(0.0, 0.0, 1.0),
        through=(0.0, 0.0, 0.0),
        bound="at_least",
        restitution=0.5,
        of=None,
        also={"of": {"thing"}},
        **SOFTNESS,
    ),
    "OnAxis": call(
        sn.OnAxis, p=P, direction=(0.0, 0.0, 1.0), through=(1.0, 0.0, 0.0), of=None, **SOFTNESS, also={"of": {"thing"}}
    ),
    "OnSphere": call(sn.OnSphere, p=P, centre=(0.0, 0.0, 0.0), radius=1.2, bound="at_most", **SOFTNESS, also=PLACE),
    "OnCircle": call(
        sn.OnCircle, p=P, centre=(0.0, 0.0, 0.5), normal=(0.0, 0.0, 1.0), radius=1.0, **SOFTNESS, also=PLACE
    ),
    "Ball": call(sn.Ball, p=P, q=Q, **SOFTNESS),
    "Distance": call(sn.Distance, p=P, q=Q, length=0.6, bound="at_most", restitution=0.5, **SOFTNESS),
    "Fuse": call(sn.Fuse, p=P, q=Q, align=True, closing_speed=5.0, **ANGULAR),
    "Lock": call(sn.Lock, p=P, q=Q, closing_speed=5.0, **ANGULAR),
    "Hinge": call(
        sn.Hinge,
        p=P,
        q=Q,
        axis=(0.0, 0.0, 1.0),
        limits=(-1.0, 1.0),
        motor=sn.Motor(0.1, 1.0, 1.0),
        **ANGULAR,
        also={"motor": {"number", "thing"}},
    ),
    "Prismatic": call(
        sn.Prismatic,
        p=P,
        q=Q,
        axis=(0.0, 0.0, 1.0),
        motor=0.1,
        **ANGULAR,
        also={"motor": {"number", "thing"}},
    ),
    "Screw": call(sn.Screw, p=P, q=Q, axis=(0.0, 0.0, 1.0), lead=0.01, **ANGULAR),
    "Motor": call(sn.Motor, speed=0.1, max_torque=1.0, max_force=1.0),
    "Keyhole": call(
        sn.Keyhole,
        rod=Of(lambda kit: kit.rope),
        at=0.5,
        hole=Of(lambda kit: sn.World.at((0.5, 0, 1))),
        direction=(1.0, 0.0, 0.0),
        friction=0.1,
        sliding_drag=0.1,
        speed=None,
        **SOFTNESS,
        also={"hole": {"thing", "array"}, "speed": {"number"}},
    ),
    "Needle": call(
        sn.Needle,
        thread=Of(lambda kit: kit.rope.at(1.0)),
        tissue=Of(lambda kit: kit.pad),
        length=0.05,
        radius=0.02,
        thickness=2e-3,
        piercing=1.0,
        cutting=0.2,
        friction=20.0,
        emerging=1.5,
        thread_friction=0.1,
        grip=2.0,
        patch=0.2,
        holes=1,
        normal=(0.0, 1.0, 0.0),
        density=7850.0,
        name="needle",
        also={"tissue": {"thing"}},
    ),
    "Needle.at": method("needle", "at", s=0.01),
    "Nest": call(
        sn.Nest, tubes=Of(lambda kit: kit.tubes()), holes=4, friction=0.1, name="nest", also={"holes": {"none"}}
    ),
    "Nest.advance": method("nest", "advance", i=1, length=-0.01),
    "Nest.turn": method("nest", "turn", i=1, radians=0.3),
    "Needle.way_in": method("needle", "way_in", hole=Of(lambda kit: kit.needle._made[0])),
    "Cable": call(
        sn.Cable,
        points=Of(lambda kit: [sn.World.at((0, 0, 4)), kit.box.at()]),
        section=ROPE,
        material=STEEL,
        length=3.0,
        torsion=True,
        damping=0.01,
        twist_damping=0.01,
        stepping="spook",
        breaking_load=1e4,
        longest=50.0,
        around=Of(lambda kit: [(kit.ball, 0.2)]),
        friction=0.3,
        eyelet_friction=0.0,
        name="cable",
    ),
    "Cable, by stiffness": call(
        sn.Cable,
        points=Of(lambda kit: [sn.World.at((0, 0, 4)), kit.box.at()]),
        stretch_stiffness=1e4,
        twist_stiffness=1.0,
    ),
    "Cable.drive": method("cable", "drive", speed=0.1, slip=0.1, max_pull=100.0),
    "Cable.path": method("cable", "path", points_per_span=9),
    "Sheave": call(
        sn.Sheave,
        at=Of(lambda kit: sn.World.at((0, 0, 4))),
        axis=(0.0, 1.0, 0.0),
        radius=0.1,
        inertia=0.1,
        friction=0.2,
        fixed=False,
        turns=1,
    ),
    "Load": call(sn.Load, point=P, force=(0.0, 0.0, 1.0), torque=(0.0, 0.0, 0.1), follower=True, name="load"),
    # scenes
    "Scene": call(sn.Scene, gravity=(0.0, 0.0, -9.81), drag=0.1, integrator="bdf2", name="scene"),
    "Scene.add": method(
        "scene", "add", thing=Of(lambda kit: gel().with_material(GEL)), on=Of(lambda kit: kit.crate.at()), weight=False
    ),
    "Scene.remove": method("scene", "remove", thing=Of(lambda kit: kit.load)),
    "Scene.collide": method(
        "scene",
        "collide",
        first=Of(lambda kit: kit.rope),
        second=Of(lambda kit: kit.wall),
        itself=False,
        friction=0.3,
        static_friction=0.4,
        restitution=0.1,
        margin=1e-3,
        rolling_friction=1e-3,
        twisting_friction=1e-3,
    ),
    "Scene.ignore": method("scene", "ignore", first=Of(lambda kit: kit.rope), second=Of(lambda kit: kit.box)),
    "SceneContacts.between": method(
        "contacts", "between", first=Of(lambda kit: kit.rope), second=Of(lambda kit: kit.wall)
    ),
    "Scene.step": method("scene", "step", dt=1e-3, solves=True),
    "Scene.run": method("scene", "run", duration=2e-3, dt=1e-3, each=repr, solves=True, skip="each"),
    "Scene.settle": method("scene", "settle", max_iterations=5, tolerance=1e-3, throw=False, solves=True),
    "Scene.displace": method("scene", "displace", increments=Of(lambda kit: np.zeros(kit.scene.dofs))),
    "Scene.restore": method("scene", "restore", snapshot=Of(lambda kit: kit.snapshot)),
    "Scene.save": method("plain", "save", path=Of(lambda kit: kit.file("kit.npz"))),
    "Scene.load": call(sn.Scene.load, path=Of(lambda kit: kit.scene_file)),
    "Scene.write": method("told", "write", path=Of(lambda kit: kit.file("kit.toml"))),
    "Scene.read": call(sn.Scene.read, path=Of(lambda kit: kit.text_file)),
    "Scene.plot": method("scene", "plot", axes=None, skip="axes", rods=Of(lambda kit: [kit.rope])),
    # many scenes
    "Batch": call(
        sn.Batch,
        scene=Of(lambda kit: kit.plain),
        count=2,
        device="cpu",
        dtype="float64",
        threads=1,
        also={"threads": {"none"}},
    ),
    "Batch.step": method("batch", "step", dt=1e-3, n=2, lead="hold"),
    "Batch.run": method("batch", "run", duration=2e-3, dt=1e-3),
    "Batch.set": method(
        "batch", "set", thing=Of(lambda kit: kit.held[2]), name="target", values=((0.0, 0.0, 1.0),) * 2
    ),
    "Batch.vary": method(
        "batch",
        "vary",
        thing=Of(lambda kit: kit.held[1]),
        name="density",
        values=(900.0, 1100.0),
        also={"values": {"number"}},
    ),
    "Batch.read": method("batch", "read", thing=Of(lambda kit: kit.held[2]), name="reached", also={"name": {"text"}}),
    "Batch.positions": method("batch", "positions", thing=Of(lambda kit: kit.held[1])),
    "Batch.velocities": method("batch", "velocities", thing=Of(lambda kit: kit.held[1])),
    "Batch.angular_velocities": method("batch", "angular_velocities", thing=Of(lambda kit: kit.held[1].at(0.5))),
    "Batch.centerline": method("batch", "centerline", rod=Of(lambda kit: kit.held[1]), count=9),
    "Batch.frames": method("batch", "frames", thing=Of(lambda kit: kit.held[1].at(0.5))),
    "Batch.forces": method("batch", "forces", constraint=Of(lambda kit: kit.held[2])),
    "Batch.torques": method("batch", "torques", constraint=Of(lambda kit: kit.held[2])),
    "Batch.reset": method("batch", "reset", mask=(True, False), also={"mask": {"none", "array"}}),
    "Batch.restore": method(
        "batch", "restore", snapshot=Of(lambda kit: kit.batch.save()), mask=(0, 1), also={"mask": {"none", "array"}}
    ),
    "Batch.scene": method("batch", "scene", i=1),
    "Batch.rollout": method(
        "batch",
        "rollout",
        targets=Of(lambda kit: {kit.held[2]: ((0.0, 0.0, 1.0),)}),
        dt=1e-3,
        every=1,
        observe=len,
        lead="hold",
        skip="observe",
    ),
    "sweep": call(
        sn.sweep,
        function=len,
        parameters=("a", "bc"),
        executor=None,
        progress=False,
        keep=None,
        skip="keep function parameters",
        also={"parameters": {"text", "array", "thing"}},
    ),
    "Scene.control": method("scene", "control", name="winch", act=len, value=0.5, range=(0.0, 1.0), unit="m/s"),
    "Scene.control, menu": method("scene", "control", name="rope", act=len, value="b", choices=["a", "b"]),
    "Scene.control, text": method("scene", "control", name="word", act=len, value="b"),
    "Scene.show": method("scene", "show", name="score", read=str),
    "Scene.scenario": method("scene", "scenario", name="far", begin=str),
    "Scene.watch": method("scene", "watch", name="height", read=float, unit="m"),
    "Scene.decorate": method(
        "scene",
        "decorate",
        vertices=CORNERS,
        faces=FACES,
        on=Of(lambda kit: kit.box.at()),
        colour=(10, 20, 30),
        face_colours=[(1, 2, 3)] * 4,
        smooth=False,
        opacity=0.5,
        instead=False,
        name="hull",
    ),
    "Control.use": method("control", "use", value=0.5),
    "Control.use, switch": method("switch", "use", value=True),
    # pages, recordings and hands
    "record": call(
        sn.record,
        scene=Of(lambda kit: kit.scene),
        seconds=0.02,
        path=Of(lambda kit: kit.file("film.npz")),
        dt=0.01,
        fps=100.0,
        before_step=None,
        progress=False,
        solves=True,
        also={"before_step": {"function"}, "path": {"none"}},
    ),
    "read_curve": call(
        sn.read_curve,
        path=Of(lambda kit: kit.route_file),
        unit="m",
        columns=("x", "y", "z"),
        layer=None,
    ),
    "read_mechanism": call(
        sn.read_mechanism,
        path=Of(lambda kit: kit.robot_file),
        pose=sn.Pose(),
        start={"knee": 0.1},
        motors={"knee": 0.2},
        also={"pose": {"none"}, "start": {"none"}, "motors": {"none"}},
    ),
    "Mechanism.at": method("mechanism", "at", link="b", place=(0.0, 0.0, 0.1)),
    "Mechanism.add_to": method("mechanism", "add_to", scene=Of(lambda kit: kit.scene)),
    "Clock": call(
        sn.Clock,
        scene=Of(lambda kit: kit.scene),
        dt=0.01,
        longest=0.1,
        before_step=None,
        also={"before_step": {"function"}},
    ),
    "Clock.advance": method("clock", "advance", seconds=0.02, also={"seconds": {"none"}}),
    "Recording.track": method("recording", "track", part=0),
    "Recording.write": method("recording", "write", path=Of(lambda kit: kit.file("again.npz")), progress=False),
    "Hair": call(
        sn.Hair,
        roots=[(0.0, 0.0, 0.1)],
        directions=[(0.0, 0.0, 1.0)],
        length=0.2,
        section=ROPE,
        material=SOFT,
        control_points=6,
        stiffness=[1.0],
        rest_curvature=(0.0, 1.0),
        head=Of(lambda kit: sn.Sphere((0, 0, 0), 0.1)),
        pose=sn.Pose(),
        gravity=(0.0, 0.0, -1.0),
        drag=1.0,
        wind=(0.1, 0.0, 0.0),
        friction=0.3,
        tolerance=1e-3,
        device="cpu",
        dtype="float64",
        threads=1,
        also={"tolerance": {"none"}, "threads": {"none"}},
    ),
    "Hair.step": method("hair", "step", dt=1e-3, n=1),
    "Hair.reset": method("hair", "reset", mask=[True, False], also={"mask": {"none"}}),
    "Hair.centerlines": method("hair", "centerlines", count=5),
    "DistanceGrid": call(sn.DistanceGrid, values=np.ones((2, 2, 2)), origin=(0.0, 0.0, 0.0), spacing=0.1),
    "DistanceGrid.of": call(
        sn.DistanceGrid.of,
        shape=Of(lambda kit: sn.Sphere((0, 0, 0), 0.1)),
        spacing=0.05,
        margin=0.1,
        also={"margin": {"none"}},
    ),
    "view": call(
        sn.view,
        scene=Of(lambda kit: kit.scene),
        before_step=None,
        dt=0.01,
        port=0,
        host="127.0.0.1",
        browser=False,
        block=False,
        title="kit",
        skip="browser block",
        also={"before_step": {"function"}},
    ),
    "ScriptedDevice": call(
        sn.ScriptedDevice,
        path=still,
        seconds=0.01,
        rate=1000.0,
        times=None,
        repeat=False,
        also={"path": {"array", "function"}},
    ),
    "ScriptedDevice, times": call(
        sn.ScriptedDevice, path=[(0.0, 0, 0), (1.0, 0, 0)], times=(0.0, 0.01), rate=1000.0, repeat=True
    ),
    "MouseDevice": call(sn.MouseDevice, smoothing=0.02, rate=1000.0),
    "MouseDevice.move": call(
        Of(lambda kit: sn.MouseDevice().move), position=(0.1, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0)
    ),
    "SpaceMouseDevice": call(sn.SpaceMouseDevice, speed=0.1, turn_speed=1.0, rate=1000.0),
    "ForceDimensionDevice": call(sn.ForceDimensionDevice, index=0),
    "HaplyDevice": call(sn.HaplyDevice, port="COM3"),
    "OpenHapticsDevice": call(sn.OpenHapticsDevice, also={"name": {"none"}}, name="Default Device"),
    "HapticLoop": call(
        sn.HapticLoop,
        subject=Of(lambda kit: kit.scene),
        device=Of(lambda kit: sn.ScriptedDevice(still, 0.01)),
        coupling=sn.VirtualCoupling(100.0),
        grip=Of(lambda kit: kit.grip),
        rate=1000.0,
        seconds=0.01,
        realtime=False,
        max_force=5.0,
        max_torque=0.1,
        frame=sn.Pose(),
        scale=1.0,
        force_scale=1.0,
        base=None,
        gravity=None,
        reach=None,
        also={"frame": {"thing", "text"}, "realtime": {"flag", "text"}, "device": {"function"}},
    ),
    "DeviceState": call(sn.DeviceState, pose=sn.Pose(), velocity=np.zeros(6), buttons=(True,), engaged=True),
}

SETTINGS: dict[str, tuple[str, Any]] = {
    "Scene.name": ("scene", "kit"),
    "Scene.gravity": ("scene", (0.0, 0.0, -1.0)),
    "Scene.drag": ("scene", 0.5),
    "Scene.integrator": ("scene", "bdf2"),
    "Rod.control_points": ("rope", Of(lambda kit: kit.rope.control_points)),
    "Rod.control_velocities": ("rope", np.zeros((6, 3))),
    "Rod.rolls": ("rope", np.zeros(6)),
    "Rod.section": ("rope", sn.Section.circle(6e-3)),
    "Rod.material": ("rope", SOFT),
    "Rod.properties": ("cord", sn.Properties(EA=2e3, EI=0.4, GJ=0.3, mass=0.15, radius=4e-3)),
    "Rod.damping": ("rope", 0.02),
    "Rod.breaking_load": ("cord", 1e9),
    "Rod.breaking_curvature": ("cord", 1e9),
    "Hair.drag": ("hair", 2.0),
    "Hair.friction": ("hair", 0.4),
    "Hair.gravity": ("hair", (0.0, 0.0, -2.0)),
    "Hair.wind": ("hair", (0.0, 1.0, 0.0)),
    "Hair.pose": ("hair", sn.Pose((0.0, 0.0, 0.01))),
    "Rod.rest_curvature": ("rope", (0.0, 1.0)),
    "Rod.rest_twist": ("rope", 0.5),
    "Rod.roll_rates": ("rope", np.zeros(6)),
    "RigidBody.mass": ("box", 2.0),
    "RigidBody.inertia": ("box", (0.02, 0.03, 0.04)),
    "RigidBody.pose": ("box", sn.Pose((1, 0, 0.5))),
    "RigidBody.position": ("box", (1.0, 0.0, 0.5)),
    "RigidBody.velocity": ("box", (0.0, 0.1, 0.0)),
    "RigidBody.angular_velocity": ("box", (0.0, 0.1, 0.0)),
    "Slider.sliding_velocity": ("slider", 0.1),
    "Slider.friction": ("slider", 0.2),
    "Pearl.friction": ("pearl", 0.2),
    "Pearl.sliding_velocity": ("pearl", 0.1),
    "WorldPoint.position": ("anchor", (3.0, 0.0, 2.0)),
    "WorldPoint.pose": ("anchor", sn.Pose((3, 0, 2))),
    "Fix.target": ("fix", (0.0, 1.0, 1.0)),
    "Clamp.target": ("clamp", sn.Pose((0, 0, 1))),
    "Clamp.compliance": ("clamp", 1e-5),
    "Clamp.damping": ("clamp", 1e-5),
    "Clamp.angular_compliance": ("clamp", 1e-5),
    "Clamp.angular_damping": ("clamp", 1e-5),
    "Clamp.enabled": ("clamp", False),
    "Clamp.closing_speed": ("clamp", 5.0),
    "Distance.length": ("distance", 0.5),
    "OnSphere.radius": ("track", 4.0),
    "Hinge.motor_speed": ("hinge", 0.2),
    "Needle.piercing": ("needle", 1.0),
    "Needle.cutting": ("needle", 0.2),
    "Needle.friction": ("needle", 20.0),
    "Nest.enabled": ("nest", False),
    "Cable.length": ("cable", 2.0),
    "Cable.damping": ("cable", 1.0),
    "Cable.compliance": ("cable", 1e-3),
    "Cable.angular_damping": ("cable", 1.0),
    "Cable.angular_compliance": ("cable", 1e-3),
    "Cable.enabled": ("cable", False),
    "Cable.friction": ("cable", 0.0),
    "Cable.eyelet_friction": ("cable", 0.0),
    "Cable.pull": ("cable", 3.0),
    "Sheave.friction": ("sheave", 0.2),
    "Obstacle.position": ("wall", (0.1, 0.0, 0.0)),
    "Obstacle.pose": ("wall", sn.Pose((0.1, 0, 0))),
    "Obstacle.surface_velocity": ("wall", (0.1, 0.0, 0.0)),
    "Obstacle.path": ("wall", still),
    "SceneContacts.friction": ("contacts", 0.4),
    "SceneContacts.static_friction": ("contacts", 0.5),
    "SceneContacts.restitution": ("contacts", 0.1),
    "SceneContacts.margin": ("contacts", 1e-3),
    "SceneContacts.rolling_friction": ("contacts", 1e-3),
    "SceneContacts.twisting_friction": ("contacts", 1e-3),
    "ContactPair.friction": ("pair", Of(lambda kit: kit.pair.friction)),
    "ContactPair.static_friction": ("pair", Of(lambda kit: kit.pair.static_friction)),
    "ContactPair.restitution": ("pair", Of(lambda kit: kit.pair.restitution)),
    "ContactPair.margin": ("pair", Of(lambda kit: kit.pair.margin)),
    "ContactPair.rolling_friction": ("pair", Of(lambda kit: kit.pair.rolling_friction)),
    "ContactPair.twisting_friction": ("pair", Of(lambda kit: kit.pair.twisting_friction)),
    "Load.force": ("load", (0.0, 0.0, 2.0)),
    "Load.torque": ("load", (0.0, 0.0, 2.0)),
    "Load.enabled": ("load", False),
}

SETTING_ALSO = {"WorldPoint.position": {"thing"}, "Clamp.target": {"array"}, "Obstacle.path": {"none"},
                "Sheave.friction": {"none"}, "Cable.pull": {"none"}}  # fmt: skip
SETTING_ALSO |= {
    f"ContactPair.{name}": {"none"}
    for name in ("friction", "static_friction", "restitution", "margin", "rolling_friction", "twisting_friction")
}

SETTING_ALSO |= {f"Rod.breaking_{name}": {"none"} for name in ("load", "curvature")}
SETTING_ALSO["SceneContacts.static_friction"] = {"none"}
SETTING_ALSO |= {"Rod.rest_curvature": PROFILE, "Rod.rest_twist": PROFILE}
MADE_BY_THE_PACKAGE = {
    "ChainPressState", "ChainState", "ChainTouchState", "Contact", "ContactPair", "Event", "PressState", "RodEnergy",
    "SceneContacts", "SceneEnergy", "SettleReport", "Snapshot", "SolveError", "SolveReport", "StepReport", "Recording",
    "StrandEnergy", "StrandState", "View", "ZoneState", "Control", "Readout", "Watch", "Decor", "DeviceLost",
    "InputError", "HapticDevice", "World", "Point", "BatchSnapshot", "SweepFailure",
    "Mechanism",
}  # fmt: skip
"""Answers, errors and protocols: nobody gives them arguments, or a user's class stands in for them."""
