// The extension of the same name by pgEdge, as far as its users see it: a stand-in for tests of the
// update. Its SQL objects are made here from what is known of them, its library is ours.
#pragma once

#include "session.hpp"

#include <array>
#include <string>

namespace integration::pgedge {

// All versions but 1.0, which is not updated.
inline constexpr std::array<const char *, 8> versions{"1.1", "1.2", "2.0",   "2.2",
                                                      "2.3", "2.4", "2.5.0", "2.6.0"};

// Makes the extension in a version in the session's database, which must not have it.
void create_extension(Session &session, const std::string &version);

// Makes a table of this name with a column id that was an identity, and leaves behind what its
// conversion does. Up to version 2.4 that is a sequence whose last value, an ID, is above its
// MAXVALUE of 11.
void make_converted_identity(Session &session, const std::string &table,
                             const std::string &version);

// Gives a sequence that has made an ID a MAXVALUE below it, which the other library ignores.
void leave_max_value(Session &session, const std::string &sequence, int max_value);

} // namespace integration::pgedge
