#!/usr/bin/env bash
# Starts a Docker engine where none answers: on Debian, as root, without systemd. Installs what is missing. Safe to run again.
#   DOCKERD_LOG   where the engine writes its log (/var/log/dockerd.log)
#   DOCKERD_WAIT  seconds to wait for it to answer (30)
set -euo pipefail
log_file=${DOCKERD_LOG:-/var/log/dockerd.log}
wait_seconds=${DOCKERD_WAIT:-30}

engine() { timeout 5 docker info --format "$1" 2>/dev/null; }

if version=$(engine '{{.ServerVersion}}') && [ -n "$version" ]; then
  echo "docker: engine $version answers already"
  exit 0
fi

packages=()
command -v dockerd >/dev/null || packages+=(docker.io) # A client alone is no engine.
command -v debootstrap >/dev/null || packages+=(debootstrap)
command -v iptables >/dev/null || packages+=(iptables)
has_cgroups() { mountpoint -q /sys/fs/cgroup/memory || [ -e /sys/fs/cgroup/cgroup.controllers ]; }
has_cgroups || packages+=(cgroupfs-mount)
if ((${#packages[@]})); then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi
has_cgroups || cgroupfs-mount

# After a hard stop the files of process ids name dead or other processes: the engine would not start, or wait for a containerd that is not there.
rm -f /var/run/docker.pid /var/run/docker/containerd/containerd.pid
# A session of its own: the engine outlives this script and its terminal.
setsid nohup dockerd >>"$log_file" 2>&1 </dev/null &
for ((i = 0; i < wait_seconds * 10; i++)); do
  if version=$(engine '{{.ServerVersion}}, storage {{.Driver}}') && [ -n "$version" ]; then
    echo "docker: engine $version answers after $((i / 10)).$((i % 10)) s"
    exit 0
  fi
  sleep 0.1
done
echo "docker: no engine answers after ${wait_seconds} s; the last lines of ${log_file}:" >&2
tail -n 20 "$log_file" >&2
exit 1
