"""USD files, read back with usd-core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.export.record import record, write
from sennit.export.recording import Recording
from sennit.portrait.meshing import tube_vertices

pytest.importorskip("pxr", reason="usd-core is not installed: pip install 'sennit[export]'")
from pxr import Usd, UsdGeom, UsdShade, UsdValidation


@pytest.fixture(scope="module", params=[".usd", ".usda", ".usdc"])
def stage(request: pytest.FixtureRequest, recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = write(recording, tmp_path_factory.mktemp("usd") / f"trial{request.param}")
    assert path.read_bytes().startswith(b"#usda" if request.param == ".usda" else b"PXR-USDC")
    return Usd.Stage.Open(str(path))


def test_units_axis_and_time(stage: Any) -> None:
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()) == (24.0, 24.0)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 12.0)
    assert stage.GetDefaultPrim().GetPath() == "/World"
    names = [prim.GetName() for prim in stage.GetDefaultPrim().GetChildren()]
    assert sorted(names) == sorted(["rope", "a_flat_belt_1", "ball", "box", "skin", "rope_2", "materials"])
    assert stage.GetPrimAtPath("/World/a_flat_belt_1").GetDisplayName() == "a flat belt/1"


def test_a_round_tube_is_a_curve_with_widths(stage: Any, recording: Recording) -> None:
    curve = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/rope/curve"))
    track = recording.track(0)
    points = curve.GetPointsAttr()
    assert points.GetTimeSamples() == list(map(float, range(13)))
    assert list(curve.GetCurveVertexCountsAttr().Get()) == [21]
    assert np.allclose(curve.GetWidthsAttr().Get(), 0.04) and curve.GetWidthsInterpolation() == "constant"
    tension = UsdGeom.PrimvarsAPI(curve).GetPrimvar("tension")
    assert tension.GetInterpolation() == "vertex"
    for k in (0, 7, 12):
        assert np.allclose(points.Get(k), track.centres[k], atol=1e-6)
        assert np.allclose(tension.Get(k), track.fields["tension"][k], atol=1e-6)
        assert np.allclose(UsdGeom.PrimvarsAPI(curve).GetPrimvar("d1").Get(k), track.directors[k], atol=1e-6)
        low, high = curve.GetExtentAttr().Get(k)
        assert np.allclose(low, track.centres[k].min(axis=0) - 0.02, atol=1e-6)
        assert np.allclose(high, track.centres[k].max(axis=0) + 0.02, atol=1e-6)
    stripe = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/rope/stripe"))
    assert list(stripe.GetCurveVertexCountsAttr().Get()) == [21, 21]
    for side, half in ((1.0, slice(0, 21)), (-1.0, slice(21, 42))):
        apart = np.array(stripe.GetPointsAttr().Get(7))[half] - track.centres[7]
        along = np.einsum("ij,ij->i", apart, side * track.directors[7])
        # it stands out of the surface by 3 % of the radius, on the side of d1 and on the other
        assert np.allclose(apart, side * along[:, None] * track.directors[7], atol=1e-6)
        assert np.allclose(along + 0.5 * np.array(stripe.GetWidthsAttr().Get()), 1.03 * 0.02, atol=1e-6)


def test_a_flat_tube_is_a_mesh(stage: Any, recording: Recording) -> None:
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/a_flat_belt_1/mesh"))
    tube = recording.cast.parts[1]
    view = recording.cast.views(recording.frames[9])[1]
    assert np.allclose(mesh.GetPointsAttr().Get(9), tube_vertices(tube, view), atol=1e-6)
    assert max(mesh.GetFaceVertexIndicesAttr().Get()) < len(mesh.GetPointsAttr().Get(9))


def test_a_solid_moves_by_its_transform(stage: Any, recording: Recording) -> None:
    body = UsdGeom.Xform(stage.GetPrimAtPath("/World/ball"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/ball/mesh"))
    solid = recording.cast.parts[2]
    assert mesh.GetPointsAttr().GetTimeSamples() == []
    for k in (0, 11):
        matrix = np.array(body.ComputeLocalToWorldTransform(k))  # USD multiplies rows from the left
        seen = np.column_stack((np.array(mesh.GetPointsAttr().Get()), np.ones(8))) @ matrix
        angle = 3.0 * k / 24.0
        turn = np.array(((np.cos(angle), 0, np.sin(angle)), (0, 1, 0), (-np.sin(angle), 0, np.cos(angle))))
        assert np.allclose(seen[:, :3], solid.vertices @ turn.T + (0.3 * k / 24.0, -0.4, 0.3), atol=1e-6)


def test_what_stands_has_no_time_samples(stage: Any) -> None:
    ops = UsdGeom.Xform(stage.GetPrimAtPath("/World/box")).GetOrderedXformOps()
    assert [op.GetNumTimeSamples() for op in ops] == [0, 0]
    assert np.allclose(ops[0].Get(), (-0.5, 0.3, 0.2))


def test_a_surface_is_a_mesh_whose_points_move(stage: Any, recording: Recording) -> None:
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/skin/mesh"))
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    for k in (0, 6):
        assert np.allclose(mesh.GetPointsAttr().Get(k), recording.track(4).vertices[k], atol=1e-6)
        pressure = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("pressure").Get(k)
        assert np.allclose(pressure, recording.track(4).fields["pressure"][k], atol=1e-4)


def test_what_is_hidden_is_invisible(stage: Any) -> None:
    late = UsdGeom.Imageable(stage.GetPrimAtPath("/World/rope_2/curve"))
    assert [late.ComputeVisibility(k) for k in (0, 4, 5, 12)] == ["invisible", "invisible", "inherited", "inherited"]


def test_colours_are_those_of_the_parts(stage: Any) -> None:
    curve = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/rope/curve"))
    linear = np.array(curve.GetDisplayColorAttr().Get()[0], dtype=np.float64)
    shown = 255.0 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    assert np.allclose(shown, (214, 142, 58), atol=0.01)
    box = UsdGeom.Mesh(stage.GetPrimAtPath("/World/box/mesh"))
    assert box.GetDisplayColorPrimvar().GetInterpolation() == "uniform" and len(box.GetDisplayColorAttr().Get()) == 12
    material, _ = UsdShade.MaterialBindingAPI(curve).ComputeBoundMaterial()
    shader = material.ComputeSurfaceSource()[0]
    assert shader.GetIdAttr().Get() == "UsdPreviewSurface"
    assert np.allclose(shader.GetInput("diffuseColor").Get(), linear)


def test_usd_finds_nothing_wrong(recording: Recording, tmp_path: Path) -> None:
    stage = Usd.Stage.Open(str(write(recording, tmp_path / "a.usdc")))
    rules = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(rules) > 10
    assert [error.GetErrorAsString() for error in UsdValidation.ValidationContext(rules).Validate(stage)] == []


def test_the_tip_of_a_swinging_rope(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody], tmp_path: Path) -> None:
    scene, rope, box = swing
    stage = Usd.Stage.Open(str(record(scene, 0.2, tmp_path / "swing.usd", dt=5e-3, fps=50)))
    curve = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/rope/curve"))
    assert np.allclose(curve.GetPointsAttr().Get(10)[-1], rope.at(rope.length).position, atol=1e-6)
    matrix = UsdGeom.Xform(stage.GetPrimAtPath("/World/box")).ComputeLocalToWorldTransform(10)
    assert np.allclose(matrix.ExtractTranslation(), box.position, atol=1e-12)
