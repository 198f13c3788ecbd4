"""Branches of one bending point: their laws against closed forms, and what they can't do: give energy."""

import math

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.branches.fibres import COUNT, branches_of
from sennit.bodies.rod.branches.kernels.flow import FLAG, MAXWELL, SLIDER, respond
from sennit.bodies.rod.branches.table import Branches, Slips

E, G, STRESS = 70e9, 26e9, 200e6
METAL = sn.Material(E, shear_modulus=G, density=2700, yield_stress=STRESS)


class Place:
    """A bending point of a metre."""

    def __init__(self, branches, stiffness):
        self.branches, self.stiffness = branches, tuple(map(float, stiffness))
        self.slips = Slips(rows=len(branches))
        self.strain = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, section, material):
        return cls(branches_of(section, material), section.bending_stiffness(material).diagonal())

    def answer(self, strain, time=0.0, frozen=0, length=0.0):
        strain = tuple(float(k) for k in strain)
        m, t, energy = respond(
            strain, self.strain, self.stiffness, 0, len(self.branches), self.branches, self.slips, float(time),
            frozen, float(length),
        )  # fmt: skip
        return np.array(self.stiffness) * m, np.array(t), sum(energy)

    def go(self, strain, time=0.0, frozen=0):
        """Moment at a strain to which everything flows."""
        moment = self.answer(strain, time, frozen, 1.0)[0]
        self.strain = tuple(float(k) for k in strain)
        return moment

    @property
    def lost(self):
        return float(self.slips.lost.sum())


def bar(x):
    return np.where(np.abs(x) <= 1.0, x, np.sign(x) * (1.5 - 0.5 / np.maximum(np.abs(x), 1.0) ** 2))


def loop(place, way, component):
    unit = np.eye(3)[component]
    return np.array([place.go(k * unit)[component] for k in way])


@pytest.mark.parametrize("component", [0, 1])
def test_a_rectangle_bends_by_its_law_and_back_by_masings(validated, component):
    """0 → 8 κₑ → −8 κₑ: M = M_p (1 − (κₑ/κ)²/3), and on the way back M(8) − 2 M((8 − x)/2)."""
    section = sn.Section.rectangle(2e-3, 1e-3)
    half = (0.5e-3, 1e-3)[component]
    first = STRESS / (E * half)
    yields = E * (section.I1, section.I2)[component] * first
    x = np.concatenate((np.linspace(0.0, 8.0, 60), np.linspace(8.0, -8.0, 120)))
    place = Place.of(section, METAL)
    found = loop(place, first * x, component) / yields
    expected = np.where(np.arange(len(x)) < 60, bar(x), bar(8.0) - 2.0 * bar(0.5 * (8.0 - x)))
    # the chain of chords misses its law by d of M_p, and 3 d after a reversal
    validated(
        "Moment of a rectangle that yields", area="rods in scenes", quantity="a cycle to 8 κₑ and back, of M_p",
        reference="closed form of elastic, ideally plastic fibres, and Masing's rule",
        error=np.abs(found - expected).max() / 1.5, bound=5e-3,
    )  # fmt: skip


def fibres(y, weight, strain):
    """Moment of elastic, ideally plastic fibres at distances y (m), each with its area."""
    return float(np.sum(weight * y * np.clip(E * y * strain, -STRESS, STRESS)))


def test_discs_and_tubes_bend_as_their_fibres_and_twist_as_their_rings():
    for section, inner in ((sn.Section.circle(1e-3), 0.0), (sn.Section.tube(1e-3, 0.7e-3), 0.7e-3)):
        y = (np.arange(40000) + 0.5) / 40000 * 2e-3 - 1e-3
        chord = np.sqrt(1e-6 - y * y) - np.sqrt(np.maximum(inner**2 - y * y, 0.0))
        r = inner + (np.arange(20000) + 0.5) / 20000 * (1e-3 - inner)
        place = Place.of(section, METAL)
        full = fibres(y, 2 * chord * 2e-3 / 40000, 1e9)
        for x in np.linspace(0.2, 9.0, 23):
            strain = x * STRESS / (E * 1e-3)
            moment = place.answer((0.0, strain, 0.0))[0][1]
            assert moment == pytest.approx(fibres(y, 2 * chord * 2e-3 / 40000, strain), abs=2e-3 * full)
        shear = STRESS / math.sqrt(3.0)
        ring = 2.0 * math.pi * r * (1e-3 - inner) / 20000
        full = float(np.sum(ring * r * shear))
        for x in np.linspace(0.2, 9.0, 23):
            twist = x * shear / (G * 1e-3)
            torque = place.answer((0.0, 0.0, twist))[0][2]
            assert torque == pytest.approx(np.sum(ring * r * np.minimum(G * r * twist, shear)), abs=5e-3 * full)


def test_a_twisted_bar_yields_from_saint_venants_twist_up_to_the_heap_of_sand():
    section = sn.Section.rectangle(3e-3, 1.5e-3)
    place = Place.of(section, METAL)
    shear = STRESS / math.sqrt(3.0)
    heap = shear * 1.5e-3**2 * (3 * 3e-3 - 1.5e-3) / 6.0
    assert place.answer((0.0, 0.0, 1e4))[0][2] == pytest.approx(heap, rel=1e-9)
    # b = a/2: the largest shear is T/(0.246 a b²) (Timoshenko and Goodier, table on p. 312)
    first = 0.246 * 3e-3 * 1.5e-3**2 * shear / (G * section.J)
    assert place.answer((0.0, 0.0, first))[1][2] == 1.0
    assert place.answer((0.0, 0.0, 1.1 * first))[1][2] < 0.95


def test_hardening_is_the_slope_that_is_left():
    hard = sn.Material(E, 0.33, 2700, yield_stress=STRESS, hardening=5e9)
    section = sn.Section.rectangle(2e-3, 1e-3)
    place = Place.of(section, hard)
    first = 2 * STRESS / (E * 1e-3)
    far, farther = (place.answer((x * first, 0.0, 0.0))[0][0] for x in (40.0, 50.0))
    assert (farther - far) / (10 * first * E * section.I1) == pytest.approx(5e9 / E, rel=1e-9)


def test_the_loop_of_an_iwan_element_has_its_area(validated):
    """Steady cycles between ±κ_a: 8 ∫ M dκ of the first loading less 4 M_a κ_a, by Masing's rule."""
    section = sn.Section.rectangle(2e-3, 1e-3)
    first = 2 * STRESS / (E * 1e-3)
    yields, top = E * section.I1 * first, 5.0
    place = Place.of(section, METAL)
    loop(place, first * np.linspace(0.0, -top, 30), 0)
    before, cycle = place.lost, np.concatenate((np.linspace(-top, top, 120), np.linspace(top, -top, 120)))
    moments = loop(place, first * cycle, 0)
    # ∫ bar from 0 to x: 3/2 x + 1/(2x) − 3/2, x > 1
    area = 8.0 * (1.5 * top + 0.5 / top - 1.5) - 4.0 * float(bar(top)) * top
    area *= yields * first
    work = np.trapezoid(moments, first * cycle)
    validated(
        "Cycles of a rectangle that yields", area="rods in scenes", quantity="energy lost in a cycle to 5 κₑ",
        reference="area of the loop by Masing's rule (Iwan 1966)",
        error=abs((place.lost - before) / area - 1.0), bound=5e-3,
    )  # fmt: skip
    assert work == pytest.approx(place.lost - before, rel=2e-3)  # by trapezoids, at kinks


def test_a_slider_of_strands_loses_four_times_its_friction_times_the_slip():
    """One branch of Jenkins: 4 M_f (κ_a − κ_s) a cycle, exactly."""
    branches = Branches(rows=1)
    branches.kind[:], branches.share[:], branches.limit[:] = SLIDER, (0.9, 0.9, 0.0), (0.2, 0.2, math.inf)
    place = Place(branches, (5.0, 5.0, 1.0))
    loop(place, (-1.0,), 0)
    before = place.lost
    loop(place, (0.3, 1.0, 0.1, -1.0), 0)
    assert place.lost - before == pytest.approx(4 * (5.0 * 0.9 * 0.2) * (1.0 - 0.2), rel=1e-12)
    assert place.answer((-1.0, 0.0, 3.0))[0][2] == pytest.approx(3.0)  # twist has no part in it


def test_a_maxwell_branch_relaxes_exactly_whatever_the_step():
    """A ramp of strain for 1 s, then rest: M/B = (1 − g) κ + g κ̇ t (1 − e^(−1/t)) e^(−(s − 1)/t)."""
    gum = sn.Material(1e6, 0.45, 1000, prony=[(0.5, 0.7), (0.2, 0.05)])
    for steps in (1, 3, 20):
        place = Place.of(sn.Section.circle(1e-2), gum)
        B = place.stiffness[0]
        for k in range(steps):
            place.go(((k + 1) / steps, 0.0, 0.0), 1.0 / steps)
        moment = place.go((1.0, 0.0, 0.0), 0.4)[0] / B
        expected = 0.3 + sum(g * t * (1 - math.exp(-1 / t)) * math.exp(-0.4 / t) for g, t in gum.prony)
        assert moment == pytest.approx(expected, rel=1e-12)
        assert place.go((1.0, 0.0, 0.0), math.inf)[0] / B == pytest.approx(0.3, rel=1e-12)


def test_what_a_maxwell_branch_has_lost_is_work_less_what_it_stores():
    gum = sn.Material(1e6, 0.45, 1000, prony=[(0.5, 0.7)])
    place = Place.of(sn.Section.circle(1e-2), gum)
    steps, work, moment = 2000, 0.0, np.zeros(3)
    for k in range(steps):
        new = place.go((math.sin(3.0 * (k + 1) / steps), 0.0, 0.0), 1.0 / steps)
        work += 0.5 * float((moment + new)[0]) * (math.sin(3.0 * (k + 1) / steps) - math.sin(3.0 * k / steps))
        moment = new
    stored = place.answer(place.strain)[2]
    assert place.lost == pytest.approx(work - stored, rel=1e-5)  # of trapezoids in 2000 steps


def test_a_flag_encloses_the_difference_of_its_plateaus_times_the_way():
    branches = Branches(rows=1)
    branches.kind[:], branches.share[:], branches.limit[:] = FLAG, 1.0, 0.5
    branches.lower[:], branches.most[:] = 0.4, 3.0
    place = Place(branches, (2.0, 2.0, 2.0))
    n, work, last, moment = np.array((0.6, 0.8, 0.0)), 0.0, 0.0, 0.0
    for k in np.concatenate((np.linspace(0, 4, 161), np.linspace(4, 0, 161))):
        new = float(place.go(k * n) @ n)
        work += 0.5 * (new + moment) * (k - last)
        last, moment = k, new
    area = (2.0 * 0.5 - 0.4 * 2.0 * 0.5) * 3.0 * 0.5
    assert place.lost == pytest.approx(area, rel=1e-12)
    assert work == pytest.approx(area, rel=2e-3)  # trapezoids at four kinks
    assert abs(moment) < 1e-12 and place.answer((0.0, 0.0, 0.0))[2] < 1e-12  # and nothing stays


def test_a_superelastic_disc_has_the_loop_of_its_fibres(validated):
    """Loaded beyond the upper plateau and back, by 4,000 fibres each with its flag."""
    nitinol = sn.Material(60e9, 0.33, 6450, superelastic=(500e6, 200e6, 0.05))
    radius = 2.5e-4
    place = Place.of(sn.Section.circle(radius), nitinol)
    y = (np.arange(4000) + 0.5) / 4000 * radius
    area = 4.0 * np.sqrt(radius**2 - y * y) * radius / 4000
    flowed = np.zeros_like(y)
    errors, most = [], 0.0
    for strain in np.concatenate((np.linspace(0.0, 0.045, 60), np.linspace(0.045, 0.0, 60))) / radius:
        stress = 60e9 * (strain * y - flowed)
        flowed = np.where(stress > 500e6, np.minimum(strain * y - 500e6 / 60e9, 0.05), flowed)
        flowed = np.where(stress < 200e6, np.clip(strain * y - 200e6 / 60e9, 0.0, flowed), flowed)
        expected = float(np.sum(area * y * 60e9 * (strain * y - flowed)))
        errors.append(abs(place.go((strain, 0.0, 0.0))[0] - expected))
        most = max(most, expected)
    validated(
        "Moment of a superelastic wire", area="rods in scenes", quantity="to 4.5 % strain and back, of the largest",
        reference="4,000 fibres with a flag each", error=max(errors) / most, bound=5e-3,
    )  # fmt: skip


def mixed(kind, rng):
    branches = Branches(rows=4)
    branches.kind[:] = kind
    branches.share[:] = rng.dirichlet(np.ones(5), 3).T[:4] if kind != FLAG else rng.dirichlet(np.ones(5))[:4, None]
    branches.limit[:] = rng.uniform(0.2, 2.0, (4, 3))
    stiffness = rng.uniform(0.5, 3.0, 3)
    if kind == FLAG:
        branches.limit[:] = branches.limit[:, :1] * np.sqrt(stiffness[0] / stiffness)
        branches.lower[:], branches.most[:] = rng.uniform(0.0, 0.9, 4), rng.uniform(0.5, 4.0, 4)
    branches.time[:] = rng.uniform(0.1, 10.0, 4) if kind == MAXWELL else 0.0
    return Place(branches, stiffness)


@pytest.mark.parametrize("frozen", [0, 1])
@pytest.mark.parametrize("kind", [MAXWELL, SLIDER, FLAG])
def test_no_way_through_strains_takes_energy_out(kind, frozen):
    """Work by the moment at a step's end, as Euler has it, is what is stored and lost, or more; no loss is negative.

    In a step with one solve that moment is a spring's, whatever flows afterwards. (What a Maxwell branch loses is that
    of an even way, whose work is not that of the moment at its end.)
    """
    rng = np.random.default_rng(3)
    for _ in range(30):
        place, stored, lost, work, last = mixed(kind, rng), 0.0, 0.0, 0.0, np.zeros(3)
        for _ in range(60):
            new = last + rng.normal(0.0, rng.choice((0.1, 1.0, 6.0)), 3) if rng.random() < 0.9 else -last
            time = float(10.0 ** rng.uniform(-3, 3))
            work += float(place.answer(new, time, frozen)[0] @ (new - last))
            place.go(new, time, frozen)
            last, stored = new, place.answer(new)[2]
            assert place.lost >= lost - 1e-12
            lost = place.lost
            assert work >= stored + (lost if kind != MAXWELL else 0.0) - 1e-9 * (1.0 + abs(work))


def test_a_solve_takes_at_least_half_of_the_tangent():
    """2 D − T is positive: so Newton's iterations with D in place of T converge."""
    rng = np.random.default_rng(5)
    for kind in (SLIDER, FLAG):
        for _ in range(40):
            place = mixed(kind, rng)
            x = rng.normal(0.0, 2.0, 3)
            scale = np.sqrt(place.stiffness)
            T, h = np.zeros((3, 3)), 1e-6
            for i in range(3):
                step = h * np.eye(3)[i]
                T[:, i] = (place.answer(x + step)[0] - place.answer(x - step)[0]) / (2 * h)
            T = T / np.outer(scale, scale)
            D = np.diag(place.answer(x)[1])
            if kind == FLAG:
                assert np.linalg.eigvalsh(2 * D - 0.5 * (T + T.T)).min() > -1e-5
            assert np.linalg.eigvals(np.eye(3) - np.linalg.solve(D, T)).real.min() > -1.0 - 1e-5
    place = Place.of(sn.Section.rectangle(2e-3, 1e-3), METAL)
    first = 2 * STRESS / (E * 1e-3)
    for x in (0.5, 1.7, 3.3):
        m, t, _ = place.answer((x * first, 0.0, 0.0))
        ahead = place.answer(((x + 1e-6) * first, 0.0, 0.0))[0]
        assert t[0] == pytest.approx((ahead - m)[0] / (1e-6 * first * place.stiffness[0]), abs=1e-6)


def test_sections_without_fibres_and_laws_that_no_material_has_are_refused():
    custom = sn.Section.custom(area=1e-6, I1=1e-13, I2=1e-13, J=2e-13, shear1=0.9, shear2=0.9)
    with pytest.raises(sn.InputError, match="custom section"):
        branches_of(custom, METAL)
    assert len(branches_of(custom, sn.Material(1e6, 0.4, 1000))) == 0
    assert len(branches_of(sn.Section.circle(1e-3), METAL)) == COUNT
    for wrong in (
        {"prony": [(0.6, 1.0), (0.4, 2.0)]}, {"prony": [(-0.1, 1.0)]}, {"prony": [(0.1, 0.0)]}, {"prony": [(0.1,)]},
        {"prony": 3}, {"prony": [(0.1, math.nan)]}, {"yield_stress": 0.0}, {"yield_stress": math.inf},
        {"hardening": 1e6}, {"yield_stress": 1e6, "hardening": 1e9}, {"yield_stress": 1e6, "hardening": -1.0},
        {"superelastic": (1e6, 2e6, 0.1)}, {"superelastic": (1e6, 1e5, 0.0)}, {"superelastic": (1e6, 1e5)},
        {"superelastic": (1e6, 1e5, 0.1), "yield_stress": 1e6}, {"prony": [(0.2, 1.0)], "yield_stress": 1e6},
    ):  # fmt: skip
        with pytest.raises(sn.InputError):
            sn.Material(1e8, 0.3, 1000, **wrong)
