# Sourced by the other scripts: who does what, and installing what is missing.
#
# Nothing is changed but what apt-get installs. Installing the server's package here does not create
# or start a database cluster.

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What changes the system runs as root.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# What builds runs as the owner of the checkout, so that "sudo scripts/test" leaves no file there
# that the owner cannot write.
as_builder() {
    local owner
    owner=$(stat -c %U "$checkout")
    if [ "$(id -u)" = 0 ] && [ "$owner" != root ] && [ "$owner" != UNKNOWN ]; then
        runuser -u "$owner" -- "$@"
    else
        "$@"
    fi
}

# The PostgreSQL server refuses to run as root. Its user may not be able to read the current directory.
as_server_user() {
    if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

# Installs those of the Debian packages that are missing.
install_packages() {
    local package missing=()
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    update_package_lists
    say "Installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=600 "${missing[@]}" >/dev/null
}

# Sets PG_CONFIG, unless it is set, to the newest PostgreSQL installed; installs the one of this
# Debian release where there is none, and the headers where there are none.
find_postgresql() {
    local major drop_in=/etc/postgresql-common/createcluster.d/no-main-cluster.conf
    if [ -z "${PG_CONFIG:-}" ]; then
        PG_CONFIG=$(find /usr/lib/postgresql/*/bin -name postgres 2>/dev/null | sort -V | tail -n 1 || true)
        PG_CONFIG=${PG_CONFIG:+${PG_CONFIG%/*}/pg_config}
    fi
    if [ -z "$PG_CONFIG" ]; then
        update_package_lists
        major=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p')
        # The package would create a cluster and start it. None is wanted.
        as_root mkdir -p "${drop_in%/*}"
        echo "create_main_cluster = false" | as_root tee "$drop_in" >/dev/null
        install_packages "postgresql-$major"
        as_root rm -f "$drop_in"
        PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
    fi
    # Debian's server brings PGXS without them.
    if [ ! -f "$("$PG_CONFIG" --includedir-server)/postgres.h" ]; then
        install_packages "postgresql-server-dev-$(major_version)"
    fi
    export PG_CONFIG
}

major_version() {
    "$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/'
}

# Joins servers. It must be there before the private installation is made. False where there is no
# package of it for this version.
install_pglogical() {
    local package
    package=postgresql-$(major_version)-pglogical
    apt-cache show "$package" >/dev/null 2>&1 && install_packages "$package"
}

# Once a run.
update_package_lists() {
    [ -z "${package_lists_updated:-}" ] || return 0
    command -v apt-get >/dev/null ||
        die "this is not Debian: install what CONTRIBUTING.md lists, and set PG_CONFIG"
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        die "packages are missing: run this script as root, or install sudo"
    say "Updating the lists of packages"
    as_root apt-get update -qq
    package_lists_updated=yes
}
