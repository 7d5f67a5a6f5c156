# SPDX-License-Identifier: MIT
"""Blender imports a GLB file of sinew's as an armature with a skinned mesh that moves as the file
says. Run inside Blender: blender --background --python blender.py -- FILE.glb"""
import json, struct, sys

import numpy

if not hasattr(numpy, "bool"):
    numpy.bool = bool  # what the importer of Blender 3.4 asks for, and newer numpy lacks
import bpy
from mathutils import Matrix, Quaternion, Vector

path = sys.argv[sys.argv.index("--") + 1]

# the file by itself: nodes, and the keys of its animation
data = open(path, "rb").read()
json_bytes = struct.unpack_from("<I", data, 12)[0]
gltf = json.loads(data[20:20 + json_bytes])
binary = data[28 + json_bytes:]


def key(accessor, i):
    a = gltf["accessors"][accessor]
    n = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
    offset = gltf["bufferViews"][a["bufferView"]].get("byteOffset", 0) + a.get("byteOffset", 0)
    return struct.unpack_from("<%df" % n, binary, offset + 4 * n * i)


def world_at(i):
    """Where every joint of the skin is at key i."""
    place = [{k: n.get(k) for k in ("translation", "rotation", "scale")} for n in gltf["nodes"]]
    animation = gltf["animations"][0]
    for c in animation["channels"]:
        sampler = animation["samplers"][c["sampler"]]
        place[c["target"]["node"]][c["target"]["path"]] = key(sampler["output"], i)
    parent = {child: k for k, n in enumerate(gltf["nodes"]) for child in n.get("children", [])}

    def matrix(k):
        t, r = place[k]["translation"] or (0, 0, 0), place[k]["rotation"] or (0, 0, 0, 1)
        local = Matrix.Translation(Vector(t)) @ Quaternion((r[3], r[0], r[1], r[2])).to_matrix().to_4x4()
        return matrix(parent[k]) @ local if k in parent else local
    return {gltf["nodes"][k]["name"]: matrix(k).to_translation() for k in gltf["skins"][0]["joints"]}


bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=path)
scene = bpy.context.scene
armatures = [o for o in bpy.data.objects if o.type == "ARMATURE"]
assert len(armatures) == 1, [o.name for o in armatures]
armature = armatures[0]
joints = [gltf["nodes"][k]["name"] for k in gltf["skins"][0]["joints"]]
assert sorted(b.name for b in armature.data.bones) == sorted(joints)
bodies = [o for o in bpy.data.objects
          if o.type == "MESH" and any(m.type == "ARMATURE" and m.object == armature for m in o.modifiers)]
assert len(bodies) == 1 and len(bodies[0].data.vertices) > 100
assert all(len(v.groups) == 1 for v in bodies[0].data.vertices)

times = [key(gltf["animations"][0]["samplers"][0]["input"], i)[0] for i in (0, 7, 23)]
rate = scene.render.fps / scene.render.fps_base
worst = moved = 0
first = None
for i, t in zip((0, 7, 23), times):
    frame = t * rate
    scene.frame_set(int(frame), subframe=frame - int(frame))
    expected = world_at(i)
    places = {}
    for bone in armature.pose.bones:
        p = (armature.matrix_world @ bone.matrix).to_translation()
        x, y, z = expected[bone.name]
        places[bone.name] = p.copy()
        worst = max(worst, (p - Vector((x, -z, y))).length)  # Blender's z is up
    if first:
        moved = max(moved, max((places[n] - first[n]).length for n in places))
    first = first or places
assert moved > 0.01, "nothing moves"
print("blender: %d bones, %d vertices, joints off by %.1e m" % (len(joints), len(bodies[0].data.vertices), worst))
assert worst < 1e-4, worst
print("blender passed")
