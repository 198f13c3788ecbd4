"""Histograms against the numbers themselves; the memory that two processes share."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sennit import InputError
from sennit.haptics.board import NOW, Board, Sheet
from sennit.haptics.statistics import Histogram, Statistics


def test_quantiles_are_those_of_the_numbers_to_the_width_of_a_bin() -> None:
    rng = np.random.default_rng(5)
    times = np.exp(rng.normal(math.log(2e-4), 1.0, 5000))
    histogram = Histogram()
    for value in times.tolist():
        histogram.add(value)
    for part in (0.01, 0.5, 0.99, 1.0):
        exact = np.quantile(times, part, method="inverted_cdf")
        assert exact <= histogram.quantile(part) * (1 + 1e-12) and histogram.quantile(part) <= exact * 2 ** (1 / 16)


def test_a_histogram_stays_as_large_as_it_is() -> None:
    histogram = Histogram()
    size = histogram.counts.nbytes
    for value in (0.0, 1e-9, 1.0, 1e6):
        histogram.add(value)
    assert histogram.counts.sum() == 4 and histogram.counts.nbytes == size
    assert histogram.quantile(0.5) == 0.0  # below what it resolves
    assert math.isnan(Histogram().quantile(0.5))


def test_late_ticks_are_those_that_overran_and_those_that_never_were() -> None:
    some = Statistics(990, 5, 10, 1e-6, 1e-5, 2e-3, 1e-4, 2e-4, 3e-3, 1, 0, False, True)
    assert some.late == 15 and some.late_part == pytest.approx(0.015)
    assert "15 late (1.5 %)" in str(some) and "device was lost" in str(some)


def test_a_sheet_that_is_being_written_is_not_taken_for_whole() -> None:
    block = np.zeros(1 + sum(NOW.values()))
    sheet = Sheet(block, NOW)
    assert not sheet.written
    sheet.write(np.arange(len(block) - 1.0))
    assert sheet.written
    np.testing.assert_array_equal(sheet.read(), np.arange(len(block) - 1.0))
    # another writer is in the middle: its sequence number is odd, and even again on the third look
    looks = []

    class Sequence(np.ndarray):  # type: ignore[type-arg]
        def __getitem__(self, key):  # type: ignore[no-untyped-def]
            looks.append(key)
            if len(looks) == 3:
                block[1:] = 7.0
            return 3 if len(looks) < 3 else 4

    sheet._sequence = np.zeros(1, np.int64).view(Sequence)
    np.testing.assert_array_equal(sheet.read(), np.full(len(block) - 1, 7.0))


def test_both_sides_see_the_same_board(tmp_path: Path) -> None:
    here = Board(tmp_path / "board", make=True)
    there = Board(tmp_path / "board")
    here.counts[0] = 12
    here.lateness.add(1e-3)
    there.mouse.write(np.arange(8.0))
    assert there.statistics.ticks == 12 and there.statistics.p50 == pytest.approx(1e-3, rel=0.045)
    np.testing.assert_array_equal(here.mouse.read(), np.arange(8.0))
    with pytest.raises(FileExistsError):
        Board(tmp_path / "board", make=True)
    (tmp_path / "other").write_bytes(b"short")
    with pytest.raises(InputError, match="not a board"):
        Board(tmp_path / "other")
