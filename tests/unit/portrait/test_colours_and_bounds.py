"""Colours of numbers, and where a picture is looked at from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sennit.errors import InputError
from sennit.portrait.bounds import bounds, camera_for
from sennit.portrait.cast import Cast
from sennit.portrait.colours import CABLES, RODS, SOLIDS, field_range, palette, shade
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.portrait.solids import box


def luminance(colours: Any) -> Any:
    """Perceived lightness L* of sRGB colours."""
    c = np.asarray(colours, dtype=np.float64) / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    y = linear @ (0.2126, 0.7152, 0.0722)
    return np.where(y > 0.008856, 116.0 * np.cbrt(y) - 16.0, 903.3 * y)


def test_amounts_become_lighter_all_the_way() -> None:
    light = luminance(palette("amount"))
    assert np.all(np.diff(light[::8]) > 0.0)
    assert light[-1] - light[0] > 60.0


def test_signed_colours_are_lightest_at_zero_and_alike_on_both_sides() -> None:
    light = luminance(palette("signed"))
    assert light.argmax() in (127, 128)
    assert np.all(np.diff(light[:127:8]) > 0.0)
    assert np.all(np.diff(light[128::8]) < 0.0)
    assert np.abs(light - light[::-1]).max() < 12.0


def test_unknown_palette() -> None:
    with pytest.raises(InputError, match="'rainbow'"):
        palette("rainbow")


def test_shade_takes_the_ends_beyond_its_range() -> None:
    amount, signed = palette("amount"), palette("signed")
    assert np.array_equal(shade((-1.0, 0.0, 2.0, 9.0), 0.0, 2.0), amount[[0, 0, 255, 255]])
    assert np.array_equal(shade((-2.0, 0.0, 2.0), -2.0, 2.0), signed[[0, 128, 255]])
    assert shade(np.zeros(5), 0.0, 0.0).shape == (5, 3)
    assert shade((math.nan,), 0.0, 1.0).dtype == np.uint8


def test_bodies_stand_out_from_white_and_from_black() -> None:
    for colour in (*RODS, *SOLIDS, *CABLES):
        assert 35.0 < luminance(colour) < 75.0


def rope_and_skin() -> tuple[Cast, Any]:
    """A tube from (1, 0, 0) to (1, 0, 2) and a triangle."""
    cast = Cast(
        (
            Tube(name="a", colour=(0, 0, 0), count=3, half=(0.1, 0.1), fields=("tension", "twist")),
            Surface(name="b", colour=(0, 0, 0), count=3, faces=np.array([[0, 1, 2]]), fields=("displacement",)),
        )
    )
    frame = np.zeros(cast.size)
    tube, skin = cast.views(frame)
    tube.shown[0] = skin.shown[0] = 1.0
    tube.centres[:] = ((1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (1.0, 0.0, 2.0))
    skin.vertices[:] = ((0.0, 0.0, 0.0), (0.0, -3.0, 0.0), (0.5, 0.0, 0.0))
    return cast, frame


def test_field_range_is_symmetric_only_for_what_has_a_sign() -> None:
    cast, frame = rope_and_skin()
    tube, skin = cast.views(frame)
    tube.fields["tension"][:] = (5.0, 2.0, -0.01)
    tube.fields["twist"][:] = (1.0, -3.0, 0.0)
    skin.fields["displacement"][:] = (0.0, 0.2, 0.1)
    assert field_range(cast, frame, "tension") == (0.0, 5.0)
    assert field_range(cast, frame, "twist") == (-3.0, 3.0)
    assert field_range(cast, frame, "displacement") == (0.0, 0.2)
    assert field_range(cast, frame, "curvature") == (0.0, 1.0)
    tube.shown[0] = 0.0
    assert field_range(cast, frame, "tension") == (0.0, 1.0)
    with pytest.raises(InputError, match="'colour'"):
        field_range(cast, frame, "colour")


def test_bounds_hold_what_is_shown() -> None:
    cast, frame = rope_and_skin()
    low, high = bounds(cast, frame)
    assert np.allclose(low, (0.0, -3.0, -0.1))
    assert np.allclose(high, (1.1, 0.1, 2.1))
    cast.views(frame)[1].shown[0] = 0.0
    assert np.allclose(bounds(cast, frame)[0], (0.9, -0.1, -0.1))
    cast.views(frame)[0].shown[0] = 0.0
    low, high = bounds(cast, frame)
    assert np.all(high > low)


def test_a_turned_solid_and_a_floor_without_end() -> None:
    cube = box((2.0, 1.0, 1.0))
    floor = box((1000.0, 1000.0, 0.01))
    parts = [
        Solid(name=role, colour=(0, 0, 0), role=role, vertices=mesh.vertices, faces=mesh.faces)
        for role, mesh in (("body", cube), ("decor", floor))
    ]  # fmt: skip
    cast = Cast(parts)
    frame = np.zeros(cast.size)
    for view in cast.views(frame):
        view.shown[0] = view.quaternion[0] = 1.0
    quarter = math.sqrt(0.5)
    cast.views(frame)[0].quaternion[:] = (quarter, 0.0, 0.0, quarter)
    low, high = bounds(cast, frame)
    assert np.allclose(high, (0.5 + 1.0, 1.0 + 1.0, 0.5))
    assert np.allclose(low, -high)


@pytest.mark.parametrize("size", [(4.0, 1.0, 1.0), (1.0, 9.0, 2.0), (1.0, 1.0, 30.0), (0.0, 0.0, 0.0)])
def test_the_whole_box_is_in_the_picture_and_fills_it(size: tuple[float, float, float]) -> None:
    middle, fov, aspect = np.array((3.0, -1.0, 2.0)), 0.8, 1.6
    low, high = middle - 0.5 * np.array(size), middle + 0.5 * np.array(size)
    eye, target = camera_for(low, high, field_of_view=fov, aspect=aspect)
    assert np.allclose(target, middle)
    assert eye[2] > target[2]
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    corners = np.array([[(low, high)[k >> j & 1][j] for j in range(3)] for k in range(8)]) - eye
    depth = corners @ ahead
    across = np.abs(corners @ right) / depth / (math.tan(0.5 * fov) * aspect)
    upward = np.abs(corners @ np.cross(right, ahead)) / depth / math.tan(0.5 * fov)
    largest = max(across.max(), upward.max())
    assert largest <= 1.0
    if any(size):
        assert largest > 0.75
    if size[1] > size[0]:  # the long side lies across the picture
        assert abs(right[1]) > 0.9
