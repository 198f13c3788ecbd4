"""Materials and sections, against tables, quadrature and independent solutions of Saint-Venant's problems."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import mpmath
import numpy as np
import pytest

from sennit.errors import InputError
from sennit.material import Material, Section

STEEL = Material(200e9, 0.3, 7850)


# ------------------------------------------------------------------------------------------------------------ material


def test_positional_order_and_defaults() -> None:
    assert (STEEL.youngs_modulus, STEEL.poisson_ratio, STEEL.density) == (200e9, 0.3, 7850.0)
    assert STEEL.relaxation_time == 0.0
    assert STEEL.shear_modulus == 200e9 / 2.6
    assert STEEL.isotropic
    named = Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150, relaxation_time=0.01)
    assert named == Material(2.7e9, 0.39, 1150, 0.01)


def test_shear_modulus_in_place_of_the_poisson_ratio() -> None:
    material = Material(3.0, density=1.0, shear_modulus=1.2)
    assert material.poisson_ratio == pytest.approx(0.25, rel=1e-15)
    assert material.shear_modulus == 1.2
    assert material.isotropic
    assert Material(3.0, density=1.0, shear_modulus=1.0).poisson_ratio == 0.5


def test_both_make_an_anisotropic_material() -> None:
    rope = Material(1e9, 0.3, 1000, shear_modulus=1e7)
    assert (rope.poisson_ratio, rope.shear_modulus) == (0.3, 1e7)
    assert not rope.isotropic
    assert Material(200e9, 0.3, 7850, shear_modulus=200e9 / 2.6) == STEEL


@pytest.mark.parametrize("ratio", [0.5, 0.0, -0.999999])
def test_poisson_ratios_at_the_limits(ratio: float) -> None:
    assert Material(1.0, ratio, 1.0).shear_modulus == pytest.approx(0.5 / (1.0 + ratio), rel=1e-15)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"youngs_modulus": 0.0}, "youngs_modulus"),
        ({"youngs_modulus": -1e9}, "youngs_modulus"),
        ({"youngs_modulus": math.nan}, "youngs_modulus"),
        ({"youngs_modulus": "steel"}, "youngs_modulus"),
        ({"poisson_ratio": -1.0}, "poisson_ratio"),
        ({"poisson_ratio": 0.5000001}, "poisson_ratio"),
        ({"poisson_ratio": math.inf}, "poisson_ratio"),
        ({"density": 0.0}, "density"),
        ({"density": -1.0}, "density"),
        ({"density": None}, "density"),
        ({"relaxation_time": -1e-3}, "relaxation_time"),
        ({"shear_modulus": 0.0}, "shear_modulus"),
        ({"poisson_ratio": None}, "poisson_ratio"),
        ({"poisson_ratio": None, "shear_modulus": 1.0}, "shear_modulus"),
    ],
)
def test_bad_materials(arguments: dict[str, object], named: str) -> None:
    good: dict[str, object] = {"youngs_modulus": 4.0, "poisson_ratio": 0.3, "density": 1.0}
    with pytest.raises(InputError, match=f"^{named}") as caught:
        Material(**{**good, **arguments})  # type: ignore[arg-type]
    value = arguments[named]
    assert value is None or repr(value).removesuffix(".0") in str(caught.value)


@pytest.mark.parametrize("thing", [STEEL, Section.rectangle(1, 2), Section.tube(2, 1)])
def test_never_changes(thing: Material | Section) -> None:
    name = dataclasses.fields(thing)[2].name
    with pytest.raises(InputError, match="never changes"):
        setattr(thing, name, 1.0)
    # `replace` would keep what followed from the old numbers (G from ν, J from the width): it is refused.
    with pytest.raises(ValueError, match="init=False"):
        dataclasses.replace(thing, **{name: 1.0})
    for again in (copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert again == thing
        assert hash(again) == hash(thing)


def test_a_materials_repr_makes_it_again() -> None:
    for material in (STEEL, Material(1e9, 0.3, 1000, 0.1, shear_modulus=1e7)):
        assert eval(repr(material)) == material


# ------------------------------------------------------------------------------------------------- areas and moments


def polygon_moments(points: np.ndarray) -> tuple[float, float, float]:
    """Area, ∫ y² dA and ∫ x² dA of a polygon, exactly, by Green's theorem along its edges."""
    x, y = points.T
    x1, y1 = np.roll(points, -1, axis=0).T
    edge = x * y1 - x1 * y
    return (
        0.5 * edge.sum(),
        (edge * (y * y + y * y1 + y1 * y1)).sum() / 12,
        (edge * (x * x + x * x1 + x1 * x1)).sum() / 12,
    )


def test_moments_of_a_rectangle_follow_from_its_outline() -> None:
    section = Section.rectangle(width=0.02, height=0.005)
    assert section.I2 > section.I1
    for n in (4, 5, 6, 7, 11, 32, 101):
        outline = section.outline(n)
        assert outline.shape == (n, 2)
        assert len(np.unique(outline.round(12), axis=0)) == n
        np.testing.assert_allclose(polygon_moments(outline), (section.area, section.I1, section.I2), rtol=1e-13)
    np.testing.assert_allclose(np.abs(section.outline(4)), np.tile((0.01, 0.0025), (4, 1)))
    # Spread evenly: no gap is much wider than the perimeter over the count.
    gaps = np.linalg.norm(np.diff(section.outline(50), axis=0, append=section.outline(50)[:1]), axis=1)
    assert gaps.max() < 1.5 * 0.05 / 50


def test_moments_of_a_ring_follow_from_its_outlines() -> None:
    # Polygons of n sides miss a circle by O(n⁻²); Richardson's extrapolation leaves O(n⁻⁴).
    def extrapolated(section: Section) -> np.ndarray:
        coarse, fine = (np.array(polygon_moments(section.outline(n))) for n in (500, 1000))
        return fine + (fine - coarse) / 3.0

    disc, tube = Section.circle(3e-3), Section.tube(outer=3e-3, inner=2e-3)
    np.testing.assert_allclose(extrapolated(disc), (disc.area, disc.I1, disc.I2), rtol=1e-9)
    ring = extrapolated(tube) - extrapolated(Section.circle(2e-3))
    np.testing.assert_allclose(ring, (tube.area, tube.I1, tube.I2), rtol=1e-9)


def test_a_thin_wall_loses_no_digits() -> None:
    radius, wall = 1.0, 2.0**-40
    tube = Section.tube(radius, radius - wall)
    assert tube.area == pytest.approx(2 * math.pi * wall, rel=1e-12)
    np.testing.assert_allclose(tube.I1, math.pi * wall, rtol=1e-11)
    assert tube.J == 2 * tube.I1


def test_radius_bounds_the_outline() -> None:
    custom = Section.custom(area=math.pi * 4.0, I1=1.0, I2=2.0, J=3.0, shear1=0.8, shear2=0.7)
    assert custom.radius == pytest.approx(2.0, rel=1e-15)
    for section in (Section.circle(1.5), Section.tube(1.5, 1), Section.rectangle(3, 4), custom):
        assert np.linalg.norm(section.outline(64), axis=1).max() == pytest.approx(section.radius, rel=1e-15)
        assert polygon_moments(section.outline(64))[0] > 0.0  # counter-clockwise
    assert Section.rectangle(3, 4).radius == 2.5


# -------------------------------------------------------------------------------------------------------------- torsion


def test_torsion_constants_of_rings() -> None:
    np.testing.assert_allclose(Section.circle(2.0).J, math.pi * 8.0, rtol=1e-15)
    np.testing.assert_allclose(Section.tube(2.0, 1.0).J, math.pi * 7.5, rtol=1e-15)
    assert Section.tube(2.0, 0.0).J == Section.circle(2.0).J


@pytest.mark.parametrize(
    ("aspect", "published"),
    [
        (1.0, 0.1406),
        (1.2, 0.166),
        (1.5, 0.196),
        (2.0, 0.229),
        (2.5, 0.249),
        (3.0, 0.263),
        (4.0, 0.281),
        (5.0, 0.291),
        (10.0, 0.312),
    ],
)
def test_torsion_of_rectangles_against_the_published_table(aspect: float, published: float) -> None:
    """Timoshenko and Goodier, Theory of Elasticity, §109: J / (a b³), three digits."""
    for section in (Section.rectangle(aspect, 1.0), Section.rectangle(1.0, aspect)):
        assert section.J / aspect == pytest.approx(published, abs=6e-4)


def chebyshev(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Differentiation matrix and points of Chebyshev collocation on [−1, 1] (Trefethen, Spectral Methods, ch. 6)."""
    points = np.cos(math.pi * np.arange(n + 1) / n)
    weights = np.array([2.0, *[1.0] * (n - 1), 2.0]) * (-1.0) ** np.arange(n + 1)
    matrix = np.outer(weights, 1.0 / weights) / (points[:, None] - points[None, :] + np.eye(n + 1))
    return matrix - np.diag(matrix.sum(axis=1)), points


def clenshaw_curtis(n: int) -> np.ndarray:
    """Quadrature weights at the points of `chebyshev`."""
    moments = np.array([2.0 / (1.0 - k * k) if k % 2 == 0 else 0.0 for k in range(n + 1)])
    return np.linalg.solve(np.cos(np.outer(np.arange(n + 1), math.pi * np.arange(n + 1) / n)), moments)


@pytest.mark.parametrize("aspect", [1.0, 1.7, 4.0])
def test_torsion_of_rectangles_against_a_poisson_solver(aspect: float) -> None:
    """J = 2 ∫ φ dA for Prandtl's stress function, ∇²φ = −2 inside and φ = 0 on the boundary, by collocation."""
    n = 40
    D, _ = chebyshev(n)
    second = (D @ D)[1:-1, 1:-1]
    values, vectors = np.linalg.eig(second)
    a, b = 0.5 * aspect, 0.5
    right = np.linalg.solve(vectors, np.linalg.solve(vectors, np.full((n - 1, n - 1), -2.0)).T).T
    modes = right / (values[:, None] / a**2 + values[None, :] / b**2)
    phi = (vectors @ modes @ vectors.T).real
    w = clenshaw_curtis(n)[1:-1]
    # The solution's corner singularities, r² log r, leave an error of O(n⁻⁸).
    np.testing.assert_allclose(Section.rectangle(aspect, 1.0).J, 2.0 * a * b * (w @ phi @ w), rtol=1e-9)


@pytest.mark.parametrize("aspect", [1.0, 1.0001, 1.3, 2.0, 5.0])
def test_torsion_of_rectangles_to_rounding(aspect: float) -> None:
    """The same series, expanded along the other side: a different sum for the same number, with 30 digits."""
    with mpmath.workdps(30):
        a, b = mpmath.mpf(1), mpmath.mpf(aspect)
        series = mpmath.nsum(
            lambda k: mpmath.tanh((2 * k + 1) * mpmath.pi * a / (2 * b)) / (2 * k + 1) ** 5, [0, mpmath.inf]
        )
        expected = a * b**3 * (mpmath.mpf(1) / 3 - 64 / mpmath.pi**5 * (b / a) * series)
    np.testing.assert_allclose(Section.rectangle(1.0, aspect).J, float(expected), rtol=1e-15)
    assert Section.rectangle(aspect, 1.0).J == Section.rectangle(1.0, aspect).J


@pytest.mark.parametrize("aspect", [1e2, 1e4, 1e8, 1e80])
def test_torsion_of_strips(aspect: float) -> None:
    # Both ends of a strip take 0.31512… of its thickness off the length: all but e^(−π aspect) of the rest is exact.
    with mpmath.workdps(30):
        ends = float(64 / mpmath.pi**5 * mpmath.mpf(31) / 32 * mpmath.zeta(5))
    assert Section.rectangle(aspect, 1.0).J / aspect == pytest.approx(1 / 3 - ends / aspect, rel=1e-15)


# ---------------------------------------------------------------------------------------------------------------- shear


def cowper_factor(m: float, nu: float) -> float:
    """Cowper's shear factor of a ring with radii m and 1, from a numerical solution of his flexure problem.

    k = −2 (1 + ν) I² / (A ∫ x (χ + x y²) dA) where I_x = I_y; χ is harmonic with, on both circles,
    ∂χ/∂r = −cos φ [½ν x² + (1 − ½ν) y²] − sin φ (2 + ν) x y.
    """
    n, rays = 48, 16
    D, points = chebyshev(n)
    radii = 0.5 * (1 + m) + 0.5 * (1 - m) * points
    D = D / (0.5 * (1 - m))
    angle = 2 * math.pi * np.arange(rays) / rays
    cos, sin = np.cos(angle), np.sin(angle)
    chi = np.zeros((n + 1, rays))
    for order in range(1, rays // 2):
        laplace = D @ D + D / radii[:, None] - order**2 * np.diag(radii**-2.0)
        right = np.zeros(n + 1)
        for end in (0, n):
            r = radii[end]
            slope = -cos * (0.5 * nu * cos**2 + (1 - 0.5 * nu) * sin**2) * r**2 - sin * (2 + nu) * cos * sin * r**2
            laplace[end], right[end] = D[end], 2.0 / rays * (slope @ np.cos(order * angle))
        chi += np.outer(np.linalg.solve(laplace, right), np.cos(order * angle))
    x, y = radii[:, None] * cos, radii[:, None] * sin
    weights = (clenshaw_curtis(n) * 0.5 * (1 - m) * radii)[:, None] * (2 * math.pi / rays)
    area, moment = (weights * np.ones_like(x)).sum(), (weights * x * x).sum()
    return float(-2 * (1 + nu) * moment**2 / (area * (weights * x * (chi + x * y * y)).sum()))


@pytest.mark.parametrize("m", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_shear_factor_of_tubes_against_a_numerical_solution(m: float) -> None:
    tube = Section.tube(outer=2.0, inner=2.0 * m)
    assert tube.shear1 == tube.shear2 == pytest.approx(cowper_factor(m, nu=0.5), rel=1e-9)
    # The docstring's formula for any ν, and its bounds on what ν = 1/2 in its place costs.
    for nu, loss in ((0.3, 0.03), (0.0, 0.085)):
        square = (1 + m * m) ** 2
        general = 6 * (1 + nu) * square / ((7 + 6 * nu) * square + (20 + 12 * nu) * m * m)
        assert cowper_factor(m, nu) == pytest.approx(general, rel=1e-9)
        assert 0.0 < 1.0 - general / tube.shear1 < loss


def test_customary_shear_factors() -> None:
    assert Section.circle(1.0).shear1 == Section.circle(1.0).shear2 == pytest.approx(0.9, rel=1e-15)
    assert Section.tube(1.0, 0.0).shear1 == Section.circle(1.0).shear1
    assert Section.tube(1.0, 1.0 - 1e-9).shear1 == pytest.approx(6 / 11, rel=1e-8)
    assert Section.rectangle(1.0, 3.0).shear1 == Section.rectangle(1.0, 3.0).shear2 == 5 / 6


# ---------------------------------------------------------------------------------------------------------- stiffnesses


def test_stiffnesses() -> None:
    E, G = STEEL.youngs_modulus, STEEL.shear_modulus
    section = Section.custom(area=2.0, I1=3.0, I2=4.0, J=5.0, shear1=0.6, shear2=0.7)
    np.testing.assert_array_equal(section.bending_stiffness(STEEL), np.diag((E * 3.0, E * 4.0, G * 5.0)))
    np.testing.assert_allclose(
        section.stretching_stiffness(STEEL), np.diag((0.6 * G * 2.0, 0.7 * G * 2.0, E * 2.0)), rtol=1e-15
    )
    assert section.mass_per_length(STEEL) == 2.0 * 7850.0


def test_a_flat_strip_bends_easily_about_its_width() -> None:
    strip = Section.rectangle(width=0.02, height=0.001)
    np.testing.assert_allclose(strip.I1, 0.02 * 0.001**3 / 12, rtol=1e-15)
    np.testing.assert_allclose(strip.I2, 0.001 * 0.02**3 / 12, rtol=1e-15)
    about_d1, about_d2, _ = np.diag(strip.bending_stiffness(STEEL))
    assert about_d1 < about_d2


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", True, None])
def test_bad_sections(bad: float) -> None:
    good = {"area": 1.0, "I1": 1.0, "I2": 1.0, "J": 1.0, "shear1": 1.0, "shear2": 1.0}
    calls = {
        "radius": lambda: Section.circle(bad),
        "width": lambda: Section.rectangle(bad, 1.0),
        "height": lambda: Section.rectangle(1.0, bad),
        "outer": lambda: Section.tube(bad, 0.0),
        **{name: lambda name=name: Section.custom(**{**good, name: bad}) for name in good},
    }
    for name, call in calls.items():
        with pytest.raises(InputError, match=f"^{name} must be a finite number above 0, got {bad!r}$"):
            call()


@pytest.mark.parametrize("extreme", [1e-200, 1e200])
def test_sections_beyond_the_range_of_floats(extreme: float) -> None:
    for section in (
        Section.circle,
        lambda radius: Section.tube(radius, 0.0),
        lambda side: Section.rectangle(side, side),
    ):
        with pytest.raises(InputError, match=r"e[+-]200.* is too small or too large: its area would be"):
            section(extreme)


def test_inner_radius_lies_within_the_outer() -> None:
    for inner in (1.0, 2.0, -0.1):
        with pytest.raises(InputError, match="inner must be a finite number at least 0 and below 1, got"):
            Section.tube(1.0, inner)


def test_outline_needs_enough_points() -> None:
    with pytest.raises(InputError, match="n must be a whole number of at least 4, got 3"):
        Section.rectangle(1, 1).outline(3)
    with pytest.raises(InputError, match="n must be a whole number of at least 3, got 2"):
        Section.circle(1).outline(2)


def test_sections_come_from_their_constructors() -> None:
    with pytest.raises(TypeError, match=r"Section\.circle"):
        Section()
