"""Scenes as text (TOML), and tables (CSV) beside them: read without trust, written as a person would."""
