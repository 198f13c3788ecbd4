"""Every public function and attribute, with every argument spoilt in turn: `InputError`, and nothing has changed.

`calls` holds a valid call of each, `poisons` what the arguments are replaced by, `trial` what may come of it. By
default each argument meets every twelfth poison, which ones its name says; `--thorough 12` tries them all (but for
`SLOW`).
"""

from __future__ import annotations

import functools
import inspect
import signal
import sys
import zlib

import pytest
import records
from fuzz.calls import CALLS, MADE_BY_THE_PACKAGE, SETTING_ALSO, SETTINGS, Call, Kit, Of
from fuzz.poisons import POISONS
from fuzz.trial import spoil

import sennit as sn

STRIDE = max(1, 12 // records.thorough())
SLOW = ("view", "Strand.equilibria")
"""Each trial starts a process or searches long: these meet few poisons."""
INFINITE = {
    "stretch_stiffness",
    "twist_stiffness",
    "compliance",
    "angular_compliance",
    "value",
    "max_torque",
    "max_force",
}
"""Arguments that take infinity: only the damper acts; a motor without a bound."""
WITHOUT_CHECKS = {"DeviceState": "a device makes one each millisecond; the loop checks what it reads"}
SECONDS = 30
"""A trial that takes longer hangs."""


def setting(name: str) -> Call:
    owner, value = SETTINGS[name]
    attribute = name.split(".")[1]

    def made(kit: Kit):
        def assign(value) -> None:
            setattr(getattr(kit, owner), attribute, value)

        return assign, {"value": value.read(kit) if isinstance(value, Of) else value}

    return Call(made, {"value": SETTING_ALSO.get(name, set())})


TRIALS = CALLS | {f"{name} =": setting(name) for name in SETTINGS}


@pytest.fixture(autouse=True)
def in_time():
    def too_long(*_):
        raise TimeoutError(f"a call took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_long)
    yield
    signal.alarm(0)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    signal.signal(signal.SIGALRM, before)


def poisons_for(name: str, argument: str):
    stride = 24 if name in SLOW else STRIDE
    return POISONS[zlib.crc32(f"{name}.{argument}".encode()) % stride :: stride]


@pytest.mark.parametrize("name", [name for name in TRIALS if name not in WITHOUT_CHECKS])
def test_spoilt_arguments(name: str, tried) -> None:
    call = TRIALS[name]
    kit = Kit()
    function, given = call.made(kit)
    signal.alarm(SECONDS)
    result = function(**given)  # as it stands it is valid
    if isinstance(result, sn.View):
        result.close()
    wrong = []
    kit = Kit()
    for argument in given:
        if argument in call.skip:
            continue
        for poison in poisons_for(name, argument):
            if poison.name == "inf" and argument in INFINITE:
                continue
            function, given = call.made(kit)
            signal.alarm(SECONDS)
            problem = spoil(kit, call, function, given, argument, poison)
            tried.count("public functions and attributes with one argument spoilt")
            if problem:
                wrong.append(f"{argument} = {poison.name}: {problem}")
            if "plot" in name:
                sys.modules["matplotlib.pyplot"].close("all")
            if problem or kit.spent:
                kit = Kit()
    signal.alarm(0)
    assert not wrong, "\n".join([name, *wrong])


@pytest.mark.parametrize("name", CALLS)
def test_unknown_and_missing_arguments_are_type_errors(name: str) -> None:
    function, given = CALLS[name].made(Kit())
    if name != "Strand.equilibria":  # passes its arguments on
        with pytest.raises(TypeError):
            function(**given, no_such_argument=1)
    try:
        needed = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    except ValueError:
        return
    for argument in needed:
        if argument in given:
            with pytest.raises(TypeError):
                function(**{key: value for key, value in given.items() if key != argument})


def public_members() -> set[str]:
    """Names of everything in `sennit.__all__` that takes arguments, and of attributes that can be set."""
    found = set()
    for name in sn.__all__:
        thing = getattr(sn, name)
        if not inspect.isclass(thing):
            found.add(name)
            continue
        if name not in MADE_BY_THE_PACKAGE | {"Zone", "Rod", "RigidBody", "Section"}:  # those have makers
            found.add(name)
        for key, member in inspect.getmembers_static(thing):
            if key.startswith("_") or issubclass(thing, BaseException):
                continue
            if isinstance(member, property):
                if member.fset is not None:
                    found.add(f"{name}.{key} =")
            elif (
                inspect.isroutine(member)
                and not isinstance(member, functools.cached_property)
                and len(inspect.signature(getattr(thing, key)).parameters)
                > (0 if isinstance(member, classmethod | staticmethod) else 1)
            ):
                found.add(f"{name}.{key}")
    return found


# What devices are told by the loop, and how they get into its process, is not called by users.
BY_THE_LOOP = {"set_wrench", "take_record", "connect"}
RUNNING_LOOP = {"HapticLoop.view", "HapticLoop.wait", "HapticLoop.pose"}
"""Tested where loops run, in tests/unit/haptics."""
AFTER_A_STITCH = {"Needle.tie"}
"""Tested where a thread is in tissue, in tests/unit/scene/test_needle.py."""


def test_every_public_name_is_in_the_table() -> None:
    tried = {name.split(",")[0] for name in TRIALS}
    owners = {name: getattr(sn, name) for name in sn.__all__}

    def covered(member: str) -> bool:
        """By itself, or as the same function of a class that it comes from or goes to."""
        if member in tried or member in RUNNING_LOOP | AFTER_A_STITCH:
            return True
        owner, _, key = member.partition(".")
        if key.removesuffix(" =") in BY_THE_LOOP:
            return True
        if not key:
            return False
        same = inspect.getattr_static(owners[owner], key.removesuffix(" ="))
        for other in owners:
            if f"{other}.{key}" in tried and inspect.isclass(owners[other]):
                found = inspect.getattr_static(owners[other], key.removesuffix(" ="), None)
                if found is same or issubclass(owners[owner], owners[other]):
                    return True
        return False

    missing = sorted(member for member in public_members() if not covered(member))
    assert not missing, f"no call in tests/fuzz/calls.py: {missing}"
