"""Where recordings are looked at from."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.export.framing import boxes_of, drift_of, fitting_eye, room_of
from sennit.export.recording import Recording
from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid

CUBE = 0.1 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
FACES = np.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5)])


def moving(path: np.ndarray) -> Recording:
    cast = Cast([Solid(name="cube", colour=(90, 90, 90), vertices=CUBE, faces=FACES)])
    frames = np.zeros((len(path), cast.size))
    frames[:, 0], frames[:, 1:4], frames[:, 4] = 1.0, path, 1.0
    return Recording(cast, np.arange(len(path)) / 30.0, frames, 30.0)


def seen(recording: Recording, slopes: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """How far to the side and up the cube's corners are in the picture, in parts of its half sizes, over all frames."""
    eye, target = fitting_eye(recording, slopes)
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0, 0, 1), back) / np.linalg.norm(np.cross((0, 0, 1), back))
    points = (recording.track(0).position - drift_of(recording))[:, None] + CUBE - eye
    depth = -points @ back
    assert (depth > 0).all()
    return points @ right / depth / slopes[0], points @ np.cross(back, right) / depth / slopes[1]


@pytest.mark.parametrize("far", [0.2, 0.35, 20.0])
def test_all_is_in_the_picture_and_fills_it(far: float) -> None:
    path = np.outer(np.linspace(0, 1, 31), (far, 0.3 * far, -0.5 * far))
    x, y = seen(moving(path), (0.5, 0.3))
    assert max(np.abs(x).max(), np.abs(y).max()) == pytest.approx(1.0, abs=0.12)
    assert np.abs(x).max() < 1.001 and np.abs(y).max() < 1.001


def test_a_camera_moves_along_with_what_goes_far() -> None:
    fall = np.column_stack((np.zeros(61), np.zeros(61), -4.9 * (np.arange(61) / 30) ** 2))
    drift = drift_of(moving(fall))
    assert np.abs(drift - fall).max() < 0.2  # the cube: it is smoothed over five frames, the last ones 0.65 m apart
    assert not drift_of(moving(0.01 * fall)).any()
    low, high = room_of(moving(fall))
    assert high[2] == pytest.approx(0.1) and low[2] == pytest.approx(-4.9 * 4 - 0.1)
    assert np.ptp(boxes_of(moving(fall)).reshape(-1, 3), axis=0)[2] < 0.2 + 2 * 0.2


def test_a_camera_that_is_given_stays() -> None:
    fall = np.column_stack((np.zeros(61), np.zeros(61), -4.9 * (np.arange(61) / 30) ** 2))
    still = moving(fall)
    given = Recording(still.cast, still.times, still.frames, 30.0, camera=(np.ones(3), np.zeros(3)))
    assert not drift_of(given).any()
    eye, target = fitting_eye(given, (0.5, 0.3))
    assert np.array_equal(eye, np.ones(3)) and np.array_equal(target, np.zeros(3))
