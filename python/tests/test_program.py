# SPDX-License-Identifier: MIT
"""What the program prints and writes, and what the package does with the same: the same bytes, the same numbers."""
import json
import subprocess

import numpy as np
import pytest

import sinew


@pytest.fixture(scope="module")
def folder(tmp_path_factory, program):
    """The example's files, and a fit of some frames by the program."""
    made = tmp_path_factory.mktemp("program")
    run(program, made, "example", "--out", ".")
    sinew.load_recording(made / "take.c3d")[:120].save(made / "short.c3d")
    (made / "page.html").write_text('<html><body><p>sinew</p><script id="wasm">0</script>\n</body></html>\n')
    run(program, made, "fit", "-m", "skeleton.asf", "-i", "short.c3d", "-o", "theirs.html", "--page", "page.html", "-o", "theirs.trc",
        "-o", "theirs.bvh", "-o", "theirs.glb", "--out-units", "source", "--derivatives", "theirs.sto", "--save-model", "theirs.json")
    return made


def run(program, where, *words, code=(0,)):
    done = subprocess.run([program, *map(str, words)], cwd=where, capture_output=True, text=True)
    assert done.returncode in code, done.stderr
    return done.stdout


def test_files_of_a_take(folder):
    take = sinew.fit(folder / "short.c3d", folder / "skeleton.asf", progress=False)
    (folder / "ours").mkdir()
    for name in ("theirs.trc", "theirs.bvh", "theirs.glb"):
        take.save(folder / "ours" / name, unit="source")
    take.save(folder / "ours" / "theirs.html", page=folder / "page.html")
    take.save(folder / "ours" / "theirs.json")
    take.table("rates").save(folder / "ours" / "theirs.sto")
    for ours in sorted((folder / "ours").iterdir()):
        assert ours.read_bytes() == (folder / ours.name).read_bytes(), ours.name
    assert len(list((folder / "ours").iterdir())) == 6


def test_a_page_that_is_none(folder, tmp_path):
    take = sinew.fit(folder / "short.c3d", folder / "skeleton.asf", calibrate="none", progress=False)
    with pytest.raises(sinew.FileError, match="not sinew's page"):
        take.save(tmp_path / "x.html", page=folder / "short.c3d")
    with pytest.raises(sinew.FileError, match="holds a take already"):
        take.save(tmp_path / "x.html", page=folder / "theirs.html")
    with pytest.raises(sinew.ArgumentError, match="ends with html"):
        take.save(tmp_path / "x.bvh", page=folder / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options, words", [
    ([], {}),
    (["--offset", "1"], {"offset": 1}),
    (["--up", "z", "--units", "mm"], {"up": "z", "unit": "mm"}),
    (["--axes", "yzx"], {"axes": "yzx"}),
])
def test_marker_sets(folder, program, options, words, tmp_path):
    run(program, folder, "markers", "-m", "skeleton.asf", "-a", "truth.amc", "-i", "take.c3d", "-o", tmp_path / "theirs.json", *options)
    model = sinew.load(folder / "skeleton.asf")
    sinew.MarkerSet.learn(sinew.load_motion(folder / "truth.amc", model), sinew.load_recording(folder / "take.c3d"), **words).save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()


def test_subjects_of_a_marker_set(folder):
    model = sinew.load(folder / "skeleton.asf")
    motion, recording = sinew.load_motion(folder / "truth.amc", model), sinew.load_recording(folder / "take.c3d")
    both = np.concatenate([recording.positions, recording.positions + 1], axis=1)
    names = [label.split(":")[-1] for label in recording.labels]
    two = recording.changed(both, [f"{who}:{n}" for who in ("Ann", "Ben") for n in names])
    with pytest.raises(sinew.ArgumentError, match="several subjects; choose one by the option subject: Ann, Ben"):
        sinew.MarkerSet.learn(motion, two)
    with pytest.raises(sinew.ArgumentError, match="no label belongs to the subject \"Eve\""):
        sinew.MarkerSet.learn(motion, two, subject="Eve")
    one = sinew.MarkerSet.learn(motion, two, subject="Ann")
    assert one.places == sinew.MarkerSet.learn(motion, recording.changed(labels=[f"Ann:{n}" for n in names])).places
    with pytest.raises(sinew.ArgumentError, match="frames/s"):
        sinew.MarkerSet.learn(motion, recording.changed(rate=30.0)) if motion.rate > 0 else sinew.MarkerSet.learn(
            sinew.Motion(model, motion.q, 120.0), recording.changed(rate=30.0))


def test_pictures(program, tmp_path):
    tasks = {"tasks": [{"type": "point", "joint": "left_hand", "goal": [0.4, 1.2, 0.3]}]}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    made = json.loads(run(program, tmp_path, "solve", "-m", "humanoid", "-t", "tasks.json", "--svg", "theirs.svg", "--json"))
    problem = sinew.Problem.from_json(sinew.humanoid(), tasks)
    q = problem.solver(max_iterations=200, gradient=1e-9)(problem.model.zero())
    assert q.tolist() == made["q"]
    assert problem.picture(q) == (tmp_path / "theirs.svg").read_text()


@pytest.mark.parametrize("name", ["l6", "j3"])
def test_jacobians(program, robot, arm_text, tmp_path, name):
    (tmp_path / "seven.urdf").write_text(arm_text)
    q, v = 0.1 * np.arange(1, robot.nq + 1), 0.2 * np.arange(1, robot.nv + 1)
    (tmp_path / "q.json").write_text(json.dumps(q.tolist()))
    (tmp_path / "v.json").write_text(json.dumps(v.tolist()))
    for theirs, ours in (("body", "body"), ("world", "spatial"), ("aligned", "world")):
        words = ["eval", "-m", "seven.urdf", "--jacobian", name, "--frame", theirs, "-q", "q.json", "--json"]
        if theirs != "aligned":
            words += ["--velocity", "v.json"]
        made = json.loads(run(program, tmp_path, *words))
        assert np.allclose(made["jacobian"]["J"], robot.jacobian(q, name, frame=ours), atol=1e-15), theirs
        if theirs != "aligned":
            assert np.allclose(made["jacobian"]["Jdot"], robot.jacobian_rate(q, v, name, frame=ours), atol=1e-15), theirs
    # and by differences of the Jacobian itself
    h = 1e-6
    slope = (robot.jacobian(robot.integrate(q, h * v), name, frame="body") - robot.jacobian(robot.integrate(q, -h * v), name, frame="body")) / (2 * h)
    assert np.allclose(robot.jacobian_rate(q, v, name), slope, atol=1e-8)


@pytest.mark.parametrize("file", ["urdf/panda.urdf", "mjcf/g1.xml", "opensim/subject01_simbody.osim"])
def test_names_mean_the_same(program, data, file, tmp_path):
    """Joints, frames and markers of the same name: a Jacobian's own axes are those that the program takes."""
    if not (data / file).exists():
        pytest.skip(f"no {file} in the data")
    model = sinew.load(data / file)
    names = [model.joint_names[-1], model.marker_names[0], model.marker_names[-1]] if model.markers else model.joint_names[-2:]
    q = model.sample(seed=5)
    (tmp_path / "q.json").write_text(json.dumps(q.tolist()))
    for name in names:
        made = json.loads(run(program, tmp_path, "eval", "-m", data / file, "--jacobian", name, "-q", "q.json", "--json"))
        assert np.allclose(made["jacobian"]["J"], model.jacobian(q, name, frame="body"), atol=1e-13), name


@pytest.mark.parametrize("method", ["pinv", "qr", "sdls", "newton-pcg"])
def test_methods_that_need_lapack(program, method, tmp_path):
    """The same LAPACK calls: another LAPACK may round otherwise, so the answers are compared, not the bits."""
    pytest.importorskip("scipy")
    tasks = {"tasks": [{"type": "point", "joint": "left_hand", "goal": [0.4, 1.2, 0.3]}, {"type": "point", "joint": "right_foot", "goal": [-0.1, 0.2, 0.3]}]}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    words = {"nearest_psd": True} if method == "newton-pcg" else {}
    done = subprocess.run([program, "solve", "-m", "humanoid", "-t", "tasks.json", "--solver", method, "--json", *(["--nearest-psd"] if words else [])],
                          cwd=tmp_path, capture_output=True, text=True)
    if done.returncode != 0 and "not built" in done.stderr:
        pytest.skip("the program is built without LAPACK")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    problem = sinew.Problem.from_json(sinew.humanoid(), tasks)
    solver = problem.solver(method, max_iterations=200, gradient=1e-9, **words)
    q = solver(problem.model.zero())
    assert method in sinew.methods() and solver.report.f < 1e-9
    assert np.allclose(q, made["q"], atol=1e-6)


def test_without_scipy():
    """Methods that need LAPACK say so, and are not listed; a large model is checked without it."""
    import os
    import sys

    text = """
import importlib.util, sys
sys.modules["scipy"] = None
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name.split(".")[0] == "scipy" else find(name, *a)
import sinew
p = sinew.Problem(sinew.humanoid())
p.point("left_hand", goal=[0.4, 1.2, 0.3])
assert not {"pinv", "qr", "sdls"} & set(sinew.methods()) and "lm" in sinew.methods()
for method, words in (("pinv", {}), ("newton-pcg", {"nearest_psd": True})):
    try:
        p.solver(method, **words)
    except sinew.UnsupportedError as why:
        print(why)
joints = [{"name": str(i), "type": "hinge", "axis": [0, i % 2, 1], "position": [0.1, 0, 0], **({"parent": str(i - 1)} if i else {})}
          for i in range(450)]
long = sinew.Model.from_json({"sinew": 1, "name": "long", "joints": joints})
p = sinew.Problem(long)
p.point("449", goal=[1, 2, 3])
assert sinew.check(long, p, poses=1).ok
"""
    out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert out.stdout.splitlines() == [f"{w} needs LAPACK, which is taken from scipy, and scipy is not installed" for w in ("the method 'pinv'", "nearest_psd")], out.stderr


def test_devices(arm, goals):
    """Every goal has its answer wherever it is solved; the processor's bits come from "cpu"."""
    many = np.tile(goals, (33, 1))[:16384]
    q, ok = arm.solve(many, device="cpu")
    q2, ok2 = arm.solve(many)
    assert ok.all() and ok2.all() and np.abs(arm.tool(q2)[:, :3] - many[:, :3]).max() < 1e-5
    assert isinstance(arm.where(), str) and arm.where("cpu")
    with pytest.raises(sinew.ArgumentError, match="device must be one of auto, cpu, opencl"):
        arm.solve(many, device="gpu")
    if any(d.gpu and d.doubles for d in sinew.devices()):
        print(arm.where(), (q != q2).any())
        assert (q != q2).any()
    else:
        assert np.array_equal(q, q2)
        q3, ok3 = arm.solve(goals[:100], device="opencl")
        assert ok3.all() and np.abs(arm.tool(q3)[:, :3] - goals[:100, :3]).max() < 1e-5


def test_slurms_share(monkeypatch, tmp_path):
    from sinew.many import _slurm

    assert _slurm() == (1, 1)
    for name, value in (("ID", "12"), ("COUNT", "4"), ("MIN", "10")):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    assert _slurm() == (3, 4)
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "20")
    with pytest.raises(sinew.ArgumentError, match="number them without steps"):
        _slurm()


def test_files_of_a_take_appear_together(example, tmp_path):
    """One that cannot be made leaves none; what a dead run left is removed, what a live one holds stays."""
    import fcntl

    bad = sinew.fit_one((example.model, example.recording[:30], "walk"), out=tmp_path, formats=("bvh", "xyz"))
    assert isinstance(bad.error, sinew.Error)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "walk.bvh.part-1-1").write_text("dead")
    with open(tmp_path / "walk.bvh.part-2-2", "w") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        good = sinew.fit_one((example.model, example.recording[:30], "walk"), out=tmp_path, formats=("bvh", "glb"), resume=True)
        assert good.error is None
        assert sorted(p.name for p in tmp_path.iterdir()) == ["walk.bvh", "walk.bvh.part-2-2", "walk.glb"]
