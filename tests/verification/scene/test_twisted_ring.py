"""A ring of naturally straight rod, twisted: the plane ring buckles at the total twist 2 pi sqrt(3) EI/GJ.

J. H. Michell, Messenger of Mathematics 19 (1889-90) 181-184; E. E. Zajac, J. Appl. Mech. 29 (1962) 136-142; A. Goriely,
J. Elasticity 84 (2006) 281-299.  With mode number k the critical twist is sqrt(k^2 - 1) 2 pi EI/GJ; k = 2 comes first.

The free ring has seven motions without energy: six rigid ones, and each section rolling alike.  One clamp and one
point kept in the plane take these seven and nothing else.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import free_scene, round_rod

import sennit as sn

POINTS = 24


def circle(n: int = 2000) -> np.ndarray:
    """A circle of length 1 in the (x, y) plane, not closed by a double point."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle), 0 * angle]) / (2 * np.pi)


def settled(make, twist: float):
    """The ring with ``twist`` (rad in all): at rest it would be twisted by minus as much."""
    scene = free_scene()
    ring = scene.add(make.through(circle(), POINTS, closed=True, straight=True, rest_twist=-twist))
    assert ring.length == pytest.approx(1.0, rel=1e-2)
    scene.add(sn.Clamp(ring.at(0.0)))
    scene.add(sn.OnPlane(ring.at(ring.length / 2), (0, 0, 1)))
    return ring, scene.settle()


def is_plane(ring) -> bool:
    return bool(np.abs(ring.centerline(100)[:, 2]).max() < 1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("poisson_ratio", [0.0, 0.5])
def test_critical_twist(poisson_ratio, sign, validated):
    # (2 2 pi/24)^4/50 = 0.15 % for two waves on 24 spans: 2 % either side decides
    make = round_rod(1e5, poisson_ratio)
    critical = sign * 2 * np.pi * np.sqrt(3) * make.bend1 / make.twist
    ring, report = settled(make, 0.98 * critical)
    assert report.converged
    assert is_plane(ring)
    assert report.stable is True
    # the ring keeps bending energy EI/2 (2 pi)^2 and twisting energy GJ/2 twist^2
    assert ring.energy.bend == pytest.approx(2 * np.pi**2, rel=1e-2)
    assert ring.energy.twist == pytest.approx(make.twist * (0.98 * critical) ** 2 / 2, rel=1e-2)
    ring, report = settled(make, 1.02 * critical)
    assert not (is_plane(ring) and report.stable)
    validated(
        "Twisted ring",
        area="rods in scenes",
        quantity="critical twist, bracket",
        reference="Michell 1889: 2π√3 EI/GJ",
        error=0.02,
        bound=0.02,
    )
