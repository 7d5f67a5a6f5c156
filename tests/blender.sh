#!/bin/sh
# What sinew writes as GLB comes into Blender as an armature with a body that moves.
# $1: the root, $2: the folder of files that the glb test wrote.
set -eu
command -v blender >/dev/null || { echo "skipped: Blender is not installed"; exit 77; }
for file in humanoid_motion; do
    # Blender ends with 0 whatever the script does
    blender --background --python-exit-code 1 --python "$1/tests/blender.py" -- "$2/$file.glb" 2>&1 | tail -n 20 |
        tee "$2/blender.log"
    grep -q '^blender passed' "$2/blender.log"
done
