"""Compiled functions of rows and loads; each row's equation stands in rows.py."""
