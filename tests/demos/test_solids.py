"""Solids for the painter: they face outwards, close, and lie where they should."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("PIL.Image")
painting = pytest.importorskip("sennit.export.painting")
solids = pytest.importorskip("sennit.export.solids")


def outward(facets, centre: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def]
    return np.einsum("ij,ij->i", facets.normals, facets.corners.mean(axis=1) - centre)


def test_a_tube_follows_its_curve() -> None:
    t = np.linspace(0.0, 2.0, 40)
    line = np.column_stack((np.cos(t), np.sin(t), 0.3 * t))
    colours = np.column_stack((np.linspace(0, 200, 40), 0 * t, 0 * t))
    facets = solids.tube(line, 0.05, colours, sides=12)
    assert len(facets.corners) == 39 * 12 + 2 * 12 == len(facets.colours)
    assert facets.colours[0, 0] < facets.colours[38 * 12, 0]
    distance = np.linalg.norm(facets.corners[: 39 * 12].reshape(-1, 1, 3) - line, axis=2).min(axis=1)
    assert distance == pytest.approx(0.05, rel=1e-6)
    side = facets.corners[: 39 * 12].mean(axis=1)
    nearest = line[np.linalg.norm(side[:, None] - line, axis=2).argmin(axis=1)]
    assert (np.einsum("ij,ij->i", facets.normals[: 39 * 12], side - nearest) > 0.0).all()


def test_a_closed_tube_meets_itself() -> None:
    t = np.linspace(0.0, 2.0 * np.pi, 60)
    line = np.column_stack((np.cos(t), np.sin(t) * (1.0 + 0.2 * np.sin(t)), 0.3 * np.sin(2.0 * t)))
    first, second = solids.parallel_axes(line, closed=True)
    assert np.allclose(first[0], first[-1], atol=1e-12) and np.allclose(second[0], second[-1], atol=1e-12)
    turns = np.einsum("ij,ij->i", first[:-1], first[1:])
    assert turns.min() > 0.9  # no jump anywhere
    assert len(solids.tube(line, 0.05, (1, 2, 3), sides=8, closed=True).corners) == 59 * 8  # and no caps


def test_a_ball_is_round() -> None:
    centre = np.array((1.0, 2.0, 3.0))
    facets = solids.ball(centre, 0.5, (9, 9, 9), sides=16)
    assert np.linalg.norm(facets.corners - centre, axis=2).max() == pytest.approx(0.5, rel=1e-6)
    assert (outward(facets, centre) > 0.0).all()


def test_bars_and_boards_lie_between_their_ends() -> None:
    start, end = np.array((0.0, 0.0, 1.0)), np.array((2.0, 1.0, 1.0))
    for facets in (
        solids.bar(start, end, 0.1, (1, 1, 1)),
        solids.board(start, end, (0, 1, 0), (0.2, 0.02), (1, 1, 1)),
    ):
        assert facets.corners.reshape(-1, 3).mean(axis=0) == pytest.approx((start + end) / 2.0)
        assert (outward(facets, (start + end) / 2.0) > 0.0).all()


def test_the_ramp_runs_from_blue_to_red() -> None:
    colours = solids.ramp([-1.0, 0.0, 0.5, 1.0, 2.0], 0.0, 1.0)
    assert np.allclose(colours[0], colours[1]) and np.allclose(colours[3], colours[4])
    assert colours[0, 2] > colours[0, 0] and colours[-1, 0] > colours[-1, 2]
    assert solids.ramp([1.0], 1.0, 1.0).shape == (1, 3)


def test_a_floor_stays_before_the_camera() -> None:
    camera = painting.Camera((0, -1, 1), (0, 0, 0), size=(100, 100), width=1.0)
    ground = solids.floor(camera, (-50, -50), (50, 50))
    assert camera.project(ground)[1].min() > 0.1
    assert np.all(ground[:, 2] == 0.0) and ground[:, 1].max() == 50.0
    whole = solids.floor(camera, (-1, 0), (1, 1))
    assert len(whole) == 4
