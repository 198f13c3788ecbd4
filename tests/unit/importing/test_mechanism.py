"""Mechanisms from URDF and MJCF files, compared with MuJoCo itself: places, motion, torques that hold still."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from references.mechanism_families import random_mjcf

import sennit as sn
from sennit.geometry.rotations import quaternion_to_matrix

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'sennit[mechanisms]'")

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base">
    <inertial><origin xyz="0 0 0.05"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.06" length="0.1"/></geometry></collision>
  </link>
  <link name="upper">
    <inertial><origin xyz="0 0.02 0.2" rpy="0.3 0.2 0.1"/><mass value="1.2"/>
      <inertia ixx="0.02" iyy="0.018" izz="0.003" ixy="0.001" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.05 0.06 0.4"/></geometry></collision>
  </link>
  <link name="fore">
    <inertial><origin xyz="0 0 0.15"/><mass value="0.7"/><inertia ixx="0.006" iyy="0.006" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="slider">
    <inertial><mass value="0.2"/><inertia ixx="0.0006" iyy="0.0006" izz="0.0001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="weight">
    <inertial><mass value="0.3"/><inertia ixx="0.0006" iyy="0.0006" izz="0.0001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tool0"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1" rpy="0 0 0.2"/>
    <axis xyz="0 1 0"/><limit lower="-1.5" upper="2.0" effort="10" velocity="3"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4" rpy="0 0.5 0"/>
    <axis xyz="0 1 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="fore"/><child link="slider"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="0.1" effort="10" velocity="3"/></joint>
  <joint name="bolt" type="fixed"><parent link="slider"/><child link="weight"/><origin xyz="0.05 0 0"/></joint>
  <joint name="flange" type="fixed"><parent link="slider"/><child link="tool0"/><origin xyz="0 0 0.05" rpy="0 1 0"/></joint>
</robot>
"""  # noqa: E501
FREE = ARM.replace('type="revolute"', 'type="continuous"').replace('lower="0" upper="0.1"', 'lower="-9" upper="9"')
START = {"shoulder": 0.4, "elbow": -0.7, "slide": 0.03}
LINKS = ("base", "upper", "fore", "slider", "weight", "tool0")
RIG = """<mujoco model="rig"><compiler angle="degree"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 0.2"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 -1" euler="10 0 0"/>
    <geom type="box" size="0.1 0.2 0.3" pos="2 0 0"/>
    <body name="buoy" pos="1 1 1" euler="20 30 40"><freejoint/>
      <geom type="ellipsoid" size="0.1 0.2 0.3" mass="2"/>
      <geom type="sphere" size="0.05" pos="0 0 0.4" mass="0.1"/></body>
    <body name="bob" pos="0 0 1"><joint name="socket" type="ball" pos="0 0 0.5"/>
      <geom type="capsule" fromto="0 0 -0.2 0 0.1 0.3" size="0.03" density="500"/>
      <body pos="0 0 -0.4"><joint type="hinge" axis="1 0 0" range="-30 60" ref="10"/>
        <geom type="mesh" mesh="wedge" density="800"/>
        <geom type="box" size="1 1 1" mass="0" contype="0" conaffinity="0"/></body></body>
  </worldbody>
</mujoco>
"""


def model_of(text: str):
    spec = mujoco.MjSpec.from_string(text)
    spec.compiler.fusestatic = False
    return spec.compile()


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def placed(model, start: dict[str, float]):
    data = mujoco.MjData(model)
    for name, value in start.items():
        data.joint(name).qpos[0] = value
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("start", [{}, START, {"shoulder": -1.5, "slide": 0.1}])
def test_all_bodies_are_where_mujoco_has_them(arm: Path, start: dict[str, float], validated) -> None:
    where = sn.Pose((3, -1, 2), (0.9, 0.1, -0.3, 0.2))
    mechanism = sn.read_mechanism(arm, start=start, pose=where)
    model = model_of(ARM)
    data = placed(model, start)
    errors = [0.0]
    for link in LINKS:
        point = mechanism.at(link, (0.1, -0.2, 0.3))
        frame = data.body(link).xmat.reshape(3, 3)
        errors.append(np.abs(point.position - where @ (data.body(link).xpos + frame @ (0.1, -0.2, 0.3))).max())
    for name, body in mechanism.bodies.items():
        own = data.body(name)
        errors.append(np.abs(body.position - where @ own.xipos).max())
        turn = own.ximat.reshape(3, 3)
        world = where.rotation @ turn @ np.diag(model.body(name).inertia) @ turn.T @ where.rotation.T
        ours = body.pose.rotation @ body.inertia @ body.pose.rotation.T
        errors.append(np.abs(ours - world).max())
        assert body.mass == model.body(name).mass[0]
    validated("Mechanisms from URDF", area="rigid bodies", quantity="places of links, inertia, m and kg·m²",
              reference="MuJoCo: kinematics of the same file", error=max(errors), bound=1e-14 * 50)  # fmt: skip
    assert set(mechanism.bodies) == {*LINKS} - {"tool0"} and mechanism.left_out == ()
    kinds = {name: type(joint).__name__ for name, joint in mechanism.joints.items()}
    assert kinds == {"base": "Clamp", "shoulder": "Hinge", "elbow": "Hinge", "slide": "Prismatic", "weight": "Lock"}


def test_an_arm_that_falls_moves_as_in_mujoco(tmp_path: Path, validated) -> None:
    """RK4 of MuJoCo at 1 and at 0.25 ms differ by 1.1e-11 m. Ours is of order 4: 16 times less from 4 to 2 ms."""
    (tmp_path / "free.urdf").write_text(FREE)
    model = model_of(FREE)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = placed(model, START)
    for _ in range(400):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    errors = []
    for dt in (8e-3, 4e-3, 2e-3):
        arm = sn.read_mechanism(tmp_path / "free.urdf", start=START)
        scene = sn.Scene(integrator="fourth")
        assert arm.add_to(scene) is arm
        scene.run(0.4, dt)
        errors.append(max(np.abs(body.position - data.body(name).xipos).max() for name, body in arm.bodies.items()))
        assert not scene.events
    assert np.abs(data.body("weight").xipos - placed(model, START).body("weight").xipos).max() > 0.2
    validated("Mechanisms from URDF", area="rigid bodies", quantity="places of a falling arm after 0.4 s, m",
              reference="MuJoCo: RK4 in steps of 1 ms", error=errors[-1], bound=errors[0] / 16)  # fmt: skip


def test_motors_that_hold_still_pull_as_inverse_statics_say(arm: Path, validated) -> None:
    hold = sn.Motor(0.0, max_torque=1e4, max_force=1e4)
    mechanism = sn.read_mechanism(arm, start=START, motors={"shoulder": hold, "elbow": hold, "slide": hold})
    scene = sn.Scene(gravity=(0, 0, -9.81))
    mechanism.add_to(scene)
    scene.settle()
    model = model_of(ARM)
    model.opt.gravity[:] = (0, 0, -9.81)
    data = placed(model, START)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT  # links overlap where they meet
    data.qacc[:] = 0.0
    mujoco.mj_inverse(model, data)
    efforts = np.array([mechanism.joints[name].motor_effort for name in ("shoulder", "elbow", "slide")])
    # what settles is balanced to about 1e-9 of its weights, 35 N on levers of a metre
    validated("Mechanisms from URDF", area="rigid bodies", quantity="efforts that hold an arm, N·m and N",
              reference="MuJoCo: inverse dynamics at rest", error=np.abs(efforts - data.qfrc_inverse).max(),
              bound=1e-6)  # fmt: skip
    assert np.abs(efforts).min() > 0.5


def test_limits_stop_where_the_file_says(arm: Path) -> None:
    mechanism = sn.read_mechanism(arm, start=START)
    scene = sn.Scene(gravity=(0, 0, -9.81), integrator="euler")
    mechanism.add_to(scene)
    scene.run(3.0, 5e-3)
    shoulder, slide = mechanism.joints["shoulder"], mechanism.joints["slide"]
    assert -1.9 - 1e-6 <= shoulder.angle <= 1.6 + 1e-6 and abs(shoulder.angle) > 1.5  # from 0.4
    assert -0.03 - 1e-6 <= slide.displacement <= 0.07 + 1e-6


def test_an_mjcf_file_has_balls_free_bodies_shapes_and_obstacles(tmp_path: Path) -> None:
    path = tmp_path / "rig.xml"
    path.write_text(RIG)
    rig = sn.read_mechanism(path)
    model = model_of(RIG)
    data = placed(model, {})
    assert list(rig.bodies) == ["buoy", "bob", "body 3"] and list(rig.joints) == ["socket", "body 3 hinge"]
    for number, body in enumerate(rig.bodies.values(), 1):
        assert np.allclose(body.position, data.xipos[number], atol=1e-14)
        assert body.mass == pytest.approx(model.body_mass[number])
    assert isinstance(rig.joints["socket"], sn.Ball) and rig.name == "rig" and rig.left_out == ()
    assert np.allclose(rig.joints["socket"].points[0].position, (0, 0, 1.5))
    # angles are counted from where the file has them, 10°
    low, high = rig.joints["body 3 hinge"]._rows.target[5:7]
    assert np.allclose((low, high), np.radians((-40, 50)))
    kinds = {name: [type(shape).__name__ for shape in body.shapes] for name, body in rig.bodies.items()}
    assert kinds == {
        "buoy": ["Mesh", "Sphere"],
        "bob": ["Capsule"],
        "body 3": ["Mesh"],
    }  # not the box that is only seen
    floor, block = rig.obstacles
    assert floor.name == "floor" and np.allclose(floor.shape.normal, quaternion_to_matrix(model.geom_quat[0])[:, 2])
    assert block.shape.signed_distance((2, 0, 0.3)) == pytest.approx(0.0, abs=1e-12)
    # places on the surfaces of MuJoCo's shapes lie on ours, in the world
    buoy = rig.bodies["buoy"]
    tip = data.geom_xpos[2] + data.geom_xmat[2].reshape(3, 3) @ (0, 0, 0.3)
    assert buoy.shapes[0].moved(buoy.pose).signed_distance(tip) == pytest.approx(0.0, abs=1e-9)
    wedge = rig.bodies["body 3"].shapes[0].moved(rig.bodies["body 3"].pose)
    assert np.allclose(wedge.signed_distance(data.xpos[3] + [(0, 0, 0), (0.1, 0, 0), (0, 0, 0.2)]), 0.0, atol=1e-7)


def test_a_scene_of_a_mechanism_is_saved_and_runs_on_with_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "rig.xml").write_text(RIG)
    scene = sn.Scene()
    rig = sn.read_mechanism(tmp_path / "rig.xml").add_to(scene)
    scene.collide(rig.bodies["buoy"], rig.obstacles[0], friction=0.3)
    scene.run(0.2, 5e-3)
    scene.save(tmp_path / "rig.npz")
    other = sn.Scene.load(tmp_path / "rig.npz")
    for each in (scene, other):
        each.run(0.5, 5e-3)
    for mine, theirs in zip(scene.bodies, other.bodies, strict=True):
        assert np.array_equal(mine.position, theirs.position) and np.array_equal(mine.inertia, theirs.inertia)


def test_a_tool_is_dragged_and_jerked(arm: Path) -> None:
    scene = sn.Scene(gravity=(0, 0, -9.81))
    mechanism = sn.read_mechanism(arm, start=START).add_to(scene)
    tool = mechanism.at("tool0")
    assert np.allclose(tool.position, placed(model_of(ARM), START).body("tool0").xpos, atol=1e-14)
    hand = scene.add(sn.Fix(tool, compliance=1e-3, damping=5.0))
    for k in range(120):
        hand.target = (0.5 * np.sin(0.2 * k), 0.5 * np.cos(0.3 * k), 0.3 + 0.3 * (k % 40 > 20))
        scene.step(1 / 60)
    assert max(np.abs(joint.violation).max() for name, joint in mechanism.joints.items() if name == "base") < 1e-6
    assert np.isfinite(mechanism.bodies["weight"].position).all()
    scene.remove(mechanism.joints["base"])  # a base is free once its clamp is gone
    scene.remove(hand)
    before = mechanism.bodies["base"].position[2]
    scene.run(0.3, 5e-3)
    assert mechanism.bodies["base"].position[2] < before - 0.1


def test_all_or_nothing_comes_into_a_scene(arm: Path) -> None:
    mechanism, scene = sn.read_mechanism(arm), sn.Scene()
    mechanism.add_to(scene)
    other = sn.Scene()
    with pytest.raises(sn.InputError, match="in another scene"):
        mechanism.add_to(other)
    assert other.bodies == () and len(scene.bodies) == 5
    late = sn.read_mechanism(arm)
    other.add(late.bodies["weight"])
    with pytest.raises(sn.InputError):
        late.add_to(other)
    assert other.bodies == (late.bodies["weight"],) and other.constraints == ()
    with pytest.raises(sn.InputError, match=r"scene must be a sennit\.Scene, got 3"):
        late.add_to(3)  # type: ignore[arg-type]


def test_what_nothing_was_made_of_is_listed(tmp_path: Path) -> None:
    text = RIG.replace('range="-30 60"', 'range="-30 60" damping="0.1" stiffness="2" frictionloss="1"')
    text = text.replace("</mujoco>", '<actuator><motor joint="k"/></actuator></mujoco>').replace(
        '<joint type="hinge"', '<joint name="k" type="hinge"'
    )
    (tmp_path / "rig.xml").write_text(text.replace('size="0.05" pos="0 0 0.4" mass="0.1"', 'size="0.05" mass="0.1"'))
    rig = sn.read_mechanism(tmp_path / "rig.xml")
    told = "; ".join(rig.left_out)
    assert told == (
        "the damping of the joint 'k'; the friction of the joint 'k'; the spring of the joint 'k'; 1 actuators"
    )


def test_open_meshes_become_their_hulls(tmp_path: Path) -> None:
    import trimesh

    ball = trimesh.creation.icosphere(2)
    (tmp_path / "meshes").mkdir()
    trimesh.Trimesh(ball.vertices, ball.faces[ball.triangles_center[:, 2] < 0]).export(tmp_path / "meshes" / "bowl.stl")
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    mesh = '<geometry><mesh filename="package://some/meshes/bowl.stl"/></geometry>'
    link = f'<link name="a"><inertial><mass value="1"/>{inertia}</inertial><collision>{mesh}</collision></link>'
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "a.urdf").write_text(f'<robot name="r">{link}</robot>')  # laid out as packages of ROS are
    [body] = sn.read_mechanism(tmp_path / "urdf" / "a.urdf").bodies.values()
    [hull] = body.shapes
    assert hull.moved(body.pose).signed_distance((0, 0, -0.1)) == pytest.approx(-0.1, abs=1e-3)


def test_files_that_include_others_are_one(tmp_path: Path) -> None:
    def model(name: str, include: str = "") -> str:
        joint = f'<joint name="j{name}" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/>'
        return f'<mujoco>{include}<worldbody><body name="{name}">{joint}</body></worldbody></mujoco>'

    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "deep.xml").write_text(model("c"))
    (tmp_path / "all.xml").write_text(model("a", '<include file="parts/more.xml"/>'))
    for name in ("deep.xml", "parts/deep.xml"):  # MuJoCo looks in both folders
        (tmp_path / "parts" / "more.xml").write_text(model("b", f'<include file="{name}"/>'))
        assert set(sn.read_mechanism(tmp_path / "all.xml").bodies) == {"a", "b", "c"}


def test_random_trees_of_joints_move_as_in_mujoco(tmp_path: Path, validated) -> None:
    """Free and hung, on hinges, slides, balls and fixed joints. In steps of 1 ms forty of them were 1.4e-10 m off at
    most, and the error is of order 4: 16 times that in steps of 2 ms.
    """
    path, errors = tmp_path / "tree.xml", [0.0]
    for seed in range(10):
        text = random_mjcf(Random(seed), limits=False)
        path.write_text(text)
        model = model_of(text)
        model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 5e-4
        data = placed(model, {})
        tree, scene = sn.read_mechanism(path), sn.Scene(integrator="fourth")
        tree.add_to(scene)
        assert all(np.array_equal(body.position, data.body(name).xipos) for name, body in tree.bodies.items())
        for _ in range(200):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        scene.run(0.1, 2e-3)
        errors += [np.abs(body.position - data.body(name).xipos).max() for name, body in tree.bodies.items()]
    validated("Mechanisms from MJCF", area="rigid bodies", quantity="places of ten random trees after 0.1 s, m",
              reference="MuJoCo: RK4 in steps of 0.5 ms", error=max(errors), bound=16 * 1.4e-10)  # fmt: skip
