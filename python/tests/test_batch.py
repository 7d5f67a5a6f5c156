# SPDX-License-Identifier: MIT
import pickle

import numpy as np
import pytest

import sinew


@pytest.fixture
def reach(humanoid):
    p = sinew.Problem(humanoid)
    return p, p.point("LFIN", goal=[0.4, 1.2, 0.3]), p.orientation("head", weight=0.1)


def test_rows_are_solved(humanoid, reach):
    p, hand, head = reach
    goals = np.random.default_rng(2).uniform([0.3, 1.0, 0.1], [0.6, 1.4, 0.4], (200, 3))
    batch = p.batch(threads=2)
    q, reports = batch.solve({hand: goals}, reports=True)
    assert q.shape == (200, humanoid.nq) and (reports["f"] < 1e-12).all()
    assert np.abs(humanoid.points(q, "LFIN") - goals).max() < 1e-5 and batch.note != "" and batch.lanes >= 1
    assert np.array_equal(pickle.loads(pickle.dumps(batch)).solve(batch._rows({hand: goals}, 1)[0]), q)
    assert np.array_equal(p.batch(threads=1).solve({hand: goals[:7]}), q[:7])
    assert batch.counts["rows"] == 200
    turned = batch.solve({hand: goals[:5], head: np.tile([1.0, 0.1, 0, 0], (5, 1))})
    assert not np.allclose(turned, q[:5])
    one = p.solver()
    hand.goal = goals[3]
    assert np.abs(humanoid.points(one(humanoid.zero()), "LFIN") - goals[3]).max() < 1e-5


def test_chains(humanoid, reach):
    p, hand, _ = reach
    t = np.linspace(0, 1, 30)
    way = np.stack([np.stack([0.4 + 0.1 * t, 1.2 + k * 0.05 * t, 0.3 + 0 * t], axis=1) for k in range(6)])
    q, reports = p.batch().track({hand: way}, reports=True)
    assert q.shape == (6, 30, humanoid.nq) and reports.shape == (6, 30)
    assert np.abs(humanoid.points(q.reshape(-1, humanoid.nq), "LFIN").reshape(6, 30, 3) - way).max() < 1e-5


def test_what_is_wrong_is_said(humanoid, reach):
    p, hand, head = reach
    batch = p.batch()
    with pytest.raises(sinew.ShapeError, match=r"the goals of task 0 have the shape \(5, 2\), but must have \(n, 3\)"):
        batch.solve({hand: np.zeros((5, 2))})
    with pytest.raises(sinew.ShapeError, match=r"must have \(5, 4\)"):
        batch.solve({hand: np.zeros((5, 3)), head: np.zeros((4, 4))})
    with pytest.raises(sinew.ShapeError, match=f"must have \\(n, {batch.ngoal}\\)"):
        batch.solve(np.zeros((5, 2)))
    with pytest.raises(sinew.ArgumentError, match="auto, cpu, opencl"):
        p.batch(device="abacus")
    late = p.point("RFIN", goal=[0, 1, 0])
    with pytest.raises(sinew.ArgumentError, match="make the batch after its tasks"):
        batch.solve({late: np.zeros((5, 3))})
    assert isinstance(sinew.devices(), list)
