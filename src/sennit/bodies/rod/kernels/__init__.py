"""Compiled functions that both rod models share: `kind` is a table of `Splines` or `Discretes`, `rod` a row of it."""
