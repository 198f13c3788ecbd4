"""Pictures of a state: four panels, labelled with units, equal scales in space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(scope="module")
def state() -> sn.StrandState:
    suture = sn.Strand(0.25, sn.Section.circle(radius=2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
    tip = sn.Pose.along((0.1, 0.03, 0.1), (1.0, 0.0, 0.5))
    return suture.solve(base=sn.Pose(), tip=tip, gravity=(0, 0, -9.81))


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


def test_four_labelled_panels(state: sn.StrandState) -> None:
    figure = state.plot()
    figure.canvas.draw()
    shape, curvature, force, moment = figure.axes
    assert [shape.get_xlabel(), shape.get_ylabel(), shape.get_zlabel()] == ["x (mm)", "y (mm)", "z (mm)"]
    assert curvature.get_ylabel() == "curvature (1/m)"
    assert force.get_ylabel() in ("internal force (mN)", "internal force (µN)")
    assert moment.get_ylabel() == "internal moment (µN·m)"
    for axes in (curvature, force, moment):
        assert axes.get_xlabel() == "arclength s (mm)"
        assert len(axes.get_legend().get_texts()) == 3
    assert [text.get_text() for text in shape.get_legend().get_texts()] == ["base", "d1", "d2"]


def test_the_lines_are_the_state(state: sn.StrandState) -> None:
    shape, curvature, force, moment = state.plot().axes
    assert np.allclose(np.array(shape.lines[0].get_data_3d()).T, 1e3 * state.positions)
    prefixes = {"m": 1e-3, "µ": 1e-6}
    for axes, values in ((curvature, state.curvatures), (force, state.forces), (moment, state.moments)):
        scale = 1.0 if axes is curvature else prefixes[axes.get_ylabel().partition("(")[2][0]]
        lines = [line for line in axes.lines if len(line.get_xdata()) == len(state.s)]
        assert np.allclose(lines[0].get_xdata(), 1e3 * state.s)
        assert np.allclose(np.column_stack([line.get_ydata() for line in lines]) * scale, values)
        assert len({line.get_linestyle() for line in lines}) == 3  # told apart without colours too


def test_a_millimetre_is_as_long_in_every_direction(state: sn.StrandState) -> None:
    shape = state.plot().axes[0]
    spans = [np.ptp(limits) for limits in (shape.get_xlim(), shape.get_ylim(), shape.get_zlim())]
    assert np.ptp(np.array(spans) / shape.get_box_aspect()) < 1e-9 * max(spans)
    for k, limits in enumerate((shape.get_xlim(), shape.get_ylim(), shape.get_zlim())):
        assert limits[0] < 1e3 * state.positions[:, k].min() and limits[1] > 1e3 * state.positions[:, k].max()


def test_a_straight_strand_without_loads(recwarn: pytest.WarningsRecorder) -> None:
    rod = sn.Strand(1.0, sn.Section.circle(radius=1e-3), sn.Material(2e9, 0.3, 1000), nodes=11)
    figure = rod.solve(base=sn.Pose()).plot()
    figure.canvas.draw()
    assert figure.axes[2].get_ylabel() == "internal force (N)"


def test_it_draws_on_given_axes(state: sn.StrandState) -> None:
    figure = plt.figure()
    axes = [figure.add_subplot(1, 4, 1, projection="3d"), *(figure.add_subplot(1, 4, k) for k in (2, 3, 4))]
    assert state.plot(axes) is figure
    assert all(panel.lines for panel in axes)
    assert len(plt.get_fignums()) == 1


def test_other_axes_are_refused(state: sn.StrandState) -> None:
    _, panels = plt.subplots(2, 2)
    with pytest.raises(InputError, match="projection"):
        state.plot(panels)
    with pytest.raises(InputError, match="four matplotlib axes"):
        state.plot(panels[0])
    with pytest.raises(InputError, match="four matplotlib axes"):
        state.plot([1, 2, 3, 4])
