"""The table of degrees of freedom that all kinds of bodies share."""

from __future__ import annotations

from sennit.tables import STATE, Table, number

__all__ = ["Motion"]


class Motion(Table):
    """Degrees of freedom of bodies, and their rates: m and m/s; rolls in rad; a rigid body's rotation is elsewhere."""

    q = number(STATE, "degrees of freedom: m; a roll in rad; the three of a rigid body's rotation stay 0", of="dofs")
    v = number(STATE, "their rates, per second", of="dofs")
    q_last = number(STATE, "degrees of freedom of the state before", of="dofs")
    v_last = number(STATE, "rates of the state before", of="dofs")
