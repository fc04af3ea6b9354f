#!/usr/bin/env bash
# MARIADB_ROOT_PASSWORD: of `root`, from any host. MARIADB_DATABASE: made if it is named.
set -euo pipefail
mkdir -p /run/mysqld
chown mysql /run/mysqld
cat >/tmp/start.sql <<SQL
create or replace user root@'%' identified by '${MARIADB_ROOT_PASSWORD:?}', root@localhost identified by '$MARIADB_ROOT_PASSWORD';
grant all on *.* to root@'%', root@localhost with grant option;
${MARIADB_DATABASE:+create database if not exists $MARIADB_DATABASE;}
SQL
exec mariadbd --user=mysql --bind-address=0.0.0.0 --init-file=/tmp/start.sql
