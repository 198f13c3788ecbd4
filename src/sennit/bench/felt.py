"""How long tissue takes under a hand, how punctual its loop is, and what the cheaper ways to solve seams cost in truth.

The finger is the demonstration's, three pads of about 800 vertices on three bones; its joints bend in every tick while
a probe slides over the middle pad.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench.interpolated import interpolated
from sennit.bench.table import Case, Progress, Row, Table, measure
from sennit.bench.zones import _Round, soft_ball
from sennit.bodies.zone.felt import FeltBody
from sennit.demos import finger, sew
from sennit.demos.sewing_device import scripted_bite, sewn_by
from sennit.haptics import HapticLoop, ScriptedDevice
from sennit.haptics.tissue import TissueSubject, skeleton_table
from sennit.haptics.tool import ToolSubject
from sennit.validation import FloatArray

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times what a hand feels of a ball of 2,500 vertices and of a finger of three zones that bends under a probe, with "
    "seams solved whole and by few modes, beside the solve with surfaces; counts late ticks of the finger's loop, "
    "ordinary and with real-time scheduling; times a rigid ball that some 30 vertices of it touch with friction, and a "
    "bite with a needle; and compares all ways to solve seams by error and time. Takes two minutes."
)

COUPLING = sn.VirtualCoupling(1500.0, 0.5)
DEPTH = 1.5e-3
"""How deep the hand is in the finger, m; the coupling takes a part of it."""


def run(progress: Progress) -> list[Table]:
    """Time everything."""
    return [ticks(progress), punctuality(progress), tools(progress), bites(progress), methods(progress)]


@cache
def hand(around: int = 24) -> finger.Model:
    """The demonstration's finger."""
    return finger.build(around)


def _chain(model: finger.Model, method: str, modes: int = 32) -> sn.ZoneChain:
    chain = model.chain
    seams = [seam.vertices for seam in chain.seams]
    return sn.ZoneChain(list(chain.zones), seams, rest_poses=chain.rest_poses, method=method, modes=modes)


def _skeleton(model: finger.Model, t: float) -> list[sn.Pose]:
    wave = 0.25 - 0.25 * np.cos(2.0 * np.pi * t)
    return list(model.finger.poses((wave, 0.7 * wave)))


def _path(model: finger.Model, count: int) -> FloatArray:
    """A hand that goes into the middle pad and to and fro on it, a place for each tick; (count, 3), m."""
    places = []
    for k in range(count):
        slid = 0.5 - 0.5 * np.cos(2.0 * np.pi * k / 1000.0)
        place, normal = finger.probed_place(model, float(slid))
        height = max(3e-3 - 3e-5 * k, -DEPTH)
        places.append(_skeleton(model, k / 1000.0)[1] @ (place + height * normal))
    return np.array(places)


def ticks(
    progress: Progress, around: int = 24, *, samples: int = 3000, seconds: float = 20.0, balls: int = 2500
) -> Table:
    """One felt tick: the bones move, the seams are solved, the probe slides."""
    model = hand(around)
    path = _path(model, 1000)
    table = skeleton_table(model.chain, partial(_skeleton, model), 1000.0, 1000)
    cases = []
    for name, method, modes in (
        ("finger, 16 modes", "modes", 16), ("finger, 32 modes", "modes", 32), ("finger, whole seams", "auto", 32),
    ):  # fmt: skip
        body = FeltBody(_chain(model, method, modes), model.probe_radius)
        cases.append(Case(name, _walk(TissueSubject(body, COUPLING, 1e-3, 0.3, table), path)))
    zone = soft_ball(balls)
    ball = _ball_path()
    cases.append(Case(f"ball of {balls:,} vertices", _walk(TissueSubject(FeltBody(zone), COUPLING, 1e-3, 0.3), ball)))
    poses = [_skeleton(model, k / 1000.0) for k in range(1000)]
    walk = _Round(poses)
    cases.append(Case("finger, solve with surfaces", lambda: model.chain.solve(walk()).positions()))
    sizes = ", ".join(f"{len(each.vertices):,}" for each in model.chain.zones)
    result = measure(f"Felt ticks of the finger ({sizes} vertices) and of a ball", cases, samples=samples,
                     seconds=seconds, per="tick", progress=progress)  # fmt: skip
    few = result["finger, 32 modes"]
    result.aim("median felt tick of the finger, 32 modes, ms", 1e3 * few.median, at_most=0.4)
    result.aim("p99 felt tick of the finger, 32 modes, ms", 1e3 * few.p99, at_most=0.8)
    result.aim("p99 on the ball, µs", 1e6 * result.rows[3].p99, at_most=100.0)
    result.notes.append("joints bend in every tick; no surface is computed but in the last row")
    return result


def _ball_path() -> FloatArray:
    """Round the top of the ball, a millimetre deep after a while."""
    angle = 2.0 * np.pi * np.arange(1000) / 1000.0
    ways = np.stack((0.4 * np.cos(angle), 0.4 * np.sin(angle), np.full(1000, 0.9)), axis=1)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    return np.asarray(np.maximum(0.041 - 2e-5 * np.arange(1000), 0.039)[:, None] * ways)


def _walk(subject: TissueSubject, path: FloatArray) -> Callable[[], object]:
    poses = [sn.Pose(place) for place in path]
    at = [0]

    def call() -> object:
        k = at[0] % len(poses)
        if k == 0:  # begin again, outside
            subject.afresh()
            subject._ticks, subject._moved = 0, -1
        subject.step(poses[k])
        at[0] += 1
        return subject.wrench

    return call


def punctuality(progress: Progress, around: int = 24, *, seconds: float = 10.0) -> Table:
    """The finger's loop at 1 kHz in its own process: late ticks."""
    model = hand(around)
    count = int(1000 * seconds)
    path = _path(model, count)
    rows, notes, aims = [], [], []
    cases = [("32 modes, ordinary", "modes", False, 0.5), ("32 modes, real-time", "modes", "auto", 0.1)]
    cases += [("whole seams, ordinary", "auto", False, 0.5), ("whole seams, real-time", "auto", "auto", 0.1)]
    for i, (name, method, realtime, aim) in enumerate(cases):
        progress(f"Loop: {name}", i / len(cases))
        device = ScriptedDevice(path)
        loop = HapticLoop(
            _chain(model, method), device, coupling=COUPLING, probe=model.probe_radius, friction=0.3,
            skeleton=partial(_skeleton, model), realtime=realtime,  # type: ignore[arg-type]
        )  # fmt: skip
        with loop:
            loop.wait()
        told = loop.statistics
        late = {"late %": 100.0 * told.late_part}
        rows.append(Row(name, told.step_p50, told.step_p99, told.longest_step, told.ticks, values=late))
        if realtime == "auto" and not told.realtime:
            notes.append(f"{name}: the system did not grant it")
        aims.append((f"late ticks, {name}, %", 100.0 * told.late_part, aim))
        if told.failed:
            notes.append(f"{name}: {told.failed} steps had no solution")
    table = Table(f"The finger's loop, {count:,} ticks at 1 kHz", rows, notes=notes)
    for text, value, most in aims:
        table.aim(text, value, at_most=most)
    return table


BALL = 0.015
"""Radius of the rigid ball, m."""
BALL_DEPTH = 2e-3
"""How deep the hand presses it, m: 30 vertices of the finger touch it then."""


def tools(progress: Progress, around: int = 24, *, seconds: float = 4.0, only: int = 4) -> Table:
    """The finger's loop at 1 kHz with a rigid ball in the hand, pressed with friction and drawn to and fro."""
    model = hand(around)
    count = int(1000 * seconds)
    ball = sn.Sphere((0.0, 0.0, 0.0), BALL)
    rows, notes, aims = [], [], []
    cases = [
        ("16 modes, joints bend", "modes", 16, True), ("32 modes, joints bend", "modes", 32, True),
        ("32 modes, joints at rest", "modes", 32, False), ("whole seams, joints at rest", "auto", 32, False),
    ][:only]  # fmt: skip
    for i, (name, method, modes, bends) in enumerate(cases):
        progress(f"Ball: {name}", i / len(cases))
        path, touching = [], []
        rest = model.chain.rest_poses
        for k in range(count):
            place, normal = finger.probed_place(model, float(0.5 - 0.3 * np.cos(2.0 * np.pi * k / 1000.0)))
            pose = (_skeleton(model, k / 1000.0) if bends else rest)[1]
            path.append(pose @ (place + (BALL + max(3e-3 - 3e-5 * k, -BALL_DEPTH)) * normal))
        chain = _chain(model, method, modes)
        skeleton = partial(_skeleton, model) if bends else None
        own = ToolSubject(FeltBody(chain), ball, COUPLING, 1e-3, 0.5,
                          skeleton_table(chain, skeleton, 1000.0, count))  # fmt: skip
        for place in path[:1000]:
            own.step(sn.Pose(place))
            touching.append(own.count)
        loop = HapticLoop(
            chain, ScriptedDevice(np.array(path)), coupling=COUPLING, tool=ball, friction=0.5, skeleton=skeleton
        )  # fmt: skip
        with loop:
            loop.wait()
        told = loop.statistics
        values = {"contacts": max(touching), "late %": 100.0 * told.late_part}
        rows.append(Row(name, told.step_p50, told.step_p99, told.longest_step, told.ticks, values=values))
        if told.failed:
            notes.append(f"{name}: {told.failed} steps had no solution")
        aims.append((f"median tick of the ball, {name}, ms", 1e3 * told.step_p50, 1.0))
    table = Table(f"A ball with friction on the finger, {count:,} ticks at 1 kHz", rows, notes=notes)
    for text, value, most in aims:
        table.aim(text, value, at_most=most)
    return table


# ------------------------------------------------------------------------------------------------------------ methods


def bites(progress: Progress, *, only: int = 2) -> Table:
    """A bite of the demonstration `sew` in a loop at 1 kHz, the needle in a scripted hand: late ticks."""
    rows, notes = [], []
    for i, (name, realtime) in enumerate((("ordinary", False), ("real-time", "auto"))[:only]):
        progress(f"A bite: {name}", i / 2)
        show = sew.Surgery()
        device = scripted_bite(show.theatre, sew.SPEED)
        told = sewn_by(show, device, realtime=realtime)
        late = {"late %": 100.0 * told.late_part, "most felt, N": float(np.linalg.norm(device.forces, axis=1).max())}
        rows.append(Row(name, told.step_p50, told.step_p99, told.longest_step, told.ticks, values=late))
        if show.told != ["pierced", "through"] * 2:
            notes.append(f"{name}: the needle's events are {', '.join(show.told)}")
        if realtime == "auto" and not told.realtime:
            notes.append(f"{name}: the system did not grant it")
    notes.append("two pads of 450 vertices, a thread of 100 control points; two holes in each lip are made")
    return Table("A bite of `sennit demo sew` at 1 kHz", rows, notes=notes)


BENT = (0.8, 0.55)
"""Angles of the two joints, rad: 46° and 32°."""


def methods(progress: Progress, around: int = 24, *, samples: int = 300, seconds: float = 15.0) -> Table:
    """All ways to solve the seams of the finger, bent by 46° and 32°: time, and errors against the direct solution."""
    model = hand(around)
    whole = model.chain
    poses = model.finger.poses(BENT)
    exact = whole.solve(poses, method="direct")
    largest = max(float(np.abs(u).max()) for u in exact.displacements)
    chains: dict[str, tuple[sn.ZoneChain, str]] = {
        name: (whole, name) for name in ("direct", "sweeps", "block_diagonal", "kinematic")
    }
    for modes in (16, 32, 48):
        chains[f"modes, {modes}"] = _chain(model, "modes", modes), "modes"
    chains["rim of the seams alone"] = _rim(model), "direct"
    for name, of_all in (("D", False), ("block LU", True)):
        for spacing in (15.0, 30.0):
            made = interpolated(
                _chain(model, "direct"), lambda angles: list(model.finger.poses(tuple(angles))), BENT,
                np.radians(spacing), of_all,
            )  # fmt: skip
            chains[f"{name} interpolated, {spacing:.0f}° apart"] = made, "direct"
    felt = {name: _felt_forces(model, *each, poses) for name, each in chains.items()}
    cases, values = [], {}
    for name, (chain, method) in chains.items():
        parts = chain._parts(method)
        state = chain.solve(poses, method=method)
        off = max(float(np.abs(a - b).max()) for a, b in zip(state.displacements, exact.displacements, strict=True))
        errors = [_part_off(a, b) for a, b in zip(felt[name], felt["direct"], strict=True)]
        values[name] = {
            "surface, %": 100.0 * off / largest, "force amid pads, %": errors[0], "on a seam, %": errors[1],
            "estimate, %": 100.0 * state.report.error_estimate,
        }  # fmt: skip
        parts.system.place(poses)
        held, inner = np.zeros(parts.system.vector), "auto" if method == "modes" else method
        cases.append(Case(name, partial(parts.system.solve, held, inner)))
    table = measure("Seams of the finger at new angles", cases, samples=samples, seconds=seconds, progress=progress,
                    baseline="direct")  # fmt: skip
    table.rows = [_with(row, values.get(row.name, {})) for row in table.rows]
    table.notes.append("errors against the direct solution: largest displacement, and force of a probe 1 mm deep")
    table.notes.append("interpolated: factors of D or of all known 15° or 30° apart, by cubics amid four of each joint")
    return table


def _part_off(force: FloatArray | None, wanted: FloatArray | None) -> float | str:
    if force is None or wanted is None:
        return "can't move"
    return 100.0 * float(np.linalg.norm(force - wanted) / np.linalg.norm(wanted))


def _with(row: Row, more: dict[str, Any]) -> Row:
    return replace(row, values={**(row.values or {}), **more})


def _rim(model: finger.Model) -> sn.ZoneChain:
    """The finger with seams constrained near the skin only: their outer two fifths."""
    seams = []
    for k, (a, b) in enumerate(model.finger.seams):
        places = model.finger.pads[k].vertices[a]
        far = np.linalg.norm((places - places.mean(axis=0))[:, 1:], axis=1)
        kept = far > np.quantile(far, 0.6)
        seams.append((a[kept], b[kept]))
    return sn.ZoneChain(list(model.chain.zones), seams, rest_poses=model.chain.rest_poses)


def _felt_forces(
    model: finger.Model, chain: sn.ZoneChain, method: str, poses: list[sn.Pose]
) -> list[FloatArray | None]:
    """Of a probe 1 mm deep amid the middle pad, and on the first seam."""
    place, normal = finger.probed_place(model, 0.5)
    pad, seam = model.finger.pads[0], model.finger.seams[0][0]
    on_skin = np.intersect1d(seam, np.unique(pad.faces[pad.skin]))[0]
    found: list[FloatArray | None] = []
    for z, where, way in ((1, place, normal), (0, pad.vertices[on_skin], model.normals[0][on_skin])):
        try:
            touched = chain.touch(
                z, where, poses=poses, displacement=-1e-3 * way, radius=model.probe_radius, method=method
            )
            found.append(np.asarray(touched.force))
        except sn.InputError:  # a seam that is placed does not give way
            found.append(None)
    return found
