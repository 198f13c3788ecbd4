"""Kernels as whole programs: the same numbers as by plain Numba, whatever they are given; and without Numba at all."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from records import thorough
from references.entries import LEFT_OUT, kernels_that_python_calls
from unit.linalg.systems import mixed

from sennit import compilation, numba_release, pack_kernels, processor, rehearsal
from sennit.compilation import Kernel, inlined, kernel, merged
from sennit.linalg import Factorisation
from sennit.linalg.kernels.ldlt import factorise
from sennit.scene.scene import _small_scene
from sennit.solve.kernels.entries import march
from sennit.tables import STATE, Table, number, table, whole

TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(compilation.PLAIN, reason="kernels are not compiled")


class Inner(Table):
    weight = number(STATE, "of each")
    index = whole(STATE, "of each", kind=np.uint32)


class Outer(Table):
    place = number(STATE, "of each", 3)
    inner = table(Inner, "inside")


def make_table(n: int = 4) -> Outer:
    made = Outer(rows=n, inner=Inner(rows=n))
    made.place[:] = np.arange(3.0 * n).reshape(n, 3)
    made.inner.weight[:] = 1.0 / (1.0 + np.arange(n))
    made.inner.index[:] = np.arange(n)[::-1]
    return made


@inlined
def squared(x):
    return x * x


@merged
def weight_of(table, i):
    return table.inner.weight[table.inner.index[i]]


@kernel
def moment(table, axis):
    total = 0.0
    for i in range(table.place.shape[0]):
        total += weight_of(table, i) * squared(table.place[i, axis])
    return total


@kernel
def scale(table, factor):
    """Calls another kernel, and writes."""
    before = moment(table, 0)
    for i in range(table.place.shape[0]):
        table.place[i, 0] *= factor
    return before, moment(table, 0), table.place.shape[0], factor > 1.0


@kernel
def add_all(array):
    total = 0.0
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            total += (i + 1) * (2 * j + 1) * array[i, j]
    return total


@kernel
def choose(pair, flag, count, nothing):
    if flag and nothing is None:
        return max(pair[0], pair[1][0]) + count
    return min(pair[0], pair[1][0]) - count


@kernel
def do_nothing(array):
    array[0] = 7.0


def both(compiled: Kernel, *arguments: Any) -> Any:
    """What a kernel gives, which must be what plain Numba gives."""
    found, expected = compiled(*arguments), compiled.plain(*arguments)
    assert found == expected and type(found) is type(expected)
    assert "numba" not in compiled.origins.values()
    return found


def test_tables_numbers_and_callees() -> None:
    weights, places = (0.25, 1 / 3, 0.5, 1.0), (1.0, 4.0, 7.0, 10.0)
    expected = sum(w * y * y for w, y in zip(weights, places, strict=True))
    assert both(moment, make_table(), 1) == pytest.approx(expected, rel=1e-15)
    first, second = make_table(), make_table()
    assert scale(first, 2.0) == scale.plain(second, 2.0)
    assert np.array_equal(first.place, second.place) and first.place[1, 0] == 6.0
    assert scale(first, 0.5)[2:] == (4, False)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint32, np.uint8])
def test_arrays_of_every_kind(dtype: type) -> None:
    array = np.arange(24).reshape(4, 6).astype(dtype)
    for given in (array, np.asfortranarray(array), array[::2, ::-1], array[:0], array.T):
        assert both(add_all, given) == pytest.approx(sum(
            (i + 1) * (2 * j + 1) * float(x) for (i, j), x in np.ndenumerate(given)
        ))  # fmt: skip


def test_what_is_nearly_of_a_kind_is_taken_for_it() -> None:
    array = np.arange(6.0).reshape(2, 3)
    locked = array.copy()
    locked.flags.writeable = False
    masked = np.ma.masked_array(array)
    same_type = array.view(np.dtype("<f8").newbyteorder("="))
    signatures = set(add_all.origins)
    for given in (array, locked, masked, same_type):
        assert add_all(given) == add_all.plain(np.array(array))
    assert len(set(add_all.origins) - signatures) <= 1
    for count in (3, np.int64(3), np.int32(3)):
        assert choose((1.0, (2.0,)), True, count, None) == 5.0
    assert choose((np.float64(1.0), (2.0,)), np.bool_(False), 3, None) == -2.0
    assert len(choose.origins) == 1


def test_signatures_are_told_apart_at_every_call() -> None:
    pairs = [((1.0, (2.0,)), 5.0), ((4, (2,)), 7)]
    for _ in range(3):
        for pair, expected in pairs:
            found = both(choose, pair, True, 3, None)
            assert found == expected and type(found) is type(expected)
    assert both(choose, (1.0, (2.0,)), True, 3, 0.5) == -2.0


def test_copies_and_pickles_are_the_kernel_itself() -> None:
    assert copy.deepcopy(moment) is moment
    assert pickle.loads(pickle.dumps(march)) is march


def test_two_kernels_may_be_called_the_same() -> None:
    def made(k: float) -> Kernel:
        @kernel
        def times(x):
            return k * x

        return times  # type: ignore[no-any-return]

    assert [times(3.0) for times in (made(2.0), made(5.0))] == [6.0, 15.0]


def test_nothing_is_returned_as_none() -> None:
    array = np.zeros(2)
    assert do_nothing(array) is None and array[0] == 7.0


def test_mistakes_of_callers_are_errors() -> None:
    with pytest.raises(OverflowError):
        choose((1.0, (2.0,)), True, 2**70, None)
    with pytest.raises(Exception, match="argument"):
        moment(make_table())
    with pytest.raises(AttributeError):
        moment(object.__new__(Outer), 1)


@kernel
def raises(x):
    if x > 1.0:
        raise ValueError("too much")
    return x


def test_a_kernel_that_raises_is_an_error() -> None:
    assert raises(0.5) == 0.5
    with pytest.raises(RuntimeError, match="raises failed"):
        raises(2.0)


@kernel
def handed_back(array):
    return array


def test_what_can_not_be_returned_is_left_to_numba() -> None:
    array = np.arange(6.0)
    assert handed_back(array).tolist() == array.tolist()
    assert list(handed_back.origins.values()) == ["numba"]


def test_other_arguments_are_left_to_numba() -> None:
    @kernel
    def twice(x):
        return 2 * x

    assert twice(1 + 2j) == 2 + 4j and not twice.origins


@pytest.fixture
def unknown_release(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba_release, "KNOWN_RELEASES", ("0.1",))
    numba_release.is_known.cache_clear()
    yield
    numba_release.is_known.cache_clear()


def test_a_release_that_is_not_known_is_told_once_and_compiles_plainly(unknown_release: None) -> None:
    made = [Kernel(function, moment.targetoptions, kept=False) for function in (squared.py_func, raises.py_func)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [compiled(0.5) for compiled in made] == [0.25, 0.5]
    assert [str(w.message).partition(" ")[0] for w in told] == ["Numba"]
    assert all(set(compiled.origins.values()) == {"numba"} for compiled in made)


# Processes

SCENE = """
import sennit as sn
scene = sn.Scene()
rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(0.01),
                                 material=sn.Material(1e7, 0.4, 1000.0), control_points=6))
scene.add(sn.Clamp(rope.at(0.0)))
for _ in range(3):
    scene.step(1e-3)
energy = scene.energy
strand = sn.Strand(0.5, section=sn.Section.circle(0.002), material=sn.Material(1e9, 0.4, 1000.0), nodes=9)
state = strand.solve(base=sn.Pose(), tip_force=(0.1, 0, 0))
import json, sys
print(json.dumps([name for name in ("numba", "scipy", "trimesh", "rich") if name in sys.modules]))
"""


def program(text: str, **environment: str) -> Any:
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", text], env=os.environ | environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


MOVED = """
import json, sys, warnings
import numba, numba.core.caching, numba.core.codegen
numba.__version__ = "0.99.0"
del numba.core.codegen.JITCodeLibrary, numba.core.caching.IndexDataCacheFile
import numpy as np
from unit.linalg.systems import mixed
from sennit import compile_once
from sennit.linalg import Factorisation

system = mixed()
row, col, values = system.matrix()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    made = Factorisation(system.start, system.kind, row, col, np.arange(len(row)))
    compile_once.compile_once("linalg", [lambda: made.factorise(values)])
names = [name for name in sys.modules if name in ("sennit.whole_program", "sennit.python_entry", "sennit.numba_cache")]
print(json.dumps([[str(w.message) for w in told], names, made.diagonal.tolist()]))
"""


@pytest.mark.slow
def test_a_release_that_moved_private_parts_compiles_plainly(tmp_path: Path) -> None:
    """A release to come, without two names that whole programs and the cache of plain Numba import."""
    told, names, diagonal = program(MOVED, PYTHONPATH=_places(), SENNIT_CACHE_DIR=str(tmp_path), SENNIT_KERNELS="")
    assert [text.partition(" with")[0] for text in told] == ["Numba 0.99.0"] and names == []
    system = mixed()
    row, col, values = system.matrix()
    made = Factorisation(system.start, system.kind, row, col, np.arange(len(row)))
    made.factorise(values)
    assert_near([diagonal], [made.diagonal], 1e-12)


def test_a_new_process_needs_neither_numba_nor_scipy() -> None:
    program(SCENE)  # compiles what is not there yet
    assert program(SCENE) == []


def _places() -> str:
    """Where a new process finds the helpers of tests."""
    return os.pathsep.join([str(TESTS), *(place for place in sys.path if place)])


PROGRAMS = {
    "scene": """
for integrator in ("euler", "bdf2", "midpoint", "fourth"):
    scene = scenes._small_scene()
    scene.integrator = integrator
    for _ in range(10):
        scene.step(1e-3)
    tell(scene)
    scene.run(0.01, dt=1e-3)
    tell(scene)
    if integrator == "fourth":
        assert {event.kind for event in scene.events} == {"fallback"}
        scene = sn.Scene(integrator=integrator)
        ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(1, 0, 0)))
        scene.add(sn.Ball(ball.at((-1, 0, 0)), sn.World.at((0, 0, 0))))
        scene.run(0.2, dt=0.02)
        assert not scene.events
        tell(scene)
scene = scenes._small_scene()
scene.settle(throw=False)
found.append([scene.energy.total])
""",
    "strand": """
for conditions in ({"tip_force": (0.1, 0, 0)}, {"tip_force": (0.1, 0, 0), "follower": True}, {"torque": (0.1, 0, 0)}):
    found.append(strands._small_strand().solve(base=sn.Pose(), **conditions).positions.ravel().tolist())
""",
    "touching": """
scene = sn.Scene()
scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 0.1001)))
ball.velocity, ball.angular_velocity = (0.5, 0.2, 0), (0, 0, 3)
scene.collide()
for _ in range(20):
    scene.step(2e-3)
assert len(scene.contacts)
tell(scene)
found[-2][2] = round(found[-2][2], 9)  # upwards: what Newton's method leaves of the gap, 1e-13 m, over the step
""",
    "zone": """
pad = tissue()
found.append(pad.solve(displacements={20: (1e-3, 0.0, -2e-3)}).displacements.ravel().tolist())
pressed = pad.press(sn.Sphere((0.15, 0.1, 0.145), radius=0.05), friction=0.4)
found += [pressed.force.tolist(), pressed.displacements.ravel().tolist()]
""",
    "batch": """
scene = scenes._small_scene()
batch = sn.Batch(scene, 3)
batch.step(1e-3, 10)
found += [energy.tolist() for energy in batch.energies().values()]
""",
}
"""The smallest scene of each part, and what is told of it."""
COMPARED = """
import json, sys
import numpy as np
import sennit as sn
from sennit.scene import scene as scenes
from sennit.bodies.strand import strand as strands
from unit.scene.kit import tissue

found = []

def tell(scene):
    motion = scene._compiled().solver.system.model.motion
    found.extend([motion.q.tolist(), motion.v.tolist(), [scene.energy.kinetic, scene.energy.total]])

{program}
print(json.dumps(found))
"""


def compared(*parts: str, **environment: str) -> Any:
    """What the programs of some parts find in a new process."""
    text = COMPARED.replace("{program}", "".join(PROGRAMS[part] for part in parts))
    return program(text, PYTHONPATH=_places(), **environment)


def assert_near(found: Any, expected: Any, bound: float) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert np.abs(np.subtract(one, other)).max() <= bound * max(1.0, np.abs(other).max())


def test_steps_solves_and_batches_are_those_of_the_sources() -> None:
    """All but zones, whose boundary elements Python would compute for hours: what is compiled, and Python itself.

    Plain Numba is no cheap reference: it compiles a scene for three minutes, a strand and a zone for half a minute
    each. Python evaluates the same sources at once, and to other rounding: without fused operations, sums in order.
    """
    parts = [part for part in PROGRAMS if part != "zone"]
    made, expected = (compared(*parts, SENNIT_KERNELS=mode) for mode in ("", "python"))
    assert_near(made, expected, 1e-11)


def test_factors_are_those_of_plain_numba() -> None:
    """What is compiled plainly in a few seconds; all the rest with --thorough."""
    tables = _small_scene()._compiled().system.plan(False).scene
    matrix = tables.matrix
    matrix.values[:] = np.random.default_rng(1).normal(size=matrix.values.size)
    made = []
    for factors in (factorise, factorise.plain):
        arrays = [array.copy() for array in (matrix.values, matrix.factor, matrix.diagonal, matrix.ratio)]
        made.append([np.array(factors(tables.plan, *arrays), dtype=float), *arrays])
    assert np.abs(made[0][2]).max() > 0.0
    assert_near(made[0], made[1], 1e-12)


@pytest.mark.slow
@pytest.mark.skipif(thorough() == 1, reason="plain Numba compiles for minutes: with --thorough")
@pytest.mark.parametrize(("whole", "plain", "bound"), [("strict", "numba-strict", 0.0), ("", "numba", 1e-12)])
@pytest.mark.parametrize("part", PROGRAMS)
def test_each_part_is_that_of_plain_numba(part: str, whole: str, plain: str, bound: float) -> None:
    assert_near(*(compared(part, SENNIT_KERNELS=mode) for mode in (whole, plain)), bound)


NOT_COMPARED = LEFT_OUT | {
    "solve.kernels.accept.stand_still": "the last resort of a step that can't be made: prepared, not called",
}
"""Kernels that no step calls, and why."""
STEPS = [*pack_kernels.GROUPS.values(), *(f"{pack_kernels.REHEARSAL}/{k}" for k in range(len(rehearsal.USUAL)))]
"""All that wheels are made by: the first steps of every group, and what people usually do."""
_compared: dict[str, set[str]] = {}
"""Kernels that were compared, or that plain Numba compiles in any case, by the steps that called them."""


@pytest.mark.slow
@pytest.mark.skipif(thorough() == 1, reason="plain Numba compiles for minutes: with --thorough")
@pytest.mark.parametrize(("mode", "bound"), [("strict", 0.0), ("", 1e-12)])
@pytest.mark.parametrize("steps", STEPS)
def test_every_call_of_a_kernel_is_that_of_plain_numba(steps: str, mode: str, bound: float) -> None:
    """Each by itself, with the same numbers before it: result, and all that is in its arrays and tables afterwards."""
    done = subprocess.run(
        [sys.executable, "-m", "references.both_ways", str(bound), steps], capture_output=True, text=True, timeout=7200,
        env=os.environ | {"PYTHONPATH": _places(), "SENNIT_KERNELS": mode},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["differ"]
    _compared.setdefault(steps, set()).update(found["compared"], found["alone"])


@pytest.mark.slow
@pytest.mark.skipif(thorough() == 1, reason="plain Numba compiles for minutes: with --thorough")
def test_every_kernel_that_python_calls_was_compared() -> None:
    if _compared.keys() != set(STEPS):
        pytest.skip("not all of them were run")
    found = set().union(*_compared.values())
    missing = {name for name in kernels_that_python_calls() - found if not any(map(name.startswith, NOT_COMPARED))}
    assert not missing, "rehearse them in rehearsal.py, or say in NOT_COMPARED why not"


@pytest.mark.slow
@pytest.mark.skipif(thorough() == 1, reason="compiles for minutes: with --thorough")
@pytest.mark.parametrize(("mode", "bound"), [("strict", 0.0), ("", 1e-12)])
@pytest.mark.parametrize("part", PROGRAMS)
def test_each_part_is_the_same_for_all_processors(part: str, mode: str, bound: float) -> None:
    """What wheels carry gives what is compiled on the spot."""
    targets = ("native", processor.baseline())
    assert_near(*(compared(part, SENNIT_KERNELS=mode, SENNIT_KERNELS_CPU=target) for target in targets), bound)
