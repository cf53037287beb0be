# Sourced by the other scripts: which user runs what, and how missing packages are installed.
#
# apt-get changes the system, nothing else here does. Installing the server's package this way neither
# creates nor starts a database cluster.

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The scripts read what programs print, so those must not translate it.
export LC_ALL=C.UTF-8
unset LANGUAGE

# Runs a command that changes the system: as root.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Runs a command that builds: as the owner of the checkout, so that "sudo scripts/test" leaves no file
# there that the owner cannot write.
as_builder() {
    local owner
    owner=$(stat -c %U "$checkout")
    if [ "$(id -u)" = 0 ] && [ "$owner" != root ] && [ "$owner" != UNKNOWN ]; then
        runuser -u "$owner" -- "$@"
    else
        "$@"
    fi
}

# Runs a program of the server: as the user postgres instead of root, which the server refuses. That
# user may not be allowed to read the current directory, hence the cd, nor the checkout. Where root can
# mount, the program finds an empty directory in place of the checkout, which only root can read. So a
# test that reads the checkout fails wherever the checkout is, and not only in the home of root.
as_server_user() {
    if [ "$(id -u)" != 0 ]; then
        "$@"
    elif unshare --mount true 2>/dev/null; then
        unshare --mount sh -c 'mount -t tmpfs -o mode=700 hidden "$0" 2>/dev/null
            cd / && exec runuser -u postgres -- "$@"' "$checkout" "$@"
    else
        (cd / && runuser -u postgres -- "$@")
    fi
}

# Runs a command, and shows what it prints only if it fails.
quietly() {
    local output status=0
    output=$("$@" 2>&1) || status=$?
    [ "$status" = 0 ] || printf '%s\n' "$output" >&2
    return "$status"
}

on_debian() {
    command -v apt-get >/dev/null
}

# Installs those of the Debian packages that are missing. On other systems it only reminds of them.
install_packages() {
    local package missing=()
    if ! on_debian; then
        [ -n "${reminded_of_packages:-}" ] ||
            say "This is not Debian: what is missing must be installed by hand (see CONTRIBUTING.md)"
        reminded_of_packages=yes
        return 0
    fi
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    update_package_lists
    say "Installing ${missing[*]}"
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends -o DPkg::Lock::Timeout=600 "${missing[@]}" ||
        die "apt-get could not install ${missing[*]}"
}

# Downloads apt's lists of packages, once a run.
update_package_lists() {
    [ -z "${package_lists_updated:-}" ] || return 0
    can_become_root || die "packages are missing: run this script as root, or install sudo"
    say "Updating the lists of packages"
    quietly as_root apt-get update -q || die "apt-get could not update the lists of packages"
    package_lists_updated=yes
}

can_become_root() {
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null
}

# Tells whether apt knows a package. The lists are updated before the answer can be no.
is_packaged() {
    on_debian || return 1
    apt-cache show "$1" >/dev/null 2>&1 && return 0
    can_become_root || return 1
    update_package_lists
    apt-cache show "$1" >/dev/null 2>&1
}

# Sets PG_CONFIG, unless it is set, to the newest PostgreSQL installed. Where none is installed, it
# installs the one of this Debian release; where the server's headers are missing, these.
find_postgresql() {
    local major
    if [ -z "${PG_CONFIG:-}" ]; then
        PG_CONFIG=$(find /usr/lib/postgresql/*/bin -name postgres 2>/dev/null | sort -V | tail -n 1 || true)
        PG_CONFIG=${PG_CONFIG:+${PG_CONFIG%/*}/pg_config}
    fi
    if [ -z "$PG_CONFIG" ]; then
        on_debian || die "no PostgreSQL is found: set PG_CONFIG to the pg_config of one"
        update_package_lists
        major=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p')
        install_postgresql "$major"
        PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
    fi
    # On Debian the server's package comes without them.
    if [ ! -f "$("$PG_CONFIG" --includedir-server)/postgres.h" ]; then
        install_packages "postgresql-server-dev-$(major_version)"
    fi
    export PG_CONFIG
}

# Installs a major version of PostgreSQL. Its package would create a cluster and start it, so it is told
# not to while it is installed; a subshell, so that this ends however the installation ends.
install_postgresql() (
    drop_in=/etc/postgresql-common/createcluster.d/no-main-cluster.conf
    trap 'as_root rm -f "$drop_in"' EXIT
    as_root mkdir -p "${drop_in%/*}"
    echo "create_main_cluster = false" | as_root tee "$drop_in" >/dev/null
    install_packages "postgresql-$1"
)

major_version() {
    "$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/'
}

# Installs pglogical, which joins servers. Returns false where Debian has no package of it for this
# version of PostgreSQL. Call it before the private installation is made, which copies it.
install_pglogical() {
    local package
    package=postgresql-$(major_version)-pglogical
    is_packaged "$package" || return 1
    install_packages "$package"
}
