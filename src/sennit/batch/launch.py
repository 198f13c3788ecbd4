"""What a graphics card is told of the steps that it is to make."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, WORK, Table, number, whole

__all__ = ["Launch"]


class Launch(Table):
    """Scenes that wait for steps: a thread makes those of one."""

    waiting = whole(PLAN, "numbers of the scenes that wait", of="waiting")
    parts = whole(PLAN, "parts of each step", of=1)
    scenes = whole(PLAN, "where the tables of each scene are", of="scenes")
    counts = whole(PARAMETER, "how many steps each is to make", of="scenes")
    ended = whole(WORK, "how the last one ended", of="scenes")
    made = whole(WORK, "how many were made", of="scenes")
    anchors = whole(PARAMETER, "points of the world that are led", of="anchors")
    begun = whole(PARAMETER, "at which of its places in `path` each begins", of="scenes")
    path = number(PARAMETER, "places of the led points, m", "steps", "anchors", 3, of="scenes")
