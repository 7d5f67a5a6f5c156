# SPDX-License-Identifier: MIT
import copy
import pickle
import subprocess

import numpy as np
import pytest

import sinew


def near(arm, q, goals):
    there = arm.tool(q)
    place = np.linalg.norm(there[..., :3] - goals[..., :3], axis=-1)
    turn = np.abs(np.sum(there[..., 3:] * goals[..., 3:], axis=-1))
    return (place < 2e-6) & (turn > 1 - 1e-9)


def test_many_goals_are_reached_inside_the_limits(arm, goals):
    q, ok = arm.solve(goals)
    assert q.shape == (500, 7) and ok.shape == (500,) and ok.dtype == bool
    assert ok.mean() > 0.99 and near(arm, q[ok], goals[ok]).all()
    assert (q >= arm.lower).all() and (q <= arm.upper).all()


def test_one_goal_is_as_one_of_many(arm, goals):
    q, ok = arm.solve(goals)
    for i in (0, 7, 123):
        one, reached = arm.solve(goals[i])
        assert reached is True and near(arm, one, goals[i])


def test_the_same_bits_for_any_threads_and_ways(robot, arm, goals):
    q, ok = arm.solve(goals)
    assert np.array_equal(robot.arm("l6", threads=1).solve(goals)[0], q)
    assert np.array_equal(arm.solve(goals, progress=lambda *a: None)[0], q)
    wide = np.zeros((500, 14))
    wide[:, ::2] = goals
    assert np.array_equal(arm.solve(wide[:, ::2])[0], q)
    fixed = goals.copy()
    fixed.flags.writeable = False
    assert np.array_equal(arm.solve(fixed)[0], q)
    assert np.array_equal(arm.solve(fixed[3])[0], arm.solve(goals[3])[0])


def test_the_input_is_not_changed_or_copied(arm, goals):
    before = goals.copy()
    arm.solve(goals)
    assert np.array_equal(before, goals)
    from sinew._core import as_array

    assert as_array("goals", goals) is goals


def test_matrices_float32_and_lists(arm, goals):
    q, ok = arm.solve(sinew.matrices_from_poses(goals[:40]))
    assert ok.mean() > 0.95 and near(arm, q[ok], goals[:40][ok]).all()
    coarse, ok = arm.solve(goals[:40].astype(np.float32))
    assert ok.mean() > 0.95 and np.abs(arm.tool(coarse[ok])[:, :3] - goals[:40][ok][:, :3]).max() < 1e-5
    q, ok = arm.solve(goals[0].tolist())
    assert ok
    q, ok = arm.solve(sinew.matrices_from_poses(goals[0]))
    assert ok and q.shape == (7,)


def test_scipy_rotations(arm, goals):
    spatial = pytest.importorskip("scipy.spatial.transform")
    turned = spatial.Rotation.from_quat(goals[:20, [4, 5, 6, 3]])
    q, ok = arm.solve(sinew.poses(goals[:20, :3], turned))
    assert np.array_equal(ok, arm.solve(goals[:20])[1]) and near(arm, q[ok], goals[:20][ok]).all()


def test_wrong_shapes_name_the_argument_and_both_shapes(arm, goals):
    for bad in (np.zeros(6), np.zeros((5, 6)), np.zeros((2, 3, 4)), np.zeros(())):
        with pytest.raises(sinew.ShapeError) as why:
            arm.solve(bad)
        said = str(why.value)
        assert "poses" in said and str(bad.shape).rstrip(",)").strip("(") in said and "(n, 7)" in said
    with pytest.raises(sinew.ShapeError, match=r"seed has the shape \(3,\), but must have \(7,\) or \(500, 7\)"):
        arm.solve(goals, seed=np.zeros(3))
    with pytest.raises(sinew.ArgumentError, match="array of numbers"):
        arm.solve(["a", "b"])
    with pytest.raises(sinew.NumberError):
        arm.solve(np.full(7, np.nan))
    with pytest.raises(sinew.NumberError):
        arm.solve(np.where(np.arange(500)[:, None] == 77, np.nan, goals))
    with pytest.raises(sinew.ArgumentError, match="auto, cpu"):
        arm.solve(goals, device="abacus")


def test_nothing_to_do(arm, robot):
    q, ok, reports = arm.solve(np.zeros((0, 7)), reports=True)
    assert q.shape == (0, 7) and ok.shape == (0,) and len(reports) == 0
    assert arm.tool(np.zeros((0, 7))).shape == (0, 7) and robot.points(np.zeros((0, robot.nq))).shape[0] == 0
    assert robot.jacobian(np.zeros((0, robot.nq)), "l6").shape == (0, 6, robot.nv)


def test_seeds_lead_to_the_nearest_solution(arm, goals):
    q, ok = arm.solve(goals[:50])
    again, still = arm.solve(goals[:50], seed=q)
    assert still[ok].all() and np.abs(again[ok] - q[ok]).max() < 1e-5
    spread, _ = arm.solve(goals[:50], seed=q[0])
    assert np.abs(spread[0] - q[0]).max() < 1e-5


def test_reports_say_why(arm):
    far = np.array([[9.0, 0, 0, 1, 0, 0, 0], [0.3, 0, 0.5, 1, 0, 0, 0]])
    q, ok, reports = arm.solve(far, reports=True)
    assert not ok[0] and not reports["reached"][0] and reports["position_error"][0] > 5
    assert sinew.why(reports["why"])[0] == sinew.why(reports["why"][0]) == "the goal is farther than the arm is long"


def test_all_solutions(data):
    ur5 = sinew.load(data / "urdf" / "ur5_robot.urdf").arm("ee_link")
    goal = ur5.tool([0.3, -1.0, 1.2, 0.4, 0.9, 0.2])
    found = ur5.solve_all(goal)
    assert len(found) >= 4 and near(ur5, found, np.broadcast_to(goal, (len(found), 7))).all()
    assert len(ur5.solve_all(goal, most=2)) == 2


def test_paths(arm):
    q = np.array([0.2, 0.5, 0.1, 1.5, 0.2, 1.5, 0.3])
    way = np.repeat(arm.tool(q)[None, :], 5, axis=0)
    way[:, 2] += np.linspace(0, -0.05, 5)
    poses, report = arm.path(way, start=q, step=0.005)
    assert report.complete and len(poses) >= 10 and near(arm, poses[-1], way[-1])
    assert np.abs(np.diff(poses, axis=0)).max() < 0.2
    _, broken = arm.path([[0.4, 0, 0.4, 0, 1, 0, 0], [5, 0, 0, 0, 1, 0, 0]], step=0.02)
    assert not broken.complete and broken.why != ""


def test_servo_keeps_to_its_limits(arm, goals):
    q = np.array([0.2, 0.5, 0.1, 1.5, 0.2, 1.5, 0.3])
    goal = arm.tool(q) + np.array([0.03, 0, 0, 0, 0, 0, 0])
    servo = arm.servo(q, 0.01, velocity=1.0, acceleration=5.0)
    last = q
    for _ in range(300):
        now = servo.step(goal)
        assert np.abs(now - last).max() <= 0.01 + 1e-12
        last = now
    assert servo.report.reached and np.allclose(servo.velocity, 0, atol=1e-3)
    assert np.abs(arm.step(goals[1], q, 0.01) - q).max() <= 0.02 + 1e-9


def test_poses_of_the_model(arm, robot, goals):
    q, _ = arm.solve(goals[:10])
    pose = arm.to_pose(q)
    assert pose.shape == (10, robot.nq) and np.array_equal(arm.from_pose(pose), q)
    frames = robot.frames(pose, "l6")
    assert np.allclose(frames, arm.tool(q, matrix=True), atol=1e-12)
    w, g = arm.manipulability(q, gradient=True)
    h = 1e-6
    bumped = q.copy()
    bumped[:, 2] += h
    assert np.allclose((arm.manipulability(bumped) - w) / h, g[:, 2], atol=1e-4)


def test_pickles_and_copies(arm, goals):
    q, _ = arm.solve(goals)
    for other in (pickle.loads(pickle.dumps(arm)), copy.copy(arm), copy.deepcopy(arm)):
        assert np.array_equal(other.solve(goals)[0], q) and other.names == arm.names


def test_options_are_checked(robot):
    with pytest.raises(sinew.ArgumentError, match="all, axis, none"):
        robot.arm("l6", rotation="some")
    with pytest.raises(sinew.Error, match="nothing"):
        robot.arm("nothing")
    with pytest.raises(sinew.ArgumentError, match="threads"):
        robot.arm("l6", threads=0)
    tool = robot.arm("l6", tool=[0, 0, 0.1, 1, 0, 0, 0])
    plain = robot.arm("l6")
    assert np.allclose(tool.tool(np.zeros(7))[:3] - plain.tool(np.zeros(7))[:3], [0, 0, 0.1])


def test_tables(arm, goals, tmp_path):
    q, ok, reports = arm.solve(goals[:20], reports=True)
    arm.save(tmp_path / "q.csv", q, reports)
    lines = (tmp_path / "q.csv").read_text().splitlines()
    assert lines[0].split(",")[-7:] == arm.names and len(lines) == 21
    names = "x,y,z,qw,qx,qy,qz"
    np.savetxt(tmp_path / "goals.csv", goals[:20], delimiter=",", header=names, comments="", fmt="%.17g")
    assert np.array_equal(sinew.load_goals(tmp_path / "goals.csv"), goals[:20])


def test_the_program_gives_the_same(arm, arm_text, goals, tmp_path, program):
    (tmp_path / "seven.urdf").write_text(arm_text)
    np.savetxt(tmp_path / "goals.csv", goals, delimiter=",", header="x,y,z,qw,qx,qy,qz", comments="", fmt="%.17g")
    subprocess.run([program, "solve", "-m", "seven.urdf", "--tip", "l6", "--goals", "goals.csv", "--out", "theirs.csv"],
                   cwd=tmp_path, capture_output=True)
    q, ok, reports = arm.solve(goals, reports=True)
    arm.save(tmp_path / "ours.csv", q, reports)
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
