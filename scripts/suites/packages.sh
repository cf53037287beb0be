# The packages that docs/packaging.md tells how to make: built, installed where there is no compiler, used, and removed.
# Everything happens in chroots of the releases that $SNOWFLAKE_RELEASES names: by default this system's, and one whose PostgreSQL
# knows extension_control_path, which extension images need.

packages_suite() {
    local release
    for release in ${SNOWFLAKE_RELEASES:-$(printf '%s\n' "$(own_release)" forky | sort -u)}; do
        say "Testing the packages on $release"
        test_debian_packages "$release"
        test_pgxn "$release"
    done
}

# Shows the commands of a section of the document: the first block of a shell below a heading.
# documented_commands HEADING
documented_commands() {
    awk -v heading="## $1" '$0 == heading { inside = 1 }
        inside && /^```$/ { exit }
        block { sub(/^sudo /, ""); print }
        inside && /^```sh$/ { block = 1 }' "$checkout/docs/packaging.md"
}

# Runs the commands of a section in a chroot: run_documented CHROOT DIRECTORY HEADING
run_documented() {
    local commands
    commands=$(documented_commands "$3")
    [ -n "$commands" ] || { echo "docs/packaging.md has no commands below \"$3\""; return 1; }
    show_if_failed "$workspace/$1.log" in_chroot "$1" sh -ec "cd $2
$commands"
}

# Builds the packages, and tests them and the extension image that is made of them.
test_debian_packages() {
    local release=$1 package version
    make_chroot build "$release"
    check "$release: the packages are built" builds_packages
    install_in_chroot build lintian
    check "$release: lintian has nothing to say of them" lintian_is_silent
    for package in "$workspace"/chroots/build/build/postgresql-*-snowflake-ids_*.deb; do
        [ -e "$package" ] || continue
        version=${package##*/postgresql-}
        version=${version%%-*}
        test_installed_package "$release" "$version" "$package"
    done
    make_chroot tests "$release" autopkgtest
    check "$release: autopkgtest passes" autopkgtest_passes
    remove_chroot tests
    remove_chroot build
}

# Tests one package on a system without compiler and headers: test_installed_package RELEASE VERSION FILE
test_installed_package() {
    local version=$2 name="$1, PostgreSQL $2"
    make_chroot server "$1" "postgresql-$version"
    as_root cp "$3" "$workspace/chroots/server/root/snowflake.deb"
    check "$name: the package works without a compiler, and removing it leaves nothing" package_comes_and_goes "$version"
    check "$name: the package replaces pgEdge's, and apt upgrades neither to the other" package_is_no_upgrade "$version"
    remove_chroot server
    [ "$version" -lt 18 ] || test_extension_image "$1" "$version" "$3"
}

# Builds, and finds a package for each version of PostgreSQL that has headers.
builds_packages() {
    copy_checkout_to build /build/snowflake
    run_documented build /build/snowflake "Debian packages" &&
        in_chroot build sh -ec 'for version in $(ls /usr/include/postgresql | grep "^[0-9]"); do
            ls "/build/postgresql-${version}-snowflake-ids_$0"-1_*.deb
        done' "$(version_of_extension)"
}

lintian_is_silent() {
    local findings
    findings=$(in_chroot build sh -c 'lintian --allow-root --fail-on none /build/*.changes' 2>&1) && [ -z "$findings" ] ||
        { echo "$findings"; return 1; }
}

package_comes_and_goes() {
    local version=$1
    ! in_chroot server sh -c 'command -v cc || command -v g++ || command -v make || ls /usr/include/postgresql 2>/dev/null' || return 1
    # What the server leaves when it runs for the first time is not the package's.
    quietly in_chroot server pg_virtualenv -v "$version" true
    list_files server >"$workspace/before"
    install_in_chroot server /root/snowflake.deb && extension_works server "$version" || return 1
    quietly in_chroot server apt-get remove -y -q "postgresql-$version-snowflake-ids"
    list_files server | diff "$workspace/before" - &&
        ! in_chroot server dpkg-query -W "postgresql-$version-snowflake-ids" 2>/dev/null
}

# Installs a stand-in for pgEdge's package, which has the same files, then the package; an upgrade keeps it beside a
# repository that has a newer one of pgEdge's.
package_is_no_upgrade() {
    local version=$1 theirs=postgresql-$1-snowflake ours=postgresql-$1-snowflake-ids
    quietly in_chroot server sh -ec 'mkdir /repository; cd /repository
        for version in 2.6.0 99; do
            mkdir -p package/DEBIAN "package/usr/lib/postgresql/$0/lib"
            echo theirs >"package/usr/lib/postgresql/$0/lib/snowflake.so"
            printf "%s\n" "Package: $1" "Version: $version" "Architecture: all" "Maintainer: nobody <nobody@localhost>" \
                "Description: stand-in" >package/DEBIAN/control
            dpkg-deb --root-owner-group -b package "$version.deb"
        done
        { dpkg-deb -f 99.deb; echo "Filename: ./99.deb"; echo "Size: $(stat -c %s 99.deb)"
          echo "SHA256: $(sha256sum 99.deb | cut -d" " -f1)"; } >Packages
        echo "deb [trusted=yes] file:/repository ./" >/etc/apt/sources.list.d/theirs.list' "$version" "$theirs" &&
        install_in_chroot server /repository/2.6.0.deb && install_in_chroot server /root/snowflake.deb &&
        quietly in_chroot server apt-get update -q &&
        grep -q 'Candidate: 99' <<<"$(in_chroot server apt-cache policy "$theirs")" &&
        quietly in_chroot server apt-get dist-upgrade -y -q &&
        is_installed "$ours" && ! is_installed "$theirs" && extension_works server "$version"
}

is_installed() {
    [ "$(in_chroot server dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Lists the files of a chroot, but for what apt and dpkg note.
list_files() {
    in_chroot "$1" find / -xdev \( -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /tmp \) \
        -prune -o -print | sort
}

# Makes the extension on a new server of a chroot, uses it, and drops it. The row of the registry comes from a background
# worker, which loads the library by itself. extension_works CHROOT VERSION OPTION-OF-PG_VIRTUALENV...
extension_works() {
    local output
    output=$(in_chroot "$1" timeout 600 pg_virtualenv -v "$2" "${@:3}" -o snowflake.node=7 \
        psql -X -q -A -t -v ON_ERROR_STOP=1 \
        -c "CREATE EXTENSION snowflake" \
        -c "CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake.nextval())" \
        -c "INSERT INTO t DEFAULT VALUES" \
        -c "SELECT extversion, snowflake.get_node(id) FROM pg_extension, t WHERE extname = 'snowflake'" \
        -c 'DO $$BEGIN WHILE NOT EXISTS (SELECT FROM snowflake.nodes) LOOP COMMIT; PERFORM pg_sleep(0.1); END LOOP; END$$' \
        -c "DROP TABLE t" -c "DROP EXTENSION snowflake" 2>&1) || { echo "$output"; return 1; }
    grep -qxF "$(version_of_extension)|7" <<<"$output" || { echo "$output"; return 1; }
}

version_of_extension() {
    sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "$checkout/snowflake.control"
}

# Runs debian/tests on the packages, as Debian does: they are installed together, and nothing is built of the sources. Those are
# taken as the build left them, with packages for the same versions of PostgreSQL in debian/control.
autopkgtest_passes() {
    as_root cp -r "$workspace/chroots/build/build" "$workspace/chroots/tests/"
    show_if_failed "$workspace/autopkgtest.log" in_chroot tests \
        sh -c 'autopkgtest --no-built-binaries /build/*.deb /build/snowflake -- null'
}

# Tests the files of the extension image where no package installed any: test_extension_image RELEASE VERSION FILE
test_extension_image() {
    make_chroot server "$1" "postgresql-$2"
    as_root "$checkout/packaging/extension-layout" "$3" "$workspace/chroots/server/extensions/snowflake"
    check "$1, PostgreSQL $2: the extension works from a directory of its own" extension_works server "$2" \
        -o extension_control_path='$system:/extensions/snowflake/share' \
        -o dynamic_library_path='$libdir:/extensions/snowflake/lib'
    remove_chroot server
}

# Makes the archive for PGXN, and installs from it: test_pgxn RELEASE
test_pgxn() {
    check "$1: the archive is made" makes_archive
    make_chroot pgxn "$1"
    check "$1: pgxn installs from the archive" pgxn_installs
    remove_chroot pgxn
}

# Makes the archive of the files that git knows, as they are, whether committed or not.
makes_archive() {
    local commit
    commit=$(as_builder git -C "$checkout" stash create)
    as_builder make -s -C "$checkout" PG_CONFIG="$PG_CONFIG" dist COMMIT="${commit:-HEAD}"
}

pgxn_installs() {
    local archive version
    archive=snowflake-$(version_of_extension).zip
    as_root cp "$checkout/build/$archive" "$workspace/chroots/pgxn/root/"
    run_documented pgxn /root PGXN || return 1
    version=$(in_chroot pgxn pg_config --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
    extension_works pgxn "$version"
}
