"""How far a constraint gives way, as users give it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sennit import validation
from sennit.attributes import unchanging

__all__ = ["Softness", "compliance_of"]


@unchanging
@dataclass(frozen=True)
class Softness:
    """How far a constraint gives way: compliances m/N and rad/(N·m), dampings N·s/m and N·m·s."""

    compliance: float = 0.0
    damping: float = 0.0
    angular_compliance: float = 0.0
    angular_damping: float = 0.0

    @classmethod
    def checked(
        cls, compliance: object, damping: object, angular_compliance: object, angular_damping: object
    ) -> Softness:
        """What users gave, checked."""
        return cls(
            compliance_of("compliance", compliance),
            validation.number("damping", damping, minimum=0.0),
            compliance_of("angular_compliance", angular_compliance),
            validation.number("angular_damping", angular_damping, minimum=0.0),
        )


def compliance_of(name: str, value: object) -> float:
    """A compliance may be infinite: then only the damper acts."""
    if validation.infinite(value):
        return math.inf
    return validation.number(name, value, minimum=0.0)
