"""The wound of `sew` under a force-feedback device: the needle is in its hand, at 1 kHz, and feels what it pierces.

The loop runs in a process of its own, where no Python of this demonstration does: so the score is what the final state
says. The thread is tied when the loop has ended, where it comes out then.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sennit as sn
from sennit.demos.held_devices import add_device, device_of, page_of
from sennit.haptics import HapticLoop, MouseDevice, ScriptedDevice, Statistics

if TYPE_CHECKING:
    from sennit.demos.sew import Surgery, Theatre

__all__ = ["COUPLING", "offered_with_devices", "scripted_bite", "sewn_by"]

COUPLING = sn.VirtualCoupling(stiffness=1500.0, damping=1.0, rotational_stiffness=0.06, rotational_damping=1e-4)
"""Between hand and needle: it gives way by 0.2 mm and 2° under what it takes to pierce the skin."""


def scripted_bite(theatre: Theatre, speed: float, *, still: float = 0.05) -> ScriptedDevice:
    """A hand that waits for `still` (s) and makes the first bite, the tip at `speed` (m/s)."""
    way = theatre.way
    seconds = way.sweep * way.radius / speed

    def path(t: float) -> sn.Pose:
        share = min(max(t - still, 0.0) / seconds, 1.0)
        return way.pose(way.centre(0), share * way.sweep, theatre.begin)

    return ScriptedDevice(path, seconds=seconds + 2.0 * still)


def sewn_by(
    show: Surgery, device: Any, *, page: dict[str, Any] | None = None, realtime: Any = "auto",
    frame: sn.Pose | str | None = None,
) -> Statistics:  # fmt: skip
    """Let `device` sew the wound of `show` until its script is over or somebody interrupts; how punctual that was.

    `page`: arguments for the loop's page, None for none. Afterwards `show` has the final state: `score`, `table`.
    """
    scene, theatre = show.scene, show.theatre
    show.begin()
    begun = scene.time
    scene.remove(theatre.hand)  # its place is taken by the loop's coupling
    loop = HapticLoop(
        scene, device, grip=theatre.needle.at(0.75 * theatre.needle.length), coupling=COUPLING, realtime=realtime,
        frame=frame,  # type: ignore[arg-type]
    )  # fmt: skip
    with loop:
        if page is not None:
            loop.view(**page)
        with contextlib.suppress(KeyboardInterrupt):
            loop.wait()
    show.clock = scene.time - begun
    scene.add(theatre.hand)
    theatre.hand.target = theatre.hand.points[0].pose
    show.after_step(0.0)
    return loop.statistics


def offered_with_devices(
    show: Callable[[], Surgery],
    add_arguments: Callable[[argparse.ArgumentParser], None],
    main: Callable[[argparse.Namespace], int],
) -> tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]:
    """The options and the main function of a demonstration with ``--device``."""

    def with_device(parser: argparse.ArgumentParser) -> None:
        add_arguments(parser)
        add_device(
            parser, "put the needle into the hand of a device, at 1 kHz, with a page beside; Ctrl-C ends and scores"
        )

    def run(args: argparse.Namespace) -> int:
        if args.device is None:
            return main(args)
        page = page_of(args)
        made = show()
        device = device_of(args.device)
        # A page's mouse is in the world already; other devices begin at the needle, wherever they are.
        told = sewn_by(made, device, page=page, frame=None if isinstance(device, MouseDevice) else "grip")
        with contextlib.suppress(sn.InputError):  # where nothing comes out there is nothing to tie
            made.tie()
        print(told)
        for name, measured, due in made.table():
            print(f"  {name}: {measured} {f'({due})' if due else ''}".rstrip())
        missed = [event.message for event in made.scene.events if event.kind in ("no_hole", "slipped")]
        print("\n".join(dict.fromkeys(missed)), file=sys.stderr)
        return 0

    return with_device, run
