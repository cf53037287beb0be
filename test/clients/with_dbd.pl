# Perl's DBD::Pg: RETURNING, and in the step "ask" last_insert_id(), which asks for the server's own currval.
use strict;
use warnings;
use DBI;

my $db = DBI->connect("dbi:Pg:", undef, undef, { RaiseError => 1, PrintError => 0 });

sub use_it {
    my $insert = $db->prepare("INSERT INTO customers (name) VALUES (?) RETURNING id");
    $insert->execute("one");
    my ($key) = $insert->fetchrow_array;
    my ($greatest) = $db->selectrow_array("SELECT max(id) FROM customers");
    die "$key is not $greatest" unless $key eq $greatest;
    $insert->execute("many") for 1 .. 10;
    $db->do("INSERT INTO orders (customer_id) VALUES (?)", undef, $key);
    my ($name) = $db->selectrow_array("SELECT name FROM customers JOIN orders ON customer_id = customers.id ORDER BY orders.id DESC");
    die $name unless $name eq "one";
    print "key: scalar\n";
}

sub ask {
    $db->do("INSERT INTO customers (name) VALUES ('told')");
    my $key = $db->last_insert_id(undef, undef, "customers", undef);
    my ($greatest) = $db->selectrow_array("SELECT max(id) FROM customers");
    die "$key is not $greatest" unless $key eq $greatest;
}

my $step = $ARGV[0];
if ($step eq "create") {
    $db->do("SET client_min_messages = warning");
    $db->do("CREATE TABLE customers (id serial PRIMARY KEY, name text)");
    $db->do("CREATE TABLE orders (id serial PRIMARY KEY, customer_id integer REFERENCES customers)");
}
use_it() if $step eq "use";
ask() if $step eq "ask";
$db->do("ALTER TABLE customers ADD COLUMN note text") if $step eq "migrate";
