#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MJCF models against an independent forward kinematics, and against MuJoCo itself where it is
installed.

    mjcf.py SINEW DATA FOLDER [MUJOCO_FRAMES]

SINEW is the program, DATA the folder of real files (may be absent), FOLDER a place to write in,
MUJOCO_FRAMES the program of tests/peers/mujoco_frames.c. Random poses; bodies and sites must agree
to 1e-12 of the size of the robot. The kinematics here follow MuJoCo's documentation in the world's
frame, body after body, and share nothing with the reader in C.
"""
import json, math, os, random, subprocess, sys
import xml.etree.ElementTree as ET

ODD = """<mujoco model="odd">
  <worldbody>
    <site name="origin" pos="1 2 3" euler="10 20 30"/>
    <body name="base" pos="0.1 0.2 0.3" euler="30 -20 70" childclass="tool">
      <inertial pos="0.1 0 0" mass="2" diaginertia="1 1 1"/>
      <body name="arm" pos="0 0 1" axisangle="1 1 0 40">
        <joint name="lift" type="slide" axis="0 1 2" range="-1 1" ref="0.25"/>
        <site name="tip" pos="0 0 0.5" zaxis="1 1 1"/>
        <body pos="0.3 0 0" xyaxes="1 1 0 -1 1 0.5"><joint class="main" axis="1 0 0" pos="0 0.1 0"/>
          <geom type="sphere" size="0.1"/>
          <site name="rod" class="main" type="capsule" size="0.01" fromto="0 0 0 0.3 0.2 0.1"/>
          <body name="wrist" pos="0 0 0.2"><joint name="turn" axis="0 1 1" pos="0.1 0 0"/><joint
             name="bend" axis="1 0 1" pos="0 0.2 0.3" ref="30" range="-90 90"/></body>
        </body>
        <joint name="late" axis="1 2 3" pos="0.4 0.1 0" limited="false"/>
      </body>
      <joint name="shoulder" type="ball" pos="0.05 0 0"/>
    </body>
    <body name="loose" pos="3 2 1" quat="1 2 3 4"><freejoint/><site name="loose site" pos="1 0 0"/></body>
    <body name="mast" pos="0 1 0"><body name="flag" pos="0 0 2" euler="0 0 90"/></body>
  </worldbody>
  <default>
    <default class="tool"><joint pos="0.2 0.1 0"/><site pos="0 0.25 0"/>
      <default class="spare"><joint axis="0 1 0"/></default></default>
    <joint axis="0 0.5 1"/>
  </default>
  <compiler angle="degree" eulerseq="zYx"/>
</mujoco>"""


# --- rotations as 3 x 3 tuples of rows ---------------------------------------------------------------

def multiply(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]

def apply(A, x):
    return [sum(A[i][k] * x[k] for k in range(3)) for i in range(3)]

def add(a, b):
    return [x + y for x, y in zip(a, b)]

def unit(a):
    n = math.sqrt(sum(x * x for x in a))
    return [x / n for x in a]

def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

def about(axis, t):
    x, y, z = unit(axis)
    c, s, d = math.cos(t), math.sin(t), 1 - math.cos(t)
    return [[c + x * x * d, x * y * d - z * s, x * z * d + y * s],
            [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
            [z * x * d - y * s, z * y * d + x * s, c + z * z * d]]

def from_quat(q):
    w, x, y, z = unit(q)
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]

ONE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

def to_z(v):
    z, (x, y, up) = unit(v), unit(v)
    axis = cross([0, 0, 1], z)
    return about(axis if math.hypot(x, y) > 1e-10 else [1, 0, 0], math.atan2(math.hypot(x, y), up))


class Robot:
    """Bodies, joints and sites of an MJCF file, and where they are at a pose."""

    def __init__(self, root):
        self.angle, self.sequence = math.pi / 180, "xyz"
        for c in root.iter("compiler"):
            if c.get("angle") == "radian":
                self.angle = 1
            self.sequence = c.get("eulerseq", self.sequence)
        self.defaults = {"main": {}}
        for d in root.findall("default"):
            self.read_default(d, "main", {})
        self.nq, self.bodies, self.sites = 0, [], []
        self.followers = [e.attrib for part in root.findall("equality") for e in part.findall("joint")]
        world = {"parent": None, "name": None, "frame": ([0, 0, 0], ONE), "joints": []}
        for part in root.findall("worldbody"):
            self.read_body(part, world, "main", top=True)

    def read_default(self, node, name, inherited):
        name = node.get("class", name)
        own = {kind: dict(inherited.get(kind, {})) for kind in ("joint", "site")}
        for kind in own:
            for child in node.findall(kind):
                own[kind].update(child.attrib)
        self.defaults[name] = own
        if not inherited:
            self.defaults["main"] = own
        for child in node.findall("default"):
            self.read_default(child, None, own)

    def attributes(self, node, childclass):
        kind = self.defaults.get(node.get("class", childclass), {}).get(node.tag, {})
        return {**kind, **node.attrib}

    def numbers(self, text):
        return [float(x) for x in text.split()]

    def rotation(self, a):
        if "quat" in a:
            return from_quat(self.numbers(a["quat"]))
        if "axisangle" in a:
            *axis, t = self.numbers(a["axisangle"])
            return about(axis, t * self.angle)
        if "xyaxes" in a:
            n = self.numbers(a["xyaxes"])
            x = unit(n[:3])
            dot = sum(p * q for p, q in zip(x, n[3:]))
            y = unit([q - dot * p for p, q in zip(x, n[3:])])
            z = cross(x, y)
            return [[x[i], y[i], z[i]] for i in range(3)]
        if "zaxis" in a:
            return to_z(self.numbers(a["zaxis"]))
        if "euler" in a:
            R = ONE
            for letter, t in zip(self.sequence, self.numbers(a["euler"])):
                axis = [float(letter.lower() == k) for k in "xyz"]
                T = about(axis, t * self.angle)
                R = multiply(T, R) if letter.isupper() else multiply(R, T)
            return R
        return ONE

    def read_body(self, node, body, childclass, top=False):
        childclass = node.get("childclass", childclass)
        for child in node:
            if child.tag in ("joint", "freejoint"):
                a = self.attributes(child, childclass)
                if child.tag == "freejoint":
                    a = {"type": "free"}
                body["joints"].append({**a, "called": child.get("name")})
        for a in body["joints"]:
            a["at"] = self.nq
            self.nq += {"free": 7, "ball": 4}.get(a.get("type", "hinge"), 1)
        for child in node:
            if child.tag == "site":
                a = self.attributes(child, childclass)
                position, R = self.numbers(a.get("pos", "0 0 0")), self.rotation(a)
                if "fromto" in a:
                    n = self.numbers(a["fromto"])
                    position = [(n[i] + n[i + 3]) / 2 for i in range(3)]
                    R = to_z([n[i] - n[i + 3] for i in range(3)])
                self.sites.append({"name": child.get("name"), "body": body, "frame": (position, R)})
            if child.tag == "body":
                frame = (self.numbers(child.get("pos", "0 0 0")), self.rotation(child.attrib))
                inner = {"parent": body, "name": child.get("name"), "frame": frame, "joints": []}
                self.bodies.append(inner)
                self.read_body(child, inner, childclass)

    def place(self, q):
        """{name: (position, rotation matrix)} of bodies and sites."""
        found = {}
        world = {}
        for b in self.bodies:
            p, R = world.get(id(b["parent"]), ([0, 0, 0], ONE))
            p, R = add(p, apply(R, b["frame"][0])), multiply(R, b["frame"][1])
            for a in b["joints"]:
                kind, at = a.get("type", "hinge"), a["at"]
                if kind == "free":
                    p, R = q[at:at + 3], from_quat(q[at + 3:at + 7])
                    continue
                anchor = self.numbers(a.get("pos", "0 0 0"))
                axis = unit(self.numbers(a.get("axis", "0 0 1")))
                ref = float(a.get("ref", 0))
                if kind == "slide":
                    p = add(p, [(q[at] - ref) * x for x in apply(R, axis)])
                    continue
                fixed = add(p, apply(R, anchor))
                turn = from_quat(q[at:at + 4]) if kind == "ball" else about(axis, q[at] - ref * self.angle)
                R = multiply(R, turn)
                p = [x - y for x, y in zip(fixed, apply(R, anchor))]
            world[id(b)] = (p, R)
            if b["name"]:
                found["body " + b["name"]] = (p, R)
        for s in self.sites:
            p, R = world.get(id(s["body"]), ([0, 0, 0], ONE))
            if s["name"]:
                found["site " + s["name"]] = (add(p, apply(R, s["frame"][0])), multiply(R, s["frame"][1]))
        return found

    def sample(self, source):
        q = []
        for b in self.bodies:
            for a in sorted(b["joints"], key=lambda j: j["at"]):
                kind = a.get("type", "hinge")
                if kind == "free":
                    q += [source.uniform(-1, 1) for _ in range(3)]
                if kind in ("free", "ball"):
                    q += unit([source.gauss(0, 1) for _ in range(4)])
                else:
                    q.append(source.uniform(-2, 2))
        # a joint that follows another is where that one puts it
        at = {a["called"]: a["at"] for b in self.bodies for a in b["joints"]}
        ref = {a["called"]: float(a.get("ref", 0)) for b in self.bodies for a in b["joints"]}
        for e in self.followers:
            c = self.numbers(e.get("polycoef", "0 1"))
            x = q[at[e["joint2"]]] - ref[e["joint2"]]
            q[at[e["joint1"]]] = ref[e["joint1"]] + sum(k * x ** i for i, k in enumerate(c))
        return q


def reduced(root):
    """A copy with only what MuJoCo 2.2 and the kinematics need."""
    new = ET.Element("mujoco", root.attrib)
    for part in root:
        if part.tag in ("compiler", "default", "worldbody"):
            new.append(part)

    def prune(node):
        for child in list(node):
            if child.tag not in ("compiler", "default", "worldbody", "body", "joint", "freejoint", "site", "inertial"):
                node.remove(child)
            else:
                for key in list(child.attrib):
                    if child.tag in ("joint", "site") and key not in (
                            "name", "class", "type", "pos", "axis", "range", "ref", "quat", "euler", "axisangle",
                            "xyaxes", "zaxis", "fromto", "limited", "size"):
                        del child.attrib[key]
                prune(child)
    prune(new)
    for c in new.iter("compiler"):
        for key in list(c.attrib):
            if key not in ("angle", "eulerseq"):
                del c.attrib[key]
        c.set("autolimits", "true")
    # MuJoCo wants a mass in every body that moves
    for body in new.iter("body"):
        if body.find("inertial") is None:
            body.insert(0, ET.Element("inertial", {"pos": "0 0 0", "mass": "1", "diaginertia": "1 1 1"}))
    return new


def ours(sinew, folder, model, poses):
    """Places by sinew: markers of every body and site, frames of turned sites."""
    for q in poses:
        with open(os.path.join(folder, "pose.json"), "w") as f:
            json.dump(q, f)
        done = subprocess.run([sinew, "eval", "-m", model, "-t", os.path.join(folder, "none.json"), "-q",
                               os.path.join(folder, "pose.json"), "--json", "--hessian", "none"],
                              capture_output=True, text=True, check=True)
        frames = {j["name"]: (j["position"], from_quat(j["rotation"])) for j in json.loads(done.stdout)["joints"]}
        with open(model) as f:
            markers = json.load(f)["markers"]
        places = {}
        for m in markers:
            p, R = frames[m["joint"]]
            places[m["name"]] = (add(p, apply(R, m["position"])), R)
        yield places, frames


def distance(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def check(sinew, folder, path, peer, source):
    tree = ET.parse(path)
    robot = Robot(tree.getroot())
    model = os.path.join(folder, "model.json")
    subprocess.run([sinew, "convert", path, "-o", model, "--force"], capture_output=True, check=True)
    poses = [robot.sample(source) for _ in range(8)]
    peer_text = None
    if peer:
        small = os.path.join(folder, "reduced.xml")
        ET.ElementTree(reduced(tree.getroot())).write(small)
        done = subprocess.run([peer, small], input=" ".join(repr(x) for q in poses for x in q),
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"FAILED: MuJoCo cannot read {path} reduced: {done.stderr.strip()}")
        blocks = done.stdout.split("pose\n")
        assert int(blocks[0].split()[1]) == robot.nq, (path, blocks[0], robot.nq)
        peer_text = [b.splitlines() for b in blocks[1:]]
    worst = worst_peer = 0.0
    compared = 0
    for k, (places, frames) in enumerate(ours(sinew, folder, model, poses)):
        expected = robot.place(poses[k])
        for key, (p, R) in expected.items():
            kind, name = key.split(" ", 1)
            q, S = places[name]
            worst = max(worst, distance(p, q))
            # a turned site has a frame of its own; others have that of their body
            S = frames[name][1] if kind == "site" and name in frames else S
            if kind == "body" or name in frames:
                worst = max(worst, max(distance(R[i], S[i]) for i in range(3)))
            compared += 1
        for line in peer_text[k] if peer_text else []:
            kind, rest = line.split(" ", 1)
            *words, x, y, z, w, a, b, c = rest.split(" ")
            q, S = places[" ".join(words)]
            worst_peer = max(worst_peer, distance([float(x), float(y), float(z)], q))
            if kind == "body":
                R = from_quat([float(w), float(a), float(b), float(c)])
                worst_peer = max(worst_peer, max(distance(R[i], S[i]) for i in range(3)))
    assert compared > 0, path
    said = f", MuJoCo {worst_peer:.1e}" if peer_text else ""
    print(f"{os.path.basename(path)}: {robot.nq} coordinates, {compared} places, off by {worst:.1e}{said}")
    # positions of metres; quaternions written with 17 digits
    if worst > 1e-12 or worst_peer > 1e-12:
        raise SystemExit("FAILED")


def main():
    sinew, data, folder = sys.argv[1:4]
    peer = sys.argv[4] if len(sys.argv) > 4 else None
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "none.json"), "w") as f:
        f.write('{"tasks": []}')
    source = random.Random(7)
    odd = os.path.join(folder, "odd.xml")
    with open(odd, "w") as f:
        f.write(ODD)
    if not peer:
        print("skipped: MuJoCo is not installed (libmujoco-dev); compared with the script's own kinematics alone")
    check(sinew, folder, odd, peer, source)
    real = os.path.join(data, "mjcf")
    if not os.path.isdir(real):
        print("skipped: there are no real MJCF files beside the checkout")
        return
    for name in sorted(os.listdir(real)):
        check(sinew, folder, os.path.join(real, name), peer, source)


main()
