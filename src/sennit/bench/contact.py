"""How long a step takes in which things touch: against the number of contacts, beside a free step, and part by part.

A step with contacts factorises the scene's matrix once and the matrix with the rows of contacts in every Newton step.
These factorisations are its floor: what they take by themselves, times the Newton steps, stands beside the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench import contact_scenes as scenes
from sennit.bench.micado import OWN
from sennit.bench.table import Case, Progress, Row, Seconds, Table, measure
from sennit.linalg.kernels.ldlt import factorise
from sennit.solve.kernels.codes import JUDGE, KEEP, PREDICT, SOLVE, SOLVED

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times a step against the number of contacts, from ten to thousands: a rope on a table, a capstan, a knot that is "
    "pulled tight, a pile of ropes, stacks of boxes; with Newton steps, beside the time of the factorisations alone. "
    "Twenty contacts at 1 kHz, a hundred at 240 Hz, 300 at 60 Hz. A rope at rest on a table beside its free step. And "
    "where the time goes."
)
LONGEST = 20.0
"""Seconds that the steps of one scene are timed for at most; a scene whose steps take a quarter of it is the last."""
Make = Callable[[], sn.Scene]


def run(progress: Progress) -> list[Table]:
    """Time everything; about five minutes, and the compilation on top of it the first time."""
    return [growth(progress), budgets(progress), at_rest(progress), parts(progress)]


class Touching:
    """A scene that is run on, step by step, and what its steps are found to have done."""

    def __init__(self, make: Make, dt: float, before: float) -> None:
        self.scene, self.dt = make(), dt
        self.scene.run(before, dt)
        self.spent: list[float] = []
        self.own: list[float] = []
        self.figures: list[tuple[int, int, int]] = []

    @property
    def touch(self) -> Any:
        """The tables of contact."""
        return self.scene._touching().touch  # type: ignore[union-attr]

    def step(self) -> None:
        """One step on the clock."""
        begin, own = time.perf_counter(), time.thread_time()
        self.scene.step(self.dt)
        self.spent.append(time.perf_counter() - begin)
        self.own.append(time.thread_time() - own)
        state = self.touch.state
        self.figures.append((int(state.active[0]), int(state.chosen[0]), int(state.newton[0])))

    def steps(self, count: int, longest: float = LONGEST) -> None:
        """Up to `count` steps, for `longest` (s) at most."""
        end = time.perf_counter() + longest
        for _ in range(count):
            self.step()
            if time.perf_counter() > end:
                break

    def factor_time(self) -> float:
        """Of one factorisation of the matrix with the rows of contacts, s: the least of a few."""
        table: Any = self.scene._compiled().system.plan(False).scene
        plan, whole = table.whole_plan, table.whole_matrix
        taken = []
        for _ in range(5):
            begin = time.perf_counter()
            factorise(plan, whole.values, whole.factor, whole.diagonal, whole.ratio)
            taken.append(time.perf_counter() - begin)
        return min(taken)

    def row(self, name: str) -> Row:
        """What the steps have found."""
        active, chosen, newton = np.array(self.figures).T
        once = self.factor_time()
        least = Seconds(once * float(newton.mean()))
        own = float(np.mean(self.own))
        values: dict[str, float | str] = {
            "contacts": round(float(active.mean())), "looked at": round(float(chosen.mean())),
            "DOF": self.scene.dofs, "Newton": float(newton.mean()), "most": int(newton.max()), "own": Seconds(own),
            "floor": least, "× floor": own / least if least > 0.0 else "",
        }  # fmt: skip
        return Row.from_samples(name, self.spent, values=values)


# ------------------------------------------------------------------------------------------- against their number

Family = tuple[str, Callable[[int], sn.Scene], tuple[int, ...], float, float]
"""Name, maker by size, sizes, step (s), and how long it is run before the clock (s)."""
FAMILIES: tuple[Family, ...] = (
    ("rope on a table", scenes.rope_on_table, (13, 103, 1003, 10_003), 1 / 240, 0.1),
    ("capstan", scenes.capstan, (30, 60, 120), 1 / 240, 0.35),
    ("knot", scenes.knot, (110,), 1 / 240, 0.6),
    ("stacks of boxes", scenes.stacks, (3, 30, 100, 1000), 1 / 240, 0.1),
    ("pile of ropes", scenes.pile, (5, 20, 60, 200), 1 / 240, 0.6),
)


def growth(progress: Progress, families: Sequence[Family] = FAMILIES, *, steps: int = 60) -> Table:
    """A step of each kind of scene, larger and larger."""
    title = "A step of 1/240 s against the number of contacts"
    rows = []
    ends = []
    for k, (name, make, sizes, dt, before) in enumerate(families):
        for size in sizes:
            progress(f"{title}: {name}, {size}", k / len(families))
            begin = time.perf_counter()
            made = Touching(lambda: make(size), dt, before)  # noqa: B023 (called at once)
            made.steps(steps)
            rows.append(made.row(f"{name}, {size}"))
            if time.perf_counter() - begin > 3.0 * LONGEST and size != sizes[-1]:
                ends.append(f"{name} ends at {size}: {size} took more than a minute")
                break
    table = Table(title, rows, per="step")
    table.notes.append(
        "Contacts: those that press. Looked at: those in the problem. Newton: steps of Newton's method in a time step, "
        "mean and most. Floor: a factorisation of the matrix with the rows of contacts times the Newton steps. Sizes: "
        "control points, boxes, ropes."
    )
    table.notes += [OWN, *ends]
    return table


# ------------------------------------------------------------------------------------------------------ in real time

BUDGETS: tuple[tuple[int, float, tuple[tuple[str, Make, float], ...]], ...] = (
    (20, 1e-3, (
        ("rope on a table", lambda: scenes.rope_on_table(22), 0.05),
        ("capstan", lambda: scenes.capstan(35), 0.35),
        ("knot", lambda: scenes.knot(110), 0.6),
        ("pile of ropes", lambda: scenes.pile(6), 0.3),
        ("stack of boxes", lambda: scenes.stacks(5), 0.05),
    )),
    (100, 1 / 240, (
        ("rope on a table", lambda: scenes.rope_on_table(103), 0.1),
        ("pile of ropes", lambda: scenes.pile(20), 0.5),
        ("stacks of boxes", lambda: scenes.stacks(25, height=5), 0.1),
    )),
    (300, 1 / 60, (
        ("rope on a table", lambda: scenes.rope_on_table(303), 0.3),
        ("pile of ropes", lambda: scenes.pile(60), 0.6),
        ("stacks of boxes", lambda: scenes.stacks(75), 0.3),
    )),
)  # fmt: skip
"""Contacts, step (s), and the scenes that have about so many, with the time before the clock (s)."""


def budgets(progress: Progress, wanted: Sequence[Any] = BUDGETS, *, steps: int = 150) -> Table:
    """Whether scenes of some contacts keep up with time."""
    title = "Keeping up with time"
    rows, aims = [], []
    for k, (count, dt, makers) in enumerate(wanted):
        for name, make, before in makers:
            progress(f"{title}: {count}, {name}", k / len(wanted))
            made = Touching(make, dt, before)
            made.steps(steps)
            row = made.row(f"{count} at {1 / dt:.0f} Hz, {name}")
            rows.append(row)
            aims.append((f"{row.name}: mean of a step over its time", float(row.values["own"]) / dt))
    table = Table(title, rows, per="step", notes=[OWN])
    for name, share in aims:
        table.aim(name, share, at_most=1.0)
    return table


# ----------------------------------------------------------------------------------------------- beside a free step


def at_rest(progress: Progress, *, points: int = 50, samples: int = 400, seconds: float = 10.0) -> Table:
    """A rope at rest on a table beside the same rope in free fall, and beside one that a table does not touch."""
    title = f"A rope of {points} control points, one step of 1/240 s"
    made = {
        "free": scenes.rope_on_table(points, collide=False, table=False),
        "with a table that it does not touch": scenes.rope_on_table(points, collide=False),
        "at rest on the table": scenes.rope_on_table(points),
    }
    for scene in made.values():
        scene.run(0.5, 1 / 240)
    own: dict[str, list[float]] = {name: [] for name in made}

    def stepping(name: str) -> Callable[[], None]:
        scene = made[name]

        def steps() -> None:
            begin = time.thread_time()
            scene.run(20 / 240, 1 / 240)
            own[name].append((time.thread_time() - begin) / 20)

        return steps

    cases = [Case(name, stepping(name), per=20) for name in made]
    table = measure(title, cases, per="step", samples=samples, seconds=seconds, progress=progress)
    rows = [replace(row, values={"own": Seconds(np.median(own[row.name]))}) for row in table.rows]
    table = Table(title, rows, per="step", baseline="free", notes=[OWN])
    free = np.array(own["free"])
    for name, most in (("with a table that it does not touch", 1.1), ("at rest on the table", 3.0)):
        count = min(len(free), len(own[name]))
        ratio = float(np.median(np.array(own[name][-count:]) / free[-count:]))
        table.aim(f"{name}, over a free step", ratio, at_most=most)
    return table


# ---------------------------------------------------------------------------------------------- where the time goes

PARTS: tuple[tuple[str, Make, float, float], ...] = (
    ("rope on a table, 50", lambda: scenes.rope_on_table(50), 1 / 240, 0.1),
    ("rope on a table, 1003", lambda: scenes.rope_on_table(1003), 1 / 240, 0.1),
    ("capstan, 60", lambda: scenes.capstan(60), 1 / 240, 0.35),
    ("knot, 110", lambda: scenes.knot(110), 1 / 240, 0.6),
    ("stacks of boxes, 30", lambda: scenes.stacks(30), 1 / 240, 0.1),
    ("pile of ropes, 20", lambda: scenes.pile(20), 1 / 240, 0.5),
    ("pile of ropes, 60", lambda: scenes.pile(60), 1 / 240, 0.5),
)


def parts(progress: Progress, wanted: Sequence[Any] = PARTS, *, steps: int = 40) -> Table:
    """Where a step's time goes."""
    rows = []
    for k, (name, make, dt, before) in enumerate(wanted):
        progress("parts of a step", k / len(wanted))
        made = Touching(make, dt, before)
        made.steps(steps)
        system = made.scene._compiled().system
        spent: dict[str, list[float]] = {"predict": [], "find": [], "solve": [], "judge": []}
        for _ in range(steps):
            made.scene.step(dt)
            tables: Any = system.plan(False).scene
            clock = [time.perf_counter()]
            system.march(KEEP + PREDICT, 1, tables)
            clock.append(time.perf_counter())
            tables.settings.look[0] = 1  # as far as the scene's own factors
            system.march(SOLVE, 1, tables)
            tables.settings.look[0] = 0
            clock.append(time.perf_counter())
            status = system.march(SOLVE, 1, tables)
            clock.append(time.perf_counter())
            system.march(JUDGE, 1, tables)
            clock.append(time.perf_counter())
            if status == SOLVED:
                for part, taken in zip(spent, np.diff(clock), strict=True):
                    spent[part].append(float(taken))
            made.scene._compiled().solver.undo()
        row = made.row(name)
        found = {part: float(np.median(taken)) if taken else 0.0 for part, taken in spent.items()}
        found["solve"] = max(found["solve"] - found["find"], 0.0)  # which looks for contacts again
        whole = float(np.median(made.own))
        newton = float(np.median([n for _, _, n in made.figures]))
        factors = made.factor_time() * newton
        values: dict[str, float | str] = {"contacts": row.values["contacts"], "Newton": newton}
        values |= {"predict": Seconds(found["predict"]), "find, assemble": Seconds(found["find"])}
        values |= {"factors": Seconds(factors), "rest of Newton": Seconds(max(found["solve"] - factors, 0.0))}
        values |= {"judge": Seconds(found["judge"]), "rest": Seconds(max(whole - sum(found.values()), 0.0))}
        rows.append(replace(row, values=values))
    table = Table("Where a step's time goes", rows, per="step")
    table.notes.append(
        "Medians. Find, assemble: contacts, the scene's matrix and its own factors. Factors: of the matrix with rows "
        "of contacts. Rest: acceptance, Python, new plans of the matrix where new things touch, steps made again."
    )
    return table
