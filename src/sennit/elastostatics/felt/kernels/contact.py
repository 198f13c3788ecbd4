"""One tick of a probe on skin: a spring and damper to the hand, unilateral contact, Coulomb's friction, passivity.

The probe's tip x holds on to a patch with centre a, outward normal n and compliance C, and may slide by δ along it.
The coupling's force k (h − x) + b (ḣ − ẋ), backward differences, is that of a spring k' = k + b/Δt to the place
h' = (k h + b/Δt (x⁻ + h − h⁻)) / k'. With B = C + 1/k' the force on the skin is ::

    f = B⁻¹ (h' − a − δ),    f_n = −n·f ≥ 0,    |f_t| ≤ μ f_n,    δ along f_t, and 0 where it sticks

Passivity. Energy in skin and spring is V = ½ fᵀC f + ½ k (h − x)². It is convex in hand and slip together, so that
for a patch that stays as it is

    f·(h − h⁻) ≥ V − V⁻ + f·δ ≥ V − V⁻ .

Patches are not all alike: where the probe has slid to a stiffer one, or the mesh ripples, V⁻ has changed without work.
So the hand gets the part γ ≤ 1 of f for which γ V⁻ is no more than the budget, all work that hand and bones have done
less what they got back. Then the budget is no less than γ V after the step either, and never negative: no path of the
hand, closed or not, takes out more than was put in. Where V is a potential, and after any dissipation, γ = 1.
(Cf. B. Hannaford and J.-H. Ryu, Time-domain passivity control of haptic interfaces, IEEE Trans. Robotics and Automation
18, 2002, 1–10, whose controller adds a damper; here nothing that moves is asked for.)
"""

from __future__ import annotations

import math

from sennit.compilation import kernel

_HALVINGS = 48
"""Of the logarithm of how easily the probe slides, which is known to 48 then: 1e-13."""


@kernel
def solve3(a00, a10, a20, a11, a21, a22, x, y, z):
    """A⁻¹ (x, y, z) for a symmetric positive A, by Cholesky's factor."""
    l00 = math.sqrt(a00)
    l10, l20 = a10 / l00, a20 / l00
    l11 = math.sqrt(a11 - l10 * l10)
    l21 = (a21 - l20 * l10) / l11
    l22 = math.sqrt(a22 - l20 * l20 - l21 * l21)
    f0 = x / l00
    f1 = (y - l10 * f0) / l11
    f2 = (z - l20 * f0 - l21 * f1) / l22
    f2 = f2 / l22
    f1 = (f1 - l21 * f2) / l11
    f0 = (f0 - l10 * f1 - l20 * f2) / l00
    return f0, f1, f2


@kernel
def skin_energy(C, n, x, y, z, one_sided):
    """½ dᵀC⁻¹d of the skin displaced by d; `one_sided`: ½ d_n²/(n·C n) if d points inwards, 0 otherwise."""
    if one_sided:
        deep = -(x * n[0] + y * n[1] + z * n[2])
        if deep <= 0.0:
            return 0.0
        soft = 0.0
        for a in range(3):
            for b in range(3):
                soft += n[a] * C[a, b] * n[b]
        return 0.5 * deep * deep / soft
    f0, f1, f2 = solve3(C[0, 0], C[1, 0], C[2, 0], C[1, 1], C[2, 1], C[2, 2], x, y, z)
    return 0.5 * (f0 * x + f1 * y + f2 * z)


@kernel
def dragged(felt, soft, more, d0, d1, d2):
    """f = (B + s P)⁻¹ d with P = 1 − n nᵀ and s = `more`: what a probe applies that slides by δ = s f_t.

    s = 0 sticks, and the larger s is the less is felt along the skin.
    """
    C, n = felt.compliance[0], felt.normal[0]
    own = soft + more
    return solve3(
        C[0, 0] + own - more * n[0] * n[0], C[1, 0] - more * n[1] * n[0], C[2, 0] - more * n[2] * n[0],
        C[1, 1] + own - more * n[1] * n[1], C[2, 1] - more * n[2] * n[1], C[2, 2] + own - more * n[2] * n[2],
        d0, d1, d2,
    )  # fmt: skip


@kernel
def too_far(n, mu, f0, f1, f2):
    """Whether a force lies outside of Coulomb's cone."""
    pushed = -(f0 * n[0] + f1 * n[1] + f2 * n[2])
    t0, t1, t2 = f0 + pushed * n[0], f1 + pushed * n[1], f2 + pushed * n[2]
    return not (pushed > 0.0 and t0 * t0 + t1 * t1 + t2 * t2 <= mu * mu * pushed * pushed)


@kernel
def slide(felt, soft, d0, d1, d2):
    """The force of a probe that slides: the least s for which `dragged` is in the cone, its logarithm by bisection."""
    C, n, force, slip, mu = felt.compliance[0], felt.normal[0], felt.force[0], felt.slip[0], felt.friction[0]
    size = C[0, 0] + C[1, 1] + C[2, 2] + soft
    low, high = math.log(1e-12 * size), math.log(1e9 * size)
    if mu > 0.0:
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            f0, f1, f2 = dragged(felt, soft, math.exp(middle), d0, d1, d2)
            if too_far(n, mu, f0, f1, f2):
                low = middle
            else:
                high = middle
    s = math.exp(high)
    f0, f1, f2 = dragged(felt, soft, s, d0, d1, d2)
    pushed = -(f0 * n[0] + f1 * n[1] + f2 * n[2])
    t0, t1, t2 = f0 + pushed * n[0], f1 + pushed * n[1], f2 + pushed * n[2]
    slip[0], slip[1], slip[2] = s * t0, s * t1, s * t2
    if mu == 0.0:  # what is left along the skin is rounding
        f0, f1, f2 = -pushed * n[0], -pushed * n[1], -pushed * n[2]
    force[0], force[1], force[2] = f0, f1, f2
    felt.touching[0] = 1


@kernel
def rounding(hand, old, stiffness):
    """Energy that rounding of places alone may show in springs up to 1e5 times as stiff as the coupling, J.

    A probe that has not touched yet has no budget, and would get none if what rounding shows had to be paid for.
    """
    far = 0.0
    for c in range(3):
        far = max(far, max(abs(hand[c]), abs(old[c])))
    far *= 1e-15
    return 1e5 * stiffness * far * far


@kernel
def answer(felt):
    """One tick of the table `FeltContact`: the hand is at `hand`; tip, force, slip, budget and share are found."""
    C, C0, n, a = felt.compliance[0], felt.former_compliance[0], felt.normal[0], felt.centre[0]
    hand, old, tip, former = felt.hand[0], felt.hand_before[0], felt.tip[0], felt.former[0]
    force, slip = felt.force[0], felt.slip[0]
    k, mu = felt.stiffness[0], felt.friction[0]
    damper = felt.damping[0] / felt.step[0]
    ke = k + damper
    touched = felt.touching[0] == 1
    felt.touching[0] = 0
    near = touched or felt.enters[0] == 1

    # What bones and sliding have changed since the last tick: the bones' part is work of theirs.
    before, spring = 0.0, 0.0
    for c in range(3):
        spring += 0.5 * k * (old[c] - tip[c]) ** 2
    if near:
        before = skin_energy(C, n, tip[0] - a[0], tip[1] - a[1], tip[2] - a[2], not touched)
        past = skin_energy(C0, n, tip[0] - former[0], tip[1] - former[1], tip[2] - former[2], not touched)
        felt.budget[0] = max(felt.budget[0] + felt.share[0] * (before - past), 0.0)
    before += spring
    felt.share[0] = 1.0
    if before > felt.budget[0] + rounding(hand, old, ke):
        felt.share[0] = felt.budget[0] / before

    # h' and d = h' − a
    d0 = (k * hand[0] + damper * (tip[0] + hand[0] - old[0])) / ke - a[0]
    d1 = (k * hand[1] + damper * (tip[1] + hand[1] - old[1])) / ke - a[1]
    d2 = (k * hand[2] + damper * (tip[2] + hand[2] - old[2])) / ke - a[2]
    for c in range(3):
        force[c], slip[c] = 0.0, 0.0
    if near:
        soft = 1.0 / ke
        f0, f1, f2 = solve3(C[0, 0] + soft, C[1, 0], C[2, 0], C[1, 1] + soft, C[2, 1], C[2, 2] + soft, d0, d1, d2)
        if not too_far(n, mu, f0, f1, f2):
            force[0], force[1], force[2] = f0, f1, f2
            felt.touching[0] = 1
        elif d0 * n[0] + d1 * n[1] + d2 * n[2] < 0.0:
            slide(felt, soft, d0, d1, d2)
    work, energy = 0.0, 0.0
    for c in range(3):
        work += force[c] * (hand[c] - old[c])
    # By rounding, or where a contact begins beside its normal, a little more could be asked for than there is.
    if felt.budget[0] + felt.share[0] * work < 0.0:
        felt.share[0] = felt.budget[0] / -work
    felt.budget[0] = max(felt.budget[0] + felt.share[0] * work, 0.0)
    tip[0], tip[1], tip[2] = d0 + a[0] - force[0] / ke, d1 + a[1] - force[1] / ke, d2 + a[2] - force[2] / ke
    for c in range(3):
        energy += 0.5 * k * (hand[c] - tip[c]) ** 2
        for b in range(3):
            energy += 0.5 * force[c] * C[c, b] * force[b]
    felt.stored[0] = felt.share[0] * energy
    for c in range(3):
        force[c] *= felt.share[0]
        old[c] = hand[c]
