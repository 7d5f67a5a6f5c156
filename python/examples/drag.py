# %% [markdown]
# # Dragging a hand
#
# The loop behind a mouse: goals change, the problem is solved again from where the figure is. Nothing is rebuilt.

# %%
import time

import numpy as np

import sinew

model = sinew.humanoid()
problem = sinew.Problem(model)
start = model.zero()

# %% [markdown]
# The feet stay, the hand follows, and what is left leans to the start.

# %%
for foot in ("left_foot", "right_foot"):
    problem.pose(foot, model.frames(start, foot), weight=10)
hand = problem.point("left_fingers", goal=model.points(start, "left_fingers"))
problem.rest(start, weight=1e-4)
solve = problem.solver()

# %%
turn = np.linspace(0, 4 * np.pi, 2000)
way = model.points(start, "left_fingers") + np.stack([-0.15 + 0.15 * np.cos(turn), 0.2 * np.sin(turn), 0.1 + 0 * turn], axis=1)
q, worst = start, 0.0
begin = time.perf_counter()
for place in way:
    hand.goal = place
    q = solve(q)
    worst = max(worst, float(problem.errors(q)[2]))
seconds = time.perf_counter() - begin
print(f"{len(way)} solves, {1e6 * seconds / len(way):.0f} microseconds each; the hand was never more than {1000 * worst:.1f} mm off")
