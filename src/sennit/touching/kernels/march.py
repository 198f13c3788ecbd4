"""Steps of a scene where things may touch: what they ask for besides the forces (`solve`), and their march.

The kernels of steps call these by the names in `solve.kernels.touching`; the declarations at the end say what is meant.
"""

from __future__ import annotations

from sennit.compilation import kernel, merged, overload
from sennit.contact.kernels.memory import remember
from sennit.solve.kernels import touching
from sennit.solve.kernels.codes import CONTACT_MISSED, CONTACT_UNSOLVED, MISSED, SHOCKED, SOLVED, TOUCHED
from sennit.solve.kernels.entries import march
from sennit.touching.kernels.account import note_pairs, note_touched
from sennit.touching.kernels.bend import bend_all
from sennit.touching.kernels.ends import RODS_MISSED
from sennit.touching.kernels.find import find_all, judge_all, judge_rods
from sennit.touching.kernels.margins import forget_margins, went_too_far
from sennit.touching.kernels.newton import cable_numbers
from sennit.touching.kernels.solve import solve_with_contacts
from sennit.touching.kernels.speed import CONTACT_FAST, flies_through
from sennit.touching.kernels.windings import CONTACT_STIFF, note_windings, too_stiff


@kernel
def look_for_contacts(scene):
    """Find what may touch in this step. Returns SOLVED, TOUCHED if the tables or the matrix have no room for it, MISSED
    if it flies too far or is too long for the forces in a winding, or SHOCKED if something touches in a scheme that
    can't follow it.
    """
    state = scene.touch.state
    if find_all(scene) == 1 or cable_numbers(scene) != state.cable_numbers[0]:
        return TOUCHED
    if scene.settings.static[0] == 0 and scene.settings.lenient[0] == 0:
        deep, culprit = flies_through(scene)
        if culprit >= 0:
            scene.report.cause[0], scene.report.culprit[0], scene.report.missed[0] = CONTACT_FAST, culprit, deep
            return MISSED
    ratio, culprit = too_stiff(scene)
    if culprit >= 0:
        scene.report.cause[0], scene.report.culprit[0], scene.report.missed[0] = CONTACT_STIFF, culprit, ratio
        return MISSED
    if state.chosen[0] > 0 and scene.settings.turns[0] > 1 and scene.settings.static[0] == 0:
        scene.report.struck[0] = 1
        return SHOCKED
    return SOLVED


@kernel
def judge_touching(scene):
    """Note a contact whose overlap at the iterate is more than a step may leave.

    Returns TOUCHED if others may have come near that were not looked at.
    """
    if went_too_far(scene):
        scene.touch.state.unseen[0] = 1
        return TOUCHED
    note_touched(scene)
    worst, culprit = judge_all(scene)
    if scene.touch.state.converged[0] == 0 and scene.settings.lenient[0] == 0 and scene.report.cause[0] == 0:
        scene.report.cause[0], scene.report.culprit[0], scene.report.missed[0] = CONTACT_UNSOLVED, 0, 0.0
    if culprit >= 0 and scene.report.cause[0] == 0:
        scene.report.cause[0], scene.report.culprit[0], scene.report.missed[0] = CONTACT_MISSED, culprit, worst
    if scene.report.cause[0] == 0:
        worst, culprit = judge_rods(scene)
        if culprit >= 0:
            scene.report.cause[0], scene.report.culprit[0], scene.report.missed[0] = RODS_MISSED, culprit, worst
    return SOLVED


@merged
def has_struck(scene):
    """Whether something struck in a shock."""
    return scene.touch.state.struck[0] == 1


@kernel
def accept_touching(scene):
    """Keep the forces of an accepted step."""
    touch = scene.touch
    state = touch.state
    news = note_windings(scene)
    if note_pairs(scene) or news:
        scene.report.happenings[0] = 1
    if has_struck(scene):
        scene.report.struck[0] = 1
    state.active[0] = remember(min(state.found[0], touch.rows.slot.size), touch.contacts, touch.rows, touch.memory)
    state.reach[0], state.again[0] = 0.0, 0
    forget_margins(touch)


@kernel
def march_touching(parts, count, scene):
    """`solve.kernels.entries.march` of a scene where things may touch."""
    return march(parts, count, scene)


touching.ANSWERS.update(
    bend_contacts=bend_all, find_contacts=look_for_contacts, find_forces=solve_with_contacts,
    judge_contacts=judge_touching, accept_contacts=accept_touching, strikes=has_struck,
)  # fmt: skip


@overload(touching.find_contacts)
def _find_contacts(scene):
    return (lambda scene: look_for_contacts(scene)) if "touch" in dict(scene.fields) else None


@overload(touching.bend_contacts)
def _bend_contacts(scene):
    return (lambda scene: bend_all(scene)) if "touch" in dict(scene.fields) else None


@overload(touching.find_forces)
def _find_forces(scene):
    return (lambda scene: solve_with_contacts(scene)) if "touch" in dict(scene.fields) else None


@overload(touching.judge_contacts)
def _judge_contacts(scene):
    return (lambda scene: judge_touching(scene)) if "touch" in dict(scene.fields) else None


@overload(touching.accept_contacts)
def _accept_contacts(scene):
    return (lambda scene: accept_touching(scene)) if "touch" in dict(scene.fields) else None


@overload(touching.strikes)
def _strikes(scene):
    return (lambda scene: has_struck(scene)) if "touch" in dict(scene.fields) else None
