# SPDX-License-Identifier: MIT
import copy
import pickle

import numpy as np
import pytest

import sinew


def test_what_it_is_made_of(humanoid):
    assert humanoid.nv == 58 and len(humanoid.markers) == 41 and humanoid.joint_names[0] == "pelvis"
    assert sum(j.q.stop - j.q.start for j in humanoid.joints) == humanoid.nq
    assert sum(j.v.stop - j.v.start for j in humanoid.joints) == humanoid.nv
    assert len(humanoid.coordinate_names) == humanoid.nv and humanoid.lower.shape == (58,)
    assert (humanoid.lower <= humanoid.upper).all()


def test_pickles_and_copies(humanoid, robot, data):
    models = [humanoid, robot, sinew.load(data / "opensim" / "subject01_simbody.osim"), sinew.load(data / "hdm05" / "HDM_dg.asf")]
    for m in models:
        other = pickle.loads(pickle.dumps(m))
        q = m.sample(3)
        assert np.array_equal(other.frames(q), m.frames(q)) and other.to_json() == m.to_json()
        assert (other.up, other.up_sign) == (m.up, m.up_sign)
        assert copy.copy(m) is m and copy.deepcopy(m) is m


def test_json_comes_back(humanoid):
    again = sinew.Model.from_json(humanoid.to_json())
    q = humanoid.sample(5)
    assert np.array_equal(again.points(q), humanoid.points(q))
    with pytest.raises(sinew.ParseError) as why:
        sinew.Model.from_json("{\n\n nonsense")
    assert why.value.line == 3
    with pytest.raises(sinew.ModelError):
        sinew.Model.from_json({"sinew": 1, "name": "x", "joints": [{"name": "a", "type": "hinge"}, {"name": "a", "type": "hinge"}]})


def test_poses(humanoid):
    q = humanoid.sample(20, seed=4)
    assert np.array_equal(q[0], humanoid.sample(seed=4)) and not np.array_equal(q[0], humanoid.sample(seed=5))
    d = humanoid.difference(q[:10], q[10:])
    assert np.allclose(humanoid.frames(humanoid.integrate(q[:10], d)), humanoid.frames(q[10:]), atol=1e-9)
    out = q + 10
    assert np.array_equal(humanoid.clamp(humanoid.clamp(out)), humanoid.clamp(out)) and not np.array_equal(humanoid.clamp(out), out)
    assert np.allclose(np.linalg.norm(humanoid.normalize(3 * q)[:, 3:7], axis=1), 1)


def test_frames_and_points_agree(humanoid):
    q = humanoid.sample(4)
    frames, points = humanoid.frames(q), humanoid.points(q)
    for i, m in enumerate(humanoid.markers):
        there = frames[:, m.joint, :3, :3] @ np.array(m.position) + frames[:, m.joint, :3, 3]
        assert np.allclose(there, points[:, i], atol=1e-14)
    assert np.array_equal(humanoid.points(q[0], "LFIN"), points[0, humanoid.marker_names.index("LFIN")])
    assert np.array_equal(humanoid.frames(q, ["head", "pelvis"])[:, 1], frames[:, 0])
    one = humanoid.frames(q, "LFIN")
    assert np.array_equal(one[:, :3, 3].round(12), points[:, humanoid.marker_names.index("LFIN")].round(12))


@pytest.mark.parametrize("frame", ["world", "body", "spatial"])
def test_jacobian_against_differences(humanoid, frame):
    q, h = humanoid.sample(seed=9), 1e-6
    J = humanoid.jacobian(q, "LFIN", frame=frame)
    at = humanoid.frames(q, "LFIN")
    numeric = np.zeros((6, humanoid.nv))
    for v in range(humanoid.nv):
        delta = np.zeros(humanoid.nv)
        delta[v] = h * humanoid.gain[v]
        a, b = humanoid.frames(humanoid.integrate(q, -delta), "LFIN"), humanoid.frames(humanoid.integrate(q, delta), "LFIN")
        W = (b[:3, :3] - a[:3, :3]) / (2 * h) @ at[:3, :3].T
        numeric[:3, v], numeric[3:, v] = (b[:3, 3] - a[:3, 3]) / (2 * h), [W[2, 1], W[0, 2], W[1, 0]]
    if frame == "body":
        numeric = np.concatenate([at[:3, :3].T @ numeric[:3], at[:3, :3].T @ numeric[3:]])
    if frame == "spatial":
        numeric[:3] += np.cross(at[:3, 3], numeric[3:], axis=0)
    assert np.abs(J - numeric).max() < 1e-8
    many = humanoid.jacobian(np.stack([q, humanoid.zero()]), "LFIN", frame=frame)
    assert np.array_equal(many[0], J) and many.shape == (2, 6, humanoid.nv)


def test_wrong_names_and_shapes(humanoid):
    with pytest.raises(sinew.ArgumentError, match="'LFINN'; the nearest is 'LFIN'"):
        humanoid.place("LFINN")
    with pytest.raises(sinew.ShapeError, match=r"q has the shape \(3,\), but must have \(59,\) or \(n, 59\): nq of the model"):
        humanoid.frames(np.zeros(3))
    with pytest.raises(sinew.ShapeError, match="delta"):
        humanoid.integrate(humanoid.zero(), np.zeros(59))
    with pytest.raises(sinew.NumberError):
        humanoid.frames(np.full(humanoid.nq, np.nan))


def test_float32_strided_and_read_only(humanoid):
    q = humanoid.sample(6)
    wide = np.zeros((6, 2 * humanoid.nq))
    wide[:, ::2] = q
    strided = wide[:, ::2]
    strided.flags.writeable = False
    assert np.array_equal(humanoid.points(strided), humanoid.points(q))
    assert np.array_equal(humanoid.points(np.asfortranarray(q)), humanoid.points(q))
    assert np.allclose(humanoid.points(q.astype(np.float32)), humanoid.points(q), atol=1e-5)


def test_mjcf_is_mujocos_order(data):
    m = sinew.load(data / "mjcf" / "g1.xml")
    assert m.joints[0].type == "free" and m.nq == 7 + sum(1 for j in m.joints if j.type == "hinge")


class MuJoCo:
    """As mujoco.MjModel has it, with the joints in another order."""

    def __init__(self, names, types):
        self.names, self.jnt_type, self.njnt = names, types, len(names)
        sizes = [{0: 7, 1: 4}.get(t, 1) for t in types]
        self.jnt_qposadr = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.nq = int(sum(sizes))
        self.qpos0 = np.zeros(self.nq)

    def joint(self, i):
        return type("Joint", (), {"name": self.names[i]})


class Pinocchio:
    def __init__(self, names, nqs):
        self.names, self.nqs = names, nqs
        self.idx_qs = np.concatenate([[0], np.cumsum(nqs)[:-1]])
        self.nq = int(sum(nqs))


def test_orders_of_others(robot, humanoid):
    names = [j.name for j in robot.joints if j.type == "hinge"]
    other = MuJoCo(names[::-1] + ["extra"], [3] * 8)
    q = robot.sample(5)
    qpos = sinew.interop.to_mujoco(robot, other, q)
    assert np.array_equal(qpos[:, :7], q[:, ::-1]) and np.array_equal(sinew.interop.from_mujoco(robot, other, qpos), q)
    # a continuous joint is a cosine and a sine there
    theirs = Pinocchio(["universe", *names], [0, 2, 1, 1, 1, 1, 1, 1])
    p = sinew.interop.to_pinocchio(robot, theirs, q)
    assert np.allclose(p[:, 0], np.cos(q[:, 0])) and np.allclose(p[:, 1], np.sin(q[:, 0]))
    assert np.allclose(sinew.interop.from_pinocchio(robot, theirs, p), q)
    # quaternions last there, first here
    free = Pinocchio(["universe", "root_joint"], [0, 7])
    q = humanoid.sample(2)
    p = sinew.interop.to_pinocchio(humanoid, free, q)
    assert np.array_equal(p[:, :3], q[:, :3]) and np.array_equal(p[:, 3:], q[:, [4, 5, 6, 3]])
    assert np.array_equal(sinew.interop.from_pinocchio(humanoid, free, p)[:, :7], q[:, :7])


def test_quaternion_orders_are_said():
    q = np.array([[0.5, 0.1, 0.2, 0.3]])
    assert np.array_equal(sinew.xyzw_from_wxyz(q), [[0.1, 0.2, 0.3, 0.5]])
    assert np.array_equal(sinew.wxyz_from_xyzw(sinew.xyzw_from_wxyz(q)), q)
    spatial = pytest.importorskip("scipy.spatial.transform")
    r = spatial.Rotation.random(5, random_state=1)
    w = sinew.rotations.as_wxyz(r)
    m = sinew.matrices_from_poses(sinew.poses(np.zeros((5, 3)), r))[:, :3, :3]
    assert np.allclose(m, r.as_matrix()) and np.allclose(np.abs(np.sum(sinew.rotations.as_wxyz(r.as_matrix()) * w, axis=1)), 1)
    with pytest.raises(sinew.ShapeError, match=r"\(\.\.\., 4\)"):
        sinew.wxyz_from_xyzw([1, 2, 3])
