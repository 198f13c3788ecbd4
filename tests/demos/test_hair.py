"""The demonstration of hair, beyond what holds for all of them."""

from __future__ import annotations

import pytest

from sennit import cli
from sennit.demos import hair as demo
from sennit.hair.kernels.strand import FRAME, PULL


def test_its_check_holds_for_as_many_strands_as_a_film_has(capsys):
    assert cli.main(["demo", "hair", "--headless", "--strands", "3000", "--seconds", "0.5"]) == 0
    assert "of 3,000 strands" in capsys.readouterr().out


@pytest.mark.parametrize(("strands", "strain"), [(3, 0.06), (1, 0.25)])
def test_its_check_sees_strands_that_are_stretched(strands, strain):
    hair = demo.build(400)
    found = demo.Findings(hair)
    found.look()
    assert not found.wrong()
    tables, state = hair._rod.tables, hair._runner.read(0, hair._runner.size)
    tensions = 8 * tables.n + FRAME * len(tables.bends)
    state[:strands, tensions + 1 : tensions + PULL * len(tables.stretches) : PULL] = strain
    hair._runner.write(slice(None), state)
    found.look()
    assert any("stretched" in text for text in found.wrong())
