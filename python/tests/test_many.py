# SPDX-License-Identifier: MIT
"""One list of takes, by the program, by threads, by processes and by Dask: the same bytes."""
import functools
import multiprocessing
import subprocess
from concurrent.futures import ProcessPoolExecutor

import pytest

import sinew

FORMATS = ("bvh", "glb")


@pytest.fixture(scope="module")
def takes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("takes")
    lines = ["# a list"]
    for seed in (1, 2, 3):
        sinew.example(seed).recording[60 * seed:60 * seed + 80].save(folder / f"take{seed}.c3d")
        lines.append(f"humanoid\ttake{seed}.c3d\twalk{seed}")
    (folder / "takes.tsv").write_text("\n".join(lines) + "\n")
    return folder / "takes.tsv"


@pytest.fixture(scope="module")
def theirs(takes, program):
    """What the program writes."""
    subprocess.run([program, "fit", "--manifest", str(takes), "--out", str(takes.parent / "theirs"), "--formats", ",".join(FORMATS)],
                   check=False, capture_output=True)
    return contents(takes.parent / "theirs")


def contents(folder):
    made = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert sorted(made) == sorted(f"walk{k}.{f}" for k in (1, 2, 3) for f in FORMATS)
    return made


def test_threads(takes, theirs, tmp_path):
    results = list(sinew.fit_many(takes, out=tmp_path, formats=FORMATS, workers=2, keep=False))
    assert sorted(r.name for r in results) == ["walk1", "walk2", "walk3"] and all(r.error is None for r in results)
    assert contents(tmp_path) == theirs


def test_processes(takes, theirs, tmp_path):
    fit = functools.partial(sinew.fit_one, out=tmp_path, formats=FORMATS)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = list(pool.map(fit, sinew.load_list(takes)))
    assert [r.name for r in results] == ["walk1", "walk2", "walk3"] and all(r.error is None for r in results)
    assert contents(tmp_path) == theirs


def test_dask(takes, theirs, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not here (Debian: python3-distributed)")
    # without the dashboard, on ports of its own
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        futures = client.map(sinew.fit_one, sinew.load_list(takes), out=tmp_path, formats=FORMATS)
        results = client.gather(futures)
        assert [r.name for r in results] == ["walk1", "walk2", "walk3"] and all(r.error is None for r in results)
        again = client.gather(client.map(sinew.fit_one, sinew.load_list(takes), out=tmp_path, formats=FORMATS, resume=True))
        assert all(r.skipped for r in again)
    assert contents(tmp_path) == theirs


def test_html_is_the_report(takes, tmp_path):
    result = sinew.fit_one(sinew.load_list(takes)[0], out=tmp_path / "new", formats=("html",))
    assert result.error is None and result.take is None
    assert b"sinew fit report" in (tmp_path / "new" / "walk1.html").read_bytes()
    bad = sinew.fit_one(("humanoid", tmp_path / "nowhere.c3d"), out=tmp_path)
    assert isinstance(bad.error, FileNotFoundError) and bad.name == "nowhere"
