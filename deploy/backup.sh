#!/bin/sh
# Copies the store's log while it runs.
#
#   backup.sh DATA TARGET [OPTION…]   DATA/appendonlydir to TARGET, a new folder; with options of valkey-cli that say
#                                     where the store is (-h HOST -p PORT, or -s SOCKET)
#
# The operator's password comes in REDISCLI_AUTH. The copy is a store's data folder: a server started on it has all
# that was acknowledged before the copying began. While it lasts the log is not rewritten, so that its files belong
# together; the last entry of the last file may be torn, which a server cuts off.
set -eu

data=$1 target=$2
shift 2
client=$(command -v valkey-cli || command -v redis-cli)
options=$*

# shellcheck disable=SC2086 # each option is a word of its own
ask() { "$client" $options --user operator --no-auth-warning "$@" | tr -d '\r'; }

# The reply is two lines, the name and the value.
usual=$(ask CONFIG GET auto-aof-rewrite-percentage | tail -n 1)
mkdir "$target"
trap 'ask CONFIG SET auto-aof-rewrite-percentage "$usual" >/dev/null' EXIT
trap 'exit 1' INT TERM
[ "$(ask CONFIG SET auto-aof-rewrite-percentage 0)" = OK ]
while ask INFO persistence | grep -Eq 'aof_rewrite_(in_progress|scheduled):1'; do sleep 0.2; done
cp -a "$data/appendonlydir" "$target/"
