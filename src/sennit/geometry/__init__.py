"""Poses and rotations."""

from __future__ import annotations

from sennit.geometry.pose import Pose
from sennit.geometry.rotations import (
    matrix_to_quaternion,
    quaternion_conjugate,
    quaternion_product,
    quaternion_rotate,
    quaternion_to_matrix,
    rotation_between,
    rotation_exp,
    rotation_log,
    slerp,
)

__all__ = [
    "Pose",
    "matrix_to_quaternion",
    "quaternion_conjugate",
    "quaternion_product",
    "quaternion_rotate",
    "quaternion_to_matrix",
    "rotation_between",
    "rotation_exp",
    "rotation_log",
    "slerp",
]
