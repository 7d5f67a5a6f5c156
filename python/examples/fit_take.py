# %% [markdown]
# # Fit a take
#
# From a recording of markers to a motion. The take is one of sinew's own making, so that the true motion is known;
# with files of your own it is `sinew.fit("walk.c3d", model="skeleton.asf")`.

# %%
import os
from pathlib import Path

import sinew

out = Path(os.environ.get("SINEW_OUT", "."))
example = sinew.example()
take = sinew.fit(example.recording, model=example.model, truth=example.truth)
print(take)

# %% [markdown]
# What a person should know about it, and how far the joints are from the truth:

# %%
for finding in take.findings:
    print(f"{finding.severity}: {finding.text}")
print(f"joints are off by {take.truth.median:.1f} degrees (median), 95 of 100 by less than {take.truth.most:.1f}")

# %% [markdown]
# Poses are rows of `take.q`; `take.joints`, `take.markers` and `take.error` are arrays too. Frame 100:

# %%
print("worst marker:", take.model.marker_names[int(take.error[100].argmax())], f"{1000 * take.error[100].max():.1f} mm")
print("left hand at", take.joints[100, take.model.joint_names.index("left_hand")].round(3))

# %% [markdown]
# A table with a column for each coordinate, as OpenSim names them, and plots:

# %%
import matplotlib

if "SINEW_OUT" in os.environ:  # without a screen
    matplotlib.use("Agg")
import matplotlib.pyplot as plt

print(take.to_pandas().iloc[:3, :5])
figure, (above, below) = plt.subplots(2, 1, figsize=(9, 6))
take.plot("error", ax=above)
take.plot("angles", names=["left_shin", "right_shin"], ax=below)
figure.tight_layout()
figure.savefig(out / "fit_take.png")

# %% [markdown]
# Files for other programs; in a notebook, the take itself plays:

# %%
take.save(out / "walk.bvh")
take.save(out / "walk.glb")
take.save(out / "walk.html")
take
