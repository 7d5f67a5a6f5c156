# %% [markdown]
# # A dataset of takes, in parallel
#
# `sinew.fit_many` fits a list of takes on all cores: the GIL is released in a fit, so threads are enough. The list is
# the one that `sinew fit --manifest` reads; here four takes are made first.

# %%
import os
from pathlib import Path

import sinew

out = Path(os.environ.get("SINEW_OUT", "."))
lines = []
for seed in range(1, 5):
    example = sinew.example(seed)
    example.recording[100 * seed:100 * seed + 300].save(out / f"take{seed}.c3d")
    lines.append(f"humanoid\ttake{seed}.c3d\twalk{seed}")
(out / "takes.tsv").write_text("\n".join(lines) + "\n")

# %% [markdown]
# Results come as they are done. A take that fails is a result with an error; the others go on. With `resume=True`
# takes whose files are there are left out, and `shard=(k, n)` splits a list between machines.

# %%
rows = []
for result in sinew.fit_many(out / "takes.tsv", out=out / "fitted", formats=("bvh", "mot")):
    if result.error is not None:
        print(result.name, "failed:", result.error)
        continue
    take = result.take
    rows.append((result.name, take.nframe, 1000 * take.rms, 1000 * take.worst))
for name, frames, rms, worst in sorted(rows):
    print(f"{name}: {frames} frames, RMS {rms:.1f} mm, worst {worst:.1f} mm")

# %% [markdown]
# The same with `concurrent.futures` in processes, for pipelines that do more than fit: `sinew.fit_one` does one take of a
# list, and all that goes in and comes out pickles.

# %%
import functools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

if __name__ == "__main__":
    fit = functools.partial(sinew.fit_one, out=out / "again", formats=("bvh",))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for result in pool.map(fit, sinew.load_list(out / "takes.tsv")):
            same = (out / "again" / f"{result.name}.bvh").read_bytes() == (out / "fitted" / f"{result.name}.bvh").read_bytes()
            print(result.name, result.error or ("the same bytes" if same else "other bytes"))
