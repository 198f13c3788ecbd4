"""Elastic laws."""
