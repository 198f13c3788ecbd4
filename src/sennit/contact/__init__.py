"""Contact: what touches what, where, and with which forces."""
