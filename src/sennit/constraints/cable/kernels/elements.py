"""Elements that are put between others and taken out, as a cable comes to lie on bodies and leaves them."""

from __future__ import annotations

from sennit.compilation import inlined, kernel


@kernel
def copy_element(of, to, elements):
    """Let element `to` be what element `of` is; what others keep there while they work is left alone."""
    elements.carrier[to] = elements.carrier[of]
    elements.radius[to] = elements.radius[of]
    elements.sense[to] = elements.sense[of]
    elements.inertia[to] = elements.inertia[of]
    elements.friction[to] = elements.friction[of]
    elements.half_length[to] = elements.half_length[of]
    elements.kind[to] = elements.kind[of]
    elements.obstacle[to] = elements.obstacle[of]
    elements.edge[to] = elements.edge[of]
    elements.divides[to] = elements.divides[of]
    elements.rotor[to] = elements.rotor[of]
    elements.on[to] = elements.on[of]
    elements.wrap_before[to] = elements.wrap_before[of]
    elements.wrap_after[to] = elements.wrap_after[of]
    elements.u[to] = elements.u[of]
    elements.spin[to] = elements.spin[of]
    elements.spin_last[to] = elements.spin_last[of]
    elements.turn_last[to] = elements.turn_last[of]
    elements.angle[to] = elements.angle[of]
    elements.feed[to] = elements.feed[of]
    elements.grip[to] = elements.grip[of]
    elements.following[to] = elements.following[of]
    elements.span[to] = elements.span[of]
    elements.arc[to] = elements.arc[of]
    elements.was[to] = elements.was[of]
    for a in range(3):
        elements.centre[to, a] = elements.centre[of, a]
        elements.axis[to, a] = elements.axis[of, a]
        elements.mark[to, a] = elements.mark[of, a]
        elements.normal[to, a] = elements.normal[of, a]
        elements.arrive[to, a] = elements.arrive[of, a]
        elements.leave[to, a] = elements.leave[of, a]
        elements.along[to, a] = elements.along[of, a]
        elements.centre_now[to, a] = elements.centre_now[of, a]
        elements.axis_now[to, a] = elements.axis_now[of, a]
        elements.start_mark[to, a] = elements.start_mark[of, a]
        elements.point_now[to, a] = elements.point_now[of, a]
        for b in range(6):
            elements.wrench[to, a, b] = elements.wrench[of, a, b]


@kernel
def clear_element(e, elements):
    """Let element `e` be all zeros."""
    elements.carrier[e] = 0
    elements.radius[e] = 0.0
    elements.sense[e] = 0.0
    elements.inertia[e] = 0.0
    elements.friction[e] = 0.0
    elements.half_length[e] = 0.0
    elements.kind[e] = 0
    elements.obstacle[e] = 0
    elements.edge[e] = 0
    elements.divides[e] = 0
    elements.rotor[e] = 0
    elements.on[e] = 0
    elements.wrap_before[e] = 0.0
    elements.wrap_after[e] = 0.0
    elements.u[e] = 0.0
    elements.spin[e] = 0.0
    elements.spin_last[e] = 0.0
    elements.turn_last[e] = 0.0
    elements.angle[e] = 0.0
    elements.feed[e] = 0.0
    elements.grip[e] = 0
    elements.following[e] = 0
    elements.span[e] = 0.0
    elements.arc[e] = 0.0
    elements.was[e] = 0
    for a in range(3):
        elements.centre[e, a] = 0.0
        elements.axis[e, a] = 0.0
        elements.mark[e, a] = 0.0
        elements.normal[e, a] = 0.0
        elements.arrive[e, a] = 0.0
        elements.leave[e, a] = 0.0
        elements.along[e, a] = 0.0
        elements.centre_now[e, a] = 0.0
        elements.axis_now[e, a] = 0.0
        elements.start_mark[e, a] = 0.0
        elements.point_now[e, a] = 0.0
        for b in range(6):
            elements.wrench[e, a, b] = 0.0


@kernel
def open_row(c, at, cables, elements):
    """Move the cable's elements from `at` on by one and clear that one."""
    for i in range(cables.first[c] + cables.count[c], at, -1):
        copy_element(i - 1, i, elements)
    clear_element(at, elements)
    cables.count[c] += 1


@kernel
def close_row(c, at, cables, elements):
    """Take element `at` out of the cable."""
    cables.count[c] -= 1
    for i in range(at, cables.first[c] + cables.count[c]):
        copy_element(i + 1, i, elements)


@inlined
def last_on(c, i, cables, elements):
    """The element before i that the cable touches; -1: none."""
    for j in range(i - 1, cables.first[c] - 1, -1):
        if elements.on[j] != 0:
            return j
    return -1
