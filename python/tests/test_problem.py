# SPDX-License-Identifier: MIT
import copy
import pickle
import threading

import numpy as np
import pytest

import sinew


def test_goals_change_without_rebuilding(humanoid):
    p = sinew.Problem(humanoid)
    hand = p.point("left_hand", goal=[0.4, 1.2, 0.3])
    s = p.solver()
    built, solver = p._c, s._c
    q = humanoid.zero()
    for goal in ([0.4, 1.2, 0.3], np.array([0.5, 1.0, 0.2]), (0.3, 1.1, 0.4), np.float32([0.5, 1.25, 0.25])):
        hand.goal = goal
        q = s(q)
        assert np.abs(humanoid.points(q, "left_hand") - np.asarray(goal, dtype=float)).max() < 1e-6
        assert np.allclose(hand.goal, goal)
    assert p._c is built and s._c is solver
    foot = p.point("left_foot", goal=humanoid.points(humanoid.zero(), "left_foot"))
    q = s(q)
    assert s.report.worst_error < 1e-6 and foot.goal.shape == (3,)


def random_task(p, model, kind, rng):
    u = lambda n=3: rng.uniform(-1, 1, n)
    q = model.sample(seed=int(rng.integers(1000)))
    c = p.point("chest", goal=u())
    h = p.point("left_hand", goal=u())
    W = rng.normal(size=(6, 6))
    return {
        "point": lambda: p.point("LFIN", goal=u(), weight=0.7, loss="cauchy", loss_scale=0.3),
        "point-matrix": lambda: p.point("LFIN", goal=u(), matrix=np.diag([1, 2, 3])),
        "plane": lambda: p.plane("LFIN", goal=u(), normal=u()),
        "plane-on": lambda: p.plane("LFIN", goal=u(), normal=u(), on="head"),
        "line": lambda: p.line("LFIN", goal=u(), axis=u()),
        "direction": lambda: p.direction("left_hand", goal=u(), local=u()),
        "orientation": lambda: p.orientation("left_hand", u(4)),
        "pose": lambda: p.pose("left_hand", np.concatenate([u(), u(4)]), rotation_weight=0.3),
        "frame2": lambda: p.frame2("left_hand", goal=u(), i=u(), j=u()),
        "rest": lambda: p.rest(q, weights=rng.random(model.nv)),
        "limit": lambda: p.limit(lower=np.full(model.nv, -0.1), upper=np.full(model.nv, 0.1)),
        "posture": lambda: p.posture(q, joints=["left_upper_arm", "left_forearm"]),
        "relative": lambda: p.relative("left_hand", "right_hand", goal=u()),
        "relative-fixed": lambda: p.relative("left_hand", "head", goal=u(), fixed=True),
        "relative-orientation": lambda: p.relative_orientation("left_hand", "right_hand", u(4)),
        "relative-pose": lambda: p.relative_pose("left_hand", "right_hand", np.concatenate([u(), u(4)])),
        "distance": lambda: p.distance("left_hand", "right_hand", 0.3),
        "distance-world": lambda: p.distance("left_hand", None, 0.3, local2=u()),
        "look-at": lambda: p.look_at("head", axis=[0, 0, 1], target=u()),
        "centre": lambda: p.centre_of_mass(u(), masses=rng.random(len(model.joints)) + 0.1),
        "coupled": lambda: p.coupled([c, h], W @ W.T),
    }[kind]()


KINDS = ["point", "point-matrix", "plane", "plane-on", "line", "direction", "orientation", "pose", "frame2", "rest", "limit",
         "posture", "relative", "relative-fixed", "relative-orientation", "relative-pose", "distance", "distance-world",
         "look-at", "centre", "coupled"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_task_has_exact_derivatives_and_is_kept(humanoid, kind):
    rng = np.random.default_rng(KINDS.index(kind) + 1)
    p = sinew.Problem(humanoid)
    task = random_task(p, humanoid, kind, rng)
    found = sinew.check(humanoid, p, poses=2, seed=7)
    assert found.ok, found
    q = humanoid.sample(seed=3)
    f, g, H = p.evaluate(q)
    assert f > 0 and np.abs(g).max() > 0 and np.allclose(H, H.T)
    for other in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
        f2, g2, H2 = other.evaluate(q)
        assert f2 == f and np.array_equal(g2, g) and np.array_equal(H2, H)
        assert other.tasks[-1].type == task.type


def test_evaluate_in_every_form(humanoid):
    p = sinew.Problem(humanoid)
    p.point("LFIN", goal=[0.4, 1.2, 0.3])
    p.orientation("head", [1, 0.2, 0, 0])
    q = humanoid.sample(3, seed=2)
    f, g, H = p.evaluate(q)
    assert f.shape == (3,) and g.shape == (3, 58) and H.shape == (3, 58, 58)
    f1, g1, H1 = p.evaluate(q[1])
    assert f1 == f[1] and np.array_equal(H1, H[1])
    f2, g2 = p.evaluate(q[1], hessian=None)
    assert f2 == f1 and np.array_equal(g1, g2)
    _, _, GN = p.evaluate(q[1], gauss_newton=True)
    assert np.linalg.eigvalsh(GN).min() > -1e-10 and not np.array_equal(GN, H1)
    sparse = pytest.importorskip("scipy.sparse")
    S = p.evaluate(q[1], hessian="sparse")[2]
    assert sparse.issparse(S) and np.array_equal(S.toarray(), H1) and S.nnz < H1.size
    x = np.random.default_rng(1).normal(size=58)
    assert np.allclose(p.evaluate(q[1], hessian="operator")[2] @ x, H1 @ x, atol=1e-10)
    assert np.allclose(p.evaluate(q[1], hessian="operator", gauss_newton=True)[2] @ x, GN @ x, atol=1e-10)
    assert p.errors(q).shape == (3, 2) and np.array_equal(p.errors(q[1]), p.errors(q)[1])
    with pytest.raises(sinew.ShapeError, match="sparse"):
        p.evaluate(q, hessian="sparse")


def test_a_sparse_hessian_of_a_large_model(humanoid):
    pytest.importorskip("scipy.sparse")
    n = 3000
    joints = [{"name": "j0", "type": "hinge", "axis": [0, 0, 1]}]
    joints += [{"name": f"j{i}", "type": "hinge", "axis": [0, i % 2, (i + 1) % 2], "parent": f"j{0 if i % 300 == 0 else i - 1}",
                "position": [0.01, 0, 0]} for i in range(1, n)]
    star = sinew.Model.from_json({"sinew": 1, "name": "star", "joints": joints})
    p = sinew.Problem(star)
    for i in range(299, n, 300):
        p.point(f"j{i}", goal=[0.3, 0.2, 0.1 * i / n])
    q = star.sample(seed=1)
    f, g, S = p.evaluate(q, hessian="sparse")
    x = np.random.default_rng(1).normal(size=n)
    assert S.shape == (n, n) and S.nnz < 0.12 * n * n
    assert np.allclose(S @ x, p.evaluate(q, hessian="operator")[2] @ x, atol=1e-9)


def test_tasks_change(humanoid):
    p = sinew.Problem(humanoid)
    point, plane, turn = p.point("LFIN", goal=[0, 1, 0]), p.plane("RFIN", [0, 1, 0], [0, 1, 0]), p.orientation("head")
    pose, rest = p.pose("left_hand", [0, 1, 0, 1, 0, 0, 0]), p.rest(humanoid.zero(), weight=0.01)
    look, far = p.look_at("head", axis=[0, 0, 1], target=[0, 1, 5]), p.distance("LFIN", "RFIN", 0.2)
    q = humanoid.sample(seed=8)
    point.goal, plane.normal, turn.rotation = [1, 2, 3], [1, 0, 0], np.diag([1, -1, -1])
    pose.goal, rest.pose, look.goal, far.distance = np.eye(4), q, [1, 1, 1], 0.5
    point.weight, point.level, pose.rotation_weight, point.local = 2.0, 1, 0.5, [0.1, 0, 0]
    rest.weights = np.arange(humanoid.nv)
    point.set_loss("huber", 0.1)
    again = pickle.loads(pickle.dumps(p))
    fresh = sinew.Problem(humanoid)
    fresh.point("LFIN", goal=[1, 2, 3], weight=2.0, level=1, local=[0.1, 0, 0], loss="huber", loss_scale=0.1)
    fresh.plane("RFIN", [0, 1, 0], [1, 0, 0])
    fresh.orientation("head", [0, 1, 0, 0])
    fresh.pose("left_hand", np.eye(4), rotation_weight=0.5)
    fresh.rest(q, weights=np.arange(humanoid.nv), weight=0.01)
    fresh.look_at("head", axis=[0, 0, 1], target=[1, 1, 1])
    fresh.distance("LFIN", "RFIN", 0.5)
    at = humanoid.sample(seed=9)
    want = fresh.evaluate(at)
    for have in (p.evaluate(at), again.evaluate(at)):
        assert have[0] == want[0] and np.array_equal(have[2], want[2])
    for task in p.tasks:
        task.enabled = False
    assert p.evaluate(at)[0] == 0
    point.enabled = True
    point.missing = True
    assert p.evaluate(at)[0] == 0
    point.goal = [1, 2, 3]
    assert p.evaluate(at)[0] > 0 and not point.missing


def test_rotations_of_named_frames(data):
    model = sinew.load(data / "opensim" / "subject01_simbody.osim")
    p = sinew.Problem(model)
    names = ["femur_r", "torso", "pelvis"]
    q = model.sample(seed=2)
    for name in names:
        goal = model.frames(q, name)
        task = p.pose(name, goal)
        assert np.allclose(sinew.matrices_from_poses(task.goal), goal, atol=1e-12)
    assert p.errors(q).max() < 1e-9


def test_levels(humanoid):
    p = sinew.Problem(humanoid)
    p.point("LFIN", goal=[0.4, 1.2, 0.3])
    p.point("RFIN", goal=[9, 1.2, 0.3], level=1)
    s = p.solver()
    q = s()
    first, second = s.report.levels
    assert first.worst_error < 1e-6 and second.worst_error > 1 and np.abs(p.errors(q)[0]) < 1e-6


def test_freedom_of_a_problem(humanoid):
    p = sinew.Problem(humanoid)
    p.point("LFIN", goal=[0.3, 1.5, 0.4])
    p.lock("pelvis")
    q = p.solver()(humanoid.zero())
    assert np.array_equal(q[:7], humanoid.zero()[:7])
    p.lock("pelvis", False)
    p.set_limits("left_forearm", -0.1, 0.1, k=0)
    j = humanoid.joints[humanoid.joint_names.index("left_forearm")]
    for problem in (p, pickle.loads(pickle.dumps(p))):
        q = problem.solver()(humanoid.zero())
        assert abs(q[j.q][0]) <= 0.1 and not np.array_equal(q[:7], humanoid.zero()[:7])


def test_many_starts(humanoid):
    p = sinew.Problem(humanoid)
    p.point("LFIN", goal=[0.4, 1.2, 0.3])
    s = p.solver()
    starts = humanoid.sample(6)
    q = s(starts)
    assert q.shape == starts.shape and len(s.reports) == 6 and (s.reports["f"] < 1e-10).all()
    assert np.array_equal(q[2], s(starts[2]))
    assert np.array_equal(starts, humanoid.sample(6))


@pytest.mark.parametrize("method", sinew.methods())
def test_methods_and_traces(humanoid, method):
    p = sinew.Problem(humanoid)
    p.point("LFIN", goal=[0.5, 1.2, 0.3])
    s = p.solver(method, trace=True, max_iterations=400)
    s(humanoid.zero())
    r, t = s.report, s.trace
    assert len(t) == r.iterations and r.f < p.evaluate(humanoid.zero())[0] and (np.diff(t["iteration"]) == 1).all()
    assert t["f"][-1] <= t["f"][0]


def test_solver_options(humanoid):
    p = sinew.Problem(humanoid)
    p.point("LFIN", goal=[0.5, 1.2, 0.3])
    with pytest.raises(sinew.ArgumentError, match="hybrid"):
        p.solver("guess")
    with pytest.raises(sinew.ArgumentError, match="max_iterations"):
        p.solver(max_iteration=3)
    s = p.solver(max_iterations=1)
    s(humanoid.zero())
    assert s.report.stop == "iteration limit" and s.report.iterations == 1
    with pytest.raises(sinew.NumberError):
        s(np.full(humanoid.nq, np.inf))
    with pytest.raises(sinew.ArgumentError, match="colour"):
        p.point("LFIN", colour=3)
    with pytest.raises(sinew.TaskError):
        p.point("LFIN", goal=[1, 2, 3], weight=-1)
    assert len(p.tasks) == 1 and s(humanoid.zero()) is not None


def test_cold_searches_with_and_without_lanes(humanoid):
    p = sinew.Problem(humanoid)
    p.rest(humanoid.zero(), weight=1e-3)
    for name, goal in {"LFIN": [0.4, 1.3, 0.4], "RFIN": [-0.3, 0.8, 0.5], "LTOE": [0.2, 0.3, 0.3]}.items():
        p.point(name, goal=goal)
    found = [p.solver(lanes=lanes)(humanoid.zero(), cold=True) for lanes in (True, False)]
    assert np.abs(found[0] - found[1]).max() < 1e-6


def test_own_tasks(humanoid):
    goal = np.array([0.4, 1.2, 0.3])

    def value(frames, want_gradient):
        r = frames[0, :3, 3] - goal
        phi = 0.5 * r @ r
        return (phi, np.concatenate([np.zeros(3), r])[None, :]) if want_gradient else phi

    def multiply(frames, x):
        return np.concatenate([np.zeros((1, 3)), x[:, 3:]], axis=1)

    p, ours = sinew.Problem(humanoid), sinew.Problem(humanoid)
    p.own(["left_hand"], value, multiply)
    ours.point(humanoid.joint_names.index("left_hand"), goal=goal)
    q = humanoid.sample(seed=4)
    for a, b in zip(p.evaluate(q), ours.evaluate(q)):
        assert np.allclose(a, b, atol=1e-10)
    s = p.solver()
    assert np.abs(humanoid.frames(s(humanoid.zero()), "left_hand")[:3, 3] - goal).max() < 1e-5

    def broken(frames, want_gradient):
        raise ZeroDivisionError("mine")

    p = sinew.Problem(humanoid)
    p.own(["left_hand"], broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        p.solver()(humanoid.zero())
    with pytest.raises(ZeroDivisionError, match="mine"):
        p.evaluate(humanoid.zero())


def test_guards(robot):
    p = sinew.Problem(robot)
    p.point("l6", goal=[0.3, 0, -0.5])
    floor = p.half_space("l6", goal=[0, 0, 0.1], normal=[0, 0, 1])
    s = p.solver()
    q = s()
    assert robot.points(q, "l6")[2] >= 0.1 - 1e-6 and p.violations(q) == []
    floor.enabled = False
    low = s(q)
    floor.enabled = True
    assert [t for t, by in p.violations(low)] == [floor] and p.violations(low)[0][1] > 0.1


def test_clips(humanoid, example):
    rows = humanoid.points(humanoid.clamp(example.truth.q[:100]))
    p = sinew.Problem(humanoid)
    tasks = p.markers()
    goals = {t: rows[:, i].copy() for i, t in enumerate(tasks)}
    goals[tasks[0]][50:60] = np.nan
    motion, reports = p.track(goals, rate=120, reports=True, threads=2)
    assert motion.q.shape == (100, humanoid.nq) and reports["report"]["f"].max() < 1e-5
    assert np.array_equal(p.track(goals, rate=120, threads=1).q, motion.q)
    assert np.abs(motion.points() - rows).max() < 0.002
    noisy = {t: g + np.random.default_rng(1).normal(0, 0.002, g.shape) for t, g in goals.items()}
    motion = p.track(noisy, rate=120)
    smooth = p.smooth(noisy, motion, tau=0.01)
    assert np.abs(np.diff(smooth.points(), 2, axis=0)).sum() < 0.7 * np.abs(np.diff(motion.points(), 2, axis=0)).sum()
    with pytest.raises(sinew.ShapeError, match=r"the goals of task 1 have the shape \(50, 3\), but must have \(100, 3\)"):
        p.track({tasks[0]: rows[:, 0], tasks[1]: rows[:50, 1]})


def test_clips_of_poses(robot, arm, goals):
    p = sinew.Problem(robot)
    hand = p.pose("l6", goals[0])
    q, _ = arm.solve(goals[0])
    way = np.repeat(goals[:1], 50, axis=0)
    way[:, 2] += np.linspace(0, -0.05, 50)
    motion = p.track({hand: way}, q0=arm.to_pose(q), rate=50)
    assert np.abs(robot.points(motion.q, "l6") - way[:, :3]).max() < 1e-5
    turned = p.track({hand: sinew.matrices_from_poses(way)}, q0=arm.to_pose(q))
    assert np.allclose(turned.q, motion.q, atol=1e-6)


def test_tasks_files(humanoid):
    tasks = {"tasks": [{"type": "point", "joint": "left_hand", "goal": [0.4, 1.2, 0.3]},
                       {"type": "orientation", "joint": "head", "goal": [1, 0, 0.1, 0], "weight": 0.5},
                       {"type": "rest", "weight": 0.01, "q": humanoid.zero().tolist()}]}
    p = sinew.Problem.from_json(humanoid, tasks)
    assert [t.type for t in p.tasks] == ["point", "orientation", "rest"] and p.tasks[1].weight == 0.5
    q = humanoid.sample(seed=6)
    assert pickle.loads(pickle.dumps(p)).evaluate(q)[0] == p.evaluate(q)[0] > 0
    p.solver()(humanoid.zero())
    with pytest.raises(sinew.Error, match="joint"):
        sinew.Problem.from_json(humanoid, {"tasks": [{"type": "point", "joint": "nobody"}]})


def test_threads_share_a_problem(humanoid):
    p = sinew.Problem(humanoid)
    hand = p.point("LFIN", goal=[0.4, 1.2, 0.3])
    s = p.solver()
    failed = []

    def work(k):
        try:
            q = humanoid.zero()
            for i in range(60):
                hand.goal = [0.4 + 0.001 * i, 1.2, 0.1 * k]
                q = s(q)
        except BaseException as why:
            failed.append(why)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert failed == []


def test_a_whole_body_servo(humanoid):
    p = sinew.Problem(humanoid)
    q = humanoid.clamp(humanoid.zero())
    hand = p.point("LFIN", goal=humanoid.points(q, "LFIN") + [0.05, 0.05, 0.1])
    servo = p.servo(q, 0.01, velocity=2.0, acceleration=20.0)
    last = q
    for _ in range(200):
        now = servo.step()
        assert np.abs(humanoid.difference(last, now)).max() <= 0.02 + 1e-9
        last = now
    assert p.errors(last)[0] < 1e-3 and servo.velocity.shape == (58,) and servo.report.worst_error < 1e-3
    hand.goal = humanoid.points(q, "LFIN")
    servo.step()
    assert servo.report.errors[0] > 1e-3
