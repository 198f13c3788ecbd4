"""Sparse symmetric indefinite systems: order of elimination, factorisation, rows added for one solve."""

from __future__ import annotations

from sennit.linalg.factorisation import Factorisation

__all__ = ["Factorisation"]
