# Perl's DBIx::Class: deploy() makes SERIAL columns, keys by RETURNING, and in the step "ask" those of auto_nextval, for which
# it calls nextval. The steps "dump" and "load" write classes by Schema::Loader, and deploy them.
use strict;
use warnings;

package Shop::Customer {
    use base "DBIx::Class::Core";
    __PACKAGE__->table("customers");
    __PACKAGE__->add_columns(id => { data_type => "integer", is_auto_increment => 1 }, name => { data_type => "text" });
    __PACKAGE__->set_primary_key("id");
}

package Shop::Order {
    use base "DBIx::Class::Core";
    __PACKAGE__->table("orders");
    __PACKAGE__->add_columns(id => { data_type => "bigint", is_auto_increment => 1 }, customer_id => { data_type => "integer" });
    __PACKAGE__->set_primary_key("id");
    __PACKAGE__->belongs_to(customer => "Shop::Customer", "customer_id");
}

package Shop {
    use base "DBIx::Class::Schema";
    __PACKAGE__->register_class($_ => "Shop::$_") for "Customer", "Order";
}

package main;

my @server = ("dbi:Pg:", undef, undef, { on_connect_do => "SET client_min_messages = warning" });
my $shop = Shop->connect(@server);

sub use_it {
    my $customers = $shop->resultset("Customer");
    my $customer = $customers->create({ name => "one" });
    die $customer->id unless $customer->id eq $customers->get_column("id")->max;
    my %many = map { $customers->create({ name => "many" })->id => 1 } 1 .. 10;
    die "repeated keys" unless keys %many == 10;
    $customers->populate([map { { name => "populated" } } 1 .. 10]);
    my $order = $shop->resultset("Order")->create({ customer => $customer });
    die $order->id unless $shop->resultset("Order")->find($order->id)->customer->name eq "one";
    print "key: scalar\n";
}

sub ask {
    Shop::Customer->add_columns(id => { data_type => "integer", auto_nextval => 1, sequence => "customers_id_seq" });
    Shop->register_class(Customer => "Shop::Customer");
    my $customers = Shop->connect(@server)->resultset("Customer");
    my $customer = $customers->create({ name => "asked" });
    die $customer->id unless $customer->id eq $customers->get_column("id")->max;
}

sub dump_it {
    require DBIx::Class::Schema::Loader;
    DBIx::Class::Schema::Loader::make_schema_at("Loaded", { dump_directory => $ENV{SCHEMA}, quiet => 1 }, \@server);
}

sub load_it {
    require lib;
    lib->import($ENV{SCHEMA});
    require Loaded;
    Loaded->connect(@server)->deploy;
}

my $step = $ARGV[0];
$shop->deploy if $step eq "create";
use_it() if $step eq "use";
ask() if $step eq "ask";
dump_it() if $step eq "dump";
load_it() if $step eq "load";
$shop->storage->dbh->do("ALTER TABLE customers ADD COLUMN note text") if $step eq "migrate";
