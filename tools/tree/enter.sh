#!/bin/sh
# enter.sh COMMAND...: runs it in the tree $LOLA_TREE, where the folders that
# matter have the same paths as outside: the checkout, the home, the temporary
# folder, the build root, Go and its caches.
#
# pivot_root and not chroot: a process in a chroot may make no user namespace,
# and without one Bazel quietly takes a weaker sandbox.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)

LOLA_PWD=$(pwd -P)
LOLA_GOROOT=$(go env GOROOT)
LOLA_HERE=$here
# One a line, since any of them may hold a space.
LOLA_KEEP=$(printf '%s\n' /tmp "${TMPDIR:-/tmp}" "$HOME" "$(cd "$here/../.." && pwd -P)" "$LOLA_PWD" \
    "$LOLA_GOROOT" "$(go env GOMODCACHE)" /etc/ssl | sort -u)
export LOLA_PWD LOLA_GOROOT LOLA_HERE LOLA_KEEP

exec unshare --mount --propagation private sh -euc '
mount --bind "$LOLA_TREE" "$LOLA_TREE"
for dir in /proc /dev /sys; do mount --rbind "$dir" "$LOLA_TREE$dir"; done
echo "$LOLA_KEEP" | while IFS= read -r dir; do
    [ -d "$dir" ] || continue
    mkdir -p "$LOLA_TREE$dir"
    mount --rbind "$dir" "$LOLA_TREE$dir"
done
# Not the mounts below it: the tree itself is one.
mkdir -p "$LOLA_TREE$LOLA_BUILD_ROOT"
mount --bind "$LOLA_BUILD_ROOT" "$LOLA_TREE$LOLA_BUILD_ROOT"
for file in /etc/resolv.conf /etc/hosts; do
    [ -e "$file" ] || continue
    touch "$LOLA_TREE$file"
    mount --bind "$file" "$LOLA_TREE$file"
done
mount -t tmpfs tmpfs "$LOLA_TREE/run"
mkdir "$LOLA_TREE/run/lola"
echo "$LOLA_KEEP" >"$LOLA_TREE/run/lola/keep"
ln -s "$LOLA_HERE/wine-run.sh" "$LOLA_TREE/run/lola/wine"
mkdir -p "$LOLA_TREE/.old"
cd "$LOLA_TREE"
pivot_root . .old
umount -l /.old
export PATH="$LOLA_GOROOT/bin:/usr/sbin:/usr/bin:/sbin:/bin"
cd "$LOLA_PWD"
exec "$@"
' sh "$@"
