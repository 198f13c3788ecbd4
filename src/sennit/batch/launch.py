"""What a graphics card is told of the steps that it is to make."""

from __future__ import annotations

import numpy as np

from sennit.tables import PARAMETER, PLAN, WORK, Table, number, whole

__all__ = ["Axes", "Columns", "Energies", "Fill", "Halves", "Launch", "Near", "Wrenches"]


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


class Fill(Table):
    """The same words for some rows of a memory, or addresses that are as far from a place of each row's own."""

    memory = whole(WORK, "all rows, one after the other", of="words")
    pitch = whole(PLAN, "words of a row", of=1)
    rows = whole(PARAMETER, "numbers of the rows", of="rows")
    base = whole(PARAMETER, "what is added in each of them", of="rows")
    at = whole(PARAMETER, "which words of a row", of="places")
    value = whole(PARAMETER, "what is written there", of="places")


class Columns(Table):
    """Some words of some rows of a memory, and an array of them alone."""

    memory = whole(WORK, "all rows, one after the other", of="words")
    pitch = whole(PLAN, "words of a row", of=1)
    rows = whole(PARAMETER, "numbers of the rows", of="rows")
    at = whole(PARAMETER, "which words of a row", of="places")
    values = whole(WORK, "those words", "places", of="rows")


class Halves(Table):
    """The same as `Columns` of numbers of 4 bytes."""

    memory = whole(WORK, "all rows, one after the other", of="words", kind=np.int32)
    pitch = whole(PLAN, "numbers of a row", of=1)
    rows = whole(PARAMETER, "numbers of the rows", of="rows")
    at = whole(PARAMETER, "which of a row", of="places")
    values = whole(WORK, "those numbers", "places", of="rows", kind=np.int32)


class Near(Table):
    """Where the numbers of scenes lie, to be brought into the threads' own memories: those that are there for good, and
    after them those of a room (`batch.memory`).
    """

    main = whole(PLAN, "addresses of the numbers of each scene", of="scenes")
    room = whole(PLAN, "addresses of its room", of="scenes")
    main_words = whole(PLAN, "how many words they are", of=1)
    main_head = whole(PLAN, "how many of these are blocks", of=1)
    room_words = whole(PLAN, "how many words a room has", of=1)
    room_head = whole(PLAN, "how many of these are blocks", of=1)
    root = whole(PLAN, "at which byte of the room its root is", of=1)
    main_at = whole(PLAN, "words that are addresses of what lies among the numbers", of="main_pointers")
    main_to = whole(PLAN, "and of which bytes of these", of="main_pointers")
    room_at = whole(PLAN, "the same in the room", of="room_pointers")
    room_to = whole(PLAN, "and of which bytes of the numbers", of="room_pointers")
    inner_at = whole(PLAN, "words of the room that are addresses of what lies in it", of="inner_pointers")
    inner_to = whole(PLAN, "and of which bytes of it", of="inner_pointers")


class Wrenches(Table):
    """What a constraint of all scenes does is to be read."""

    scenes = whole(PLAN, "where the tables of each scene are", of="scenes")
    ends = whole(PARAMETER, "its first row, and the one behind its last", of=2)
    out = number(WORK, "force (N) and moment (N·m) on its first point, and how far each row is off", "values",
                 of="scenes")  # fmt: skip


class Energies(Table):
    """The energies of all scenes are to be read."""

    scenes = whole(PLAN, "where the tables of each scene are", of="scenes")
    parts = whole(PLAN, "where there is room for the energies of each scene's bodies", of="scenes")
    gravity = number(PARAMETER, "m/s²", 3, of="scenes")
    out = number(WORK, "energies by kind, and their sum, J", 7, of="scenes")


class Axes(Table):
    """The axes of a rigid body of all scenes are to be read."""

    scenes = whole(PLAN, "where the tables of each scene are", of="scenes")
    body = whole(PARAMETER, "which one", of=1)
    out = number(WORK, "rotation, row by row", 9, of="scenes")
