# %% [markdown]
# # Comparing solvers, as a paper's figure
#
# Erleben and Andrews ("Solving inverse kinematics using exact Hessian matrices", 2018) plot how the objective falls
# with the iterations: exact Newton against methods that know the gradient alone. The same here: the built-in
# figure, goals for hands and feet from random poses, every method from the same starts.

# %%
import os
from pathlib import Path

import numpy as np

import sinew

out = Path(os.environ.get("SINEW_OUT", "."))
model = sinew.humanoid()
ends = ["left_fingers", "right_fingers", "left_toes", "right_toes", "head"]
names = [m for m in ("hybrid", "newton", "lm", "bfgs", "lbfgs", "ncg", "projected-gradient", "jacobian-transpose", "ccd")
         if m in sinew.methods()]
problem = sinew.Problem(model)
tasks = [problem.point(end, goal=model.points(model.zero(), end)) for end in ends]

# %% [markdown]
# `trace=True` keeps every iteration: f, gradient, step, damping.

# %%
cases = 12
curves = {name: np.zeros((cases, 101)) for name in names}
rng = np.random.default_rng(1)
for case in range(cases):
    # a pose somewhat away from rest, where limits allow
    target = model.clamp(model.integrate(model.zero(), 0.4 * rng.normal(size=model.nv)))
    for task, end in zip(tasks, ends):
        task.goal = model.points(target, end)
    first = problem.evaluate(model.zero(), hessian=None)[0]
    for name in names:
        solve = problem.solver(name, trace=True, max_iterations=100)
        solve(model.zero())
        f = np.concatenate([[first], solve.trace["f"]])
        curves[name][case] = np.concatenate([f, np.full(101 - len(f), f[-1])])
for name in names:
    needed = (curves[name] > 1e-12).sum(axis=1)
    print(f"{name:20} iterations to f < 1e-12: median {np.median(needed):5.1f}   left after 100: {np.median(curves[name][:, -1]):.1e}")

# %%
import matplotlib

if "SINEW_OUT" in os.environ:
    matplotlib.use("Agg")
import matplotlib.pyplot as plt

figure, axis = plt.subplots(figsize=(8, 5))
for name in names:
    axis.semilogy(np.maximum(np.median(curves[name], axis=0), 1e-30), label=name)
axis.set(xlabel="iteration", ylabel="f (median)", ylim=(1e-30, None))
axis.legend()
figure.savefig(out / "compare_solvers.png")
