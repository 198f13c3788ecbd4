"""The page in the browser: `view` opens it; it is served by a process of its own, so that it never disturbs a step.

Names are loaded when they are first used: the page's process needs no simulation, and starts faster without one.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__all__ = ["View", "view"]

if TYPE_CHECKING:
    from sennit.view.session import View, view


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sennit.view' has no attribute {name!r}")
    value = getattr(importlib.import_module("sennit.view.session"), name)
    globals()[name] = value
    return value


class _View(types.ModuleType):
    """``sennit.view`` is this package and the function `view`, whichever was imported first."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.view(*args, **options)


sys.modules[__name__].__class__ = _View
