# Sourced by run: opaque names of IDs, by the functions that docs/security.md shows.

measure_names() {
    sed -n '/^CREATE EXTENSION pgcrypto;$/,/^REVOKE EXECUTE/p' "$bench/../docs/security.md" | sql
    script names.sql
}
