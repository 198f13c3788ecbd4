"""Real-time scheduling where the system allows it, and where it does not."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from sennit.haptics import realtime

linux = pytest.mark.skipif(sys.platform != "linux", reason="scheduling of Linux")


@linux
def test_a_system_that_refuses_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def refuse(pid: int, policy: int, parameters: os.sched_param) -> None:
        asked.append((policy, parameters.sched_priority))
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert not realtime.ask_for_realtime() and not realtime.realtime_is_allowed()
    assert asked == [(os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, realtime.PRIORITY)] * 2


@linux
def test_what_is_granted_is_had_and_asking_keeps_nothing() -> None:
    before = os.sched_getscheduler(0)
    allowed = realtime.realtime_is_allowed()
    assert os.sched_getscheduler(0) == before  # this thread is as it was
    found: list[object] = []

    def ask() -> None:
        realtime.sharpen_timers()
        found.append(realtime.ask_for_realtime())
        found.append(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [allowed, allowed]


def test_other_systems_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "plan9")
    assert not realtime.ask_for_realtime() and not realtime.realtime_is_allowed()
    realtime.sharpen_timers()
