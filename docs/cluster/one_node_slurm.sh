#!/usr/bin/env bash
# A Slurm of one node for trying job arrays, as root; all of its files are in one folder:
#
#   docs/cluster/one_node_slurm.sh start slurm-files
#   export SLURM_CONF=$PWD/slurm-files/slurm.conf
#   …
#   docs/cluster/one_node_slurm.sh stop slurm-files
#
# Debian's packages: slurmctld slurmd slurm-client munge.
set -euo pipefail
action=$1
folder=$(realpath -m "$2")
export SLURM_CONF="$folder/slurm.conf"

start() {
    mkdir -p "$folder/state" "$folder/spool"
    local host
    host=$(hostname -s)
    cat >"$SLURM_CONF" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    # The key was made when munge was installed.
    munge -n >/dev/null 2>&1 || install -d -o munge -g munge -m 755 /run/munge
    munge -n >/dev/null 2>&1 || runuser -u munge -- /usr/sbin/munged
    slurmctld -c
    slurmd
    for _ in $(seq 30); do
        [ "$(sinfo --noheader --format=%t)" = idle ] && return
        sleep 1
    done
    echo "the node is not idle after 30 s; see $folder/slurmctld.log and slurmd.log" >&2
    return 1
}

stop() {
    local daemons
    daemons=$(cat "$folder/slurmctld.pid" "$folder/slurmd.pid")
    scontrol shutdown
    # They write their state until their end.
    for _ in $(seq 30); do
        # shellcheck disable=SC2086
        kill -0 $daemons 2>/dev/null || return 0
        sleep 1
    done
    echo "Slurm has not ended after 30 s; see $folder/slurmctld.log and slurmd.log" >&2
    return 1
}

"$action"
