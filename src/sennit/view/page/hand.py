"""Who holds the hand: several browsers may look, one holds something."""

from __future__ import annotations

from typing import Any

__all__ = ["TAKEN", "Hand"]

TAKEN = "Another window holds the hand: it can be taken when that one lets go."


class Hand:
    """Passes the commands of the hand on, of one visitor at a time."""

    def __init__(self) -> None:
        self.holder: Any = None
        """The visitor that holds something."""

    def allows(self, visitor: Any, command: str) -> bool | None:
        """Whether `visitor` may do this with the hand; None: it may not, and need not be told."""
        if command == "grab":
            if self.holder is not None and self.holder is not visitor:
                return False
            self.holder = visitor
            return True
        if self.holder is not visitor:
            return None  # of a drag that was refused, or has ended
        if command == "release":
            self.holder = None
        return True

    def left(self, visitor: Any) -> bool:
        """A visitor has gone; returns whether what it held is to be let go."""
        if self.holder is not visitor:
            return False
        self.holder = None
        return True
