"""The energy method's kernels against finite differences and dense linear algebra, at random states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sennit.cosserat.kernels.chain import solve_chain
from sennit.cosserat.kernels.element import COUPLED, VARIED_COUPLED
from sennit.cosserat.kernels.system import assemble, evaluate, evaluate_all, factor
from sennit.cosserat.law.laws import LawData
from sennit.cosserat.model import TipLoad, TipSpring
from sennit.cosserat.newton import workspace_for
from sennit.cosserat.problem import Hold, Problem, element_samples
from sennit.cosserat.tables import Loads
from sennit.geometry.rotations import quaternion_product, rotation_exp

STEP = 1e-5  # of central differences: their error is STEP² × third derivatives (some tens), and rounding / STEP


def random_stiffness(random: np.random.Generator, coupled: bool) -> np.ndarray:
    root = random.normal(size=(6, 6))
    matrix = root @ root.T + 4.0 * np.eye(6)
    if not coupled:
        matrix[:3, 3:] = matrix[3:, :3] = 0.0
    scale = np.diag([1.0, 1.0, 1.0, 7.0, 7.0, 7.0])
    return scale @ matrix @ scale


@dataclass
class Setting:
    """A problem with every kind of hold, at a random state."""

    problem: Problem
    q: np.ndarray
    lam: np.ndarray
    target: np.ndarray
    tip: TipLoad

    def __post_init__(self) -> None:
        self.space = workspace_for(self.problem)
        p, self.plan = self.problem, self.problem.plan
        self.space.load(p)
        asked = self.space.asked
        asked.target[:] = self.target
        asked.compliance[:] = 0.0
        asked.compliance[-1] = 0.03 if self.plan.held[-1] else 0.0
        self.free = [i for i in range(len(p.s)) if i % p.stride or not self.plan.fixed[i // p.stride]]
        self.held = np.flatnonzero(self.plan.held)

    def evaluate(self, q: np.ndarray, lam: np.ndarray, tip: TipLoad) -> tuple[float, np.ndarray, np.ndarray]:
        space, residual = self.space, self.space.work.residual
        space.state.q[:], space.state.lam[:] = q, lam
        tip.write(space.asked.tip)
        potential, _ = evaluate(space.P, self.plan, space.law, space.asked, space.state, residual)
        return potential, residual.moment.copy(), residual.gap.copy()

    def factor(self, delta: float) -> float:
        space = self.space
        return factor(space.P, self.plan, space.asked, space.state, delta, space.work.factors)

    def moved(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, lam = self.q.copy(), self.lam.copy()
        turns, pulls = x[: 3 * len(self.free)].reshape(-1, 3), x[3 * len(self.free) :].reshape(-1, 3)
        q[self.free] = quaternion_product(q[self.free], rotation_exp(turns))
        lam[self.held] += pulls
        return q, lam

    @property
    def size(self) -> int:
        return 3 * (len(self.free) + len(self.held))

    def lagrangian(self, x: np.ndarray, tip: TipLoad) -> float:
        q, lam = self.moved(x)
        potential, _, gap = self.evaluate(q, lam, tip)
        return potential + float(np.sum(lam * gap))

    def gradient(self, x: np.ndarray, tip: TipLoad) -> np.ndarray:
        _, G, gap = self.evaluate(*self.moved(x), tip)
        return np.concatenate((G[self.free].ravel(), gap[self.held].ravel()))

    def differences(self, function, tip: TipLoad) -> np.ndarray:
        columns = []
        for k in range(self.size):
            x = np.zeros(self.size)
            x[k] = STEP
            columns.append((function(x, tip) - function(-x, tip)) / (2.0 * STEP))
        return np.array(columns).T


class Random:
    """Another stiffness at every slot, those of neighbours that share a node too."""

    length, jumps = 1.0, np.empty(0)

    def __init__(self, coupled: bool) -> None:
        self.coupled = coupled

    def stiffness(self, places: np.ndarray) -> np.ndarray:
        random = np.random.default_rng(5)
        return np.array([[random_stiffness(random, self.coupled) for _ in row] for row in places])

    def mass(self, places: np.ndarray) -> None:
        return None


def setting(
    order: int = 4,
    *,
    coupled: bool = False,
    extensible: bool = True,
    held: bool = True,
    varied: bool = False,
    seed: int = 3,
) -> Setting:
    random = np.random.default_rng(seed)
    elements, stride = 9, 2 if order == 4 else 1
    ends = np.linspace(0.0, 1.0, elements + 1)
    law = LawData(random_stiffness(random, coupled), extensible, 1.0)
    if varied:
        law = LawData.along(Random(coupled), extensible, ends)
    ends[1:-1] += random.uniform(-0.02, 0.02, elements - 1)
    nodes = elements * stride + 1
    loads = Loads(nodes=nodes, ends=elements + 1, slots=3 * elements if varied else 0)
    loads.dead_weight[:] = random.normal(size=loads.dead_weight.shape)
    loads.dead_force[:] = random.normal(size=(nodes, 3))
    loads.dead_point[:] = random.normal(size=(elements + 1, 3))
    rest_u = element_samples(random.normal(size=(2 * elements + 1, 3)), 2)
    rest_v = element_samples(np.tile((0.05, -0.02, 1.0), (2 * elements + 1, 1)), 2)
    holds = [Hold(0, True), Hold(4, False), Hold(6, True), Hold(elements, False)] if held else [Hold(2, False)]
    problem = Problem(ends, order, law, rest_u, rest_v, loads, holds, springy_tip=True)
    q = rotation_exp(np.cumsum(0.15 * random.normal(size=(nodes, 3)), axis=0))
    lam = random.normal(size=(problem.segments, 3))
    springs = TipSpring(1.3, rotation_exp((0.3, -0.2, 0.4))), TipSpring(0.7, rotation_exp((-0.3, 0.2, 0.1)))
    tip = TipLoad(random.normal(size=3), random.normal(size=3), springs)
    return Setting(problem, q, lam, random.normal(size=(problem.segments, 3)), tip)


CASES = [
    pytest.param({"order": 4}, id="order 4"),
    pytest.param({"order": 2}, id="order 2"),
    pytest.param({"order": 1}, id="order 1"),
    pytest.param({"extensible": False}, id="inextensible"),
    pytest.param({"held": False}, id="free ends"),
    pytest.param({"coupled": True}, id="coupled law"),
    pytest.param({"varied": True}, id="varied"),
    pytest.param({"varied": True, "order": 2}, id="varied, order 2"),
    pytest.param({"varied": True, "order": 1}, id="varied, order 1"),
    pytest.param({"varied": True, "extensible": False}, id="varied, inextensible"),
    pytest.param({"varied": True, "held": False}, id="varied, free ends"),
    pytest.param({"varied": True, "coupled": True}, id="varied, coupled law"),
]


@pytest.mark.parametrize("case", CASES)
def test_unbalanced_moments_are_the_slope_of_the_energy(case: dict) -> None:
    s = setting(**case)
    tip = s.tip.scaled(0.0)  # moments have no potential
    exact = s.gradient(np.zeros(s.size), tip)
    np.testing.assert_allclose(s.differences(s.lagrangian, tip), exact, atol=1e-8 * np.max(np.abs(exact)))


@pytest.mark.parametrize("case", CASES)
def test_newton_step_solves_the_differentiated_system(case: dict) -> None:
    """Step and inertia against a dense solve with a Jacobian by differences (inner diagonal blocks symmetrised)."""
    s = setting(**case)
    residual = s.gradient(np.zeros(s.size), s.tip)
    jacobian = s.differences(s.gradient, s.tip)
    for k in range(len(s.free) - 1):
        block = slice(3 * k, 3 * k + 3)
        jacobian[block, block] = 0.5 * (jacobian[block, block] + jacobian[block, block].T)
    s.evaluate(s.q, s.lam, s.tip)
    work = s.space.work
    assemble(s.space.P, s.plan, s.space.law)
    negative = s.factor(0.0)
    solve_chain(s.space.P, s.plan, work.factors, work.residual, work.step)
    found = np.concatenate((work.step.turn[s.free].ravel(), work.step.pull[s.held].ravel()))
    scale = np.max(np.abs(jacobian)) * np.max(np.abs(found))
    np.testing.assert_allclose(jacobian @ found, -residual, atol=1e-8 * scale)
    assert negative == np.sum(np.linalg.eigvalsh(0.5 * (jacobian + jacobian.T)) < 0.0)


@pytest.mark.parametrize("varied", [False, True])
def test_linear_elements_equal_general_ones(varied: bool) -> None:
    """The vectorised element of the linear law and the general element agree to rounding, with Simpson's weights.

    (The linear one weighs positions by ω, exact on helices: ω's derivatives are left out here.)
    """
    s = setting(varied=varied)
    s.evaluate(s.q, s.lam, s.tip)
    P = s.space.P
    P.omega[:] = 1.0 / 6.0
    P.omega_slope[:] = 0.0
    P.omega_bend[:] = 0.0
    outputs = ("potential", "g0", "gm", "g1", "chord", "d00", "d11", "dmm", "o01", "o0m", "om1", "b0", "bm", "b1", "s")

    def found() -> np.ndarray:
        return np.concatenate([P.rows(name, s.problem.elements) for name in outputs], axis=1)

    assemble(P, s.plan, s.space.law)
    linear = found()
    law = s.space.law
    if s.problem.varied is not None:
        law = replace(s.problem.law, address=VARIED_COUPLED).own_table(s.problem.varied.in_a_row().matrices)
    law.address[0] = VARIED_COUPLED if varied else COUPLED
    evaluate_all(P, s.plan, law, True)
    s.space.law.address[0] = s.problem.law.address
    np.testing.assert_allclose(linear, found(), atol=1e-11 * np.max(np.abs(linear)))


def test_shift_adds_to_the_diagonal() -> None:
    """δ raises the tangent: enough of it leaves only the multipliers' negative pivots."""
    s = setting()
    s.evaluate(s.q, s.lam, s.tip)
    assemble(s.space.P, s.plan, s.space.law)
    counts = [s.factor(delta) for delta in (0.0, 1e8)]
    assert counts[1] == 3 * len(s.held)
    assert counts[0] >= counts[1]
