"""Stiff and soft rods at 60 steps a second: nothing blows up, and energy is never made.

Each falls from horizontal with a kick out of its plane, pinned or clamped at one end, for 12 s.  An implicit scheme may
lose energy; one solve a step of a stiff stretch may add some for a moment: 0.5 m g L is allowed (0.15 was measured in a
prototype; schemes that treat the tension wrongly gain 15 to 1e8 m g L).
"""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

RODS = {
    "rope": (sn.Material(1e7, 0.49, 1000), 5e-3),
    "nylon thread": (sn.Material(2.7e9, 0.39, 1150), 2e-4),
    "steel wire": (sn.Material(200e9, 0.3, 7850), 2.5e-4),
    "steel rod": (sn.Material(200e9, 0.3, 7850), 2.5e-3),
}


@pytest.mark.parametrize("hold", ["pinned", "clamped"])
@pytest.mark.parametrize("name", list(RODS))
@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_bounded(integrator, name, hold):
    material, radius = RODS[name]
    section, n = sn.Section.circle(radius), 20
    scene = sn.Scene(gravity=(0, 0, -9.81), integrator=integrator)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=section, material=material, control_points=n))
    scene.add(sn.Fix(rod.at(0.0)) if hold == "pinned" else sn.Clamp(rod.at(0.0)))
    x = np.array(rod.control_points)[:, 0]
    rod.control_velocities = np.column_stack([0 * x, 2.0 * x, 1.0 * x**2])
    unit = section.mass_per_length(material) * 9.81
    start = scene.energy.total
    energies, reach = [], 0.0
    for _ in range(720):
        scene.step(1 / 60)
        energies.append(scene.energy.total)
        reach = max(reach, float(np.abs(rod.control_points).max()))
    assert np.isfinite(energies).all()
    assert max(energies) - start < 0.5 * unit
    # no lower than hanging straight down, m g L/2 below the pin, and not stretched beyond what 30 weights do
    assert min(energies) > -unit
    assert reach < 1.05
    if hold == "pinned" and integrator == "euler":
        # twelve seconds of Euler's damping: it hangs, more or less
        assert np.mean(rod.centerline(21)[:, 2]) < -0.3
