# Perl's Rose::DB::Object: its Loader makes the classes from the tables. A column with a default of nextval is a serial, for
# which it calls nextval by itself; any other default it takes for a literal.
use strict;
use warnings;
use Rose::DB;
use Rose::DB::Object::Loader;

Rose::DB->register_db(driver => "pg", host => $ENV{PGHOST}, port => $ENV{PGPORT}, database => $ENV{PGDATABASE},
    username => $ENV{PGUSER}, connect_options => { RaiseError => 1, PrintError => 0 });
my $db = Rose::DB->new;

sub use_it {
    Rose::DB::Object::Loader->new(db => $db, class_prefix => "Shop", include_tables => ["customers", "orders"])->make_classes;
    my $customer = Shop::Customer->new(name => "one")->save;
    my ($greatest) = $db->dbh->selectrow_array("SELECT max(id) FROM customers");
    die $customer->id . " is not $greatest" unless $customer->id eq $greatest;
    my %many = map { Shop::Customer->new(name => "many")->save->id => 1 } 1 .. 10;
    die "repeated keys" unless keys %many == 10;
    my $order = Shop::Order->new(customer_id => $customer->id)->save;
    my $found = Shop::Order->new(id => $order->id)->load;
    die $order->id unless $found->customer->name eq "one";
    print "key: scalar\n";
}

my $step = $ARGV[0];
if ($step eq "create") {
    $db->dbh->do("SET client_min_messages = warning");
    $db->dbh->do("CREATE TABLE customers (id serial PRIMARY KEY, name text)");
    $db->dbh->do("CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id integer REFERENCES customers)");
}
use_it() if $step eq "use";
$db->dbh->do("ALTER TABLE customers ADD COLUMN note text") if $step eq "migrate";
