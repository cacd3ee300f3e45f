# bazelrc.sh HERE MODULES WINE-TREE: prints .bazelrc.offline, which gives every module
# that MODULE.bazel names, and those that they name, a folder of this machine.
set -eu
here=$1 modules=$2 wine=$3
cat <<END
# Written by tools/bazel for this machine, anew at each call. Never committed.
# The server lives on in the tree that it was started in. Another tree, or another
# way into it, must not find the old one: this only makes Bazel start a new one.
startup --host_jvm_args=-Dlola.tree=${LOLA_TREE##*/}-$(sha256sum "$here/enter.sh" | cut -c1-12)

common --lockfile_mode=off
common --check_direct_dependencies=off
common --registry=file://$here/registry
common --distdir=$modules/distdir

common --override_module=rules_go=$modules/rules_go
common --override_module=gazelle=$modules/gazelle
common --override_module=rules_shell=/usr/share/bazel/rules/shell
# Debian's own bazelrc has platforms, bazel_skylib, rules_cc and the like.
$(for stub in "$here"/modules/*/; do
    stub=${stub%/}
    echo "common --override_module=${stub##*/}=$stub"
done)

# Go modules come from the cache of the go command, which is visible in the
# tree; what gazelle compiles for itself is kept for the next clone.
common --repo_env=GOPROXY=$(go env GOPROXY)
common --repo_env=GOMODCACHE=$(go env GOMODCACHE)
common --repo_env=GOCACHE=$LOLA_BUILD_ROOT/go-build
common --repo_env=GO_REPOSITORY_USE_HOST_CACHE=1

# A fresh clone on this machine finds here what another one has built.
common --disk_cache=$LOLA_BUILD_ROOT/disk
common --experimental_disk_cache_gc_max_size=20G
# Debian's bazelrc turns it on, and every sandbox would stay.
build --nosandbox_debug
${wine:+test:windows_amd64 --test_env=LOLA_WINE_TREE=$wine}
END
