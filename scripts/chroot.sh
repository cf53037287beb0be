# Sourced by scripts/test, after private-server.sh: small Debian systems of any release, each in a directory.
#
# A command runs in such a system with mounts and processes of its own (namespaces): whatever is mounted for the command is
# unmounted, and whatever it started is ended, together with it, however it ends. When the script ends, the systems are
# removed.

# Installs what makes chroots.
install_chroot_packages() {
    on_debian || die "chroots can be made on Debian only"
    can_become_root || die "chroots need root: run this script as root, or install sudo"
    install_packages mmdebstrap
}

# Prints where this system gets Debian from.
debian_mirror() {
    local mirror
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' | sed -n '/^Debian|Debian|/{s///p;q}')
    [ -n "$mirror" ] || die "apt knows no mirror of Debian: run apt-get update"
    echo "$mirror"
}

# Prints the release of this system, such as bookworm.
own_release() {
    (. /etc/os-release && echo "$VERSION_CODENAME")
}

# Makes a system of a release, with some packages and all they recommend left out: make_chroot NAME RELEASE PACKAGE...
# Experimental is sid with the packages of experimental beside it, of which apt takes none unless it is told to.
# Installed servers neither start nor create a cluster.
make_chroot() {
    local name=$1 release=$2 chroots=$workspace/chroots
    trap 'remove_chroots; remove_workspace' EXIT
    as_root mkdir -p "$chroots"
    [ -d "$chroots/of-$release" ] || make_base "$release"
    as_root cp -a "$chroots/of-$release" "$chroots/$name"
    [ $# = 2 ] || install_in_chroot "$name" "${@:3}"
}

# Makes the system that the others of a release are copies of. Releases in the making are often out of date on mirrors.
make_base() {
    local base=$workspace/chroots/of-$1 mirror sources
    mirror=$(debian_mirror)
    sources="deb $mirror $1 main"
    [ "$1" != experimental ] || sources=$(printf 'deb %s %s main\n' "$mirror" sid "$mirror" experimental)
    say "Making a system of $1"
    quietly as_root unshare --mount -- mmdebstrap --variant=apt --format=directory \
        --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
        "$([ "$1" = experimental ] && echo sid || echo "$1")" "$base" - <<<"$sources" ||
        die "no system of $1 could be made"
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$base/usr/sbin/policy-rc.d" >/dev/null
    as_root chmod 755 "$base/usr/sbin/policy-rc.d"
    as_root mkdir -p "$base/etc/postgresql-common/createcluster.d"
    echo "create_main_cluster = false" |
        as_root tee "$base/etc/postgresql-common/createcluster.d/no-main-cluster.conf" >/dev/null
    quietly in_chroot "of-$1" apt-get update -q
}

# Installs packages, or files of packages, in a system: install_in_chroot NAME OPTION-OR-PACKAGE...
install_in_chroot() {
    quietly in_chroot "$1" apt-get install -y -q --no-install-recommends "${@:2}"
}

# Copies what git knows of the checkout, as it is now, into a new directory of a system: copy_checkout_to NAME DIRECTORY
copy_checkout_to() {
    local directory=$workspace/chroots/$1$2
    as_root mkdir -p "$directory"
    as_builder git -C "$checkout" ls-files -z | tar -C "$checkout" -c --null -T - | as_root tar -C "$directory" -x
    as_root chown -R root: "$directory"
}

# Runs a command in a system, as root: in_chroot NAME COMMAND...
# The shell stays above the command, because signals that are not handled do not end the first process of a namespace.
in_chroot() {
    local root=$workspace/chroots/$1
    shift
    as_root unshare --mount --pid --fork --kill-child -- sh -c '
        mkdir -p "$0/dev/shm" && mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" || exit
        chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
        exit $?' "$root" "$@"
}

# Removes a system: remove_chroot NAME
remove_chroot() {
    as_root rm -rf --one-file-system "$workspace/chroots/$1"
}

remove_chroots() {
    remove_chroot ""
}
