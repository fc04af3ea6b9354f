#!/usr/bin/env bash
# POSTGRES_PASSWORD: of the user `postgres`.
set -euo pipefail
home=/etc/postgresql/15/main
echo "listen_addresses = '*'" >$home/conf.d/test.conf
echo 'host all all all scram-sha-256' >>$home/pg_hba.conf
pg_ctlcluster 15 main start
su postgres -c "psql -qc \"alter user postgres password '${POSTGRES_PASSWORD:?}'\""
pg_ctlcluster 15 main stop
exec su postgres -c "exec /usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main -c config_file=$home/postgresql.conf"
