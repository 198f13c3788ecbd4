"""Positions, forces, moments and strains along a strand from its nodal rotations and segment forces.

Strains differentiated from the rotations are of order 2 only; those of the moments, integrated by statics from the
tip, are of the declared order, and the base moment is then exactly what the discrete balance says. So the moments are
computed first and the strains follow from the law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sennit.cosserat.law.fields import strains_from_stress
from sennit.cosserat.problem import Problem
from sennit.geometry.rotations import quaternion_conjugate, quaternion_product, quaternion_rotate, rotation_log
from sennit.validation import FloatArray

__all__ = ["Fields", "Slots", "fields_of", "slots_of"]


@dataclass(frozen=True, slots=True)
class Fields:
    """A solved strand at its nodes, in the kernels' units; forces and moments in the world frame.

    At a point load the value is the one just before it, on the base's side.
    """

    positions: FloatArray
    forces: FloatArray
    moments: FloatArray
    curvatures: FloatArray
    stretches: FloatArray


@dataclass(frozen=True, slots=True)
class Slots:
    """What the elements' energies are made of, at their three slots (elements, 3, …)."""

    weights: FloatArray
    """Of the position quadrature (elements, 3)."""
    strain_weights: FloatArray
    """Of the strain energy (elements, 3)."""
    u: FloatArray
    """Curvature strain u − û as the discrete energy sees it."""
    v: FloatArray
    """Stretch v: shear along d1 and d2, and stretch."""
    b: FloatArray
    """Internal force, body frame."""
    n: FloatArray
    """Internal force, world frame."""
    tangents: FloatArray
    """R v, world frame."""
    logs: FloatArray
    """Rotation vectors a and c of the elements' halves, (elements, 2, 3)."""


def slots_of(problem: Problem, q: FloatArray, lam: FloatArray, load_n: FloatArray | None = None) -> Slots:
    """Evaluate the slots; `load_n` replaces the problem's known forces (where followers have changed them)."""
    Q = _slot_quaternions(problem, q)
    h = problem.h[:, None]
    n = (problem.load_n if load_n is None else load_n) + lam[problem.plan.segment][:, None, :]
    b = quaternion_rotate(quaternion_conjugate(Q), n)
    if problem.stride == 2:
        a = rotation_log(quaternion_product(quaternion_conjugate(Q[:, 0]), Q[:, 1]))
        c = rotation_log(quaternion_product(quaternion_conjugate(Q[:, 1]), Q[:, 2]))
        ca = 0.5 * np.cross(c, a)
        u = np.stack(((3 * a - c + ca) / h, (a + c) / h, (3 * c - a + ca) / h), axis=1)
        strain_weights = problem.h[:, None] * np.array((1.0, 4.0, 1.0)) / 6.0
        w = strain_weights.copy()
        if problem.law.linear:
            end = problem.h * _end_weight(0.25 * np.sum((a + c) ** 2, axis=1))
            w = np.stack((end, problem.h - 2 * end, end), axis=1)
    else:
        a = rotation_log(quaternion_product(quaternion_conjugate(Q[:, 0]), Q[:, 2]))
        c = np.zeros_like(a)
        u = np.stack((a / h, a / h, a / h), axis=1)
        strain_weights = h * (np.array((0.0, 1.0, 0.0)) if problem.order == 2 else np.array((1.0, 0.0, 0.0)))
        w = h * (np.array((0.5, 0.0, 0.5)) if problem.order == 2 else np.array((1.0, 0.0, 0.0)))
    u = u - problem.rest_u
    v = problem.rest_v + _stretch_strain(problem, u, b)
    return Slots(w, strain_weights, u, v, b, n, quaternion_rotate(Q, v), np.stack((a, c), axis=1))


def _slot_quaternions(problem: Problem, q: FloatArray) -> FloatArray:
    if problem.stride == 2:
        return np.stack((q[:-2:2], q[1:-1:2], q[2::2]), axis=1)
    return np.stack((q[:-1], q[:-1], q[1:]), axis=1)


def _stretch_strain(problem: Problem, u: FloatArray, b: FloatArray) -> FloatArray:
    law = problem.law
    if not law.extensible:
        return np.zeros_like(b)
    if law.linear and problem.varied is None:
        return np.asarray(b @ law.C)
    varied = None if problem.varied is None else problem.varied.in_a_row()
    rows = u.reshape(-1, 3), b.reshape(-1, 3)
    return strains_from_stress(law, *rows, given_curvature=True, varied=varied)[1].reshape(b.shape)


def _end_weight(y: FloatArray) -> FloatArray:
    """ω of ``element.kernels.omega`` for arrays."""
    theta = np.sqrt(np.clip(y, 1e-8, 9.0))
    large = (1.0 - np.sin(theta) / theta) / (2.0 - 2.0 * np.cos(theta))
    small = 1 / 6 + y * (1 / 180 + y * (1 / 5040 + y * (1 / 151200 + y / 4790016)))
    return np.where(y < 0.01, small, large)


def fields_of(
    problem: Problem, q: FloatArray, slots: Slots, start: FloatArray, tip_moment: FloatArray, extra: FloatArray
) -> Fields:
    """Fields at the nodes; `start` is the position of the first node, `tip_moment` the moment in the last section.

    `extra` (nodes, 3) is the moment that distributed and point torques add: those beyond each node, world frame.
    """
    t, n, h = slots.tangents, slots.n, problem.h[:, None]
    chords = np.sum(slots.weights[..., None] * t, axis=1)
    turning = np.cross(t, n)
    turns = np.sum(slots.weights[..., None] * turning, axis=1)
    at_ends = start + np.concatenate((np.zeros((1, 3)), np.cumsum(chords, axis=0)))
    moment_ends = tip_moment + np.concatenate((np.cumsum(turns[::-1], axis=0)[::-1], np.zeros((1, 3))))
    # just before each end: the last slot of the element before it (the first slot at the base)
    force_ends = np.concatenate((n[:1, 0], n[:, 2]))
    if problem.stride == 2:
        positions, moments, forces = (np.empty((len(q), 3)) for _ in range(3))
        positions[::2], moments[::2], forces[::2] = at_ends, moment_ends, force_ends
        positions[1::2] = at_ends[:-1] + _half_chords(problem, q, slots)
        half = h / 24.0 * (-turning[:, 0] + 8.0 * turning[:, 1] + 5.0 * turning[:, 2])
        moments[1::2] = moment_ends[1:] + half
        forces[1::2] = n[:, 1]
    else:
        positions, moments, forces = at_ends, moment_ends, force_ends
    moments = moments + extra
    conjugate = quaternion_conjugate(q)
    m, b = quaternion_rotate(conjugate, moments), quaternion_rotate(conjugate, forces)
    u, v = strains_from_stress(problem.law, m, b, varied=problem.at_nodes())
    rest_u, rest_v = problem.rest_at_nodes()
    return Fields(positions, forces, moments, u + rest_u, v + rest_v)


def _half_chords(problem: Problem, q: FloatArray, slots: Slots) -> FloatArray:
    """∫R v from an element's start to its middle: exact on a helix, of order 4 otherwise (Magnus, end samples)."""
    a = slots.logs[:, 0]
    half = 0.5 * problem.h[:, None]
    u = slots.u + problem.rest_u
    v = slots.v
    quarter = (3.0 * v[:, 0] + 6.0 * v[:, 1] - v[:, 2]) / 8.0
    mean = half / 6.0 * (v[:, 0] + 4.0 * quarter + v[:, 1])
    bracket = np.cross(u[:, 0], v[:, 1]) - np.cross(u[:, 1], v[:, 0])
    translation = mean + half**2 / 12.0 * bracket
    x = np.sum(a * a, axis=1, keepdims=True)
    angle = np.sqrt(np.maximum(x, 1e-30))
    small = x < 1e-4
    k1 = np.where(small, 0.5 - x / 24.0 + x * x / 720.0, (1.0 - np.cos(angle)) / np.maximum(x, 1e-30))
    k2 = np.where(small, 1 / 6 - x / 120.0 + x * x / 5040.0, (angle - np.sin(angle)) / np.maximum(x * angle, 1e-30))
    at = np.cross(a, translation)
    return quaternion_rotate(q[:-2:2], translation + k1 * at + k2 * np.cross(a, at))
