"""The general method, for loads that have no potential."""
