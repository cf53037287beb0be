# Rails' ActiveRecord: bigserial keys by its migrations, RETURNING, and what its fixtures and tasks do with sequences. The
# steps "dump" and "load" write and read its schema.rb.
require "active_record"
require "active_record/fixtures"
require "tmpdir"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"], database: ENV["PGDATABASE"]
)
ActiveRecord::Migration.verbose = false

# Defines CreateShop as docs/clients.md shows it.
eval(File.read("../../docs/clients.md")[/^```ruby\n(.*?)^```/m, 1])

class CreateNotes < ActiveRecord::Migration[6.1]
  def change
    create_table(:notes, id: :bigint, default: -> { "snowflake.next_id()" }) { |t| t.text :note }
  end
end

class AddNote < ActiveRecord::Migration[6.1]
  def change
    add_column :customers, :note, :text
  end
end

class Customer < ActiveRecord::Base; end
class Note < ActiveRecord::Base; end
class Order < ActiveRecord::Base
  belongs_to :customer
end

def verify(condition, what)
  raise what.to_s unless condition
end

case ARGV[0]
when "create"
  CreateShop.migrate(:up)
  CreateNotes.migrate(:up)
when "migrate" then AddNote.migrate(:up)
when "dump"
  File.open(ENV["SCHEMA"], "w") { |file| ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, file) }
when "load"
  load ENV["SCHEMA"]
  # Fixtures bring numbers of their own, or of the hash of a name, and set the sequence to the greatest.
  Dir.mktmpdir do |directory|
    File.write("#{directory}/customers.yml", "ann: { id: 1, name: ann }\nbob: { name: bob }\n")
    ActiveRecord::FixtureSet.create_fixtures(directory, ["customers"])
  end
  verify Customer.minimum(:id) == 1 && Customer.create!(name: "new").id > Customer.find_by(name: "bob").id, "fixtures"
  Customer.where(name: "bob").delete_all
when "use"
  customer = Customer.create!(name: "one")
  verify Customer.maximum(:id) == customer.id, customer.id
  many = Customer.insert_all!(Array.new(10) { { name: "many" } }).rows.flatten
  verify many.uniq.size == 10 && many.min > customer.id, many
  order = Order.create!(customer: customer)
  verify Order.find(order.id).customer.name == "one", order.id
  # Fixtures and db:seed end with this; afterwards IDs go on.
  connection = ActiveRecord::Base.connection
  connection.reset_pk_sequence!("customers")
  verify Customer.create!(name: "after").id > many.max, "reset"
  note = Note.create!(note: "x")
  connection.reset_pk_sequence!("notes")
  verify Note.create!(note: "y").id > note.id, "notes"
  verify connection.send(:column_definitions, "notes").to_s.include?("next_id"), "default"
  puts "key: #{customer.id.class}"
end
