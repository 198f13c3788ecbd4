"""Reference values of ``sennit bench peers``: closed forms, other methods, and fine solves by sennit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, simpson, solve_ivp
from scipy.optimize import brentq, minimize_scalar, root
from scipy.special import ellipk

import sennit as sn
from peers import our_models, ours, references, tasks
from peers.references import Stiffness
from peers.scripts import measures

EI = 1e7 * math.pi * 0.005**4 / 4.0
WEIGHT = 1000.0 * math.pi * 0.005**2 * 9.81
RIGID = Stiffness(EI=EI, GJ=2.0 / 3.0 * EI)


def test_the_heavy_cantilever_agrees_with_shooting() -> None:
    """From the free end, where the moment is zero: one unknown angle, found by bracketing; no collocation."""
    a = 1.0 / (1e7 * math.pi * 0.005**2)
    soft = Stiffness(EI=EI, GJ=EI, stretch=a, shear=3.0 * a)

    def shot(angle: float, rod: Stiffness) -> Any:
        def rhs(s: float, y: Any) -> list[float]:  # s from the tip
            pull = -WEIGHT * s
            c, d = math.cos(y[0]), math.sin(y[0])
            along, across = 1.0 + rod.stretch * pull * d, rod.shear * pull * c
            dx, dz = along * c - across * d, along * d + across * c
            return [-y[1] / rod.EI, dx * pull, -dx, -dz]

        return solve_ivp(rhs, (0.0, 1.0), (angle, 0.0, 0.0, 0.0), rtol=1e-11, atol=1e-12).y[:, -1]

    for rod in (RIGID, soft):
        tip = brentq(lambda angle, rod=rod: shot(angle, rod)[0], -1.57, -1.3, xtol=1e-13)
        at_clamp = shot(tip, rod)
        assert references.heavy_cantilever(1.0, WEIGHT, rod) == pytest.approx(-at_clamp[2:], abs=2e-9)


def test_a_light_cantilever_sags_as_a_beam() -> None:
    tip = references.heavy_cantilever(1.0, 1e-3 * EI, RIGID)
    assert tip[1] == pytest.approx(-1e-3 / 8.0, rel=1e-6)
    shear = Stiffness(EI=EI, GJ=EI, shear=1.0 / EI)
    tip = references.heavy_cantilever(1.0, 1e-3 * EI, shear)
    assert tip[1] == pytest.approx(-1e-3 * (1.0 / 8.0 + 0.5), rel=1e-5)


def test_the_frequencies_of_beams() -> None:
    thin = math.sqrt(EI / 2.0) / (2.0 * math.pi)  # mass 2 kg/m, 1 m
    assert references.cantilever_frequency(1.0, RIGID, 2.0) == pytest.approx(1.875104068711961**2 * thin, rel=1e-9)
    assert references.cantilever_frequency(1.0, RIGID, 2.0, mode=2) == pytest.approx(22.03449156466 * thin, rel=1e-9)
    # Rayleigh's quotient with the unchanged first mode bounds the effect of rotary inertia from above.
    heavy = references.cantilever_frequency(1.0, RIGID, 2.0, rotary=2e-3)
    assert heavy / (1.875104068711961**2 * thin) - 1.0 == pytest.approx(-0.5 * 4.6478 * 1e-3, rel=0.01)
    # Dunkerley: compliances add up, so 1/f² grows by that of a bar that only shears, f = 1/4 √(kGA/ρA), nearly.
    shear = 1e-3 / EI
    both = references.cantilever_frequency(1.0, Stiffness(EI=EI, GJ=EI, shear=shear), 2.0)
    alone = 0.25 / math.sqrt(2.0 * shear)
    bent = references.cantilever_frequency(1.0, RIGID, 2.0)
    assert 1.0 / both**2 - 1.0 / bent**2 == pytest.approx(1.0 / alone**2, rel=0.2)


def test_a_cantilever_that_swings_far_is_faster() -> None:
    """Beside averaging by hand: z = φ q, sin θ = z′, x = −½ ∫ z′² give the Lagrangian of one mode to the fourth power,
    ½ q̇² + ½ β q² q̇² − ½ ω² q² − ¼ α q⁴, whose frequency at the amplitude a is ω (1 + a² (3α/8ω² − β/4)).
    """
    b = 1.875104068711961
    s = np.linspace(0.0, 1.0, 4001)
    k = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))
    slope = b * (np.sinh(b * s) + np.sin(b * s) - k * (np.cosh(b * s) - np.cos(b * s)))
    bend = b * b * (np.cosh(b * s) + np.cos(b * s) - k * (np.sinh(b * s) + np.sin(b * s)))
    alpha = 2.0 * simpson((bend * slope) ** 2, x=s)
    beta = simpson(cumulative_simpson(slope**2, x=s, initial=0.0) ** 2, x=s)
    a, times = 0.02, np.linspace(0.0, 5.5, 1101)
    heights = references.swing_of_tip(0.0, times, first=a)

    def left(share: float) -> float:  # of the height by the first mode, its third harmonic and the other modes
        rates = (b**2 * share, 3.0 * b**2 * share, 4.694091132974174**2, 7.854757438237613**2, 10.995540734875467**2)
        basis = np.stack([wave(rate * times) for rate in rates for wave in (np.cos, np.sin)], axis=1)
        return float(np.linalg.norm(basis @ np.linalg.lstsq(basis, heights, rcond=None)[0] - heights) / a**3)

    found = minimize_scalar(left, bounds=(1.0, 1.0001), method="bounded", options={"xatol": 1e-10})
    assert found.x - 1.0 == pytest.approx(a**2 * (3.0 * alpha / (8.0 * b**4) - 0.25 * beta), rel=2e-3)
    # Let go under gravity it swings about its sag; the effect is of second order in it.
    times = np.linspace(0.0, 5.5, 2201)
    heavy, light = (references.swing_frequency(g, times) - 1.0 for g in (0.016, 0.008))
    assert heavy / light == pytest.approx(4.0, rel=1e-3) and 2e-6 < heavy < 3e-6


def test_the_swing_of_a_hoist() -> None:
    stiff, amplitude = 1e8, 0.1
    period, mean = references.cable_swing(4.0, stiff, 1000.0, 9.81, amplitude)
    long = 4.0 * (1.0 + 9810.0 / stiff)
    exact = 4.0 * math.sqrt(long / 9.81) * float(ellipk(math.sin(0.5 * amplitude) ** 2))
    assert period == pytest.approx(exact, rel=2e-6)  # the swing changes the stretch of 1e-4 by 1 %
    assert mean == pytest.approx(4.0 * 9810.0 / stiff * (1.0 + 0.25 * amplitude**2), rel=1e-3)
    # A massive cable that hangs straight swings as a rod would, to first order of its mass.
    heavy, _ = references.cable_swing(4.0, stiff, 1000.0, 9.81, amplitude, 1.0)
    assert heavy / period - 1.0 == pytest.approx(0.5 * (1e-3 / 3.0 - 1e-3 / 2.0), rel=2e-3)
    assert references.elongation(4.0, 2e6, 100.0, 10.0, 20.0) == pytest.approx(4.0 * 1100.0 / 2e6)


def test_a_bridge_without_rungs_is_a_catenary() -> None:
    c = brentq(lambda c: 2.0 * c * math.sinh(1.8 / c) - 4.0, 0.5, 20.0)
    sag = c * (math.cosh(1.8 / c) - 1.0)
    places, nothing = np.array((1.0, 2.0, 3.0)), np.zeros(3)
    assert references.bridge(4.0, 3.6, 1.0, places, nothing, None) == pytest.approx(sag, rel=1e-9)
    limp = Stiffness(EI=1e-5, GJ=1e-5)
    assert references.bridge(4.0, 3.6, 1.0, places, nothing, limp) == pytest.approx(sag, rel=2e-4)
    # All of the load in the middle and no weight: two straight halves, stretched by their tension.
    forces, stretch = np.array((0.0, 10.0, 0.0)), 1e-3

    def halves(unknown: Any) -> list[float]:
        pull, drop = unknown
        tension = math.hypot(pull, 5.0)
        reach = 2.0 * (1.0 + stretch * tension)
        return [reach * pull / tension - 1.8, reach * 5.0 / tension - drop]

    drop = root(halves, (9.0, 0.87), tol=1e-13).x[1]
    assert references.bridge(4.0, 3.6, 1e-9, places, forces, None, stretch) == pytest.approx(drop, rel=1e-8)


def test_pose_to_pose_along_an_arc_and_beside_a_strand() -> None:
    base = np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    angle = 1.2  # about z: from x towards y
    turned = np.array(((math.cos(angle), -math.sin(angle), 0), (math.sin(angle), math.cos(angle), 0), (0, 0, 1)))
    tip = np.array((math.sin(angle), 1.0 - math.cos(angle), 0.0)) / angle
    [(middle, force, torque)] = references.pose_to_pose(1.0, base, [(tip, turned @ base)], RIGID)
    half = 0.5 * angle
    assert middle == pytest.approx(np.array((math.sin(half), 1.0 - math.cos(half), 0.0)) / angle, abs=1e-9)
    assert np.abs(force).max() < 1e-7 and torque == pytest.approx((0.0, 0.0, EI * angle), rel=1e-7, abs=1e-9)

    problem = tasks.problems()["f"]
    section, material = our_models.section_of(problem), our_models.material_of(problem)
    for extensible, name in ((False, "inextensible"), (True, "extensible+shear k=9/10")):
        strand = sn.Strand(1.0, section, material, nodes=161, extensible=extensible)
        state = strand.solve(base=ours._pose(problem["base"]), tip=ours._pose(problem["tip"]))
        reference = problem["references"][name]
        assert state.stable
        assert state.positions[80] == pytest.approx(reference["middle"], abs=2e-8)
        assert state.tip_force == pytest.approx(reference["tip_force"], abs=2e-7)
        moved = strand.solve(base=ours._pose(problem["base"]), tip=ours._pose(problem["moved_tip"]), guess=state)
        assert moved.positions[80] == pytest.approx(reference["moved_middle"], abs=2e-8)


def test_the_models_differ_as_they_should() -> None:
    tips = {name: np.array(r["tip"]) for name, r in tasks.problems()["a"]["references"].items()}
    assert tips["inextensible"] == pytest.approx((0.122845, 0.0, -0.950889), abs=1e-6)
    # Extension alone moves the tip by 0.044 % of the length.
    assert np.linalg.norm(tips["extensible"] - tips["inextensible"]) == pytest.approx(4.4e-4, rel=0.01)
    assert np.linalg.norm(tips["extensible+shear k=9/10"] - tips["extensible"]) > 1e-4
    frequencies = [r["frequency"] for r in tasks.problems()["b"]["references"].values()]
    assert frequencies[0] == pytest.approx(1.3989814, abs=1e-7) and frequencies[1] < frequencies[0]
    assert all(f < frequencies[1] for f in frequencies[2:])


def test_the_file_of_problems(tmp_path: Path) -> None:
    tasks.write_problems(tmp_path / "p.json")
    content = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert list(content) == list(tasks.NAMES) and content == tasks.problems()
    for problem in content.values():
        assert problem["title"] and problem["error"] and problem["wall_s"] and problem["references"]
    d = content["d"]
    ends = measures.arc(d, (0.0, 2.0, 4.0))
    assert ends[[0, 2]] == pytest.approx(np.array(((-1.8, 0, 0), (1.8, 0, 0))), abs=1e-12)
    steps = np.linalg.norm(np.diff(measures.arc(d, np.linspace(0.0, 4.0, 2001)), axis=0), axis=1)
    assert steps.sum() == pytest.approx(4.0, abs=1e-6) and ends[1, 2] < -0.6


def test_frequency_and_period_are_measured() -> None:
    t = np.linspace(0.0, 2.2, 600)
    f = 1.4
    z = -2e-3 + 2e-3 * np.exp(-0.05 * t) * np.cos(2.0 * math.pi * f * 1.001 * t)
    z += 3e-5 * np.cos(2.0 * math.pi * f * 6.3 * t) + 2e-6 * np.sin(2.0 * math.pi * f * 17.6 * t)
    z += 3e-7 * np.cos(2.0 * math.pi * f * 34.4 * t)
    error, decay = measures.frequency_error(t, z, f)
    assert error == pytest.approx(1e-3, abs=2e-6) and decay == pytest.approx(0.05, abs=1e-4)
    error, _ = measures.frequency_error(t[::20], z[::20], f)  # coarse samples: only what they resolve is fitted
    assert error == pytest.approx(1e-3, abs=3e-4)
    t = np.arange(0.0, 9.5, 0.2)
    assert measures.period_error(t, np.cos(2.0 * math.pi * t / 4.0 / 1.003), 4.0) == pytest.approx(3e-3, abs=2e-5)
    with pytest.raises(ValueError, match="3 crossings"):
        measures.period_error(t[:26], np.cos(2.0 * math.pi * t[:26] / 4.0 + 0.01), 4.0)
