# SPDX-License-Identifier: MIT
import subprocess

import numpy as np
import pytest

import sinew


def same(program, tmp_path, data, inputs, output, options, **words):
    """What the program and the package make of the same files."""
    ending = output.rsplit(".", 1)[1]
    files = [str(data / i) for i in inputs]
    done = subprocess.run([program, "convert", *files, "-o", f"theirs.{ending}", *options], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sinew.convert(files, tmp_path / f"ours.{ending}", **words)
    ours, theirs = ((tmp_path / f"{who}.{ending}").read_bytes() for who in ("ours", "theirs"))
    assert ours.replace(b"ours", b"theirs") == theirs


@pytest.mark.parametrize("inputs, output, options, words", [
    (["cmu/02.asf", "cmu/02_01.amc"], "x.bvh", ["--out-units", "cm"], {"unit": "cm"}),
    (["cmu/02.asf", "cmu/02_01.amc"], "x.bvh", ["--fps", "30"], {"fps": 30}),
    (["cmu/02_01.c3d"], "x.trc", ["--up", "y"], {"up": "y"}),
    (["cmu/02_01.c3d"], "x.csv", ["--frames", "60:90"], {"frames": (60, 90)}),
    (["cmu/02_01.c3d"], "x.c3d", ["--every", "4", "--out-units", "m"], {"every": 4, "unit": "m"}),
    (["bvh/xia_neutral_16_000.bvh"], "x.glb", [], {}),
    (["bvh/xia_neutral_16_000.bvh"], "x.bvh", ["--up", "z"], {"up": "z"}),
    (["opensim/subject01_simbody.osim", "opensim/std_subject01_walk1_ik.mot"], "x.trc", [], {}),
    (["urdf/panda.urdf"], "x.json", [], {}),
])
def test_conversions_are_the_programs(program, tmp_path, data, inputs, output, options, words):
    same(program, tmp_path, data, inputs, output, options, **words)


def test_what_cannot_be_converted_says_so(data, tmp_path):
    with pytest.raises(sinew.ArgumentError, match="use sinew.fit"):
        sinew.convert(data / "cmu" / "02_01.c3d", tmp_path / "x.bvh")
    with pytest.raises(sinew.FileError, match="x.urdf: files of this format can be read, but not written"):
        sinew.convert(data / "urdf" / "panda.urdf", tmp_path / "x.urdf")
    with pytest.raises(sinew.ArgumentError, match="no motion to write"):
        sinew.convert(data / "cmu" / "02.asf", tmp_path / "x.mot")
    with pytest.raises(sinew.ArgumentError, match="frames 5 to 99999: there are 50 to"):
        sinew.convert(data / "cmu" / "02_01.c3d", tmp_path / "x.trc", frames=(5, 99999))
    with pytest.raises(sinew.ParseError) as why:
        sinew.load(data / "c3d" / "bad_parameter_section.c3d")
    assert "bad_parameter_section.c3d" in str(why.value)
    assert list(tmp_path.iterdir()) == []


def test_reading(data):
    d = sinew.read(data / "cmu" / "02_01.c3d")
    assert d.format == "c3d" and d.recording.rate == 120 and d.model is None
    skeleton = sinew.load(data / "cmu" / "02.asf")
    motion = sinew.load_motion(data / "cmu" / "02_01.amc", skeleton)
    assert motion.model is skeleton and motion.q.shape[1] == skeleton.nq
    half = motion[::2]
    assert half.nframe == (motion.nframe + 1) // 2
    table = sinew.read(data / "opensim" / "std_subject01_walk1_ik.mot").table
    assert table["time"].shape == (len(table.values),) and table.in_degrees
    with pytest.raises(sinew.ArgumentError, match="no column"):
        table["nothing"]


def test_resampling(example):
    r = example.recording.resample(60)
    assert r.rate == 60 and abs(r.nframe - example.recording.nframe / 2) <= 1
    m = example.truth.resample(240)
    assert m.rate == 240 and np.allclose(m.q[::2][:example.truth.nframe], example.truth.q[:len(m.q[::2])], atol=1e-9)


def test_scaling_is_the_programs(program, data, tmp_path):
    folder = data / "biomech" / "gait2354"
    setups = sorted(folder.glob("*Setup_Scale*.xml")) if folder.is_dir() else []
    if not setups:
        pytest.skip("no setup of OpenSim's scale tool in the data")
    done = subprocess.run([program, "scale", "--setup", str(setups[0]), "--search", str(folder), "-o", "theirs.osim", "-o", "theirs.mot"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scaled = sinew.scale(setup=setups[0], search=[folder])
    scaled.save(tmp_path / "ours.osim")
    assert (tmp_path / "ours.osim").read_bytes() == (tmp_path / "theirs.osim").read_bytes()
    assert scaled.mass > 10 and all(0.5 < f < 2 for factor in scaled.factors.values() for f in factor)
    assert scaled.model.nv > 10 and scaled.pose.nframe == 1 and "factor" not in scaled.notes
    scaled.save(tmp_path / "ours.mot")
    scaled.save(tmp_path / "ours.xml")
    with pytest.raises(sinew.ArgumentError, match="needed"):
        sinew.scale()


def test_checks(robot, data):
    assert sinew.check(robot, poses=3).ok
    found = sinew.check(data / "opensim" / "subject01_simbody.osim", poses=1)
    assert found.ok and "hinge" in found.worst and "they agree" in repr(found)
    long = sinew.Model.from_json({"sinew": 1, "name": "long", "joints": [{"name": "0", "type": "ball"}] + [
        {"name": str(i), "type": "hinge", "axis": [0, i % 2, 1], "parent": str(i - 1), "position": [0.1, 0, 0]} for i in range(1, 450)]})
    p = sinew.Problem(long)
    p.point("449", goal=[1, 2, 3])
    assert sinew.check(long, p, poses=1).ok
