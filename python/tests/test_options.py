# SPDX-License-Identifier: MIT
"""Every option of the program has its Python in docs/python-options.md, and every line of it runs."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sinew

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "python-options.md"
COMMANDS = ("fit", "scale", "solve", "convert", "check", "info", "eval", "markers", "example")
OPENSIM = {"Setup_IK.xml": "biomech/gait2354/subject01_Setup_IK.xml", "Setup_Scale.xml": "biomech/gait2354/subject01_Setup_Scale.xml",
           "model.osim": "biomech/gait2354/gait2354_simbody.osim", "static.trc": "biomech/gait2354/subject01_static.trc",
           "markers.xml": "biomech/gait2354/gait2354_Scale_MarkerSet.xml",
           # by the names that the setups use
           "gait2354_simbody.osim": "biomech/gait2354/gait2354_simbody.osim", "subject01_static.trc": "biomech/gait2354/subject01_static.trc",
           "gait2354_Scale_MarkerSet.xml": "biomech/gait2354/gait2354_Scale_MarkerSet.xml",
           "subject01_walk1.trc": "biomech/gait2354/subject01_walk1.trc", "subject01_simbody.osim": "opensim/subject01_simbody.osim",
           "gait2354_IK_Tasks.xml": "opensim/gait2354_IK_Tasks.xml"}
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not beside its documents")


def rows():
    """(options, lines of Python) of each row, options with their command before them."""
    made, command = [], ""
    for line in PAGE.read_text().splitlines() if PAGE.exists() else []:
        if line.startswith("## "):
            command = line[3:] if line[3:] in COMMANDS else ""
        if not line.startswith("| `"):
            continue
        left, right = line.strip("| ").split(" | ", 1)
        options = [o if " " in o else f"{command} {o}" for o in re.findall("`([^`]+)`", left)]
        code = [c for c in re.findall("`([^`]+)`", right) if "(" in c or "." in c]
        made.append((tuple(options), tuple(code)))
    return made


def test_every_option_has_its_python(program):
    wanted = set()
    for command in COMMANDS:
        text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, flags=re.M)
        assert "--help" in found
        wanted |= {f"{command} {o}" for o in found if o not in ("--help", "--version")}
    listed = [o for options, _ in rows() for o in options]
    assert len(listed) == len(set(listed))
    assert set(listed) == wanted


def test_every_command_is_looked_at(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"^  ([a-z]+)  ", text.split("Commands:")[1].split("\n\n")[0], flags=re.M))
    # what only the program is for: its own benchmarks and documents
    assert found - {"bench", "man", "completion"} == set(COMMANDS)


@pytest.fixture(scope="module")
def place(tmp_path_factory, arm_text, data):
    """A folder with the files that the lines name, and the things."""
    folder = tmp_path_factory.mktemp("options")
    e = sinew.example()
    short, truth = e.recording[:60], e.truth[:60]
    labels = [label if ":" not in label else "Ann:" + label.split(":", 1)[1] for label in short.labels]
    short = short.changed(labels=labels)
    short.save(folder / "take.c3d")
    shutil.copy(folder / "take.c3d", folder / "copy.c3d")
    (folder / "robot.urdf").write_text(arm_text)
    (folder / "robot.srdf").write_text('<robot name="seven"><disable_collisions link1="l0" link2="l1" reason="Adjacent"/></robot>')
    (folder / "tasks.json").write_text('{"tasks": [{"type": "point", "joint": "left_hand", "goal": [0.4, 1.2, 0.3]}]}')
    (folder / "goals.csv").write_text("x,y,z,qw,qx,qy,qz\n0.4,0.1,0.5,0,1,0,0\n0.4,0.2,0.5,0,1,0,0\n")
    (folder / "takes.tsv").write_text("humanoid\ttake.c3d\twalk\nhumanoid\tcopy.c3d\tcopy\n")
    (folder / "sinew.html").write_text('<html><body><script id="wasm"></script></body></html>')
    for name, file in OPENSIM.items():
        if (data / file).exists():
            shutil.copy(data / file, folder / name)
    (folder / "sensors.sto").write_text("DataRate=100\nDataType=Quaternion\nversion=3\nendheader\ntime\tpelvis_imu\tfemur_r_imu\n" +
                                        "".join(f"{0.01 * i}\t1,0,0,0\t1,0,0,0\n" for i in range(5)))
    model = sinew.humanoid()
    robot = sinew.load(folder / "robot.urdf")
    arm = robot.arm("l6", threads=1)
    problem = sinew.Problem.load(model, folder / "tasks.json")
    learned = sinew.MarkerSet.learn(truth, short)
    learned.save(folder / "set.json")
    names = dict(sinew=sinew, recording=short, motion=truth, model=model, robot=robot, arm=arm, problem=problem, q=model.zero(),
                 take=sinew.fit(short, model, progress=False), poses=arm.tool([[0.1 * i] * 7 for i in range(5)]), set=learned,
                 solver=problem.solver(), task=problem.tasks[0], rows=[[0.4, 1.2, 0.3], [0.5, 1.2, 0.3]])
    return folder, names


@pytest.mark.parametrize("options, code", rows(), ids=lambda x: None)
def test_it_runs(options, code, place, monkeypatch):
    folder, names = place
    monkeypatch.chdir(folder)
    assert code
    for line in code:
        missing = [f for f in re.findall(r'"(\w+\.(?:xml|osim|trc|sto))"', line) if not (folder / f).exists() and "save" not in line and "convert" not in line]
        if "scaled" in line:
            if not (folder / "Setup_Scale.xml").exists():
                pytest.skip("no setup of OpenSim's scale tool in the data")
            names.setdefault("scaled", sinew.scale(setup="Setup_Scale.xml", search=["."]))
        if missing:
            pytest.skip(f"no {', '.join(missing)} in the data")
        eval(line, dict(names))
