# build.sh DIR: a Debian forky tree with Bazel, rustc for wasm32-wasip1 and
# wasm-ld. Debian 12 has none of them, and its libc is too old for forky's.
set -eu
root=$1

# The mirror that this machine's apt already uses.
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(CODENAME)' 'Created-By: Packages' |
    awk -v suite="$codename" '$2 == suite || $3 == suite { print $1; exit }')
[ -n "$mirror" ] || { echo "no Debian mirror in this machine's apt sources"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# Bazel's server needs a JRE. The JDK that its package asks for is 350 MB more.
mkdir -p "$work/jdk/DEBIAN"
cat >"$work/jdk/DEBIAN/control" <<'END'
Package: default-jdk-headless
Version: 99:0
Architecture: all
Maintainer: nobody <nobody@localhost>
Depends: default-jre-headless
Description: stand-in for the JDK
END
dpkg-deb --build "$work/jdk" "$work/default-jdk-headless.deb"

# The folder for manual pages is there for the JRE, whose installation fails
# without it; the bytes of a frozen mirror may be older than it likes.
mmdebstrap --mode=root --variant=apt \
    --aptopt='Apt::Install-Recommends "false"' \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt=force-unsafe-io \
    --essential-hook='mkdir -p "$1/usr/share/man/man1"' \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --include="$work/default-jdk-headless.deb" \
    --include=bazel-bootstrap,bazel-rules-shell,rustc,libstd-rust-dev-wasm32,lld,gcc,libc6-dev,git,mount,ca-certificates \
    forky "$root" "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror forky main"

# An option that Bazel says at each call is deprecated.
sed -i '/host_javabase/d' "$root/etc/bazel/bazelrc"
# Without javac on PATH the client must be told where Java is.
echo 'startup --server_javabase=/usr/lib/jvm/default-java' >>"$root/etc/bazel/bazelrc"
# The tree has no wine; a Windows program is run in the tree that has (wine.sh).
ln -s /run/lola/wine "$root/usr/bin/wine"

echo "bazel $(cat "$root/usr/share/bazel/build-label.txt"), $(chroot "$root" rustc --version)"
