"""What is read of batches on a graphics card is computed there: on a card that is pretended, beside the processor."""

from __future__ import annotations

import re

import numpy as np
import pytest
from references.pretend_card import pretended, stepped_here  # noqa: F401  a fixture

import sennit as sn
from sennit import gpu_program
from sennit.batch.card import CardArray
from sennit.batch.device import CardBatch, empty_sizes
from sennit.batch.kernels.read_each import energies_each
from sennit.batch.launch import Energies
from sennit.compilation import PLAIN
from sennit.gpu_program import Target
from sennit.solve.table import BodyEnergies

pytestmark = pytest.mark.skipif(PLAIN, reason="programs are compiled")
HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)


def bell():
    """A rope between two hands, a box on it and a pearl: scene, rope, box, pearl, and three ties."""
    scene = sn.Scene()
    rod = sn.Rod.straight((0, 0, 0.5), (1, 0, 0.5), section=sn.Section.circle(5e-3), material=HEMP, control_points=8)
    rod = scene.add(rod)
    ties = [scene.add(sn.Clamp(rod.at(0))), scene.add(sn.Fix(rod.at(rod.length)))]
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(0.4, 0, 0.45)))
    ties.append(scene.add(sn.Ball(box.at((0, 0, 0.05)), rod.at(0.4), compliance=1e-5)))
    pearl = scene.add(sn.Pearl(rod, 0.8, mass=0.02, radius=0.01))
    return scene, rod, box, pearl, ties


def check(card, own, box, ties, near) -> None:
    """Forces, moments, energies, axes and turning of both batches."""
    assert np.abs(own.forces(ties[0])).max() > 0.1, "there should be something to read"
    pairs = [(batch.forces(tie), batch.torques(tie)) for tie in ties for batch in (card, own)]
    for there, here in zip(pairs[::2], pairs[1::2], strict=True):
        for found, wanted in zip(there, here, strict=True):
            assert isinstance(found, CardArray)
            assert found.shape == (card.count, 3)
            assert np.abs(found.numpy() - wanted).max() <= near * max(1.0, np.abs(wanted).max())
    energies = card.energies()
    assert list(energies) == list(own.energies())
    for name, wanted in own.energies().items():
        assert isinstance(energies[name], CardArray)
        assert np.abs(energies[name].numpy() - wanted).max() <= near * max(1.0, np.abs(own.energies()["total"]).max())
    assert np.abs(card.frames(box).numpy() - own.frames(box)).max() <= near
    assert np.abs(card.angular_velocities(box).numpy() - own.angular_velocities(box)).max() <= 10 * near


def test_forces_energies_and_axes_are_computed_on_the_card(stepped_here) -> None:  # noqa: F811
    """To the bit those of the processor, in scenes that differ, with gravities of their own."""
    scene, rod, box, _, ties = bell()
    card, own = sn.Batch(scene, 3, device="cuda"), sn.Batch(scene, 3, threads=1)
    for batch in (card, own):
        batch.vary(rod, "youngs_modulus", [1e7, 2e7, 3e7])
        batch.set(scene, "gravity", [(0, 0, -9.81), (1, 0, -9), (0, 3, -3)])
        batch.step(5e-3, 6)
    assert own.energies()["constraints"].min() > 0
    check(card, own, box, ties, 0.0)


def test_readings_in_float32_are_those_of_float64(monkeypatch) -> None:
    """Numbers of 4 bytes: of a scene as it is handed over."""
    monkeypatch.setattr(CardBatch, "_program", lambda self: None)  # no step is made
    scene, _, box, _, ties = bell()
    scene.run(0.05, dt=5e-3)
    with pretended():
        card, own = sn.Batch(scene, 2, device="cuda", dtype="float32"), sn.Batch(scene, 2, threads=1)
        check(card, own, box, ties, 2e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_reading_becomes_ptx(dtype) -> None:
    """With no function that a card has not got."""
    scene, *_ = bell()
    scene.step(5e-3)
    root = scene._compiled().system.plan(False).scene
    try:
        gpu_program.libdevice()
    except sn.InputError as problem:
        pytest.skip(str(problem))
    target = Target("sm_90", dtype, empty_sizes(root))
    program = gpu_program.compiled(energies_each, (Energies, BodyEnergies, type(root)), target)
    text = program.code.decode()
    assert f".visible .entry {program.symbol}(" in text
    assert not re.search(r"^\.extern", text, re.MULTILINE)
