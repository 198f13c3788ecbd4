"""The numbers of docs/errata.md: the printed form is as wrong as the page says, the other one is right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture(scope="module")
def forms() -> ModuleType:
    path = Path(__file__).parent.parent / "docs" / "errata_forms.py"
    spec = importlib.util.spec_from_file_location("errata_forms", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("form", "limit"), [("turned", 0.0), ("term", 0.0), ("printed", 0.394), ("other index", 0.105), ("scalar", 0.884)]
)
def test_sweeps_converge_somewhere(forms: ModuleType, form: str, limit: float) -> None:
    coarse, fine = forms.sweep_errors(form, (100, 200))
    assert abs(2 * fine - coarse - limit) < 3e-3  # first order, so this is the limit but for h²


def test_a_cantilever_does_not_rise(forms: ModuleType) -> None:
    assert forms.tip_height(-1.0) == pytest.approx(-0.2385, abs=5e-5)
    assert forms.tip_height(1.0) == pytest.approx(0.2385, abs=5e-5)


def test_repeated_sweeps(forms: ModuleType) -> None:
    assert len(forms.repeated_sweeps(1.0)) == 12
    assert [abs(change) > 1.0 for change in forms.repeated_sweeps(3.0, limit=20)] == [True] * 20
    assert len(forms.repeated_sweeps(3.0, 0.5)) == 10


def test_logarithms(forms: ModuleType) -> None:
    assert 1e-4 < forms.log_error(1e-6, by_trace=True) < 1e-2
    assert forms.log_error(1e-8, by_trace=True) > 0.1
    assert max(forms.log_error(10.0**-k, by_trace=False) for k in range(1, 9)) < 1e-14


def test_shooting_grows(forms: ModuleType) -> None:
    assert forms.shooting_growth(1e2) == pytest.approx(62.1, rel=0.01)
    assert forms.shooting_growth(1e4) == pytest.approx(1e27, rel=0.1)


def test_rows_of_scenes(forms: ModuleType) -> None:
    assert forms.plane_residual(1.0) < 1e-14
    assert forms.plane_residual(-1.0) == pytest.approx(2.0)
    assert forms.orientation_force() < 1e-14
    assert forms.distance_errors(3) == pytest.approx([1.67e-2, 1.37e-4, 9.4e-9], rel=0.01)
    assert forms.stretch_curvatures(0.8) == pytest.approx([-0.25, -0.25, 1.0])


def test_pearls(forms: ModuleType) -> None:
    assert forms.pearl_travel(2.0, False) == pytest.approx(9.81, rel=2e-3)
    assert forms.pearl_travel(2.0, True) == pytest.approx(4.905, rel=2e-3)
    assert forms.pearl_momentum(False, dt=1e-3)[1][-1] == pytest.approx(2.21, rel=0.01)
    assert forms.pearl_momentum(True, dt=1e-3)[1][-1] == pytest.approx(4.0, rel=1e-9)


def test_frenet(forms: ModuleType) -> None:
    _, roll, torsion = forms.frenet_roll(1e-3)
    assert np.degrees(roll[-1]) == pytest.approx(-180.0, abs=0.2)
    assert torsion == pytest.approx(1000.0)


def test_seams(forms: ModuleType) -> None:
    errors = {form: forms.seam_error(form) for form in ("right", "printed", "twice", "no trailing F")}
    assert errors.pop("right") < 1e-14
    assert errors == pytest.approx({"printed": 0.93, "twice": 0.48, "no trailing F": 0.46}, abs=5e-3)


def test_kelvin(forms: ModuleType) -> None:
    assert max(forms.rotation_defect(transposed=False)) < 1e-6
    translation, rotation = forms.rotation_defect(transposed=True)
    assert translation < 1e-6
    assert rotation == pytest.approx(0.19, abs=5e-3)


def test_cables(forms: ModuleType) -> None:
    stiffness = forms.cable_stiffnesses()
    assert stiffness["twist"] == pytest.approx(18.88, abs=5e-3)
    assert stiffness["twist, printed"] == pytest.approx(7.55e5, rel=1e-3)
    assert (stiffness["stretch"], stiffness["stretch of 2 m"]) == pytest.approx((3.93e6, 7.85e6), rel=1e-3)
    assert (forms.winch_speed(-0.5, 0.01, True), forms.winch_speed(-0.5, 0.01, False)) == pytest.approx((-50, -0.5))
    assert (forms.winch_lag(1.0, 0.01, True), forms.winch_lag(1.0, 0.01, False)) == pytest.approx((0.01, 0.0))
    assert [forms.top_frequency(n) for n in (10, 20)] == pytest.approx([9.89e4, 1.994e5], rel=1e-3)
    assert [forms.node_friction(0.2, np.pi / 2, n) for n in (1, 16)] == pytest.approx([1.5, 1.3695], rel=1e-4)


def test_what_a_cable_loses(forms: ModuleType) -> None:
    assert [forms.left_after(c) for c in (10.0, 1e3, 1e6)] == pytest.approx([0.978, 0.801, 0.00166], rel=5e-3)
    _, worn = forms.swing(1e6, "printed")
    _, kept = forms.swing(1e6, "spook")
    assert np.abs(worn[-10:]).max() < 0.01
    assert np.abs(kept[-20:]).max() == pytest.approx(1.0, abs=0.02)


def test_a_cable_is_no_strut(forms: ModuleType) -> None:
    held, push = forms.let_go(clamped=False)
    assert held < 1e-3
    assert push == pytest.approx(1.87e4, rel=0.01)
    fallen, push = forms.let_go(clamped=True)
    assert fallen == pytest.approx(0.0495, abs=1e-3)
    assert push == 0.0


def test_a_rigid_rotation_does_not_twist(forms: ModuleType) -> None:
    assert forms.euler_twist(0.0, 0.8) == pytest.approx(0.0, abs=1e-14)
    assert forms.euler_twist(1.0, 0.8) == pytest.approx(-0.964, abs=1e-3)
    assert forms.carried_twist(1.0, 0.8) == pytest.approx(0.0, abs=1e-14)
