"""Makes the figures of elastic zones in ``docs/images``: ``uv run python docs/make_zone_figures.py``, or some by name.

Green's functions are kept on disk: the first run takes a minute or two more.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import numpy as np
import trimesh
from make_images import IMAGES, make
from matplotlib import colormaps
from matplotlib import pyplot as plt
from PIL import Image

import sennit as sn
from sennit.cli import main as demo
from sennit.demos.finger_mesh import finger
from sennit.export.painting import Camera, Facets, Stage, write_picture
from sennit.export.solids import floor

BLUE, ORANGE, GREEN, GREY = "#00728c", "#c44e14", "#5a8f3c", "#9aa2ac"
GEL = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1000)
BACKDROP, GROUND, STEEL, FLESH = (247, 248, 250), (226, 230, 233), (96, 104, 114), (232, 196, 172)


def dress(panel: plt.Axes, **labels: str) -> None:
    """Labels, and a frame on two sides."""
    panel.set(**labels)
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.3, linewidth=0.6)


# -------------------------------------------------------------------------------------------------------------- Hertz


def domed(squeeze: float, subdivisions: int) -> sn.Zone:
    """A ball of radius 1 held below its equator, its mesh drawn together at the top: tan(θ/2) times `squeeze`."""
    mesh = trimesh.creation.icosphere(subdivisions=subdivisions)
    polar = 2.0 * np.arctan(squeeze * np.tan(0.5 * np.arccos(np.clip(mesh.vertices[:, 2], -1.0, 1.0))))
    around = np.arctan2(mesh.vertices[:, 1], mesh.vertices[:, 0])
    across = np.sin(polar)
    vertices = np.column_stack((across * np.cos(around), across * np.sin(around), np.cos(polar)))
    return sn.Zone.from_mesh(vertices, mesh.faces, material=GEL, fixed=vertices[:, 2] < 0.0)


def make_hertz() -> None:
    """Pressures under a ball, and how good peak and radius are, over how many triangles an imprint is wide."""
    zone = domed(0.12, 3)
    modulus = GEL.youngs_modulus / (1.0 - GEL.poisson_ratio**2)
    half = 1.0 / 2.0  # curvatures of two unit balls
    r = np.hypot(*zone.vertices[:, :2].T)
    edge = float(np.sort(r)[1:7].mean())  # spacing at the top

    def pressed(imprint: float) -> tuple[sn.PressState, float, float]:
        """A ball whose imprint is about so wide; Hertz's radius and peak for its force."""
        state = zone.press(sn.Sphere((0.0, 0.0, 2.0 - imprint**2 / half), 1.0))
        radius = (0.75 * -state.force[2] * half / modulus) ** (1.0 / 3.0)
        return state, radius, 1.5 * -state.force[2] / (np.pi * radius**2)

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), constrained_layout=True)
    state, radius, peak = pressed(5.0 * edge)
    s = np.linspace(0.0, 1.0, 300)
    left.plot(s, np.sqrt(1.0 - s**2), color=GREY, label="Hertz, at the same force")
    near = (r < 1.45 * radius) & (zone.vertices[:, 2] > 0.0)
    left.plot(r[near] / radius, state.pressures[near] / peak, "o", color=BLUE, markersize=3.5, label="vertices")
    dress(left, xlabel="distance from the middle / a", ylabel="pressure / p₀")
    left.legend(frameon=False, fontsize=9)
    rows = []
    for imprint in np.linspace(2.2, 7.0, 80) * edge:
        state, radius, peak = pressed(imprint)
        fits = state.contact_radius / radius, state.peak_pressure / peak, state.pressures.max() / peak
        rows.append((radius / edge, *(100.0 * (value - 1.0) for value in fits)))
    count, *errors = np.array(rows).T
    names = "fitted radius", "fitted peak", "largest pressure at a vertex"
    for values, name, colour in zip(errors, names, (BLUE, ORANGE, GREEN), strict=True):
        right.plot(count, values, color=colour, label=name)
    right.axhline(0.0, color=GREY, linewidth=0.8)
    right.set_ylim(-8.0, 16.0)
    dress(right, xlabel="triangles to the radius of the imprint", ylabel="error, %")
    right.legend(frameon=False, fontsize=9)
    figure.savefig(IMAGES / "zone_hertz.png", dpi=110)
    plt.close(figure)


# ------------------------------------------------------------------------------------------------------------- ripple


def box(size: tuple[float, float, float], edge: float) -> trimesh.Trimesh:
    """A box centred at the origin, triangles with edges up to so long."""
    return trimesh.creation.box(size).subdivide_to_size(edge)


def make_ripple() -> None:
    """Stiffness of a probe that wanders over a pad: as a bare point, and with three radii."""
    mesh = box((0.06, 0.06, 0.03), 0.006)
    vertices = np.array(mesh.vertices)
    zone = sn.Zone.from_mesh(vertices, mesh.faces, material=GEL, fixed=vertices[:, 2] < -0.0149)
    spacing = float(np.sqrt(mesh.area / len(vertices)))
    way = np.linspace(-1.0, 1.0, 401)
    places = np.column_stack((0.012 * way, 0.0073 * way + 0.001, np.full_like(way, 0.015)))
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.2), constrained_layout=True)
    for radius, name, colour in (
        (0.0, "bare point", GREY),
        (1.6 * spacing, "ρ = 1.6 √area", ORANGE),
        (None, "ρ = 2.5 √area (default)", BLUE),
    ):
        k = [zone.touch(p, displacement=(0.0, 0.0, -1e-3), radius=radius).probe.stiffness[2, 2] for p in places]
        smooth = np.polyval(np.polyfit(way, k, 4), way)
        for panel in panels:
            panel.plot(1e3 * 0.014 * way, np.array(k) / smooth, color=colour, linewidth=1.4, label=name)
        print(f"{name}: ripple {100 * np.abs(np.array(k) / smooth - 1).max():.2f} %, {len(vertices)} vertices")
    dress(panels[0], xlabel="along the way over the pad, mm", ylabel="normal stiffness over its trend")
    dress(panels[1], xlabel="along the way over the pad, mm")
    panels[0].set_ylim(0.5, 1.7)
    panels[1].set_ylim(0.985, 1.015)
    panels[1].set_title("the same, magnified", fontsize=10)
    panels[0].legend(frameon=False, fontsize=9, loc="upper center", ncols=2)
    figure.savefig(IMAGES / "zone_ripple.png", dpi=110)
    plt.close(figure)


# -------------------------------------------------------------------------------------------------------- convergence


def thick_sphere(frequency: int) -> tuple[int, float, float]:
    """Vertices; errors of displacement with pressure given inside, and outside with displacement given inside."""
    steel = sn.Material(youngs_modulus=1.0, poisson_ratio=0.3, density=1.0)
    ball = geodesic(frequency)
    count = len(ball.vertices)
    vertices = np.concatenate((ball.vertices, 0.5 * ball.vertices))
    faces = np.concatenate((ball.faces, ball.faces[:, ::-1] + count))
    zone = sn.Zone.from_mesh(vertices, faces, material=steel)
    r = np.linalg.norm(vertices, axis=1)[:, None]
    exact = vertices / r / 7.0 * (0.4 * r + 0.65 / r**2)
    inner = np.arange(len(ball.faces), 2 * len(ball.faces))
    normals = trimesh.Trimesh(vertices, faces, process=False).face_normals
    pushed = zone.solve(face_tractions={int(f): -normals[f] for f in inner}, rigid_modes="removed")
    given = zone.with_fixed(np.arange(count, 2 * count)).solve(
        displacements={int(v): exact[v] for v in range(count, 2 * count)}
    )
    parts = ((pushed.displacements, slice(None)), (given.displacements, slice(count)))
    errors = [np.sqrt(((u[some] - exact[some]) ** 2).sum() / (exact[some] ** 2).sum()) for u, some in parts]
    return 2 * count, errors[0], errors[1]


def geodesic(frequency: int) -> trimesh.Trimesh:
    """A unit sphere of 10 k² + 2 vertices: an icosahedron with each edge cut into k."""
    k = frequency
    points, faces, count = [], [], 0
    shares = [(i, j) for i in range(k + 1) for j in range(k + 1 - i)]
    number = {share: n for n, share in enumerate(shares)}
    one = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in shares if i + j < k]
    two = [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j in shares if i + j < k - 1]
    ico = trimesh.creation.icosahedron()
    for a, b, c in ico.vertices[ico.faces]:
        points += [a + i / k * (b - a) + j / k * (c - a) for i, j in shares]
        faces += [np.add(face, count) for face in one + two]
        count += len(shares)
    mesh = trimesh.Trimesh(np.array(points), np.array(faces), process=False)
    mesh.merge_vertices(digits_vertex=9)
    mesh.vertices /= np.linalg.norm(mesh.vertices, axis=1)[:, None]
    return mesh


def clamped_bar(cells: int) -> tuple[int, float]:
    """Vertices; error of the end's deflection of a bar 2 × 1 × 1 in shear against fine finite elements (37.1545)."""
    steel = sn.Material(youngs_modulus=1.0, poisson_ratio=0.3, density=1.0)
    vertices, faces = grid((2.0, 1.0, 1.0), (2 * cells, cells, cells))
    zone = sn.Zone.from_mesh(vertices, faces, material=steel, fixed=vertices[:, 0] < 1e-9)
    end = np.flatnonzero((vertices[faces][:, :, 0] > 2.0 - 1e-9).all(axis=1))
    state = zone.solve(face_tractions={int(face): (0.0, 0.0, 1.0) for face in end})
    return len(vertices), 2.0 * state.energy / 37.1545 - 1.0


def grid(size: tuple[float, float, float], cells: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A box with its lowest corner at the origin, a grid on each side, diagonals alternating."""
    points, faces, count = [], [], 0
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        i, j = (a.ravel() for a in np.meshgrid(np.arange(cells[u] + 1), np.arange(cells[v] + 1), indexing="ij"))
        row = cells[v] + 1
        quads = [(a, b) for a in range(cells[u]) for b in range(cells[v])]
        for end in (0.0, size[axis]):
            side = np.zeros((len(i), 3))
            side[:, axis], side[:, u], side[:, v] = end, size[u] * i / cells[u], size[v] * j / cells[v]
            for a, b in quads:
                p, q, r, s = a * row + b, (a + 1) * row + b, (a + 1) * row + b + 1, a * row + b + 1
                pair = ((p, q, r), (p, r, s)) if (a + b) % 2 == 0 else ((p, q, s), (q, r, s))
                faces += [np.add(face if end else face[::-1], count) for face in pair]
            points.append(side)
            count += len(side)
    mesh = trimesh.Trimesh(np.concatenate(points), np.array(faces), process=False)
    mesh.merge_vertices(digits_vertex=9)
    return np.array(mesh.vertices), np.array(mesh.faces)


def make_convergence() -> None:
    """Errors over the number of vertices."""
    figure, panel = plt.subplots(figsize=(5.6, 3.6), constrained_layout=True)
    count, pressure, given = np.array([thick_sphere(k) for k in (3, 4, 6, 8)]).T
    size, bar = np.array([clamped_bar(cells) for cells in (3, 4, 6, 8, 12)]).T
    print(f"thick sphere {count}: {pressure}, {given}; bar {size}: {bar}")
    panel.loglog(count, pressure, "o-", color=BLUE, label="thick sphere, pressure inside")
    panel.loglog(count, given, "o-", color=GREEN, label="thick sphere, displacement inside")
    panel.loglog(size, np.abs(bar), "s-", color=ORANGE, label="clamped bar in shear")
    panel.loglog([200, 1400], [0.12, 0.12 / 7.0], ":", color=GREY, label="second order in the edges' length")
    dress(panel, xlabel="vertices", ylabel="relative error")
    panel.set_xticks([100, 200, 500, 1000], ["100", "200", "500", "1,000"])
    panel.minorticks_off()
    panel.legend(frameon=False, fontsize=8.5)
    figure.savefig(IMAGES / "zone_convergence.png", dpi=110)
    plt.close(figure)


# ----------------------------------------------------------------------------------------------------------- pictures


def skin(places: np.ndarray, faces: np.ndarray, values: np.ndarray, highest: float, base: tuple) -> Facets:
    """A surface, each triangle cut in sixteen, whose colour goes from `base` to the end of a map with its `values`."""
    corners = np.concatenate((places, values[:, None]), axis=1)[faces]
    for _ in range(2):
        a, b, c = np.moveaxis(corners, 1, 0)
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        corners = np.concatenate([np.stack(p, axis=1) for p in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    level = np.clip(corners[:, :, 3].mean(axis=1) / highest, 0.0, 1.0)[:, None]
    heat = 255.0 * colormaps["inferno_r"](0.1 + 0.75 * level[:, 0])[:, :3]
    weight = np.minimum(6.0 * level, 1.0)
    return facets(corners[:, :, :3], (1.0 - weight) * np.asarray(base) + weight * heat, 0.15)


def facets(corners: np.ndarray, colours: np.ndarray, gloss: float) -> Facets:
    """Triangles (n, 3, 3) with colours (n, 3)."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    colours = np.broadcast_to(np.asarray(colours, dtype=float), normals.shape)
    return Facets(corners[:, (0, 1, 2, 2)], normals, colours, np.full(len(normals), gloss))


def stage(eye: tuple, target: tuple, size: tuple[int, int], width: float) -> Stage:
    """An empty stage; its floor is at z = 0."""
    camera = Camera(eye, target, size=size, width=width)
    ground = floor(camera, (-60.0, -1.5), (60.0, 60.0))
    made = Stage(camera, BACKDROP, ground)
    made.polygon(ground, GROUND)
    made.finish()
    return made


def make_pad() -> None:
    """A pad pressed by a ball, a box and a ring, which are drawn above their imprints."""
    mesh = box((0.06, 0.06, 0.02), 0.0041)
    vertices = np.array(mesh.vertices)
    across = vertices[:, :2] / 0.03
    vertices[:, :2] = 0.03 * (0.4 * across + 0.6 * across**3)  # finer in the middle
    pad = sn.Zone.from_mesh(vertices, mesh.faces, material=GEL, fixed=vertices[:, 2] < -0.0099)
    top = 0.01
    ring = trimesh.creation.torus(0.011, 0.004, 64, 32)
    shapes = (
        (sn.Sphere((0.0, 0.0, top + 0.013 - 0.003), 0.013), trimesh.creation.icosphere(4, 0.013), 0.012),
        (
            sn.Box((0.024, 0.012, 0.01), sn.Pose((0.0, 0.0, top + 0.005 - 0.0025))),
            trimesh.creation.box((0.024, 0.012, 0.01)).subdivide().subdivide(),
            0.014,
        ),
        (sn.Mesh(ring.vertices, ring.faces, sn.Pose((0.0, 0.0, top + 0.004 - 0.0025))), ring, 0.013),
    )
    view = stage((0.025, -0.11, 0.11), (0.002, 0.0, 0.022), (396, 300), 0.098)
    lifted = np.array((0.0, 0.0, 0.01))  # its underside on the floor
    pictures = []
    for shape, drawn, lift in shapes:
        state = pad.press(shape, friction=0.3)
        print(f"{shape!r}: {-state.force[2]:.3f} N on {len(state.patch)} of {len(vertices)} vertices")
        body = skin(state.positions + lifted, pad.faces, state.pressures, float(state.pressures.max()), (150, 190, 205))
        places = np.array(drawn.vertices) @ shape.pose.rotation.T + shape.pose.position + lifted + (0.0, 0.0, lift)
        pictures.append(view.frame(Facets.joined((body, facets(places[drawn.faces], np.array(STEEL), 0.8)))))
    write_picture(IMAGES / "zone_pad.png", pictures, 1)


def make_grip() -> None:
    """Two pads in a scene take a ball, lift it, and the imprint in one of them."""
    mesh = box((0.04, 0.04, 0.02), 0.0041)
    radius, squeeze = 0.012, 2.5e-3

    def pose(side: int, reach: float, height: float) -> sn.Pose:
        z, y = np.array((-side, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))
        return sn.Pose.from_rotation((side * (reach + 0.01), 0.0, height), np.stack((np.cross(y, z), y, z), axis=1))

    scene = sn.Scene()
    gel = sn.Material(5e4, 0.45, 1000, relaxation_time=0.02)
    made = sn.Zone.from_mesh(mesh, material=gel, fixed=mesh.vertices[:, 2] < -0.0099)
    hands = [sn.World.at(pose(side, radius, 0.03)) for side in (-1, 1)]
    tips = [scene.add(made.with_material(gel), on=hand) for hand in hands]
    ball = scene.add(sn.RigidBody.sphere(radius, mass=0.06, position=(0, 0, 0.0301)))
    rest = scene.add(sn.Obstacle(sn.Box((0.02, 0.02, 0.018), sn.Pose((0, 0, 0.009)))))
    pairs = [scene.collide(tip, ball, friction=0.8) for tip in tips]
    scene.collide(ball, rest)
    view = stage((0.03, -0.11, 0.075), (0.0, 0.0, 0.032), (396, 300), 0.1)
    shown = trimesh.creation.icosphere(4, radius)
    pictures = []
    for i in range(301):
        for side, hand in zip((-1, 1), hands, strict=True):
            hand.pose = pose(
                side, radius - squeeze * min(i / 60, 1.0), 0.03 + 0.014 * np.clip((i - 60) / 120, 0.0, 1.0)
            )
        scene.step(1 / 240)
        if i in (0, 300):
            parts = [facets((np.array(shown.vertices) + ball.position)[shown.faces], np.array(STEEL) + 70.0, 0.8)]
            for tip in tips:
                pressures = tip.state.tractions
                inwards = np.maximum(-np.einsum("ij,ij->i", pressures, tip.surface.vertex_normals), 0.0)
                inwards[tip.fixed] = 0.0
                highest = max(float(inwards.max()), 1.0)
                parts.append(skin(tip.positions, tip.faces, inwards, highest, (150, 190, 205)))
            pictures.append(view.frame(Facets.joined(parts)))
    print("they bear", -sum(pair.force for pair in pairs), "N of", 0.06 * 9.81)
    view = stage((-0.075, -0.06, 0.085), (0.008, 0.0, 0.04), (396, 300), 0.075)
    pictures.append(view.frame(parts[2]))
    write_picture(IMAGES / "zone_grip.png", pictures, 1)


def make_finger() -> None:
    """A finger of three zones: straight, bent, and pressed on a plate."""
    shape = finger()
    zones = [sn.Zone.from_mesh(p.vertices, p.faces, material=GEL, fixed=p.fixed) for p in shape.pads]
    chain = sn.ZoneChain(zones, shape.seams, rest_poses=shape.rest_poses())
    print([len(zone.vertices) for zone in zones], chain.coupling)
    view = stage((0.075, -0.28, 0.13), (0.046, 0.0, 0.036), (396, 270), 0.108)
    hand = sn.Pose((0.0, 0.0, 0.06))
    pictures: list[Image.Image] = []
    for angles, press in (((0.1, 0.05), False), ((0.85, 0.6), False), ((0.5, 0.35), True)):
        poses = shape.poses(angles, hand)
        state: sn.ChainState = chain.solve(poses)
        if press:
            low = min(places[:, 2].min() for places in state.positions())
            state = chain.press(sn.Plane((0.0, 0.0, low + 1.5e-3), (0.0, 0.0, 1.0)), poses=poses, friction=0.5)
        parts = []
        for pad, places, u in zip(shape.pads, state.positions(), state.displacements, strict=True):
            values = np.linalg.norm(u, axis=1)
            parts.append(skin(places, pad.faces[pad.skin], values, 3e-3, FLESH))
        print(angles, state.report, max(np.linalg.norm(u, axis=1).max() for u in state.displacements))
        if press:
            plate = trimesh.creation.box((0.04, 0.04, 0.003)).subdivide().subdivide().subdivide()
            places = np.array(plate.vertices) + np.array((0.074, 0.0, low))
            parts.append(facets(places[plate.faces], np.array(STEEL) + 60.0, 0.2))
        pictures.append(view.frame(Facets.joined(parts)))
    write_picture(IMAGES / "zone_finger.png", pictures, 1)


def make_demo(name: str) -> None:
    """Six pictures of a demonstration, by itself."""
    if demo(["demo", name, "--headless", "--output", str(IMAGES / f"{name}.png")]) != 0:
        raise SystemExit(f"the demonstration {name} did not do what it should")


PICTURES = {
    "zone_hertz": make_hertz,
    "zone_ripple": make_ripple,
    "zone_convergence": make_convergence,
    "zone_pad": make_pad,
    "zone_grip": make_grip,
    "zone_finger": make_finger,
    "finger": lambda: make_demo("finger"),
    "stitch": lambda: make_demo("stitch"),
}


if __name__ == "__main__":
    make(PICTURES)
