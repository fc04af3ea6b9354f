#!/usr/bin/env bash
# POSTGRES_PASSWORD: of the user `postgres`.
set -euo pipefail
home=/etc/postgresql/15/main
echo 'host all all all scram-sha-256' >>$home/pg_hba.conf
# The first start only sets the password and ends again: nobody outside may reach it, or a client would be cut off.
pg_ctlcluster 15 main start
su postgres -c "psql -qc \"alter user postgres password '${POSTGRES_PASSWORD:?}'\""
pg_ctlcluster 15 main stop
echo "listen_addresses = '*'" >$home/conf.d/test.conf
exec su postgres -c "exec /usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main -c config_file=$home/postgresql.conf"
