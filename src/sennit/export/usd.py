"""Recordings as USD, with usd-core (``pip install 'sennit[export]'``): metres, z up, one time code for each frame.

``/World`` has an ``Xform`` for each part, named after it (``/World/rope``; its display name is the part's own):

* round tubes have a child ``curve``, ``BasisCurves`` through the stations with ``widths``, and, if they have stripes to
  show their twist, ``stripe``, two thin curves on their surface; tubes with other sections a child ``mesh``.
* solids have ``translate`` and ``orient`` and a child ``mesh``; surfaces a child ``mesh`` whose points move.
* fields are vertex primvars of the same name, such as ``primvars:tension`` (N); ``primvars:d1`` are a tube's directors.
* parts that are hidden for a time are ``invisible`` then. What never changes has no time samples.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.export.recording import Recording, unique_names
from sennit.portrait.meshing import corner_normals, tube_faces, tube_stations, tube_vertices
from sennit.portrait.parts import Colour, Solid, Surface, Tube, TubeView
from sennit.validation import FloatArray

__all__ = ["write_usd"]

_STRIPE_WIDTH = 0.5
"""Of the curve that is a stripe, over the radius of its tube; its middle lies a little inside the surface."""


def write_usd(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a recording to `path`: .usda is text, .usd and .usdc are binary."""
    from pxr import Sdf, Tf, Usd, UsdGeom

    layer = Sdf.Layer.CreateAnonymous(path.name)
    stage = Usd.Stage.Open(layer)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(recording.fps)
    stage.SetFramesPerSecond(recording.fps)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(float(len(recording) - 1))
    stage.SetMetadata("comment", f"{recording.title}: made by sennit. Frame 0 is at {float(recording.times[0])!r} s.")
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    writer = _Writer(stage)
    wanted = ["materials", *(Tf.MakeValidIdentifier(part.name) for part in recording.cast.parts)]
    names = unique_names(wanted, "_")[1:]
    for k, (name, part) in enumerate(zip(names, recording.cast.parts, strict=True)):
        track = recording.track(k)
        body = UsdGeom.Xform.Define(stage, f"/World/{name}")
        body.GetPrim().SetDisplayName(part.name)
        body.GetPrim().SetCustomDataByKey("role", part.role)
        _visibility(body, track.shown)
        writer.part(body, part, track)
        if each is not None:
            each(k + 1, len(recording.cast.parts))
    if not layer.Export(str(path)):
        raise OSError(f"USD could not write {path}")


def _visibility(prim: Any, shown: FloatArray) -> None:
    """Time samples where it changes: a value holds until the next one."""
    seen = shown > 0.5
    if seen.all():
        return
    attribute = prim.CreateVisibilityAttr()
    for k in range(len(seen)):
        if k == 0 or seen[k] != seen[k - 1]:
            attribute.Set("inherited" if seen[k] else "invisible", float(k))


class _Writer:
    """Makes the prims of parts, and the materials that they share."""

    def __init__(self, stage: Any) -> None:
        self._stage = stage
        self._materials: dict[Any, Any] = {}

    def part(self, body: Any, part: Any, track: Any) -> None:
        """Make what is below the prim `body` of a part."""
        path = str(body.GetPath())
        if isinstance(part, Solid):
            self._solid(body, part, track)
        elif isinstance(part, Surface):
            self._mesh(path, part, track.vertices, part.faces, track.fields)
        elif part.rectangular or part.half[0] != part.half[1] or part.widths is not None:
            self._flat_tube(path, part, track)
        else:
            radius = part.half[0]
            curve = self._curve(f"{path}/curve", part, track.centres, 2.0 * radius, part.colour)
            _primvars(curve, track.fields)
            _primvar(curve, "d1", track.directors)
            if part.stripe is not None:
                out = (1.03 - 0.5 * _STRIPE_WIDTH) * radius * track.directors
                lines = np.concatenate((track.centres + out, track.centres - out), axis=1)
                self._curve(f"{path}/stripe", part, lines, _STRIPE_WIDTH * radius, part.stripe)

    def _curve(self, path: str, part: Tube, line: FloatArray, width: float, colour: Colour) -> Any:
        from pxr import UsdGeom, Vt

        curve = UsdGeom.BasisCurves.Define(self._stage, path)
        # Linear pieces between stations are read alike by all programs, and stations are close to each other.
        curve.CreateTypeAttr(UsdGeom.Tokens.linear)
        curve.CreateWrapAttr(UsdGeom.Tokens.nonperiodic)
        curve.CreateCurveVertexCountsAttr(Vt.IntArray([part.count] * (line.shape[1] // part.count)))
        curve.CreateWidthsAttr(Vt.FloatArray([width]))
        curve.SetWidthsInterpolation(UsdGeom.Tokens.constant)
        _sample(curve.CreatePointsAttr(), line, Vt.Vec3fArray)
        _extent(curve, line, 0.5 * width)
        self._paint(curve, part, colour)
        return curve.GetPrim()

    def _flat_tube(self, path: str, part: Tube, track: TubeView) -> None:
        views = [
            TubeView(track.shown[k : k + 1], track.centres[k], track.directors[k], {}) for k in range(len(track.shown))
        ]
        points = np.stack([tube_vertices(part, view) for view in views])
        stations = tube_stations(part)
        fields = {field: values[:, stations] for field, values in track.fields.items()}
        self._mesh(path, part, points, tube_faces(part), fields)

    def _solid(self, body: Any, part: Solid, track: Any) -> None:
        from pxr import UsdGeom, Vt

        quaternions = _continuous(track.quaternion)
        move, turn = body.AddTranslateOp(), body.AddOrientOp()
        _sample(move.GetAttr(), track.position, None)
        _sample(turn.GetAttr(), quaternions, None)
        mesh = self._mesh(str(body.GetPath()), part, part.vertices[None], part.faces, {})
        if part.smooth:
            normals = _floats(corner_normals(part.vertices, part.faces)).reshape(-1, 3)
            mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(normals))
            mesh.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying)

    def _mesh(self, path: str, part: Any, points: FloatArray, faces: NDArray[np.int64], fields: Any) -> Any:
        from pxr import UsdGeom, Vt

        mesh = UsdGeom.Mesh.Define(self._stage, f"{path}/mesh")
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray([3] * len(faces)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(faces.astype(np.int32).ravel()))
        mesh.CreateDoubleSidedAttr(True)
        _sample(mesh.CreatePointsAttr(), points, Vt.Vec3fArray)
        _extent(mesh, points, 0.0)
        self._paint(mesh, part, part.colour, getattr(part, "face_colours", None))
        _primvars(mesh.GetPrim(), fields)
        return mesh

    def _paint(self, prim: Any, part: Any, colour: Colour, face_colours: NDArray[np.uint8] | None = None) -> None:
        from pxr import UsdGeom, UsdShade, Vt

        each = face_colours is not None
        colours = _linear(face_colours if face_colours is not None else np.array([colour]))
        shown = prim.CreateDisplayColorPrimvar(UsdGeom.Tokens.uniform if each else UsdGeom.Tokens.constant)
        shown.Set(Vt.Vec3fArray.FromNumpy(colours))
        if part.opacity < 1.0:
            prim.CreateDisplayOpacityPrimvar(UsdGeom.Tokens.constant).Set(Vt.FloatArray([part.opacity]))
        material = self._material(None if each else colour, part.opacity)
        UsdShade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(material)

    def _material(self, colour: Colour | None, opacity: float) -> Any:
        """One for each colour; None: the one that `displayColor` says."""
        from pxr import Gf, Sdf, UsdShade

        key = (colour, opacity)
        if key in self._materials:
            return self._materials[key]
        path = f"/World/materials/material_{len(self._materials)}"
        self._stage.DefinePrim("/World/materials", "Scope")
        material = UsdShade.Material.Define(self._stage, path)
        shader = UsdShade.Shader.Define(self._stage, f"{path}/surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.5)
        shader.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.0)
        shader.CreateInput("opacity", Sdf.ValueTypeNames.Float).Set(float(opacity))
        diffuse = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
        if colour is None:
            reader = UsdShade.Shader.Define(self._stage, f"{path}/colour")
            reader.CreateIdAttr("UsdPrimvarReader_float3")
            reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("displayColor")
            diffuse.ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float3))
        else:
            diffuse.Set(Gf.Vec3f(*_linear(np.array([colour]))[0].tolist()))
        material.CreateSurfaceOutput().ConnectToSource(shader.CreateOutput("surface", Sdf.ValueTypeNames.Token))
        self._materials[key] = material
        return material


def _linear(colours: NDArray[Any]) -> NDArray[np.float32]:
    """Colours 0 to 255, as screens show them, as USD wants them: proportional to light, 0 to 1."""
    c = np.asarray(colours, dtype=np.float64) / 255.0
    return _floats(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4))


def _floats(values: FloatArray) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)


def _continuous(quaternions: FloatArray) -> FloatArray:
    """The same rotations, with signs for which neighbours in time are near each other."""
    flips = np.sign(np.einsum("ki,ki->k", quaternions[1:], quaternions[:-1]))
    return quaternions * np.cumprod(np.concatenate(([1.0], np.where(flips == 0.0, 1.0, flips))))[:, None]


def _sample(attribute: Any, values: FloatArray, kind: Any) -> None:
    """Set an attribute at each frame, or once if `values` (k, …) are all the same; `kind`: the type of the array."""
    from pxr import Gf

    def value(row: FloatArray) -> Any:
        if kind is not None:
            return kind.FromNumpy(_floats(row))
        numbers = row.tolist()
        return Gf.Vec3d(*numbers) if len(numbers) == 3 else Gf.Quatf(numbers[0], *numbers[1:])

    if (values == values[0]).all():
        attribute.Set(value(values[0]))
        return
    for k, row in enumerate(values):
        attribute.Set(value(row), float(k))


def _extent(prim: Any, points: FloatArray, reach: float) -> None:
    from pxr import Vt

    boxes = np.stack((points.min(axis=1) - reach, points.max(axis=1) + reach), axis=1)
    _sample(prim.CreateExtentAttr(), boxes, Vt.Vec3fArray)


def _primvars(prim: Any, fields: dict[str, FloatArray]) -> None:
    for name, values in fields.items():
        _primvar(prim, name, values)


def _primvar(prim: Any, name: str, values: FloatArray) -> None:
    """A number, or a vector, for each vertex at each frame."""
    from pxr import Sdf, UsdGeom, Vt

    vectors = values.ndim == 3
    type_name = Sdf.ValueTypeNames.Vector3fArray if vectors else Sdf.ValueTypeNames.FloatArray
    primvar = UsdGeom.PrimvarsAPI(prim).CreatePrimvar(name, type_name, UsdGeom.Tokens.vertex)
    _sample(primvar.GetAttr(), values, Vt.Vec3fArray if vectors else Vt.FloatArray)
