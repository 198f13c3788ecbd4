"""One spoilt call: what may come of it, and what must not."""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any

import numpy as np
from fuzz.calls import Call, Kit
from fuzz.poisons import Poison
from unit.scene import kit as scenes

import sennit as sn

REFUSALS = (sn.InputError,)
FAILURES = (sn.InputError, sn.SolveError)


def kind_of(value: Any) -> str:
    """What a valid value is, in the words of `Poison.kind`."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "flag"
    if isinstance(value, int | float | np.number):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, tuple | list | np.ndarray):
        return "array"
    if inspect.isroutine(value) or isinstance(value, type):
        return "function"
    return "thing"


def allowed_kinds(call: Call, function: Any, name: str, value: Any) -> set[str]:
    """Kinds of poison that may be accepted for an argument."""
    kinds = {kind_of(value)} | call.also.get(name, set())
    try:
        default = inspect.signature(function).parameters[name].default
    except (KeyError, ValueError, TypeError):
        default = None
    if "array" in kinds or (kind_of(value) == "thing" and isinstance(value, dict)):
        kinds.add("empty")  # shapes are the function's to judge
    return kinds | ({"none"} if default is None else set())


def spoil(kit: Kit, call: Call, function: Any, given: dict[str, Any], name: str, poison: Poison) -> str | None:
    """Call `function` with one argument poisoned; what is wrong with the answer, or None.

    A call that raises has changed nothing; one that is accepted leaves a scene that can be stepped.
    """
    before = fingerprint(kit)
    arguments = given | {name: poison.make()}
    allowed = allowed_kinds(call, function, name, given[name])
    try:
        result = function(**arguments)
    except sn.InputError as error:
        text = str(error)
        if len(text) > 2000 or "\n" in text or not text:
            return f"the message has {len(text)} characters: {text[:100]!r}"
        return None if fingerprint(kit) == before else "it raised InputError and changed the scene"
    except sn.SolveError:
        return None if call.solves else "SolveError"
    except ZeroDivisionError as error:
        # A user's function failed: that error is theirs, and comes out as it is.
        if poison.name == "raises" and "a function of the user's" in str(error):
            return None if fingerprint(kit) == before else "a function raised, and the scene changed"
        return f"{type(error).__name__}: {error}"
    except TypeError as error:
        # So is that of a function that takes other arguments than it is called with.
        if poison.kind == "function" and "function" in allowed and "argument" in str(error):
            return None if fingerprint(kit) == before else "a function raised, and the scene changed"
        return f"{type(error).__name__}: {str(error)[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    if poison.kind not in allowed:
        return f"accepted: {type(result)!s}"
    return aftermath(kit, result, before)


def aftermath(kit: Kit, result: Any, before: list[Any]) -> str | None:
    """Use what was accepted: NaN nowhere, and only our own errors."""
    try:
        if isinstance(result, sn.View):
            result.close()
            return None
        if isinstance(result, sn.Rod | sn.RigidBody | sn.Slider | sn.Load | sn.Cable) or hasattr(result, "multipliers"):
            if result is not kit.scene and not isinstance(result, sn.Scene) and result._scene is None:
                kit.scene.add(result)
        for wrong in strange_numbers(result):
            return f"accepted, and {wrong} is not a number"
        kit.spent = fingerprint(kit) != before
        if kit.spent:
            kit.scene.step(1e-3)
    except FAILURES:
        pass
    except ZeroDivisionError as error:
        if "a function of the user's" not in str(error):
            raise
    except Exception as error:
        return f"accepted, then {type(error).__name__}: {str(error)[:200]}"
    if not finite(kit.scene):
        return "accepted, then the scene holds numbers that are not finite"
    return None


def finite(scene: sn.Scene) -> bool:
    """Whether places, velocities and time are finite."""
    values = [np.array(scene.time)]
    for body in scene.bodies:
        values += list(body._state_arrays().values())
    return all(np.isfinite(array).all() for array in values)


def strange_numbers(result: Any) -> list[str]:
    """Names of the result's public numbers that are NaN."""
    if isinstance(result, float | np.ndarray | tuple):
        entries = {"the result": result}
    elif type(result).__module__.startswith("sennit") and not isinstance(result, sn.Scene | sn.HapticLoop):
        entries = {}
        for key in dir(type(result)):
            attribute = inspect.getattr_static(type(result), key)
            if not key.startswith("_") and isinstance(attribute, property | functools.cached_property):
                try:
                    entries[key] = getattr(result, key)
                except FAILURES:
                    continue
    else:
        return []
    return [key for key, value in entries.items() if _holds_nan(value)]


def _holds_nan(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return bool(np.isnan(value).any())
    return isinstance(value, tuple) and any(_holds_nan(entry) for entry in value)


def fingerprint(kit: Kit) -> list[Any]:
    """Every bit of the scene, and what is declared in it."""
    scene = kit.scene
    declared = [[c.name, c.value] for c in scene.controls], [thing.name for thing in (*scene.watches, *scene.decor)]
    settings = [scene.gravity.tolist(), scene.drag, scene.integrator, len(scene.bodies), len(scene.constraints)]
    rules = [scene._rules.default, [(id(r.first), id(r.second), r.law, r.itself) for r in scene._rules.rules]]
    return [scenes.bits(scene), declared, settings, rules]
