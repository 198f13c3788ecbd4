"""A finger of three soft pads on three bones: it bends, presses a ball, drags along it, and is touched by a probe.

Each pad is linearly elastic in the frame of its bone; the pads are joined at seams through the joints (Multizone
elastokinematic models, D. L. James and D. K. Pai, 2002, section VIII). The skin that the ball presses is found by
unilateral contact with Coulomb friction, with the compliance of all three pads.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos import add_common_arguments
from sennit.demos.finger_mesh import Finger, finger
from sennit.demos.held_devices import add_device, device_of, page_of
from sennit.demos.stage import FPS, MOST_FRAMES, bar, checked_output, open_page, open_picture
from sennit.geometry.rotations import rotation_exp
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.live.play import Play

__all__ = ["BALL", "BALL_RADIUS", "DESCRIPTION", "FRICTION", "Model", "Moment", "Run", "Truth", "add_arguments",
           "build", "check", "hand_pose", "main", "measure", "moment", "path", "play", "probed_place", "run",
           "ticks"]  # fmt: skip

Progress = Callable[[int], None]

DESCRIPTION = (
    "A finger of three soft pads (about 800 vertices each) on three bones bends by its joints, presses a ball, drags "
    "along it with friction, and is touched by a probe. On the page the ball is dragged into it, its joints are bent "
    "and its skin is pulled. Checks that seams stay closed and their forces balance, that the bones feel what the ball "
    "and the probe apply, that a hand that moves as one feels nothing, and that the quick solution is the exact one; "
    "tells how far off the cheaper approximations are, and how long a tick takes. Strains within each pad are taken as "
    "small."
)

STEPS = 120  # solves along the path, at least: friction is followed in small steps
TICKS = 1000
BALL = np.array((0.0588, 0.0, 0.0172))  # m, its centre in the world
BALL_RADIUS = 0.013
FRICTION = 0.5
KNUCKLE = (0.0, 0.0, 0.056)  # m, in the world
FLESH = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1050.0)
PUSH = 1.8e-3  # m, how deep the probe goes
TOLERANCE = 1e-8
_BALANCES = ("gap", "seam_unbalance", "bone_unbalance")

# Parts of the path, degrees of knuckle (up is negative), middle and last joint, depth of the probe.
_PATH = (
    (0.00, (-12.0, 6.0, 4.0), 0.0),
    (0.05, (-12.0, 6.0, 4.0), 0.0),
    (0.21, (-26.0, 58.0, 40.0), 0.0),
    (0.24, (-26.0, 58.0, 40.0), 0.0),
    (0.36, (-1.0, 28.0, 12.7), 0.0),
    (0.48, (1.3, 29.9, 14.2), 0.0),
    (0.60, (-4.0, 39.0, 14.2), 0.0),
    (0.68, (-12.0, 30.0, 16.0), 0.0),
    (0.74, (-12.0, 30.0, 16.0), 1.0),
    (0.88, (-12.0, 30.0, 16.0), 1.0),
    (0.94, (-12.0, 30.0, 16.0), 0.0),
    (1.00, (-12.0, 6.0, 4.0), 0.0),
)
_SLIDES = (0.73, 0.89)  # while the probe slides along the middle pad
_PROBED = (0.0465, 0.0590)  # m along the straight finger: from where to where
_ROUND = math.radians(-38.0)  # and how far round it, from the back of the hand to the onlooker
_PULP = (0.0735, 0.0795)  # m along the straight finger: where the stiffness of the pulp is felt


@dataclass(frozen=True, slots=True)
class Model:
    """The finger: its meshes, and its pads as a chain of zones."""

    finger: Finger
    chain: Any
    normals: tuple[FloatArray, ...]
    """Outward normals of each pad's vertices, in the bones' frames."""
    areas: tuple[FloatArray, ...]
    """Of each pad's vertices, m²."""
    probe_radius: float
    """m: two and a half times the spacing of vertices, below which a probe would feel the mesh."""


def build(around: int = 24) -> Model:
    """The finger with `around` vertices round a joint; Green's functions come from disk, or are computed once."""
    from sennit.bodies.zone.chain import ZoneChain
    from sennit.elastostatics.surface import Surface

    made = finger(around)
    zones = [
        sn.Zone.from_mesh(pad.vertices, pad.faces, material=FLESH, fixed=pad.fixed, name=pad.name) for pad in made.pads
    ]
    chain = ZoneChain(zones, made.seams, rest_poses=made.rest_poses())
    surfaces = [Surface(pad.vertices, pad.faces) for pad in made.pads]
    normals, areas = ([getattr(each, name) for each in surfaces] for name in ("vertex_normals", "vertex_areas"))
    widest = max(
        float(np.mean(area[np.unique(pad.faces[pad.skin])])) for area, pad in zip(areas[1:], made.pads[1:], strict=True)
    )
    return Model(made, chain, tuple(normals), tuple(areas), 2.5 * math.sqrt(widest))


def hand_pose(angle: float) -> sn.Pose:
    """Pose of the first bone when the knuckle is bent by `angle`, rad."""
    return sn.Pose(KNUCKLE, (math.cos(angle / 2.0), 0.0, math.sin(angle / 2.0), 0.0))


def path(part: float) -> tuple[FloatArray, float, float]:
    """After a `part` of the path: angles of the three joints, rad; depth of the probe, m; how far it slid, 0 to 1."""
    times = np.array([row[0] for row in _PATH])
    k = int(np.clip(np.searchsorted(times, part, side="right") - 1, 0, len(times) - 2))
    along = (part - times[k]) / (times[k + 1] - times[k])
    ease = along * along * (3.0 - 2.0 * along)
    angles = (1.0 - ease) * np.array(_PATH[k][1]) + ease * np.array(_PATH[k + 1][1])
    depth = PUSH * ((1.0 - ease) * _PATH[k][2] + ease * _PATH[k + 1][2])
    slid = np.clip((part - _SLIDES[0]) / (_SLIDES[1] - _SLIDES[0]), 0.0, 1.0)
    return np.radians(angles), depth, float(slid * slid * (3.0 - 2.0 * slid))


@dataclass(frozen=True, slots=True)
class Moment:
    """The finger at one moment; places and forces in the world."""

    angles: FloatArray
    """Of the three joints, rad: (3,)."""
    poses: list[sn.Pose]
    positions: tuple[FloatArray, ...]
    """Vertices of each pad: (n, 3), m."""
    pressures: tuple[FloatArray, ...]
    """Of the ball on each pad's vertices: (n,), Pa."""
    ball: FloatArray
    """Force of the ball on the finger: (3,), N."""
    slipping: float
    """Part of the touching vertices that slip."""
    probe: FloatArray
    """Force of the probe on the finger: (3,), N."""
    probed: FloatArray
    """Where the probe is and the outward normal of the skin there: (2, 3), m."""
    gap: float
    """Largest distance between the two sides of a seam, m."""
    seam_unbalance: float
    """Largest force left where pads meet, over the largest that a seam carries; 0 where none carries any."""
    bone_unbalance: float
    """What is left of forces of bones, ball and probe, over the largest force that a bone feels."""
    inside: float
    """How deep the deepest free vertex is in the ball, m."""
    beyond_friction: float
    """Largest tangential over normal force, less the coefficient of friction."""
    converged: bool


def _on_skin(model: Model, zone: int, along: float, angle: float) -> tuple[FloatArray, FloatArray]:
    """A place on a pad's undeformed skin and its outward normal, in the bone's frame.

    `along` the straight finger, m, and `angle` round it from the back of the hand, rad.
    """
    pad = model.finger.pads[zone]
    skin = np.unique(pad.faces[pad.skin])
    turned = (pad.straight[skin, 1] - angle + math.pi) % (2.0 * math.pi) - math.pi
    away = (pad.straight[skin, 0] - along) ** 2 + (8e-3 * turned) ** 2
    weights = np.exp(-away / (0.3 * model.probe_radius) ** 2)
    weights /= weights.sum()
    normal = weights @ model.normals[zone][skin]
    return weights @ pad.vertices[skin], normal / np.linalg.norm(normal)


def probed_place(model: Model, slid: float) -> tuple[FloatArray, FloatArray]:
    """Where the probe is on the undeformed middle pad when it `slid` so far, 0 to 1, and the outward normal there."""
    return _on_skin(model, 1, _PROBED[0] + slid * (_PROBED[1] - _PROBED[0]), _ROUND)


def moment(model: Model, part: float, before: Any = None) -> tuple[Moment, Any]:
    """The finger after a `part` of its path, and its state; `before` is the state before, for friction."""
    from sennit.bodies.zone.chain_state import ChainPressState
    from sennit.geometry.shapes import Sphere

    angles, depth, slid = path(part)
    poses = model.finger.poses(angles[1:], hand_pose(angles[0]))
    place, normal = probed_place(model, slid)
    probe = np.zeros(3)
    if depth > 0.0:
        state: Any = model.chain.touch(
            1, place, poses=poses, displacement=-depth * normal, radius=model.probe_radius, method="direct"
        )
        probe = poses[1].rotation @ state.force
    else:
        past = before if isinstance(before, ChainPressState) else None
        state = model.chain.press(
            Sphere(BALL, BALL_RADIUS), poses=poses, friction=FRICTION, after=past, method="direct", throw=False
        )
    positions = state.positions()
    if depth > 0.0:
        here = state.probe.weights @ positions[1][state.probe.vertices]
    else:
        away = 1.2 * max(_PATH[7][0] - part, part - _PATH[10][0], 0.0)
        here = poses[1] @ (place + away * normal)
    probed = np.stack((here, poses[1].rotation @ normal))
    return _observed(model, state, angles, poses, positions, probe, probed), state


def _observed(
    model: Model, state: Any, angles: FloatArray, poses: list[sn.Pose], positions: tuple[FloatArray, ...],
    probe: FloatArray, probed: FloatArray,
) -> Moment:  # fmt: skip
    patch, forces = getattr(state, "patch", {}), getattr(state, "contact_forces", {})
    pressures = [np.zeros(len(places)) for places in positions]
    inside, beyond, slips = 0.0, -FRICTION, []
    for z, touched in patch.items():
        ways = positions[z][touched] - BALL
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        pushed = np.einsum("ij,ij->i", forces[z], ways)
        dragged = np.linalg.norm(forces[z] - pushed[:, None] * ways, axis=1)
        pressures[z][touched] = pushed / model.areas[z][touched]
        beyond = max(beyond, float((dragged / np.maximum(pushed, 1e-300)).max()) - FRICTION)
        slips += (dragged > (1.0 - 1e-6) * FRICTION * pushed).tolist()
    for z, pad in enumerate(model.finger.pads):
        free = np.setdiff1d(np.arange(len(pad.vertices)), pad.fixed)
        inside = max(inside, BALL_RADIUS - float(np.linalg.norm(positions[z][free] - BALL, axis=1).min()))
    # Forces on the bones and at the seams by the boundary stiffness itself, f = E S u, not by what was solved.
    seams = model.finger.seams
    sides = [np.zeros((2, len(a), 3)) for a, _ in seams]
    bones = np.zeros((len(poses), 3))
    applied = [np.zeros_like(places) for places in positions]  # by ball and probe, in the bones' frames
    for z, touched in patch.items():
        applied[z][touched] = forces[z] @ poses[z].rotation
    if probe.any():
        applied[1][state.probe.vertices] = np.outer(state.probe.weights, state.force)
    for z, (zone, pose) in enumerate(zip(model.chain.zones, poses, strict=True)):
        u = state.displacements[z].ravel()
        stiffness, E = zone.boundary_stiffness, zone.material.youngs_modulus
        rows = (3 * zone.fixed[:, None] + np.arange(3)).ravel()
        bones[z] = (E * (stiffness[rows] @ u)).reshape(-1, 3).sum(axis=0) @ pose.rotation.T
        for seam, end in ((z, 0), (z - 1, 1)):
            if 0 <= seam < len(seams):
                ids = seams[seam][end]
                rows = (3 * ids[:, None] + np.arange(3)).ravel()
                sides[seam][end] = (E * (stiffness[rows] @ u).reshape(-1, 3) - applied[z][ids]) @ pose.rotation.T
    gaps = [positions[k][a] - positions[k + 1][b] for k, (a, b) in enumerate(seams)]
    carried = max(float(np.abs(side).max()) for side in sides)
    left = max(float(np.abs(side.sum(axis=0)).max()) for side in sides)
    ball = np.sum([part.sum(axis=0) for part in forces.values()], axis=0) if forces else np.zeros(3)
    loads = np.linalg.norm(np.array((*bones, ball, probe)), axis=1).max()
    report = getattr(state, "contact_report", state.report)
    return Moment(
        angles, poses, tuple(positions), tuple(pressures), np.asarray(ball), float(np.mean(slips)) if slips else 0.0,
        probe, probed, max(float(np.linalg.norm(gap, axis=1).max()) for gap in gaps),
        left / carried if carried > 0.0 else 0.0, float(np.linalg.norm(bones.sum(axis=0) + ball + probe)) / loads,
        inside, beyond, bool(report.converged and state.report.converged),
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- what is true


@dataclass(frozen=True, slots=True)
class Truth:
    """What is measured apart from the film."""

    carried_along: float
    """Largest seam force in a hand that moves as one, over that of the bent finger."""
    turned: float
    """Largest difference of displacements when the bent hand is turned as a whole, over the largest of them."""
    sweeps: float
    """Largest difference of sweeps from the direct solution, over the largest displacement."""
    block_diagonal: tuple[float, float]
    """Likewise of that approximation, and what it estimates itself."""
    kinematic: tuple[float, float]
    """Likewise of the kinematic approximation."""
    coupling: float
    """How strongly the seams act on each other."""
    ripple: float
    """How far the stiffness felt along the pulp strays from a smooth curve, as a part of it."""
    stiffness: tuple[float, float]
    """Felt across the skin on the pulp, least and most, N/m."""


def measure(model: Model) -> Truth:
    """Compare ways to solve the bent finger, move the hand as one, and feel the pulp."""
    chain = model.chain
    bent = model.finger.poses(np.radians(_PATH[2][1][1:]), hand_pose(0.0))
    exact = chain.solve(bent, method="direct")
    largest = max(float(np.abs(u).max()) for u in exact.displacements)

    def off(state: Any) -> float:
        pairs = zip(state.displacements, exact.displacements, strict=True)
        return max(float(np.abs(a - b).max()) for a, b in pairs) / largest

    errors = {}
    for method in ("sweeps", "block_diagonal", "kinematic"):
        state = chain.solve(bent, method=method)
        errors[method] = off(state), float(state.report.error_estimate)
    motion = sn.Pose((0.3, -0.2, 0.5), rotation_exp(np.array((0.7, -1.1, 0.4))))
    still = chain.solve([motion @ pose for pose in model.finger.rest_poses()])
    forces = max(float(np.abs(part).max()) for part in still.seam_forces)
    turned = off(chain.solve([motion @ pose for pose in bent], method="direct"))
    ripple, stiffness = _felt(model, model.finger.poses(np.radians(_PATH[-2][1][1:])))
    scale = max(float(np.abs(part).max()) for part in exact.seam_forces)
    return Truth(
        forces / scale, turned, errors["sweeps"][0], errors["block_diagonal"], errors["kinematic"],
        float(chain.coupling), ripple, stiffness,
    )  # fmt: skip


def _felt(model: Model, poses: Sequence[sn.Pose]) -> tuple[float, tuple[float, float]]:
    """What a probe feels that goes along the pulp over vertices, edges and faces: its ripple, and its range, N/m."""
    felt = []
    for along in np.linspace(*_PULP, 25):
        place, normal = _on_skin(model, 2, float(along), math.pi)
        probe = model.chain.touch(2, place, poses=poses, force=-normal, radius=model.probe_radius).probe
        felt.append(1.0 / float(normal @ probe.compliance @ normal))
    part = np.linspace(-1.0, 1.0, len(felt))
    smooth = np.polynomial.polynomial.polyfit(part, felt, 3)  # the pad itself is stiffer here and softer there
    off = np.array(felt) / np.polynomial.polynomial.polyval(part, smooth) - 1.0
    return float(np.abs(off).max()), (min(felt), max(felt))


def ticks(model: Model, count: int, single: bool = False) -> FloatArray:
    """Times of `count` ticks, s: new joint angles, the seams solved, the surfaces of all three pads in the world.

    `single`: surfaces in single precision.
    """
    spent = np.empty(count)
    for k in range(-5, count):
        wave = 0.5 - 0.5 * math.cos(2.0 * math.pi * k / 700.0)
        begin = time.perf_counter()
        model.chain.solve(model.finger.poses((wave, 0.7 * wave))).positions(single=single)
        spent[k] = time.perf_counter() - begin
    return spent


# ---------------------------------------------------------------------------------------------------------- the film


@dataclass(frozen=True, slots=True)
class Run:
    """What a run leaves: all solves, and which of them are shown."""

    times: FloatArray
    """Time of each solve since the beginning of the film, (n,), s."""
    moments: list[Moment]
    shown: list[int]
    truth: Truth

    @property
    def worst_ball(self) -> float:
        """Largest force of the ball, N."""
        return max(float(np.linalg.norm(moment.ball)) for moment in self.moments)


def run(model: Model, frames: int, seconds: float, progress: Progress | None = None) -> Run:
    """Follow the path in `frames` pictures within `seconds` (s); `progress` is told how many are done."""
    each = math.ceil(STEPS / frames)
    parts = np.arange(frames * each + 1) / (frames * each)
    moments: list[Moment] = []
    state = None
    for k, part in enumerate(parts):
        found, after = moment(model, float(part), state)
        if not found.converged and k:  # first touches and slips may want smaller steps
            after = state
            for smaller in np.linspace(parts[k - 1], part, 6)[1:]:
                found, after = moment(model, float(smaller), after)
        state = after
        moments.append(found)
        if progress is not None and k % each == 0:
            progress(k // each)
    return Run(seconds * parts, moments, list(range(0, len(parts), each)), measure(model))


def check(run: Run) -> list[str]:
    """What is physically wrong with `run`: nothing, or one line each."""
    truth, wrong = run.truth, []

    def require(value: float, limit: float, text: str) -> None:
        if not value <= limit:
            wrong.append(f"{text} {value:.1e}, not {limit:.0e}")

    moments = run.moments
    if not all(each.converged for each in moments):
        wrong.append(f"{sum(not each.converged for each in moments)} of {len(moments)} solves did not converge")
    require(max(each.gap for each in moments), 1e-14, "seams are open by (m)")
    require(max(each.seam_unbalance for each in moments), 10.0 * TOLERANCE, "seam forces balance only to")
    require(max(each.bone_unbalance for each in moments), TOLERANCE, "the bones feel what acts on the finger only to")
    require(max(each.inside for each in moments), TOLERANCE * BALL_RADIUS, "the skin is in the ball by (m)")
    require(max(each.beyond_friction for each in moments), 1e-6, "friction beyond Coulomb's limit by")
    require(truth.carried_along, TOLERANCE, "a hand that moves as one feels")
    require(truth.turned, TOLERANCE, "a bent hand that turns as one deforms by")
    require(truth.sweeps, TOLERANCE, "sweeps are off the direct solution by")
    require(truth.ripple, 0.01, "the stiffness felt ripples by")
    require(truth.block_diagonal[0], 0.2, "the block-diagonal approximation is off by")
    require(truth.kinematic[0], 1.0, "the kinematic approximation is off by")
    if not run.worst_ball > 0.05:
        wrong.append(f"the ball was hardly touched: {run.worst_ball:.3f} N")
    return wrong


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit demo finger``."""
    add_common_arguments(parser, seconds=5.0)
    parser.add_argument(
        "--around", metavar="N", type=int, default=24,
        help="vertices round a joint: 24 gives 800 in each pad, 16 is coarse (default: %(default)s)",
    )  # fmt: skip
    add_device(parser, "feel the finger by a probe in the hand of a device, at 1 kHz, with its joints on the page")


def play(around: int = 24) -> Play:
    """What the page of ``sennit demo finger`` runs."""
    from sennit.demos.finger_page import FingerPlay

    return FingerPlay(build(around))


def main(args: argparse.Namespace) -> int:
    """Open the page; or move the finger, check the physics, time the ticks, write the picture: 1 if a check fails."""
    if args.device is not None:
        from sennit.demos.finger_felt import felt_by

        return felt_by(build(args.around), device_of(args.device), page_of(args))
    if not args.headless and args.output is None:
        return open_page(play(args.around), args)
    from rich.console import Console

    target = None if args.output is None else checked_output(args.output)
    say = functools.partial(Console().print, highlight=False, markup=False, soft_wrap=True)
    say("A finger of three soft pads on three bones bends, presses a ball and is touched by a probe.")
    if target is not None:
        importlib.import_module("sennit.export.painting")  # where a package is missing, say so before the work
        if target.suffix.lower() == ".mp4":
            importlib.import_module("imageio_ffmpeg")
    model = build(args.around)
    pads = ", ".join(f"{pad.name} {len(pad.vertices)}" for pad in model.finger.pads)
    say(f"Vertices: {pads}; {', '.join(str(len(a)) for a, _ in model.finger.seams)} on the seams.")
    frames = min(max(2, round(FPS * args.seconds)), MOST_FRAMES)
    with bar("Solving", frames) as progress:
        found = run(model, frames, args.seconds, progress)
    wrong = check(found)
    if wrong:
        print(f"sennit: the physical check failed: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    for line in _lines(found):
        say(line)
    spent, quick = ticks(model, TICKS), ticks(model, TICKS, single=True)
    say(
        f"A tick (new angles, all three surfaces) takes {1e3 * np.median(spent):.2f} ms (median), "
        f"{1e3 * np.quantile(spent, 0.99):.2f} ms (99th percentile); {100.0 * np.mean(spent > 1e-3):.1f} % of {TICKS} "
        f"take more than a millisecond. With surfaces in single precision {1e3 * np.median(quick):.2f} ms and "
        f"{100.0 * np.mean(quick > 1e-3):.1f} %."
    )
    if target is None:
        return 0
    from sennit.demos.finger_picture import draw
    from sennit.export.painting import write_picture

    still = target.suffix.lower() == ".png"
    shown = len(found.shown) - 1
    chosen = [round(shown * part) for part in (0.02, 0.22, 0.40, 0.50, 0.58, 0.80)] if still else list(range(shown))
    with bar("Drawing", len(chosen)) as progress:
        pictures = draw(model, found, chosen, still=still, progress=progress)
    write_picture(target, pictures, frames / args.seconds)
    say(f"Wrote {target} ({target.stat().st_size / 1e6:.1f} MB, {len(pictures)} frames).")
    if not args.headless:
        open_picture(target)
    return 0


def _lines(found: Run) -> list[str]:
    """What was checked and found, in a few sentences."""
    moments, truth = found.moments, found.truth
    pressed = max(moments, key=lambda each: float(np.linalg.norm(each.ball)))
    touched = max(float(np.linalg.norm(each.probe)) for each in moments)
    peak = max(float(part.max()) for part in pressed.pressures)
    count = sum(int((part > 0.0).sum()) for part in pressed.pressures)
    low, high = truth.stiffness
    gap, seams, bones = (max(getattr(each, name) for each in moments) for name in _BALANCES)
    (block, block_estimate), (kinematic, kinematic_estimate) = truth.block_diagonal, truth.kinematic
    return [
        f"Pressed with {found.worst_ball:.2f} N: {count} vertices touch, up to {1e-3 * peak:.1f} kPa. The probe feels "
        f"{touched:.2f} N {1e3 * PUSH:.1f} mm deep; along the pulp it feels {low:.0f} to {high:.0f} N/m, with a ripple "
        f"of {100.0 * truth.ripple:.2f} % over vertices and faces.",
        f"Checked in {len(moments)} solves: seams are closed to {gap:.0e} m, their forces balance to {seams:.0e}; the "
        f"bones feel what ball and probe apply to {bones:.0e}; a hand that moves as one feels nothing "
        f"({truth.carried_along:.0e}); sweeps give the direct solution to {truth.sweeps:.0e}.",
        f"Approximations at the sharpest bend: block-diagonal {100.0 * block:.1f} % off (it estimates "
        f"{100.0 * block_estimate:.1f} %), kinematic {100.0 * kinematic:.0f} % ({100.0 * kinematic_estimate:.0f} %); "
        f"seams act on each other with {truth.coupling:.3f}.",
    ]
