"""What people do with scenes, strands and shapes beyond a first step, once and in small: wheels carry its machine code.

`pack_kernels` runs it after the first steps of all groups. Without it a wheel would make its first step at once, and
then wait at the first `settle`, the first sheave or the first reading of a force. A test holds that every kernel which
Python calls is rehearsed, or why not.
"""

from __future__ import annotations

import numpy as np

from sennit.batch.batch import Batch
from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.strand.strand import Strand
from sennit.bodies.world import World
from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.place import Clamp, Fix
from sennit.contact.obstacle import Obstacle
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Plane, Sphere
from sennit.linalg.order import dissected, graph_of
from sennit.material import Material, Section
from sennit.scene.moving import INTEGRATORS
from sennit.scene.scene import Scene, _small_scene
from sennit.solve.kernels.accept import stand_still
from sennit.solve.table import SceneTable

__all__ = ["USUAL"]

_ROPE, _HEMP = Section.circle(0.01), Material(1e7, 0.4, 1000.0)


def _read(scene: Scene) -> list[object]:
    """What there is to read of a scene, and to set."""
    found: list[object] = [scene.energy, scene.linear_momentum]
    for constraint in scene.constraints:
        found += (constraint.force, constraint.violation, constraint.jacobian())
    for body in scene.bodies:
        if isinstance(body, Rod):
            point = body.at(0.3 * body.length)
            found += (point.velocity, point.jacobian(), point.frame, body.energy, body.curvatures(), body.tensions())
            body.set_shape(body.control_points)
        elif isinstance(body, RigidBody):
            found += (body.at((0.0, 0.0, 0.0)).velocity, body.at((0.0, 0.0, 0.0)).jacobian())
            body.position = body.position
        elif isinstance(body, Slider):
            found += (body.s, body.sliding_velocity)
    scene.displace(np.zeros(scene._compiled().system.dofs))
    scene.restore(scene.snapshot())
    return found


def _every_way(scene: Scene) -> None:
    """Rest, and motion by every scheme."""
    scene.settle(throw=False)
    scene.run(2e-3, dt=1e-3)
    _read(scene)
    for integrator in INTEGRATORS:
        scene.integrator = integrator
        scene.run(2e-3, dt=1e-3)


def _discrete_rod() -> None:
    scene = Scene()
    rod = scene.add(
        Rod.straight((0, 0, 0), (1, 0, 0), section=_ROPE, material=_HEMP, control_points=6, model="discrete")
    )
    scene.add(Clamp(rod.at(0.0)))
    _every_way(scene)


def _wire() -> None:
    """One that yields."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    metal = Material(1e9, 0.3, 1000.0, yield_stress=1e7)
    wire = scene.add(Rod.straight((0, 0, 0), (1, 0, 0), section=_ROPE, material=metal, control_points=6))
    scene.add(Clamp(wire.at(0.0)))
    scene.settle(throw=False)


def _hoist() -> None:
    """A cable over a sheave, and one that rubs on a post."""
    scene = Scene()
    load = scene.add(RigidBody.box((1, 1, 1), mass=10.0, position=(3, 0, 0.5)))
    drum = scene.add(RigidBody.cylinder(0.3, 1.0, mass=10.0, position=(1.5, 0, 8)))
    scene.add(Clamp(drum.at((0, 0, 0))))
    wheel = Sheave(World.at((2.8, 0, 6)), axis=(0, 1, 0), radius=0.2)
    points: list[Point | Sheave] = [World.at((0, 0, 1)), wheel, load.at((0, 0, 0.5))]
    cable = scene.add(Cable(points, section=Section.circle(5e-3), material=Material(1e9, 0.3, 7850), around=[drum]))
    post = scene.add(RigidBody.cylinder(0.3, 1.0, mass=10.0, position=(1.5, 5, 2)))
    scene.add(Clamp(post.at((0, 0, 0))))
    ends: list[Point | Sheave] = [World.at((0, 5.1, 2)), World.at((3, 5.1, 2))]
    rubbing = scene.add(Cable(ends, stretch_stiffness=1e4, around=[post], friction=0.3))
    scene.settle(throw=False)
    cable.drive(speed=-0.1)
    scene.run(2e-3, dt=1e-3)
    _ = rubbing.wraps
    _read(scene)


def _large_scene() -> None:
    """What only scenes of hundreds of bodies need: an order of elimination by dissection."""
    plan = _small_scene()._compiled().system.plan(False)
    dissected(plan.block_start, plan.block_kind, graph_of(plan.block_start, plan.row, plan.col))


def _last_resort() -> None:
    """A step that can't be made."""
    stand_still.prepare(SceneTable)


def _strands() -> None:
    plain = Strand(0.25, section=Section.circle(2e-4), material=Material(2.7e9, 0.39, 1150.0), nodes=9)
    state = plain.solve(base=Pose(), tip_force=(0, 1e-4, 0), gravity=(0, 0, -9.81), throw=False)
    goal = Pose((0.2, 0, 0.1), (1, 0, 0, 0))
    state = plain.solve(base=Pose(), tip=goal, guess=state, throw=False)
    _ = state.energy, state.tip_force, state.stable
    plain.equilibria(base=Pose(), tip=goal)
    plain.solve(base=Pose(), tip_force=(0, 1e-5, 0), method="shooting", throw=False)
    curved = Strand(1.0, stiffness=np.eye(6), rest_curvature=(0.3, 0, 0), nodes=5)
    curved.solve(base=Pose(), tip_force=(0.1, 0, 0), throw=False)
    sections = [Section.circle(2e-4), Section.circle(1e-4)]
    varied = Strand(0.25, section=sections, material=Material(2.7e9, 0.39, 1150.0), nodes=9)
    varied.solve(base=Pose(), tip_force=(0, 1e-5, 0), follower=True)
    varied.solve(base=Pose(), tip_force=(0, 1e-5, 0), method="shooting", throw=False)


def _shapes() -> None:
    Sphere((0, 0, 0), 1.0).signed_distance([(0.0, 0.0, 2.0)])


def _contact() -> None:
    """A box on a floor."""
    scene = Scene()
    scene.add(Obstacle(Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))))
    scene.add(RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0.0, 0.0, 0.1)))
    scene.collide()
    scene.step(1e-3)
    scene.settle(throw=False)


def _batches() -> None:
    """Two scenes at once: of a rope, and of a box on a floor."""
    hung, pressed = Scene(), Scene()
    rope = hung.add(Rod.straight((0, 0, 0), (1, 0, 0), section=_ROPE, material=_HEMP, control_points=6))
    held = hung.add(Clamp(rope.at(0.0)))
    pressed.add(Obstacle(Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))))
    box = pressed.add(RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0.0, 0.0, 0.1)))
    tie = pressed.add(Fix(box.at(), compliance=1.0))
    pressed.collide()
    for scene, constraint in ((hung, held), (pressed, tie)):
        batch = Batch(scene, 2)
        batch.step(1e-3, 2)
        batch.forces(constraint)
        batch.energies()


USUAL = (
    lambda: _every_way(_small_scene()), _discrete_rod, _wire, _hoist, _large_scene, _last_resort, _strands, _shapes,
    _contact, _batches,
)  # fmt: skip
"""Steps for `pack_kernels`."""
