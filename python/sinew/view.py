# SPDX-License-Identifier: MIT
"""A motion that plays in a page: one piece of HTML that needs nothing else, for notebooks and for files."""
from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np

from ._core import ArgumentError, Array, FileError, PathLike, check, ffi, lib, new_error, read_bytes, strings, text_of, view, written
from .motion import Motion, Recording, scene_bytes, turn_between

_MOST_FRAMES = 1500  # a notebook's output should stay small: about a minute at 25 frames a second
_MOST_RATE = 30.0


def _packed(points: Array, low: Array, scale: float) -> str:
    """Places as 16-bit numbers in base64; the least of all stands for what was not seen."""
    steps = np.where(np.isnan(points), -32768.0, np.clip((points - low) / scale, 0, 65534) - 32767)
    return base64.b64encode(np.round(steps).astype("<i2").tobytes()).decode("ascii")


def player_data(motion: Motion, recording: Optional[Recording] = None) -> Dict[str, Any]:
    """What the player draws: bones, and where they are in some frames."""
    model, step = motion.model, 1
    rate = motion.rate if motion.rate > 0 else 30.0
    while motion.nframe / step > _MOST_FRAMES or rate / step > _MOST_RATE + 1e-9:
        step += 1
    q = motion.q[::step]
    frames = model.points(q, range(len(model.joints)))
    fitted = model.points(q) if model.markers else np.zeros((len(q), 0, 3))
    seen = np.full((len(q), 0, 3), np.nan)
    if recording is not None:
        seen = recording.positions[::step][:len(q)]
        if len(seen) < len(q):
            seen = np.concatenate([seen, np.full((len(q) - len(seen), seen.shape[1], 3), np.nan)])
    bones = [[j.parent, i] for i, j in enumerate(model.joints) if j.parent >= 0 and any(j.position)]
    # a joint at the end of a chain has a bone to the middle of its markers
    ends = {j for j in range(len(model.joints))} - {j.parent for j in model.joints}
    tips: List[Array] = []
    for j in sorted(ends):
        own = [i for i, m in enumerate(model.markers) if m.joint == j]
        if own:
            bones.append([j, len(model.joints) + len(tips)])
            tips.append(fitted[:, own].mean(axis=1))
    points = np.concatenate([frames, np.stack(tips, axis=1)], axis=1) if tips else frames
    turn = turn_between(model.up, model.up_sign, 1, 1.0)
    from .rotations import matrices_from_poses

    R = matrices_from_poses([0.0, 0.0, 0.0, *turn])[:3, :3]
    points, fitted, seen = points @ R.T, fitted @ R.T, seen @ R.T
    everything = np.concatenate([a.reshape(-1, 3) for a in (points, fitted, seen)])
    everything = everything[~np.isnan(everything).any(axis=1)] if len(everything) else np.zeros((1, 3))
    low = everything.min(axis=0)
    scale = max(float((everything.max(axis=0) - low).max()) / 65534, 1e-9)
    shown = seen.shape[1] > 0
    return {"frames": len(q), "rate": rate / step, "first": motion.first_frame, "step": step, "low": low.tolist(), "scale": scale,
            "bones": bones, "points": [points.shape[1], _packed(points, low, scale)],
            "fitted": [fitted.shape[1] if shown else 0, _packed(fitted, low, scale) if shown else ""],
            "seen": [seen.shape[1], _packed(seen, low, scale)]}


def page_html(motion: Motion, recording: Optional[Recording] = None) -> str:
    """A whole page that plays the motion: bones, fitted markers and measured ones."""
    template = (Path(__file__).parent / "player.html").read_text(encoding="utf-8")
    data = json.dumps(player_data(motion, recording), separators=(",", ":")).replace("</", "<\\/")
    return template.replace("/*DATA*/null", data).replace("TITLE", html.escape(motion.model.name or "motion"))


def notebook_html(motion: Motion) -> str:
    """The page inside a frame of its own, so that nothing of the notebook changes it."""
    page = page_html(motion, getattr(motion, "measured", None))
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" width="100%" height="420" style="border:0" '
            f'title="{html.escape(repr(motion), quote=True)}"></iframe>')


# --- sinew's own page --------------------------------------------------------------------------------

_CENTIMETRE = 0.01  # lengths of the BVH file; the page is told so, as such a file cannot say it


def _pairs(motion: Motion, recording: Recording, turn: List[float]) -> bytes:
    """Each marker as it was measured, then each as the figure has it, turned like the figure: a C3D file."""
    model, out, error = motion.model, ffi.new("sn_recording **"), new_error()
    check(lib.sn_marker_paths(model._c, motion._make(), ffi.NULL, out, error), error)
    fitted = ffi.gc(out[0], lib.sn_recording_destroy)
    info = ffi.new("sn_recording_info *", lib.sn_recording_about(fitted)[0])
    n, keep = len(model.markers), []  # type: int, List[Any]
    names = [text_of(lib.sn_label_name(m.name.encode())) for m in model.markers]
    info.nmarker = 2 * n
    check(lib.sn_recording_create(info, strings([f"{w}:{name}" for w in ("measured", "fitted") for name in names], keep), ffi.NULL,
                                  out, error), error)
    made = ffi.gc(out[0], lib.sn_recording_destroy)
    places = view(lib.sn_recording_edit(made, 0), (motion.nframe, 2 * n, 3), made)
    places[:, n:] = view(lib.sn_recording_frame(fitted, 0), (motion.nframe, n, 3), fitted)
    for i, m in enumerate(model.markers):
        k = lib.sn_recording_find(recording._c, m.name.encode())
        if k >= 0:
            places[:, i] = recording.positions[:motion.nframe, k]
    lib.sn_recording_turn(made, turn)
    return written(lambda sink, error: lib.sn_c3d_write(made, ffi.NULL, sink, ffi.NULL, error))


def sinew_page(page: PathLike, path: PathLike, motion: Motion, recording: Optional[Recording] = None) -> bytes:
    """sinew's page with a motion inside, and the markers that were measured beside it."""
    text, model = read_bytes(page), motion.model
    end = text.rfind(b"</body>")
    if not str(path).lower().endswith(".html"):
        raise ArgumentError(f"{path}: a page ends with html")
    if end < 0 or b'id="wasm"' not in text:
        raise FileError("this is not sinew's page", 0, str(page))
    if b'id="sinew-take-' in text:
        raise FileError("the page holds a take already", 0, str(page))
    turn = ffi.new("double[4]")
    lib.sn_glb_up((("-" if model.up_sign < 0 else "+") + "xyz"[model.up]).encode(), turn)
    files = [("bvh", scene_bytes("take.bvh", model, motion, None, _CENTIMETRE, "y"))]
    if recording is not None and model.markers:
        files.append(("c3d", _pairs(motion, recording, list(turn))))
    made = [text[:end]]
    for form, data in files:
        block = base64.b64encode(f"{Path(path).stem}.{form}".encode() + b"\0" + data)
        head = f'<script type="application/octet-stream" id="sinew-take-{form}" data-metres="{_CENTIMETRE:g}">'
        made.append(head.encode() + block + b"</script>\n")
    return b"".join(made) + text[end:]


__all__ = ["sinew_page", "page_html", "notebook_html", "player_data"]
