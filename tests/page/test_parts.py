"""What the page's scripts compute, asked in the browser: places under the pointer, ranges of colours, cameras, drawing;
and what its process keeps: plots, who holds the hand.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from references.windows import Window, wait_until

import sennit as sn
from sennit.portrait.cast import Cast
from sennit.portrait.packed import packed_cast
from sennit.portrait.parts import Part, Solid, Surface, Tube
from sennit.view import view
from sennit.view.page.hand import Hand
from sennit.view.page.plots import History

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
    for each in (rope, box, pad, mark):
        each.shown[0] = 1.0
    rope.centres[:, 0], rope.centres[:, 2] = np.linspace(0.0, 2.0, 11), 1.0
    rope.directors[:, 1] = 1.0
    rope.fields["tension"][:] = np.linspace(0.0, 10.0, 11)
    box.position[:], box.quaternion[:] = (1.0, 3.0, 1.0), (HALF, 0.0, 0.0, HALF)  # a quarter turn about z
    pad.vertices[:] = square
    mark.position[:], mark.quaternion[:] = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)
    return cast, frame


@pytest.fixture(scope="module")
def window(chromium: Any) -> Iterator[Window]:
    """A window on a page that stands still: what it shows is put there by the tests."""
    still = sn.Scene(gravity=(0, 0, 0))
    still.add(sn.RigidBody.sphere(0.1, mass=1.0))
    with view(still, port=0, browser=False, block=False) as shown:
        shown.host.paused = True
        opened = Window(chromium, shown, 900, 600)
        # no more frames come, and the page draws nothing by itself
        shown.close()
        wait_until(lambda: opened.tell("sennit.page.over"))
        opened.tell("void (sennit.drawing.draw = () => {})")
        yield opened
        opened.close()


def put(window: Window, cast: Cast, frame: Any) -> None:
    """Show `cast` as it is in `frame`."""
    parts, data = packed_cast(cast)
    numbers = base64.b64encode(np.asarray(frame, np.float32).tobytes()).decode()
    window.tell(
        """([parts, data, numbers]) => {
          const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
          sennit.page.arrays = bytes(data);
          sennit.drawing.cast(parts, sennit.page.arrays);
          const frame = new Float32Array(bytes(numbers));
          for (const p of sennit.drawing.parts) sennit.drawing.place(p.number, frame.subarray(p.at, p.at + p.size));
        }""",
        [parts, base64.b64encode(data).decode(), numbers],
    )


def met(window: Window, origin: Any, direction: Any, roles: tuple[str, ...] = ("body",)) -> Any:
    """What a ray meets first. A pixel is 6 mm wide 5 m away."""
    script = "([origin, direction, roles]) => sennit.nearest({origin, direction}, roles, 9)"
    return window.tell(script, [list(origin), list(direction), list(roles)])


def towards(x: float, z: float) -> tuple[Any, Any]:
    """A ray from the front, along y."""
    return (x, -5.0, z), (0.0, 1.0, 0.0)


# ---------------------------------------------------------------------------------------------------------- picking


def test_a_tube_is_met_near_its_middle(window: Window) -> None:
    put(window, *scene())
    hit = met(window, *towards(0.5, 1.04))
    assert hit["part"] == 0
    assert hit["place"] == pytest.approx(0.25)
    np.testing.assert_allclose(hit["position"], (0.5, 0.0, 1.0), atol=1e-6)
    assert hit["depth"] == pytest.approx(5.0)
    there = window.tell("sennit.positionOf(0, 0.25)")
    np.testing.assert_allclose(there, (0.5, 0.0, 1.0), atol=1e-6)


def test_what_is_behind_is_met_where_the_front_is_not(window: Window) -> None:
    put(window, *scene())
    hit = met(window, *towards(0.8, 1.3))
    assert hit["part"] == 1
    np.testing.assert_allclose(hit["position"], (0.8, 2.5, 1.3), atol=1e-6)
    # In the box's own frame, a quarter turn back: (dx, dy) = (-0.2, -0.5) becomes (-0.5, 0.2).
    np.testing.assert_allclose(hit["place"], (-0.5, 0.2, 0.3), atol=1e-6)
    np.testing.assert_allclose(window.tell("sennit.positionOf(1, [-0.5, 0.2, 0.3])"), (0.8, 2.5, 1.3), atol=1e-6)
    assert met(window, *towards(0.0, 5.0)) is None
    assert met(window, *towards(0.0, 1.0), ("tie",))["part"] == 3


def test_a_surface_is_met_at_its_nearest_vertex(window: Window) -> None:
    put(window, *scene())
    hit = met(window, (0.7, 0.6, 4.0), (0.0, 0.0, -1.0))
    assert (hit["part"], hit["place"]) == (2, 2)
    np.testing.assert_allclose(hit["position"], (1.0, 1.0, 0.0), atol=1e-6)


def test_of_turns_that_lie_behind_each_other_the_front_one_is_met(window: Window) -> None:
    """A hairpin, which the ray passes twice."""
    cast = Cast([Tube(name="pin", colour=RED, count=21, half=(0.01, 0.01))])
    frame = np.zeros(cast.size)
    (tube,) = cast.views(frame)
    tube.shown[0] = 1.0
    tube.centres[:11] = np.column_stack((np.linspace(0, 1, 11), np.full(11, 1.0), np.zeros(11)))
    tube.centres[11:] = np.column_stack((np.linspace(0.95, 0, 10), np.zeros(10), np.zeros(10)))
    tube.directors[:, 2] = 1.0
    put(window, cast, frame)
    hit = met(window, *towards(0.5, 0.0))
    assert hit["place"] > 0.5 and hit["depth"] == pytest.approx(5.0)


def test_what_was_grabbed_last_is_found_again_by_its_name(window: Window) -> None:
    def number(before: list[str], k: int, now: list[str]) -> Any:
        parts = "(names) => names.map((name) => ({ kind: 'solid', name }))"
        script = f"([b, k, n]) => {{ const parts = {parts}; return sennit.renumbered(parts(b), k, parts(n)); }}"
        return window.tell(script, [before, k, now])

    assert number(["a", "b", "c"], 2, ["b", "c"]) == 1
    assert number(["a", "b"], 1, ["a"]) is None  # it is gone
    assert number(["a", "a"], 1, ["a"]) is None  # which of the two is it?
    assert number(["a"], 0, ["a", "a"]) is None


# ---------------------------------------------------------------------------------------------------------- drawing


def colours_seen(window: Window, script: str) -> Any:
    """Pixels (height, width, 3) of a picture that is drawn by the class's own `draw`, after `script`."""
    data = window.tell(
        f"""(() => {{
          const d = sennit.drawing, gl = d.gl;
          d.sharpness = 1;
          {script}
          Drawing_draw.call(d, {{ ground: false, shadows: false }});
          const pixels = new Uint8Array(4 * d.canvas.width * d.canvas.height);
          gl.readPixels(0, 0, d.canvas.width, d.canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
          let text = "";
          for (let k = 0; k < pixels.length; k += 30000) text += String.fromCharCode(...pixels.subarray(k, k + 30000));
          return [d.canvas.width, d.canvas.height, btoa(text)];
        }})()""".replace("Drawing_draw", "Object.getPrototypeOf(d).draw")
    )
    width, height, text = data
    flat = np.frombuffer(base64.b64decode(text), np.uint8)
    return flat.reshape(height, width, 4)[::-1, :, :3].astype(float)


LOOK = (
    "d.camera.insets = { left: 0, right: 0, top: 0, bottom: 0 }; d.room([-1, -1, -1], [3, 3, 3], null); "
    "d.camera.along = [0, 0, 0]; d.camera.look([1, -6, 1.2], [1, 0, 1.2]);"
)


def at(window: Window, image: Any, place: Any) -> Any:
    """The colour of a place, (3,), m."""
    x, y = window.pixel(place)
    scale = image.shape[1] / 900.0
    return image[round(y * scale), round(x * scale)]


def test_a_field_takes_the_colours_of_its_range(window: Window) -> None:
    """The tension grows along x: along the tube the ramp goes from its first colour to its last."""
    put(window, *scene())
    plain = colours_seen(window, f"{LOOK} d.paint(null);")
    ramp = "const ramp = Array.from({length: 768}, (_, k) => [k / 3, 0, 255 - k / 3][k % 3]);"  # from blue to red
    shaded = colours_seen(window, f"{LOOK} {ramp} d.paint('tension', 0, 10, ramp);")
    left, right = at(window, shaded, (0.2, 0.0, 1.0)), at(window, shaded, (1.8, 0.0, 1.0))
    for place in ((0.2, 0.0, 1.0), (1.8, 0.0, 1.0)):
        assert np.abs(at(window, shaded, place) - at(window, plain, place)).max() > 60.0
    assert left[2] > left[0] + 60 and right[0] > right[2] + 60
    # What does not carry the field keeps its colours.
    np.testing.assert_allclose(at(window, shaded, (1.2, 2.5, 1.3)), at(window, plain, (1.2, 2.5, 1.3)), atol=3)


def test_what_is_hidden_is_not_drawn(window: Window) -> None:
    cast, frame = scene()
    put(window, cast, frame)
    seen = colours_seen(window, LOOK)
    cast.views(frame)[1].shown[0] = 0.0
    put(window, cast, frame)
    gone = colours_seen(window, LOOK)
    place = (1.2, 2.5, 1.3)
    assert np.abs(at(window, seen, place) - at(window, gone, place)).max() > 40.0
    cast.views(frame)[0].shown[0] = 0.0
    put(window, cast, frame)
    assert (
        np.abs(at(window, colours_seen(window, LOOK), (1.8, 0.0, 1.0)) - at(window, gone, (1.8, 0.0, 1.0))).max() > 40.0
    )


def test_a_tube_is_never_thinner_than_a_pixel(window: Window) -> None:
    cast = Cast([Tube(name="hair", colour=RED, count=11, half=(1e-5, 1e-5))])
    frame = np.zeros(cast.size)
    (tube,) = cast.views(frame)
    tube.shown[0] = 1.0
    tube.centres[:, 0], tube.centres[:, 2] = np.linspace(0.0, 2.0, 11), 1.0
    tube.directors[:, 1] = 1.0
    put(window, cast, frame)
    with_it, _ = colours_seen(window, LOOK), put(window, Cast([]), np.zeros(0))
    without = colours_seen(window, LOOK)
    changed = np.abs(with_it - without).max(axis=2) > 40.0
    columns = changed.any(axis=0)
    assert columns.sum() > 0.2 * with_it.shape[1] and np.diff(np.flatnonzero(columns)).max() == 1  # without gaps
    assert changed.sum(axis=0)[columns].mean() < 4.0


def test_the_least_width_of_a_tube_is_1_7_pixels(window: Window) -> None:
    """By the pixels of a slanted line; beside it a tube whose width is known."""

    def width(half: float) -> float:  # pixels
        cast = Cast([Tube(name="hair", colour=RED, count=11, half=(half, half))])
        frame = np.zeros(cast.size)
        (tube,) = cast.views(frame)
        tube.shown[0] = 1.0
        tube.centres[:, 0], tube.centres[:, 2] = np.linspace(0.0, 2.0, 11), np.linspace(0.9, 1.1, 11)
        tube.directors[:, 1] = 1.0
        put(window, cast, frame)
        with_it, _ = colours_seen(window, LOOK), put(window, Cast([]), np.zeros(0))
        changed = np.abs(with_it - colours_seen(window, LOOK)).max(axis=2) > 8.0
        columns = np.flatnonzero(changed.any(axis=0))[20:-20]  # without its ends
        return float(changed[:, columns].sum(axis=0).mean() * np.cos(np.arctan(0.1)))

    least = width(1e-9)
    x, y = (np.array(window.pixel((x, 0.0, 1.0))) for x in (0.9, 1.1))
    metre = float(np.linalg.norm(y - x)) / 0.2
    # A line of some hundred columns that rises by a tenth: rounding to pixels is averaged over.
    assert least == pytest.approx(1.7, abs=0.15) and width(1e-4) == pytest.approx(1.7, abs=0.15)
    assert width(4.0 / metre) == pytest.approx(8.0, abs=0.3)


@pytest.mark.slow
def test_ten_thousand_parts_are_a_handful_of_calls(window: Window) -> None:
    """Boxes of one shape, and hundreds of ropes."""
    parts: list[Part] = [
        Solid(name=f"box {k}", colour=BLUE, vertices=0.02 * CUBE, faces=CUBE_FACES) for k in range(10_000)
    ]
    parts += [Tube(name=f"rope {k}", colour=RED, count=20, half=(0.01, 0.01)) for k in range(300)]
    cast = Cast(parts)
    frame = np.zeros(cast.size)
    for k, each in enumerate(cast.views(frame)):
        each.shown[0] = 1.0
        if k < 10_000:
            each.position[:], each.quaternion[0] = (0.03 * (k % 100), 0.0, 0.03 * (k // 100)), 1.0
        else:
            each.centres[:] = np.column_stack((np.linspace(0, 1, 20), np.full(20, 0.01 * (k - 10_000)), np.zeros(20)))
            each.directors[:, 2] = 1.0
    _, data = packed_cast(cast)
    assert len(data) < 10_000  # they share one shape
    put(window, cast, frame)
    calls = window.tell(
        """(() => {
          const gl = sennit.drawing.gl, names = ["drawArrays", "drawElements", "drawArraysInstanced"];
          let calls = 0;
          for (const name of names) {
            gl[name] = (...all) => { calls++; WebGL2RenderingContext.prototype[name].apply(gl, all); };
          }
          Object.getPrototypeOf(sennit.drawing).draw.call(sennit.drawing, {});
          for (const name of names) delete gl[name];
          return calls;
        })()"""
    )
    assert calls <= 12
    took = window.tell(
        """(() => {
          const d = sennit.drawing, begin = performance.now();
          for (const p of d.parts) d.place(p.number, p.block);
          sennit.pick(300, 300);
          return performance.now() - begin;
        })()"""
    )
    assert took < 1000.0  # ms; some ten on a machine that does nothing else


# ----------------------------------------------------------------------------------------------- cameras and ranges


@pytest.mark.parametrize("way", [(0.42, -1.0, 0.38), (1.0, 0.2, 0.9), (-0.3, 0.8, 0.05)])
@pytest.mark.parametrize("insets", [(0, 0, 0, 0), (0, 330, 50, 70), (0, 0, 40, 300)])
def test_all_that_is_fitted_is_in_sight_and_fills_what_is_left(window: Window, way: Any, insets: Any) -> None:
    low, high = np.array((-1.0, 0.0, 2.0)), np.array((3.0, 0.5, 3.0))
    corners = [
        [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)
    ]
    left, right, top, bottom = insets
    pixels = np.array(window.tell(
        """([corners, way, [left, right, top, bottom]]) => {
          sennit.camera.insets = { left, right, top, bottom };
          sennit.camera.fit(corners, way);
          return corners.map((corner) => sennit.camera.pixelOf(corner));
        }""",
        [corners, list(way), list(insets)],
    ))  # fmt: skip
    assert (pixels[:, 0] > left).all() and (pixels[:, 0] < 900 - right).all()
    assert (pixels[:, 1] > top).all() and (pixels[:, 1] < 600 - bottom).all()
    wide, tall = np.ptp(pixels[:, :2], axis=0)
    assert max(wide / (900 - left - right), tall / (600 - top - bottom)) > 0.6


def test_the_camera_goes_to_and_fro_until_it_is_touched(window: Window) -> None:
    seen = window.tell(
        """(() => {
          const c = sennit.camera, yaws = [];
          c.look([2, -2, 1], [0, 0, 0]);
          c.calm = false;
          for (let k = 0; k < 240; k++) if (c.sway(0.1)) yaws.push(c.yaw);
          c.orbit(5, 0);
          const after = c.yaw, goes = c.sway(0.1);
          return [yaws, goes, c.yaw - after];
        })()"""
    )
    yaws, goes, further = np.array(seen[0]), seen[1], seen[2]
    assert len(yaws) == 240 and np.ptp(yaws) == pytest.approx(0.32, rel=0.02)
    assert abs(yaws[-1] - yaws[0]) < 0.01 and np.abs(np.diff(yaws)).max() < 0.005
    assert not goes and further == 0.0


def test_rays_and_pixels_are_each_others_inverse(window: Window) -> None:
    window.tell("sennit.camera.insets = { left: 0, right: 300, top: 40, bottom: 20 }")
    for pixel in ((10.0, 20.0), (450.0, 300.0), (800.0, 590.0)):
        ray = window.tell("([x, y]) => sennit.camera.ray(x, y)", list(pixel))
        place = np.add(ray["origin"], np.multiply(3.7, ray["direction"]))
        np.testing.assert_allclose(window.pixel(place), pixel, atol=1e-6)


def test_a_range_grows_at_once_and_shrinks_late(window: Window) -> None:
    asked = [
        (0.0, 4.2, 0.0), (0.0, 4.8, 0.1), (0.0, 6.0, 0.2), (0.0, 1.0, 0.3), (0.0, 6.5, 1.5), (0.0, 1.0, 2.0),
        (0.0, 1.0, 4.0), (-2.0, 2.0, 4.1), (-1.0, 3.0, 4.2),
    ]  # fmt: skip
    found = window.tell(
        "all => { const range = new sennit.FollowedRange(); return all.map((one) => [...range.follow(...one)]); }",
        [list(one) for one in asked],
    )
    assert found == [
        [0, 5], [0, 5], [0, 7],
        [0, 7],  # not at once
        [0, 7], [0, 7],  # it was needed meanwhile
        [0, 1], [-2, 2],
        [-3, 3],  # zero stays in the middle
    ]  # fmt: skip


@pytest.mark.parametrize(("low", "high"), [(0.14, 0.95), (0.0, 1.0), (-3.0, 400.0), (9.99, 10.01), (-1e-6, 1e-6)])
def test_plots_have_two_round_numbers_at_least(window: Window, low: float, high: float) -> None:
    marks = np.array(window.tell("([low, high]) => sennit.ticks(low, high, 4)", [low, high]))
    assert 2 <= len(marks) <= 9 and marks.min() >= low and marks.max() <= high * (1 + 1e-9)
    step = np.diff(marks)
    np.testing.assert_allclose(step, step[0], rtol=1e-6)
    assert round(step[0] / 10.0 ** np.floor(np.log10(step[0] * 1.0001)), 6) in (1.0, 2.0, 5.0)


def test_numbers_are_short(window: Window) -> None:
    texts = window.tell("[-0.25, 0, 5000, 123456, 0.00012, NaN].map((x) => sennit.quantity(x))")
    assert texts == ["−0.25", "0", "5000", "1.23e5", "1.2e−4", "–"]


# ------------------------------------------------------------------------------------------------ the page's process


def test_a_history_keeps_the_last_seconds() -> None:
    history = History(1, span=1.0, length=10)
    kept = [history.add(t, np.array([2.0 * t])) for t in np.arange(0.0, 5.0, 0.02)]
    assert 40 < sum(kept) < 51  # ten in a second
    times, values = history.samples
    assert times[-1] - times[0] <= 1.0 and times[-1] > 4.8
    np.testing.assert_allclose(values, 2.0 * times)
    history.add(0.0, np.array([7.0]))  # reset
    np.testing.assert_allclose(history.samples, [[0.0], [7.0]])


def test_each_browser_gets_the_samples_that_it_does_not_have() -> None:
    history = History(1, span=1.0, length=10)
    taken = 0
    got: list[float] = []
    for k in range(100):
        history.add(0.2 * k, np.array([float(k)]))
        if k % 3 == 0:
            samples, taken = history.since(taken)
            got += samples[1].tolist()
    assert got == list(range(100))
    samples, again = history.since(taken)
    assert samples.shape == (2, 0) and again == taken
    samples, _ = history.since(0)  # a new one: what there still is
    assert samples[1, -1] == 99.0 and samples.shape[1] == 6
    history.add(0.0, np.array([-1.0]))
    samples, _ = history.since(taken)
    np.testing.assert_array_equal(samples, [[0.0], [-1.0]])


def test_a_history_goes_on_when_other_values_are_watched() -> None:
    history = History(2)
    history.add(0.0, np.array([1.0, 2.0]))
    history.add(1.0, np.array([3.0, 4.0]))
    other = history.continued([1, None])
    other.add(2.0, np.array([6.0, 7.0]))
    np.testing.assert_array_equal(other.samples, [[0.0, 1.0, 2.0], [2.0, 4.0, 6.0], [np.nan, np.nan, 7.0]])


def test_one_window_holds_the_hand() -> None:
    hand, first, second = Hand(), object(), object()
    assert hand.allows(first, "grab") and hand.allows(first, "drag")
    assert hand.allows(second, "grab") is False
    assert hand.allows(second, "drag") is None and hand.allows(second, "release") is None
    assert hand.holder is first
    assert not hand.left(second) and hand.left(first)
    assert hand.holder is None
    assert hand.allows(second, "grab") and hand.allows(second, "release")
    assert hand.holder is None
