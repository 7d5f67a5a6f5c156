# SPDX-License-Identifier: MIT
"""Plots of takes, with matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from ._core import ArgumentError

if TYPE_CHECKING:
    from .motion import Motion
    from .take import Take


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(9, 3.5))[1]


def errors(take: Take, ax: Any = None) -> Any:
    """The error of the markers over time: RMS and worst of each frame, millimetres."""
    ax = _axes(ax)
    ax.fill_between(take.times, 1000 * take.frame_reports["worst"], color="0.85", label="worst marker")
    ax.plot(take.times, 1000 * take.frame_reports["rms"], label="RMS")
    held = take.frame_reports["held"]
    if held.any():
        ax.plot(take.times[held], np.zeros(int(held.sum())), "|", color="C3", label="too few markers")
    ax.set(xlabel="time (s)", ylabel="error (mm)", title=f"RMS {1000 * take.rms:.1f} mm")
    ax.legend(loc="upper right")
    return ax


def markers(take: Take, ax: Any = None) -> Any:
    """The error of each marker: RMS and worst, millimetres."""
    ax = _axes(ax)
    order = np.argsort(-take.marker_reports["rms"])
    names = np.array(take.model.marker_names)[order]
    ax.bar(range(len(names)), 1000 * take.marker_reports["rms"][order])
    ax.plot(range(len(names)), 1000 * take.marker_reports["worst"][order], ".", color="0.5")
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    ax.set(ylabel="error (mm)", title="RMS of each marker; dots: its worst frame")
    return ax


def angles(motion: Motion, names: Optional[Sequence[str]] = None, ax: Any = None) -> Any:
    """Coordinates over time, with OpenSim's names: degrees, or metres."""
    ax = _axes(ax)
    table = motion.table()
    columns = table.columns[1:]
    chosen = list(names) if names is not None else columns[:6]
    for name in chosen:
        if name not in columns:
            raise ArgumentError(f"there is no coordinate {name!r}; the first are {', '.join(columns[:8])}")
        ax.plot(table.values[:, 0], table[name], label=name)
    ax.set(xlabel="time (s)" if motion.rate > 0 else "frame", ylabel="degrees (lengths: metres)")
    ax.legend(loc="upper right", fontsize=8)
    return ax


__all__ = ["errors", "markers", "angles"]
