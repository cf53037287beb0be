# Sequel: identity columns by its migrations, keys by RETURNING, and the sequence that it resets. The steps "dump" and "load"
# write and read a migration by its extension schema_dumper.
require "sequel"
Sequel.extension :migration

DB = Sequel.connect(
  adapter: "postgres", host: ENV["PGHOST"], port: ENV["PGPORT"], user: ENV["PGUSER"], database: ENV["PGDATABASE"]
)

def verify(condition, what)
  raise what.to_s unless condition
end

def migrate(&block)
  Sequel.migration { up(&block) }.apply(DB, :up)
end

# Adds the INCREMENT to the greatest key, which is too much where the INCREMENT is that of the guard.
def resets?
  DB.reset_primary_key_sequence(:customers)
  true
rescue Sequel::DatabaseError => error
  verify error.message.include?("bigint out of range"), error
  false
end

def use
  customers = Class.new(Sequel::Model(:customers))
  customer = customers.create(name: "one")
  verify customers.max(:id) == customer.id, customer.id
  many = customers.dataset.returning(:id).multi_insert(Array.new(10) { { name: "many" } })
  verify customers.where { id > customer.id }.count == 10, many
  order = DB[:orders].insert(customer_id: customer.id)
  found = DB[:orders].join(:customers, id: :customer_id).where(Sequel[:orders][:id] => order)
  verify found.get(:name) == "one", order
  # Whoever loads rows ends with this; afterwards IDs go on, which need no reset.
  verify resets? == (customer.id < 1000), "resets"
  verify customers.create(name: "after").id > customers.where(name: "many").max(:id), "reset"
  puts "key: #{customer.id.class}"
end

case ARGV[0]
when "create"
  migrate do
    create_table(:customers) { primary_key :id; String :name }
    create_table(:orders) { primary_key :id, type: :Bignum, identity: false, serial: true; foreign_key :customer_id, :customers }
  end
when "migrate"
  migrate do
    add_column :customers, :note, String
    set_column_type :customers, :id, :Bignum
  end
when "dump" then File.write(ENV["SCHEMA"], DB.extension(:schema_dumper).dump_schema_migration)
when "load" then eval(File.read(ENV["SCHEMA"])).apply(DB, :up)
when "use" then use
end
