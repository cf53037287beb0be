// Calls of the SQL functions of the extension, with random arguments: edge values, values of other
// types, and the objects of a database.
#pragma once

#include "../unit/random.hpp"
#include "session.hpp"

#include <map>
#include <string>
#include <vector>

namespace integration {

using Texts = std::vector<std::string>;

// An SQL function of the extension.
struct Function {
    std::string name;
    Texts argument_types;
    int needed_arguments; // the others have defaults
    bool costly;          // not a C function: it plans and alters
    bool lasting;         // adds to the registry, of which nothing is ever removed
};

// Writes a text as a literal of SQL.
std::string quoted(const std::string &text);

// Makes the calls. The arguments are taken from what the database has when the object is made.
class Caller {
  public:
    // The columns of the sequences named by planned are arguments too.
    Caller(snowflake::testing::Random &random, Session &session, const Texts &planned);

    // Adds expressions that are chosen for arguments of a type.
    void add(const std::string &type, const Texts &expressions);

    [[nodiscard]] const std::vector<Function> &functions() const { return functions_; }

    // Chooses any function; one that plans and alters only once in many times.
    const Function &choose();

    // Writes a statement that calls the function.
    std::string statement(const Function &function);

  protected:
    template <typename T>
    const T &one_of(const std::vector<T> &values) {
        return values[static_cast<std::size_t>(
            random_.between(0, static_cast<std::int64_t>(values.size()) - 1))];
    }
    [[nodiscard]] const Texts &sequences() const { return sequences_; }
    std::string number(std::int64_t high);
    std::string bigint();

    snowflake::testing::Random &random_;

  private:
    std::string integer();
    std::string value(const std::string &type);
    std::string argument(const std::string &type);

    std::vector<Function> functions_;
    Texts sequences_;
    Texts oids_;
    std::map<std::string, Texts> values_;
    Texts any_;
};

// Whether no input may bring about an error of this SQLSTATE: it is internal, tells of corrupted
// data or of a statement that took too long, or PL/pgSQL raises it where its code did not foresee a
// case, a NULL or the text of a command.
bool is_ours(const std::string &sqlstate);

} // namespace integration
