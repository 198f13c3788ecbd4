"""A surgical thread, dragged along a closed path and turned twice around by the instrument that holds its end.

The base is clamped in tissue. Twist and bending trade with each other: the thread leaves its plane and curls into a
loop, and where that shape ceases to be an equilibrium it snaps to another one. The instrument comes back to where it
began, so that what it has worked on the thread is what the snaps have lost.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos import add_common_arguments
from sennit.errors import InputError
from sennit.geometry.rotations import quaternion_conjugate, quaternion_product, rotation_log
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["DESCRIPTION", "Drag", "add_arguments", "check", "drag", "draw", "grip", "main", "thread"]

DESCRIPTION = (
    "A nylon thread is clamped in tissue at one end; an instrument drags the other end along a closed path and turns it "
    "twice around, so that the thread curls into a loop and snaps out of it. Writes an animated picture (.gif, .mp4) or "
    "some of its frames (.png), and a table of what the instrument feels. Checks that all wrenches balance, that each "
    "shape is a stable equilibrium, and that no energy comes out of nothing. The thread touches neither itself nor the "
    "instrument: sennit has no contact yet."
)

FPS = 25
STEPS = 4000  # solves along the path, at least: four for each millimetre of it and more
TURNS = 2.0
GRAVITY = (0.0, 0.0, -9.81)
BASE = sn.Pose.along((0.0, 0.0, 0.0), (0.17, 0.0, 1.0))
BALANCE_TOLERANCE = 1e-8  # where a solve stops, and what Simpson's rule leaves of the weight's moment
WORK_TOLERANCE = 1e-5  # of the work done to and fro: what the trapezoidal rule leaves, 1e-8 where nothing snaps


def thread() -> sn.Strand:
    """The thread: 0.25 m of nylon, 0.4 mm thick."""
    nylon = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
    return sn.Strand(length=0.25, section=sn.Section.circle(radius=2e-4), material=nylon, nodes=201)


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
    half = math.pi * TURNS * part
    return sn.Pose.along(place, ahead) @ sn.Pose((0.0, 0.0, 0.0), (math.cos(half), 0.0, 0.0, math.sin(half)))


@dataclass(frozen=True, slots=True)
class Drag:
    """What a drag leaves: one row for each of its n + 1 poses, the last being the first again."""

    times: FloatArray
    """(n + 1,), s."""
    forces: FloatArray
    """What the instrument applies to the thread: (n + 1, 3), N."""
    torques: FloatArray
    """Likewise: (n + 1, 3), N·m."""
    works: FloatArray
    """What it works on the thread in each step: (n,), J."""
    energies: FloatArray
    """Elastic energy and potential of the weight: (n + 1,), J."""
    twists: FloatArray
    """Twist of the whole thread: (n + 1,), turns."""
    bend_radii: FloatArray
    """Smallest bend radius: (n + 1,), m."""
    balance: float
    """Largest unbalanced force or moment, as a part of what is applied."""
    converged: int
    """How many of the n + 1 solves did."""
    stable: int
    """How many of the n + 1 equilibria are."""
    iterations: FloatArray
    """(n + 1,)."""
    seconds: FloatArray
    """Time of each solve: (n + 1,), s."""
    shown: list[sn.StrandState]
    """The states that become frames: n / steps per frame of them, evenly spaced from the first on."""

    @property
    def losses(self) -> FloatArray:
        """Work that is neither stored nor came back, in each step: (n,), J."""
        return self.works - np.diff(self.energies)

    @property
    def snaps(self) -> list[int]:
        """Steps in which more was lost than 1 % of the energy stored at most."""
        return np.flatnonzero(self.losses > 0.01 * np.ptp(self.energies)).tolist()


def drag(strand: sn.Strand, frames: int, seconds: float) -> Drag:
    """Take the tip of `strand` once along the path within `seconds` (s), each solve from the state before it."""
    step = math.ceil(STEPS / frames)
    parts = np.arange(frames * step + 1) / (frames * step)
    poses = [grip(part) for part in parts]
    poses[-1] = poses[0]
    weight = strand.mass_per_length * np.array(GRAVITY) if strand.mass_per_length else np.zeros(3)
    rows, clock, shown, worst, converged, stable = [], [], [], 0.0, 0, 0
    state: sn.StrandState | None = None
    for k, tip in enumerate(poses):
        begin = time.perf_counter()
        state = strand.solve(base=BASE, tip=tip, gravity=GRAVITY, guess=state, throw=False)
        clock.append(time.perf_counter() - begin)
        converged += state.report.converged
        stable += state.stable is True
        worst = max(worst, _unbalanced(state, weight))
        u = state.curvatures
        turns = float(np.trapezoid(u[:, 2], state.s)) / (2.0 * math.pi)
        radius = 1.0 / math.sqrt(float((u[:, 0] ** 2 + u[:, 1] ** 2).max()))
        rows.append((*state.tip_force, *state.tip_torque, state.energy.total, turns, radius, state.report.iterations))
        if k % step == 0 and k < frames * step:
            shown.append(state)
    table = np.array(rows)
    works = _works(poses, table[:, :3], table[:, 3:6])
    return Drag(
        parts * seconds, table[:, :3], table[:, 3:6], works, table[:, 6], table[:, 7], table[:, 8],
        worst, converged, stable, table[:, 9], np.array(clock), shown,
    )  # fmt: skip


def _unbalanced(state: sn.StrandState, weight: FloatArray) -> float:
    """What forces, or moments about the base, leave, as a part of the largest of them; `weight` in N/m, (3,)."""
    s, x = state.s, state.positions - state.positions[0]
    simpson = np.full(len(s), 2.0)
    simpson[1::2] = 4.0
    simpson[[0, -1]] = 1.0
    middle = simpson @ x * (s[1] / 3.0)  # ∫ x ds
    forces = np.array((state.base_force, state.tip_force, weight * s[-1]))
    moments = np.array((state.base_torque, state.tip_torque, np.cross(x[-1], state.tip_force), np.cross(middle, weight)))
    parts = [np.linalg.norm(v.sum(axis=0)) / np.linalg.norm(v, axis=1).max() for v in (forces, moments)]
    return float(max(parts))


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
    net = float(run.works.sum() - (run.energies[-1] - run.energies[0]))
    wrong = []
    if not run.balance <= BALANCE_TOLERANCE:
        wrong.append(f"wrenches balance only to {run.balance:.1e}, not to {BALANCE_TOLERANCE:.0e}")
    if run.converged < count:
        wrong.append(f"{count - run.converged} of {count} solves did not converge")
    if run.stable < count:
        wrong.append(f"{count - run.stable} of {count} states are not stable")
    if not run.losses.min() >= -room:
        k = int(run.losses.argmin())
        wrong.append(f"energy from nothing: {-run.losses[k]:.1e} J at {run.times[k]:.3f} s")
    if not net >= -room:
        wrong.append(f"energy from nothing: {-net:.1e} J over the closed path")
    return wrong


# ------------------------------------------------------------------------------------------------------- the pictures

_PAPER = (247, 248, 250)
_INK = (45, 52, 62)
_BLUE, _STRIPE = (34, 88, 178), (255, 226, 140)
_THICKER = 8  # times: the thread is drawn with this radius
_PANEL = 126  # pixels: height of the strip charts
_HOLD = 8  # frames for which a snap is shown


def draw(run: Drag, size: tuple[int, int], charts: bool, chosen: list[int], progress: Any = None) -> list[Image]:
    """The frames `chosen` of `run`, `size` pixels wide and high, with strip charts below if `charts`.

    `progress` is called with the number of frames done.
    """
    from PIL import ImageDraw

    from sennit.demos.painting import StripChart, font

    stage = _stage(size, charts)
    width, height = size
    step = (len(run.times) - 1) // len(run.shown)
    panels = []
    if charts:
        half = width // 2
        ImageDraw.Draw(stage.picture).rectangle((0, height - _PANEL, width, height), fill=(255, 255, 255))
        for box, name, digits, unit, values, colour in (
            ((24, height - 112, half - 24, height - 36), "force", ".2f", "mN", run.forces * 1e3, (196, 78, 20)),
            ((half + 24, height - 112, width - 24, height - 36), "torque", ".1f", "mN·mm", run.torques * 1e6, (0, 114, 140)),
        ):
            panels.append(StripChart(box, name, unit, digits, np.linalg.norm(values, axis=1)[::step], colour))
            panels[-1].draw_on(stage.picture)
        text = f"what the instrument applies; the thread is drawn {_THICKER} times as thick as it is"
        stage.label((24, height - 12), text, 13, (110, 118, 128))
    snapped = [(k // step + 1) for k in run.snaps]
    frames = []
    for done, k in enumerate(chosen, 1):
        since, before = min(((k - at, at - 1) for at in snapped if 0 <= k - at < _HOLD), default=(_HOLD, 0))
        facets = _facets(run.shown[k])
        frame = stage.frame(facets, run.shown[before].positions, 1.0 - since / _HOLD)
        _write_on(frame, run, k * step, since < _HOLD, font)
        for panel in panels:
            panel.draw_at(frame, k)
        frames.append(frame)
        if progress is not None:
            progress(done)
    return frames


def _write_on(frame: Image, run: Drag, index: int, snap: bool, font: Any) -> None:
    from PIL import ImageDraw

    size = 17 if frame.width > 500 else 14
    turns = TURNS * index / (len(run.times) - 1)
    pen = ImageDraw.Draw(frame)
    pen.text((20, 16), f"{run.times[index]:.2f} s", fill=_INK, font=font(size), anchor="la")
    pen.text((20 + 4 * size, 16), f"turned {turns:.2f} times", fill=_INK, font=font(size), anchor="la")
    if snap:
        pen.text((20 + 13 * size, 16), "snap", fill=(190, 40, 40), font=font(size), anchor="la")


def _stage(size: tuple[int, int], charts: bool) -> Any:
    """Tissue with a closed wound, seen from the front and above."""
    from sennit.demos.painting import Camera, Stage, circle, loft

    width, height = size[0], size[1] - _PANEL * charts
    camera = Camera(
        (0.08, -0.62, 0.29), (0.042, 0.0, 0.058), size=size, width=0.222 * width / height,
        centre=(0.46, 0.5 * height / size[1]),
    )  # fmt: skip
    bend = np.linspace(0.0, 2.0 * math.pi, 97)[:-1]
    wave = np.column_stack((np.cos(bend), np.sin(bend)))
    rim = np.column_stack((np.sign(wave) * np.abs(wave) ** 0.35 * (0.112, 0.07) + (0.04, 0.0), np.zeros(len(bend))))
    stage = Stage(camera, _PAPER, rim)
    ones = np.ones((2, 1))
    x, y = np.array((1.0, 0.0, 0.0)) * ones, np.array((0.0, 1.0, 0.0)) * ones
    layers = ((-0.016, -0.004, (255, 226, 170)), (-0.004, 0.0, (236, 140, 124)))
    for low, high, colour in layers:
        stage.facets(loft(np.array(((0, 0, low), (0, 0, high))), x, y, rim[:, :2], colour, gloss=0.0))
    stage.polygon(rim, (233, 168, 150))
    wound = np.linspace(-1.0, 1.0, 41)
    for width, colour in ((0.0045, (222, 146, 130)), (0.0016, (150, 44, 48))):
        edge = width * (1.0 - wound**2)
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
    """The thread with stripes along d1 and opposite, and the instrument: jaws that turn with the tip, a wrist, a shaft."""
    from sennit.demos.painting import Facets, circle, loft

    x, turned = state.positions, state.rotations
    radius, sides = _THICKER * 2e-4, 12
    colours = np.tile(np.array(_BLUE, dtype=np.float64), (sides, 1))
    colours[[-1, 0, 1, 5, 6, 7]] = _STRIPE  # along d1 and opposite
    parts = [loft(x, radius * turned[:, :, 0], radius * turned[:, :, 1], circle(sides), colours, gloss=0.5)]
    tip, (d1, d2, d3) = x[-1], turned[-1].T
    square = np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
    for side in (-1.0, 1.0):  # jaws, closed on the end of the thread
        along = np.linspace(-0.006, 0.013, 6)
        thick = np.linspace(0.0007, 0.0017, 6)[:, None]
        centres = tip + along[:, None] * d3 + side * (radius + thick) * d1
        wide = np.linspace(0.0016, 0.0030, 6)[:, None]
        parts.append(loft(centres, thick * d1, wide * d2, square, (168, 174, 184), gloss=0.8, capped=True))
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
    from sennit.demos.painting import circle, loft

    frame = sn.Pose.along(start, end - start).rotation
    pieces = max(2, math.ceil(float(np.linalg.norm(end - start)) / 0.01))
    centres = start + np.linspace(0.0, 1.0, pieces + 1)[:, None] * (end - start)
    size = np.full((pieces + 1, 1), radius)
    size[0] *= 0.75
    return loft(centres, size * frame[:, 0], size * frame[:, 1], circle(16), colour, gloss=0.5, capped=True)


# -------------------------------------------------------------------------------------------------------- the command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit demo suture``."""
    add_common_arguments(parser, output="suture.gif", seconds=5.0)


def main(args: argparse.Namespace) -> int:
    """Drag the thread, print the table, check the physics, write the picture; 1 if the check fails."""
    from rich.console import Console

    console = Console()
    target = _checked_output(args.output)
    console.print(f"A nylon thread, 250 mm long and 0.4 mm thick: dragged by one end and turned {TURNS:g} times around.")
    from rich.progress import Progress

    from sennit.demos.painting import write_picture

    if target.suffix.lower() == ".mp4":
        import imageio_ffmpeg  # noqa: F401  missing: say so before the work, not after
    frames = max(2, round(FPS * args.seconds))
    run = drag(thread(), frames, args.seconds)
    _print_table(console, run)
    wrong = check(run)
    if wrong:
        print(f"sennit: the physical check failed: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    lost = float(run.losses.sum())
    console.print(
        f"Checked: wrenches balance to {run.balance:.0e}; all {len(run.times):,} states converged and stable; net work "
        f"over the closed path {run.works.sum() * 1e6:.1f} µJ ≥ 0, {lost * 1e6:.1f} µJ lost in {len(run.snaps)} snap(s).",
        highlight=False,
    )
    still = target.suffix.lower() == ".png"
    chosen = sorted({round(x) for x in np.linspace(0, frames - 1, 6)}) if still else list(range(frames))
    errors = Console(stderr=True)
    with Progress(console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("Drawing", total=len(chosen))
        size = (396, 300) if still else (720, 560)
        pictures = draw(run, size, not still, chosen, lambda done: progress.update(task, completed=done))
        progress.update(task, description="Writing")
        write_picture(target, pictures, FPS)
    console.print(f"Wrote {target} ({target.stat().st_size / 1e6:.1f} MB).", highlight=False, soft_wrap=True)
    if not args.headless:
        _open(target)
    return 0


def _checked_output(output: str) -> Path:
    target = Path(output)
    if target.suffix.lower() not in (".gif", ".png", ".mp4"):
        raise InputError(f"--output must end in .gif, .png or .mp4, got {output!r}")
    if target.is_dir() or not os.access(target.resolve().parent, os.W_OK):
        raise InputError(f"--output must name a file in a folder that exists and can be written, got {output!r}")
    return target


def _print_table(console: Any, run: Drag) -> None:
    from rich.table import Table

    table = Table(title="What the instrument feels")
    names = ("time\ns", "turned", "tip force\nmN", "tip torque\nµN·m", "twist\nturns", "min bend\nradius mm",
             "iterations\nat most", "solve\nms", "")  # fmt: skip
    for name in names:
        table.add_column(name, justify="right")
    count = len(run.times) - 1
    rows = [round(x) for x in np.linspace(0, count, 11)]
    for before, k in zip([-1, *rows], rows, strict=False):
        since = slice(before + 1, k + 1)
        snaps = sum(before <= at < k for at in run.snaps)
        table.add_row(
            f"{run.times[k]:.2f}",
            f"{TURNS * k / count:.1f}",
            f"{np.linalg.norm(run.forces[k]) * 1e3:.3f}",
            f"{np.linalg.norm(run.torques[k]) * 1e6:.1f}",
            f"{run.twists[k]:+.2f}",
            f"{run.bend_radii[k] * 1e3:.1f}",
            f"{run.iterations[since].max():.0f}",
            f"{np.median(run.seconds[since]) * 1e3:.2f}",
            "snap" if snaps else "",
        )
    console.print(table)


def _open(path: Path) -> None:
    """Show `path` in the browser, where there is a screen to show it on."""
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen and sys.stdout.isatty():
        import webbrowser

        with contextlib.suppress(webbrowser.Error, OSError):
            webbrowser.open(path.resolve().as_uri())
