#!/bin/sh
# Has the kernel run linux/arm64 programs through qemu, those that run
# themselves too. The F flag keeps the emulator open, so that it is found
# inside any other root as well.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
. "$here/lib.sh"

[ "$(uname -m)" != aarch64 ] || exit 0 # no emulator needed
[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc ||
    die "the kernel has no binfmt_misc, so linux/arm64 programs cannot run here"
[ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || exit 0
install_packages qemu-aarch64-static=qemu-user-static
# Installing may have registered it.
[ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || exit 0
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" >/proc/sys/fs/binfmt_misc/register
