# Real clients, from Debian's packages and npm's, against a server of their own. The programs are in test/clients; each
# does what its first argument says: create (its tables, by the tool's own migration), use (inserts one row, many, and
# rows that refer to others, and compares each key that the tool reads back), ask (asks the server for numbers of a
# sequence by itself), migrate (changes the tables by the tool's own migration), dump and load (write the schema to
# $SCHEMA by the tool's own means, and make it anew from there).
#
# docs/clients.md says what is true of each client; the lists below say the same to the tests.

# The programs, with the packages that they need. What cannot be installed is skipped.
client_packages() {
    case "$1" in
    psycopg2) echo python3-psycopg2 ;;
    psycopg3) echo python3-psycopg ;;
    sqlalchemy) echo python3-psycopg2 python3-sqlalchemy alembic ;;
    django) echo python3-psycopg2 python3-django ;;
    peewee) echo python3-psycopg2 python3-peewee ;;
    odbc) echo python3-pyodbc odbc-postgresql ;;
    activerecord) echo ruby-activerecord ruby-pg ;;
    sequel) echo ruby-sequel ruby-pg ;;
    pdo) echo php-cli php-pgsql ;;
    doctrine) echo php-cli php-pgsql php-doctrine-orm ;;
    eloquent) echo php-cli php-pgsql php-illuminate-database ;;
    dbd) echo libdbd-pg-perl ;;
    rose) echo libdbd-pg-perl librose-db-object-perl ;;
    dbix_class) echo libdbd-pg-perl libdbix-class-perl libdbix-class-schema-loader-perl libdatetime-format-pg-perl \
        libsql-translator-perl ;;
    eclipselink) echo default-jdk-headless libpostgresql-jdbc-java libeclipselink-java ;;
    hibernate) echo default-jdk-headless libpostgresql-jdbc-java libhibernate3-java libjavassist-java libslf4j-java \
        libgeronimo-jpa-2.0-spec-java ;;
    pgx) echo golang-go golang-github-jackc-pgx-v4-dev ;;
    pgpool) echo pgpool2 ;;
    partman) echo "postgresql-$(major_version)-partman" ;;
    cron) echo "postgresql-$(major_version)-cron" ;;
    esac
}

node_clients=(node_postgres knex sequelize typeorm drizzle kysely mikro_orm)
# Those that read the keys of the rows that they insert by RETURNING, or let the default make them.
plain_clients=(psycopg2 psycopg3 sqlalchemy django peewee odbc activerecord sequel pdo eloquent dbd rose dbix_class pgx
    "${node_clients[@]}")
# Those that have a step "exact", for IDs as numbers of JavaScript.
exact_clients=(node_postgres kysely)
# Those that have a step "ask", for numbers and keys that only the server's own functions tell.
asking_clients=(psycopg2 psycopg3 sqlalchemy odbc pdo dbd dbix_class eclipselink pgx node_postgres)
# Those that know a serial by its default, and find none where that calls snowflake.nextval.
redirected_clients=(rose)
# Those that ask for numbers of a sequence whenever they insert.
sequence_clients=(doctrine eclipselink hibernate)

# Those that dump a schema, and load it elsewhere.
dumping_clients=(peewee activerecord sequel dbix_class)

# Those whose step "migrate" puts a serial, with a sequence of its own, in the place of a converted column. Where
# convert_new_columns is on, it is converted at once; else snowflake.check() finds and mends that.
replacing_clients=(django)

# What the program gets for a key.
key_of_client() {
    case "$1" in
    psycopg2 | psycopg3 | sqlalchemy | django | peewee | odbc) echo int ;;
    activerecord | sequel) echo Integer ;;
    pdo | eloquent) echo integer ;;
    dbd | rose | dbix_class) echo scalar ;;
    pgx) echo int64 ;;
    drizzle | mikro_orm) echo bigint ;;
    eclipselink | hibernate) echo Long ;;
    *) echo string ;;
    esac
}

is_client_of() {
    local name=$1
    shift
    [[ " $* " = *" $name "* ]]
}

clients_suite() {
    local client
    say "Running the tests of clients"
    install_clients
    start_clients_server
    for client in "${plain_clients[@]}" "${sequence_clients[@]}"; do
        if [ -n "${missing_clients[$client]:-}" ]; then
            skip "$client" "${missing_clients[$client]}"
            continue
        fi
        test_client "$client"
    done
    test_tools
    stop_server
}

declare -A missing_clients=()

# Installs what the clients need, and notes what is not to be had.
install_clients() {
    local client package
    for client in psycopg2 psycopg3 sqlalchemy django peewee odbc activerecord sequel pdo eloquent doctrine dbd rose dbix_class \
        eclipselink hibernate pgx pgpool partman cron; do
        for package in $(client_packages "$client"); do
            is_packaged "$package" || missing_clients[$client]="there is no package $package here"
        done
        # shellcheck disable=SC2046 # a list of packages
        [ -n "${missing_clients[$client]:-}" ] || without_services install_packages $(client_packages "$client")
    done
    install_node_clients
    install_redmine
    build_clients
}

# Unpacks Redmine where nothing else uses it, and installs what it needs. To install the package itself would set up a site.
install_redmine() {
    local directory=$workspace/redmine needed
    if ! on_debian || ! is_packaged redmine; then
        missing_clients[redmine]="there is no package redmine here"
        return
    fi
    needed=$(apt-get install -s --no-install-recommends dbconfig-no-thanks redmine redmine-pgsql |
        awk '$1 == "Inst" && $2 !~ /^redmine/ {print $2}')
    # shellcheck disable=SC2086 # a list of packages
    without_services install_packages $needed
    mkdir -p "$directory"
    (
        cd "$directory" && apt-get download -q redmine >/dev/null 2>&1 && dpkg-deb -x redmine_*.deb . &&
            cd usr/share/redmine && rm -f Gemfile.lock instances && mkdir -p instances/default/{config,tmp,log,files} &&
            echo "gem 'pg'" >Gemfile.local && quietly bundle lock --local &&
            echo 'Rails.application.config.secret_key_base = "-" * 64' >config/initializers/secret_token.rb &&
            cp "$checkout/test/clients/with_redmine.rb" .
    ) || missing_clients[redmine]="its package does not run here"
}

# Runs a command of Redmine's.
redmine() {
    local directory=$workspace/redmine/usr/share/redmine
    printf 'production:\n  adapter: postgresql\n  database: client\n  username: app\n  host: %s\n  port: %s\n' "$PGHOST" "$PGPORT" \
        >"$directory/instances/default/config/database.yml"
    (cd "$directory" && env RAILS_ENV=production RUBYOPT=-W0 bundle exec "$@") >"$workspace/client.log" 2>&1 ||
        { echo "redmine $*:"; grep -v '^[[:space:]]*from' "$workspace/client.log" | tail -n 20; return 1; }
}

# Its tables have no foreign keys: names tell which columns refer to others.
redmine_after_conversion() {
    client_database && redmine rake db:migrate && redmine rails runner with_redmine.rb && redmine rails runner with_redmine.rb &&
        sql_of_app "CALL snowflake.convert_all(also => '%_id')" >/dev/null 2>&1 &&
        redmine rails runner with_redmine.rb && redmine rails runner with_redmine.rb &&
        holds 'SELECT min(id) = 1 AND snowflake.get_node(max(id)) = 5 AND snowflake.get_node(max(parent_id)) = 5 FROM issues' &&
        holds "SELECT count(*) = 0 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                   WHERE c.relnamespace = 'public'::regnamespace AND a.attname ~ '_id$' AND a.atttypid = 'integer'::regtype" &&
        is_well
}

# Runs a command while packages start no services.
without_services() (
    policy=/usr/sbin/policy-rc.d
    if on_debian && [ ! -e "$policy" ]; then
        trap 'as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    fi
    "$@"
)

install_node_clients() {
    local client reason=
    mkdir -p "$workspace/node"
    cp "$checkout"/test/clients/package.json "$checkout"/test/clients/with_*.js "$workspace/node"
    if ! command -v npm >/dev/null; then
        is_packaged npm && install_packages nodejs npm || true
    fi
    if ! command -v npm >/dev/null; then
        reason="npm is not installed"
    elif ! quietly npm --prefix "$workspace/node" install --no-audit --no-fund --loglevel=error; then
        reason="npm could not install its packages"
    fi
    [ -z "$reason" ] || for client in "${node_clients[@]}"; do missing_clients[$client]=$reason; done
}

java_path() {
    case "$1" in
    eclipselink) echo /usr/share/java/eclipselink.jar:/usr/share/java/eclipselink-jpa-2.1-spec.jar ;;
    hibernate) printf '/usr/share/java/%s.jar:' hibernate3 geronimo-jpa_2.0_spec geronimo-jta-1.2-spec hibernate-commons-annotations \
        javassist slf4j-api slf4j-nop dom4j commons-collections3 antlr ;;
    esac
}

build_clients() {
    local client
    mkdir -p "$workspace/java"
    for client in eclipselink hibernate; do
        [ -z "${missing_clients[$client]:-}" ] || continue
        cp -r "$checkout/test/clients/$client" "$workspace/java"
        quietly javac -nowarn -cp "$(java_path "$client")" -d "$workspace/java/$client" "$workspace/java/$client"/*.java ||
            missing_clients[$client]="it does not compile with the packages of this system"
    done
    [ -n "${missing_clients[pgx]:-}" ] ||
        quietly env GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE="$workspace/go" \
            go build -o "$workspace/with_pgx" "$checkout/test/clients/with_pgx.go" ||
        missing_clients[pgx]="it does not compile with the packages of this system"
}

# A server that Java's clients can reach, on a port that nobody uses.
start_clients_server() {
    local libraries=
    clients_port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
    [ -n "${missing_clients[cron]:-}" ] || libraries="-c shared_preload_libraries=pg_cron -c cron.database_name=cron -c cron.use_background_workers=on"
    rm -rf "$workspace/data"
    # shellcheck disable=SC2086 # options
    start_server -c snowflake.node=5 -c listen_addresses=127.0.0.1 -c "port=$clients_port" -c max_wal_senders=5 $libraries
    export PGPORT=$clients_port
    psql -X -q -c 'CREATE ROLE app LOGIN'
}

# Makes a database of the role app, who installs the extension: client_database SETTING...
client_database() {
    local setting
    psql -X -q -d postgres -U postgres -c 'SET client_min_messages = warning' -c 'DROP DATABASE IF EXISTS client WITH (FORCE)' \
        -c 'CREATE DATABASE client OWNER app'
    export PGDATABASE=client PGUSER=app
    sql_of_app 'CREATE EXTENSION snowflake; GRANT ALL ON SCHEMA public TO app' 2>/dev/null || sql_of_app 'CREATE EXTENSION IF NOT EXISTS snowflake'
    for setting; do sql_of_app "SELECT snowflake.get_node(0); ALTER DATABASE client SET $setting" >/dev/null; done
}

redirect_nextval() {
    psql -X -q -d client -U postgres -c 'SELECT snowflake.redirect_nextval()' >/dev/null
}

sql_of_app() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -d client -U app -c "$1"
}

# Runs a step of a client; what it prints goes to a file: client CLIENT STEP
client() {
    local programs=$checkout/test/clients status=0
    (
        cd "$programs"
        export PYTHONDONTWRITEBYTECODE=1 SCHEMA=$workspace/schema
        case "$1" in
        psycopg2 | psycopg3 | sqlalchemy | django | peewee | odbc) /usr/bin/python3 "with_$1.py" "$2" ;;
        activerecord | sequel) ruby -W0 "with_$1.rb" "$2" ;;
        pdo | eloquent | doctrine) php -d error_reporting=E_ERROR "with_$1.php" "$2" ;;
        dbd | rose | dbix_class) perl "with_$1.pl" "$2" ;;
        pgx) "$workspace/with_pgx" "$2" ;;
        eclipselink) java -cp "$(java_path "$1"):/usr/share/java/postgresql.jar:$workspace/java/$1" WithEclipseLink "$2" ;;
        hibernate) java --add-opens java.base/java.lang=ALL-UNNAMED \
            -cp "$(java_path "$1"):/usr/share/java/postgresql.jar:$workspace/java/$1" WithHibernate "$2" ;;
        *) cd "$workspace/node" && node "with_$1.js" "$2" ;;
        esac
    ) >"$workspace/client.log" 2>&1 || status=$?
    return "$status"
}

# Runs a step that has to succeed, or one that has to fail with a message.
client_does() {
    client "$@" || { echo "$*:"; tail -n 20 "$workspace/client.log"; return 1; }
}
client_fails() {
    local pattern=$3
    if client "$1" "$2"; then
        echo "$1 $2 did not fail"
        return 1
    fi
    grep -qE "$pattern" "$workspace/client.log" || { echo "$1 $2 failed otherwise:"; tail -n 20 "$workspace/client.log"; return 1; }
}

# Runs the step "use", and tells whether the program got the key as its type.
client_uses() {
    client_does "$1" use && grep -qx "key: $(key_of_client "$1")" "$workspace/client.log" ||
        { echo "$1 gets a key as $(cat "$workspace/client.log")"; return 1; }
}

# Tells whether a query of the client's database returns true.
holds() {
    local result
    result=$(sql_of_app "$1") && [ "$result" = t ] || { echo "$1: $result"; sql_of_app 'SELECT * FROM snowflake.check()'; return 1; }
}

# Tells whether the latest rows have IDs of this node in all their keys.
makes_ids() {
    holds "SELECT snowflake.get_node((SELECT max(id) FROM customers)) = 5 AND snowflake.get_node((SELECT max(id) FROM orders)) = 5
                  AND NOT EXISTS (SELECT FROM customers WHERE id > 4194303 AND snowflake.get_node(id) <> 5)
                  AND NOT EXISTS (SELECT FROM orders WHERE id > 4194303 AND snowflake.get_node(id) <> 5)"
}

is_well() {
    holds "SELECT count(*) = 0 FROM snowflake.check() WHERE severity <> 'notice'"
}

test_client() {
    if is_client_of "$1" "${sequence_clients[@]}"; then
        check "$1: asks for IDs, redirected" sequence_client_redirected "$1"
        check "$1: gets no IDs where nextval is not redirected" sequence_client_alone "$1"
        return
    fi
    check "$1: new tables" client_on_new_tables "$1"
    check "$1: converted tables" client_on_converted_tables "$1"
    check "$1: converted tables, nextval not redirected" client_alone "$1"
    ! is_client_of "$1" "${exact_clients[@]}" || {
        check "$1: IDs below 2^53, new tables" client_gets_numbers "$1"
        check "$1: IDs below 2^53, converted tables" client_gets_numbers_of_converted_tables "$1"
    }
    ! is_client_of "$1" "${dumping_clients[@]}" || {
        check "$1: a dumped schema, in an empty database" client_loads_schema "$1"
        check "$1: a dumped schema, nextval not redirected" client_loads_schema_alone "$1"
    }
}

# What clients that ask for numbers do by themselves.
client_asks() {
    ! is_client_of "$1" "${asking_clients[@]}" || { client_does "$1" ask && makes_ids; }
}

client_asks_in_vain() {
    ! is_client_of "$1" "${asking_clients[@]}" ||
        client_fails "$1" ask 'reached maximum value of sequence|not yet defined in this session|@@IDENTITY is null'
}

client_on_new_tables() {
    client_database 'snowflake.convert_new_columns = on' && redirect_nextval &&
        client_does "$1" create && client_uses "$1" && makes_ids && is_well && client_asks "$1" &&
        client_does "$1" migrate && is_well && client_uses "$1" && makes_ids
}

# Makes the tables of a client, a row in each, and what the conversion finds.
make_tables_of_client() {
    client_does "$1" create && client_does "$1" use && holds 'SELECT max(id) < 1000 FROM customers'
}

# The ID is a number, exact, from the driver and out of JSON.
client_gets_numbers() {
    client_database 'snowflake.convert_new_columns = on' "snowflake.layout_of_new_columns = 'javascript'" && redirect_nextval &&
        client_does "$1" create && client_does "$1" exact && is_well && makes_small_ids
}
client_gets_numbers_of_converted_tables() {
    client_database && make_tables_of_client "$1" && sql_of_app "CALL snowflake.convert_all(layout => 'javascript')" >/dev/null &&
        client_does "$1" exact && is_well && makes_small_ids
}
makes_small_ids() {
    holds "SELECT max(id) < 2::numeric ^ 53 AND snowflake.get_node(max(id), snowflake.layout_of('customers_id_seq')) = 5 FROM customers"
}

# Rows from before keep their numbers.
client_on_converted_tables() {
    client_database && redirect_nextval && make_tables_of_client "$1" && sql_of_app 'CALL snowflake.convert_all()' >/dev/null &&
        client_uses "$1" && makes_ids && holds 'SELECT min(id) = 1 FROM customers' && is_well && client_asks "$1" &&
        client_does "$1" migrate || return 1
    ! is_client_of "$1" "${replacing_clients[@]}" || client_is_mended || return 1
    is_well && client_uses "$1" && makes_ids
}

# A schema that was dumped where the tables are converted makes tables that have IDs as well.
client_loads_schema() {
    rm -rf "$workspace/schema"
    client_database && redirect_nextval && make_tables_of_client "$1" && sql_of_app 'CALL snowflake.convert_all()' >/dev/null &&
        client_does "$1" dump && client_database 'snowflake.convert_new_columns = on' && redirect_nextval &&
        client_does "$1" load && client_uses "$1" && makes_ids && is_well
}

# Rails takes a default that calls snowflake.nextval as it is, with a sequence that the schema does not make. Sequel drops it.
client_loads_schema_alone() {
    rm -rf "$workspace/schema"
    client_database && make_tables_of_client "$1" && sql_of_app 'CALL snowflake.convert_all()' >/dev/null &&
        client_does "$1" dump && client_database 'snowflake.convert_new_columns = on' || return 1
    case "$1" in
    activerecord) client_fails "$1" load 'relation "customers_id_seq" does not exist' ;;
    sequel) client_does "$1" load && client_fails "$1" use 'null value in column "id"' ;;
    *) client_does "$1" load && client_uses "$1" && makes_ids && is_well ;;
    esac
}

# Tells whether snowflake.check() found something, and its commands have mended it.
client_is_mended() {
    local command
    if is_well >/dev/null; then
        echo "check() finds nothing"
        return 1
    fi
    while IFS= read -r command; do sql_of_app "$command" >/dev/null || return 1; done < <(
        sql_of_app "SELECT command FROM snowflake.check() WHERE severity <> 'notice'")
}

# The keys that INSERT returns are IDs; whoever asks for a number gets an error.
client_alone() {
    client_database && make_tables_of_client "$1" && sql_of_app 'CALL snowflake.convert_all()' >/dev/null || return 1
    if is_client_of "$1" "${redirected_clients[@]}"; then
        client_fails "$1" use 'invalid input syntax for type bigint: "snowflake.nextval'
        return
    fi
    client_uses "$1" && makes_ids && is_well || return 1
    client_asks_in_vain "$1"
}

# The sequences of JPA and of Doctrine belong to no column: they are converted by their names, with their blocks. What belongs
# to a column is converted as ever.
convert_sequences_of_client() {
    sql_of_app "SELECT snowflake.convert_sequence_to_snowflake(seqrelid, increment => 'keep') FROM pg_sequence
                    WHERE seqrelid IN ('customers_id_seq'::regclass, 'orders_id_seq'::regclass)" >/dev/null 2>&1 &&
        sql_of_app 'CALL snowflake.convert_all()' >/dev/null 2>&1
}

sequence_client_redirected() {
    client_database && redirect_nextval && client_does "$1" create && client_does "$1" use &&
        convert_sequences_of_client && client_uses "$1" && makes_ids && client_uses "$1" && makes_ids && client_asks "$1" &&
        client_does "$1" migrate && client_uses "$1" && makes_ids
}

sequence_client_alone() {
    client_database && client_does "$1" create && client_does "$1" use && convert_sequences_of_client || return 1
    case "$1" in
    doctrine) client_fails doctrine use 'not yet defined in this session|reached maximum value of sequence' ;;
    # A sequence with blocks has no guard: the server's own numbers go on.
    *) client_does "$1" use && holds 'SELECT max(id) < 10000 FROM customers' ;;
    esac && client_asks_in_vain "$1"
}

# Poolers, and extensions that use what tables have.
test_tools() {
    if [ -x /usr/sbin/pgbouncer ]; then
        check "pgbouncer: redirected, in transaction mode" pgbouncer_makes_ids
    else
        skip pgbouncer "it is not installed"
    fi
    test_tool pgpool "pgpool-II: snowflake.nextval goes to the primary" pgpool_balances
    test_tool partman "pg_partman: partitions by ID" partman_makes_partitions
    test_tool cron "pg_cron: a job makes IDs" cron_makes_ids
    test_tool redmine "redmine: converted by one call, without a foreign key" redmine_after_conversion
}

test_tool() {
    if [ -n "${missing_clients[$1]:-}" ]; then
        skip "$1" "${missing_clients[$1]}"
    else
        check "$2" "$3"
    fi
}

# Each transaction may be another server connection. What one client sets stays behind for the next.
pgbouncer_makes_ids() {
    local directory=$workspace/pgbouncer status=0
    client_database && redirect_nextval && sql_of_app 'CREATE TABLE orders (id bigserial)' &&
        sql_of_app 'CALL snowflake.convert_all()' >/dev/null
    mkdir -p "$directory"
    cat >"$directory/pgbouncer.ini" <<END
[databases]
client = host=$PGHOST port=$PGPORT user=app
[pgbouncer]
unix_socket_dir = $directory
pidfile = $directory/pooler.pid
logfile = $directory/log
listen_port = $PGPORT
auth_type = any
pool_mode = transaction
default_pool_size = 1
END
    [ "$(id -u)" != 0 ] || chown -R postgres: "$directory"
    as_server_user /usr/sbin/pgbouncer -q -d "$directory/pgbouncer.ini"
    wait_until pooled 'SELECT 1' || status=1
    [ "$(pooled "SELECT snowflake.get_node(nextval('orders_id_seq'))")" = 5 ] || { echo "no ID"; status=1; }
    pooled 'SET snowflake.convert_new_columns = on' >/dev/null
    [ "$(pooled 'SHOW snowflake.convert_new_columns')" = on ] || { echo "SET does not leak: docs/clients.md is wrong"; status=1; }
    end_pooler "$directory"
    return "$status"
}

pooled() {
    PGHOST=$workspace/pgbouncer psql -X -q -A -t -d client -U app -c "$1" 2>/dev/null
}

# Ends the pooler of a directory, and waits until it is gone.
end_pooler() {
    local process
    process=$(tr -d '\0' <"$1/pooler.pid") && as_server_user kill -INT "$process" || return 0
    while as_server_user kill -0 "$process" 2>/dev/null; do sleep 0.1; done
}

# Waits until a command succeeds: wait_until COMMAND...
wait_until() {
    local i
    for i in $(seq 240); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.5
    done
    echo "$* does not succeed"
    return 1
}

# A standby would refuse to make an ID, and pgpool sends it half of all reads.
pgpool_balances() {
    local directory=$workspace/pgpool status=0 port i
    client_database && sql_of_app 'CREATE TABLE orders (id bigserial PRIMARY KEY, item text)' &&
        sql_of_app 'CALL snowflake.convert_all()' >/dev/null
    mkdir -p "$directory"
    [ "$(id -u)" != 0 ] || chown postgres: "$directory"
    as_server_user pg_basebackup -h "$PGHOST" -p "$PGPORT" -U postgres -D "$directory/data" -R -c fast
    port=$((clients_port + 1))
    as_server_user pg_ctl -D "$directory/data" -l "$directory/server.log" -w -t 600 -s \
        -o "-c port=$port -c listen_addresses='' -c unix_socket_directories='$directory' -c fsync=off -c shared_preload_libraries=''" start || return 1
    cat >"$directory/pgpool.conf" <<END
listen_addresses = ''
port = $clients_port
socket_dir = '$directory'
unix_socket_directories = '$directory'
pcp_port = $((clients_port + 2))
pcp_socket_dir = '$directory'
pid_file_name = '$directory/pooler.pid'
logdir = '$directory'
backend_clustering_mode = 'streaming_replication'
backend_hostname0 = '$PGHOST'
backend_port0 = $clients_port
backend_weight0 = 1
backend_hostname1 = '$directory'
backend_port1 = $port
backend_weight1 = 1
load_balance_mode = on
statement_level_load_balance = on
sr_check_user = 'postgres'
sr_check_database = 'postgres'
health_check_user = 'postgres'
enable_pool_hba = off
num_init_children = 4
END
    as_server_user pgpool -n -f "$directory/pgpool.conf" >"$directory/log" 2>&1 &
    # Reads go to the standby, or the rest would prove nothing.
    wait_until reads_from "$port" || status=1
    for i in $(seq 20); do
        [ "$(through_pgpool "SELECT snowflake.get_node(snowflake.nextval('orders_id_seq'))")" = 5 ] &&
            [ "$(through_pgpool 'SELECT snowflake.get_node(snowflake.next_id())')" = 5 ] || { echo "no ID, at $i"; status=1; break; }
    done
    [ "$status" = 0 ] || tail -n 20 "$directory/log"
    end_pooler "$directory"
    as_server_user pg_ctl -D "$directory/data" -m immediate -w -s stop
    return "$status"
}

# Tells whether the server with this port answers one of several reads. It reads all answers before it looks at them: a
# pipe that grep closes at the first match would end the command that writes to it, and that counts as an error.
reads_from() {
    local answers i
    answers=$(for i in $(seq 10); do through_pgpool "SELECT current_setting('port')"; done)
    grep -qx "$1" <<<"$answers"
}

through_pgpool() {
    PGHOST=$workspace/pgpool psql -X -q -A -t -d client -U app -c "$1" 2>/dev/null
}

# The interval is a number of IDs: those of a day are 24 * 60 * 60 * 1000 * 2^22.
partman_makes_partitions() {
    client_database
    psql -X -q -d client -U postgres -c 'CREATE SCHEMA partman' -c 'CREATE EXTENSION pg_partman SCHEMA partman' \
        -c 'GRANT ALL ON SCHEMA partman TO app' -c 'GRANT ALL ON ALL TABLES IN SCHEMA partman TO app' || return 1
    sql_of_app "CREATE TABLE readings (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), value real) PARTITION BY RANGE (id);
                SELECT partman.create_parent('public.readings', 'id', 'native', (86400000 * 4194304::bigint)::text, p_premake => 4,
                    p_start_partition => snowflake.from_timestamp(now())::text);
                INSERT INTO readings (value) SELECT 1 FROM generate_series(1, 1000);
                SELECT partman.run_maintenance()" >/dev/null &&
        holds "SELECT count(*) = 1000 AND count(DISTINCT tableoid) = 1 AND min(tableoid::regclass::text) <> 'readings_default' FROM readings" &&
        holds "SELECT count(*) >= 4 FROM pg_inherits WHERE inhparent = 'readings'::regclass" && is_well
}

cron_makes_ids() {
    psql -X -q -d postgres -U postgres -c 'CREATE DATABASE cron'
    psql -X -q -d cron -U postgres -c 'CREATE EXTENSION pg_cron' -c 'CREATE EXTENSION snowflake' \
        -c 'CREATE TABLE ticks (id bigint PRIMARY KEY DEFAULT snowflake.nextval())' >/dev/null || return 1
    psql -X -q -d cron -U postgres -c "SELECT cron.schedule('tick', '* * * * *', 'INSERT INTO ticks DEFAULT VALUES')" >/dev/null
    wait_until cron_has_run
}

cron_has_run() {
    [ "$(psql -X -q -A -t -d cron -U postgres -c 'SELECT snowflake.get_node(min(id)) FROM ticks')" = 5 ]
}
