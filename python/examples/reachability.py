# %% [markdown]
# # Where an arm reaches
#
# A map of 100,000 poses: for each place in a slice through the workspace, how many of some directions of the tool the
# arm reaches. One call solves all of them, in lanes and on threads.

# %%
import os
import time
from pathlib import Path

import numpy as np

import sinew

out = Path(os.environ.get("SINEW_OUT", "."))

# %% [markdown]
# An arm of seven hinges about as large as a Panda, as a URDF text; with a file of your own it is
# `sinew.load("panda.urdf").arm(tip="panda_hand_tcp")`.

# %%
axes = ["0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 -1 0", "0 0 1"]
heights = [0.333, 0, 0.316, 0, 0.384, 0, 0.21]
shifts = [0, 0, 0, 0.0825, -0.0825, 0, 0.088]
text, parent = '<robot name="seven"><link name="base"/>', "base"
for i, (axis, height, shift) in enumerate(zip(axes, heights, shifts)):
    text += (f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
             f'<origin xyz="{shift} 0 {height}"/><axis xyz="{axis}"/><limit lower="-2.8" upper="2.8"/></joint>')
    parent = f"l{i}"
(out / "seven.urdf").write_text(text + "</robot>")
arm = sinew.load(out / "seven.urdf").arm(tip="l6")

# %% [markdown]
# A grid of 100 x 50 places with 20 directions each: 100,000 goals, a place and a quaternion w x y z.

# %%
x, z = np.linspace(-1, 1, 100), np.linspace(-0.2, 1.3, 50)
k = np.arange(20)
height, turn = 1 - (2 * k + 1) / 20, k * np.pi * (3 - 5 ** 0.5)  # points spread evenly on a sphere
side = np.sqrt(1 - height ** 2)
# the half-way turn from the z axis to each direction
directions = np.stack([1 + height, -side * np.sin(turn), side * np.cos(turn), 0 * turn], axis=1)
directions /= np.linalg.norm(directions, axis=1, keepdims=True)
goals = np.zeros((50, 100, 20, 7))
goals[..., 0], goals[..., 2] = x[None, :, None], z[:, None, None]
goals[..., 3:] = directions
begin = time.perf_counter()
q, ok = arm.solve(goals.reshape(-1, 7))
seconds = time.perf_counter() - begin
print(f"{len(ok)} goals, {ok.mean():.0%} reached, {len(ok) / seconds:,.0f} goals a second")

# %%
import matplotlib

if "SINEW_OUT" in os.environ:
    matplotlib.use("Agg")
import matplotlib.pyplot as plt

share = ok.reshape(50, 100, 20).mean(axis=2)
figure, axis = plt.subplots(figsize=(8, 6))
picture = axis.pcolormesh(x, z, share, vmin=0, vmax=1, shading="nearest")
axis.set(xlabel="x (m)", ylabel="z (m)", aspect="equal", title="share of the directions that are reached")
figure.colorbar(picture)
figure.savefig(out / "reachability.png")
