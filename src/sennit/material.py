"""What rods and solids are made of, and the cross-sections of rods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["Look", "Material", "Properties", "Section", "elastic_material"]

Look = Literal["laid", "braid", "wire", "jacket", "smooth"]
"""How the surface of a rod is drawn; see `Material`."""


@unchanging
@dataclass(frozen=True, init=False)
class Material:
    """An elastic material, or one that creeps, yields or transforms; it never changes.

    Arguments: `youngs_modulus` E (Pa); `poisson_ratio` ν, above −1 and at most 0.5; `density` ρ (kg/m³);
    `relaxation_time` (s), the internal damping as a time over which stress relaxes, 0 for none; `shear_modulus` G (Pa).

    Give ν, and G = E / (2 (1 + ν)) follows; or give G, and ν = E / (2G) − 1 follows. Give both for a material that
    is not isotropic, such as a rope or a fibre composite: rods bend and stretch with E and twist and shear with G,
    whatever ν is; solids, which need an isotropic material, refuse one whose `isotropic` is False.

    Rods can be made of materials that are not elastic, which E and G are the stiffness of at first
    (docs/inelastic.md); all else refuses them, and one material is one of these:

    - `prony`, pairs (share, time in s): so much of the stiffness relaxes within that time (Maxwell). The shares, each
      above 0, come to less than 1;
    - `yield_stress` (Pa) from which fibres yield, in shear by von Mises; from there on stress grows by `hardening` (Pa,
      stress over strain, from 0 to below E; kinematic) times strain;
    - `superelastic`, upper plateau (Pa), lower plateau (Pa) and strain between them: what nickel-titanium does.

    `look` and `colour` are for pictures alone. Round rods and cables are drawn ``"laid"`` (strands that wind round
    each other, as of hemp), ``"braid"``, ``"wire"`` (bright strands of steel), ``"jacket"`` (a smooth sheath with a
    stripe) or ``"smooth"``; None: what density, stiffness and slenderness suggest. `colour`: (red, green, blue), 0 to
    255, of rods, cables and zones; None: the next one of a palette.

    Raises `InputError` for a modulus or a density that is not positive, for ν out of range (given or following from
    G), when both ν and G, or the density, are missing, for a law that no material can have, and for a look or a colour
    that there is not.
    """

    youngs_modulus: float = field(init=False)
    """E, Pa: stress over strain along the rod."""
    poisson_ratio: float = field(init=False)
    """ν, dimensionless, in (−1, 0.5]."""
    density: float = field(init=False)
    """Mass over volume: ρ, kg/m³."""
    relaxation_time: float = field(init=False)
    """Internal damping: each stress is that of the strain plus this time, s, times its rate; 0 means none."""
    shear_modulus: float = field(init=False)
    """G, Pa: shear stress over shear strain."""
    # The defaults are those of objects that were pickled before there were these.
    prony: tuple[tuple[float, float], ...] = field(init=False, default=())
    """Parts of the stiffness that relax, and their times, s."""
    yield_stress: float | None = field(init=False, default=None)
    """Stress from which it yields, Pa; None: it does not."""
    hardening: float = field(init=False, default=0.0)
    """Stress over strain while it yields, Pa."""
    superelastic: tuple[float, float, float] | None = field(init=False, default=None)
    """Upper and lower plateau, Pa, and the strain between their ends; None: it has none."""
    look: Look | None = field(init=False, default=None, compare=False)
    """How rods and cables of it are drawn; None: as its numbers suggest."""
    colour: tuple[int, int, int] | None = field(init=False, default=None, compare=False)
    """What is drawn in, (red, green, blue), 0 to 255; None: the next colour of a palette."""

    def __init__(
        self,
        youngs_modulus: float,
        poisson_ratio: float | None = None,
        density: float | None = None,
        relaxation_time: float = 0.0,
        *,
        shear_modulus: float | None = None,
        prony: Iterable[tuple[float, float]] = (),
        yield_stress: float | None = None,
        hardening: float = 0.0,
        superelastic: tuple[float, float, float] | None = None,
        look: Look | None = None,
        colour: ArrayLike | None = None,
    ) -> None:
        E = validation.number("youngs_modulus", youngs_modulus, positive=True)
        if poisson_ratio is None and shear_modulus is None:
            raise InputError("poisson_ratio is missing: give it (above -1, at most 0.5), shear_modulus (Pa), or both")
        if density is None:
            raise InputError("density is missing: give a number above 0, in kg/m³")
        G = math.nan if shear_modulus is None else validation.number("shear_modulus", shear_modulus, positive=True)
        if poisson_ratio is not None:
            nu = validation.number("poisson_ratio", poisson_ratio, above=-1.0, maximum=0.5)
            G = E / (2.0 * (1.0 + nu)) if shear_modulus is None else G
        else:
            nu = 0.5 * E / G - 1.0
            if not -1.0 < nu <= 0.5:
                raise InputError(
                    f"shear_modulus={G:g} with youngs_modulus={E:g} means a Poisson ratio of {nu:.4g}; an isotropic "
                    f"material allows shear_modulus from {E / 3.0:g} up to infinity. Give poisson_ratio too if the "
                    "material is not isotropic"
                )
        # Frozen: only `object.__setattr__` can fill the fields.
        object.__setattr__(self, "youngs_modulus", E)
        object.__setattr__(self, "poisson_ratio", nu)
        object.__setattr__(self, "density", validation.number("density", density, positive=True))
        time = validation.number("relaxation_time", relaxation_time, minimum=0.0)
        object.__setattr__(self, "relaxation_time", time)
        object.__setattr__(self, "shear_modulus", G)
        for name, value in _inelastic(E, prony, yield_stress, hardening, superelastic).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "look", _known_look(look))
        object.__setattr__(self, "colour", None if colour is None else validation.colour("colour", colour))

    @property
    def isotropic(self) -> bool:
        """Whether G = E / (2 (1 + ν)) to nine digits."""
        return math.isclose(2.0 * self.shear_modulus * (1.0 + self.poisson_ratio), self.youngs_modulus, rel_tol=1e-9)

    @property
    def elastic(self) -> bool:
        """Whether it neither relaxes by `prony`, nor yields or transforms."""
        return not self.prony and self.yield_stress is None and self.superelastic is None

    def varied(self, **numbers: float) -> Material:
        """The same with other numbers, by the names of arguments. An isotropic one keeps its Poisson's ratio."""
        named = ("youngs_modulus", "poisson_ratio", "density", "relaxation_time", "prony", "yield_stress", "hardening",
                 "superelastic", "look", "colour")  # fmt: skip
        same: dict[str, Any] = {name: getattr(self, name) for name in named}
        if not self.isotropic:
            same["shear_modulus"] = self.shear_modulus
        return Material(**same | numbers)


@unchanging
@dataclass(frozen=True, init=False)
class Section:
    """The cross-section of a rod, in the plane of the directors d1 and d2, with its centroid at the origin.

    Made by `circle`, `rectangle`, `tube` or `custom`; it never changes. I1 is the second moment of area for bending
    about d1, ∫ y² dA with y along d2; I2 that about d2, ∫ x² dA with x along d1; d1 and d2 are principal axes.
    """

    kind: Literal["circle", "rectangle", "tube", "custom"] = field(init=False)
    """Which constructor made it."""
    dimensions: tuple[float, ...] = field(init=False)
    """The constructor's lengths, m: (radius,), (width, height), (outer, inner), or () for a custom section."""
    area: float = field(init=False)
    """Area of the section: A, m²."""
    I1: float = field(init=False)
    """Second moment of area for bending about d1, m⁴."""
    I2: float = field(init=False)
    """Second moment of area for bending about d2, m⁴."""
    J: float = field(init=False)
    """Saint-Venant's torsion constant, m⁴: torque = G J twist per length."""
    shear1: float = field(init=False)
    """Shear factor for a shear force along d1, dimensionless: force = shear1 G A strain."""
    shear2: float = field(init=False)
    """Shear factor for a shear force along d2, dimensionless."""

    def __init__(self) -> None:
        raise TypeError("make a Section with Section.circle, Section.rectangle, Section.tube or Section.custom")

    @classmethod
    def _make(
        cls,
        kind: Literal["circle", "rectangle", "tube", "custom"],
        dimensions: tuple[float, ...],
        **properties: float,
    ) -> Section:
        section = object.__new__(cls)
        object.__setattr__(section, "kind", kind)
        object.__setattr__(section, "dimensions", dimensions)
        for name, value in properties.items():
            if dimensions and not 0.0 < value < math.inf:
                lengths = ", ".join(f"{length:g}" for length in dimensions)
                raise InputError(f"{kind}({lengths}) m is too small or too large: its {name} would be {value:g}")
            object.__setattr__(section, name, validation.number(name, value, positive=True))
        return section

    @classmethod
    def circle(cls, radius: float) -> Section:
        """A disc of `radius` (m). Its shear factor is 9/10, Cowper's for ν = 1/2 (see `tube`)."""
        r = validation.number("radius", radius, positive=True)
        return cls._make("circle", (r,), **_ring_properties(r, 0.0))

    @classmethod
    def tube(cls, outer: float, inner: float) -> Section:
        """A ring between the radii `outer` and `inner` (m), 0 ≤ inner < outer.

        Shear factor, with m = inner / outer (m = 0 gives the disc's 9/10, m → 1 gives 6/11)::

            k = 9 (1 + m²)² / (10 (1 + m²)² + 26 m²)

        That is k = 6 (1 + ν) (1 + m²)² / ((7 + 6ν) (1 + m²)² + (20 + 12ν) m²) at ν = 1/2, the ratio for which the
        disc has its customary 9/10; ν = 0.3 would give a factor up to 3 % smaller, ν = 0 up to 8.4 %.

        Reference: G. R. Cowper, The shear coefficient in Timoshenko's beam theory, J. Appl. Mech. 33 (1966) 335–340.
        """
        a = validation.number("outer", outer, positive=True)
        b = validation.number("inner", inner, minimum=0.0, below=a)
        return cls._make("tube", (a, b), **_ring_properties(a, b))

    @classmethod
    def rectangle(cls, width: float, height: float) -> Section:
        """A rectangle of `width` along d1 and `height` along d2 (m); shear factor 5/6 both ways, exact for ν = 0.

        The torsion constant is Saint-Venant's series, summed to rounding for every aspect ratio.
        """
        w = validation.number("width", width, positive=True)
        h = validation.number("height", height, positive=True)
        return cls._make(
            "rectangle",
            (w, h),
            area=w * h,
            I1=w * h * h * h / 12.0,
            I2=h * w * w * w / 12.0,
            J=_rectangle_torsion_constant(w, h),
            shear1=5.0 / 6.0,
            shear2=5.0 / 6.0,
        )

    @classmethod
    def custom(cls, *, area: float, I1: float, I2: float, J: float, shear1: float, shear2: float) -> Section:
        """Any section, by its `area` (m²), second moments `I1` and `I2` (m⁴), torsion constant `J` (m⁴) and shear
        factors `shear1` and `shear2` (dimensionless), all positive. It is drawn as the circle of equal area.
        """
        return cls._make("custom", (), area=area, I1=I1, I2=I2, J=J, shear1=shear1, shear2=shear2)

    @property
    def radius(self) -> float:
        """Largest distance of the drawn boundary from the centre, m."""
        if self.kind == "custom":
            return math.sqrt(self.area / math.pi)
        return 0.5 * math.hypot(*self.dimensions) if self.kind == "rectangle" else self.dimensions[0]

    def outline(self, n: int = 32) -> FloatArray:
        """The boundary as `n` points: (n, 2), m, along d1 and d2, counter-clockwise seen against d3, not closed.

        A rectangle needs 4 points at least, which are its corners; the others need 3. A tube gives its outer circle.
        """
        if self.kind != "rectangle":
            angles = np.arange(validation.count("n", n, 3)) * (2.0 * math.pi / n)
            return self.radius * np.column_stack((np.cos(angles), np.sin(angles)))
        spare = validation.count("n", n, 4) - 4
        width, height = self.dimensions
        signs = np.array(((1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)))
        corners = signs * (0.5 * width, 0.5 * height)
        # Points besides the corners go to the sides by length; those left over to the sides that lost most.
        shares = spare * np.array((height, width, height, width)) / (2.0 * (width + height))
        counts = np.floor(shares).astype(int)
        counts[np.argsort(counts - shares, kind="stable")[: spare - int(counts.sum())]] += 1
        sides = [
            np.linspace(start, end, int(inside) + 1, endpoint=False)
            for start, end, inside in zip(corners, np.roll(corners, -1, axis=0), counts, strict=True)
        ]
        return np.concatenate(sides)

    def bending_stiffness(self, material: Material) -> FloatArray:
        """diag(E I1, E I2, G J), (3, 3), N·m²: moment over curvature about d1 and d2, torque over twist about d3."""
        _check_material(material)
        E, G = material.youngs_modulus, material.shear_modulus
        return np.diag((E * self.I1, E * self.I2, G * self.J))

    def stretching_stiffness(self, material: Material) -> FloatArray:
        """diag(shear1 G A, shear2 G A, E A), (3, 3), N: force over shear along d1 and d2, and over stretch along d3."""
        _check_material(material)
        EA, GA = material.youngs_modulus * self.area, material.shear_modulus * self.area
        return np.diag((self.shear1 * GA, self.shear2 * GA, EA))

    def mass_per_length(self, material: Material) -> float:
        """Mass of a metre of rod: ρ A, kg/m."""
        _check_material(material)
        return material.density * self.area


def elastic_material(material: Material, what: str) -> Material:
    """`material`, or `InputError`: `what` can be made of none that creeps, yields or transforms."""
    if not material.elastic:
        raise InputError(
            f"{what} must be made of an elastic material: prony, yield_stress and superelastic are for rods in scenes"
        )
    return material


def _inelastic(E: float, prony: Any, yield_stress: Any, hardening: Any, superelastic: Any) -> dict[str, Any]:
    """What a material of Young's modulus E has of laws that are not elastic, checked."""
    try:
        pairs = [tuple(pair) for pair in prony]
    except TypeError:
        pairs = [()]
    if any(len(pair) != 2 for pair in pairs):
        raise InputError(f"prony must be pairs (share, time in s), got {validation.quoted(prony)}")
    made = tuple(
        (validation.number("share", share, positive=True), validation.number("time of prony", time, positive=True))
        for share, time in pairs
    )
    total = sum(share for share, _ in made)
    if total >= 1.0:
        raise InputError(
            f"the shares of prony must come to less than 1, what is left of the stiffness in the end, got {total:g} in "
            f"{validation.quoted(prony)}"
        )
    stress = None if yield_stress is None else validation.number("yield_stress", yield_stress, positive=True)
    harder = validation.number("hardening", hardening, minimum=0.0, below=E)
    if harder > 0.0 and stress is None:
        raise InputError(f"hardening={harder:g} is what happens beyond a yield_stress: give that, too, or leave it out")
    flag = None
    if superelastic is not None:
        upper, lower, strain = validation.array("superelastic", superelastic, (3,)).tolist()
        if not 0.0 <= lower < upper or strain <= 0.0:
            raise InputError(
                "superelastic must be an upper plateau (Pa), a lower one from 0 to below it, and a strain above 0, got "
                f"{validation.quoted(superelastic)}"
            )
        flag = upper, lower, strain
    if (len(made) > 0) + (stress is not None) + (flag is not None) > 1:
        raise InputError("give one of prony, yield_stress and superelastic: a material is one of these")
    return {"prony": made, "yield_stress": stress, "hardening": harder, "superelastic": flag}


@unchanging
@dataclass(frozen=True, init=False)
class Properties:
    """Numbers of a rod given directly, in place of a section and a material: of stranded cables, or as measured.

    A `Strand` takes EA, EI, GJ, mass and radius of them, and does not shear.

    Each is one number; numbers (k,) at equal steps from end to end, with straight lines between; or a function of s
    (m), the rest length from the start.

    Arguments: `EA` (N); `EI` (N·m²) for bending about d1, and about d2 too unless `EI2` is given; `GJ` (N·m²); `mass`
    per length (kg/m); `radius` (m), of what is drawn and touched; `inertia` of roll per length (kg·m; that of a solid
    cylinder, if left out); `relaxation_time` (s), the internal damping, as of a `Material`.

    Strands that stick and slip: `EI_stuck` (N·m²), above EI, is the stiffness against bending while they stick, and
    `slip_moment` (N·m) the moment from which they slip, after which moments grow by EI (docs/inelastic.md). Both are
    given or none; they and EI are then the same about d1 and d2.

    Raises `InputError` for numbers that are not above 0 (a relaxation time may be 0), and for an EI_stuck that is not
    above EI; what functions tell is judged when a rod is made of them.
    """

    EA: Any = field(init=False)
    """Stiffness against stretching, N."""
    EI: Any = field(init=False)
    """Stiffness against bending about d1, N·m²."""
    GJ: Any = field(init=False)
    """Stiffness against twist, N·m²."""
    mass: Any = field(init=False)
    """Mass of a metre, kg/m."""
    radius: Any = field(init=False)
    """Radius of what is drawn and touched, m."""
    EI2: Any = field(init=False)
    """Stiffness against bending about d2, N·m²; None: as about d1."""
    inertia: Any = field(init=False)
    """Inertia of roll of a metre, kg·m; None: that of a solid cylinder."""
    relaxation_time: Any = field(init=False)
    """Internal damping, s."""
    EI_stuck: Any = field(init=False)
    """Stiffness against bending while strands stick, N·m²; None: they do not."""
    slip_moment: Any = field(init=False)
    """Moment from which strands slip, N·m; None: they do not stick."""

    def __init__(
        self, *, EA: Any, EI: Any, GJ: Any, mass: Any, radius: Any, EI2: Any = None, inertia: Any = None,
        relaxation_time: Any = 0.0, EI_stuck: Any = None, slip_moment: Any = None,
    ) -> None:  # fmt: skip
        given = {"EA": EA, "EI": EI, "GJ": GJ, "mass": mass, "radius": radius, "EI2": EI2, "inertia": inertia}
        for name, value in given.items():
            object.__setattr__(self, name, value if value is None and name in _OPTIONAL else _property(name, value))
        object.__setattr__(self, "relaxation_time", _property("relaxation_time", relaxation_time, least=0.0))
        stuck, slip = _sticking(self.EI, EI2, EI_stuck, slip_moment)
        object.__setattr__(self, "EI_stuck", stuck)
        object.__setattr__(self, "slip_moment", slip)


_OPTIONAL = frozenset({"EI2", "inertia"})


def _sticking(EI: Any, EI2: Any, EI_stuck: Any, slip_moment: Any) -> tuple[Any, Any]:
    """Stiffness of strands that stick, and the moment from which they slip, checked; None, None: they do not stick."""
    if EI_stuck is None and slip_moment is None:
        return None, None
    if EI_stuck is None or slip_moment is None:
        given, missing = ("slip_moment", "EI_stuck (N·m²)") if EI_stuck is None else ("EI_stuck", "slip_moment (N·m)")
        value = slip_moment if EI_stuck is None else EI_stuck
        raise InputError(f"{given}={validation.quoted(value)} needs {missing}, too: give both, or none")
    if EI2 is not None:
        raise InputError(
            f"strands that stick are as stiff about d1 as about d2: leave out EI2, got {validation.quoted(EI2)}, or "
            "EI_stuck and slip_moment"
        )
    stuck = _property("EI_stuck", EI_stuck)
    if isinstance(stuck, float) and isinstance(EI, float) and not stuck > EI:
        raise InputError(
            f"EI_stuck must be above EI, since strands that stick are stiffer than those that slip: got EI_stuck="
            f"{stuck:g} with EI={EI:g} N·m²"
        )
    return stuck, _property("slip_moment", slip_moment)


def _property(name: str, value: Any, least: float | None = None) -> Any:
    """A number, a tuple of numbers, or a function, as one of `Properties`."""
    if callable(value):
        return value
    if not isinstance(value, list | tuple | np.ndarray) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return validation.number(name, value, positive=least is None, minimum=least)
    numbers = validation.array(name, value, (None,))
    if len(numbers) < 2:
        raise InputError(f"{name} must have two numbers or more, for equal steps from end to end, got {value!r}")
    for k, number in enumerate(numbers.tolist()):
        validation.number(f"{name}[{k}]", number, positive=least is None, minimum=least)
    return tuple(numbers.tolist())


def _known_look(look: Any) -> Look | None:
    if look is None or (isinstance(look, str) and look in get_args(Look)):
        return look  # type: ignore[return-value]
    known = ", ".join(map(repr, get_args(Look)))
    raise InputError(f"look must be one of {known}, or None, got {validation.quoted(look)}")


def _check_material(material: object) -> None:
    if not isinstance(material, Material):
        raise InputError(f"material must be a sennit.Material, got {validation.quoted(material)}")


def _ring_properties(a: float, b: float) -> dict[str, float]:
    """Properties of the ring with outer radius a and inner radius b; factored, so that a thin wall loses no digits."""
    area = math.pi * (a - b) * (a + b)
    moment = 0.25 * area * (a * a + b * b)
    m = b / a
    square = (1.0 + m * m) * (1.0 + m * m)
    shear = 9.0 * square / (10.0 * square + 26.0 * m * m)
    return {"area": area, "I1": moment, "I2": moment, "J": 2.0 * moment, "shear1": shear, "shear2": shear}


def _rectangle_torsion_constant(width: float, height: float) -> float:
    """Saint-Venant's torsion constant of a rectangle with sides a ≥ b, m⁴.

    J = a b³ [1/3 − (64/π⁵) (b/a) Σ tanh(n π a / 2b) / n⁵], n = 1, 3, 5, …; with tanh x = 1 − 2 / (e²ˣ + 1) the slow
    part of the sum is (31/32) ζ(5), and the rest falls as e^(−nπ) or faster.

    Reference: S. P. Timoshenko and J. N. Goodier, Theory of Elasticity, 3rd ed. (1970), §109, eq. 160.
    """
    a, b = max(width, height), min(width, height)
    total = (31.0 / 32.0) * 1.0369277551433699
    for n in range(1, 15, 2):
        total -= 2.0 / (n**5 * (math.exp(min(n * math.pi * a / b, 700.0)) + 1.0))
    return a * b * b * b * (1.0 / 3.0 - 64.0 / math.pi**5 * (b / a) * total)
