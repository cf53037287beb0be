#include "layout_text.hpp"

#include "layout_presets.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace snowflake {

namespace {

using Order = Layout::Order;

// The names of ticks: the n-th is that of 10^n microseconds.
constexpr std::array<std::string_view, 7> tick_names = {"1us",  "10us",  "100us", "1ms",
                                                        "10ms", "100ms", "1s"};

constexpr std::int64_t last_epoch_ms = (std::int64_t{1} << 42) - 1;

constexpr int most_bits = 63;

constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Lowers an ASCII letter. The locale makes no difference.
constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Tells whether a text is this word, which is in lower case.
bool is_word(std::string_view text, std::string_view word) {
    return std::ranges::equal(text, word, [](char a, char b) { return lower(a) == b; });
}

// Counts the characters at the front of a text that are of a kind.
template <typename Kind>
std::size_t length_of(std::string_view text, Kind is_of_kind) {
    std::size_t length = 0;
    while (length < text.size() && is_of_kind(text[length]))
        ++length;
    return length;
}

// Takes so many characters off the front of a text, and returns them.
std::string_view take(std::string_view &text, std::size_t length) {
    const std::string_view taken{text.data(), length};
    text.remove_prefix(length);
    return taken;
}

// Takes the next part off the front of a text; empty at its end.
std::string_view take_part(std::string_view &text) {
    take(text, length_of(text, is_space));
    return take(text, length_of(text, [](char c) { return !is_space(c); }));
}

// Takes a character off the front of a text if it is this one, in lower case.
bool take_character(std::string_view &text, char wanted) {
    if (text.empty() || lower(text.front()) != wanted)
        return false;
    text.remove_prefix(1);
    return true;
}

// Takes the digits off the front of a text. Returns nothing if there are none, or more than most.
std::optional<std::int64_t> take_digits(std::string_view &text, std::size_t most) {
    const std::size_t length = length_of(text, is_digit);
    if (length == 0 || length > most)
        return std::nullopt;
    std::int64_t number = 0;
    for (const char digit : take(text, length))
        number = number * 10 + (digit - '0');
    return number;
}

// Takes exactly so many digits off the front of a text.
std::optional<std::int64_t> take_fixed(std::string_view &text, std::size_t length) {
    const std::size_t before = text.size();
    const auto number = take_digits(text, length);
    return before - text.size() == length ? number : std::nullopt;
}

// Reads the width of a field: digits and nothing else, from low to high.
std::optional<int> width(std::string_view text, int low, int high) {
    const auto bits = take_digits(text, 2);
    if (!bits || !text.empty() || *bits < low || *bits > high)
        return std::nullopt;
    return static_cast<int>(*bits);
}

std::optional<int> tick_exponent(std::string_view text) {
    int exponent = 0;
    for (const std::string_view name : tick_names) {
        if (is_word(text, name))
            return exponent;
        ++exponent;
    }
    return std::nullopt;
}

// Takes a date off the front of a text: 2015-01-31, in milliseconds since 1970.
std::optional<std::int64_t> take_date(std::string_view &text) {
    const auto year = take_fixed(text, 4);
    if (!year || !take_character(text, '-'))
        return std::nullopt;
    const auto month = take_fixed(text, 2);
    if (!month || !take_character(text, '-'))
        return std::nullopt;
    const auto day = take_fixed(text, 2);
    if (!day)
        return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok())
        return std::nullopt;
    return std::chrono::milliseconds(std::chrono::sys_days{date}.time_since_epoch()).count();
}

// Takes two digits off the front of a text, if their number is below the limit.
std::optional<std::int64_t> take_clock(std::string_view &text, std::int64_t limit) {
    const auto number = take_fixed(text, 2);
    return number && *number < limit ? number : std::nullopt;
}

// Takes the decimals of a second off the front of a text, such as .7 or .721, in milliseconds. No
// decimals are 0.
std::optional<std::int64_t> take_fraction(std::string_view &text) {
    if (!take_character(text, '.'))
        return 0;
    const std::size_t before = text.size();
    auto fraction = take_digits(text, 3);
    for (std::size_t digits = before - text.size(); fraction && digits < 3; ++digits)
        *fraction *= 10;
    return fraction;
}

// Takes the time of a day in UTC off the front of a text: 23:59:59Z or 23:59:59.123Z, in
// milliseconds.
std::optional<std::int64_t> take_time(std::string_view &text) {
    const auto hour = take_clock(text, 24);
    if (!hour || !take_character(text, ':'))
        return std::nullopt;
    const auto minute = take_clock(text, 60);
    if (!minute || !take_character(text, ':'))
        return std::nullopt;
    const auto second = take_clock(text, 60);
    const auto fraction = take_fraction(text);
    if (!second || !fraction || !take_character(text, 'z'))
        return std::nullopt;
    return ((*hour * 60 + *minute) * 60 + *second) * 1000 + *fraction;
}

// Reads Unix milliseconds that are written as such: 1288834974657ms.
std::optional<std::int64_t> unix_milliseconds(std::string_view text) {
    const auto number = take_digits(text, std::numeric_limits<std::int64_t>::digits10);
    return number && is_word(text, "ms") ? number : std::nullopt;
}

// Reads an epoch in any of its forms, in Unix milliseconds.
std::optional<std::int64_t> epoch_ms(std::string_view text) {
    if (const auto written = unix_milliseconds(text))
        return written;
    const auto date = take_date(text);
    if (!date || text.empty())
        return date;
    if (!take_character(text, 't'))
        return std::nullopt;
    const auto time = take_time(text);
    return time && text.empty() ? std::optional{*date + *time} : std::nullopt;
}

// A layout of which some parts have been read.
class Draft {
  public:
    // Reads a part; returns what is wrong with it.
    std::optional<LayoutTextError> add(std::string_view part) {
        std::string_view value = part;
        const std::string_view name =
            take(value, length_of(part, [](char c) { return c != '=' && c != ':'; }));
        const bool is_field = take_character(value, ':');
        if (!is_field && !take_character(value, '='))
            return LayoutTextError::unknown_part;
        if (!is_field && is_word(name, "epoch"))
            return add_epoch(value);
        if (!is_field && is_word(name, "tick"))
            return add_tick(value);
        if (is_field && is_word(name, "timestamp"))
            return add_timestamp(value, part);
        if (is_field && is_word(name, "node"))
            return add_field(node_, width(value, 0, 31), LayoutTextError::bad_node_width);
        if (is_field && is_word(name, "counter"))
            return add_counter(value);
        return LayoutTextError::unknown_part;
    }

    // Makes the layout of all parts.
    [[nodiscard]] ParsedLayout finish() const {
        if (!epoch_)
            return missing(LayoutTextError::missing_epoch);
        if (!tick_)
            return missing(LayoutTextError::missing_tick);
        if (!timestamp_)
            return missing(LayoutTextError::missing_timestamp);
        if (!node_)
            return missing(LayoutTextError::missing_node);
        if (!counter_)
            return missing(LayoutTextError::missing_counter);
        const auto layout = Layout::make({.epoch_ms = *epoch_,
                                          .tick_exponent = *tick_,
                                          .timestamp_bits = *timestamp_,
                                          .node_bits = *node_,
                                          .counter_bits = *counter_,
                                          .order = order_});
        // Everything else was checked part by part.
        return {layout, {LayoutTextError::ends_too_late, timestamp_part_}};
    }

  private:
    static ParsedLayout missing(LayoutTextError error) { return {std::nullopt, {error, {}}}; }

    std::optional<LayoutTextError> add_epoch(std::string_view value) {
        if (epoch_)
            return LayoutTextError::repeated_part;
        epoch_ = epoch_ms(value);
        if (!epoch_)
            return LayoutTextError::bad_epoch;
        if (*epoch_ < 0 || *epoch_ > last_epoch_ms)
            return LayoutTextError::epoch_out_of_range;
        return std::nullopt;
    }

    std::optional<LayoutTextError> add_tick(std::string_view value) {
        if (tick_)
            return LayoutTextError::repeated_part;
        tick_ = tick_exponent(value);
        return tick_ ? std::nullopt : std::optional{LayoutTextError::bad_tick};
    }

    std::optional<LayoutTextError> add_timestamp(std::string_view value, std::string_view part) {
        if (!timestamp_ && (node_ || counter_))
            return LayoutTextError::timestamp_not_first;
        timestamp_part_ = part;
        return add_field(timestamp_, width(value, 1, most_bits),
                         LayoutTextError::bad_timestamp_width);
    }

    std::optional<LayoutTextError> add_counter(std::string_view value) {
        if (!node_)
            order_ = Order::counter_above_node;
        return add_field(counter_, width(value, 0, 31), LayoutTextError::bad_counter_width);
    }

    std::optional<LayoutTextError> add_field(std::optional<int> &field, std::optional<int> bits,
                                             LayoutTextError if_bad) {
        if (field)
            return LayoutTextError::repeated_part;
        if (!bits)
            return if_bad;
        field = bits;
        bits_ += *bits;
        return bits_ > most_bits ? std::optional{LayoutTextError::too_many_bits} : std::nullopt;
    }

    std::optional<std::int64_t> epoch_;
    std::optional<int> tick_, timestamp_, node_, counter_;
    std::string_view timestamp_part_;
    Order order_ = Order::node_above_counter;
    int bits_ = 0; // of all fields so far
};

// Reads a text that is not a list of parts. It must be one word, the name of a preset.
ParsedLayout parse_preset(std::string_view text) {
    const std::string_view name = take_part(text);
    if (const auto more = take_part(text); !more.empty())
        return {std::nullopt, {LayoutTextError::unknown_part, more}};
    for (const Preset &preset : presets)
        if (is_word(name, preset.name))
            return {preset.layout, {}};
    return {std::nullopt, {LayoutTextError::unknown_preset, name}};
}

} // namespace

ParsedLayout parse_layout(std::string_view text) noexcept {
    if (text.find_first_of("=:") == std::string_view::npos)
        return parse_preset(text);
    Draft draft;
    for (auto part = take_part(text); !part.empty(); part = take_part(text))
        if (const auto error = draft.add(part))
            return {std::nullopt, {*error, part}};
    return draft.finish();
}

const char *explanation(LayoutTextError error) noexcept {
    switch (error) {
    case LayoutTextError::unknown_preset:
        return "There is no layout of this name.";
    case LayoutTextError::unknown_part:
        return "A layout has the parts epoch=, tick=, timestamp:, node: and counter:.";
    case LayoutTextError::repeated_part:
        return "Each part can be given only once.";
    case LayoutTextError::missing_epoch:
        return "The epoch is missing.";
    case LayoutTextError::missing_tick:
        return "The tick is missing.";
    case LayoutTextError::missing_timestamp:
        return "The width of the timestamp is missing.";
    case LayoutTextError::missing_node:
        return "The width of the node is missing; it can be 0.";
    case LayoutTextError::missing_counter:
        return "The width of the counter is missing; it can be 0.";
    case LayoutTextError::bad_epoch:
        return "An epoch is a date, a time in UTC, or Unix milliseconds: 2015-01-01, "
               "2015-01-01T00:00:00.000Z or 1420070400000ms.";
    case LayoutTextError::epoch_out_of_range:
        return "An epoch is from 1970-01-01T00:00:00Z to 2109-05-15T07:35:11.103Z.";
    case LayoutTextError::bad_tick:
        return "A tick is 1us, 10us, 100us, 1ms, 10ms, 100ms or 1s.";
    case LayoutTextError::bad_timestamp_width:
        return "The width of the timestamp is 1 to 63 bits.";
    case LayoutTextError::bad_node_width:
        return "The width of the node is 0 to 31 bits.";
    case LayoutTextError::bad_counter_width:
        return "The width of the counter is 0 to 31 bits.";
    case LayoutTextError::timestamp_not_first:
        return "The timestamp must be the first field, so that IDs sort by time.";
    case LayoutTextError::too_many_bits:
        return "The widths of the fields add up to more than 63 bits.";
    case LayoutTextError::ends_too_late:
        return "The timestamps would go beyond the year 294247.";
    }
    return "";
}

LayoutText::LayoutText(Layout layout) noexcept {
    put("epoch=");
    put_epoch(layout.epoch_ms());
    put(" tick=");
    put(*(tick_names.begin() + layout.tick_exponent()));
    put_field(" timestamp:", layout.timestamp_bits());
    const bool node_first = layout.order() == Order::node_above_counter;
    if (node_first)
        put_field(" node:", layout.node_bits());
    put_field(" counter:", layout.counter_bits());
    if (!node_first)
        put_field(" node:", layout.node_bits());
}

void LayoutText::put(std::string_view text) noexcept {
    std::ranges::copy(text, buffer_.data() + size_);
    size_ += text.size();
}

void LayoutText::put_number(std::int64_t number, int digits) noexcept {
    std::int64_t power = 1;
    for (int i = 1; i < digits; ++i)
        power *= 10;
    for (; power > 0; power /= 10) {
        const char digit = static_cast<char>('0' + number / power % 10);
        put({&digit, 1});
    }
}

void LayoutText::put_epoch(std::int64_t unix_ms) noexcept {
    using std::chrono::days, std::chrono::milliseconds;
    const auto day = std::chrono::floor<days>(milliseconds{unix_ms});
    const std::chrono::year_month_day date{std::chrono::sys_days{day}};
    const std::chrono::hh_mm_ss time{milliseconds{unix_ms} - day};
    put_number(static_cast<int>(date.year()), 4);
    put("-");
    put_number(static_cast<unsigned>(date.month()), 2);
    put("-");
    put_number(static_cast<unsigned>(date.day()), 2);
    put("T");
    put_number(time.hours().count(), 2);
    put(":");
    put_number(time.minutes().count(), 2);
    put(":");
    put_number(time.seconds().count(), 2);
    if (time.subseconds().count() != 0) {
        put(".");
        put_number(time.subseconds().count(), 3);
    }
    put("Z");
}

void LayoutText::put_field(std::string_view name, int bits) noexcept {
    put(name);
    put_number(bits, bits < 10 ? 1 : 2);
}

} // namespace snowflake
