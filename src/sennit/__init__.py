"""sennit: interactive simulation of thin elastic solids and of what they hold.

SI units, float64; arrays of vectors are (n, 3), quaternions scalar first. Names are loaded when they are first used, so
that ``import sennit`` is quick.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Align": "sennit.constraints.place",
    "Ball": "sennit.constraints.join",
    "Batch": "sennit.batch.batch",
    "BatchSnapshot": "sennit.batch.batch",
    "Box": "sennit.geometry.shapes",
    "Cable": "sennit.constraints.cable.cable",
    "Capsule": "sennit.geometry.shapes",
    "ChainPressState": "sennit.bodies.zone.chain_state",
    "ChainState": "sennit.bodies.zone.chain_state",
    "ChainTouchState": "sennit.bodies.zone.chain_state",
    "Clamp": "sennit.constraints.place",
    "Clock": "sennit.live.clock",
    "Contact": "sennit.scene.colliding",
    "ContactPair": "sennit.scene.colliding",
    "Control": "sennit.controls",
    "Cylinder": "sennit.geometry.shapes",
    "Decor": "sennit.controls",
    "DeviceLost": "sennit.haptics.devices",
    "DeviceState": "sennit.haptics.devices",
    "Distance": "sennit.constraints.join",
    "DistanceGrid": "sennit.hair.head",
    "Event": "sennit.solve.report",
    "Fix": "sennit.constraints.place",
    "Follow": "sennit.constraints.place",
    "Route": "sennit.constraints.route",
    "ForceDimensionDevice": "sennit.haptics.hardware",
    "Fuse": "sennit.constraints.join",
    "HaplyDevice": "sennit.haptics.hardware",
    "Hair": "sennit.hair.hair",
    "HapticDevice": "sennit.haptics.devices",
    "HapticLoop": "sennit.haptics.loop",
    "HeightField": "sennit.geometry.shapes",
    "Hinge": "sennit.constraints.joint",
    "InputError": "sennit.errors",
    "Inside": "sennit.contact.inside",
    "Keyhole": "sennit.constraints.slide",
    "Needle": "sennit.constraints.needle.needle",
    "Nest": "sennit.constraints.nest",
    "Law": "sennit.cosserat.law.laws",
    "Load": "sennit.constraints.load",
    "Lock": "sennit.constraints.join",
    "Material": "sennit.material",
    "Mechanism": "sennit.importing.mechanism",
    "Mesh": "sennit.geometry.shapes",
    "Motor": "sennit.constraints.joint",
    "MouseDevice": "sennit.haptics.mouse",
    "Obstacle": "sennit.contact.obstacle",
    "OnAxis": "sennit.constraints.place",
    "OnCircle": "sennit.constraints.place",
    "OnPlane": "sennit.constraints.place",
    "OnSphere": "sennit.constraints.place",
    "OpenHapticsDevice": "sennit.haptics.hardware",
    "Pearl": "sennit.bodies.slider.pearl",
    "Plane": "sennit.geometry.shapes",
    "Point": "sennit.bodies.point.point",
    "PointLoad": "sennit.cosserat.loads",
    "Pose": "sennit.geometry.pose",
    "PressState": "sennit.bodies.zone.press_state",
    "Prismatic": "sennit.constraints.joint",
    "Readout": "sennit.controls",
    "Recording": "sennit.export.recording",
    "RigidBody": "sennit.bodies.rigid.body",
    "Rod": "sennit.bodies.rod.rod",
    "RodEnergy": "sennit.bodies.rod.rod",
    "Scene": "sennit.scene.scene",
    "SceneContacts": "sennit.scene.colliding",
    "SceneEnergy": "sennit.solve.report",
    "Screw": "sennit.constraints.joint",
    "ScriptedDevice": "sennit.haptics.scripted",
    "Properties": "sennit.material",
    "Section": "sennit.material",
    "SettleReport": "sennit.solve.report",
    "Sheave": "sennit.constraints.cable.sheave",
    "Slider": "sennit.bodies.slider.slider",
    "Snapshot": "sennit.scene.scene",
    "SolveError": "sennit.errors",
    "SolveReport": "sennit.errors",
    "SpaceMouseDevice": "sennit.haptics.hardware",
    "Sphere": "sennit.geometry.shapes",
    "StepReport": "sennit.solve.report",
    "Strand": "sennit.bodies.strand.strand",
    "StrandEnergy": "sennit.bodies.strand.state",
    "StrandState": "sennit.bodies.strand.state",
    "View": "sennit.view.session",
    "VirtualCoupling": "sennit.coupling",
    "Watch": "sennit.controls",
    "World": "sennit.bodies.world",
    "WorldPoint": "sennit.bodies.world",
    "Zone": "sennit.bodies.zone.zone",
    "ZoneChain": "sennit.bodies.zone.chain",
    "ZoneState": "sennit.bodies.zone.state",
    "SweepFailure": "sennit.sweeping",
    "read_curve": "sennit.importing.curves",
    "read_mechanism": "sennit.importing.mechanism",
    "record": "sennit.export.record",
    "rubber_cord": "sennit.cosserat.law.rubber",
    "sweep": "sennit.sweeping",
    "view": "sennit.view.session",
}

__all__ = [
    "Align", "Ball", "Batch", "BatchSnapshot", "Box", "Cable", "Capsule", "ChainPressState", "ChainState",
    "ChainTouchState", "Clamp", "Clock", "Contact", "ContactPair", "Control", "Cylinder", "Decor", "DeviceLost",
    "DeviceState", "Distance", "DistanceGrid", "Event", "Fix", "Follow", "ForceDimensionDevice", "Fuse", "Hair",
    "HaplyDevice", "HapticDevice", "HapticLoop", "HeightField", "Hinge", "InputError", "Inside", "Keyhole", "Law",
    "Load", "Lock", "Material", "Mechanism", "Mesh", "Motor", "MouseDevice", "Needle", "Nest", "Obstacle", "OnAxis",
    "OnCircle", "OnPlane", "OnSphere", "OpenHapticsDevice", "Pearl", "Plane", "Point", "PointLoad", "Pose",
    "PressState", "Prismatic", "Properties", "Readout", "Recording", "RigidBody", "Rod", "RodEnergy", "Route", "Scene",
    "SceneContacts", "SceneEnergy", "Screw", "ScriptedDevice", "Section", "SettleReport", "Sheave", "Slider",
    "Snapshot", "SolveError", "SolveReport", "SpaceMouseDevice", "Sphere", "StepReport", "Strand", "StrandEnergy",
    "StrandState", "SweepFailure", "View", "VirtualCoupling", "Watch", "World", "WorldPoint", "Zone", "ZoneChain",
    "ZoneState", "read_curve", "read_mechanism", "record", "rubber_cord", "sweep", "view",
]  # fmt: skip

if TYPE_CHECKING:
    from sennit.batch.batch import Batch, BatchSnapshot
    from sennit.bodies.point.point import Point
    from sennit.bodies.rigid.body import RigidBody
    from sennit.bodies.rod.rod import Rod, RodEnergy
    from sennit.bodies.slider.pearl import Pearl
    from sennit.bodies.slider.slider import Slider
    from sennit.bodies.strand.state import StrandEnergy, StrandState
    from sennit.bodies.strand.strand import Strand
    from sennit.bodies.world import World, WorldPoint
    from sennit.bodies.zone.chain import ZoneChain
    from sennit.bodies.zone.chain_state import ChainPressState, ChainState, ChainTouchState
    from sennit.bodies.zone.press_state import PressState
    from sennit.bodies.zone.state import ZoneState
    from sennit.bodies.zone.zone import Zone
    from sennit.constraints.cable.cable import Cable
    from sennit.constraints.cable.sheave import Sheave
    from sennit.constraints.join import Ball, Distance, Fuse, Lock
    from sennit.constraints.joint import Hinge, Motor, Prismatic, Screw
    from sennit.constraints.load import Load
    from sennit.constraints.needle.needle import Needle
    from sennit.constraints.nest import Nest
    from sennit.constraints.place import Align, Clamp, Fix, Follow, OnAxis, OnCircle, OnPlane, OnSphere
    from sennit.constraints.route import Route
    from sennit.constraints.slide import Keyhole
    from sennit.contact.inside import Inside
    from sennit.contact.obstacle import Obstacle
    from sennit.controls import Control, Decor, Readout, Watch
    from sennit.cosserat.law.laws import Law
    from sennit.cosserat.law.rubber import rubber_cord
    from sennit.cosserat.loads import PointLoad
    from sennit.coupling import VirtualCoupling
    from sennit.errors import InputError, SolveError, SolveReport
    from sennit.export.record import record
    from sennit.export.recording import Recording
    from sennit.geometry.pose import Pose
    from sennit.geometry.shapes import Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
    from sennit.hair.hair import Hair
    from sennit.hair.head import DistanceGrid
    from sennit.haptics.devices import DeviceLost, DeviceState, HapticDevice
    from sennit.haptics.hardware import ForceDimensionDevice, HaplyDevice, OpenHapticsDevice, SpaceMouseDevice
    from sennit.haptics.loop import HapticLoop
    from sennit.haptics.mouse import MouseDevice
    from sennit.haptics.scripted import ScriptedDevice
    from sennit.importing.curves import read_curve
    from sennit.importing.mechanism import Mechanism, read_mechanism
    from sennit.live.clock import Clock
    from sennit.material import Material, Properties, Section
    from sennit.scene.colliding import Contact, ContactPair, SceneContacts
    from sennit.scene.scene import Scene, Snapshot
    from sennit.solve.report import Event, SceneEnergy, SettleReport, StepReport
    from sennit.sweeping import SweepFailure, sweep
    from sennit.view.session import View, view


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        # With name and object Python says which name is nearest.
        raise AttributeError(f"module 'sennit' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
