"""Hair: very many rods that are alike, rooted in a head that moves."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.making import checked_material, checked_section
from sennit.bodies.rod.rod import Rod
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.hair.head import HeadPart, checked_head
from sennit.hair.kernels.steps import PARTS
from sennit.hair.reading import centerlines, energies, sample_places
from sennit.hair.roots import frames_at, per_rod, start_state
from sennit.hair.running import MOST_STEPS, OnCard, OneByOne, OnProcessor, Runner, poses_between
from sennit.hair.tables import NUMBERS
from sennit.material import Material, Section, elastic_material
from sennit.scene.falling import Falling
from sennit.scene.moving import SHORTEST_STEP
from sennit.validation import FloatArray, quoted

__all__ = ["Hair"]

_MOST, _MOST_POINTS = 1 << 20, 128
_STIFFEST = 1e9
_FIRM = 300.0
"""Stiffness of contact over the mass of a sample and the square of a step: how much of what a step would lead too deep
is left."""
_STILL, _GRAIN = 1e-3, 1e-6
"""Energy that does not matter, over that of a rod's weight and of bending it round, and strain that does not."""
_DEEP = 0.1, 1.0
"""Of a span's length: how deep a whole step may lead a sample, and the farthest that one is put out at once."""
_SLIP = 1e-3
"""Speed (m/s) below which friction is as a damper's."""


@guarded()
class Hair(Falling):
    """Up to a million rods of one length, section and material, whose roots are held by a head.

    They meet the head, but neither each other nor themselves. Steps are linearised backward Euler, as a `Scene` makes
    them, in compiled code on all cores of the processor; a step of a rod does not depend on the others. Rods are
    straight at first, however they are bent at rest.

    Arguments:
        roots: where they grow, (rods, 3), m, in the head's frame.
        directions: where they point there, (rods, 3) or (3,) for all, of any length.
        length: of each, m.
        section, material: of all; damping is the material's relaxation time.
        control_points: of each, 5 to 128.
        stiffness: by what each rod's moduli are multiplied, (rods,) or one for all.
        rest_curvature: κ1, κ2 (and twist), 1/m, that a rod has when nothing acts on it, (rods, 2 or 3) or for all;
            d2 of a root is as near to the head's z as its direction allows.
        head: a `Sphere`, a `Capsule`, a `DistanceGrid`, or a list of them, in the head's frame. The first span of a rod
            passes through it, where its root is.
        pose: of the head at first.
        gravity: (3,), m/s². drag: of the air, 1/s: it takes this part of a rod's speed against the `wind` in a second.
        wind: (3,), m/s.
        friction: Coulomb's coefficient between rods and head.
        tolerance: how deep a sample may lie in the head after a step, m (half the radius, if left out).
        threads: cores to be used (all that the process may use, if left out).

        device: ``"cpu"``, or ``"cuda"`` for a graphics card of NVIDIA's.
        dtype: ``"float64"``, or ``"float32"``, of which a graphics card makes about twice as many steps. On processors
            that is several times slower, and there to see what comes of it.

    Raises `InputError` for bad input, and for ``device="cuda"`` where there is none: it says what is missing.
    """

    def __init__(
        self, roots: ArrayLike, directions: ArrayLike, *, length: float, section: Section, material: Material,
        control_points: int = 20, stiffness: ArrayLike = 1.0, rest_curvature: ArrayLike = (0.0, 0.0),
        head: HeadPart | Sequence[HeadPart] = (), pose: Pose = Pose(),  # noqa: B008  poses never change
        gravity: ArrayLike = (0.0, 0.0, -9.81), drag: float = 1.0, wind: ArrayLike = (0.0, 0.0, 0.0),
        friction: float = 0.3, tolerance: float | None = None, device: str = "cpu", dtype: str = "float64",
        threads: int | None = None,
    ) -> None:  # fmt: skip
        places = validation.array("roots", roots, (None, 3))
        if not 1 <= len(places) <= _MOST:
            raise InputError(f"roots must be those of 1 to {_MOST} rods, got {len(places)}")
        ways = per_rod("directions", directions, len(places), (3,))
        if not (lengths := np.linalg.norm(ways, axis=1)).all():
            i = int(np.argmin(lengths))
            raise InputError(f"directions must not be zero: that of rod {i} is {quoted(ways[i])}")
        n = validation.count("control_points", control_points, 5, _MOST_POINTS)
        span = validation.number("length", length, positive=True)
        factors = per_rod("stiffness", stiffness, len(places), ())
        if not ((factors >= 1.0 / _STIFFEST) & (factors <= _STIFFEST)).all():
            i = int(np.argmax(np.abs(np.log(np.maximum(factors, 1e-300)))))
            raise InputError(
                f"stiffness must be from {1.0 / _STIFFEST:g} to {_STIFFEST:g}: that of rod {i} is {quoted(factors[i])}"
            )
        self._rest: FloatArray = _rest_strains(rest_curvature, len(places))
        self._head = checked_head(head)
        self._pose = self._was = _checked_pose(pose)
        self._fall(gravity, drag)
        self._wind = validation.vector("wind", wind)
        self._friction = validation.number("friction", friction, minimum=0.0)
        checked_section(section)
        checked_material(material)
        self._rod = Rod.straight(
            (0.0, 0.0, 0.0), (0.0, 0.0, span), section=section, material=material, control_points=n
        )
        elastic_material(material, "hair")
        radius = section.radius
        deep = 0.5 * radius if tolerance is None else validation.number("tolerance", tolerance, positive=True)
        self._tolerance = deep
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        count = cores if threads is None else validation.count("threads", threads, 1, 1024)
        self._runner: Runner = _runner(device, dtype, self._rod.tables, len(places), self._head, count)
        self._device, self._dtype = device, dtype
        self._roots, self._root_frames = places, frames_at(ways)
        self._factors = factors
        self._start = start_state(self._rod.tables, places, self._root_frames, factors, self._rest, self._pose)
        self._start_pose = self._pose
        self._runner.write(slice(None), self._start)
        self._time = 0.0
        self._busy = threading.Lock()

    # -------------------------------------------------------------------------------------------------------- stepping

    def step(self, dt: float, n: int = 1) -> None:
        """Advance all rods by `n` steps of `dt`, s. The head goes from where it was to its `pose` in equal parts.

        A rod that can't go on stays as it last was: `status` and `failures` say so, and the others go on.
        """
        h = validation.number("dt", dt, minimum=SHORTEST_STEP)
        count = validation.count("n", n, 1, 1 << 40)
        if not self._busy.acquire(blocking=False):
            raise InputError("this hair is being stepped by another thread: one at a time")
        try:
            self._fill_numbers(h)
            for first in range(0, count, MOST_STEPS):
                end = min(count, first + MOST_STEPS)
                shares = np.arange(PARTS * first, PARTS * end + 1) / (PARTS * count)
                self._runner.run(end - first, poses_between(self._was, self._pose, shares))
            self._was = self._pose
            for _ in range(count):
                self._time += h
        finally:
            self._busy.release()

    def _fill_numbers(self, h: float) -> None:
        t, numbers = self._rod.tables, np.zeros(NUMBERS)
        mass = t.mass_per_length * t.length
        numbers[:3] = h, *(share * t.length / t.spans for share in _DEEP)
        numbers[3], numbers[4:7], numbers[7:10] = self._drag, self._gravity, self._wind
        numbers[10:14] = self.radius, _FIRM * mass / len(t.bend_u), self._friction, _SLIP
        numbers[14] = self._rod.material.relaxation_time
        numbers[15:19] = EA, B1, B2, _ = t.stiffness
        weighs = mass * float(np.linalg.norm(self._gravity)) * t.length
        still = _STILL * (weighs + max(B1, B2) / t.length) + 0.5 * _GRAIN**2 * EA * t.length
        numbers[19:] = self._tolerance, t.length, still
        self._runner.set_numbers(numbers)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Let rods begin anew, straight and at rest at their roots where the head is now: those of a `mask` (rods,) of
        booleans or of an array of numbers, or all. Failed ones go on.
        """
        chosen = validation.chosen(mask, self.count, "rods")
        state = start_state(
            self._rod.tables, self._roots[chosen], self._root_frames[chosen], self._factors[chosen],
            self._rest[chosen], self._was,
        )  # fmt: skip
        self._runner.write(chosen, state)

    # --------------------------------------------------------------------------------------------------------- reading

    def __len__(self) -> int:
        return self._runner.rods

    def __repr__(self) -> str:
        return f"<Hair of {self.count} rods of {self._rod.tables.n} control points>"

    @property
    def count(self) -> int:
        """Number of rods."""
        return self._runner.rods

    @property
    def device(self) -> str:
        """What makes its steps."""
        return self._device

    @property
    def dtype(self) -> str:
        """What its numbers are."""
        return self._dtype

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._time

    @property
    def length(self) -> float:
        """Of each rod at rest, m."""
        return float(self._rod.tables.length)

    @property
    def radius(self) -> float:
        """Of each rod's section, m."""
        return float(self._rod.section.radius)

    @property
    def positions(self) -> FloatArray:
        """Control points of all rods: (rods, points, 3), m, in the world. The first is the root; the curve ends at the
        last one, and passes near the others: `centerlines` is where it is.
        """
        return self._points(0)[:, :, :3].copy()

    @property
    def velocities(self) -> FloatArray:
        """Their velocities: (rods, points, 3), m/s."""
        return self._points(4 * self._rod.tables.n)[:, :, :3].copy()

    @property
    def rolls(self) -> FloatArray:
        """Rolls of the sections at the control points: (rods, points), rad."""
        return self._points(0)[:, :, 3].copy()

    def _points(self, first: int) -> FloatArray:
        n = self._rod.tables.n
        return self._runner.read(first, first + 4 * n).reshape(-1, n, 4)

    def centerlines(self, count: int = 33) -> FloatArray:
        """Places of all curves at `count` equal steps of rest length: (rods, count, 3), m."""
        return centerlines(self._rod.tables, self.positions, validation.count("count", count, 2, 1 << 16))

    def depths(self) -> FloatArray:
        """How deep the deepest sample of each rod lies in the head, m, negative where it touches nothing: (rods,).

        Samples are two in each span but the first, and the tip; a rod has its section's radius.
        """
        if not self._head:
            return np.full(self.count, -np.inf)
        return sample_places(self._rod.tables, self._head, self._was, self.positions, self.radius)

    @property
    def status(self) -> NDArray[np.int8]:
        """0 for a rod that goes on, 1 for one that could not and stays as it last was: (rods,)."""
        told = self._runner.read(self._runner.size - 1, self._runner.size)[:, 0]
        return np.asarray(told != 0.0, dtype=np.int8)

    @property
    def failures(self) -> dict[int, str]:
        """What is wrong with rods that could not go on, by their numbers."""
        text = "its step had no finite solution: it stays as it was until it is reset"
        return {int(i): f"rod {i}: {text}" for i in np.flatnonzero(self.status)}

    def energies(self) -> dict[str, FloatArray]:
        """Energies of each rod, (rods,), J: "kinetic", "stretch", "bend", "twist", "gravity" and their "total"."""
        state = self._runner.read(0, self._runner.size)
        return energies(self._rod.tables, state, self._factors, self._rest, self._gravity)

    # --------------------------------------------------------------------------------------------------------- setting

    @property
    def pose(self) -> Pose:
        """Pose of the head. Can be set: where it goes to in the next call of `step`."""
        return self._pose

    @pose.setter
    def pose(self, value: Pose) -> None:
        self._pose = _checked_pose(value)

    @property
    def wind(self) -> FloatArray:
        """Velocity of the air: (3,), m/s. Can be set."""
        return self._wind.copy()

    @wind.setter
    def wind(self, value: ArrayLike) -> None:
        self._wind = validation.vector("wind", value)

    @property
    def friction(self) -> float:
        """Coulomb's coefficient between rods and head. Can be set."""
        return self._friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._friction = validation.number("friction", value, minimum=0.0)

    def __reduce__(self) -> Any:
        raise TypeError("hair is not sent: make it in each process")


def _runner(device: str, dtype: str, tables: Any, rods: int, head: tuple[HeadPart, ...], threads: int) -> Runner:
    validation.choice("device", device, ("cpu", "cuda"))
    validation.choice("dtype", dtype, ("float64", "float32"))
    if device == "cuda":
        return OnCard(tables, rods, head, dtype)
    return (OnProcessor if dtype == "float64" else OneByOne)(tables, rods, head, threads)


def _checked_pose(pose: object) -> Pose:
    if not isinstance(pose, Pose):
        raise InputError(f"pose must be a sennit.Pose, got {quoted(pose)}")
    return pose


def _rest_strains(given: ArrayLike, rods: int) -> FloatArray:
    """κ̂1, κ̂2, τ̂ of each rod, (rods, 3), 1/m."""
    shape = np.shape(given)
    if shape not in ((2,), (3,), (rods, 2), (rods, 3)):
        raise InputError(
            f"rest_curvature must be κ1, κ2 (and twist), 1/m, for all, or ({rods}, 2 or 3), got {quoted(given)}"
        )
    checked = validation.array("rest_curvature", given, shape)
    rest = np.zeros((rods, 3))
    rest[:, : shape[-1]] = checked
    return rest
