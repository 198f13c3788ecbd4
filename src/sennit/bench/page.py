"""Whether a page keeps a simulation in real time, how many frames it delivers and a browser draws, and how punctual the
haptic loop is.

The page shows the rope bridge to a light client: what a browser would receive is received, and not drawn. The same
scene without a page is the baseline. `page_browser` has what a real browser draws.

The loops run in processes of their own, one after the other, with a scripted hand: the suture's thread, whose tip is
dragged and turned, and the rope bridge, which is held by a foot rope. A tick is late if its wrench is not set before
the next tick is due, or if it was left out because of one that was; lateness is how long after its due time a tick
began.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

import sennit as sn
from sennit.bench.page_browser import pictures
from sennit.bench.page_client import LightClient
from sennit.bench.table import Progress, Row, Seconds, Table
from sennit.demos import bridge, suture
from sennit.haptics import HapticLoop, ScriptedDevice, Statistics
from sennit.haptics.realtime import realtime_is_allowed
from sennit.live.host import Host
from sennit.live.scene_play import ScenePlay
from sennit.validation import FloatArray
from sennit.view import view

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Opens the page of the rope bridge for a client that counts frames and draws nothing, beside the same simulation "
    "without a page. Then opens demonstrations in Chromium, if that and playwright are there: pictures a second, how "
    "old they are, whether each is of one moment. Then runs the haptic loop at 1 kHz in a process of its own: the "
    "suture's thread, and the rope bridge, each with ordinary and with real-time scheduling, and counts late ticks. "
    "Takes four minutes. "
    "What else the machine does is in the figures: leave it alone meanwhile."
)

Make = Callable[[float, bool], HapticLoop]
AIMS = {False: 0.5, True: 0.1}
"""Late ticks of the strand's loop, %, without and with real-time scheduling."""


def run(progress: Progress) -> list[Table]:
    """Time everything."""
    return [page(progress), pictures(progress), ticks(progress)]


# -------------------------------------------------------------------------------------------------------------- page


def page(progress: Progress, seconds: float = 10.0) -> Table:
    """The bridge with a walker, in real time: alone, with a page that nobody looks at, and with one that is looked at.

    Times are those of steps; `pace` is simulated over real time, `frame` the median time from one frame to the next.
    """
    title = "A page of the rope bridge"
    rows = []
    for k, name in enumerate(("no page", "page, nobody looks", "page, one looks")):
        progress(f"{title}: {name}", k / 3.0)
        rows.append(_watched(name, seconds, served=k > 0, looked_at=k > 1))
    progress(title, 1.0)
    table = Table(title, rows, baseline="no page", per="step")
    shown = rows[-1].values
    table.aim("frames a second, one looks", float(shown["frames/s"]), at_least=30.0)
    table.aim("pace, one looks", float(shown["pace"]), at_least=0.99)
    return table


def _watched(name: str, seconds: float, *, served: bool, looked_at: bool) -> Row:
    play = cast(ScenePlay, bridge.play())
    if not served:
        host = Host(play)
        stop = threading.Event()
        running = threading.Thread(target=host.run, args=(stop, True))
        running.start()
        try:
            return _measured(name, play, host, None, seconds)
        finally:
            stop.set()
            running.join()
    with view(play, port=0, browser=False, block=False) as shown:
        client = LightClient(shown.url) if looked_at else None
        try:
            return _measured(name, play, shown.host, client, seconds)
        finally:
            if client is not None:
                client.close()


def _measured(name: str, play: ScenePlay, host: Host, client: LightClient | None, seconds: float) -> Row:
    """Steps and frames of `seconds` of real time, after two seconds in which everything settles."""
    time.sleep(2.0)
    spent: list[float] = []
    plain = play.step

    def timed() -> None:
        begin = time.perf_counter()
        plain()
        spent.append(time.perf_counter() - begin)

    first = 0 if client is None else len(client.arrivals)
    received = 0 if client is None else client.bytes
    begin, simulated = time.perf_counter(), play.time
    play.step = timed  # type: ignore[method-assign]
    time.sleep(seconds)
    real, advanced = time.perf_counter() - begin, play.time - simulated
    play.step = plain  # type: ignore[method-assign]
    values: dict[str, Any] = {"pace": advanced / real, "busy": host.busy}
    if client is not None:
        arrivals = np.array(client.arrivals[first:])
        gaps = np.diff(arrivals) if len(arrivals) > 1 else np.array([math.nan])
        values |= {
            "frames/s": len(arrivals) / real,
            "frame": Seconds(np.median(gaps)),
            "frame p99": Seconds(np.quantile(gaps, 0.99)),
            "MB/s": 1e-6 * (client.bytes - received) / real,
        }
    else:
        values |= {"frames/s": "", "frame": "", "frame p99": "", "MB/s": ""}
    return Row.from_samples(name, spent, values=values)


# ------------------------------------------------------------------------------------------------------------- loops


def strand_loop(seconds: float, realtime: bool) -> HapticLoop:
    """The suture's thread of 201 nodes; its tip is dragged along the demonstration's path within 6 s."""
    hand = ScriptedDevice(lambda t: suture.grip(t / 6.0 % 1.0), seconds=min(seconds, 6.0), repeat=True)
    coupling = sn.VirtualCoupling(50.0, 0.1, rotational_stiffness=0.01, rotational_damping=1e-5)
    return HapticLoop(
        suture.thread(), hand, base=suture.base(), gravity=suture.GRAVITY, coupling=coupling, seconds=seconds,
        realtime=realtime,
    )  # fmt: skip


def bridge_loop(seconds: float, realtime: bool) -> HapticLoop:
    """The rope bridge; a hand shakes the middle of a foot rope."""
    made = bridge.assemble()
    made.scene.settle()
    grip = made.ropes[0].at(0.5 * made.ropes[0].length)
    start = grip.position

    def shaken(t: float) -> FloatArray:
        angle = 2.0 * math.pi * t
        return np.asarray(np.add(start, (0.0, 0.1 * math.sin(angle), 0.05 * math.sin(2.0 * angle))))

    hand = ScriptedDevice(shaken, seconds=1.0, repeat=True)
    coupling = sn.VirtualCoupling(2000.0, 20.0)
    return HapticLoop(made.scene, hand, grip=grip, coupling=coupling, seconds=seconds, realtime=realtime)


LOOPS: tuple[tuple[str, Make], ...] = (("strand", strand_loop), ("bridge", bridge_loop))


def ticks(
    progress: Progress, seconds: float = 20.0, loops: Sequence[tuple[str, Make]] = LOOPS, *, parts: int = 2
) -> Table:
    """Late ticks of the loops at 1 kHz, without and with real-time scheduling.

    Each runs `seconds` in `parts` that take turns, so that a slow spell of the machine falls on all.
    """
    title = "Haptic loop at 1 kHz: steps, and how late ticks began"
    allowed = realtime_is_allowed()
    cases = [(name, make, realtime) for name, make in loops for realtime in ((False, True) if allowed else (False,))]
    found: list[list[Statistics]] = [[] for _ in cases]
    for part in range(parts):
        for k, (name, make, realtime) in enumerate(cases):
            progress(f"{title}: {name}", (part + k / len(cases)) / parts)
            with make(seconds / parts, realtime) as loop:
                loop.wait()
            found[k].append(loop.statistics)
    progress(title, 1.0)
    rows, aims = [], []
    for (name, _, realtime), parts_of in zip(cases, found, strict=True):
        row = _row(f"{name}, {'real time' if realtime else 'ordinary'}", parts_of)
        rows.append(row)
        if name == "strand":
            aims.append((f"late ticks, {row.name}, %", row.values["late %"], AIMS[realtime]))
    table = Table(title, rows, per="step")
    for text, value, most in aims:
        table.aim(text, float(value), at_most=most)
    if not allowed:
        table.notes.append("real-time scheduling (SCHED_FIFO) is not allowed here: ulimit -r 40, or CAP_SYS_NICE")
    table.notes.append(
        "late: not done within its millisecond, or left out because of one that was not; over 1 ms: those left out"
    )
    return table


def _row(name: str, parts: Sequence[Statistics]) -> Row:
    """Parts of one case: counts are added; of quantiles the median of the parts, of the worst the worst.

    Median, p99 and worst are those of the steps.
    """
    done, skipped = sum(part.ticks for part in parts), sum(part.skipped for part in parts)
    late = sum(part.late for part in parts)
    values: dict[str, Any] = {
        "late %": 100.0 * late / (done + skipped),
        "over 1 ms %": 100.0 * skipped / (done + skipped),
        "began late": Seconds(np.median([part.p50 for part in parts])),
        "late p99": Seconds(np.median([part.p99 for part in parts])),
        "late worst": Seconds(max(part.max for part in parts)),
    }
    return Row(
        name=name,
        median=float(np.median([part.step_p50 for part in parts])),
        p99=float(np.median([part.step_p99 for part in parts])),
        worst=max(part.longest_step for part in parts),
        samples=done,
        values=values,
    )
