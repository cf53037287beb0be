# What compilers in their strictest mode, cppcheck, clang-tidy and clang-format say of the C++ sources.

# The version that the style is checked with; others format and diagnose differently.
clang_version=14

install_style_packages() {
    install_packages cppcheck
    has_clang_tools || ! is_packaged "clang-tidy-$clang_version" ||
        install_packages "clang-format-$clang_version" "clang-tidy-$clang_version"
}

has_clang_tools() {
    command -v "clang-tidy-$clang_version" >/dev/null && command -v "clang-format-$clang_version" >/dev/null
}

style_suite() {
    say "Checking the style"
    check "a folder of src/ uses only those before it" includes_only_earlier_folders
    check "a folder of src/sql/ calls only those before it" calls_only_earlier_folders
    check "every private function has a comment directly before it" has_comments_before_functions
    check "no strict warning of g++" has_no_strict_warning g++ -Wuseless-cast -Wlogical-op \
        -Wduplicated-cond -Wduplicated-branches
    check "no finding of cppcheck" has_no_cppcheck_finding
    if has_clang_tools; then
        check "formatted" is_formatted
        check "tidy" is_tidy
    else
        skip "formatted, tidy" "clang-format-$clang_version or clang-tidy-$clang_version is not installed"
    fi
    if command -v "clang++-$clang_version" >/dev/null; then
        check "no strict warning of clang++" has_no_strict_warning "clang++-$clang_version"
    else
        skip "no strict warning of clang++" "clang++-$clang_version is not installed"
    fi
}

# The folders of src/, in the order in which a file may include others: of its own folder and of those
# before it. src/module.cpp, which loads all, stands outside.
source_folders=(pure server nodes sequence watermark conversion)

# Tells whether that is so, and src/pure includes no header of the server.
includes_only_earlier_folders() {
    local folder earlier='' findings
    findings=$(
        diff <(printf '%s\n' "${source_folders[@]}" | sort) \
            <(cd "$checkout/src" && ls */*.[ch]pp | cut -d/ -f1 | sort -u)
        grep -En '#include .*\.h[">]' "$checkout"/src/pure/*
        for folder in "${source_folders[@]}"; do
            earlier+=${earlier:+|}$folder
            grep -EnH '#include "[^"]*/[^"]*\.hpp"' "$checkout/src/$folder"/*.[ch]pp |
                grep -Ev "#include \"($earlier)/[^/\"]*\""
        done
    )
    [ -z "$findings" ] || { echo "$findings"; return 1; }
}

# The folders of src/sql/, in the order in which a part may name private objects of others: of its own folder and of those
# before it. schema.sql and lock.sql come before all, settings.sql, rights.sql, installed.sql and upgrade/ after all. kinds.sql and
# walk.sql ask all kinds, and count as one of them.
script_folders=(layout nodes sequence watermark conversion/model conversion/find conversion/kinds conversion/plan
    conversion/run conversion/online partitions check)

# The exceptions: FILE OBJECT
script_exceptions=(
    # Whether the guard of a sequence works shows in its last number, and such a number makes it work.
    'nodes/nodes.sql _glimpse_last_value' 'nodes/nodes.sql _take_last_value'
    # A conversion without a long lock that has begun is found by its shadow columns, and their triggers are no user's.
    'conversion/find/columns.sql _shadow_pairs'
    'conversion/kinds/trigger.sql _keep_shadow' 'conversion/kinds/trigger.sql _shadow_pairs'
    'conversion/kinds/trigger.sql _triggers_on_shadow'
    # conversion_plan() shows the commands of both ways.
    'conversion/plan/plan.sql _online_steps' 'conversion/plan/plan.sql _online_estimate'
    'conversion/plan/steps.sql _online_obstacles' 'conversion/plan/steps.sql _obstacles_of_shadows'
    'conversion/plan/steps.sql _obstacles_of_subscribers'
    # The stages of a conversion without a long lock, and of partitioning, run as a conversion does, from their own states.
    'conversion/run/run.sql _patience_of_stage' 'conversion/run/state.sql _state_of_stage'
    'conversion/run/state.sql _part_to_cancel'
    'conversion/run/state.sql _partition_request' 'conversion/run/state.sql _state_of_partitioning')

# Lists the parts of a folder of src/sql/.
parts_of() {
    ls "$checkout/src/sql/$1"/*.sql
    [ "$1" != conversion/kinds ] || ls "$checkout"/src/sql/conversion/*.sql
}

# Lists the private objects that parts of the script make.
made_by() {
    sed -nE 's/^CREATE (OR REPLACE )?(FUNCTION|PROCEDURE|TYPE|TABLE|VIEW) snowflake\.(_[a-z0-9_]+).*/\3/p' "$@" | sort -u
}

# Lists the private objects that a part names.
named_by() {
    sed 's/--.*//' "$1" | grep -oE '\bsnowflake\._[a-z0-9_]+' | sed 's/^snowflake\.//' | sort -u
}

# Tells whether the parts keep to that order, and need all of the exceptions.
calls_only_earlier_folders() {
    local folder part all made='' findings
    all=$(made_by "$checkout"/src/sql/*/*.sql "$checkout"/src/sql/*/*/*.sql)
    findings=$(
        diff <(printf '%s\n' "${script_folders[@]}" conversion upgrade | sort) \
            <(cd "$checkout/src/sql" && ls ./*/*.sql ./*/*/*.sql | sed 's,^\./,,; s,/[^/]*$,,' | sort -u)
        diff <(printf '%s\n' "${script_exceptions[@]}" | sort) <(
            for folder in "${script_folders[@]}"; do
                made=$(sort -u <(echo "$made") <(parts_of "$folder" | while read -r part; do made_by "$part"; done))
                parts_of "$folder" | while read -r part; do
                    comm -12 <(named_by "$part") <(echo "$all") | comm -23 - <(echo "$made") |
                        sed "s,^,${part#"$checkout/src/sql/"} ,"
                done
            done | sort)
    )
    [ -z "$findings" ] || { echo "$findings"; return 1; }
}

# Tells whether the line before each function that is not public is a comment.
has_comments_before_functions() {
    local findings
    findings=$(find "$checkout/src/sql" -name '*.sql' -exec awk '
        FNR == 1 { before = "" }
        /^CREATE (OR REPLACE )?(FUNCTION|PROCEDURE) snowflake\._/ && before !~ /^--/ { print FILENAME ":" FNR ": " $0 }
        { before = $0 }' {} +)
    [ -z "$findings" ] || { echo "$findings"; return 1; }
}

# Writes files, NAME and so many, that include the sources that are listed on its input, and lists them. Compilers and
# clang-tidy spend nearly all of their time on headers. in_shares NAME COUNT
in_shares() {
    sort | sed 's/.*/#include "&"/' | split -n "r/$2" --additional-suffix=.cpp - "$workspace/$1-"
    printf '%s\0' "$workspace/$1"-*.cpp
}

# Does so with what is compiled for the server, a share for each processor.
sources_in_shares() {
    find "$checkout/src" "$checkout/test/integration/late_caller.cpp" -name '*.cpp' | in_shares sources "$(nproc)"
}

# Does so with the other tests, in one file: the headers of GoogleTest and libpqxx take longer than all that is ours.
tests_in_a_share() {
    find "$checkout/test" -name '*.cpp' ! -name late_caller.cpp | in_shares test/all 1
}

# Tells whether a compiler finds nothing at all in the extension. The server's macros make old-style
# and alignment-increasing casts, so their headers count as the system's.
# has_no_strict_warning COMPILER WARNING...
has_no_strict_warning() {
    local includes
    includes=$("$PG_CONFIG" --includedir-server)
    sources_in_shares |
        xargs -0 -P "$(nproc)" -n 1 "$1" -fsyntax-only -std=c++20 -fno-exceptions -fno-rtti -D_GNU_SOURCE "-I$checkout/src" \
            '-DSNOWFLAKE_VERSION=""' -isystem "$includes" -Werror -Wall -Wextra -Wpedantic -Wshadow \
            -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual -Wformat=2 -Wundef \
            -Wnull-dereference -Wdouble-promotion -Wimplicit-fallthrough -Wextra-semi \
            -Wzero-as-null-pointer-constant -Wredundant-decls "${@:2}"
}

# cppcheck reads none of the server's headers, so it is told that ereport does not return. Newer versions
# of it ask for initializers in aggregates, and report which branches they have not followed: both are
# suppressed.
has_no_cppcheck_finding() {
    cppcheck --quiet --error-exitcode=1 --std=c++20 --language=c++ --library=googletest \
        --enable=warning,performance,portability --suppress=normalCheckLevelMaxBranches \
        --suppress=uninitMemberVarNoCtor "-I$checkout/src" '-DSNOWFLAKE_VERSION=""' -DSNOWFLAKE_MODULE_MAGIC= \
        '-Dereport(...)=abort()' "$checkout/src" "$checkout/test"
}

is_formatted() {
    find "$checkout"/{src,test,examples,bench} -name '*.[ch]pp' -print0 | sort -z |
        xargs -0 "clang-format-$clang_version" --dry-run -Werror
}

# Checks the extension with the flags of PGXS, and the tests with those of test/CMakeLists.txt. clang-tidy looks for its
# configuration above the files that it reads.
is_tidy() {
    (cd "$checkout" && cp --parents .clang-tidy test/.clang-tidy "$workspace")
    sources_in_shares |
        tidy -fno-exceptions -fno-rtti -D_GNU_SOURCE "-I$checkout/src" '-DSNOWFLAKE_VERSION=""' \
            -isystem "$("$PG_CONFIG" --includedir-server)" &&
        tests_in_a_share | tidy -Wall -Wextra -Wpedantic -Wshadow -Wconversion "-I$checkout/src/pure" \
            "-I$checkout/examples" $(pkg-config --cflags libpqxx libpq | sed 's/-I/-isystem /g')
}

# Runs clang-tidy, which writes its findings to standard output, on the files that are listed on its input: tidy FLAG...
tidy() {
    xargs -0 -P "$(nproc)" -I '{}' "clang-tidy-$clang_version" --quiet '{}' -- -std=c++20 "$@" 2>/dev/null
}
