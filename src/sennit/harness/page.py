"""A harness on the page: clips are dragged, slack is a slider, and the figures follow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sennit.constraints.slide import Keyhole
from sennit.harness.plan import FIXED, Plan
from sennit.harness.rest import bring_to_rest, build
from sennit.scene.scene import Scene

__all__ = ["Bench"]

_MOST_SLACK = 0.25
"""Of the slider, as a share of the longest route."""


class Bench:
    """The scene of a harness with a slider for its slack and figures of its cables.

    Cables are cut anew where the slider is moved: they are laid through the holders where these are then.
    """

    def __init__(self, plan: Plan, points: int | None = None) -> None:
        self._plan, self._points = plan, points
        self.harness = build(plan, points=points)
        bring_to_rest(self.harness)
        longest = max(laid.route_length for laid in self.harness.laid.values())
        most = max(1e3 * _MOST_SLACK * longest, 2e3 * max(cable.slack for cable in plan.cables))
        slack = 1e3 * max(cable.slack for cable in plan.cables)
        self.scene.control("slack", self.cut, slack, range=(0.0, float(np.ceil(most))), unit="mm")
        for cable in plan.cables:
            self.scene.watch(f"{cable.name}: bend radius", partial(self.bend_radius, cable.name), unit="mm")
        self.scene.watch("largest force of a holder", self.largest_force, unit="N")

    @property
    def scene(self) -> Scene:
        """What the page runs."""
        return self.harness.scene

    def bend_radius(self, cable: str) -> float:
        """The smallest of a cable now, mm."""
        return 1e3 * min(rod.minimum_bend_radius for rod in self.harness.rods[cable])

    def largest_force(self) -> float:
        """Of all holders now, N."""
        return max(
            (float(np.linalg.norm(sum(tie.force for tie in ties))) for _, ties in self.harness.ties), default=0.0
        )

    def _moved(self) -> Plan:
        """The plan with its holders where they are now."""
        places = {}
        for holder, ties in self.harness.ties:
            tie = ties[-1]
            point = tie.hole if isinstance(tie, Keyhole) else tie.points[1]
            if holder.kind != "junction":
                places[holder.name] = (np.array(point.position), np.array(point.frame[:, 2]))
        holders = tuple(
            replace(
                one, place=places[one.name][0], direction=places[one.name][1] if one.kind in FIXED else one.direction
            )
            for one in self._plan.holders
        )
        return replace(self._plan, holders=holders)

    def cut(self, slack_mm: float) -> None:
        """Cut all cables anew, so much longer than their routes, mm.

        Raises `InputError`, and changes nothing, if they do not reach their holders.
        """
        plan = self._moved().with_slack(1e-3 * slack_mm)
        build(plan, Scene(), self._points)  # whether they can be laid
        scene = self.scene
        for _, ties in self.harness.ties:
            for tie in ties:
                scene.remove(tie)
        for rods in self.harness.rods.values():
            for rod in rods:
                scene.remove(rod)
        self.harness = build(plan, scene, self._points)
        bring_to_rest(self.harness)
