"""A surgical thread, dragged along a closed path and turned twice around by the instrument that holds its end.

The base is clamped in tissue. Twist and bending trade with each other: the thread leaves its plane and curls into a
loop, and where that shape ceases to be an equilibrium it snaps to another one. The instrument comes back to where it
began, so that what it has worked on the thread is what the snaps have lost.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos import add_common_arguments
from sennit.demos.stage import bar, checked_output, open_page, open_picture
from sennit.geometry.rotations import quaternion_conjugate, quaternion_product, rotation_log
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

    from sennit.live.play import Play

__all__ = ["DESCRIPTION", "Drag", "add_arguments", "base", "check", "drag", "draw", "grip", "main", "play", "thread"]

Progress = Callable[[int], None]

DESCRIPTION = (
    "A nylon thread is clamped in tissue at one end; a needle holder has the other one. On the page the holder is "
    "dragged and turned, and the thread, which curls as the needle turns, can be taken anywhere. Without a page, or "
    "for a film (.gif, .mp4) or some of its frames (.png), the instrument drags the end along a closed path and turns "
    "it twice around, so that the thread curls into a loop and snaps out of it; prints a table of what the instrument "
    "applies. Checks that all wrenches balance, that each shape is a stable equilibrium, and that no energy comes out "
    "of nothing. The thread touches neither itself nor the instrument: sennit has no contact yet."
)

FPS = 25
MOST_FRAMES = 300  # longer films show fewer in a second: all frames are in memory before they are written
STEPS = 1500  # solves along the path, at least
TURNS = 2.0
GRAVITY = (0.0, 0.0, -9.81)
BALANCE_TOLERANCE = 1e-8  # where a solve stops, and what Simpson's rule leaves of the weight's moment
WORK_TOLERANCE = 1e-5  # of the work done to and fro: what the trapezoidal rule leaves, 1e-8 where nothing snaps


def thread() -> sn.Strand:
    """The thread: 0.25 m of nylon, 0.4 mm thick."""
    nylon = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
    return sn.Strand(length=0.25, section=sn.Section.circle(radius=2e-4), material=nylon, nodes=201)


def base() -> sn.Pose:
    """How the tissue holds the thread: upright, leaning a little towards the instrument."""
    return sn.Pose.along((0.0, 0.0, 0.0), (0.17, 0.0, 1.0)) @ _rolled(math.pi / 4.0)


def _rolled(angle: float) -> sn.Pose:
    """A turn about d3, rad."""
    return sn.Pose((0.0, 0.0, 0.0), (math.cos(angle / 2.0), 0.0, 0.0, math.sin(angle / 2.0)))


def grip(part: float) -> sn.Pose:
    """How the instrument holds the tip after a `part`, 0 to 1, of its path; the same at both ends."""
    angle = 2.0 * math.pi * part
    place = (
        0.066 + 0.023 * math.cos(angle - 1.1),
        0.061 * math.sin(angle + 0.4),
        0.059 + 0.018 * math.sin(angle + 2.8),
    )
    yaw, pitch = -0.1 + 0.1 * math.sin(angle - 1.1), -0.05 - 0.25 * math.sin(angle)
    ahead = (math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw), math.sin(pitch))
    return sn.Pose.along(place, ahead) @ _rolled(2.0 * math.pi * (TURNS * part + 0.125))


@dataclass(frozen=True, slots=True)
class Drag:
    """What a drag leaves: rows for its n + 1 poses, the last being the first again, and for every `step`-th of them."""

    step: int
    """Solves for each frame."""
    times: FloatArray
    """When each pose is reached, (n + 1,), s."""
    forces: FloatArray
    """What the instrument applies to the thread: (n + 1, 3), N."""
    torques: FloatArray
    """Likewise: (n + 1, 3), N·m."""
    works: FloatArray
    """What it works on the thread in each step: (n,), J."""
    energies: FloatArray
    """Elastic energy and potential of the weight: (n + 1,), J."""
    converged: FloatArray
    """Whether each solve did: (n + 1,), 0 or 1."""
    stable: FloatArray
    """Whether each equilibrium is: (n + 1,), 0 or 1."""
    iterations: FloatArray
    """Newton iterations of each solve: (n + 1,)."""
    seconds: FloatArray
    """Time of each solve: (n + 1,), s."""
    frames: list[sn.StrandState]
    """The states that are shown: n / step + 1 of them."""

    @property
    def losses(self) -> FloatArray:
        """Work that is neither stored nor came back, in each step: (n,), J."""
        return self.works - np.diff(self.energies)

    @property
    def snaps(self) -> list[int]:
        """Steps that lost more than 1 % of what the energy varies by."""
        return [int(k) for k in np.flatnonzero(self.losses > 0.01 * np.ptp(self.energies))]

    @property
    def unbalanced(self) -> float:
        """What the wrenches on the thread leave, at worst, in the states that are shown."""
        return max(_unbalanced(state) for state in self.frames)


def drag(strand: sn.Strand, frames: int, seconds: float, progress: Progress | None = None) -> Drag:
    """Take the tip of `strand` once along the path within `seconds` (s), each solve from the state before it.

    `progress` is told how many of the `frames` are done.
    """
    step = math.ceil(STEPS / frames)
    parts = np.arange(frames * step + 1) / (frames * step)
    poses = [grip(part) for part in parts]
    poses[-1] = poses[0]
    held = base()
    state = strand.solve(base=held, tip=poses[0], gravity=GRAVITY, throw=False)
    rows, shown = [], []
    for k, tip in enumerate(poses):
        begin = time.perf_counter()
        state = strand.solve(base=held, tip=tip, gravity=GRAVITY, guess=state, throw=False)
        spent = time.perf_counter() - begin
        report = state.report
        flags = (report.converged, state.stable is True, report.iterations)
        rows.append((*state.tip_force, *state.tip_torque, state.energy.total, *flags, spent))
        if k % step == 0:
            shown.append(state)
            if progress is not None:
                progress(k // step)
    table = np.array(rows, dtype=np.float64)
    forces, torques = table[:, :3], table[:, 3:6]
    energies, converged, stable, iterations, spent_each = table[:, 6:].T
    works = _works(poses, forces, torques)
    return Drag(
        step, parts * seconds, forces, torques, works, energies, converged, stable, iterations, spent_each, shown
    )


def _unbalanced(state: sn.StrandState) -> float:
    """What forces, or moments about the base, leave, as a part of the largest of them."""
    s, x = state.s, state.positions - state.positions[0]
    weight = (state.strand.mass_per_length or 0.0) * np.array(GRAVITY)
    simpson = np.full(len(s), 2.0)
    simpson[1::2] = 4.0
    simpson[[0, -1]] = 1.0
    lever = simpson @ x * (s[1] / 3.0)  # ∫ x ds
    forces = np.array((state.base_force, state.tip_force, weight * s[-1]))
    moments = np.array((state.base_torque, state.tip_torque, np.cross(x[-1], state.tip_force), np.cross(lever, weight)))
    return max(float(np.linalg.norm(v.sum(axis=0)) / np.linalg.norm(v, axis=1).max()) for v in (forces, moments))


def _works(poses: list[sn.Pose], forces: FloatArray, torques: FloatArray) -> FloatArray:
    """∫ force · dx + torque · dθ over each step by the trapezoidal rule: (n,), J."""
    moves = np.diff([pose.position for pose in poses], axis=0)
    q = np.array([pose.quaternion for pose in poses])
    turns = rotation_log(quaternion_product(q[1:], quaternion_conjugate(q[:-1])))
    mean_force, mean_torque = (forces[1:] + forces[:-1]) / 2.0, (torques[1:] + torques[:-1]) / 2.0
    return np.asarray((mean_force * moves + mean_torque * turns).sum(axis=1))


def check(run: Drag) -> list[str]:
    """What is physically wrong with `run`: nothing, or one line each."""
    count = len(run.times)
    room = WORK_TOLERANCE * float(np.abs(run.works).sum())
    net = float(run.losses.sum())
    failed, unstable = int(count - run.converged.sum()), int(count - run.stable.sum())
    wrong = []
    if not run.unbalanced <= BALANCE_TOLERANCE:
        wrong.append(f"wrenches balance only to {run.unbalanced:.1e}, not to {BALANCE_TOLERANCE:.0e}")
    if failed:
        wrong.append(f"{failed} of {count} solves did not converge")
    if unstable:
        wrong.append(f"{unstable} of {count} states are not stable")
    if not run.losses.min() >= -room:
        k = int(run.losses.argmin())
        wrong.append(f"energy from nothing: {-run.losses[k]:.1e} J at {run.times[k]:.3f} s")
    if not net >= -room:
        wrong.append(f"energy from nothing: {-net:.1e} J over the closed path")
    return wrong


# ------------------------------------------------------------------------------------------------------- the pictures

_PAPER = (247, 248, 250)
_INK, _GREY = (45, 52, 62), (110, 118, 128)
_BLUE, _STRIPE = (34, 88, 178), (255, 226, 140)
_THICKER = 8  # times: so much thicker than it is the thread is drawn
_PANEL = 126  # pixels: height of the strip charts
_BAND = 30  # pixels: height of the line that is written between picture and charts
_HELD = 0.065  # of the path: how long a snap is shown


def draw(
    run: Drag, chosen: list[int], size: tuple[int, int], *, charts: bool, progress: Progress | None = None
) -> list[Image]:
    """The frames `chosen` of `run`, `size` pixels wide and high, with strip charts below if `charts`.

    `progress` is told how many are done.
    """
    from PIL import ImageDraw

    from sennit.export.painting import StripChart, font

    stage = _stage(size, charts)
    width, height = size
    panels = []
    seen = height - _BAND - _PANEL * charts
    ImageDraw.Draw(stage.picture).rectangle((0, seen, width, height), fill=(255, 255, 255))
    if charts:
        top, bottom, half = height - 112, height - 36, width // 2
        forces = np.linalg.norm(run.forces[:: run.step], axis=1) * 1e3
        torques = np.linalg.norm(run.torques[:: run.step], axis=1) * 1e6
        panels = [
            StripChart((24, top, half - 24, bottom), "force", "mN", ".2f", forces, (196, 78, 20)),
            StripChart((half + 24, top, width - 24, bottom), "torque", "mN·mm", ".1f", torques, (0, 114, 140)),
        ]
        for panel in panels:
            panel.draw_on(stage.picture)
        text = f"what the instrument applies; the thread is drawn {_THICKER} times as thick as it is"
        stage.label((24, height - 12), text, 13, _GREY)
    below = stage.picture.crop((0, seen, width, height))
    hold = max(1, round(_HELD * (len(run.frames) - 1)))
    snapped = [at // run.step + 1 for at in run.snaps]
    frames = []
    for done, k in enumerate(chosen, 1):
        since, before = min(((k - at, at - 1) for at in snapped if 0 <= k - at < hold), default=(hold, 0))
        facets = _facets(run.frames[k])
        frame = stage.frame(facets, run.frames[before].positions, 1.0 - since / hold)
        frame.paste(below, (0, seen))
        _write_on(frame, run, k * run.step, since < hold, font, seen + _BAND // 2)
        for panel in panels:
            panel.draw_at(frame, k)
        if done == 1 and not charts:
            text = f"thread drawn {_THICKER}× as thick as it is"
            ImageDraw.Draw(frame).text((width - 12, seen + _BAND // 2), text, fill=_GREY, font=font(10), anchor="rm")
        frames.append(frame)
        if progress is not None:
            progress(done)
    return frames


def _write_on(frame: Image, run: Drag, index: int, snap: bool, font: Any, line: int) -> None:
    from PIL import ImageDraw

    size = 17 if frame.width > 500 else 14
    turns = TURNS * index / (len(run.times) - 1)
    pen = ImageDraw.Draw(frame)
    pen.text((20, line), f"{run.times[index]:.2f} s", fill=_INK, font=font(size), anchor="lm")
    pen.text((20 + 4 * size, line), f"turned {turns:.2f} times", fill=_INK, font=font(size), anchor="lm")
    if snap:
        pen.text((20 + 13 * size, line), "snap", fill=(190, 40, 40), font=font(size), anchor="lm")


def _stage(size: tuple[int, int], charts: bool) -> Any:
    """Tissue with a closed wound, seen from the front and above."""
    from sennit.export.painting import Camera, Stage, circle, loft

    width, height = size[0], size[1] - _BAND - _PANEL * charts
    camera = Camera(
        (0.08, -0.62, 0.29), (0.042, 0.0, 0.058), size=size, width=0.222 * width / height,
        centre=(0.46, 0.5 * height / size[1]),
    )  # fmt: skip
    bend = np.linspace(0.0, 2.0 * math.pi, 400, endpoint=False)
    wave = np.column_stack((np.cos(bend), np.sin(bend)))
    rim = np.column_stack((np.sign(wave) * np.abs(wave) ** 0.35 * (0.112, 0.07) + (0.04, 0.0), np.zeros(len(bend))))
    stage = Stage(camera, _PAPER, rim)
    ones = np.ones((2, 1))
    x, y = np.array((1.0, 0.0, 0.0)) * ones, np.array((0.0, 1.0, 0.0)) * ones
    layers = ((-0.016, -0.004, (335, 295, 220)), (-0.004, 0.0, (305, 180, 160)))  # bright: the front is in the shade
    for low, high, colour in layers:
        stage.facets(loft(np.array(((0, 0, low), (0, 0, high))), x, y, rim[:, :2], colour, gloss=0.0))
    stage.polygon(rim, (233, 168, 150))
    wound = np.linspace(-1.0, 1.0, 41)
    for gap, colour in ((0.0045, (222, 146, 130)), (0.0016, (150, 44, 48))):
        edge = gap * (1.0 - wound**2)
        lens = np.column_stack((np.r_[wound, wound[::-1]] * 0.08 + 0.035, np.r_[edge, -edge[::-1]] - 0.012))
        stage.polygon(np.column_stack((lens, np.zeros(len(lens)))), colour)
    arc = np.linspace(0.0, math.pi, 13)
    for place in (-0.02, 0.025, 0.045, 0.065, 0.085):  # stitches made before
        across = np.column_stack((np.full(13, place), -0.012 - 0.011 * np.cos(arc), 0.004 * np.sin(arc)))
        along = np.gradient(across, axis=0)
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        side = np.tile((1.0, 0.0, 0.0), (13, 1))
        radius = _THICKER * 2e-4
        stage.facets(loft(across, radius * side, radius * np.cross(along, side), circle(8), _BLUE))
    hole = np.column_stack((circle(24) * 0.0032, np.zeros(24)))
    stage.polygon(hole, (150, 44, 48))
    stage.finish()
    return stage


def _facets(state: sn.StrandState) -> Any:
    """The thread with stripes along d1 and opposite, and the instrument: jaws that turn with the tip, wrist, shaft."""
    from sennit.export.painting import Facets, circle, loft

    x, turned = state.positions, state.rotations
    radius, sides = _THICKER * 2e-4, 16
    colours = np.tile(np.array(_BLUE, dtype=np.float64), (sides, 1))
    colours[[-1, 0, 1, 7, 8, 9]] = _STRIPE  # along d1 and opposite
    parts = [loft(x, radius * turned[:, :, 0], radius * turned[:, :, 1], circle(sides), colours, gloss=0.5)]
    tip, (d1, d2, d3) = x[-1], turned[-1].T
    square = np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
    for side in (-1.0, 1.0):  # jaws, closed on the end of the thread
        along = np.linspace(-0.006, 0.013, 6)
        thick = np.linspace(0.0007, 0.0017, 6)[:, None]
        centres = tip + along[:, None] * d3 + side * (radius + thick) * d1
        wide = np.linspace(0.0016, 0.0030, 6)[:, None]
        parts.append(loft(centres, thick * d1, wide * d2, square, (176, 182, 192), gloss=0.3, capped=True))
    ring = tip + np.linspace(0.013, 0.017, 2)[:, None] * d3
    marked = np.tile((120.0, 126.0, 136.0), (16, 1))
    marked[[0, 1, -1]] = _STRIPE
    wide_ring = np.full((2, 1), 0.0042)
    parts.append(loft(ring, wide_ring * d1, wide_ring * d2, circle(16), marked, gloss=0.6, capped=True))
    wrist = tip + 0.0195 * d3
    parts.append(_rod(wrist - 0.0035 * d3, wrist + 0.002 * d3, 0.0036, (64, 70, 80)))
    port = np.array((0.30, 0.16, 0.34))  # where the shaft enters the body
    parts.append(_rod(wrist, wrist + 0.9 * (port - wrist), 0.0036, (98, 106, 120)))
    return Facets.joined(parts)


def _rod(start: FloatArray, end: FloatArray, radius: float, colour: tuple[int, int, int]) -> Any:
    from sennit.export.painting import circle, loft

    frame = sn.Pose.along(start, end - start).rotation
    pieces = max(2, math.ceil(float(np.linalg.norm(end - start)) / 0.01))
    centres = start + np.linspace(0.0, 1.0, pieces + 1)[:, None] * (end - start)
    size = np.full((pieces + 1, 1), radius)
    size[0] *= 0.75
    return loft(centres, size * frame[:, 0], size * frame[:, 1], circle(16), colour, gloss=0.5, capped=True)


# -------------------------------------------------------------------------------------------------------- the command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit demo suture``."""
    add_common_arguments(parser, seconds=5.0)


def play() -> Play:
    """What the page of ``sennit demo suture`` runs."""
    from sennit.demos.suture_page import build

    return build(thread(), base())


def main(args: argparse.Namespace) -> int:
    """Open the page; or drag the thread, print the table, check the physics, write the picture: 1 if a check fails."""
    if not args.headless and args.output is None:
        return open_page(play(), args)
    from rich.console import Console

    target = None if args.output is None else checked_output(args.output)
    console = Console()
    say = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    say("A nylon thread, 250 mm long and 0.4 mm thick, is dragged along a closed path and turned twice around.")
    if target is not None:
        importlib.import_module("sennit.export.painting")  # where a package is missing, say so before the work
        if target.suffix.lower() == ".mp4":
            importlib.import_module("imageio_ffmpeg")
    frames = min(max(2, round(FPS * args.seconds)), MOST_FRAMES)
    strand = thread()
    strand.solve(base=base(), tip=grip(0.0), gravity=GRAVITY)  # compiles, the first time: that has its own bar
    with bar("Solving", frames) as progress:
        run = drag(strand, frames, args.seconds, progress)
    _print_table(console, run)
    wrong = check(run)
    if wrong:
        print(f"sennit: the physical check failed: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    snaps = "1 snap" if len(run.snaps) == 1 else f"{len(run.snaps)} snaps"
    say(
        f"Checked: wrenches balance to {run.unbalanced:.0e}, all {len(run.times):,} states are stable equilibria, net "
        f"work over the closed path {run.works.sum() * 1e6:.1f} µJ ≥ 0: lost in {snaps}."
    )
    if target is None:
        return 0
    from sennit.export.painting import write_picture

    still = target.suffix.lower() == ".png"
    chosen = sorted({round(frames * (k + 0.2) / 6) for k in range(6)}) if still else list(range(frames))
    with bar("Drawing", len(chosen)) as progress:
        pictures = draw(run, chosen, (396, 300) if still else (720, 560), charts=not still, progress=progress)
    write_picture(target, pictures, frames / args.seconds)
    say(f"Wrote {target} ({target.stat().st_size / 1e6:.1f} MB, {len(pictures)} frames).")
    if not args.headless:
        open_picture(target)
    return 0


def _print_table(console: Any, run: Drag) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title="What the instrument applies to the thread", box=SIMPLE_HEAD, padding=(0, 0, 0, 1))
    for name in ("time\ns", "turned\ntimes", "force\nmN", "torque\nµN·m", "twist\nturns", "min bend\nradius mm",
                 "Newton\niterations", "ms per\nsolve", ""):  # fmt: skip
        table.add_column(name, justify="right")
    count = len(run.frames) - 1
    frames = sorted({round(x) for x in np.linspace(0, count, 11)})
    for before, k in zip([-1, *frames], frames, strict=False):
        at, since = k * run.step, slice(max(before, 0) * run.step, k * run.step + 1)
        u = run.frames[k].curvatures
        twist = float(np.trapezoid(u[:, 2], run.frames[k].s)) / (2.0 * math.pi)
        table.add_row(
            f"{run.times[at]:.2f}",
            f"{TURNS * k / count:.2f}",
            f"{np.linalg.norm(run.forces[at]) * 1e3:.3f}",
            f"{np.linalg.norm(run.torques[at]) * 1e6:.1f}",
            f"{twist:+.2f}",
            f"{1e3 / np.hypot(u[:, 0], u[:, 1]).max():.1f}",
            f"{run.iterations[since].max():.0f}",
            f"{np.median(run.seconds[since]) * 1e3:.2f}",
            "snap" if any(since.start <= snap < at for snap in run.snaps) else "",
        )
    console.print(table)
