#!/bin/sh
# Makes what must be secret, in a folder of your own, and from it the store's file of users.
#
#   secrets.sh new FOLDER [ADDRESS]   make what is missing; ADDRESS is where the service meets the store (host:port)
#   secrets.sh rotate FOLDER USER     give a user a new password; the old one stays good until `retire`
#   secrets.sh retire FOLDER USER     end the old one
#
# FOLDER/evenfold.env        the service's environment: the store's address with the password, the secret, the signing key,
#                            and whatever else you put there
# FOLDER/USER.password       a user's password; USER.password.old the one before, between rotate and retire
# FOLDER/store/users.acl     what the server loads; it holds hashes alone, so the server's user may read it
set -eu
umask 077

here=$(dirname "$0")
what=${1:-} folder=${2:-}

random() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }

hashes() {
  for file in "$folder/$1.password" "$folder/$1.password.old"; do
    if [ -e "$file" ]; then printf ' #%s' "$(tr -d '\n' <"$file" | sha256sum | cut -d ' ' -f 1)"; fi
  done
}

write_users() {
  mkdir -p "$folder/store"
  # Without comments and empty lines; what is indented belongs to the line before.
  sed -e '/^ *\(#.*\)\{0,1\}$/d' "$here/users.acl" |
    sed -e ':a' -e '$!N' -e 's/\n  */ /' -e 'ta' -e 'P' -e 'D' |
    while read -r user name state rules; do
      printf '%s %s %s%s %s\n' "$user" "$name" "$state" "$(hashes "$name")" "$rules"
    done >"$folder/store/users.acl.new"
  chmod 644 "$folder/store/users.acl.new"
  chmod 711 "$folder" "$folder/store"
  mv "$folder/store/users.acl.new" "$folder/store/users.acl"
}

# Keeps what is not ours of the environment, byte by byte; whatever can't be read ends this before anything is changed.
keep_others() {
  environment=$folder/evenfold.env
  if [ -L "$environment" ]; then environment=$(readlink -f "$environment"); fi
  others=$folder/evenfold.env.others
  : >"$others"
  if [ -e "$environment" ]; then
    ours='^[[:space:]]*(export[[:space:]]+)?EVENFOLD_(REDIS_URL|SECRET|SIGNING_KEY)[[:space:]]*='
    LC_ALL=C grep -aEv "$ours" "$environment" >"$others" || [ $? -eq 1 ] ||
      { rm "$others"; echo "$environment can't be read: nothing is changed" >&2; exit 2; }
  fi
}

write_environment() {
  if [ -e "$environment" ]; then cp -p "$environment" "$environment.new"; fi
  {
    printf 'EVENFOLD_REDIS_URL=redis://evenfold:%s@%s\n' "$(cat "$folder/evenfold.password")" "$(cat "$folder/address")"
    printf 'EVENFOLD_SECRET=%s\n' "$(cat "$folder/secret")"
    printf 'EVENFOLD_SIGNING_KEY=%s\n' "$(cat "$folder/signing")"
    cat "$others"
  } >"$environment.new"
  mv "$environment.new" "$environment"
  rm "$others"
}

case $what in
new)
  mkdir -p "$folder"
  keep_others
  if [ -n "${3:-}" ] || [ ! -e "$folder/address" ]; then printf '%s\n' "${3:-127.0.0.1:6379}" >"$folder/address"; fi
  for user in evenfold archivist operator replica; do
    [ -e "$folder/$user.password" ] || random >"$folder/$user.password"
  done
  [ -e "$folder/secret" ] || random >"$folder/secret"
  [ -e "$folder/signing" ] || random >"$folder/signing"
  ;;
rotate)
  keep_others
  [ ! -e "$folder/$3.password.old" ] || { echo "$3 has an old password still: retire it first" >&2; exit 2; }
  mv "$folder/$3.password" "$folder/$3.password.old"
  random >"$folder/$3.password"
  ;;
retire)
  keep_others
  rm "$folder/$3.password.old"
  ;;
*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
write_users
write_environment
