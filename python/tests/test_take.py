# SPDX-License-Identifier: MIT
import copy
import os
import pickle
import subprocess

import numpy as np
import pytest

import sinew


def test_a_take_fits(take, short):
    assert take.nframe == 240 and take.rate == 120 and take.rms < 0.012
    assert take.q.shape == (240, take.model.nq) and take.joints.shape == (240, 31, 3) and take.markers.shape == (240, 41, 3)
    assert take.error.shape == (240, 41)
    seen = ~np.isnan(take.error)
    assert seen.sum() > 0.9 * seen.size
    assert np.isclose(np.sqrt(np.mean(take.error[seen] ** 2)), take.rms, rtol=1e-6)
    assert np.allclose(np.nanmax(take.error, axis=0), take.marker_reports["worst"], rtol=1e-6)
    assert np.allclose(take.frame_reports["worst"], np.nanmax(take.error, axis=1), rtol=1e-5)
    # Two seconds hardly turn the upper arms: their zeros are told of, too.
    assert [f.code for f in take.findings] == ["points-unnamed", "not-shown"] and "left out" in take.findings[0].text
    assert "upper_arm" in take.findings[1].text and {f.severity for f in take.findings} == {"note"}
    assert take.verdict == "good"
    assert take.summary["matched"] == 41 and take.summary["fit"]["rms"] == take.rms


def test_a_figure_that_lies_is_fitted_again(data):
    from sinew._sinew import ffi, lib
    from sinew.model import derived

    lying = sinew.load(data / "bvh" / "lafan1_dance1_subject2_excerpt.bvh")
    clip = data / "cmu" / "02_01.c3d"
    first = sinew.fit(clip, lying, calibrate="scale", frames=(50, 200), progress=False)
    for figure in (first.figure, pickle.loads(pickle.dumps(first.figure)), sinew.Model.from_json(first.figure.to_json())):
        second = sinew.fit(clip, figure, frames=(50, 200), progress=False)
        assert second.rms < 1.02 * first.rms < 0.005
        assert "stance-found" in [f.code for f in second.findings] and second.verdict == "good"
    # a changed copy knows of the file's motion
    found, error = ffi.new("sn_model **"), ffi.new("sn_error *")
    builder = ffi.new("sn_builder **")
    assert lib.sn_builder_create_from(lying._c, ffi.NULL, builder, error) == 0
    assert lib.sn_builder_finish(builder[0], found, error) == 0
    lib.sn_builder_destroy(builder[0])
    third = sinew.fit(clip, derived(found[0], lying), calibrate="scale", frames=(50, 200), progress=False)
    assert abs(third.rms - first.rms) < 1e-6


def test_the_truth_is_compared(example, short):
    take = sinew.fit(short, example.model, truth=example.truth[:240], progress=False)
    assert 0 < take.truth.median < 15 and take.truth.joints > 20


def test_pickles_and_copies(take, tmp_path):
    for other in (pickle.loads(pickle.dumps(take)), copy.copy(take), copy.deepcopy(take)):
        assert np.array_equal(other.q, take.q) and np.array_equal(other.error, take.error, equal_nan=True)
        other.save(tmp_path / "a.bvh")
        take.save(tmp_path / "b.bvh")
        assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()
        assert other.findings == take.findings
    r = take.measured
    again = pickle.loads(pickle.dumps(r))
    assert np.array_equal(again.positions, r.positions, equal_nan=True) and again.labels == r.labels and again.rate == r.rate
    independent = copy.copy(r)
    independent.positions[0] = 7
    assert not np.any(r.positions[0] == 7)


def test_every_format_is_written_and_read(take, tmp_path):
    for ending in "bvh glb mot sto csv c3d trc json asf html".split():
        take.save(tmp_path / f"take.{ending}")
        assert (tmp_path / f"take.{ending}").stat().st_size > 1000
    assert not list(tmp_path.glob("*.part"))
    bvh = sinew.load_motion(tmp_path / "take.bvh")
    assert bvh.nframe == 240 and bvh.model.nv > 50
    mot = sinew.load_motion(tmp_path / "take.mot", take.model)
    assert np.allclose(mot.points(), take.markers, atol=1e-9)
    c3d = sinew.load_recording(tmp_path / "take.c3d")
    assert np.allclose(c3d.positions, take.markers, atol=1e-5)
    figure = sinew.load(tmp_path / "take.json")
    second = sinew.fit(take.measured, figure, calibrate="none", progress=False)
    assert second.rms < 1.2 * take.rms
    with pytest.raises(sinew.ArgumentError, match="its ending must be one of"):
        take.save(tmp_path / "take.xyz")


def test_the_program_gives_the_same_bytes(example, program, tmp_path):
    example.recording[:200].save(tmp_path / "take.c3d")
    subprocess.run([program, "fit", "-m", "humanoid", "-i", "take.c3d", "-o", "theirs.bvh", "-o", "theirs.mot", "-o", "theirs.glb"],
                   cwd=tmp_path, check=True, capture_output=True)
    take = sinew.fit(tmp_path / "take.c3d", "humanoid", progress=False)
    for ending in ("bvh", "mot", "glb"):
        take.save(tmp_path / f"ours.{ending}")
        ours, theirs = (tmp_path / f"ours.{ending}").read_bytes(), (tmp_path / f"theirs.{ending}").read_bytes()
        if ending == "mot":  # the table has the file's name
            ours, theirs = ours.split(b"endheader")[1], theirs.split(b"endheader")[1]
        assert ours == theirs, ending


def test_the_report_is_the_programs(example, program, tmp_path):
    """Byte for byte, but for how a page that plays is made and the hints at options."""
    example.recording[:120].save(tmp_path / "take.c3d")
    subprocess.run([program, "fit", "-m", "humanoid", "-i", "take.c3d", "--report", "theirs.html"], cwd=tmp_path, capture_output=True)
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        take = sinew.fit("take.c3d", "humanoid", report="ours.html", progress=False)
    finally:
        os.chdir(here)
    ours, theirs = ((tmp_path / f"{w}.html").read_text().splitlines() for w in ("ours", "theirs"))
    assert len(ours) == len(theirs) > 100
    differ = [a for a, b in zip(ours, theirs) if a != b]
    assert all("see it move" in line or "<li class=" in line for line in differ) and len(differ) <= 1 + len(take.findings)
    assert any("take.save" in line for line in differ)
    with pytest.raises(sinew.FitError, match='a length is given for "nobody"'):
        sinew.fit(example.recording[:60], example.model, calibrate="scale", lengths={"nobody": 0.4}, progress=False)


def test_options(example, short, take):
    assert np.array_equal(sinew.fit(short, example.model, threads=1, progress=False).q, take.q)
    some = sinew.fit(short, example.model, frames=(10, 60), progress=False)
    assert some.nframe == 51 and some.first_frame == 10
    smooth = sinew.fit(short, example.model, smooth=0.01, robust=("cauchy", 0.02), limits="hard", progress=False)
    assert np.abs(np.diff(smooth.q, 2, axis=0)).sum() < np.abs(np.diff(take.q, 2, axis=0)).sum()
    for word, value in (("limits", "loose"), ("calibrate", "maybe"), ("robust", "tukey"), ("up", "w"), ("unit", "ell"), ("axes", "xxy"),
                        ("threads", 0), ("method", "magic")):
        with pytest.raises(sinew.ArgumentError):
            sinew.fit(short, example.model, progress=False, **{word: value})
    with pytest.raises(sinew.ArgumentError, match="a solver has no option 'colour'"):
        sinew.fit(short, example.model, colour=1)
    calls = []
    sinew.fit(example.recording, example.model, progress=lambda *a: calls.append(a))
    assert calls and calls[-1][0] in ("solve", "finish") and all(0 <= c[1] <= 1 for c in calls)


def test_what_cannot_be_fitted_says_so(example, short, tmp_path):
    few = sinew.Recording(np.zeros((5, 2, 3)), ["A", "B"], rate=100)
    with pytest.raises(sinew.FitError) as why:
        sinew.fit(few, example.model, progress=False)
    assert why.value.findings[-1].severity == "error" and str(why.value) == why.value.findings[-1].text
    assert pickle.loads(pickle.dumps(why.value)).findings == why.value.findings
    with pytest.raises(FileNotFoundError):
        sinew.fit("nowhere.c3d", example.model)
    with pytest.raises(sinew.FileError, match="no marker positions"):
        example.model.save(tmp_path / "m.json")
        sinew.fit(tmp_path / "m.json", example.model)
    with pytest.raises(sinew.ArgumentError, match="a model is needed"):
        sinew.fit(short)


def test_recordings_are_the_librarys_memory(short):
    r = short[:10]
    assert r.positions.flags.writeable and r.positions.base is not None
    r.positions[3, 4] = [1, 2, 3]
    from sinew._sinew import ffi, lib

    row = lib.sn_recording_frame(r._c, 3)
    assert [row[12], row[13], row[14]] == [1, 2, 3]
    p = r.positions
    del r
    assert p[3, 4, 2] == 3
    with pytest.raises(sinew.ShapeError, match=r"labels has 2 names, but positions has the shape \(4, 3, 3\)"):
        sinew.Recording(np.zeros((4, 3, 3)), ["a", "b"])
    with pytest.raises(sinew.ShapeError, match=r"positions has the shape \(4, 9\), but must have \(frames, markers, 3\)"):
        sinew.Recording(np.zeros((4, 9)), ["a", "b", "c"])
    assert ffi is not None


def test_tables_have_opensims_names(data):
    pandas = pytest.importorskip("pandas")
    model = sinew.load(data / "opensim" / "subject01_simbody.osim")
    motion = sinew.load_motion(data / "opensim" / "std_subject01_walk1_ik.mot", model)
    frame = motion.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    assert {"pelvis_tilt", "hip_flexion_r", "knee_angle_l", "lumbar_extension"} <= set(frame.columns)
    given = sinew.read(data / "opensim" / "std_subject01_walk1_ik.mot").table
    assert np.allclose(frame["knee_angle_r"], given["knee_angle_r"], atol=1e-4)
    assert "knee_angle_r_u" in motion.table("rates").columns
    assert any(c.startswith("center_of_mass") for c in motion.table("bodies").columns)


def test_error_tables_and_plots(take):
    pytest.importorskip("pandas")
    table = take.error_table()
    assert list(table.index) == take.model.marker_names and (table["worst_mm"] >= table["rms_mm"]).all()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for what in ("error", "angles", "markers"):
        ax = take.plot(what)
        assert ax.has_data()
    ax = take.plot("angles", names=["left_forearm"])
    assert len(ax.lines) == 1
    with pytest.raises(sinew.ArgumentError, match="no coordinate 'elbow'"):
        take.plot("angles", names=["elbow"])
    matplotlib.pyplot.close("all")


def test_a_setup_of_opensim(data, program, tmp_path):
    folder = data / "biomech" / "gait2354"
    setup = folder / "subject01_Setup_IK.xml"
    scaled = sinew.scale(setup=folder / "subject01_Setup_Scale.xml")
    take = sinew.fit(model=scaled.model, setup=setup, progress=False)
    subject = tmp_path / "subject01_simbody.osim"
    scaled.save(subject)
    done = subprocess.run([program, "fit", "--setup", str(setup), "-m", str(subject), "-o", "theirs.mot"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode in (0, 4), done.stderr  # 4: with warnings
    theirs = sinew.read(tmp_path / "theirs.mot").table
    ours = take.table()
    assert ours.columns == theirs.columns and np.array_equal(ours.values, theirs.values)
    assert take.rms < 0.03 and "hip_flexion_r" in take.model.coordinate_names
    with pytest.raises(sinew.ArgumentError, match="osim"):
        sinew.fit(take.measured, "humanoid", setup=setup, progress=False)


def test_many_takes(example, tmp_path):
    (tmp_path / "list.tsv").write_text("# three\nhumanoid\ta.c3d\nhumanoid\tb.c3d\tsecond\nhumanoid\tmissing.c3d\n")
    example.recording[:60].save(tmp_path / "a.c3d")
    example.recording[60:120].save(tmp_path / "b.c3d")
    results = {r.name: r for r in sinew.fit_many(tmp_path / "list.tsv", out=tmp_path / "out", formats=("bvh", "mot"), workers=2)}
    assert results["a"].take.nframe == 60 and results["second"].error is None and isinstance(results["missing"].error, FileNotFoundError)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.bvh", "a.mot", "second.bvh", "second.mot"]
    again = list(sinew.fit_many(tmp_path / "list.tsv", out=tmp_path / "out", formats=("bvh", "mot"), resume=True))
    assert sorted(r.name for r in again if r.skipped) == ["a", "second"]
    shard = list(sinew.fit_many(tmp_path / "list.tsv", shard=(2, 3)))
    assert [r.name for r in shard] == ["second"]
    alone = sinew.fit(tmp_path / "b.c3d", "humanoid", progress=False)
    assert np.array_equal(alone.q, results["second"].take.q)
    (tmp_path / "bad.tsv").write_text("humanoid\n")
    with pytest.raises(sinew.FileError, match="bad.tsv:1: a line is SKELETON"):
        sinew.load_list(tmp_path / "bad.tsv")


def test_a_take_plays_in_a_notebook(take):
    text = take._repr_html_()
    assert text.startswith("<iframe srcdoc=") and len(text) < 400000
    for outside in ("http:", "https:", "src=&quot;", "url("):
        assert outside not in text
    from sinew.view import player_data

    d = player_data(take, take.measured)
    assert d["frames"] == 60 and d["rate"] == 30
    import base64

    n, packed = d["points"]
    steps = np.frombuffer(base64.b64decode(packed), "<i2").reshape(60, n, 3)
    back = np.array(d["low"]) + (steps + 32767.0) * d["scale"]
    assert np.allclose(back[:, :31], take.joints[::4], atol=2e-4)
    assert max(max(b) for b in d["bones"]) < n


def test_marker_sets(take, example, tmp_path):
    learned = sinew.MarkerSet.learn(example.truth, example.recording)
    assert len(learned) >= 40 and all(p[2] is not None for p in learned.places)
    learned.save(tmp_path / "set.json")
    assert sinew.MarkerSet.load(tmp_path / "set.json").places == learned.places
    assert pickle.loads(pickle.dumps(learned)).places == learned.places
    fitted = sinew.fit(example.recording[:60], example.model, markers=learned, progress=False)
    assert fitted.rms < 0.006
    assert sinew.fit(example.recording[:60], example.model, markers=tmp_path / "set.json", progress=False).rms == fitted.rms
    assert len(learned.apply(example.model).markers) == len(learned)


def test_the_page_plays_in_a_browser(take, tmp_path):
    import html
    import re
    import shutil

    from sinew.view import notebook_html, page_html

    page = page_html(take, take.measured)
    assert html.unescape(re.search(r'srcdoc="(.*?)" width', notebook_html(take), re.S)[1]) == page
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    (tmp_path / "take.html").write_text(page)
    # the browser's time is virtual: on a machine with much to do it may be over before anything is drawn
    for budget in (1500, 6000, 24000):
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--virtual-time-budget={budget}",
                               "--dump-dom", str(tmp_path / "take.html")], capture_output=True, text=True, timeout=120)
        drawn = re.search(r'data-drawn="(\d+)"', done.stdout)
        if drawn and int(drawn[1]) > 0:
            break
    assert drawn and int(drawn[1]) > 0 and re.search(r'id="said">frame \d+, [\d.]+ s', done.stdout)
