"""The chain: zones that are joined at seams while each moves in a frame of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.body import Assembly
from sennit.bodies.zone.chain_contact import ChainContact
from sennit.bodies.zone.chain_state import ChainPressState, ChainState, ChainTouchState
from sennit.bodies.zone.conditions import Conditions, PerFace, PerVertex
from sennit.bodies.zone.point import ZonePoint
from sennit.bodies.zone.pressing import Pressing
from sennit.bodies.zone.seams import Seam, checked_seams
from sennit.bodies.zone.state import Probe
from sennit.bodies.zone.touching import Touching, nowhere_to_go
from sennit.bodies.zone.zone import Zone
from sennit.elastostatics.chain.condensed import CondensedZone, HeldNodes, Side
from sennit.elastostatics.chain.few import FewModes, Parts
from sennit.elastostatics.chain.load import ZoneLoad
from sennit.elastostatics.chain.system import METHODS, SeamSystem, Solved, compile_chain
from sennit.elastostatics.chain.ties import seam_ties
from sennit.elastostatics.contact.press import Before
from sennit.elastostatics.greens import rows_of
from sennit.elastostatics.patch import locate, patch_weights
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.validation import FloatArray, quoted

__all__ = ["ZoneChain"]


@guarded()
class ZoneChain(Assembly):
    """Zones joined at seams, each linearly elastic in a frame of its own that may turn by any angle.

    A vertex of zone z at X that is displaced by u is at R_z (X + u) + p_z in the world. Where zones are joined the two
    sides are at the same places, and the forces on them cancel. The unknowns are the seams' displacements; each zone
    enters with its condensed stiffness K_z = E (C_II)⁻¹, C its compliance and I its vertices on seams, which is
    computed once; for every new set of poses what remains is A = Σ T_zᵀ K_z T_z, T_z the turns between frames.

    Arguments:
        zones: two `Zone` or more, each held by its own fixed vertices (the bone that carries it).
        seams: for a chain, ``(ids, ids)`` for each two neighbours: vertices of zone k and of zone k + 1, the same
            material points in the same order. For any other topology ``(zone, ids, zone, ids)``, zones by number.
            A vertex is on one seam at most, and not fixed.
        method: ``"direct"``, block Cholesky in an order that keeps trees sparse: linear in the number of zones;
            ``"sweeps"``, two block Gauss–Seidel sweeps on the factored diagonal blocks, up to eight if those are not
            enough, with a check of residual and error (1e-8) that falls back to direct; ``"auto"`` takes sweeps where
            seams are weakly coupled, as measured at the rest poses; ``"block_diagonal"``, each seam solved with all
            others held at rest, ``"kinematic"``, seams placed half way between the two rigid zones, and ``"modes"``,
            seams that move in few shapes, are approximations whose error the report estimates.
        modes: for ``"modes"``: shapes of a seam, a multiple of 4 from 8 on; each has three unknowns.
        rest_poses: poses at which the undeformed zones meet; by default all zones are modelled in one frame.
        projection: joins sides whose meshes differ, by mortar projection; so are lists of different lengths. The side
            with fewer vertices leads, the other's vertices follow it in the mean. Give all vertices of the two sides.
            It passes uniform stresses where both sides are flat and cover each other; on curved seams moments balance
            to (edge length)²/8 times the curvature.

    Raises `InputError`, naming them, for seams that do not match (lengths, repeated ids, fixed vertices, vertices on
    two seams, places that differ) and for zones that nothing holds.

    Strains within each zone are small; rotations between zones are not limited. A seam of two zones turned against each
    other by a large angle strains them by about that angle: put more zones where joints bend far.

    Reference: D. L. James, D. K. Pai, "Real time simulation of multizone elastokinematic models", 2002, eqs. 11–13
    (whose frames are mended).
    """

    seams: tuple[Seam, ...]
    """The seams."""
    rest_poses: tuple[Pose, ...]
    """Poses at which the undeformed zones meet."""

    def __init__(
        self, zones: Sequence[Zone], seams: Sequence[Any], *, method: str = "auto", modes: int = 32,
        rest_poses: Sequence[Pose] | None = None, projection: bool = False,
    ) -> None:  # fmt: skip
        self._zones = _checked_zones(zones)
        self._method = _checked_method(method)
        self._modes = validation.count("modes", modes, 8, 100_000)
        if self._modes % 4:
            raise InputError(f"modes must be a multiple of 4, got {modes}: they are computed with in fours")
        self._few: FewModes | None = None
        rest = [Pose()] * len(self._zones) if rest_poses is None else self._checked_poses("rest_poses", rest_poses)
        if not isinstance(projection, bool):
            raise InputError(f"projection must be True or False, got {quoted(projection)}")
        found, views = checked_seams(self._zones, seams, rest, projection)
        self.seams, self.rest_poses = tuple(found), tuple(rest)
        per_zone: list[list[Side]] = [[] for _ in self._zones]
        self._sides: list[tuple[int, int]] = []
        for seam, sides in zip(self.seams, views, strict=True):
            places = []
            for z, side in zip(seam.zones, sides, strict=True):
                places.append(len(per_zone[z]))
                per_zone[z].append(side)
            self._sides.append((places[0], places[1]))
        compile_chain()
        self._condensed = [
            CondensedZone(zone._greens, sides) for zone, sides in zip(self._zones, per_zone, strict=True)
        ]
        self._system = SeamSystem(
            self._condensed, [zone._modulus for zone in self._zones], [seam.zones for seam in self.seams], self._sides
        )
        self._system.place(rest)
        self._system.measure()
        self._held: dict[int, HeldNodes] = {}
        self._on_seams = [np.zeros(len(zone._surface.vertices), dtype=bool) for zone in self._zones]
        inner = [np.zeros(len(zone._surface.faces), dtype=bool) for zone in self._zones]
        for seam in self.seams:
            for z, ids in zip(seam.zones, seam.vertices, strict=True):
                there = np.zeros(len(self._on_seams[z]), dtype=bool)
                there[ids] = True
                self._on_seams[z] |= there
                inner[z] |= there[self._zones[z]._surface.faces].all(axis=1)
        self._skin_faces = [np.flatnonzero(~hidden) for hidden in inner]
        self._skins = [
            Surface(zone._surface.vertices, zone._surface.faces[seen])
            for zone, seen in zip(self._zones, self._skin_faces, strict=True)
        ]
        """The zones' surfaces without the faces inside seams: where they can be touched."""
        self._lock = threading.Lock()
        self._seam_ties: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"<ZoneChain of {len(self._zones)} zones, {len(self.seams)} seams, method {self._method!r}>"

    @property
    def zones(self) -> tuple[Zone, ...]:
        """The zones."""
        return tuple(self._zones)

    @property
    def method(self) -> str:
        """How it is solved unless `solve` is told otherwise."""
        return self._method

    @property
    def modes(self) -> int:
        """Shapes of a seam, for the method ``"modes"``."""
        return self._modes

    @property
    def scene(self) -> Any:
        """The scene that it was added to, or None."""
        return next((tie.scene for tie in self._seam_ties if tie.scene is not None), None)

    @property
    def ties(self) -> tuple[Any, ...]:
        """What closes its seams in a scene, a `SeamTie` for each that was not taken out."""
        return tuple(tie for tie in self._seam_ties if tie.scene is not None)

    def at(self, zone: int, place: int | ArrayLike, radius: float | None = None) -> ZonePoint:
        """The point of zone number `zone` at `place`, for a scene's constraints and loads: see `Zone.at`."""
        return self._zones[validation.count("zone", zone, 0, len(self._zones) - 1)].at(place, radius)

    def _enter(self, ties: tuple[Any, ...]) -> None:
        """It has come into a scene, in which `ties` close its seams; these leave it and come back by themselves."""
        self._seam_ties = ties

    def _ties(self) -> list[FloatArray | None]:
        """How each seam is tied in a scene: at means of its vertices, (n, few); None: at each of them."""
        ties = []
        for seam, sides in zip(self.seams, self._sides, strict=True):
            a, b = seam.zones
            zones, moduli = (self._condensed[a], self._condensed[b]), (self._zones[a]._modulus, self._zones[b]._modulus)
            ties.append(seam_ties(zones, sides, moduli, self._modes if self._method == "modes" else seam.nodes))
        return ties

    @property
    def coupling(self) -> float:
        """How strongly seams act on each other: spectral radius of D⁻¹(A − D) at the rest poses, D the diagonal blocks.

        The error of ``"block_diagonal"`` is about this, that of two sweeps about its cube.
        """
        return self._system.coupling

    def solve(
        self, poses: Sequence[Pose], *, displacements: Mapping[int, PerVertex] | None = None,
        tractions: Mapping[int, PerVertex] | None = None, face_tractions: Mapping[int, PerFace] | None = None,
        loads: Mapping[int, PerVertex] | None = None, gravity: ArrayLike | None = None, method: str | None = None,
    ) -> ChainState:  # fmt: skip
        """The equilibrium with the zones' frames at `poses`, a `Pose` for each.

        Arguments: `displacements`, `tractions`, `face_tractions` and `loads` are ``{zone: …}`` with what `Zone.solve`
        takes, in the zone's own frame; vertices on seams may be loaded, but not displaced. `gravity` (3,), m/s², in
        the world, acts on all zones. `method` in place of the chain's.

        Raises `InputError`, having changed nothing, for a wrong number of poses, zones and vertices that do not exist,
        and conditions that contradict each other.
        """
        given = self._checked_poses("poses", poses)
        chosen = self._method if method is None else _checked_method(method)
        conditions = self._conditions(
            displacements=displacements, tractions=tractions, face_tractions=face_tractions, loads=loads
        )
        pulls = None if gravity is None else self._pulls(given, validation.vector("gravity", gravity), conditions)
        if chosen == "modes" and any(np.isfinite(given.displacements).any() for given in conditions.values()):
            raise InputError('displacements go with the other methods: with "modes" give loads, or touch and press')
        with self._lock:
            solved, known = self._solved(given, conditions, chosen, pulls)
            if chosen == "modes":
                held = np.zeros(self._system.vector)
                for z, load in known.items():
                    held[self._system.zone_slice(z)] = load.seams
                self._system.place(given)
                solved = self._system.judged(self._whole(solved, chosen), held)
        return ChainState(self, given, solved, known)

    def _pulls(self, poses: list[Pose], gravity: FloatArray, conditions: dict[int, Conditions]) -> list[FloatArray]:
        """Weight of each zone in its own frame, N/m³; puts it among the loads of its conditions."""
        pulls = []
        for z, (zone, pose) in enumerate(zip(self._zones, poses, strict=True)):
            pulls.append(zone._material.density * (pose.rotation.T @ gravity))
            if z not in conditions:
                conditions[z] = Conditions.checked(zone._surface, zone._fixed, None, None, None, None)
            conditions[z].loads[:] += zone._weight_of(pulls[z])
        return pulls

    def _solved(
        self, poses: list[Pose], conditions: dict[int, Conditions], method: str, pulls: list[FloatArray] | None = None
    ) -> tuple[Solved, dict[int, ZoneLoad]]:  # fmt: skip
        loads: dict[int, ZoneLoad] = {}
        for z, given in conditions.items():
            try:
                loads[z] = ZoneLoad(
                    self._condensed[z], self._zones[z]._modulus, given.loads, given.displacements, self._held.get(z),
                    None if pulls is None else pulls[z],
                )  # fmt: skip
            except InputError as error:
                raise InputError(f"zone {z} ({self._zones[z].name}): {error}") from None
        if method == "modes":
            few = self._parts("modes")
            held = np.zeros(few.system.vector)
            for z, acting in loads.items():
                held[few.system.zone_slice(z)] = self._zones[z]._modulus * few.zones[z].seam_forces(acting.forces)
            few.system.place(poses)
            return few.system.solve(held, "auto"), loads
        held = np.zeros(self._system.vector)
        for z in range(len(self._zones)):
            load = loads.get(z)
            nodes = None if load is None else load.held
            self._system.set_stiffness(z, None if nodes is None else nodes.stiffness)
            if nodes is not None:
                self._held[z] = nodes
            if load is not None:
                held[self._system.zone_slice(z)] = load.seams
        self._system.place(poses)
        return self._system.solve(held, method), loads

    def touch(
        self, zone: int, place: int | ArrayLike, *, poses: Sequence[Pose], displacement: object = None,
        force: ArrayLike | None = None, radius: float | None = None, method: str | None = None,
    ) -> ChainTouchState:  # fmt: skip
        """What a probe of `radius` feels that touches zone number `zone` at `place`, with the zones' frames at `poses`.

        The probe acts on a patch as in `Zone.touch`; its compliance is the chain's, C⁰ + P A⁻¹ Pᵀ with C⁰ that of the
        zone with its seams held still and P their influence on the patch. A patch ends where the zone does: touch the
        side of a seam on which most of the probe is.

        Arguments: `place`, a vertex id or a position (3,), m, in the undeformed zone's frame; `displacement` (3,), m,
        of the probe from where the untouched chain has the patch at these poses (None for a component along which it
        slides without force), or `force` (3,), N; both in the zone's frame; `radius`, m, as in `Zone.touch`; `method`
        in place of the chain's.

        Returns a state whose `force` is what the probe applies, and whose `probe` has patch and stiffness.

        Raises `InputError` for a place that the support holds and for bad arguments.
        """
        given = self._checked_poses("poses", poses)
        chosen = self._method if method is None else _checked_method(method)
        z = validation.count("zone", zone, 0, len(self._zones) - 1)
        surface, greens = self._zones[z]._surface, self._zones[z]._greens
        asked = Touching.checked(surface, place, displacement, force)
        skin = self._skins[z]
        vertices, weights = patch_weights(skin, asked.place, radius)
        free = greens.slot[vertices] >= 0
        if chosen == "kinematic":
            free &= ~self._on_seams[z][vertices]  # placed by the skeleton, whatever pushes
        if not weights[free].any():
            raise nowhere_to_go(place)
        rows = rows_of(greens.slot[vertices[free]])
        condensed, E = self._condensed[z], self._zones[z]._modulus
        with self._lock:
            solved, _ = self._solved(given, {}, chosen)
            parts = self._parts(chosen)
            still, influence = parts.zones[z].patch(rows, weights[free])
            B = parts.system.gathered(z, influence)
            X = parts.system.respond(B)
        compliance = still / E + B.T @ X
        compliance = 0.5 * (compliance + compliance.T)
        f = asked.force(compliance)
        nodal = np.zeros((len(surface.vertices), 3))
        nodal[vertices[free]] = weights[free][:, None] * f
        load = ZoneLoad(condensed, E, nodal)
        face, barycentric, foot, distance = locate(skin, asked.place)
        face = int(self._skin_faces[z][face])
        rho = 0.0 if radius == 0 else float(np.linalg.norm(surface.vertices[vertices] - foot, axis=1).max())
        probe = Probe(
            face, barycentric, foot, distance, rho if radius is None else float(radius), vertices, weights,
            compliance @ f, compliance,
        )  # fmt: skip
        moved = self._whole(parts.system.moved(solved, X @ f), chosen)
        return ChainTouchState(self, given, moved, z, load, probe, f)

    def press(
        self, shape: AbstractShape, *, poses: Sequence[Pose], zone: int | Iterable[int] | None = None,
        friction: float = 0.0, after: ChainState | None = None, method: str | None = None, throw: bool = True,
    ) -> ChainPressState:  # fmt: skip
        """The equilibrium with a rigid `shape` that reaches into the chain, the zones' frames at `poses`.

        Arguments: `shape`, any (`Sphere`, `Box`, `Mesh`, …), in the world; `zone`, the zones whose vertices may
        touch it, by default all; `friction` and `after` (the state before, for friction) as in `Zone.press`; `throw`:
        whether contact that is not found raises; `method` in place of the chain's. Zones do not touch each other. Of a
        seam between meshes that differ only the leading side's vertices touch: those that follow may end up inside the
        shape.

        The contact has the whole chain's compliance: C⁰ + P A⁻¹ Pᵀ between all vertices that may touch, of any zones.

        Raises `InputError` for bad arguments, `SolveError` if contact forces are not found or the shape reaches into
        fixed vertices; with ``throw=False`` the state's `contact_report` says so.
        """
        given = self._checked_poses("poses", poses)
        chosen = self._method if method is None else _checked_method(method)
        asked = Pressing.checked(shape, friction, throw)
        if after is not None and (not isinstance(after, ChainState) or after.chain is not self):
            raise InputError(f"after must be a state of this chain, got {quoted(after)}")
        touching = _numbers_of_zones(zone, len(given))
        with self._lock:
            solved, _ = self._solved(given, {}, chosen)
            untouched = ChainState(self, given, self._whole(solved, chosen), {})
            contact = ChainContact(self, untouched, touching, chosen, self._parts(chosen))
            before: Before | None = None
            if isinstance(after, ChainPressState) and asked.follows(after.shape, after.contact_report):
                before = contact.before(after, asked.shape)
            pressed, found, change = contact.solve(asked, before)
        state = ChainPressState(
            self, given, self._whole(self._parts(chosen).system.moved(solved, change), chosen),
            contact.loads(found, pressed), asked, pressed,
            contact.zones[found], contact.vertices[found],
        )  # fmt: skip
        asked.finish(state, state.contact_report)
        return state

    def _parts(self, method: str) -> Parts:
        """Zones and seams as a method has them."""
        if method != "modes":
            return Parts(self._condensed, self._system)
        if self._few is None:
            pairs = [seam.zones for seam in self.seams]
            self._few = FewModes(self._condensed, self._system, pairs, self._sides, self._modes)
            self._few.system.place(self.rest_poses)
            self._few.system.measure()
        return Parts(self._few.zones, self._few.system)

    def _whole(self, solved: Solved, method: str) -> Solved:
        """A solution with the seams' vertices, whatever unknowns the method has."""
        if method != "modes":
            return solved
        assert self._few is not None
        return self._few.whole(solved, self._system)

    def _felt_parts(self) -> tuple[list[CondensedZone], SeamSystem, str]:
        """Zones and seams of its own method, for what is felt, with a workspace of its own; and how they are solved."""
        parts = self._parts(self._method)
        moduli, pairs = [zone._modulus for zone in self._zones], [seam.zones for seam in self.seams]
        system = SeamSystem(parts.zones, moduli, pairs, self._sides)
        system.place(self.rest_poses)
        system.measure()
        return parts.zones, system, "auto" if self._method == "modes" else self._method

    def _checked_poses(self, name: str, poses: object) -> list[Pose]:
        """One pose for each zone."""
        count = len(self._zones)
        if not isinstance(poses, Sequence) or isinstance(poses, str):
            raise InputError(f"{name} must be a list of {count} sennit.Pose, one for each zone, got {quoted(poses)}")
        if len(poses) != count:
            raise InputError(f"{name} must have a pose for each of {count} zones, got {len(poses)}")
        for k, pose in enumerate(poses):
            if not isinstance(pose, Pose):
                raise InputError(f"{name}[{k}] must be a sennit.Pose, got {quoted(pose)}")
        return list(poses)

    def _conditions(self, **given: object) -> dict[int, Conditions]:
        """Conditions of the zones that are named, checked by the zones' own rules; `given` as `solve` takes them."""
        zones = self._zones
        named: set[int] = set()
        for name, value in given.items():
            if value is None:
                continue
            if not isinstance(value, Mapping):
                raise InputError(
                    f"{name} must be {{zone: {{vertex: (x, y, z)}}}} by numbers of zones, got {quoted(value)}"
                )
            for zone in value:
                if isinstance(zone, bool) or not isinstance(zone, int | np.integer) or not 0 <= zone < len(zones):
                    raise InputError(f"{name} must be given by zones from 0 to {len(zones) - 1}, got {quoted(zone)}")
                named.add(int(zone))
        result = {}
        for z in sorted(named):
            own = {name: value.get(z) if isinstance(value, Mapping) else None for name, value in given.items()}
            try:
                result[z] = Conditions.checked(zones[z]._surface, zones[z]._fixed, **own)
            except InputError as error:
                raise InputError(f"zone {z} ({zones[z].name}): {error}") from None
        return result


def _checked_method(method: object) -> str:
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, got {quoted(method)}")
    return str(method)


def _checked_zones(zones: object) -> list[Zone]:
    """A list of two zones or more, each held by its own support."""
    if not isinstance(zones, Sequence) or len(zones) < 2 or not all(isinstance(zone, Zone) for zone in zones):
        raise InputError(f"zones must be a list of two sennit.Zone or more, got {quoted(zones)}")
    for k, zone in enumerate(zones):
        if not zone._greens.held:
            raise InputError(
                f"zones[{k}] ({zone.name}) must be held by its own support, for its frame to mean something: fix three "
                "vertices or more that are not on a line (fixed=)"
            )
    return list(zones)


def _numbers_of_zones(given: object, count: int) -> list[int]:
    """Numbers of zones from one, several, or None for all of them."""
    if given is None:
        return list(range(count))
    what = "a zone's number or a list of them"
    entries = validation.entries("zone", given, what) if isinstance(given, Iterable) else [given]
    if not entries:
        raise InputError("zone must name a zone at least, or be None for all of them, got none")
    return sorted({validation.count("zone", entry, 0, count - 1) for entry in entries})
