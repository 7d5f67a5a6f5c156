# SPDX-License-Identifier: MIT
"""Lists of takes, fitted in parallel."""
from __future__ import annotations

import io
import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._core import ArgumentError, Error, FileError, Group, PathLike, remove_dead, save_all, thread_count
from .model import Model
from .motion import Recording
from .take import Take, fit


class Entry(NamedTuple):
    """One take of a list."""

    model: Union[Model, PathLike]
    recording: Union[Recording, PathLike]
    name: str


class Result(NamedTuple):
    """What became of one take of a list."""

    name: str
    take: Optional[Take]  #: None where it failed, or where its files were there already
    error: Optional[Exception]
    skipped: bool


def load_list(path: PathLike) -> List[Entry]:
    """The takes of a list, as ``sinew fit --manifest`` reads it: SKELETON, RECORDING and, if you like, a NAME on each
    line, separated by tabs. Paths are seen from the list's folder."""
    made: List[Entry] = []
    seen: Dict[str, int] = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if not 2 <= len(parts) <= 3 or not parts[0] or not parts[1]:
            raise FileError("a line is SKELETON, RECORDING and, if you like, a NAME, separated by tabs", number, str(path))
        folder = Path(path).parent
        name = parts[2] if len(parts) == 3 and parts[2] else Path(parts[1]).stem
        if "/" in name:
            raise FileError(f"the name {name!r} must not hold a slash", number, str(path))
        if name in seen:
            raise FileError(f"line {seen[name]} has the name {name!r} too; give one of them another in a third column", number, str(path))
        seen[name] = number
        made.append(Entry("humanoid" if parts[0] == "humanoid" else folder / parts[0], folder / parts[1], name))
    return made


def fit_one(entry: Union[Entry, Mapping[str, Any], Tuple[Any, ...]], out: Optional[PathLike] = None,
            formats: Sequence[str] = ("bvh",), resume: bool = False, keep: bool = False, **options: Any) -> Result:
    """Fit one take of a list and write its files: what :func:`fit_many` does for each, for whatever runs functions in
    parallel. All that goes in and comes out pickles.

    ``ProcessPoolExecutor().map(functools.partial(sinew.fit_one, out="fitted"), sinew.load_list("takes.tsv"))``, or with
    Dask ``client.map(sinew.fit_one, sinew.load_list("takes.tsv"), out="fitted")``.

    :param formats: "html" is the report, as in ``sinew fit --manifest``
    """
    e = _entry(entry)
    options.setdefault("threads", 1)
    options.setdefault("progress", False)
    paths = [] if out is None else [Path(out) / f"{e.name}.{f}" for f in formats]
    if resume and paths and all(p.exists() for p in paths):
        return Result(e.name, None, None, True)
    for folder in {p.parent for p in paths}:
        folder.mkdir(parents=True, exist_ok=True)
    if resume:
        for p in paths:
            remove_dead(p)
    page = io.BytesIO()
    try:
        take = fit(e.recording, e.model, report=page if "html" in formats else None, **options)
        save_all([(p, page.getvalue() if p.suffix == ".html" else take._bytes(p)) for p in paths])
        return Result(e.name, take if keep else None, None, False)
    except (Error, OSError) as why:
        return Result(e.name, None, why, False)


def fit_many(takes: Union[PathLike, Sequence[Union[Entry, Mapping[str, Any], Tuple[Any, ...]]]], out: Optional[PathLike] = None,
             formats: Sequence[str] = ("bvh",), workers: Optional[int] = None, shard: Optional[Tuple[int, int]] = None,
             resume: bool = False, keep: bool = True, **options: Any) -> Iterator[Result]:
    """Fit a list of takes in parallel, and yield a :class:`Result` for each as it is done.

    The GIL is released in a fit, so threads are enough: each takes one of the takes at a time.

    :param takes: a list file (see :func:`load_list`), or tuples (model, recording, name)
    :param out: a folder: each take's files are out/NAME.FORMAT, and appear together when it is done, or none does;
        "html" is the report
    :param shard: (k, n): every n-th take from the k-th on; without it all, and in a task of a Slurm array its share
    :param resume: leave out takes whose files are all there
    :param keep: False: results without the takes, where the files are all that is wanted
    :param options: of :func:`fit`
    """
    entries = load_list(takes) if isinstance(takes, (str, os.PathLike)) else [_entry(t) for t in takes]
    k, n = shard if shard is not None else _slurm()
    if not 1 <= k <= n:
        raise ArgumentError(f"shard takes (k, n) with k from 1 to n, not {shard}")
    entries = entries[k - 1::n]
    group = Group()

    def one(e: Entry) -> Result:
        with group:
            return fit_one(e, out, formats, resume, keep, **options)

    count = thread_count(workers)
    waiting = iter(entries)
    with ThreadPoolExecutor(count) as pool:
        running: List[Future[Result]] = []
        try:
            for e in waiting:
                running.append(pool.submit(one, e))
                if len(running) >= 2 * count:
                    break
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for f in done:
                    running.remove(f)
                    following = next(waiting, None)
                    if following is not None:
                        running.append(pool.submit(one, following))
                    yield f.result()
        except BaseException:
            group.stop()
            for f in running:
                f.cancel()
            raise


def _slurm() -> Tuple[int, int]:
    """Which share of a list is this task's, by what Slurm says about an array job."""
    id = os.environ.get("SLURM_ARRAY_TASK_ID")
    if id is None:
        return 1, 1
    n, least = (int(os.environ.get(f"SLURM_ARRAY_TASK_{word}", default)) for word, default in (("COUNT", "1"), ("MIN", "0")))
    k = int(id) - least + 1
    if not 1 <= k <= n:
        raise ArgumentError(f"SLURM_ARRAY_TASK_ID is {id} of {n} tasks from {least}; number them without steps, or give shard")
    return k, n


def _entry(value: Any) -> Entry:
    if isinstance(value, Entry):
        return value
    if isinstance(value, Mapping):
        return Entry(value["model"], value["recording"], value.get("name") or Path(value["recording"]).stem)
    model, recording, *rest = value
    return Entry(model, recording, rest[0] if rest else Path(recording).stem)


__all__ = ["fit_many", "fit_one", "load_list", "Entry", "Result"]
