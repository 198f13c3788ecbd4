"""Pictures of scenes: panels with units, the numbers of the rods, equal scales."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError
from sennit.export.plot import moments

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

STEEL = sn.Material(youngs_modulus=2e11, poisson_ratio=0.3, density=7800)
WIRE = sn.Section.circle(radius=1e-3)


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


def cantilever(model: str = "spline") -> tuple[sn.Scene, sn.Rod]:
    """A wire held at one end, with a weight at the other: small deflections."""
    scene = sn.Scene(gravity=(0, 0, 0))
    wire = scene.add(
        sn.Rod.straight((0, 0, 0), (0.3, 0, 0), section=WIRE, material=STEEL, control_points=24, model=model)
    )
    scene.add(sn.Clamp(wire.at(0)))
    scene.add(sn.Load(wire.at(wire.length), force=(0, 0, -0.01)))
    scene.settle()
    return scene, wire


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_the_moment_of_a_cantilever(model: str) -> None:
    """M = F (L − s): 3 mN·m at the clamp. The discrete model's error at the free end is of the order of a cell."""
    _, wire = cantilever(model)
    s = np.linspace(0, wire.length, 201)
    size = np.linalg.norm(moments(wire), axis=1)
    tolerance = 2e-5 if model == "spline" else 0.01 * 0.3 / 23
    assert np.allclose(size, 0.01 * (0.3 - s), atol=tolerance)


def test_a_rod_at_rest_has_no_moment() -> None:
    angle = np.linspace(0, 3, 40)
    ring = 0.1 * np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    bent = sn.Rod.through(ring, section=WIRE, material=STEEL)
    stiffness = STEEL.youngs_modulus * WIRE.I1
    assert np.abs(moments(bent)).max() < 2e-3 * stiffness / 0.1
    sprung = sn.Rod.through(ring, section=WIRE, material=STEEL, straight=True)
    assert np.median(np.linalg.norm(moments(sprung), axis=1)) == pytest.approx(stiffness / 0.1, rel=0.01)


def test_one_rod_by_components() -> None:
    scene, wire = cantilever()
    figure = scene.plot()
    figure.canvas.draw()
    shape, curvature, force, moment = figure.axes
    assert [shape.get_xlabel(), shape.get_zlabel()] == ["x (mm)", "z (mm)"]
    assert curvature.get_ylabel() == "curvature (1/m)"
    assert force.get_ylabel().startswith("tension (")
    assert moment.get_ylabel() == "internal moment (mN·m)"
    assert all(axes.get_xlabel() == "rest length s (mm)" for axes in (curvature, force, moment))
    lines = [line for line in moment.lines if len(line.get_xdata()) == 201]
    assert np.allclose(np.column_stack([line.get_ydata() for line in lines]), 1e3 * moments(wire))
    assert len({line.get_linestyle() for line in lines}) == 3
    assert [text.get_text() for text in curvature.get_legend().get_texts()] == ["about d1", "about d2", "twist"]
    drawn = np.array(shape.lines[0].get_data_3d()).T
    assert np.allclose(drawn[[0, -1]], 1e3 * wire.centerline(2), atol=1e-6)


def test_several_rods_by_size(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody]) -> None:
    scene, rope, _ = swing
    other = scene.add(sn.Rod.straight((0, 1, 1), (1, 1, 1), section=WIRE, material=STEEL, name="wire"))
    scene.run(0.1, 0.01)
    figure = scene.plot()
    shape, _, force, _ = figure.axes
    (legend,) = figure.legends  # once, for all panels
    assert [text.get_text() for text in legend.get_texts()] == ["rope", "wire"]
    assert [panel.get_legend() for panel in figure.axes] == [None] * 4
    lines = [line for line in force.lines if len(line.get_xdata()) == 201]
    scale = {"(N)": 1.0, "(mN)": 1e-3, "(kN)": 1e3}[force.get_ylabel().split()[1]]
    assert np.allclose(lines[0].get_ydata() * scale, rope.tensions(201))
    assert np.allclose(lines[1].get_ydata() * scale, other.tensions(201))
    assert shape.get_title() == "swing at 0.1 s"
    alone = scene.plot(rods=[other]).axes[2]
    assert len([line for line in alone.lines if len(line.get_xdata()) == 201]) == 1


def test_a_metre_is_as_long_in_every_direction(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody]) -> None:
    shape = swing[0].plot().axes[0]
    spans = np.array([np.ptp(limits) for limits in (shape.get_xlim(), shape.get_ylim(), shape.get_zlim())])
    ratios = spans / shape.get_box_aspect()
    assert np.ptp(ratios) < 1e-9 * ratios.max()


def test_a_scene_without_rods_is_shown_alone() -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 3)))
    assert len(scene.plot().axes) == 1
    assert len(sn.Scene().plot().axes) == 1


def test_axes_may_be_given(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody]) -> None:
    figure = plt.figure()
    axes = figure.add_subplot(projection="3d")
    assert swing[0].plot(axes) is figure and axes.lines
    figure = plt.figure()
    four = [figure.add_subplot(2, 2, k, projection="3d" if k == 1 else None) for k in (1, 2, 3, 4)]
    assert swing[0].plot(four) is figure and all(panel.lines for panel in four)


def test_other_axes_and_rods_are_refused(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody]) -> None:
    scene = swing[0]
    with pytest.raises(InputError, match='projection="3d"'):
        scene.plot(plt.figure().add_subplot())
    with pytest.raises(InputError, match="one or four matplotlib axes, got 3"):
        scene.plot(3)
    _, stranger = cantilever()
    with pytest.raises(InputError, match="rods of this scene"):
        scene.plot(rods=[stranger])
    with pytest.raises(InputError, match="rods of this scene, got 3"):
        scene.plot(rods=3)  # type: ignore[arg-type]


def texts_drawn(figure: plt.Figure, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Bbox]]:
    """All texts that are drawn, and the boxes that they fill."""
    found: list[tuple[str, Bbox]] = []
    draw = Text.draw

    def noted(text: Text, renderer: Any, *rest: Any, **options: Any) -> None:
        draw(text, renderer, *rest, **options)
        if text.get_visible() and text.get_text().strip():
            found.append((text.get_text(), text.get_window_extent(renderer)))

    with monkeypatch.context() as patch:
        patch.setattr(Text, "draw", noted)
        figure.canvas.draw()
    return found


def overlapping(figure: plt.Figure, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Pairs of texts that are drawn over each other by more than two pixels each way."""
    pairs = itertools.combinations(texts_drawn(figure, monkeypatch), 2)
    return [
        (one, other)
        for (one, a), (other, b) in pairs
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 2 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2
    ]


@pytest.mark.parametrize(
    ("count", "start", "end"),
    [
        (1, (0, 0, 0), (1, 0, 0)),
        (6, (0, 0, 0), (1, 0, 0)),
        (1, (0, 0, 0), (0, 0, 3)),
        (6, (0, 0, 0), (0, 2, 0)),
        (1, (0, 0, 0), (0.003, -0.002, 0.005)),
        (6, (1000, -200, 50), (1003, -200, 50)),
    ],
)
def test_no_texts_overlap(count: int, start: Any, end: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    start, end = np.array((start, end), dtype=float)
    section = sn.Section.circle(1e-3 * float(np.linalg.norm(end - start)))
    for k in range(count):
        aside = 0.05 * k * np.linalg.norm(end - start) * np.array((0.6, 0.0, 0.8))
        scene.add(
            sn.Rod.straight(
                start + aside, end + aside, section=section, material=STEEL, name=f"branch of the harness {k}"
            )
        )
    assert overlapping(scene.plot(), monkeypatch) == []


def test_texts_that_overlap_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = plt.figure()
    figure.text(0.5, 0.5, "one")
    figure.text(0.51, 0.51, "other")
    figure.text(0.1, 0.1, "far")
    assert overlapping(figure, monkeypatch) == [("one", "other")]
