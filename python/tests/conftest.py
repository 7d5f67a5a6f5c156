# SPDX-License-Identifier: MIT
import os
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(Path(__file__).parent))


def data_folder():
    """The files of others that tests look at where they are: beside the checkout, or where SINEW_DATA says."""
    for place in (os.environ.get("SINEW_DATA"), ROOT.parent / "shared" / "data"):
        if place and Path(place).is_dir():
            return Path(place)
    return None


@pytest.fixture(scope="session")
def data():
    found = data_folder()
    if found is None:
        pytest.skip("no data beside the checkout")
    return found


@pytest.fixture(scope="session")
def program():
    """The command-line program, to compare with."""
    for place in (os.environ.get("SINEW_PROGRAM"), ROOT / "build" / "sinew"):
        if place and Path(place).exists():
            return str(place)
    pytest.skip("the program is not built")


@pytest.fixture(scope="session")
def humanoid():
    import sinew

    return sinew.humanoid()


@pytest.fixture(scope="session")
def example():
    import sinew

    return sinew.example()


@pytest.fixture(scope="session")
def short(example):
    """Some frames of the example: quick to fit."""
    return example.recording[:240]


@pytest.fixture(scope="session")
def take(example, short):
    import sinew

    return sinew.fit(short, example.model, progress=False)


@pytest.fixture(scope="session")
def arm_text():
    """A robot of seven hinges, about as large as a Panda."""
    axes = ["0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 -1 0", "0 0 1"]
    heights, text, parent = [0.333, 0, 0.316, 0, 0.384, 0, 0.21], "", "base"
    for i, (axis, height) in enumerate(zip(axes, heights)):
        shift = 0.0825 if i == 3 else -0.0825 if i == 4 else 0.088 if i == 6 else 0
        text += (f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
                 f'<origin xyz="{shift} 0 {height}"/><axis xyz="{axis}"/><limit lower="-2.8" upper="2.8" velocity="2"/></joint>\n')
        parent = f"l{i}"
    return f'<robot name="seven"><link name="base"/>{text}</robot>'


@pytest.fixture(scope="session")
def robot(arm_text, tmp_path_factory):
    import sinew

    path = tmp_path_factory.mktemp("robot") / "seven.urdf"
    path.write_text(arm_text)
    return sinew.load(path)


@pytest.fixture(scope="session")
def arm(robot):
    return robot.arm("l6", threads=2)


@pytest.fixture(scope="session")
def goals(arm):
    rng = np.random.default_rng(3)
    return arm.tool(arm.lower + (arm.upper - arm.lower) * rng.random((500, arm.n)))
