"""Rows that come and go without a new analysis: their Schur complement."""
