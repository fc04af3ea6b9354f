#!/usr/bin/env bash
# Builds the image that the tests build the image of cep on, where no image can be pulled: Node.js and npm of this machine on the base of
# build.sh, and the certificate authorities that the machine trusts, as a proxy may stand before the registry. Takes seconds.
#   IMAGE_PREFIX  what the names begin with (cep-test)
set -euo pipefail
cd "$(dirname "$0")"
prefix=${IMAGE_PREFIX:-cep-test}
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp node/Dockerfile "$context"
cp "$(readlink -f "$(command -v node)")" "$context/node"
cp -r "$(npm root -g)/npm" "$context/npm"
cp "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$context/authorities.pem"
docker build -q --force-rm --build-arg "BASE=$prefix/base:local" -t "$prefix/node:local" "$context"
