"""Files of format 1: arrays with numbered columns, which nothing else knows, made into the fields of format 2.

`COLUMNS` is the table of them: for each array its columns, in order, as fields of a table. Several kinds of points and
rows shared columns then: what a number meant depended on the kind.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.rod.rod import MODELS
from sennit.bodies.rod.table import Masses, StretchStates
from sennit.constraints.cable.table import CableRows, Cables, Elements, Obstacles
from sennit.constraints.kernels.rows import ANGLE
from sennit.constraints.row import Rows
from sennit.storage.file import checked
from sennit.tables import Table

__all__ = ["upgraded"]

Arrays = dict[str, NDArray[Any]]

ROW_INTS = ("kind", "first", "second", "owner", "enabled", "rate", "dual", "slider")
ROW_FLOATS = (
    "axis", "other", "target", "relative", "compliance", "damping", "lower", "upper", "friction", "restitution",
    "speed", "sign", "spare",
)  # fmt: skip
ROW_STATE = ("multiplier", "value", "angle", "side", "value_last")
ROD_CONSTANTS = (
    "stretch_stiffness", "bend_stiffness1", "bend_stiffness2", "twist_stiffness", "relaxation", "radius", "length",
    "mass_per_length",
)  # fmt: skip
BENDS = {"weight": 0, "speed": 1, "basis": slice(2, 6), "slope_basis": slice(6, 10), "bend_basis": slice(10, 14),
         "rest": slice(14, 17)}  # fmt: skip
BEND_STATE = {"tangent": slice(0, 3), "reference": slice(3, 6), "bending": slice(6, 9), "twist": 9,
              "strain": slice(10, 13)}  # fmt: skip
STRETCHES = {"weight": 0, "speed": 1, "slope_basis": slice(2, 6)}
STRETCH_STATE = {"tension": 0, "strain": 1}
MASSES = {"mass": slice(0, 4), "roll": slice(4, 8), "total": 8}
POINT_FLOATS = {"basis": slice(0, 4), "slope_basis": slice(4, 8), "roll_basis": slice(8, 12),
                "bend_basis": slice(12, 16), "scale": 16, "felt": 17, "local": slice(0, 3), "anchor": slice(0, 3),
                "anchor_frame": slice(3, 12)}  # fmt: skip
POINT_STATE = {"tangent": slice(0, 3), "reference": slice(3, 6), "anchor_last": slice(0, 3),
               "anchor_frame_last": slice(3, 12)}  # fmt: skip
CABLES: dict[str, tuple[str, type[Table], tuple[str, ...]]] = {
    "cable_ints": ("cables", Cables, (
        "first", "count", "room", "row", "parts", "twist_row", "first_obstacle", "obstacles",
    )),
    "cable_floats": ("cables", Cables, (
        "stretch_stiffness", "twist_stiffness", "stretch_time", "twist_time", "winch_speed", "slip", "max_pull",
        "breaking_load", "longest", "shortest", "backward", "acts",
    )),
    "ends": ("cables", Cables, ("first_direction", "first_director", "last_direction", "last_director")),
    "cable_state": ("cables", Cables, (
        "twist", "twist_angle", "asked", "broken", "happened", "peak", "measured_along", "limit", "adrift", "at_end",
    )),
    "element_ints": ("elements", Elements, ("kind", "carrier", "obstacle", "edge", "divides", "rotor")),
    "element_floats": ("elements", Elements, (
        "centre", "axis", "mark", "normal", "radius", "sense", "inertia", "friction", "half_length",
    )),
    "element_state": ("elements", Elements, (
        "on", "wrap_before", "wrap_after", "u", "spin", "angle", "feed", "grip", "start_mark",
    )),
    "element_place": ("elements", Elements, (
        "arrive", "leave", "along", "span", "arc", "wrench", "centre_now", "axis_now", "following", "point_now",
    )),
    "obstacle_ints": ("obstacles", Obstacles, ("point", "shape")),
    "obstacle_floats": ("obstacles", Obstacles, ("size",)),
    "row_ints": ("rows", CableRows, ("cable", "part_number", "first", "last")),
    "row_state": ("rows", CableRows, (
        "tension", "side", "rest", "value", "value_last", "rest_rate", "world_rate", "trial", "free", "past",
        "softness", "wanted", "left_over", "world_move", "found", "kept", "way", "joined_rows",
    )),
    # of the state alone: some columns of the others
    "count": ("cables", Cables, ("count",)),
    "kinds": ("elements", Elements, ("kind",)),
    "marks": ("elements", Elements, ("obstacle", "edge", "divides", "rotor")),
}  # fmt: skip
_WHOLE = 2.0**53


def upgraded(description: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """A file of format 1 as one of format 2."""
    made: Arrays = {"description": arrays["description"]}
    for i, entry in enumerate(description["bodies"]):
        given = _under(arrays, f"body/{i}/")
        _put(made, f"body/{i}/", _rod(entry, given) if entry["kind"] == "Rod" else given)
    for i, entry in enumerate(description["constraints"]):
        given = _under(arrays, f"constraint/{i}/")
        if entry["kind"] == "Cable":
            entry["twists"] = bool(checked("cable_ints", given["cable_ints"], (1, 8), "i")[0, 5] >= 0)
            _put(made, f"constraint/{i}/", _cable(given))
            continue
        _put(made, f"constraint/{i}/", _rows(given) | {k: v for k, v in given.items() if k.startswith("_")})
        if "slider" in entry:
            entry["_slider"] = entry["slider"]
    rows_of = {
        len(description["bodies"]) + i: _under(made, f"constraint/{i}/") for i in range(len(description["constraints"]))
    }
    for number in {key.split("/")[1] for key in arrays if key.startswith("state/")}:
        prefix = f"state/{number}/"
        _put(made, prefix, _state(_under(arrays, prefix), rows_of.get(int(number), {})))
    return description, made


def _under(arrays: Arrays, prefix: str) -> Arrays:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def _put(made: Arrays, prefix: str, given: Arrays) -> None:
    made.update({f"{prefix}{name}": np.ascontiguousarray(array) for name, array in given.items()})


def _sliced(given: Any, width: int, columns: dict[str, Any], prefix: str = "") -> Arrays:
    array = checked(prefix or "an array", given, (None, width), infinite=True)
    return {f"{prefix}{field}": array[:, column] for field, column in columns.items()}


def _named(given: NDArray[Any], table: type[Table], fields: tuple[str, ...], prefix: str = "") -> Arrays:
    """Columns that are the fields of a table, one after the other."""
    if not isinstance(given, np.ndarray) or given.ndim != 2:
        raise ValueError("an array has no columns")
    found, at = {}, 0
    for name in fields:
        field = table._fields[name]
        shape = tuple(n for n in field.shape[1:] if isinstance(n, int))
        end = at + math.prod(shape)
        part = given[:, at:end].reshape(len(given), *shape)
        if field.kind is int and part.dtype.kind == "f":
            if not ((np.abs(part) < _WHOLE) & (part == np.floor(part))).all():
                raise ValueError(f"{name} holds numbers that are not whole")
            part = part.astype(np.int64)
        found[f"{prefix}{name}"], at = part, end
    if at != given.shape[1]:
        raise ValueError("an array has other columns")
    return found


def _rod(entry: dict[str, Any], given: Arrays) -> Arrays:
    model = MODELS[entry["model"]]
    kinds = {name: field.kind for name, field in model.kind._fields.items() if not field.shape}
    if type(entry["n"]) is not int or type(entry["spans"]) is not int or type(entry["closed"]) is not bool:
        raise ValueError("a rod is of no known kind")
    rods = {"count": entry["n"], "spans": entry["spans"], "closed": int(entry["closed"])}
    constants = checked("constants", given["constants"], (8,))
    found: Arrays = {name: given[name] for name in ("rest", "knot_lengths", "bend_u", "stretch_u")}
    found |= {f"rods.{name}": np.array([value], np.int64) for name, value in rods.items()}
    found |= {f"rods.{name}": constants[k : k + 1] for k, name in enumerate(ROD_CONSTANTS)}
    groups = (
        ("bends", kinds["bends"], "bend_table", 17, BENDS), ("bend", kinds["bend"], "bend_state", 13, BEND_STATE),
        ("stretches", kinds["stretches"], "stretch_table", 6, STRETCHES),
        ("stretch", StretchStates, "stretch_state", 2, STRETCH_STATE), ("masses", Masses, "mass_table", 9, MASSES),
    )  # fmt: skip
    for name, kind, array, width, columns in groups:
        # a discrete rod has fewer fields
        found |= _sliced(given[array], width, {f: c for f, c in columns.items() if f in kind._fields}, f"{name}.")
        if "span" in kind._fields:
            found[f"{name}.span"] = given["bend_span" if name == "bends" else "stretch_span"]
    return found


def _rows(given: Arrays) -> Arrays:
    ints = checked("ints", given["ints"], (None, len(ROW_INTS)), "i")
    found = _named(ints, Rows, ROW_INTS) | _row_floats(given["floats"], ints[:, 0])
    return {f"rows.{name}": array for name, array in found.items()}


def _row_floats(floats: NDArray[Any], kind: NDArray[Any] | None) -> Arrays:
    """Fields of rows; an angle's direction stood where a rotation's quaternion did."""
    found = _named(floats, Rows, ROW_FLOATS)
    found |= {"zero": np.zeros((len(floats), 3)), "loop": np.zeros(len(floats)), "lead": np.zeros(len(floats))}
    if kind is not None:
        turns = kind == ANGLE
        found["zero"][turns] = found["relative"][turns, :3]
        found["relative"] = np.where(turns[:, None], (1.0, 0.0, 0.0, 0.0), found["relative"])
    return found


def _cable(given: Arrays) -> Arrays:
    found: Arrays = {}
    for name, array in given.items():
        group, table, fields = CABLES[name]
        found |= _named(array, table, fields, f"{group}.")
    if "rows.rest" in found:
        found["rows.paid"] = np.full(found["rows.rest"].shape, np.inf)
    return found


def _state(given: Arrays, rows: Arrays) -> Arrays:
    """The state of one thing; what it is can be told by the names of its arrays."""
    if "cable_floats" in given:
        return _cable(given)
    if "enabled" in given:
        kind = rows.get("rows.kind")
        fields = _row_floats(given["floats"], kind)
        if kind is None:  # made by the scene: beads kept the length of their loop in a direction
            fields["loop"] = fields["other"][:, 0].copy()
        return {"enabled": given["enabled"], **fields, **_named(given["state"], Rows, ROW_STATE)}
    if "ints" in given:
        ints, floats = checked("ints", given["ints"], (1, 2), "i"), checked("floats", given["floats"], (1, 6))
        return {"follows": ints[:, 0], "enabled": ints[:, 1], "force": floats[:, :3], "torque": floats[:, 3:]}
    if set(given) == {"state", "floats"}:
        return _sliced(given["floats"], 18, POINT_FLOATS) | _sliced(given["state"], 12, POINT_STATE)
    found: Arrays = {"q": given["q"], "v": given["v"], "q_last": given["last q"], "v_last": given["last v"]}
    if len(given["quat"]):
        for name in ("quat", "spin"):
            found |= {f"rigids.{name}": given[name], f"rigids.{name}_last": given[f"last {name}"]}
    if len(given["bend"]):
        found |= _sliced(given["bend"], 13, BEND_STATE, "bend.") | _sliced(
            given["stretch"], 2, STRETCH_STATE, "stretch."
        )
        found |= {"bend_last.strain": given["last bend"], "stretch_last.strain": given["last stretch"]}
    if len(given["bead"]):
        for name, last in (("", ""), ("last ", "_last")):
            bead = checked("bead", given[f"{name}bead"], (1, 7))
            found |= {f"sliders.position{last}": bead[:, :3], f"sliders.velocity{last}": bead[:, 3:6]}
        found["sliders.attached"] = checked("bead", given["bead"], (1, 7))[:, 6].astype(np.int64)
    return found
