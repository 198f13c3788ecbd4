"""sennit: interactive simulation of thin elastic solids and of what they hold.

SI units, float64; arrays of vectors are (n, 3), quaternions scalar first. Names are loaded when they are first used, so
that ``import sennit`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "InputError": "sennit.errors",
    "Law": "sennit.cosserat.law.laws",
    "Material": "sennit.material",
    "PointLoad": "sennit.cosserat.loads",
    "Pose": "sennit.geometry.pose",
    "Section": "sennit.material",
    "SolveError": "sennit.errors",
    "SolveReport": "sennit.errors",
    "Strand": "sennit.bodies.strand",
    "StrandEnergy": "sennit.bodies.strand_state",
    "StrandState": "sennit.bodies.strand_state",
    "VirtualCoupling": "sennit.coupling",
    "rubber_cord": "sennit.cosserat.law.rubber",
}

__all__ = [
    "InputError", "Law", "Material", "PointLoad", "Pose", "Section", "SolveError", "SolveReport", "Strand",
    "StrandEnergy", "StrandState", "VirtualCoupling", "rubber_cord",
]  # fmt: skip

if TYPE_CHECKING:
    from sennit.bodies.strand import Strand
    from sennit.bodies.strand_state import StrandEnergy, StrandState
    from sennit.cosserat.law.laws import Law
    from sennit.cosserat.law.rubber import rubber_cord
    from sennit.cosserat.loads import PointLoad
    from sennit.coupling import VirtualCoupling
    from sennit.errors import InputError, SolveError, SolveReport
    from sennit.geometry.pose import Pose
    from sennit.material import Material, Section


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sennit' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
