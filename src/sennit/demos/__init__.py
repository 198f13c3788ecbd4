"""Demonstration scenes, one file each.

``sennit demo`` lists `DEMOS`; ``sennit demo NAME`` runs ``sennit.demos.NAME``, which offers what `Demo` says. The
modules are imported only when one is asked for, so that the list appears at once. A new demonstration is one file here
and one line in `DEMOS`.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Protocol, cast

from sennit.errors import InputError

__all__ = ["DEMOS", "Demo", "add_common_arguments", "load"]

DEMOS: dict[str, str] = {
    "suture": "a surgical thread is dragged and twisted by one end; writes an animated picture",
    "bridge": "a person walks across a bridge of four ropes",
    "necklace": "a necklace is thrown into the air; its pearls slide and knock against each other",
    "bow": "a bow is drawn and shoots an arrow",
    "bundle": "a bundle of cables is clipped along the side of a car",
    "net": "a spider's net is pulled at its hub and let go",
    "dna": "a model of DNA is wound up and let go",
    "stitch": "a running suture closes a wound between two pads of soft tissue",
    "boxes": "two boxes swing and turn on one cable, three stiffnesses each, without gravity",
    "turnabout": "a trolley rolls along two cables; two boxes on one cable under it turn in opposite directions",
    "fishing": "a box is tossed from a fishing rod, wound in over ice by a winch that slips, and lifted",
    "crane": "a tower crane hoists, slews, drives its trolley out, waits for the swing and lowers",
    "tackle": "three tackles of four falls lift a load: without friction, held by friction, against friction",
    "elevator": "an elevator with its counterweight goes up and down; then its sheave is stopped dead",
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
        """Run it, assert something physical, return the exit status."""


def add_common_arguments(parser: argparse.ArgumentParser, *, output: str, seconds: float) -> None:
    """Add the options that every demonstration takes: ``--output``, ``--seconds`` and ``--headless``.

    `output` is the file written by default, `seconds` the default length in simulated time.
    """
    parser.add_argument("--output", metavar="FILE", default=output, help="file to write (default: %(default)s)")
    parser.add_argument(
        "--seconds", metavar="S", type=_positive, default=seconds, help="simulated time (default: %(default)s)"
    )
    parser.add_argument("--headless", action="store_true", help="open neither a window nor a page")


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


_positive.__name__ = "number"  # argparse quotes it: "invalid number value: 'x'"


def load(name: str) -> Demo:
    """Import the demonstration called `name`."""
    if name not in DEMOS:
        raise InputError(f"there is no demo {name!r}; choose from: {', '.join(DEMOS)}")
    return cast(Demo, importlib.import_module(f"sennit.demos.{name}"))
