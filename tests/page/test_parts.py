"""What the page computes: places under the pointer, painted meshes, ranges of colours, plots, cameras."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.view.page.framing import FIELD_OF_VIEW, fitted, grid_cell, scale_for
from sennit.view.page.hand import Hand, Scenery
from sennit.view.page.legend import Range, legend, quantity, ramp
from sennit.view.page.painting import LEVELS, Painting
from sennit.view.page.picking import Ray, nearest_hit, place_of, rotated
from sennit.view.page.plots import LONGEST_TITLE, History, chart_title, grouped_by_unit
from sennit.view.page.screening import camera_is_sound, update_is_sound

RED, BLUE, WHITE = (200, 40, 40), (40, 40, 200), (250, 250, 250)
CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
CUBE_FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip
HALF = np.sqrt(0.5)


def scene() -> tuple[Cast, Any]:
    """A straight tube along x at z = 1, a turned cube behind it, a square below."""
    square = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    cast = Cast(
        [
            Tube(name="rope", colour=RED, count=11, half=(0.02, 0.02), stripe=WHITE, fields=("tension",)),
            Solid(name="box", colour=BLUE, vertices=CUBE, faces=CUBE_FACES),
            Surface(name="pad", colour=RED, count=4, faces=np.array([(0, 1, 2), (0, 2, 3)]), fields=("pressure",)),
            Solid(name="mark", colour=BLUE, vertices=0.1 * CUBE, faces=CUBE_FACES, role="tie"),
        ]
    )
    frame = np.zeros(cast.size)
    rope, box, pad, mark = cast.views(frame)
    for view in (rope, box, pad, mark):
        view.shown[0] = 1.0
    rope.centres[:, 0], rope.centres[:, 2] = np.linspace(0.0, 2.0, 11), 1.0
    rope.directors[:, 1] = 1.0
    rope.fields["tension"][:] = np.linspace(0.0, 10.0, 11)
    box.position[:], box.quaternion[:] = (1.0, 3.0, 1.0), (HALF, 0.0, 0.0, HALF)  # a quarter turn about z
    pad.vertices[:] = square
    mark.position[:], mark.quaternion[:] = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)
    return cast, frame


def towards(x: float, z: float) -> Ray:
    """From the front, along y."""
    return Ray(np.array((x, -5.0, z)), np.array((0.0, 1.0, 0.0)))


def test_a_tube_is_met_near_its_middle() -> None:
    cast, frame = scene()
    hit = nearest_hit(cast, frame, towards(0.5, 1.04), 0.05, ("body",))
    assert hit is not None and hit.part == 0
    assert hit.place == pytest.approx(0.25)
    np.testing.assert_allclose(hit.position, (0.5, 0.0, 1.0), atol=1e-12)
    assert hit.depth == pytest.approx(5.0)


def test_what_is_behind_is_met_where_the_front_is_not() -> None:
    cast, frame = scene()
    hit = nearest_hit(cast, frame, towards(0.8, 1.3), 0.05, ("body",))
    assert hit is not None and hit.part == 1
    np.testing.assert_allclose(hit.position, (0.8, 2.5, 1.3), atol=1e-12)
    # In the box's own frame, a quarter turn back: (dx, dy) = (-0.2, -0.5) becomes (-0.5, 0.2).
    np.testing.assert_allclose(hit.place, (-0.5, 0.2, 0.3), atol=1e-12)
    assert nearest_hit(cast, frame, towards(0.0, 5.0), 0.05, ("body",)) is None


def test_a_surface_is_met_at_its_nearest_vertex() -> None:
    cast, frame = scene()
    down = Ray(np.array((0.7, 0.6, 4.0)), np.array((0.0, 0.0, -1.0)))
    hit = nearest_hit(cast, frame, down, 0.05, ("body",))
    assert hit is not None and (hit.part, hit.place) == (2, 2)


def test_a_grabbed_place_is_found_even_beside_the_part() -> None:
    cast, frame = scene()
    views = cast.views(frame)
    hit = place_of(0, cast.parts[0], views[0], towards(3.0, 1.5), np.array((3.0, 0.0, 1.5)))
    assert hit.place == 1.0
    hit = place_of(1, cast.parts[1], views[1], towards(1.0, 9.0), np.array((1.0, 3.0, 1.5)))
    np.testing.assert_allclose(hit.place, (0.0, 0.0, 0.5), atol=1e-12)
    hit = place_of(2, cast.parts[2], views[2], towards(-1.0, 2.0), np.array((-1.0, 0.9, 0.1)))
    assert hit.place == 3


def test_turning_and_turning_back() -> None:
    quaternion = np.array((HALF, 0.0, 0.0, HALF))
    np.testing.assert_allclose(rotated(quaternion, np.array((1.0, 0.0, 0.0))), (0.0, 1.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(rotated(quaternion, np.array((0.0, 1.0, 0.0)), back=True), (1.0, 0.0, 0.0), atol=1e-15)


def area(patches: list[Any]) -> float:
    """Of all faces of all patches."""
    total = 0.0
    for patch in patches:
        a, b, c = (patch.vertices[patch.faces[:, k]].astype(float) for k in range(3))
        total += 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    return total


def test_each_colour_is_one_mesh_and_nothing_is_lost() -> None:
    cast, frame = scene()
    painting = Painting(cast, 2.0)
    painting.place(cast.views(frame))
    patches = painting.plain()
    shades = [patch.shade for patch in patches]
    assert len(set(shades)) == len(shades)
    assert {shade.colour for shade in shades} == {RED, WHITE, BLUE}
    for patch in patches:
        assert len(np.unique(patch.faces)) == len(patch.vertices)  # no vertex is there for nothing
    # Twice as long in each direction: the square of 2 m by 2 m, the mark's cube of 0.1 m.
    surface = [p for p in patches if p.shade.double]
    assert area(surface) == pytest.approx(4.0 * 4.0)
    assert area([p for p in patches if p.shade.role == "tie"]) == pytest.approx(4.0 * 6.0 * 0.01)
    # A ring of ten corners is a little shorter than a circle.
    tube = [p for p in patches if p.shade.colour == RED and not p.shade.double]
    around = 20.0 * np.sin(np.pi / 10.0) * 0.02
    caps = 2.0 * 5.0 * np.sin(np.pi / 5.0) * 0.02**2
    assert area(tube) == pytest.approx(4.0 * (2.0 * around + caps), rel=1e-5)


def test_a_field_takes_the_colours_of_its_range() -> None:
    cast, frame = scene()
    views = cast.views(frame)
    painting = Painting(cast, 1.0)
    painting.place(views)
    colours = ramp(0.0, 10.0)
    patches = painting.shaded(views, "tension", 0.0, 10.0, colours)
    levels = [patch for patch in patches if patch.shade.colour in {tuple(c) for c in colours.tolist()}]
    # The tension grows along x by 5 N a metre: where a colour is tells its level.
    for patch in levels:
        level = [tuple(c) for c in colours.tolist()].index(patch.shade.colour)
        middle = 5.0 * patch.vertices[:, 0]
        assert middle.min() >= level * 10.0 / LEVELS - 1.0 and middle.max() <= (level + 1) * 10.0 / LEVELS + 1.0
    plain = area([p for p in painting.plain() if p.shade.colour == RED and not p.shade.double])
    assert area(levels) == pytest.approx(plain, rel=1e-5)
    # What does not carry the field keeps its colours; the stripe would hide them.
    assert any(p.shade.double and p.shade.colour == RED for p in patches)
    assert not any(p.shade.colour == WHITE for p in patches)


def test_what_is_hidden_takes_no_room() -> None:
    cast, frame = scene()
    for view in cast.views(frame):
        view.shown[0] = 0.0
    painting = Painting(cast, 1.0)
    painting.place(cast.views(frame))
    assert area(painting.plain()) == 0.0


def test_a_range_grows_at_once_and_shrinks_late() -> None:
    followed = Range()
    assert followed.follow(0.0, 4.2, 0.0) == (0.0, 5.0)
    assert followed.follow(0.0, 4.8, 0.1) == (0.0, 5.0)
    assert followed.follow(0.0, 6.0, 0.2) == (0.0, 7.0)
    assert followed.follow(0.0, 1.0, 0.3) == (0.0, 7.0)  # not at once
    assert followed.follow(0.0, 6.5, 1.5) == (0.0, 7.0)
    assert followed.follow(0.0, 1.0, 2.0) == (0.0, 7.0)  # it was needed meanwhile
    assert followed.follow(0.0, 1.0, 4.0) == (0.0, 1.0)
    assert followed.follow(-2.0, 2.0, 4.1) == (-2.0, 2.0)
    assert followed.follow(-1.0, 3.0, 4.2) == (-3.0, 3.0)  # zero stays in the middle


def test_the_legend_names_field_unit_and_ends() -> None:
    text = legend("tension", 0.0, 5000.0)
    assert "tension" in text and ">N<" in text and ">5e3<" in text and ">2.5e3<" in text
    assert quantity(-0.25) == "−0.25" and quantity(0.0) == "0"
    assert len(np.unique(ramp(-1.0, 1.0), axis=0)) == LEVELS


def test_a_history_keeps_the_last_seconds() -> None:
    history = History(1, span=1.0, length=10)
    kept = [history.add(t, np.array([2.0 * t])) for t in np.arange(0.0, 5.0, 0.02)]
    assert 40 < sum(kept) < 51  # ten in a second
    times, values = history.samples
    assert times[-1] - times[0] <= 1.0 and times[-1] > 4.8
    np.testing.assert_allclose(values, 2.0 * times)
    history.add(0.0, np.array([7.0]))  # reset
    np.testing.assert_allclose(history.samples, [[0.0], [7.0]])


def test_a_history_goes_on_when_other_values_are_watched() -> None:
    history = History(2)
    history.add(0.0, np.array([1.0, 2.0]))
    history.add(1.0, np.array([3.0, 4.0]))
    other = history.continued([1, None])
    other.add(2.0, np.array([6.0, 7.0]))
    np.testing.assert_array_equal(other.samples, [[0.0, 1.0, 2.0], [2.0, 4.0, 6.0], [np.nan, np.nan, 7.0]])


@pytest.mark.parametrize(
    ("names", "unit", "title"),
    [
        (["hoist rope"], "kN", "hoist rope (kN)"),
        (["turns"], "", "turns"),
        (["height of the hook", "load off the plumb line"], "m", "length (m)"),
        (["hauling rope: 85 kg", "hauling rope: 85 kg, friction", "hauling rope: 120 kg"], "N", "hauling rope (N)"),
        (["left", "right"], "furlongs", "left, right (furlongs)"),
        (["left", "right"], "", "left, right"),
    ],
)
def test_charts_say_what_they_show(names: list[str], unit: str, title: str) -> None:
    assert chart_title(names, unit) == title


def test_titles_of_charts_fit() -> None:
    assert len(chart_title(["a watched value with a very long name indeed"], "")) == LONGEST_TITLE
    assert len(chart_title([f"value {k} of many" for k in "abcdefgh"], "")) <= LONGEST_TITLE


def test_values_of_one_unit_share_a_plot() -> None:
    assert grouped_by_unit(["N", "m", "N"]) == [[0, 2], [1]]


@pytest.mark.parametrize("aspect", [0.7, 1.0, 2.0])
def test_everything_is_in_sight(aspect: float) -> None:
    low, high = np.array((-1.0, 0.0, 0.0)), np.array((3.0, 0.5, 1.0))
    eye, target = fitted(low, high, aspect)
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    corners = np.array([(x, y, z) for x in (-1.0, 3.0) for y in (0.0, 0.5) for z in (0.0, 1.0)]) - eye
    across, above = corners @ right / (corners @ ahead), corners @ up / (corners @ ahead)
    reach = max(np.abs(above).max(), np.abs(across).max() / aspect) / np.tan(0.5 * FIELD_OF_VIEW)
    assert 0.8 < reach < 0.9


def test_a_given_camera_steps_back_in_a_narrow_picture() -> None:
    given = (np.array((0.0, -2.0, 1.0)), np.array((0.0, 0.0, 1.0)))
    box = np.zeros(3), np.ones(3)
    np.testing.assert_allclose(fitted(*box, 2.0, given)[0], given[0])
    np.testing.assert_allclose(fitted(*box, 0.8, given)[0], (0.0, -4.0, 1.0))


def test_the_scale_stays_while_it_fits() -> None:
    low, high = np.zeros(3), np.array((0.3, 0.4, 0.0))
    scale = scale_for(low, high, None)
    assert scale * 0.5 == pytest.approx(4.0)
    assert scale_for(low, 2.0 * high, scale) == scale
    assert scale_for(low, 100.0 * high, scale) != scale
    assert grid_cell(0.5) == pytest.approx(0.1) and grid_cell(40.0) == pytest.approx(10.0)


# ------------------------------------------------------------------------------------------------------------ the hand


def the_hand() -> tuple[Hand, list[Any], list[str]]:
    cast, frame = scene()
    asked: list[Any] = []
    told: list[str] = []
    hand = Hand(lambda do, **arguments: asked.append((do, arguments)), lambda client, text: told.append(text))
    ties = [{"name": "pin 1", "parts": [3]}, {"name": "wall", "parts": []}]
    hand.scenery = Scenery(5, cast, frame, ties, np.ones(2), 2.0, 0.05)
    return hand, asked, told


def drag(phase: str, client: int, end: tuple[float, float, float]) -> Any:
    """A drag that began in front of the rope's middle, as drawn: twice as large."""
    camera = SimpleNamespace(position=np.array((2.0, -10.0, 2.0)))
    return SimpleNamespace(
        phase=phase, client_id=client, client=SimpleNamespace(camera=camera), start_position=(2.0, -0.1, 2.0),
        end_position=end,
    )  # fmt: skip


def run(coroutine: Any) -> None:
    with pytest.raises(StopIteration):
        coroutine.send(None)


def test_a_drag_becomes_commands() -> None:
    hand, asked, _ = the_hand()
    run(hand.dragged(0, drag("start", 7, (2.0, -0.1, 2.0))))
    run(hand.dragged(0, drag("update", 7, (2.4, -0.1, 2.2))))
    run(hand.dragged(0, drag("end", 7, (2.4, -0.1, 2.2))))
    assert [do for do, _ in asked] == ["grab", "drag", "drag", "drag", "release"]
    assert asked[0][1]["part"] == 0 and asked[0][1]["place"] == pytest.approx(0.5)
    # The hand begins where the grabbed place is, not where the pointer met the surface.
    np.testing.assert_allclose(asked[1][1]["hand"], (1.0, 0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(asked[2][1]["hand"], (1.2, 0.0, 1.1), atol=1e-12)
    assert hand.holder is None


def test_one_window_holds_the_hand() -> None:
    hand, asked, told = the_hand()
    run(hand.dragged(0, drag("start", 7, (2.0, -0.1, 2.0))))
    before = list(asked)
    for phase in ("start", "update", "end"):
        run(hand.dragged(1, drag(phase, 8, (2.0, -0.1, 2.0))))
    assert asked == before and len(told) == 1
    hand.left(8)
    assert asked == before
    hand.left(7)
    assert asked[-1][0] == "release"


def click(x: float, z: float) -> Any:
    return SimpleNamespace(ray_origin=(2.0 * x, -10.0, 2.0 * z), ray_direction=(0.0, 1.0, 0.0))


def test_a_click_pins_releases_or_does_nothing() -> None:
    hand, asked, _ = the_hand()
    run(hand.clicked(click(1.5, 1.0)))
    assert asked[-1][0] == "pin" and asked[-1][1]["place"] == pytest.approx(0.75)
    run(hand.clicked(click(0.0, 1.0)))  # the mark of the pin
    assert asked[-1] == ("remove", {"tie": 0, "generation": 5})
    count = len(asked)
    run(hand.clicked(click(0.0, 9.0)))
    assert len(asked) == count
    hand.pin()
    assert asked[-1][0] == "pin" and asked[-1][1]["place"] == pytest.approx(0.75)


def other_scenery(hand: Hand, gone: int, **changes: Any) -> Scenery:
    """What is seen after the part of number `gone` was removed."""
    assert hand.scenery is not None
    parts = [replace(part, **changes) for k, part in enumerate(hand.scenery.cast.parts) if k != gone]
    cast = Cast(parts)
    return replace(hand.scenery, cast=cast, frame=np.zeros(cast.size), generation=hand.scenery.generation + 1)


def test_what_was_grabbed_last_is_found_again_by_its_name() -> None:
    hand, asked, _ = the_hand()
    run(hand.dragged(1, drag("start", 7, (2.0, -0.1, 2.0))))
    assert hand.part == 1
    hand.scenery = other_scenery(hand, 0)
    assert hand.part == 0
    hand.pin()
    assert asked[-1][0] == "pin" and asked[-1][1]["part"] == 0 and asked[-1][1]["generation"] == 6
    count = len(asked)
    hand.scenery = other_scenery(hand, 0)  # it is gone
    hand.pin()
    assert len(asked) == count and hand.part is None


def test_names_that_several_parts_share_say_nothing() -> None:
    hand, asked, _ = the_hand()
    assert hand.scenery is not None
    first, second = (replace(hand.scenery.cast.parts[1], name=name) for name in ("box", "box (2)"))
    cast = Cast([first, second])
    frame = np.zeros(cast.size)
    for view in cast.views(frame):
        view.shown[0], view.quaternion[0] = 1.0, 1.0
    hand.scenery = replace(hand.scenery, cast=cast, frame=frame, ties=[])
    run(hand.dragged(0, drag("start", 7, (2.0, -0.1, 2.0))))
    hand.scenery = replace(hand.scenery, cast=Cast([first]), generation=6)  # which of the two is it?
    count = len(asked)
    hand.pin()
    assert len(asked) == count


def test_a_drag_that_ends_nowhere_lets_go() -> None:
    hand, asked, _ = the_hand()
    run(hand.dragged(0, drag("start", 7, (2.0, -0.1, 2.0))))
    with pytest.raises((ValueError, TypeError)):
        hand.dragged(0, drag("end", 7, (2.4, -0.1))).send(None)  # type: ignore[arg-type]
    assert hand.holder is None and asked[-1][0] == "release"


# ------------------------------------------------------------------------------------------------ what browsers may say

CAMERA = {
    "wxyz": [1, 0, 0, 0], "position": [0, -3, 1.5], "fov": 0.8, "near": 0.1, "far": 100.0, "image_height": 600,
    "image_width": 900, "look_at": [0, 0, 0], "up_direction": [0, 0, 1],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "sound"),
    [
        ({}, True), ({"image_height": 0}, False), ({"image_width": float("nan")}, False), ({"position": [0, 1]}, False),
        ({"position": [0, 1, float("inf")]}, False), ({"position": "xyz"}, False), ({"look_at": None}, False),
        ({"wxyz": [0, 0, 0, 0]}, False), ({"wxyz": [1, 0, 0]}, False), ({"fov": "wide"}, False), ({"fov": 0}, False),
        ({"up_direction": [0, 0, True]}, False),
    ],
)  # fmt: skip
def test_cameras(changes: dict[str, Any], sound: bool) -> None:
    assert camera_is_sound(SimpleNamespace(**{**CAMERA, **changes})) is sound


@pytest.mark.parametrize(
    ("now", "updates", "sound"),
    [
        (False, {"value": True}, True), (False, {"value": "no"}, False), (False, {"value": 1}, False),
        (0.5, {"value": 1}, True), (0.5, {"value": float("nan")}, False), (0.5, {"value": "1"}, False),
        (0.5, {"value": True}, False), (0.5, {"props": None}, False), (0.5, {"value": 1, "update_cb": []}, False),
        (0.5, {}, False), (0.5, None, False), ((0.0, 0.0, 1.0), {"value": [0, 1, 2.5]}, True),
        ((0.0, 0.0, 1.0), {"value": [0, 1]}, False), ((0.0, 0.0, 1.0), {"value": ["1", 0, 0]}, False),
        ("a", {"value": "b"}, True), ("a", {"value": "bogus"}, False), ("a", {"value": ["b"]}, False),
    ],
)  # fmt: skip
def test_values_of_widgets(now: Any, updates: Any, sound: bool) -> None:
    props = SimpleNamespace(options=("a", "b")) if now == "a" else SimpleNamespace()
    handle = SimpleNamespace(_impl=SimpleNamespace(value=now, props=props))
    assert update_is_sound(handle, SimpleNamespace(updates=updates)) is sound
    assert not update_is_sound(None, SimpleNamespace(updates=updates))
