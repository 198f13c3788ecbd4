"""Sliders, switches, buttons and plots that a scene declares."""

from __future__ import annotations

from typing import Any

import pytest

import sennit as sn


def test_three_kinds_in_one_line_each() -> None:
    scene = sn.Scene()
    got: list[Any] = []
    slider = scene.control("speed", got.append, 0.5, range=(0, 2), unit="m/s")
    switch = scene.control("brake", got.append, False)
    button = scene.control("shoot", lambda: got.append("shot"))
    assert [c.kind for c in scene.controls] == ["slider", "switch", "button"]
    assert scene.controls == (slider, switch, button)
    assert got == []  # nothing acts before it is changed
    slider.use(2)
    switch.use(True)
    button.use()
    assert got == [2.0, True, "shot"]
    assert (slider.value, switch.value, button.value) == (2.0, True, None)
    assert (slider.start, slider.range, slider.unit) == (0.5, (0.0, 2.0), "m/s")


def test_a_slider_without_a_value_starts_at_its_least() -> None:
    assert sn.Scene().control("speed", print, range=(-1, 1)).value == -1.0


@pytest.mark.parametrize("value", [3, -1, float("nan"), "1", None, True])
def test_a_value_that_does_not_fit_changes_nothing(value: object) -> None:
    got: list[Any] = []
    slider = sn.Scene().control("speed", got.append, 0.5, range=(0, 2))
    with pytest.raises(sn.InputError, match="speed"):
        slider.use(value)
    assert got == [] and slider.value == 0.5


def test_an_act_that_raises_keeps_the_old_value() -> None:
    def refuse(value: float) -> None:
        raise sn.InputError("too fast")

    slider = sn.Scene().control("speed", refuse, 0.5, range=(0, 2))
    with pytest.raises(sn.InputError, match="too fast"):
        slider.use(1.0)
    assert slider.value == 0.5


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("", print), {}),
        (("x" * 80, print), {}),
        (("a\nb", print), {}),
        ((3, print), {}),
        (("speed", 3), {}),
        (("speed", print, 0.5), {}),
        (("speed", print, "on"), {}),
        (("speed", print, 5.0), {"range": (0, 1)}),
        (("speed", print), {"range": (1, 1)}),
        (("speed", print), {"range": (0, float("inf"))}),
        (("speed", print), {"range": 3}),
        (("speed", print, 0.5), {"range": (0, 1), "unit": 5}),
        (("taken", print), {}),
    ],
)
def test_bad_declarations_are_refused(arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    scene = sn.Scene()
    scene.control("taken", print)
    with pytest.raises(sn.InputError):
        scene.control(*arguments, **options)
    assert len(scene.controls) == 1


def test_watches() -> None:
    scene = sn.Scene()
    watch = scene.watch("energy", lambda: scene.energy.total, unit="J")
    assert scene.watches == (watch,) and watch.unit == "J"
    assert watch.read() == 0.0
    for arguments in (("energy", lambda: 1.0), ("x", 3.0), ("", lambda: 1.0)):
        with pytest.raises(sn.InputError):
            scene.watch(*arguments)  # type: ignore[arg-type]
    assert len(scene.watches) == 1
