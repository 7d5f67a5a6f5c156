#!/bin/sh
# The examples run and do what they say. $1: the build folder, $2: the program, $3: the folder of the built examples.
set -eu
folder=$1/examples
mkdir -p "$folder"
"$2" example --out "$folder/ex" >/dev/null
"$2" convert "$folder/ex/take.c3d" --frames 1:100 -o "$folder/short.c3d" >/dev/null
"$3/example_fit_take" "$folder/ex/skeleton.asf" "$folder/short.c3d" "$folder/fit_take.bvh" | tee "$folder/said"
grep -q '^note: 1 unnamed point was left out$' "$folder/said"
grep -Eq '^100 frames, markers (2|3)\.[0-9]+ mm off' "$folder/said"
"$2" info "$folder/fit_take.bvh" | grep -q 100
# a skeleton in whose zero pose nobody stands: its own motion shows how
data=$(dirname "$0")/../../shared/data
if [ -e "$data/bvh/lafan1_dance1_subject2_excerpt.bvh" ] && [ -e "$data/cmu/02_01.c3d" ]; then
    "$3/example_fit_take" "$data/bvh/lafan1_dance1_subject2_excerpt.bvh" "$data/cmu/02_01.c3d" "$folder/lying.bvh" | tee "$folder/said"
    grep -q 'taken from the motion that it comes with$' "$folder/said"
fi
# a file that has no markers is refused with a reason
if "$3/example_fit_take" "$folder/ex/skeleton.asf" "$folder/ex/truth.bvh" "$folder/never.bvh" 2>"$folder/said"; then exit 1; fi
grep -q 'a take needs a recording' "$folder/said"
[ ! -e "$folder/never.bvh" ]

# an arm to a pose: the file is one of our own, six hinges
cat > "$folder/arm.urdf" <<'URDF'
<robot name="six">
  <link name="base"/><link name="l1"/><link name="l2"/><link name="l3"/><link name="l4"/><link name="l5"/><link name="tool"/>
  <joint name="j1" type="continuous"><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/></joint>
  <joint name="j3" type="continuous"><parent link="l2"/><child link="l3"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint>
  <joint name="j4" type="continuous"><parent link="l3"/><child link="l4"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/></joint>
  <joint name="j5" type="continuous"><parent link="l4"/><child link="l5"/><origin xyz="0 0 0.1"/><axis xyz="0 1 0"/></joint>
  <joint name="j6" type="continuous"><parent link="l5"/><child link="tool"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/></joint>
</robot>
URDF
"$3/example_arm_pose" "$folder/arm.urdf" tool 0.4 0.1 0.2 | tee "$folder/said"
grep -Eq '^tool: goal met, [0-9.]+e-1[0-9] m and radians off$' "$folder/said"
[ "$(grep -c '^j[1-6] ' "$folder/said")" = 6 ]
# the pose is what the program finds there, too
sed -n 's/^j[1-6] *//p' "$folder/said" > "$folder/arm.txt"
"$2" eval -m "$folder/arm.urdf" --jacobian tool -q "$folder/arm.txt" --json > "$folder/said"
grep -Eq '"name":"j6","position":\[0\.(400|399)[0-9]*,0\.(100|099)[0-9]*,' "$folder/said"
"$3/example_arm_servo" "$folder/arm.urdf" tool | tee "$folder/said"
grep -Eq '^4 seconds: [0-9.]+ mm behind at most' "$folder/said"
"$3/example_arm_picture" "$folder/arm.urdf" tool "$folder/arm.svg" | tee "$folder/said"
grep -Eq '^8 postures reach the goal; the line has [0-9]+ poses, ' "$folder/said"
[ "$(grep -c '<polyline' "$folder/arm.svg")" -ge 16 ]
"$3/example_body_servo" | tee "$folder/said"
grep -Eq '^4 seconds: hand [0-9.]+e-0[6-9] m behind' "$folder/said"
if "$3/example_arm_pose" "$folder/arm.urdf" hand 0 0 0 2>"$folder/said"; then exit 1; fi
grep -q 'has no link "hand"' "$folder/said"
if "$3/example_arm_pose" "$folder/arm.urdf" tool 5 0 0 >"$folder/said"; then exit 1; fi
grep -q '^tool: stationary minimum' "$folder/said"

# the robots of docs/robots.md, where their files are: every level but the posture is met
docs=$(dirname "$0")/../docs/robots data=$(dirname "$0")/../../shared/data
pose_robot() { # file, tasks, levels that are met, options
    if [ ! -e "$data/$1" ]; then
        echo "skipped: $2, $data/$1 is not there"
        return
    fi
    file=$1 name=$2 met=$3
    shift 3
    "$program" solve -m "$data/$file" -t "$docs/$name.json" --svg "$folder/$name.svg" "$@" > "$folder/said"
    cat "$folder/said"
    [ "$(grep -c 'goals met' "$folder/said")" = "$met" ]
    grep -q 'stationary minimum' "$folder/said"
    [ "$(grep -c '<line ' "$folder/$name.svg")" -gt 50 ]
    tail -1 "$folder/$name.svg" | grep -q '</svg>'
}
program=$2
pose_robot mjcf/g1.xml g1 3 --cold
pose_robot urdf/atlas_minimal_contact.urdf atlas 3 --floating --cold
pose_robot mjcf/right_hand.xml hand 1

# a humanoid at work; its file is not ours
robot=$(dirname "$0")/../../shared/data/mjcf/g1.xml
if [ -e "$robot" ]; then
    "$3/example_humanoid" "$robot" "$folder/humanoid.svg" 50 | tee "$folder/said"
    grep -Eq '^(49|50) of 50 random starts solved' "$folder/said"
    grep -Eq '^401 of 401 frames solved, no joint moves by more than 0\.00' "$folder/said"
    grep -q '</svg>' "$folder/humanoid.svg"
else
    echo "skipped: $robot is not there"
fi

"$3/example_builder" | tee "$folder/said"
grep -Eq '^the bulb is [0-9.]+e-1[0-9] m from its place$' "$folder/said"
# the lamp may lean either way: forwards, or backwards with its foot turned round
grep -Eq '^foot +(45|-135)\.0 degrees$' "$folder/said"
grep -Eq '^rod and lower meet, [0-9.]+e-1[0-9] m apart; the rod is 0\.[0-9]+ m long$' "$folder/said"
awk '/^foot/ { foot = $2 } /^the pointer/ { exit $5 == -foot / 2 ? 0 : 1 }' "$folder/said"
grep -Eq '^[0-9]+ blocks for everything, 0 during the solve$' "$folder/said"

# how many frames the budget ends depends on the machine; where the hand goes, hardly
"$3/example_drag" | tee "$folder/said"
grep -Eq '^120 frames, [0-9.]+ iterations each, [0-9]+ ended by the budget$' "$folder/said"
grep -Eq '^the hand was at most [0-9]{1,3}\.[0-9]+ mm from the mouse, the feet moved by [0-9]{1,2}\.[0-9]+ mm$' "$folder/said"
grep -Eq '^3 of [0-9]+ degrees of freedom locked, the elbow at -[0-9.]+ degrees, at most -5\.7$' "$folder/said"

"$3/example_levels" | tee "$folder/said"
grep -Eq '^the hand first: it is [0-9.]+e-1[0-9] m off at most, the posture [0-9.]+ rad$' "$folder/said"
grep -Eq '^nothing better is free for the posture: relative gradient [0-9.]+e-(09|[1-9][0-9])$' "$folder/said"
grep -Eq '^[1-6]\.[0-9] iterations a frame$' "$folder/said"

# every kind of task: met (but for coupled, which weighs two against each other), changed at run time, and drawn; the pictures are those of docs/tasks.md
mkdir -p "$folder/tasks"
"$3/example_tasks" "$folder/tasks" | tee "$folder/said"
[ "$(grep -c ' iterations$' "$folder/said")" = 11 ]
[ "$(grep -Ec ' [0-9.]+e-0[4-9] off' "$folder/said")" = 10 ]
for picture in "$folder"/tasks/*.svg; do
    [ -s "$(dirname "$0")/../docs/tasks/$(basename "$picture")" ] || { echo "docs/tasks lacks $(basename "$picture")"; exit 1; }
done
