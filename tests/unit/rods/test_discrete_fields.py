"""What is read off a discrete rod, against a helix's closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.discrete import fields
from sennit.bodies.rod.discrete.model import DISCRETE

MATERIAL = sn.Material(1e6, 0.3, 1000.0)
SECTION = sn.Section.rectangle(0.02, 0.03)
RADIUS, CLIMB, TURN = 0.4, 0.15, 2.0  # a helix of 2 rad
SIZE = RADIUS**2 + CLIMB**2


def helix(x):
    return np.column_stack((RADIUS * np.cos(x), RADIUS * np.sin(x), CLIMB * x))


def twisted_helix(edges, twist=0.7):
    """A rod on a helix whose section turns by `twist` (rad/m) against the transported frame, with twist in u1 too."""
    x = np.linspace(0.0, TURN, edges + 1)
    tables = DISCRETE.tables(helix(x), SECTION, MATERIAL, straight=True)
    q, bend = tables.rest.copy(), tables.bend
    # Half of the twist in the rolls, half in the reference vectors: the fields must not depend on how it is shared.
    s = tables.length / edges * (np.arange(edges) + 0.5)
    q[:-1, 3] = 0.5 * twist * s
    angle = (0.5 * twist * s)[:, None]
    u1 = bend.reference.copy()
    bend.reference[:] = np.cos(angle) * u1 + np.sin(angle) * np.cross(bend.tangent, u1)
    DISCRETE.carry_frames(0, tables.kind, q.ravel(), bend, bend)
    return tables, q, bend


def errors(edges, count=23):
    tables, q, bend = twisted_helix(edges)
    u = fields.stations(tables, count)
    x = np.linspace(0.0, TURN, count)
    # In Frenet's frame u1 of the transported frame turns by −torsion, the section by the twist on top.
    start = twisted_start(tables)
    angle = start + (0.7 - CLIMB / SIZE) * np.sqrt(SIZE) * x
    t = np.column_stack((-RADIUS * np.sin(x), RADIUS * np.cos(x), np.full(count, CLIMB))) / np.sqrt(SIZE)
    normal = -np.column_stack((np.cos(x), np.sin(x), 0 * x))
    d1 = np.cos(angle)[:, None] * normal + np.sin(angle)[:, None] * np.cross(t, normal)
    d2 = np.cross(t, d1)
    curved = RADIUS / SIZE * np.cross(t, normal)  # t × t′
    wanted = np.column_stack((np.sum(curved * d1, axis=1), np.sum(curved * d2, axis=1), np.full(count, 0.7)))
    return (
        np.max(np.abs(fields.centerline(q, u) - helix(x))),
        np.max(np.abs(fields.frames(tables, q, bend, u) - np.stack((d1, d2, t), axis=2))),
        np.max(np.abs(fields.curvatures(tables, q, bend, u) - wanted)),
    )


def twisted_start(tables):
    """Angle of d1 against the normal at the start, where d2 is as near to z as it can be."""
    t, normal = np.array((0, RADIUS, CLIMB)) / np.sqrt(SIZE), np.array((-1.0, 0, 0))
    d1 = np.cross((0, 0, 1.0), t)
    d1 /= np.linalg.norm(d1)
    return math.atan2(d1 @ np.cross(t, normal), d1 @ normal)


def test_fields_of_a_helix_converge_at_order_two():
    levels = np.array([errors(edges) for edges in (20, 40, 80)])
    assert np.all(levels[-1] < (2e-4, 1e-3, 2e-3))
    assert np.min(np.log2(levels[:-1] / levels[1:])) > 1.8


def test_frames_are_rotations_at_nodes_and_between():
    tables, q, bend = twisted_helix(12)
    frames = fields.frames(tables, q, bend, fields.stations(tables, 37))
    np.testing.assert_allclose(np.einsum("kij,kil->kjl", frames, frames), np.tile(np.eye(3), (37, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(frames), 1.0, rtol=1e-13)
    # Continuous where the nearest edge changes.
    u = np.array((4.0 - 1e-9, 4.0 + 1e-9))
    before, after = fields.references(tables, q, bend, u)
    np.testing.assert_allclose(before, after, atol=2e-3 * np.linalg.norm(before))


def test_tension_and_radius():
    nodes = np.linspace((0, 0, 0), (1.0, 0, 0), 11)
    tables = DISCRETE.tables(nodes, SECTION, MATERIAL)
    q = tables.rest.copy()
    # x → x + 0.01 x²: strain 0.02 x at x, exact in the middles and linear between.
    q[:, 0] += 0.01 * q[:, 0] ** 2
    x = np.linspace(0.0, 1.0, 21)
    np.testing.assert_allclose(
        fields.tensions(tables, q, fields.stations(tables, 21)),
        MATERIAL.youngs_modulus * SECTION.area * 0.02 * x,
        atol=1e-9,
    )
    np.testing.assert_allclose(fields.centerline(q, fields.stations(tables, 11))[:, 0], q[:, 0], atol=1e-15)
    assert fields.minimum_bend_radius(tables, q, tables.bend) == math.inf
    tables, q, bend = twisted_helix(40)
    assert fields.minimum_bend_radius(tables, q, bend) == pytest.approx(SIZE / RADIUS, rel=2e-3)
