"""Devices that a demonstration puts into a hand, by the names for ``--device``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from sennit.errors import InputError
from sennit.haptics import ForceDimensionDevice, HaplyDevice, MouseDevice, OpenHapticsDevice, SpaceMouseDevice

__all__ = ["DEVICES", "add_device", "page_of"]

DEVICES: dict[str, Callable[[], Any]] = {
    "forcedimension": ForceDimensionDevice, "haply": HaplyDevice, "mouse": MouseDevice,
    "openhaptics": OpenHapticsDevice, "spacemouse": SpaceMouseDevice,
}  # fmt: skip


def add_device(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--device``; `what` it does, for the help."""
    parser.add_argument("--device", choices=sorted(DEVICES), default=None, help=what)


def page_of(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments for the page beside a device. Raises `InputError` for options that are not for a person."""
    if args.headless or args.output is not None:
        raise InputError(f"--device {args.device} is for a person at the page: leave out --headless and --output")
    return {"port": args.port, "host": args.host, "browser": not args.no_browser}
