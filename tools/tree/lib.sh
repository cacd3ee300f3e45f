# What the scripts here share. Source it with $here set to this folder.

# The folder outside the checkout that holds the trees and the cache.
if [ -z "${LOLA_BUILD_ROOT:-}" ]; then
    if mkdir -p /var/cache/lola-build 2>/dev/null && [ -w /var/cache/lola-build ]; then
        LOLA_BUILD_ROOT=/var/cache/lola-build
    else
        LOLA_BUILD_ROOT=${XDG_CACHE_HOME:-$HOME/.cache}/lola-build
    fi
fi
mkdir -p "$LOLA_BUILD_ROOT"
LOLA_BUILD_ROOT=$(cd "$LOLA_BUILD_ROOT" && pwd -P)
export LOLA_BUILD_ROOT

say() { echo "tools/bazel: $*" >&2; }
die() { say "error: $*"; exit 1; }

# install_packages PROGRAM=PACKAGE...: has apt bring what is not on PATH yet.
install_packages() {
    missing=
    for pair; do
        command -v "${pair%%=*}" >/dev/null || missing="$missing ${pair#*=}"
    done
    [ -n "$missing" ] || return 0
    say "installing$missing"
    # shellcheck disable=SC2086 # a list of words
    apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends $missing >&2
}

# discard DIR: removes it, and first unmounts what a maker that died left there.
discard() {
    [ -e "$1" ] || return 0
    awk -v dir="$1/" 'index($5 "/", dir) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
        while read -r mount; do umount -l "$mount"; done
    rm -rf --one-file-system "$1"
}

# once NAME RECIPE [ARG...]: prints the folder that `sh RECIPE FOLDER ARG...`
# made, making it if need be. The last line of a recipe says what it made. Its name ends in a digest of the recipe and its
# arguments, so a changed recipe gets a new folder and never half of an old one.
once() {
    name=$1 recipe=$2
    shift 2
    digest=$({ cat "$recipe"; printf '%s\n' "$@"; } | sha256sum | cut -c1-12)
    made=$LOLA_BUILD_ROOT/$name-$digest
    if [ ! -e "$made" ]; then
        (
            flock 9
            [ ! -e "$made" ] || exit 0
            trap 'discard "$made.part"' EXIT
            trap 'exit 130' HUP INT TERM
            discard "$made.part"
            say "making $made, once"
            sh "$recipe" "$made.part" "$@" >"$LOLA_BUILD_ROOT/$name.log" 2>&1 9>&- || {
                tail -n 20 "$LOLA_BUILD_ROOT/$name.log" >&2
                die "could not make the $name tree (the whole log is $LOLA_BUILD_ROOT/$name.log)"
            }
            mv "$made.part" "$made"
            say "made it: $(tail -n 1 "$LOLA_BUILD_ROOT/$name.log")"
        ) 9>"$LOLA_BUILD_ROOT/$name.lock" || return 1
    fi
    echo "$made"
}
