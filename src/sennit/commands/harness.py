"""``sennit harness``: cables laid through clips, from tables, without a program."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sennit.errors import InputError

if TYPE_CHECKING:
    from sennit.harness.plan import Plan
    from sennit.harness.rest import Rest

__all__ = ["DESCRIPTION", "add_options", "run"]

DESCRIPTION = (
    "Lays cables along routes through connectors, clips, eyes and ties, finds where they come to rest, and writes a "
    "report: bend radius and tension along each cable, the force on each clip. ROUTE has the columns x_m,y_m,z_m and, "
    "for several cables, cable; CLIPS has name,kind,x_m,y_m,z_m and, where they count, dx,dy,dz and cable. Exit "
    "status: 0 if it fits, 3 if it does not, 2 if a table or an option is wrong."
)
DOES_NOT_FIT = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit harness``."""
    from sennit.demos import add_page_arguments, positive

    parser.add_argument("route", metavar="ROUTE", type=Path, help="table of the routes (.csv)")
    parser.add_argument("clips", metavar="CLIPS", type=Path, help="table of what holds the cables (.csv)")
    parser.add_argument(
        "--cables", metavar="FILE", type=Path,
        help="table of cables: cable,EI,kg_per_m,diameter_mm,bend_radius_mm,slack_mm,branch_of; all but the first may "
        "be left out, and are then as the options say",
    )  # fmt: skip
    parser.add_argument("--EI", metavar="N_M2", type=positive, help="bending stiffness of a cable, measured, N·m²")
    parser.add_argument("--kg-per-m", metavar="KG", type=positive, help="its mass, kg/m")
    parser.add_argument("--diameter-mm", metavar="MM", type=positive, default=8.0, help="default: %(default)s")
    parser.add_argument("--bend-radius-mm", metavar="MM", type=positive, help="the smallest that is allowed")
    parser.add_argument(
        "--slack-mm", metavar="MM", type=_not_negative, default=0.0, help="cut longer than the route by it"
    )
    parser.add_argument(
        "--sweep-mm", metavar="MM,MM,...", type=_lengths, default=[], help="slacks to compare in the report"
    )
    parser.add_argument("--max-force", metavar="N", type=positive, help="the largest force of a clip that is allowed")
    parser.add_argument(
        "--points", metavar="N", type=int, help="control points of a cable (default: by the bend radius)"
    )
    parser.add_argument(
        "--report", metavar="FILE", type=Path, default=Path("harness.html"), help="default: %(default)s"
    )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="places, bend radius and tension along the cables")
    parser.add_argument(
        "--model", metavar="FILE", action="append", default=[],
        help="the cables at rest as .glb, .stl, .step, ...; may be given several times",
    )  # fmt: skip
    parser.add_argument("--scene", metavar="FILE", type=Path, help="the harness as a scene file (.toml)")
    parser.add_argument(
        "--page", action="store_true", help="open it on a page: clips can be dragged, slack is a slider"
    )
    add_page_arguments(parser)


def _not_negative(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a length")
    return value


def _lengths(text: str) -> list[float]:
    return [_not_negative(part) for part in text.split(",")]


def run(arguments: argparse.Namespace) -> int:
    """Lay the harness, bring it to rest, write what was asked for, and tell whether it fits."""
    outputs = _checked_outputs(arguments)
    from sennit.harness.plan import read_plan

    numbers = {
        "EI": arguments.EI, "kg_per_m": arguments.kg_per_m, "diameter_mm": arguments.diameter_mm,
        "bend_radius_mm": arguments.bend_radius_mm, "slack_mm": arguments.slack_mm,
    }  # fmt: skip
    plan = read_plan(arguments.route, arguments.clips, arguments.cables, numbers)
    points = arguments.points
    if points is not None and not 8 <= points <= 2000:
        raise InputError(f"--points must be from 8 to 2000, got {points}")
    if arguments.page:
        return _open(plan, points, arguments)
    from sennit.harness.report import page_of, table_of
    from sennit.harness.rest import bring_to_rest, build

    made = build(plan, points=points)
    if arguments.scene is not None:
        made.scene.write(arguments.scene)
    rest = bring_to_rest(made)
    sweep = [(1e-3 * mm, bring_to_rest(build(plan.with_slack(1e-3 * mm), points=points))) for mm in arguments.sweep_mm]
    title = f"Harness {arguments.route.stem}"
    _write(arguments.report, page_of(rest, title, _facts(plan, arguments), arguments.max_force, sweep))
    if arguments.csv is not None:
        _write(arguments.csv, table_of(rest))
    for path in arguments.model:
        _record(made.scene, path)
    problems = rest.problems(arguments.max_force)
    print(f"{'DOES NOT FIT' if problems else 'Fits'}: {_line(rest)}")
    for problem in problems:
        print(f"  {problem}")
    print("Wrote " + ", ".join(map(str, outputs)) + ".")
    return DOES_NOT_FIT if problems else 0


def _checked_outputs(arguments: argparse.Namespace) -> list[Path]:
    """The files that will be written; raises `InputError` for those that can't be, before anything is computed."""
    if arguments.page:
        return []
    from sennit.export.record import check_target

    found: list[Path] = []
    inputs = [arguments.route, arguments.clips, arguments.cables]
    for option, path, suffix in (
        ("--report", arguments.report, ".html"),
        ("--csv", arguments.csv, ".csv"),
        ("--scene", arguments.scene, ".toml"),
    ):  # fmt: skip
        if path is None:
            continue
        if path.suffix.lower() != suffix:
            raise InputError(f"{option} must end in {suffix}, got {str(path)!r}")
        if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise InputError(f"{option}: {str(path)!r} can't be written: choose a file in a folder that exists")
        found.append(path)
    for model in arguments.model:
        check_target(model)
        found.append(Path(model))
    resolved = [path.resolve() for path in found]
    for path, other in zip(found, resolved, strict=True):
        if resolved.count(other) > 1:
            raise InputError(f"{str(path)!r} would be written twice: choose two names")
        if any(one is not None and one.resolve() == other for one in inputs):
            raise InputError(f"{str(path)!r} is one of the tables that are read: choose another name")
    return found


def _write(path: Path, text: str) -> None:
    from sennit.export.files import replacing

    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def _record(scene: Any, path: str) -> None:
    from sennit.export.record import record

    record(scene, 0.0, path, progress=False)


def _line(rest: Rest) -> str:
    from sennit.harness.rest import newtons

    words = [f"{one.cable.name} {1e3 * one.radius[one.sharpest]:.0f} mm" for one in rest.cables]
    force = max((float((one.force**2).sum() ** 0.5) for one in rest.held), default=0.0)
    return f"smallest bend radius of {', '.join(words)}; largest force of a holder {newtons(force)}"


def _facts(plan: Plan, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    facts = [("routes", str(arguments.route)), ("holders", str(arguments.clips))]
    for one in plan.cables:
        trunk = f", branches off {one.trunk}" if one.trunk is not None else ""
        facts.append(
            (
                one.name,
                f"EI {one.EI:g} N·m², {one.kg_per_m:g} kg/m, diameter {1e3 * one.diameter:g} mm, bend radius at least "
                f"{1e3 * one.bend_radius:g} mm, slack {1e3 * one.slack:g} mm{trunk}",
            )
        )
    return facts


def _open(plan: Plan, points: int | None, arguments: argparse.Namespace) -> int:
    from sennit.harness.page import Bench
    from sennit.view import view

    bench = Bench(plan, points)
    view(
        bench.scene, port=arguments.port, host=arguments.host, browser=False if arguments.no_browser else None,
        block=True, title=f"Harness {arguments.route.stem}",
    )  # fmt: skip
    return 0
