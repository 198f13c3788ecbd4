"""A table of any columns, for results that are not samples of one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sennit.bench.table import Aim

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Sheet"]


@dataclass(slots=True)
class Sheet:
    """Rows of texts under a title, with aims and notes below; the raw figures go to the file.

    `columns` maps each heading to "left" or "right". `data` is anything plain that belongs to the file and not on the
    screen.
    """

    title: str
    columns: Mapping[str, str]
    rows: list[Sequence[str]] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: Any = None

    def add(self, *cells: str) -> None:
        """Append a row: a text for each column."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(self.columns)} cells are needed, got {len(cells)}")
        self.rows.append(cells)

    def aim(self, name: str, value: float, *, at_most: float | None = None, at_least: float | None = None) -> Aim:
        """Hold a figure against a bound; it is shown under the table and written to the file."""
        aim = Aim(name, float(value), at_most, at_least)
        self.aims.append(aim)
        return aim

    def show(self, console: Console) -> None:
        """Print the table, its aims and its notes."""
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(title=Text(self.title), title_justify="left")
        for heading, side in self.columns.items():
            grid.add_column(Text(heading), justify="right" if side == "right" else "left")
        for row in self.rows:
            grid.add_row(*(Text(cell) for cell in row))
        console.print(grid)
        for line in (*map(str, self.aims), *self.notes):
            console.print(Text(line))

    def as_markdown(self) -> str:
        """The table and its notes as Markdown, without the title and the aims."""
        lines = ["| " + " | ".join(map(_escaped, self.columns)) + " |"]
        lines.append("|" + "|".join("--:" if side == "right" else "---" for side in self.columns.values()) + "|")
        lines += ["| " + " | ".join(map(_escaped, row)) + " |" for row in self.rows]
        for note in self.notes:
            lines += ["", _escaped(note)]
        return "\n".join(lines) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Everything in the table as plain values."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "aims": [
                {"name": a.name, "value": a.value if a.value == a.value else None, "at_most": a.at_most,
                 "at_least": a.at_least, "met": a.met}
                for a in self.aims
            ],
            "notes": list(self.notes),
            "data": self.data,
        }  # fmt: skip


def _escaped(text: str) -> str:
    """`text` for a cell of Markdown: what it could mean there is taken from it."""
    for sign in "\\|<>*_`[]$#":
        text = text.replace(sign, "\\" + sign)
    return text
