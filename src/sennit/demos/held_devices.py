"""Devices that a demonstration puts into a hand, by the names for ``--device``."""

from __future__ import annotations

import argparse
from typing import Any

import sennit as sn
from sennit.errors import InputError

__all__ = ["DEVICES", "add_device", "device_of", "page_of"]

DEVICES = {
    "forcedimension": "ForceDimensionDevice", "haply": "HaplyDevice", "mouse": "MouseDevice",
    "openhaptics": "OpenHapticsDevice", "spacemouse": "SpaceMouseDevice",
}  # fmt: skip
"""Classes of devices by name: sennit loads what they need when one is made."""


def device_of(name: str) -> Any:
    """The device of that name, ready to be held."""
    return getattr(sn, DEVICES[name])()


def add_device(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--device``; `what` it does, for the help."""
    parser.add_argument("--device", choices=sorted(DEVICES), default=None, help=what)


def page_of(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments for the page beside a device. Raises `InputError` for options that are not for a person."""
    if args.headless or args.output is not None:
        raise InputError(f"--device {args.device} is for a person at the page: leave out --headless and --output")
    return {"port": args.port, "host": args.host, "browser": not args.no_browser}
