#!/usr/bin/env bash
# Builds the images of the brokers and databases that the integration tests run against, from Debian's packages and, for Kafka, from its
# published jars. No image is pulled. One is built only when its folder, or what it stands on, has changed: a label holds the sum of that.
#   build.sh [base mosquitto redis nats postgresql mariadb kafka]
#   FORCE=1       builds all the same
#   IMAGE_PREFIX  what the names begin with (cep-test)
#   WORK_DIR      scratch space (/var/tmp/cep-test-images)
set -euo pipefail
cd "$(dirname "$0")"
prefix=${IMAGE_PREFIX:-cep-test}
suite=bookworm
work=${WORK_DIR:-/var/tmp/cep-test-images}
mkdir -p "$work"

sum_of() { { echo "$suite"; cat build.sh; find "$@" -type f -print0 2>/dev/null | sort -z | xargs -0 -r cat; } | sha256sum | cut -c1-16; }
has() { [ -z "${FORCE:-}" ] && [ "$(docker image inspect -f '{{index .Config.Labels "content"}}' "$1" 2>/dev/null)" = "$2" ]; }

# Where this machine gets its own packages from.
mirror() { apt-get indextargets --format '$(CODENAME) $(CREATED_BY) $(REPO_URI)' | awk -v s="$suite" '$1 == s && $2 == "Packages" { print $3; exit }'; }

build_base() {
  local image=$prefix/base:local sum
  sum=$(sum_of /dev/null)
  if has "$image" "$sum"; then return; fi
  local root=$work/base
  rm -rf "$root"
  debootstrap --variant=minbase --include=iproute2,iptables "$suite" "$root" "$(mirror)" >"$work/debootstrap.log"
  # Small, also for what is built on it: no package archives, no indexes, no documents.
  printf 'APT::Keep-Downloaded-Packages "false";\nDir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\nAPT::Install-Recommends "false";\n' >"$root/etc/apt/apt.conf.d/90small"
  printf 'path-exclude /usr/share/doc/*\npath-exclude /usr/share/man/*\npath-exclude /usr/share/locale/*\n' >"$root/etc/dpkg/dpkg.cfg.d/90small"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/* "$root"/var/log/*
  mkdir -p "$root"/usr/share/man/man{1..8} # Java's installation links its manual pages, and fails without these.
  tar -C "$root" -c . | docker import --change "LABEL content=$sum" - "$image" >/dev/null
  rm -rf "$root"
}

# On this machine and not in the image: it knows the certificate authority of its network.
prepare_kafka() {
  if ! command -v mvn >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends maven default-jre-headless ca-certificates >/dev/null
  fi
  mvn -q -B -f kafka/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1/libs" >/dev/null
}

build() {
  local name=$1 image=$prefix/$1:local sum
  sum=$(sum_of "$1")
  if has "$image" "$sum"; then return; fi
  local context=$work/context-$name
  rm -rf "$context"
  cp -r "$name" "$context"
  if declare -F "prepare_$name" >/dev/null; then "prepare_$name" "$context"; fi
  docker build -q --force-rm --label "content=$sum" --build-arg "BASE=$prefix/base:local" -t "$image" "$context" >"$work/$name.log" 2>&1 || {
    tail -n 30 "$work/$name.log" >&2
    return 1
  }
  rm -rf "$context"
}

names=("$@")
if ((${#names[@]} == 0)); then names=(base mosquitto redis nats postgresql mariadb kafka); fi
for name in "${names[@]}"; do
  began=$(date +%s%N)
  if [ "$name" = base ]; then build_base; else build "$name"; fi
  printf '%-10s %6d ms  %s\n' "$name" $((($(date +%s%N) - began) / 1000000)) "$(docker image inspect -f '{{.Size}}' "$prefix/$name:local" | numfmt --to=iec)"
done
docker image prune -f --filter label=content >/dev/null # What a new image has replaced.
