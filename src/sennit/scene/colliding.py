"""The part of a scene that knows what touches: rules, and the contacts of the last step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit import validation
from sennit.attributes import guarded, unchanging
from sennit.bodies.slider.pearl import Pearl
from sennit.contact.inside import Inside
from sennit.contact.rules import Law, Rule, Rules, checked
from sennit.errors import InputError
from sennit.solve.report import Event
from sennit.touching.kept import Kept
from sennit.touching.tables import TouchingTables
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.scene.contents import Contents

__all__ = ["Contact", "ContactPair", "SceneContacts"]

MOST = {"restitution": 1.0}
"""Largest values of numbers of a law."""


@unchanging
@dataclass(frozen=True, eq=False)
class Contact:
    """A place where two things press on each other, as the last step left it."""

    first: Any
    """A rod, wherever there is one; else a rigid body."""
    second: Any
    """What it touches: a rod, a rigid body or an obstacle."""
    position: FloatArray
    """Where, (3,), m, in the world."""
    normal: FloatArray
    """Unit vector from the second to the first, (3,)."""
    gap: float
    """Distance of the surfaces where the step was linearised, m; negative where they overlap."""
    force: FloatArray
    """Force on the first, (3,), N, in the world: of the normal and of friction."""
    torque: FloatArray
    """Torque of rolling and twisting friction on the first, (3,), N·m, in the world; 0 without such friction."""
    slip: FloatArray
    """Way that the first has slid along the second in the step, (3,), m."""
    state: str
    """``"stick"`` or ``"slip"``."""


def _number(name: str, value: float | None, most: float = np.inf) -> float | None:
    """A number of a law that is not negative, or None."""
    if value is None:
        return None
    number = validation.number(name, value, minimum=0.0)
    if number > most:
        raise InputError(f"{name} must be at most {most:g}, got {validation.quoted(value)}")
    return number


def _check_static(sliding: float | None, static: float | None) -> None:
    if static is not None and sliding is not None and static < sliding:
        raise InputError(f"static_friction must be at least friction, {sliding:g}, got {static:g}")


def _law(**numbers: float | None) -> Law:
    """A law of numbers that are checked."""
    made = Law(**{name: _number(name, value, MOST.get(name, np.inf)) for name, value in numbers.items()})
    _check_static(made.friction, made.static_friction)
    return made


def _number_of_pair(name: str, text: str) -> Any:
    """A number of a pair's law, as a property."""

    def read(self: Any) -> float | None:
        law = self._rule.law
        return None if law is None else getattr(law, name)

    def write(self: Any, value: float | None) -> None:
        self._set(**{name: _number(name, value, MOST.get(name, np.inf))})

    return property(read, write, doc=text)


def _number_of_all(name: str, text: str) -> Any:
    """A number that holds for all pairs without one of their own, as a property."""

    def read(self: Any) -> float:
        return float(getattr(self._owner._rules.default, name) or 0.0)

    def write(self: Any, value: float) -> None:
        self._set(**{name: _number(name, validation.number(name, value), MOST.get(name, np.inf))})

    return property(read, write, doc=f"{text} Can be set.")


@guarded()
class ContactPair:
    """What holds between two things from `Scene.collide` on, and how they press on each other now.

    Its numbers can be set; None: as the scene's own.
    """

    def __init__(self, scene: Contents, rule: Rule) -> None:
        self._owner = scene
        self._rule = rule

    def __reduce__(self) -> Any:
        """It is sent as the rule of that number of its scene, if it is one (see `sending`)."""
        numbers = [i for i, rule in enumerate(self._owner._rules.rules) if rule is self._rule]
        return (_pair_at, (self._owner, numbers[0])) if numbers else (ContactPair, (self._owner, self._rule))

    friction = _number_of_pair("friction", "Coefficient of sliding friction.")
    static_friction = _number_of_pair(
        "static_friction",
        "Coefficient that must be overcome before sliding begins; None: that of sliding, or the scene's own where "
        "`friction` is the scene's own, too.",
    )
    restitution = _number_of_pair("restitution", "Speed of parting over speed of approach in a shock, 0 … 1.")
    margin = _number_of_pair("margin", "Distance below which the pair is looked at besides what its speed asks for, m.")
    rolling_friction = _number_of_pair("rolling_friction", "Largest torque against rolling over the normal force, m.")
    twisting_friction = _number_of_pair(
        "twisting_friction", "Largest torque against turning about the normal over the normal force, m."
    )

    def _set(self, **numbers: float | None) -> None:
        self._owner._check_free()
        if self._rule.law is None or not any(rule is self._rule for rule in self._owner._rules.rules):
            raise InputError("these two have no rule of their own: give it with Scene.collide(first, second, …)")
        law = replace(self._rule.law, **numbers)
        _check_static(law.friction, law.static_friction)
        self._rule.law = law
        self._owner._laws_changed()

    def _told(self, **numbers: Any) -> None:
        """Set several of its numbers at once."""
        self._set(**{name: _number(name, value, MOST.get(name, np.inf)) for name, value in numbers.items()})

    def _contacts(self) -> list[Contact]:
        rule = self._of_surfaces()
        return [contact for contact in self._owner.contacts if rule.fits(contact.first, contact.second)]

    def _of_surfaces(self) -> Rule:
        """The rule of what contacts name: for a tube that is a rod, that rod."""
        sides = (self._rule.first, self._rule.second)
        first, second = (None if side is None else tuple(map(_surface, side)) for side in sides)
        return replace(self._rule, first=first, second=second)

    @property
    def count(self) -> int:
        """At how many places they press on each other."""
        return len(self._contacts())

    @property
    def touching(self) -> bool:
        """Whether they do."""
        return self.count > 0

    @property
    def force(self) -> FloatArray:
        """Force of the second on the first thing that `collide` was given, (3,), N, in the world."""
        return self._wrench()[0]

    @property
    def torque(self) -> FloatArray:
        """Its torque about the world's origin, (3,), N·m."""
        return self._wrench()[1]

    def _wrench(self) -> tuple[FloatArray, FloatArray]:
        force, torque = np.zeros(3), np.zeros(3)
        rule = self._of_surfaces()
        for contact in self._contacts():
            sign = 1.0 if rule.faces(contact.first, contact.second) else -1.0
            force += sign * contact.force
            torque += sign * (np.cross(contact.position, contact.force) + contact.torque)
        return force, torque


@guarded()
class SceneContacts:
    """The contacts of a scene's last step, in a fixed order, and what holds where a pair has no numbers of its own.

    ``for contact in scene.contacts``, ``len(scene.contacts)``; `between` for those of a pair.
    """

    def __init__(self, scene: Contents) -> None:
        self._owner = scene

    def __iter__(self) -> Iterator[Contact]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def between(self, first: Any, second: Any = None) -> ContactPair:
        """The contacts of `first` and `second` (a rod with itself: the rod twice), or of one with everything else.

        They are read anew whenever they are asked for. Where `Scene.collide` was called for the same things, so are
        the numbers of its last call, and they can be set.
        """
        if first is None:
            raise InputError("between takes one thing or two: the first is missing")
        a, b = checked(first, self._owner, "between"), checked(second, self._owner, "between")
        own = a == b and len(a or ()) == 1
        other = None if own else b
        for rule in reversed(self._owner._rules.rules):
            same = {_key(rule.first), _key(rule.second)} == {_key(a), _key(other)}
            if same and rule.law is not None and (other is not None or rule.itself == own):
                return ContactPair(self._owner, rule)
        return ContactPair(self._owner, Rule(a, other, Law(), itself=own))

    friction = _number_of_all(
        "friction", "Coefficient of sliding friction of pairs without one of their own; 0.3 at first."
    )
    restitution = _number_of_all("restitution", "The same of restitution; 0 at first.")

    @property
    def static_friction(self) -> float | None:
        """Coefficient that must be overcome before sliding begins, of pairs without a friction of their own; None, as
        at first: that of sliding. Can be set.
        """
        return self._owner._rules.default.static_friction

    @static_friction.setter
    def static_friction(self, value: float | None) -> None:
        self._set(static_friction=_number("static_friction", value))

    margin = _number_of_all(
        "margin", "Distance below which pairs are looked at besides what their speeds ask for, m; 0 at first."
    )
    rolling_friction = _number_of_all("rolling_friction", "Rolling friction of such pairs, m; 0 at first.")
    twisting_friction = _number_of_all("twisting_friction", "Twisting friction of such pairs, m; 0 at first.")

    def _told(self, **numbers: Any) -> None:
        """Set several of its numbers at once."""
        self._set(**{name: _number(name, value, MOST.get(name, np.inf)) for name, value in numbers.items()})

    def _set(self, **numbers: float | None) -> None:
        self._owner._check_free()
        law = replace(self._owner._rules.default, **numbers)
        _check_static(law.friction, law.static_friction)
        self._owner._rules.default = law
        self._owner._laws_changed()

    @property
    def deepest(self) -> float:
        """Deepest overlap at the end of the last step, m."""
        state = self._state()
        return 0.0 if state is None else float(state.deepest[0])

    @property
    def newton_steps(self) -> int:
        """Newton steps that the forces of contacts took in the last step."""
        state = self._state()
        return 0 if state is None else int(state.newton[0])

    def _state(self) -> Any:
        """Numbers of contact as a whole, None while nothing may touch."""
        touching = self._owner._touching()
        return None if touching is None else touching._state()

    def _read(self) -> list[Contact]:
        touching = self._owner._touching()
        if touching is None:
            return []
        found, things, made = touching.shown(), touching.things, []
        for k, (a, b) in enumerate(zip(found.first.tolist(), found.second.tolist(), strict=True)):
            if things[a]._scene is self._owner and things[b]._scene is self._owner:
                state = "stick" if found.stuck[k] else "slip"
                place, normal, force, torque, slip = (
                    array[k].copy() for array in (found.position, found.normal, found.force, found.torque, found.slip)
                )
                made.append(
                    Contact(things[a], things[b], place, normal, float(found.gap[k]), force, torque, slip, state)
                )
        return made


def _pair_at(scene: Contents, number: int) -> ContactPair:
    return ContactPair(scene, scene._rules.rules[number])


def _surface(thing: Any) -> Any:
    """What a contact with a thing names: of a tube that is a rod, that rod."""
    return thing.tube if isinstance(thing, Inside) and thing.tube is not None else thing


def _key(things: tuple[Any, ...] | None) -> frozenset[int] | None:
    """What two groups of the same things have in common."""
    return None if things is None else frozenset(id(thing) for thing in things)


@dataclass(frozen=True, eq=False)
class ContactState:
    """What a scene carries on of contact: see `Colliding`."""

    default: Law
    laws: list[tuple[Rule, Law | None]]
    """The rules, and what each said."""
    met: dict[tuple[int, int], tuple[Any, Any]]
    kept: Kept | None
    """Forces, slots and contacts; None: nothing may touch."""
    sides: list[tuple[Any, ...]]
    """Between what the rules held, see `Rule.sides`."""


class Colliding:
    """What a scene offers of contact. Nothing touches until `collide` is called."""

    def __init__(self) -> None:
        super().__init__()
        self._rules = Rules()
        self._shown_contacts = SceneContacts(self)  # type: ignore[arg-type]
        self._met: dict[tuple[int, int], tuple[Any, Any]] = {}
        """What presses on each other, by the identities of the two."""
        self._new_tubes: list[Inside] = []
        """Those whose rods have not been looked at: the next step does."""
        self._coarse: set[Any] = set()
        """Rods that wind too tightly for their spans, zones too coarse for what touches them: what has been told."""
        self._touched: TouchingTables | None = None
        """The last tables of what may touch: new ones go on from them."""

    @property
    def contacts(self) -> SceneContacts:
        """The contacts of the last step, and the numbers that hold for all pairs: see `SceneContacts`."""
        return self._shown_contacts

    def collide(
        self, first: Any = None, second: Any = None, *, itself: bool | None = None, friction: float | None = None,
        static_friction: float | None = None, restitution: float | None = None, margin: float | None = None,
        rolling_friction: float | None = None, twisting_friction: float | None = None,
    ) -> ContactPair:  # fmt: skip
        """Let things touch: everything with everything, `first` with everything else, or `first` with `second`.

        `first` and `second` are bodies or obstacles, or groups of them (lists): then any of the one with any of the
        other; of a group with itself, any two of it.

        Rods touch themselves where nothing else is asked for, or with ``itself=True``: ``scene.collide()`` has them do
        so, ``scene.collide(rope, itself=True)`` does only that. Later calls refine earlier ones. What is not given is
        as in `contacts`: `friction` (coefficient of sliding), `static_friction` (at least that), `restitution` (0 … 1),
        `margin` (m), `rolling_friction` and `twisting_friction` (m: largest torque over the normal force). Things that
        a constraint ties do not touch near where it does, unless just these two are named.

        Raises `InputError`, and changes nothing, for things that are not in the scene or have no surface.
        """
        a, b = checked(first, self, "collide"), checked(second, self, "collide")
        if a is None and b is not None:
            raise InputError("collide takes one thing or two: the first is missing")
        law = _law(
            friction=friction, static_friction=static_friction, restitution=restitution, margin=margin,
            rolling_friction=rolling_friction, twisting_friction=twisting_friction,
        )  # fmt: skip
        own = first is None if itself is None else validation.flag("itself", itself)
        if a is not None and a == b and len(a) == 1:
            b, own = None, True
        return self._add_rule(Rule(a, b, law, own))

    def ignore(self, first: Any, second: Any = None) -> None:
        """Let `first` pass through `second`, or through everything and itself, from now on."""
        a, b = checked(first, self, "ignore"), checked(second, self, "ignore")
        if a is None:
            raise InputError("ignore takes the thing that is to touch nothing, or two that are to pass each other")
        if b is None:
            self._add_rule(Rule(a, None, None, itself=True))
            self._add_rule(Rule(a, None, None, itself=False))
        else:
            self._add_rule(Rule(a, b, None, itself=a == b))

    def _add_rule(self, rule: Rule) -> ContactPair:
        scene: Any = self
        scene._check_free()
        self._rules.rules.append(rule)
        scene._changed(ties=False)
        return ContactPair(scene, rule)

    def _hold_inside(self, tube: Inside) -> None:
        """A tube was added: let its rod touch it."""
        if tube._numbers is not None:
            self._new_tubes.append(tube)
            self.collide(tube.rod, tube, **tube._numbers)  # type: ignore[arg-type]

    def _let_out(self, tube: Inside) -> None:
        """A tube was taken out, and with it what was said of it."""
        self._new_tubes = [other for other in self._new_tubes if other is not tube]
        self._rules.rules[:] = [
            rule
            for rule in self._rules.rules
            if not any(thing is tube for side in (rule.first, rule.second) for thing in side or ())
        ]

    def _check_tubes(self) -> None:
        """Raise `InputError` if a rod begins outside of a tube that it was put in since the last step."""
        scene: Any = self
        for tube in self._new_tubes:
            if tube.scene is self:
                pearls = [x for x in scene.bodies if isinstance(x, Pearl) and x.rod is tube.rod and x.shapes]
                tube._check_begin(pearls)
        self._new_tubes.clear()

    def _note_meetings(self, time: float, parts: int) -> None:
        """Tell of things that have met or parted in the step of so many `parts` that ends at `time`, s."""
        scene: Any = self
        touching = self._touching()
        if touching is None:
            return
        pairs = {(id(first), id(second)): (first, second) for first, second in touching.pairs()}
        known = {frozenset(key) for key in (*self._met, *pairs)}
        # what has met and parted again within a step that was divided
        brief = [pair for pair in touching.met_within(parts) if frozenset(map(id, pair)) not in known]
        for pair in (*(pair for key, pair in pairs.items() if key not in self._met), *brief):
            names = f"{pair[0].name} touches {'itself' if pair[0] is pair[1] else pair[1].name}"
            scene._events.append(Event(time, "touch", pair, names))
        for key, pair in (*self._met.items(), *(((0, 0), pair) for pair in brief)):
            if key not in pairs:
                names = f"{pair[0].name} parts from {'itself' if pair[0] is pair[1] else pair[1].name}"
                scene._events.append(Event(time, "part", pair, names))
        self._met = pairs
        if touching.outgrown:
            text = f"the table of contacts had room for {touching.outgrown} and has grown: now for {touching.room}"
            scene._events.append(Event(time, "grown", (), text))
            touching.outgrown = 0
        for rod, count in touching.coarse_rods():
            if rod not in self._coarse:
                self._coarse.add(rod)
                text = (
                    f"{rod.name} winds more tightly than its spans can follow, and may overlap between the places "
                    f"where it is held: {count} control points would do"
                )
                scene._events.append(Event(time, "coarse", (rod,), text))

    def _note_overlap(self, overlap: tuple[float, tuple[Any, Any]], time: float) -> None:
        """Tell of two things that overlapped when the scene began: by how much (m), and which."""
        scene: Any = self
        depth, (first, second) = overlap
        names = f"{first.name} and {'itself' if second is first else second.name}"
        text = f"{names} overlap by {depth:.3g} m where the scene begins, and are pushed apart gently"
        scene._events.append(Event(time, "overlap", (first, second), text))

    def _touching(self) -> TouchingTables | None:
        """The tables of what may touch, or those that there were before the scene was changed."""
        system = self._system  # type: ignore[attr-defined]
        return self._touched if system is None else system.touching

    def _touching_tables(self, layout: Any) -> TouchingTables:
        """The tables of what may touch, for the tables of everything else; they go on from the last ones."""
        made = TouchingTables(layout, self._rules)
        if self._touched is not None:
            made.go_on(self._touched.kept())
        return made

    # ------------------------------------------------------------------------------------------ for snapshots and files

    def _contact_now(self) -> ContactState:
        """Everything of contact that the scene's future depends on."""
        touching = self._touching()
        laws = [(rule, rule.law) for rule in self._rules.rules]
        kept = None if touching is None else touching.kept()
        return ContactState(self._rules.default, laws, dict(self._met), kept, [rule.sides for rule, _ in laws])

    def _set_rules(self, state: ContactState) -> bool:
        """Put rules and laws back. Returns whether they were others."""
        rules = self._rules
        same = rules.default == state.default and [(rule, rule.law) for rule in rules.rules] == state.laws
        same = same and [rule.sides for rule in rules.rules] == state.sides
        rules.default, rules.rules[:] = state.default, [rule for rule, _ in state.laws]
        for (rule, law), sides in zip(state.laws, state.sides, strict=True):
            rule.law = law
            rule.put_sides(sides)
        return not same

    def _contact_goes_on(self, met: dict[tuple[int, int], tuple[Any, Any]], kept: Kept | None) -> None:
        """Go on from what has met and what was kept of it (None: nothing); the system must find its spans after it."""
        self._met = dict(met)
        touching = self._touching()
        if touching is not None:
            touching.go_on(Kept.nothing() if kept is None else kept)

    def _laws_changed(self) -> None:
        """Numbers of laws were set: the tables that there are follow, or are made anew."""
        scene: Any = self
        system = scene._system
        if system is not None and system.touching is not None and not system.touching.refill_laws(self._rules):
            scene._changed(ties=False)
