"""A scene or a strand on its way to the loop's process and back."""

from __future__ import annotations

import contextlib
import json
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.strand.made import SampledMatter
from sennit.bodies.strand.posing import Grips, TipWrench
from sennit.bodies.strand.state import StrandState
from sennit.bodies.strand.strand import Strand
from sennit.cosserat.model import Conditions, Held, TipLoad, TipSpring
from sennit.cosserat.solution import Solution
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError, SolveReport
from sennit.geometry.pose import Pose
from sennit.material import Material
from sennit.scene.scene import Scene
from sennit.solve.report import Event
from sennit.storage.contact_file import read_kept, read_met
from sennit.storage.describe import Reader, Writer
from sennit.validation import FloatArray, quoted

__all__ = [
    "Loan",
    "described_coupling",
    "described_point",
    "described_pose",
    "described_state",
    "described_strand",
    "hand_back",
    "made_coupling",
    "made_point",
    "made_pose",
    "made_state",
    "made_strand",
    "take_back",
]

# ----------------------------------------------------------------------------------------------------------- scenes


def described_point(scene: Scene, point: Point) -> dict[str, Any]:
    """A point of a body of `scene`."""
    if point.body not in scene.bodies:
        raise InputError(f"grip must be a point of a body of the scene, as rope.at(0.5), got {quoted(point)}")
    return Writer(scene.bodies, {}).point(point)


def made_point(scene: Scene, entry: dict[str, Any]) -> Point:
    """The same point of a scene that was loaded."""
    read = Reader({})
    read.bodies = list(scene.bodies)
    return read.point(entry)


class Loan:
    """What was in `scene` when a loop took it over, with what the loop's page has changed since then."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._begin = self._things = _things_in(scene)
        self.events = len(scene.events)
        """How many there were; those that the loop's page adds here (of cuts) are the loop's, too."""

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Whatever is put into the scene or taken out meanwhile is put into the loop's or taken out there, too.

        If that raises, the scene is put back: the loop may have ended.
        """
        before, kept = _things_in(self.scene), self.scene.snapshot()
        try:
            yield
        except BaseException:
            self.scene.restore(kept)
            raise
        after = _things_in(self.scene)
        if _same(before, self._things):  # nobody else changed it: their order counts, too
            self._things = after
            return
        gone = [id(thing) for things in _missing(before, after) for thing in things]
        new = _missing(after, before)
        self._things = tuple(
            (*(thing for thing in things if id(thing) not in gone), *fresh)
            for things, fresh in zip(self._things, new, strict=True)
        )

    def reset(self) -> None:
        """The scene was put back to how it was when the loop took it over, and the loop's, too."""
        self._things = self._begin

    def check(self) -> None:
        """Raises `InputError` if other things are in the scene than in the loop's, or in another order."""
        now = _things_in(self.scene)
        if _same(now, self._things):
            return
        lists = [("removed", _missing(self._things, now)), ("added", _missing(now, self._things))]
        what = [f"{quoted(thing.name)} was {how}" for how, kinds in lists for things in kinds for thing in things]
        raise InputError(
            f"the scene was changed while a haptic loop had it: {', '.join(what) or 'its things have another order'}; "
            "add and remove things before the loop begins, or after it has ended. The scene here is unchanged"
        )


def _things_in(scene: Scene) -> tuple[tuple[Any, ...], ...]:
    return scene.bodies, scene.constraints, scene.loads, scene.obstacles


def _same(some: tuple[tuple[Any, ...], ...], others: tuple[tuple[Any, ...], ...]) -> bool:
    """Whether they are the same things in the same order."""
    return all(len(a) == len(b) and all(map(operator.is_, a, b)) for a, b in zip(some, others, strict=True))


def _missing(some: tuple[tuple[Any, ...], ...], others: tuple[tuple[Any, ...], ...]) -> list[list[Any]]:
    """Of each kind of things, those in `some` that are not in `others`."""
    there = {id(thing) for things in others for thing in things}
    return [[thing for thing in things if id(thing) not in there] for things in some]


def hand_back(scene: Scene, path: Path) -> None:
    """Write `scene` to `path`; no hand holds it any more."""
    scene.save(path)


def take_back(loan: Loan, path: Path) -> None:
    """Put the state that `hand_back` wrote into the scene: its bodies, constraints and points stay the same objects.

    Raises `InputError`, and changes nothing, if other things are in the scene than the loop had.
    """
    scene = loan.scene
    loan.check()
    with np.load(path, allow_pickle=False) as data:
        arrays = dict(data)
    description = json.loads(bytes(arrays["description"]).decode())
    _check_kinds(scene, description)
    bodies = list(scene.bodies)
    own = [(i, body) for i, body in enumerate(bodies) if body._state_is_known()]
    _check_arrays(own, arrays)
    here = scene.snapshot()
    for i, body in own:
        _fill(body, i, arrays)
    # Which pearls are neighbours follows from where they are: the tables are made anew, as for a scene from a file.
    numbered = list(enumerate(scene._made_anew()))
    try:
        _check_arrays(numbered, arrays)
    except InputError:
        scene.restore(here)
        raise
    for i, thing in numbered:
        _fill(thing, i, arrays)
    scene._state_was_put()
    if "contact/last" in arrays:  # rules that were given here meanwhile hold from now on
        touching = scene._compiled().system.touching
        scene._contact_goes_on(read_met(scene, description), read_kept(scene, touching, arrays))
    scene.gravity = description["gravity"]
    remaining: dict[str, list[Any]] = {
        "bodies": bodies, "constraints": list(scene.constraints), "obstacles": list(scene.obstacles),
    }  # fmt: skip
    events = []
    del scene._events[loan.events :]
    for entry in description["events"][loan.events :]:
        subjects = tuple(remaining[what][i] for what, i in entry["subjects"])
        events.append(Event(entry["time"], entry["kind"], subjects, entry["message"], entry.get("steps", 1)))
    released: Any = [bodies[i] for i in description["released"]]
    scene._go_on_from(description["clock"], released, events)


def _check_kinds(scene: Scene, description: dict[str, Any]) -> None:
    """Whether the things of a description are those of `scene`, as far as their classes tell."""
    for what in ("bodies", "constraints", "obstacles"):
        things = getattr(scene, what)
        if [entry["kind"] for entry in description[what]] != [type(thing).__name__ for thing in things]:
            raise InputError(f"the loop's scene came back with other {what} than are here; the scene here is unchanged")
    if len(description["loads"]) != len(scene.loads):
        raise InputError("the loop's scene came back with other loads than are here; the scene here is unchanged")


def _check_arrays(things: list[tuple[int, Any]], arrays: dict[str, Any]) -> None:
    """Whether there are numbers for all of `things`, each with its number in the order of the state."""
    for i, thing in things:
        for key, array in thing._state_arrays().items():
            came = arrays.get(f"state/{i}/{key}")
            if came is None or came.shape != array.shape:
                got = "nothing" if came is None else f"numbers of shape {came.shape}"
                raise InputError(
                    f"the loop's scene came back with {got} where {thing!r} has {key!r} of shape {array.shape}; the "
                    "scene here is unchanged"
                )


def _fill(thing: Any, i: int, arrays: dict[str, Any]) -> None:
    for key, array in thing._state_arrays().items():
        array[...] = arrays[f"state/{i}/{key}"]


# ---------------------------------------------------------------------------------------------------------- strands


def described_strand(strand: Strand) -> dict[str, Any]:
    """What makes `strand` again. Profiles that are functions are sampled at the nodes, where the numerics read them.

    Raises `InputError` for a strand with an automatic mesh, which no loop can keep its time with, and for one with a
    `Law`, whose function cannot travel.
    """
    if strand.tolerance is not None:
        raise InputError('a haptic loop needs a fixed mesh: give the strand nodes as a number, not "auto"')
    if strand.law is not None:
        raise InputError(
            "a strand with law= cannot go to the loop's process: give it section and material, or stiffness"
        )
    mass = strand.mass_per_length
    entry: dict[str, Any] = {
        "length": strand.length,
        "nodes": strand.nodes,
        "order": strand.order,
        "extensible": strand.extensible,
        "mass_per_length": mass if isinstance(mass, float) else None,
    }
    for name, profile in (
        ("rest_curvature", strand.model.rest_curvature),
        ("rest_stretch", strand.model.rest_stretch),
    ):
        entry[name] = np.array([profile(s) for s in strand.s.tolist()]) if callable(profile) else np.asarray(profile)
    if strand.model.matter is not None:
        entry["matter"] = strand.model.sampled_matter()
    elif strand.section is not None and strand.material is not None:
        entry |= {"section": Writer.section(strand.section), "material": Writer.material(strand.material)}
    else:
        entry["stiffness"] = strand.stiffness
    return entry


def made_strand(entry: dict[str, Any]) -> Strand:
    """The strand that `described_strand` described."""
    given = dict(entry)
    length, nodes = given.pop("length"), given.pop("nodes")
    if "matter" in given:
        given["stiffness"] = SampledMatter(length, **given.pop("matter"))
    if "section" in given:
        given |= {"section": Reader.section(given["section"]), "material": Material(**given["material"])}
    return Strand(length, nodes=nodes, **given)


def described_state(state: StrandState) -> dict[str, Any]:
    """A state of a strand."""
    solution, report = state.solution, state.report
    c = solution.conditions
    return {
        "q": solution.q,
        "lam": solution.lam,
        "target": c.target,
        "tip": {
            "dead_moment": c.tip.dead_moment,
            "follower_moment": c.tip.follower_moment,
            "springs": [[spring.stiffness, spring.towards] for spring in c.tip.springs],
        },
        "compliance": c.spring_compliance,
        "coupled": state.coupled,
        "place": np.asarray(c.held[-1].position),
        "report": [report.status, report.iterations, report.residual, report.method, report.nodes, report.message],
    }


def made_state(strand: Strand, base: Pose, gravity: FloatArray | None, entry: dict[str, Any]) -> StrandState:
    """The same state of the `strand` here, held by `base` and in the same field of gravity."""
    posing = strand._posing
    held = posing.grips(base=base).held
    coupled = bool(entry["coupled"])
    if coupled:
        held.append(Held(1.0, entry["place"], None))
    grips = Grips(held, (), entry["compliance"])
    posed = posing.conditions(grips, posing.line_loads(gravity), TipWrench())
    given = entry["tip"]
    springs = tuple(TipSpring(stiffness, towards) for stiffness, towards in given["springs"])
    tip = TipLoad(given["dead_moment"], given["follower_moment"], springs)
    conditions = Conditions(posed.problem, held, entry["target"], tip, posed.tip_force, False, entry["compliance"])
    report = SolveReport(*entry["report"])
    solution = Solution(conditions, entry["q"], entry["lam"], settled=report.converged)
    return StrandState(strand, solution, report, coupled)


# ------------------------------------------------------------------------------------------------------ small things


def described_coupling(coupling: VirtualCoupling) -> dict[str, float]:
    """The four numbers of a coupling."""
    return {
        name: getattr(coupling, name) for name in ("stiffness", "damping", "rotational_stiffness", "rotational_damping")
    }


def made_coupling(entry: dict[str, float]) -> VirtualCoupling:
    """The same coupling."""
    return VirtualCoupling(**entry)


def described_pose(pose: Pose) -> list[float]:
    """The seven numbers of a pose."""
    return [*pose.position.tolist(), *pose.quaternion.tolist()]


def made_pose(numbers: list[float]) -> Pose:
    """The same pose, bit for bit."""
    return Pose._trusted(np.array(numbers[:3]), np.array(numbers[3:]))
