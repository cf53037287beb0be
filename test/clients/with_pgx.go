// pgx: binary parameters and results, keys by RETURNING.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/jackc/pgx/v4"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func verify(condition bool, what interface{}) {
	if !condition {
		must(fmt.Errorf("%v", what))
	}
}

func use(ctx context.Context, db *pgx.Conn) {
	var key, greatest int64
	must(db.QueryRow(ctx, "INSERT INTO customers (name) VALUES ($1) RETURNING id", "one").Scan(&key))
	must(db.QueryRow(ctx, "SELECT max(id) FROM customers").Scan(&greatest))
	verify(key == greatest, key)
	rows := [][]interface{}{{"many"}, {"many"}, {"many"}}
	_, err := db.CopyFrom(ctx, pgx.Identifier{"customers"}, []string{"name"}, pgx.CopyFromRows(rows))
	must(err)
	_, err = db.Exec(ctx, "INSERT INTO orders (customer_id) VALUES ($1)", key)
	must(err)
	// A map of any makes a float64 of a number, and keeps the digits of a snowflake.id.
	var text string
	must(db.QueryRow(ctx, "SELECT json_build_object('number', id, 'string', id::snowflake.id)::text FROM customers WHERE id = $1", key).Scan(&text))
	var decoded map[string]interface{}
	must(json.Unmarshal([]byte(text), &decoded))
	verify(decoded["string"] == fmt.Sprint(key), decoded)
	fmt.Printf("key: %T\n", key)
}

func ask(ctx context.Context, db *pgx.Conn) {
	var key, current int64
	must(db.QueryRow(ctx, "SELECT nextval($1)", "customers_id_seq").Scan(&key))
	must(db.QueryRow(ctx, "SELECT currval($1)", "customers_id_seq").Scan(&current))
	verify(key == current, key)
	_, err := db.Exec(ctx, "INSERT INTO customers (id, name) VALUES ($1, 'asked')", key)
	must(err)
}

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "")
	must(err)
	switch os.Args[1] {
	case "create":
		_, err = db.Exec(ctx, "CREATE TABLE customers (id serial PRIMARY KEY, name text); CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id integer REFERENCES customers)")
	case "migrate":
		_, err = db.Exec(ctx, "ALTER TABLE customers ADD COLUMN note text")
	case "use":
		use(ctx, db)
	case "ask":
		ask(ctx, db)
	}
	must(err)
}
