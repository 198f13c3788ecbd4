"""How a demonstration of a scene is run: on a page, or stepped, checked, drawn and written to a file.

A demonstration is a `Show`: a scene, what is done to it before each step, what is kept of it for each picture and how
that is painted; on a page, what can be changed and what is plotted. `perform` does the rest, in the same way for all
of them. Pillow is needed only for films.
"""

from __future__ import annotations

import abc
import argparse
import contextlib
import functools
import importlib
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import sennit as sn
from sennit.demos import add_common_arguments
from sennit.errors import InputError
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

    from sennit.controls import Control
    from sennit.export.painting import Facets, Stage
    from sennit.live.play import Play

__all__ = ["FPS", "MOST_FRAMES", "Chart", "Part", "Show", "offered", "open_page", "perform", "sight", "simulate"]

Progress = Callable[[int], None]

FPS = 25
MOST_FRAMES = 300  # longer films show fewer in a second: all frames are in memory before they are written
SIZE, STILL = (720, 560), (396, 308)  # pixels: of a film and of one of the pictures of a sheet
PAPER = (247, 248, 250)
INK, GREY = (45, 52, 62), (110, 118, 128)
PANEL = 126  # pixels: height of the strip charts


@dataclass(frozen=True, slots=True)
class Chart:
    """One of the curves below a film; its values are what `Show.sample` gives, in the same order."""

    name: str
    unit: str
    digits: str
    """As in a format string: ".2f"."""
    colour: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the time of a show: `seconds` long, in steps of at most `dt` (s), shown `slower` than it happens."""

    seconds: float
    dt: float
    slower: float = 1.0

    @property
    def frames(self) -> int:
        """How many pictures of it there are."""
        return max(1, round(FPS * self.slower * self.seconds))


class Show(abc.ABC):
    """A scene with what happens to it, what is seen of it, and what must be true of it."""

    title: str
    """One sentence: what is simulated."""
    headline: str = ""
    """Of the page, where the beginning of `title` would not do."""
    charts: Sequence[Chart] = ()
    scene: sn.Scene

    @abc.abstractmethod
    def plan(self, seconds: float) -> list[Part]:
        """The parts that make up `seconds` of simulated time."""

    @abc.abstractmethod
    def begin(self) -> None:
        """Bring the scene to where the show starts: `settle` it, say."""

    @abc.abstractmethod
    def before_step(self, dt: float) -> None:
        """Do to the scene what is done to it before a step of `dt` seconds."""

    @abc.abstractmethod
    def after_step(self, dt: float) -> None:
        """Note what must be noted after each step."""

    @abc.abstractmethod
    def look(self) -> Any:
        """What `paint` needs of the present state: arrays that the next step does not change."""

    def sample(self) -> tuple[float, ...]:
        """The present values of the charts."""
        return ()

    @abc.abstractmethod
    def caption(self) -> str:
        """A few words about the present, besides the time."""

    @abc.abstractmethod
    def stage(self, size: tuple[int, int], height: int) -> Stage:
        """The unfinished stage of pictures of `size` pixels, of which the upper `height` are seen."""

    @abc.abstractmethod
    def paint(self, look: Any) -> Facets:
        """What `look` looked like."""

    def labels(self, look: Any) -> list[tuple[FloatArray, str]]:
        """What is written into the picture of `look`: places (3,), m, and a few words each."""
        return []

    def legend(self) -> str:
        """What the colours mean, in a few words."""
        return ""

    def tints(self, parts: FloatArray) -> FloatArray:
        """Colours (n, 3) of the legend at `parts` of its range, (n,), 0 to 1: blue to red, unless a show says more."""
        from sennit.export.solids import ramp

        return ramp(parts, 0.0, 1.0)

    def table(self) -> list[tuple[str, str, str]]:
        """What was measured against what is expected: name, measured, expected."""
        return []

    def pace(self, record: Record) -> str:
        """How many steps were taken, and how long they took."""
        return (
            f"{len(record.spent):,} steps, {record.times[-1] - record.times[0]:.3g} s; a step takes "
            f"{1e6 * np.median(record.spent):.0f} µs (median), {1e6 * np.quantile(record.spent, 0.99):.0f} µs (99th "
            "percentile)."
        )

    # -------------------------------------------------------------------------------------------------- on a page

    step: float = 5e-3
    """Time step of the page, s."""
    camera: tuple[ArrayLike, ArrayLike] | None = None
    """Of the page: eye and target, m; None: chosen from the size of what is seen."""
    ground: float | None = None
    """Of the page: its height, m; None: below what is seen."""
    pilot: Control | None = None
    """The switch between the show's own script and a person's hand, if it has one."""

    def play(self) -> Play:
        """What a page runs: this show where it begins, with what `furnish` adds."""
        from sennit.live.scene_play import ScenePlay

        self.begin()
        self.furnish()
        self.restart()
        return ScenePlay(
            self.scene, before_step=self.act, after_step=self.follow, on_reset=self._begin_again, dt=self.step,
            title=self.headline or re.split(r"[;:,.](\s|$)", self.title)[0], camera=self.camera, ground=self.ground,
        )  # fmt: skip

    def furnish(self) -> None:  # noqa: B027 (may stay empty)
        """Add what only a page has: controls, watches, decor, and things that hold the scene together for ever."""

    def restart(self) -> None:  # noqa: B027 (may stay empty)
        """Begin the script of the page: the scene is where it was when `furnish` had ended."""

    def act(self, dt: float) -> None:
        """What is done to the scene before a step of `dt` seconds on a page, where it goes on for ever."""
        self.before_step(dt)

    def follow(self, dt: float) -> None:  # noqa: B027
        """What is noted after a step on a page."""

    def _begin_again(self) -> None:
        if self.pilot is not None:
            self.pilot.value = self.pilot.start  # sliders that went back to their first values switched it off
        self.restart()

    def piloted(self, name: str = "by itself") -> None:
        """Declare the switch `pilot`; what `by_hand` makes switches it off."""
        self.pilot = self.scene.control(name, lambda on: None, True)

    @property
    def automatic(self) -> bool:
        """Whether the show's own script acts on a page."""
        return self.pilot is None or bool(self.pilot.value)

    def by_hand(self, act: Callable[..., object]) -> Callable[..., None]:
        """`act` as a control's function that takes over from the show's own script."""

        def take_over(*value: float) -> None:
            act(*value)
            if self.pilot is not None:
                self.pilot.value = False

        return take_over

    def decorate(
        self, facets: Facets, *, on: sn.Point | None = None, instead_of: sn.RigidBody | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        """Show `facets` on the page: in the world, carried by the point `on`, or as the look of a body.

        In the latter cases they are given in that frame.
        """
        corners = facets.corners.reshape(-1, 3)
        # corners that meet are one vertex, so that what is round is shaded as that
        grid = np.rint(corners / (1e-6 * max(float(np.abs(corners).max()), 1e-300)))
        _, first, one = np.unique(grid, axis=0, return_index=True, return_inverse=True)
        halves = np.array(((0, 1, 2), (0, 2, 3)))
        faces = (4 * np.arange(len(facets.corners))[:, None, None] + halves).reshape(-1, 3)
        colours = np.repeat(np.clip(facets.colours, 0.0, 255.0).round().astype(np.uint8), 2, axis=0)
        sides = corners[faces]
        wide = np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0])
        inwards = np.einsum("ij,ij->i", wide, np.repeat(facets.normals, 2, axis=0)) < 0.0
        faces[inwards] = faces[inwards][:, ::-1]
        area = np.linalg.norm(wide, axis=1)
        full = area > 1e-9 * float(area.max())  # caps have quadrilaterals with two corners in one
        carrier = on if instead_of is None else instead_of.at()
        self.scene.decorate(
            corners[first],
            one.reshape(-1)[faces[full]],
            on=carrier,
            face_colours=colours[full],
            smooth=True,
            instead=instead_of is not None,
            name=name,
        )

    @abc.abstractmethod
    def check(self) -> list[str]:
        """What was physically wrong: nothing, or one line each."""

    @abc.abstractmethod
    def findings(self) -> str:
        """What was checked and found, in a sentence or two."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of a run: for each picture its time, s, what was seen, its caption and its chart values."""

    times: list[float]
    looks: list[Any]
    captions: list[str]
    samples: FloatArray
    spent: FloatArray
    """Time that each step took: (n,), s."""


def simulate(show: Show, seconds: float, progress: Progress | None = None) -> Record:
    """Run `show` for `seconds` of simulated time; `progress` is told how many pictures are done."""
    plan = show.plan(seconds)
    fewer = min(1.0, MOST_FRAMES / sum(part.frames for part in plan))
    times, looks, captions, samples = [], [], [], []
    spent: list[float] = []
    scene = show.scene

    def keep() -> None:
        times.append(float(scene.time))
        looks.append(show.look())
        captions.append(show.caption())
        samples.append(show.sample())
        if progress is not None:
            progress(len(times))

    keep()
    for part in plan:
        frames = max(1, int(fewer * part.frames))
        each = max(1, math.ceil(part.seconds / (part.dt * frames) - 1e-9))
        dt = part.seconds / (frames * each)
        for _ in range(frames):
            for _ in range(each):
                show.before_step(dt)
                begin = time.perf_counter()
                scene.step(dt)
                spent.append(time.perf_counter() - begin)
                show.after_step(dt)
            keep()
    return Record(times, looks, captions, np.array(samples, dtype=np.float64), np.array(spent))


def draw(
    show: Show, record: Record, chosen: Sequence[int], *, still: bool, progress: Progress | None = None
) -> list[Image]:
    """The pictures `chosen` of `record`, small and without charts if `still`."""
    from PIL import ImageDraw

    from sennit.export.painting import StripChart, font

    width, height = size = STILL if still else SIZE
    charts = () if still else show.charts
    lines = 2 if still and show.legend() else 1
    band = 8 + lines * (17 if still else 22)  # what is written stands below the picture, not in it
    seen = height - band - (PANEL if charts else 0)
    stage = show.stage(size, seen)
    stage.finish()
    legend = show.legend()
    ImageDraw.Draw(stage.picture).rectangle((0, seen, width, height), fill=(255, 255, 255))
    middle = seen + 0.5 * band / lines
    if legend:
        below_it = middle + (lines - 1) * 0.5 * band
        _legend(stage.picture, legend, show.tints(np.linspace(0.0, 1.0, 60)), below_it, font(11 if still else 13))
    panels = []
    if charts:
        gap, top, bottom = 24, seen + band + 10, height - 24
        wide = (width - gap) / len(charts)
        for k, chart in enumerate(charts):
            box = (round(gap + k * wide), top, round((k + 1) * wide), bottom)
            panels.append(StripChart(box, chart.name, chart.unit, chart.digits, record.samples[:, k], chart.colour))
            panels[-1].draw_on(stage.picture)
    below = stage.picture.crop((0, seen, width, height))
    letters = font(14 if still else 17)
    frames = []
    for done, k in enumerate(chosen, 1):
        frame = stage.frame(show.paint(record.looks[k]))
        frame.paste(below, (0, seen))  # shadows may fall on it
        pen = ImageDraw.Draw(frame)
        moment = record.times[k] - record.times[0]
        pen.text((20, middle), _moment(moment, record.times[-1] - record.times[0]), fill=INK, font=letters, anchor="lm")
        pen.text((20 + 5 * (14 if still else 17), middle), record.captions[k], fill=INK, font=letters, anchor="lm")
        for place, text in show.labels(record.looks[k]):
            x, y = stage.camera.project(place)[0].tolist()
            pen.text((x, y), text, fill=INK, font=font(11 if still else 13), anchor="mm", align="center")
        for panel in panels:
            panel.draw_at(frame, k)
        frames.append(frame)
        if progress is not None:
            progress(done)
    return frames


def _columns(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Lines of a table of three columns."""
    if not rows:
        return []
    listed = [("", "measured", "expected"), *rows]
    first, second = (max(len(row[k]) for row in listed) for k in (0, 1))
    return [f"  {name:{first}}  {got:>{second}}  {due}".rstrip() for name, got, due in listed]


def sight(sheave: sn.Sheave) -> FloatArray:
    """Where a sheave is now: its centre, and two radii at right angles that turn with it: (3, 3), m."""
    frame = sheave.point.frame
    axis, mark = frame @ sheave.axis, frame @ sheave.mark
    first = math.cos(sheave.angle) * mark + math.sin(sheave.angle) * np.cross(axis, mark)
    return np.stack((sheave.point.position, sheave.radius * first, sheave.radius * np.cross(axis, first)))


def _moment(moment: float, whole: float) -> str:
    return f"{moment:.2f} s" if whole > 1.5 else f"{1e3 * moment:.0f} ms"


def _legend(picture: Image, text: str, colours: FloatArray, middle: float, letters: Any) -> None:
    """A strip of `colours`, (60, 3), and what it means, at the right end of a line."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(picture)
    left = picture.width - 20 - pen.textlength(text, font=letters) - 68
    for k, colour in enumerate(colours.round().astype(int).tolist()):
        pen.line((left + k, middle - 4, left + k, middle + 4), fill=tuple(colour))
    pen.text((left + 68, middle), text, fill=GREY, font=letters, anchor="lm")


def spread(last: int, count: int = 6) -> list[int]:
    """Numbers of `count` pictures from 0 to `last`: one in each part of the film, never at even distances.

    At even ones a motion that repeats itself would be met in the same phase again and again. Golden parts are as far
    from every period as can be.
    """
    parts = (np.arange(count) + np.mod(0.61803 * np.arange(count), 1.0)) / count
    return sorted({0, last, *(round(last * float(part)) for part in parts[1:-1])})


def offered(
    show: Callable[[], Show], *, seconds: float, paged: Callable[[], Show] | None = None
) -> tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int], Callable[[], Play]]:
    """What the module of a show offers, see `sennit.demos.Demo`: ``add_arguments, main, play = offered(Walk, ...)``.

    `seconds`: simulated time of a film or of a run without a page, by default. `paged`: what the page runs, if that is
    another show than the one that is checked.
    """

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        add_common_arguments(parser, seconds=seconds)

    def main(args: argparse.Namespace) -> int:
        if not args.headless and args.output is None:
            return open_page(play(), args)
        return perform(show(), args)

    def play() -> Play:
        return (show if paged is None else paged)().play()

    return add_arguments, main, play


def perform(show: Show, args: argparse.Namespace) -> int:
    """Run `show` as ``sennit demo`` does; the exit status is 1 if a check fails.

    With ``--headless`` or ``--output``: simulate, check, report, and draw if a file is named. Otherwise on a page.
    """
    if not args.headless and args.output is None:
        return open_page(show.play(), args)
    from rich.console import Console

    target = None if args.output is None else checked_output(args.output)
    say = functools.partial(Console().print, highlight=False, markup=False, soft_wrap=True)
    say(show.title)
    if target is not None:
        from sennit.export.painting import write_picture

        if target.suffix.lower() == ".mp4":
            importlib.import_module("imageio_ffmpeg")  # where it is missing, say so before the work
    absolute, relative = show.scene.multipliers
    count = show.scene.dofs
    say(f"{count} degrees of freedom; {absolute} absolute and {relative} relative multipliers.")
    show.begin()
    frames = 1 + sum(part.frames for part in show.plan(args.seconds))
    with bar("Simulating", min(frames, MOST_FRAMES)) as progress:
        record = simulate(show, args.seconds, progress)
    say(show.pace(record))
    for line in _columns(show.table()):
        say(line)
    wrong = show.check()
    if wrong:
        print(f"sennit: the physical check failed: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    say(f"Checked: {show.findings()}")
    if target is None:
        return 0
    still = target.suffix.lower() == ".png"
    last = len(record.times) - 1
    chosen = spread(last) if still else list(range(last + 1))
    with bar("Drawing", len(chosen)) as progress:
        pictures = draw(show, record, chosen, still=still, progress=progress)
    write_picture(target, pictures, min(FPS, FPS * len(chosen) / max(frames, 1)) if not still else FPS)
    say(f"Wrote {target} ({target.stat().st_size / 1e6:.1f} MB, {len(pictures)} frames).")
    if not args.headless:
        open_picture(target)
    return 0


def open_page(play: Play, args: argparse.Namespace) -> int:
    """Run `play` on a page where ``--host``, ``--port`` and ``--no-browser`` say, until it is interrupted.

    Returns the exit status.
    """
    from sennit.view import view

    view(play, port=args.port, host=args.host, browser=not args.no_browser, block=True)
    return 0


@contextlib.contextmanager
def bar(text: str, total: int) -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(text, total=total)
        yield lambda done: bar.update(task, completed=done)


def checked_output(output: str) -> Path:
    """The file that a demonstration writes, if its name and folder will do."""
    target = Path(output)
    if target.suffix.lower() not in (".gif", ".png", ".mp4"):
        raise InputError(f"--output must end in .gif, .png or .mp4, got {output!r}")
    if target.is_dir() or not os.access(target.resolve().parent, os.W_OK):
        raise InputError(f"--output must name a file in a folder that exists and can be written, got {output!r}")
    return target


def open_picture(path: Path) -> None:
    """Show `path` in the browser, where there is a screen to show it on."""
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen and sys.stdout.isatty():
        import webbrowser

        with contextlib.suppress(webbrowser.Error, OSError):
            webbrowser.open(path.resolve().as_uri())
