"""Real-time scheduling of the loop, where the system has it and allows it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading

__all__ = ["ask_for_realtime", "realtime_is_allowed", "sharpen_timers"]

PRIORITY = 40
"""Among SCHED_FIFO's 1 to 99: below the kernel's own threads for interrupts, which are at 50."""
_CURRENT = 1  # of mlockall: what is mapped now; later memory may be more than the system lets be locked
_TIMER_SLACK = 29  # of prctl


def ask_for_realtime() -> bool:
    """Let the calling thread run before all ordinary ones; whether the system grants it.

    On Linux this takes the right CAP_SYS_NICE, or a limit: ``ulimit -r 40`` (rtprio in /etc/security/limits.conf).
    Processes that it starts are ordinary again.
    """
    if sys.platform != "linux":
        return False
    # A page that must be fetched is a late tick. Locking takes long: a thread that has real time already would use up
    # its share of a second (95 %) with it, and be stopped for the rest.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mlockall(_CURRENT)  # no matter if it is refused
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    except OSError:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).munlockall()
        return False
    return True


def realtime_is_allowed() -> bool:
    """Whether `ask_for_realtime` would be granted; asked in a thread of its own, and nothing is kept."""
    answers: list[bool] = []

    def ask() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
            answers.append(True)
        except OSError:
            answers.append(False)

    if sys.platform != "linux":
        return False
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


def sharpen_timers() -> None:
    """Ask Linux to wake the calling thread from sleep as exactly as it can: it groups wake-ups within 50 µs else."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_TIMER_SLACK, ctypes.c_ulong(1), 0, 0, 0)
