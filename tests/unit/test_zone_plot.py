"""Pictures of zones: deformed surface, colours with their unit, equal scales in space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from references.meshes import sphere
from references.solids import fem_block

import sennit as sn
from sennit.bodies.zone.zone import Zone

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(scope="module")
def state() -> sn.ZoneState:
    surface, boundary = fem_block((0.04, 0.04, 0.02), (3, 3, 2), 0.4)
    fixed = np.flatnonzero(surface.vertices[:, 2] < 1e-9)
    zone = Zone(surface, fixed, sn.Material(5e4, 0.4, 1000), "fem", "pad", boundary)
    return zone.touch((0.02, 0.02, 0.02), displacement=(0, 0, -2e-3))


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize(("show", "label"), [("traction", "Pa)"), ("pressure", "Pa)"), ("displacement", "(mm)")])
def test_a_labelled_picture(state: sn.ZoneState, show: str, label: str) -> None:
    figure = state.plot(show=show)
    figure.canvas.draw()
    space, bar = figure.axes
    assert bar.get_ylabel().startswith(show) and bar.get_ylabel().endswith(label)
    assert [space.get_xlabel(), space.get_ylabel(), space.get_zlabel()] == ["x (mm)", "y (mm)", "z (mm)"]
    assert "pad" in space.get_title() and "N" in space.get_title()
    spans = [np.ptp(limits) for limits in (space.get_xlim(), space.get_ylim(), space.get_zlim())]
    assert np.ptp(np.array(spans) / space.get_box_aspect()) < 1e-9 * max(spans)


def test_small_displacements_are_drawn_larger_and_said_so(state: sn.ZoneState) -> None:
    small = state.zone.touch((0.02, 0.02, 0.02), displacement=(0, 0, -2e-6))
    assert "drawn × 500" in small.plot().axes[0].get_title()
    assert "drawn" not in state.plot().axes[0].get_title()
    assert "drawn × 3" in state.plot(scale=3.0).axes[0].get_title()


def test_a_zone_at_rest(state: sn.ZoneState) -> None:
    state.zone.solve().plot().canvas.draw()


def test_a_body_without_edges() -> None:
    vertices, faces = sphere(0.02, 1)
    zone = sn.Zone.from_mesh(vertices, faces, material=sn.Material(5e4, 0.4, 1000), fixed=vertices[:, 2] < 0.0)
    zone.touch((0, 0, 0.02), displacement=(0, 0, -2e-3)).plot().canvas.draw()


def test_it_draws_on_given_axes(state: sn.ZoneState) -> None:
    axes = plt.figure().add_subplot(projection="3d")
    assert state.plot(axes) is axes.get_figure()
    assert len(plt.get_fignums()) == 1


def test_mistakes(state: sn.ZoneState) -> None:
    with pytest.raises(sn.InputError, match="projection"):
        state.plot(plt.figure().add_subplot())
    with pytest.raises(sn.InputError, match="show.*'stress'"):
        state.plot(show="stress")
    with pytest.raises(sn.InputError, match="scale"):
        state.plot(scale=-1.0)
