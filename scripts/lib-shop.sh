# shellcheck shell=bash
# A shop for one script: a Redis and a database of its own, and the built server in demo mode. Sourced, not run.
#
# Wants SECKILL_DATABASE_URL (scripts/with-stores), where it may make databases. `open_shop ARGUMENTS…` sets $work (a
# folder) and $address; all ends with the script.

server=${SECKILL_SERVER:-$PWD/target/debug/server}
work=$(mktemp -d)
chmod 755 "$work"
shop_pids=()
shop_database=''
die() { echo "${0##*/}: $*" >&2; exit 1; }

close_shop() {
  local pid
  # The last one first: the server before its Redis.
  for ((i = ${#shop_pids[@]} - 1; i >= 0; i--)); do
    pid=${shop_pids[i]}
    kill -TERM "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
  done
  [ -z "$shop_database" ] || psql -qX "$shop_admin_url" -c "DROP DATABASE $shop_database WITH (FORCE)" >/dev/null || true
  rm -rf "$work"
}
trap close_shop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

open_shop() {
  shop_admin_url=$SECKILL_DATABASE_URL
  shop_database=script_$$_$RANDOM
  psql -qX "$shop_admin_url" -c "CREATE DATABASE $shop_database" >/dev/null || die "no database could be made"
  # The database's name is the part of the address before the question mark.
  SECKILL_DATABASE_URL=$(sed -E "s|^([a-z]+://[^/]*/)[^?]*|\1$shop_database|" <<<"$shop_admin_url")
  SECKILL_REDIS_URL=redis+unix://$work/redis.sock
  export SECKILL_DATABASE_URL SECKILL_REDIS_URL
  redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" --save '' --appendonly yes \
    --appendfsync always --maxmemory-policy noeviction >"$work/redis.log" &
  shop_pids+=($!)
  # The server is on trial, not the built site.
  mkdir -p "$work/site/pkg"
  printf '{"js":"/pkg/a.js","wasm":"/pkg/a.wasm","css":"/pkg/a.css"}' >"$work/site/assets.json"
  "$server" migrate 2>"$work/log" || { cat "$work/log" >&2; die "the schema could not be made"; }
  "$server" serve --demo --listen 127.0.0.1:0 --site "$work/site" "$@" >"$work/out" 2>"$work/log" &
  shop_pids+=($!)
  : >>"$work/out"
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    address=$(sed -n 's|.*The shop is open:  http://\([^/]*\)/.*|\1|p' "$work/out")
    [ -z "$address" ] || return 0
    kill -0 "${shop_pids[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/log" >&2
  die "the server did not start"
}
