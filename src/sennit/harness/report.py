"""The report of a harness: one page (HTML) with everything in it, and the same as a table (CSV)."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sennit.harness.drawing import CLASSES, chart, views
from sennit.harness.plan import KINDS
from sennit.harness.rest import Rest, newtons

__all__ = ["page_of", "table_of"]

_STYLE = Path(__file__).with_suffix(".css")


def _cell(text: object, *classes: str) -> str:
    return (
        f'<td class="{" ".join(classes)}">{html.escape(str(text))}</td>'
        if classes
        else f"<td>{html.escape(str(text))}</td>"
    )


def _short(value: float) -> str:
    text = _size(value)
    return "0.00" if text == "-0.00" else text


def _size(force: float) -> str:
    """In a column of newtons; large ones with their own unit."""
    return newtons(force).removesuffix(" N")


def _head(*names: str) -> str:
    """A row of headings; those of columns of words begin with <."""
    cells = (f'<th class="l">{html.escape(n[1:])}</th>' if n[0] == "<" else f"<th>{html.escape(n)}</th>" for n in names)
    return "<tr>" + "".join(cells) + "</tr>"


def page_of(
    rest: Rest, title: str, facts: Sequence[tuple[str, str]], most: float | None = None,
    sweep: Sequence[tuple[float, Rest]] = (),
) -> str:  # fmt: skip
    """The page; `facts`: what was given, `most`: the largest force of a holder that is allowed, N."""
    problems = rest.problems(most)
    word = "does not fit" if problems else "fits"
    listed = "".join(f"<li>{html.escape(text)}</li>" for text in problems)
    sharpest = min(rest.cables, key=lambda one: one.radius[one.sharpest] / one.cable.bend_radius)
    k = sharpest.sharpest
    summary = (
        f"Sharpest bend: {1e3 * sharpest.radius[k]:.0f} mm of {sharpest.cable.name}, "
        f"{1e3 * sharpest.s[k]:.0f} mm along it; "
        f"{1e3 * sharpest.cable.bend_radius:.0f} mm are allowed."
    )
    legend = "".join(f'<span><i style="background:{colour}"></i>{words}</span>' for _, colour, words in CLASSES)
    given = "".join(f"<tr><td>{html.escape(name)}</td>{_cell(value, 'l')}</tr>" for name, value in facts)
    limits = [1e3 * one.cable.bend_radius for one in rest.cables]
    radii = [1e3 * one.radius for one in rest.cables]
    pulls = [one.tension for one in rest.cables]
    marks = [one for one in rest.held if one.holder.kind != "junction"]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{html.escape(title)}: {word}</title><style>{_STYLE.read_text(encoding="utf-8")}</style></head><body>
<h1>{html.escape(title)}</h1>
<div class="verdict {"fails" if problems else "fits"}"><b>The harness {word}.</b> {html.escape(summary)}
<ul>{listed}</ul></div>
<h2>Cables</h2>{_cables(rest)}
<h2>At rest</h2>{views(rest.cables, rest.held)}
<p class="legend">Bend: {legend}</p>
<h2>Along the cables</h2>
{chart(rest.cables, radii, "Bend radius (the limit dashed)", "mm", most=4.0 * max(limits), limits=limits, marks=marks)}
{chart(rest.cables, pulls, "Tension (negative: pushed)", "N", marks=marks)}
<h2>What holds them</h2>{_holders(rest, most)}
{_sweep(sweep, most)}
<h2>Given</h2><table>{given}</table>
<p class="small">Equilibrium under gravity of elastic rods that are straight when nothing bends them, without friction
in clips and eyes; cables do not touch each other or anything else. What the holders' forces and the weight leave over
is {rest.unbalanced:.0e} of them.</p>
</body></html>
"""


def _cables(rest: Rest) -> str:
    rows = []
    for one in rest.cables:
        k = one.sharpest
        bad = ("bad",) if one.radius[k] < one.cable.bend_radius else ()
        pull = f"{_short(one.tension.min())} … {_short(one.tension.max())}"
        rows.append(
            "<tr>" + _cell(one.cable.name)
            + _cell(f"{1e3 * one.cut_length:.0f}") + _cell(f"{1e3 * one.route_length:.0f}")
            + _cell(f"{1e3 * one.radius[k]:.0f}", *bad) + _cell(f"{1e3 * one.cable.bend_radius:.0f}")
            + _cell(f"{1e3 * one.s[k]:.0f}") + _cell(pull) + _cell(f"{1e3 * one.mass:.0f}") + "</tr>"
        )  # fmt: skip
    head = _head(
        "cable",
        "cut length, mm",
        "route, mm",
        "smallest bend radius, mm",
        "allowed, mm",
        "at, mm",
        "tension, N",
        "mass, g",
    )
    return f"<table>{head}{''.join(rows)}</table>"


def _holders(rest: Rest, most: float | None) -> str:
    rows = []
    for one in rest.held:
        force = float(np.linalg.norm(one.force))
        bad = ("bad",) if one.lost or (most is not None and force > most and one.holder.kind != "junction") else ()
        torque = float(np.linalg.norm(one.torque))
        rows.append(
            "<tr>" + _cell(one.holder.name) + _cell(one.holder.kind, "l") + _cell(one.holder.cable, "l")
            + _cell(f"{1e3 * one.at:.0f}") + _cell(_size(force), *bad)
            + "".join(_cell(_short(float(x))) for x in one.force) + _cell(f"{1e3 * torque:.0f}") + "</tr>"
        )  # fmt: skip
    head = _head("holder", "<kind", "<cable", "at, mm", "force, N", "x", "y", "z", "torque, N·mm")
    kinds = "; ".join(f"{kind}: {words}" for kind, words in KINDS.items())
    return (
        f"<table>{head}{''.join(rows)}</table>"
        '<p class="small">Force and torque of the cable on the holder, in the axes of the tables. '
        f"{html.escape(kinds)}.</p>"
    )


def _sweep(sweep: Sequence[tuple[float, Rest]], most: float | None) -> str:
    if not sweep:
        return ""
    margins = [min(one.radius[one.sharpest] / one.cable.bend_radius for one in rest.cables) for _, rest in sweep]
    rows = []
    for (slack, rest), margin in zip(sweep, margins, strict=True):
        cells = [_cell(f"{1e3 * slack:g}")]
        for one in rest.cables:
            bad = ("bad",) if one.radius[one.sharpest] < one.cable.bend_radius else ()
            cells.append(_cell(f"{1e3 * one.radius[one.sharpest]:.0f}", *bad))
        force = max((float(np.linalg.norm(one.force)) for one in rest.held), default=0.0)
        cells.append(_cell(_size(force)))
        cells.append(_cell("fits" if not rest.problems(most) else "no", *(("bad",) if rest.problems(most) else ())))
        best = ' class="best"' if margin == max(margins) else ""
        rows.append(f"<tr{best}>{''.join(cells)}</tr>")
    names = [f"{one.cable.name}: bend radius, mm" for one in sweep[0][1].cables]
    head = _head("slack, mm", *names, "largest force, N", "verdict")
    return f"<h2>How long to cut them</h2><table>{head}{''.join(rows)}</table>"


def table_of(rest: Rest) -> str:
    """The cables at rest as CSV."""
    out = io.StringIO()
    writer: Any = csv.writer(out, lineterminator="\n")
    writer.writerow(("cable", "s_m", "x_m", "y_m", "z_m", "bend_radius_m", "tension_N"))
    for one in rest.cables:
        for s, place, radius, pull in zip(one.s, one.line, one.radius, one.tension, strict=True):
            writer.writerow(
                (one.cable.name, f"{s:.6f}", *(f"{x:.6f}" for x in place), f"{min(radius, 1e6):.6g}", f"{pull:.6g}")
            )
    return out.getvalue()
