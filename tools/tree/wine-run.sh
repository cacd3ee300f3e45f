#!/bin/sh
# wine-run.sh EXE [ARG...]: runs a Windows program in the tree $LOLA_WINE_TREE.
# wine-run.sh --begin: makes the folder where wine keeps its state and starts its
# server, for one run.
# wine-run.sh --end: ends that server, and no other, and removes the folder.
#
# In the build tree it goes by the name of wine, so that .bazelrc says the same
# for everybody: --run_under=wine.
set -eu
: "${LOLA_WINE_TREE:?}"

# A server serves one prefix. Each checkout has its own, so that ending its
# server disturbs nobody else.
self=$(readlink -f "$0")
WINEPREFIX=${LOLA_WINE_TREE%/*}/wine-prefix-$(dirname "$self" | sha256sum | cut -c1-12)
mkdir -p "$WINEPREFIX"

LOLA_PWD=$(pwd -P)
# Inside the build tree: what enter.sh made visible there. Outside: this folder.
LOLA_KEEP=$(cat /run/lola/keep 2>/dev/null || pwd -P)
# wine wants a home, which a test has not.
HOME=$WINEPREFIX
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# File names beyond ASCII need a locale that has them.
export LOLA_PWD LOLA_KEEP WINEPREFIX HOME PATH WINEDEBUG=-all XDG_RUNTIME_DIR=/tmp
export LC_ALL=C.UTF-8
# Debian's wine 10 aborts ("free(): invalid pointer") when it is set.
unset TMPDIR

# chroot will do here, unlike for Bazel: wine makes no namespaces.
in_tree() {
    unshare --mount --propagation private sh -euc '
        for dir in /proc /dev /sys; do mount --rbind "$dir" "$LOLA_WINE_TREE$dir"; done
        printf "%s\n" "$LOLA_KEEP" "$LOLA_PWD" /tmp "$WINEPREFIX" | while IFS= read -r dir; do
            [ -d "$dir" ] || continue
            mkdir -p "$LOLA_WINE_TREE$dir"
            mount --bind "$dir" "$LOLA_WINE_TREE$dir"
        done
        exec chroot "$LOLA_WINE_TREE" sh -c "cd \"\$LOLA_PWD\" && exec \"\$@\"" sh "$@"
    ' sh "$@"
}

case ${1-} in
--begin)
    # The server is started here and not by the first test: Bazel ends what a
    # test leaves behind, and the other tests would wait for it for ever. It
    # opens files for all programs, so it has to see what enter.sh keeps visible.
    in_tree sh -c 'wineserver --persistent && wine wineboot --init'
    ;;
--end)
    in_tree sh -c 'wineserver --kill; wineserver --wait' || true
    rm -rf "$WINEPREFIX"
    ;;
*) in_tree wine "$@" ;;
esac
