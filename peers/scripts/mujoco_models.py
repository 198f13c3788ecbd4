"""MuJoCo models of the tasks: 1-D flexes, chains of rigid links with springs in their joints, spatial tendons.

- A *flex* (a discrete elastic rod) has a mass at each vertex and bends at its vertices. A clamp that holds two vertices
  acts at the middle of the edge between them: a clamped rod begins half an edge before its clamp. MuJoCo keeps its
  edges by soft equality constraints; `match_stretch` gives these the stiffness EA/h of the rod, so that it stretches as
  it should, at any step.
- A *chain* has rigid links, half a link fixed in each clamp, and hinges with springs between them: three in each joint
  (twist and two bends), or one for a rod in a plane. The three are nested, which couples them a little; every other
  joint has them in reverse order, which cancels this to first order.
- A *tendon* is a spring of the cable's stiffness between two sites, massless by itself.

Everything in SI units, z upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import measures
import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Problem = dict[str, Any]
FLEX_ROWS, TENDON_ROWS = int(mujoco.mjtEq.mjEQ_FLEX), int(mujoco.mjtEq.mjEQ_TENDON)
AXES = ("1 0 0", "0 1 0", "0 0 1")
SLIDES = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in AXES)
STIFF = 'solref="1e-4 1" solimp="0.9999 0.9999 0.001"'  # a constraint as hard as MuJoCo makes them
# The stiffness is replaced by `match_stretch`, the damping is as good as none. The impedance 0.9, the same for every
# violation, is free: it and the stiffness set together how hard the constraint is.
SPRING = 'solref="-1e6 -1e-6" solimp="0.9 0.9 1"'


def text(values: Any) -> str:
    """Numbers for an attribute, in full precision."""
    return " ".join(repr(float(value)) for value in np.ravel(values))


def compiled(
    dt: float,
    gravity: Sequence[float],
    world: str,
    rest: str = "",
    *,
    integrator: str = "discrete",
    solver: str = "Newton",
    flags: str = "",
) -> tuple[Any, Any]:
    """Compile a model and make its data."""
    xml = f"""<mujoco><compiler angle="radian"/>
<option timestep="{dt!r}" gravity="{text(gravity)}" integrator="{integrator}" solver="{solver}" tolerance="1e-10">
<flag contact="disable" {flags}/></option>
<worldbody>{world}</worldbody>{rest}</mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def point_body(name: str, position: Any, mass: float) -> str:
    """A body that moves without turning."""
    mass, inertia = float(mass), 1e-6 * float(mass)
    return (
        f'<body name="{name}" pos="{text(position)}">{SLIDES}<inertial pos="0 0 0" mass="{mass!r}" '
        f'diaginertia="{text((inertia,) * 3)}"/><site name="{name}"/></body>'
    )


def flex_element(name: str, problem: Problem, bodies: Sequence[str], places: Any, *, bends: bool = True) -> str:
    """A 1-D flex whose vertices lie at `places` in the frames of `bodies`."""
    edges = " ".join(f"{i} {i + 1}" for i in range(len(bodies) - 1))
    elasticity = (
        f'<elasticity young="{problem["youngs_modulus"]!r}" shear="{problem["shear_modulus"]!r}"/>' if bends else ""
    )
    return (
        f'<flex name="{name}" dim="1" radius="{problem["radius"]!r}" body="{" ".join(bodies)}" '
        f'vertex="{text(places)}" element="{edges}">{elasticity}'
        f'<contact selfcollide="none" contype="0" conaffinity="0"/></flex>'
    )


def match_stretch(model: Any, data: Any, stiffness: float, kind: int) -> None:
    """Give the soft constraints of a `kind` the `stiffness` (N/m) of a spring.

    A row at rest pulls with -efc_D · efc_aref, which is proportional to its violation; the stiffness in solref is
    scaled until this is the wanted force. It depends on damping, which must be set before. Rows of one flex differ by
    their masses, which is evened out first.
    """
    if kind == FLEX_ROWS:
        model.flexedge_invweight0[:] = model.flexedge_invweight0.mean()
    for _ in range(8):
        mujoco.mj_forward(model, data)
        rows = [row for row in range(data.nefc) if model.eq_type[data.efc_id[row]] == kind]
        pull = -data.efc_D[rows] * data.efc_aref[rows]
        violation = data.efc_pos[rows]
        violated = np.abs(violation) > 1e-9
        if not violated.any():
            raise ValueError("no constraint is violated: its stiffness can't be seen")
        found = float(np.median(pull[violated] / violation[violated]))
        for equality in range(model.neq):
            if model.eq_type[equality] == kind:
                model.eq_solref[equality, 0] *= stiffness / found


def set_drag(model: Any, rate: float) -> None:
    """Let each body feel a force -rate · mass · velocity (1/s), and the same for turning."""
    for body in range(1, model.nbody):
        first, count = model.body_dofadr[body], model.body_dofnum[body]
        if count in (3, 6):
            model.dof_damping[first : first + 3] = rate * model.body_mass[body]
        if count == 6:
            model.dof_damping[first + 3 : first + 6] = rate * model.body_inertia[body]


def section(problem: Problem) -> dict[str, float]:
    """Stiffnesses EA (N), EI, GJ (N·m²) and mass per length (kg/m)."""
    second = problem["second_moment"]
    return {
        "EA": problem["youngs_modulus"] * problem["area"],
        "EI": problem["youngs_modulus"] * second,
        "GJ": problem["shear_modulus"] * 2.0 * second,
        "mass": problem["density"] * problem["area"],
    }


# ----------------------------------------------------------------------------------------------------- cantilevers


def flex_cantilever(problem: Problem, n: int, dt: float, *, drag: float = 0.0) -> tuple[Any, Any]:
    """A rod of `n` edges clamped at the origin along +x; its last vertex, at body "v{n}", is its tip."""
    size = problem["length"] / (n - 0.5)
    places = np.zeros((n + 1, 3))
    places[:, 0] = size * (np.arange(n + 1) - 0.5)
    masses = np.full(n + 1, section(problem)["mass"] * size)
    masses[-1] *= 0.5
    world = "".join(point_body(f"v{i}", places[i], masses[i]) for i in range(2, n + 1))
    local = places.copy()
    local[2:] = 0.0
    flex = flex_element("rod", problem, ["world", "world", *(f"v{i}" for i in range(2, n + 1))], local)
    rest = f'<deformable>{flex}</deformable><equality><flex flex="rod" {SPRING}/></equality>'
    model, data = compiled(dt, problem["gravity"], world, rest)
    set_drag(model, drag)
    data.qpos[:] = 1e-3 * places[2:].ravel()  # stretched a little, to see its stiffness
    match_stretch(model, data, section(problem)["EA"] / size, FLEX_ROWS)
    mujoco.mj_resetData(model, data)
    return model, data


def _links(problem: Problem, size: float, lengths: Floats, marks: dict[int, str], *, planar: bool) -> str:
    """Links one inside the other, the first joint at half a link from the clamp. `marks`: sites at links' middles."""
    law, r = section(problem), problem["radius"]
    stiffness = dict(zip(AXES, (law["GJ"] / size, law["EI"] / size, law["EI"] / size), strict=True))
    world = ""
    for i, length in enumerate(lengths.tolist()):
        mass = law["mass"] * length
        across, along = mass * (3.0 * r * r + length * length) / 12.0, 0.5 * mass * r * r
        axes = AXES[1:2] if planar else AXES[:: -1 if i % 2 else 1]
        joints = "".join(f'<joint type="hinge" axis="{axis}" stiffness="{stiffness[axis]!r}"/>' for axis in axes)
        world += f'<body pos="{0.5 * size if i == 0 else size!r} 0 0">{joints}'
        world += f'<inertial pos="{0.5 * length!r} 0 0" mass="{mass!r}" diaginertia="{text((along, across, across))}"/>'
        if i in marks:
            world += f'<site name="{marks[i]}" pos="{0.5 * length!r} 0 0"/>'
    return world + f'<site name="tip" pos="{float(lengths[-1])!r} 0 0"/>' + "</body>" * len(lengths)


def chain_cantilever(
    problem: Problem, n: int, dt: float, *, planar: bool, integrator: str = "discrete"
) -> tuple[Any, Any]:
    """A chain of `n` links, the first half of the first in the clamp at the origin, along +x; site "tip"."""
    size = problem["length"] / (n - 0.5)
    world = _links(problem, size, np.full(n - 1, size), {}, planar=planar)
    return compiled(dt, problem["gravity"], world, integrator=integrator)


# --------------------------------------------------------------------------------------------------------- hoist


def hoist(
    problem: Problem,
    n: int,
    dt: float,
    *,
    kind: str,
    massive: bool,
    integrator: str = "discrete",
) -> tuple[Any, Any]:
    """A cable of `n` pieces with the load at body "p{n}". `kind`: flex, tendon, tendon equality or tendon limit."""
    length, size = problem["length"], problem["length"] / n
    start = np.array(problem["references"]["massive cable" if massive else "massless cable"]["start"])
    places = np.outer(np.arange(n + 1) / n, start)
    unstretched = places * (length / np.linalg.norm(start))
    masses = np.full(n + 1, section(problem)["mass"] * size if massive else 0.0)
    masses[-1] = 0.5 * masses[-1] + problem["load"]
    # A flex takes its rest lengths from where it is built.
    built = unstretched if kind == "flex" else places
    world = '<site name="p0"/>' + "".join(point_body(f"p{i}", built[i], masses[i]) for i in range(1, n + 1))
    stiffness = section(problem)["EA"] / size
    kind_of_row = None
    if kind == "flex":
        names = ["world", *(f"p{i}" for i in range(1, n + 1))]
        flex = flex_element("cable", problem, names, np.zeros((n + 1, 3)), bends=n > 1)
        rest = f'<deformable>{flex}</deformable><equality><flex flex="cable" {SPRING}/></equality>'
        kind_of_row = FLEX_ROWS
    else:
        spring = {
            "tendon": f'stiffness="{stiffness!r}" springlength="0 {size!r}"',
            "tendon limit": f'limited="true" range="0 {size!r}" solreflimit="1e-4 1" solimplimit="0.9999 0.9999 0.001"',
            "tendon equality": "",
        }[kind]
        tendons = "".join(
            f'<spatial name="t{i}" {spring}><site site="p{i}"/><site site="p{i + 1}"/></spatial>' for i in range(n)
        )
        rest = f"<tendon>{tendons}</tendon>"
        if kind == "tendon equality":
            # Its rest length is the built one; polycoef[0] shifts it to the unstretched one.
            shift = size - float(np.linalg.norm(start)) / n
            rows = "".join(f'<tendon tendon1="t{i}" polycoef="{shift!r} 0 0 0 0" {SPRING}/>' for i in range(n))
            rest += f"<equality>{rows}</equality>"
            kind_of_row = TENDON_ROWS
    model, data = compiled(dt, problem["gravity"], world, rest, integrator=integrator)
    if kind == "flex":
        data.qpos[:] = (places - unstretched)[1:].ravel()
    if kind_of_row is not None:
        match_stretch(model, data, stiffness, kind_of_row)
    return model, data


# -------------------------------------------------------------------------------------------------------- bridge


def bridge(problem: Problem, n: int, dt: float, *, kind: str) -> tuple[Any, Any]:
    """The rope bridge with `n` pieces in each rope, a multiple of the bays. `kind`: flex, or tendon (no bending).

    A rope's vertex at a rung is a body of its own for a flex, held on the rung by a connect constraint; for tendons it
    is a site on the rung, which carries the rope's mass there.
    """
    size, bays = problem["length"] / n, problem["rungs"] + 1
    rungs = {(k + 1) * n // bays: k for k in range(problem["rungs"])}
    arc = measures.arc(problem, size * np.arange(n + 1))
    straight = np.zeros((n + 1, 3))
    straight[:, 0] = size * np.arange(n + 1) - 0.5 * problem["length"]
    piece = section(problem)["mass"] * size
    mass, bar = problem["rung_mass"], problem["rung_length"]
    on_rung = 2.0 * piece if kind == "tendon" else 0.0
    world, start = "", []
    for vertex, k in rungs.items():
        load = problem["load"] if k == problem["rungs"] // 2 else 0.0
        across = mass * bar**2 / 12.0 + on_rung * (0.5 * bar) ** 2
        sites = "".join(f'<site name="{rope}{vertex}" pos="0 {y!r} 0"/>' for rope, y in _ropes(problem))
        world += (
            f'<body name="rung{k}" pos="{text(straight[vertex])}"><freejoint/><inertial pos="0 0 0" '
            f'mass="{mass + load + on_rung!r}" diaginertia="{text((across, 1e-2 * across, across))}"/>'
            f"{sites if kind == 'tendon' else ''}</body>"
        )
        start += [*arc[vertex], 1.0, 0.0, 0.0, 0.0]
    world += "".join(f'<body name="pin{i}" pos="{text(straight[i])}"/>' for i in (0, n))
    ropes = constraints = ""
    for rope, y in _ropes(problem):
        bodies, local = ["pin0"], [(0.0, y, 0.0)]
        for i in range(1, n):
            if kind == "tendon" and i in rungs:
                continue
            world += point_body(f"{rope}{i}", straight[i] + (0.0, y, 0.0), piece)
            start += [*(arc[i] - straight[i])]
            bodies.append(f"{rope}{i}")
            local.append((0.0, 0.0, 0.0))
            if i in rungs:
                anchor = f'anchor="0 {y!r} 0"'
                constraints += f'<connect body1="rung{rungs[i]}" body2="{rope}{i}" {anchor} {STIFF}/>'
        if kind == "flex":
            ropes += flex_element(rope, problem, [*bodies, f"pin{n}"], [*local, (0.0, y, 0.0)])
            constraints += f'<flex flex="{rope}" {SPRING}/>'
        else:
            for i in (0, n):
                world += f'<site name="{rope}{i}" pos="{text(arc[i] + (0.0, y, 0.0))}"/>'
            spring = f'stiffness="{section(problem)["EA"] / size!r}" springlength="0 {size!r}"'
            ropes += "".join(
                f'<spatial {spring}><site site="{rope}{i}"/><site site="{rope}{i + 1}"/></spatial>' for i in range(n)
            )
    group = "deformable" if kind == "flex" else "tendon"
    rest = f"<{group}>{ropes}</{group}><equality>{constraints}</equality>"
    model, data = compiled(dt, problem["gravity"], world, rest)
    # Built straight, so that it is straight when unloaded; then the ends go to their pins.
    for i in (0, n):
        model.body(f"pin{i}").pos[:] = arc[i]
    data.qpos[:] = start
    set_drag(model, problem["damping"])
    if kind == "flex":
        match_stretch(model, data, section(problem)["EA"] / size, FLEX_ROWS)
    return model, data


def _ropes(problem: Problem) -> list[tuple[str, float]]:
    return list(zip("ab", problem["ropes_y"], strict=True))


# ------------------------------------------------------------------------------------------------- pose to pose


def chain_between(problem: Problem, n: int, dt: float) -> tuple[Any, Any]:
    """A chain of `n` links (even) from the clamp at the origin to the body "target"; site "middle"."""
    size = problem["length"] / n
    lengths = np.full(n, size)
    lengths[-1] = 0.5 * size
    world = _links(problem, size, lengths, {n // 2 - 1: "middle"}, planar=False)
    world += f'<body name="target" mocap="true" pos="{problem["length"]!r} 0 0"><site name="target"/></body>'
    return compiled(dt, problem["gravity"], world, f'<equality><weld site1="target" site2="tip" {STIFF}/></equality>')


def flex_between(problem: Problem, n: int, dt: float) -> tuple[Any, Any]:
    """A twisting flex of `n` edges (even) from the clamp at the origin to the body "target"; vertex n/2 is its middle.

    A hinge for each free edge, with the name that MuJoCo looks for, carries the edge's twist.
    """
    size = problem["length"] / (n - 1)
    law = section(problem)
    polar = 0.5 * law["mass"] * size * problem["radius"] ** 2
    places = np.zeros((n + 1, 3))
    places[:, 0] = size * (np.arange(n + 1) - 0.5)
    world = f'<body name="target" mocap="true" pos="{problem["length"]!r} 0 0"/>'
    world += "".join(point_body(f"v{i}", places[i], law["mass"] * size) for i in range(2, n - 1))
    for i in range(1, n - 1):
        world += (
            f'<body name="rod_twist_{i}"><inertial pos="0 0 0" mass="1e-9" diaginertia="{text((polar,) * 3)}"/>'
            f'<joint name="rod_twist_{i}" axis="1 0 0"/></body>'
        )
    local = np.zeros((n + 1, 3))
    local[:2] = places[:2]
    local[-2:, 0] = -0.5 * size, 0.5 * size
    bodies = ["world", "world", *(f"v{i}" for i in range(2, n - 1)), "target", "target"]
    flex = flex_element("rod", problem, bodies, local)
    rest = f'<deformable>{flex}</deformable><equality><flex flex="rod" {SPRING}/></equality>'
    model, data = compiled(dt, problem["gravity"], world, rest)
    data.qpos[: 3 * (n - 3)] = 1e-3 * places[2:-2].ravel()
    match_stretch(model, data, law["EA"] / size, FLEX_ROWS)
    mujoco.mj_resetData(model, data)
    return model, data
