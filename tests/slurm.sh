#!/bin/sh
# The array job of docs/cluster.md on a real Slurm: slurmctld and slurmd of this machine, with a configuration,
# ports and a munge key of their own. A task is killed in the middle and requeued; then every byte of every
# file is compared with that of a single run.
#   tests/slurm.sh SOURCE PROGRAM FOLDER
set -eu
source=$1 program=$2 folder=$3
skip() { echo "skipped: $*"; exit 77; }
for tool in slurmctld slurmd munged sbatch squeue scontrol; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || skip "Slurm is not here: $tool is missing (Debian: slurm-wlm, munge)"
done
[ "$(id -u)" = 0 ] || skip "slurmd needs root to start jobs"
PATH=$(dirname "$program"):$PATH:/usr/sbin
# daemons of a run before may still be writing their last
for try in $(seq 50); do
    rm -rf "$folder" 2>/dev/null && break
    sleep 0.1
done
mkdir -p "$folder/run" "$folder/state" "$folder/spool" "$folder/work"
cd "$folder"
folder=$(pwd)

# munge wants folders that nobody else may write to, on the whole path to its socket
safe=$(mktemp -d /run/sinew-slurm.XXXXXX)
chmod 755 "$safe"
end() {
    for pid in "$folder"/run/*.pid "$safe"/*.pid; do
        [ ! -e "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || true
    done
    for try in $(seq 50); do  # until the daemons have written their last
        rm -rf "$safe" 2>/dev/null && break
        sleep 0.1
    done
}
trap end EXIT
trap 'exit 1' HUP INT TERM

dd if=/dev/urandom bs=128 count=1 of="$safe/key" 2>/dev/null
chmod 400 "$safe/key"
munged --force --key-file="$safe/key" --socket="$safe/socket" --pid-file="$safe/munged.pid" \
    --log-file="$safe/munged.log" --seed-file="$safe/seed" || skip "munged does not start here"

host=$(hostname)
port=$((20000 + $$ % 20000))
cat >slurm.conf <<END
ClusterName=sinew
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$safe/socket
CryptoType=crypto/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
JobRequeue=1
MailProg=/bin/true
MpiDefault=none
KillWait=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$folder/slurm.conf"
slurmctld -f slurm.conf -c
slurmd -f slurm.conf -c
for try in $(seq 100); do
    [ "$(sinfo -h -o %t 2>/dev/null)" != idle ] || break
    sleep 0.1
done
[ "$(sinfo -h -o %t)" = idle ] || { tail -5 slurmctld.log slurmd.log; skip "Slurm's node does not come up here"; }

# the list and the script, word for word from the document
cd work
sed -n '/^#!\/bin\/sh$/,/^```$/p' "$source/docs/cluster.md" | sed '/^```$/d' >array.sh
grep -q 'SBATCH --array' array.sh || { echo "docs/cluster.md has no array job"; exit 1; }
for i in 1 2 3 4; do sinew example --out "ex$i" --seed "$i" >/dev/null; done
# several a task, so that it can be killed in the middle: after its first take and before its last
count=16
for i in $(seq $count); do
    k=$((i % 4 + 1))
    printf 'ex%d/skeleton.asf\tex%d/take.c3d\twalk%d\n' "$k" "$k" "$i"
done >takes.tsv
sinew fit --manifest takes.tsv --out single --formats bvh,glb,html --quiet >single.jsonl

# the process of a task, by what Slurm gave it
process_of() {
    for p in $(grep -lx sinew /proc/[0-9]*/comm 2>/dev/null); do
        p=${p%/comm}
        tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qx "SLURM_ARRAY_JOB_ID=$1" || continue
        tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qx "SLURM_ARRAY_TASK_ID=$2" || continue
        echo "${p#/proc/}"
        return
    done
}
# takes of the second task whose files are there: all of a take's appear together
done_by_second() {
    n=0
    for i in $(seq 2 4 $count); do [ ! -e "fitted/walk$i.html" ] || n=$((n + 1)); done
    echo $n
}

job=$(sbatch --parsable array.sh)
# wait until the second task has its first take behind it, hold it there, kill it outright and put it into the queue again
killed=
for try in $(seq 3000); do
    if [ -e fitted/walk2.html ]; then
        killed=$(process_of "$job" 2)
        break
    fi
    sleep 0.02
done
[ -n "$killed" ] && kill -STOP "$killed" || { echo "the second task was not seen at work"; exit 1; }
before=$(done_by_second)
kill -KILL "$killed"
[ "$before" -lt $((count / 4)) ] || { echo "the second task was done before it could be killed"; exit 1; }
for try in $(seq 100); do
    scontrol requeue "${job}_2" 2>/dev/null && break
    sleep 0.1
done
for try in $(seq 1800); do
    left=$(squeue -h -r -j "$job" -o '%i %T %r' 2>/dev/null || true)
    [ -n "$left" ] || break
    # Slurm lets a requeued job wait for a while: it may go on at once
    case $left in *BeginTime*) scontrol update JobId="${job}_2" StartTime=now ;; esac
    sleep 0.1
done
[ -z "$left" ] || { echo "the job does not end: $left"; exit 1; }
restarts=$(scontrol show job "${job}_2" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')
[ "$restarts" = 1 ] || { echo "the killed task was not started again"; exit 1; }
diff -r single fitted || { echo "files of the array job differ from those of a single run"; exit 1; }
files=$(find fitted -type f | wc -l)
[ "$files" = $((3 * count)) ] || { echo "$((3 * count)) files were wanted, there are $files"; exit 1; }
echo "4 tasks, the second killed (process $killed) after $before of its $((count / 4)) takes and requeued: $files files, every byte as in a single run"
