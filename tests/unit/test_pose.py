"""Poses compose, apply and invert like homogeneous matrices, and never change."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sennit.errors import InputError
from sennit.geometry import Pose, quaternion_to_matrix

coordinates = st.floats(-10.0, 10.0)
quaternions = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 1e-3)
poses = st.builds(Pose, st.tuples(coordinates, coordinates, coordinates), quaternions)


def homogeneous(pose: Pose) -> np.ndarray:
    """The (4, 4) matrix of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.position
    return matrix


def test_default_is_the_world() -> None:
    pose = Pose()
    np.testing.assert_array_equal(pose.position, np.zeros(3))
    np.testing.assert_array_equal(pose.quaternion, (1, 0, 0, 0))
    np.testing.assert_array_equal(pose.rotation, np.eye(3))


def test_quaternion_is_scalar_first_and_normalised() -> None:
    pose = Pose((1, 2, 3), (5, 0, 0, 5))
    np.testing.assert_allclose(pose.quaternion, (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), rtol=1e-15)
    np.testing.assert_allclose(pose.rotation, ((0, -1, 0), (1, 0, 0), (0, 0, 1)), atol=1e-15)
    np.testing.assert_allclose(pose @ (1, 0, 0), (1, 3, 3), atol=1e-15)


@given(poses, poses)
def test_composition(a: Pose, b: Pose) -> None:
    np.testing.assert_allclose(homogeneous(a @ b), homogeneous(a) @ homogeneous(b), atol=2e-14)
    assert np.linalg.norm((a @ b).quaternion) == pytest.approx(1.0, abs=4e-16)


@given(poses)
def test_inverse(pose: Pose) -> None:
    np.testing.assert_allclose(homogeneous(pose.inverse() @ pose), np.eye(4), atol=2e-14)
    np.testing.assert_allclose(homogeneous(pose @ pose.inverse()), np.eye(4), atol=2e-14)


@given(poses)
def test_rotation_agrees_with_the_vectorised_function(pose: Pose) -> None:
    np.testing.assert_array_equal(pose.rotation, quaternion_to_matrix(pose.quaternion))
    assert pose.rotation is pose.rotation


@given(poses)
def test_from_rotation(pose: Pose) -> None:
    again = Pose.from_rotation(pose.position, pose.rotation)
    np.testing.assert_array_equal(again.position, pose.position)
    np.testing.assert_allclose(again.rotation, pose.rotation, atol=2e-15)


@given(poses)
def test_rebuilding_from_its_own_numbers_changes_nothing(pose: Pose) -> None:
    again = Pose(pose.position, pose.quaternion)
    assert again == pose
    np.testing.assert_array_equal(again.quaternion, pose.quaternion)
    assert eval(repr(pose)) == pose


def test_points() -> None:
    pose = Pose((1, 2, 3), (1, 2, 3, 4))
    points = np.random.default_rng(5).normal(size=(7, 3))
    moved = pose @ points
    assert moved.shape == (7, 3)
    for point, image in zip(points, moved, strict=True):
        np.testing.assert_allclose(image, pose.rotation @ point + pose.position, rtol=1e-14)
        np.testing.assert_allclose(pose @ point, image, rtol=1e-14)
    assert (pose @ np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("points", [(1, 2), np.ones((3, 4)), "abc", None, (np.nan, 0, 0), np.ones((2, 2, 3))], ids=repr)
def test_refuses_other_points(points: object) -> None:
    with pytest.raises(InputError, match="^points must "):
        Pose() @ points  # type: ignore[operator]


def test_an_array_times_a_pose_is_an_error() -> None:
    with pytest.raises(TypeError):
        np.ones((3, 3)) @ Pose()


class TestAlong:
    @given(st.tuples(coordinates, coordinates, coordinates).filter(lambda v: math.hypot(*v) > 1e-3))
    def test_axes(self, tangent: tuple[float, float, float]) -> None:
        pose = Pose.along((1, 2, 3), tangent)
        d1, d2, d3 = pose.rotation.T
        np.testing.assert_allclose(d3, np.array(tangent) / math.hypot(*tangent), atol=3e-15)
        np.testing.assert_allclose(np.cross(d1, d2), d3, atol=3e-15)
        if math.hypot(tangent[0], tangent[1]) > 1e-6:
            # d2 is in the plane of tangent and up, on the side of up.
            assert abs(d1[2]) < 1e-9
            assert d2[2] > 0.0

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_vertical_tangent_turns_d2_to_x(self, sign: float) -> None:
        pose = Pose.along((0, 0, 0), (0, 0, sign))
        np.testing.assert_allclose(pose.rotation[:, 1], (1, 0, 0), atol=1e-15)
        np.testing.assert_allclose(pose.rotation[:, 2], (0, 0, sign), atol=1e-15)

    def test_up_along_x_turns_d2_to_z(self) -> None:
        np.testing.assert_allclose(Pose.along((0, 0, 0), (2, 0, 0), up=(3, 0, 0)).rotation[:, 1], (0, 0, 1), atol=1e-15)

    def test_refuses_zero(self) -> None:
        with pytest.raises(InputError, match="^tangent must be a vector that is not zero"):
            Pose.along((0, 0, 0), (0, 0, 0))
        with pytest.raises(InputError, match="^up must be a vector that is not zero"):
            Pose.along((0, 0, 0), (0, 0, 1), up=(0, 0, 0))


class TestImmutable:
    def test_arrays_are_read_only(self) -> None:
        pose = Pose((1, 2, 3), (1, 2, 3, 4))
        for values in (
            pose.position,
            pose.quaternion,
            pose.rotation,
            (pose @ pose).position,
            pose.inverse().quaternion,
        ):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 0.0

    def test_attributes_can_not_be_set(self) -> None:
        pose = Pose()
        for name in ("position", "quaternion", "rotation", "_position", "other"):
            with pytest.raises(AttributeError, match="never changes"):
                setattr(pose, name, np.zeros(3))
        with pytest.raises(AttributeError, match="never changes"):
            del pose._position

    def test_the_callers_arrays_are_copied(self) -> None:
        position, quaternion = np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0))
        pose = Pose(position, quaternion)
        position[0], quaternion[0] = 5.0, 0.0
        assert pose == Pose()

    def test_copies_and_pickles(self) -> None:
        pose = Pose((1, 2, 3), (1, 2, 3, 4))
        for again in (copy.copy(pose), copy.deepcopy(pose), pickle.loads(pickle.dumps(pose))):
            assert again == pose
            assert not again.position.flags.writeable
            assert not again.quaternion.flags.writeable

    def test_trusted_takes_its_arrays_over(self) -> None:
        position, quaternion = np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0))
        pose = Pose._trusted(position, quaternion)
        assert pose.position is position
        assert not position.flags.writeable
        assert pose == Pose()


def test_equality_and_hash() -> None:
    pose = Pose((1, 2, 3), (0, 1, 2, 3))
    opposite = Pose((1, 2, 3), (0, -1, -2, -3))
    assert pose == opposite
    assert hash(pose) == hash(opposite)
    assert Pose((0.0, 0, 0)) == Pose((-0.0, 0, 0))
    assert hash(Pose((0.0, 0, 0))) == hash(Pose((-0.0, 0, 0)))
    assert pose != Pose((1, 2, 3), (0, 1, 2, 3.0001))
    assert pose != Pose((1, 2, 3.0001), (0, 1, 2, 3))
    assert pose != "pose"
    assert len({pose, opposite, Pose()}) == 2


@pytest.mark.parametrize(
    ("position", "quaternion", "named"),
    [
        ((0, 0), (1, 0, 0, 0), "position"),
        ((0, 0, np.nan), (1, 0, 0, 0), "position"),
        ((0, 0, 0), (0, 0, 0, 0), "quaternion"),
        ((0, 0, 0), (1, 0, 0), "quaternion"),
        ((0, 0, 0), (1, 0, 0, np.inf), "quaternion"),
        ((0, 0, 0), np.eye(3), "quaternion"),
        (None, (1, 0, 0, 0), "position"),
    ],
)
def test_bad_input(position: object, quaternion: object, named: str) -> None:
    with pytest.raises(InputError, match=f"^{named} must "):
        Pose(position, quaternion)  # type: ignore[arg-type]


def test_from_rotation_refuses_what_is_no_rotation() -> None:
    with pytest.raises(InputError, match="^matrix must be a rotation matrix"):
        Pose.from_rotation((0, 0, 0), np.diag((1.0, 1.0, 1.1)))
