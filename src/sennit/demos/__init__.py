"""Demonstration scenes, one file each.

``sennit demo`` lists `DEMOS`; ``sennit demo NAME`` runs ``sennit.demos.NAME``, which offers what `Demo` says. The
modules are imported only when one is asked for, so that the list appears at once. A new demonstration is one file here
and one line in `DEMOS`.
"""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, Protocol, cast

from sennit.errors import InputError

if TYPE_CHECKING:
    from sennit.live.play import Play

__all__ = [
    "DEMOS",
    "Demo",
    "add_common_arguments",
    "add_page_arguments",
    "add_port_argument",
    "load",
    "positive",
    "run",
]

DEMOS: dict[str, str] = {
    "suture": "a surgical thread is dragged and twisted by one end",
    "cord": "a telephone cord stretches, twists and swings with its handset",
    "bridge": "a person walks across a bridge of four ropes",
    "necklace": "a necklace is thrown into the air; its pearls slide and knock against each other",
    "bow": "a bow is drawn and shoots an arrow",
    "bundle": "a bundle of cables is clipped along the side of a car",
    "net": "a spider's net is pulled at its hub and let go",
    "dna": "a model of DNA is wound up and let go",
    "stitch": "a running suture closes a wound between two pads of soft tissue",
    "sew": "a curved needle sews a wound between two pads of soft tissue, bite by bite",
    "boxes": "two boxes swing and turn on one cable, three stiffnesses each, without gravity",
    "turnabout": "a trolley rolls along two cables; two boxes on one cable under it turn in opposite directions",
    "fishing": "a box is tossed from a fishing rod, wound in over ice by a winch that slips, and lifted",
    "crane": "a tower crane hoists, slews, drives its trolley out, waits for the swing and lowers",
    "landing": "the crane's load is set down, its slings go slack, and it is taken up again",
    "windlass": "a rope wound on a turning drum hauls a load by friction, while a hand holds its tail",
    "pile": "ropes and boxes are poured on a table",
    "gripper": "two fingers pick a rope from a table and lay it over a peg",
    "tackle": "three tackles of four falls lift a load: without friction, held by friction, against friction",
    "elevator": "an elevator with its counterweight goes up and down; then its sheave is stopped dead",
    "knot": "an overhand, a figure-eight and a reef knot are tied by hands, drawn tight and held by friction",
    "plectoneme": "a rod is twisted between two clamps until it winds up on itself",
    "wire": "a paper clip is bent by hand, and stays bent",
    "vessel": "a guidewire with a bent tip is pushed and turned through vessels that branch twice",
    "hair": "long hair on a head that shakes and nods: hundreds of strands on the page, 100,000 in a film",
    "finger": "a finger of three soft pads bends, presses a ball with friction and is touched by a probe",
}
"""Name of each demonstration, and the line that ``sennit demo`` shows for it."""


class Demo(Protocol):
    """What a module of this package offers."""

    @property
    def DESCRIPTION(self) -> str:
        """What is shown and what is checked, for ``sennit demo NAME --help``."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add this demonstration's options; most call `add_common_arguments` first."""

    def main(self, args: argparse.Namespace) -> int:
        """Open the page with it; with ``--headless`` or ``--output`` run it, assert something physical, draw.

        Returns the exit status.
        """

    def play(self) -> Play:
        """What the page runs: the scene where it begins, with script, controls, watches and decor."""


def add_common_arguments(parser: argparse.ArgumentParser, *, seconds: float) -> None:
    """Add the options that every demonstration takes; `seconds` is the default length of a run without a page."""
    parser.add_argument(
        "--headless", action="store_true", help="open no page: simulate, check the physics, print and end"
    )
    parser.add_argument(
        "--output", metavar="FILE", default=None, help="instead of a page, write a film (.gif, .mp4) or stills (.png)"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=positive, default=seconds, action=_Length,
        help="simulated time of a film or of a run without a page (default: %(default)s)",
    )  # fmt: skip
    add_page_arguments(parser)


class _Length(argparse.Action):
    """Stores the length of a run, and that it was asked for."""

    def __call__(
        self, parser: argparse.ArgumentParser, args: argparse.Namespace, value: object, option: str | None = None
    ) -> None:
        args.seconds, args.length_asked = value, True


def run(demo: Demo, args: argparse.Namespace) -> int:
    """Run `demo`, if its options fit together; returns the exit status."""
    paged = not args.headless and args.output is None
    if paged and getattr(args, "length_asked", False):
        raise InputError(f"--seconds {args.seconds:g}: a page goes on until Ctrl-C; add --headless, or --output FILE")
    return demo.main(args)


def add_page_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where a page is served."""
    add_port_argument(parser)
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="serve there (default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="serve the page without opening a browser")


def add_port_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that says at which port a page is served."""
    parser.add_argument(
        "--port", metavar="N", type=_port, default=8080,
        help="port of the page; 0: any that is free (default: %(default)s)",
    )  # fmt: skip


def positive(text: str) -> float:
    """`text` as a positive number, for argparse."""
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


positive.__name__ = "number"  # argparse quotes it: "invalid number value: 'x'"


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: choose one from 0 to 65535")
    return value


_port.__name__ = "port"


def load(name: str) -> Demo:
    """Import the demonstration called `name`."""
    if name not in DEMOS:
        raise InputError(f"there is no demo {name!r}; choose from: {', '.join(DEMOS)}")
    return cast(Demo, importlib.import_module(f"sennit.demos.{name}"))
