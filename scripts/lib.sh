# shellcheck shell=bash
# Shared by the scripts that run something and clean up after it. Sourced, not run.

# Runs a command in a process group of its own and waits for it. In the background, so that a signal to the script is
# acted on at once; in its own group, so that `end_group` reaches whatever the command started.
group=''
attend() {
  set -m
  "$@" </dev/null &
  group=$!
  set +m
  local status=0
  wait "$group" || status=$?
  return "$status"
}

# Ends what is left of the group: politely, and after ten seconds by force.
end_group() {
  [ -n "$group" ] || return 0
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    group_lives || { group='' && return 0; }
    # A group that is being ended already gets no second signal, which could mean "at once" to it.
    [ $tries -gt 0 ] || kill -TERM -- "-$group" 2>/dev/null || true
    sleep 0.05
  done
  kill -KILL -- "-$group" 2>/dev/null || true
  group=''
}

# Zombies don't count: in a container nobody may ever collect them.
group_lives() {
  cat /proc/[0-9]*/stat 2>/dev/null |
    awk -v group="$group" '{ sub(/.*\) /, ""); if ($3 == group && $1 != "Z") found = 1 } END { exit !found }'
}
