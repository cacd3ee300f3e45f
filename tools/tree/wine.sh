# wine.sh DIR: a Debian trixie tree with wine 10, which runs windows/amd64 test
# programs. Debian 12's wine 8 lacks a call that Go's runtime needs, and forky
# has no wine.
set -eu
root=$1
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(CODENAME)' 'Created-By: Packages' |
    awk -v suite="$codename" '$2 == suite || $3 == suite { print $1; exit }')
[ -n "$mirror" ] || { echo "no Debian mirror in this machine's apt sources"; exit 1; }
mmdebstrap --mode=root --variant=apt \
    --aptopt='Apt::Install-Recommends "false"' \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt=force-unsafe-io \
    --include=wine,wine64,mount \
    trixie "$root" "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main"
echo "wine $(chroot "$root" dpkg-query --show --showformat '${Version}' wine)"
