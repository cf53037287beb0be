// The layout of an ID: how a timestamp, a node and a counter share the 63 bits of a non-negative
// bigint.
//
// Pure: no server headers, no allocation, no failure that is not a value.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace snowflake {

// A snowflake ID. Never negative; functions that also take "no ID yet" say so.
using Id = std::int64_t;

// The parts of an ID.
struct Fields {
    std::int64_t tick;    // ticks since the layout's epoch
    std::int32_t node;    // the instance that made it
    std::int32_t counter; // tells apart the IDs of one node, one sequence and one tick

    friend constexpr bool operator==(const Fields &, const Fields &) = default;
};

// The epoch, the tick length, and the width and order of the three fields. They are packed into 62
// bits: a layout is passed in a register, and a constant layout costs nothing. The timestamp is
// always the highest field, because IDs must sort by time. Layouts that divide the bits in the same
// way are equal: where node or counter has no bits, the node counts as the higher one.
class Layout {
  public:
    // The order of the two fields below the timestamp.
    enum class Order : std::uint8_t {
        node_above_counter,
        counter_above_node,
    };

    // A layout in plain terms, as make() takes it.
    struct Parts {
        std::int64_t epoch_ms; // Unix milliseconds, 0 .. 2^42-1 (until 2109)
        int tick_exponent;     // a tick is 10^this microseconds: 0 (1 us) .. 6 (1 s)
        int timestamp_bits;    // 1 .. 63
        int node_bits;         // 0 .. 31
        int counter_bits;      // 0 .. 31
        Order order;
    };

    // Makes the layout of these parts. There is none if a part is out of its range, if the widths
    // add up to more than 63 bits, or if the last tick would end after 2^63-1 Unix microseconds
    // (year 294247), the last time that a 64-bit count of microseconds can express.
    static constexpr std::optional<Layout> make(const Parts &parts) noexcept;

    // Makes the layout whose bits() these are, if there is one.
    static constexpr std::optional<Layout> from_bits(std::uint64_t bits) noexcept;

    // The layout as a number. Tables store this number and clients see it, and therefore its
    // meaning must never change.
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

    // Unix microseconds of tick 0.
    [[nodiscard]] constexpr std::int64_t epoch_us() const noexcept { return epoch_ms() * 1000; }

    // Unix milliseconds of tick 0.
    [[nodiscard]] constexpr std::int64_t epoch_ms() const noexcept {
        return static_cast<std::int64_t>(bits_ & mask(epoch_width));
    }

    // A tick is 10^this microseconds, 0 .. 6.
    [[nodiscard]] constexpr int tick_exponent() const noexcept {
        return field(tick_at_bit, tick_width);
    }

    // Microseconds in a tick, 1 .. 1000000.
    [[nodiscard]] constexpr std::int64_t tick_us() const noexcept {
        return power_of_ten(tick_exponent());
    }

    // Ticks in a second, 1 .. 1000000.
    [[nodiscard]] constexpr std::int64_t ticks_per_second() const noexcept {
        return power_of_ten(6 - tick_exponent());
    }

    // The decimals of a second that it takes to write the time of any tick exactly, 0 .. 6.
    [[nodiscard]] constexpr int decimals() const noexcept {
        int dropped = tick_exponent();
        while (epoch_us() % power_of_ten(dropped) != 0)
            --dropped;
        return 6 - dropped;
    }

    // Widths of the fields in bits.
    [[nodiscard]] constexpr int timestamp_bits() const noexcept {
        return field(timestamp_at_bit, timestamp_width);
    }
    [[nodiscard]] constexpr int node_bits() const noexcept { return field(node_at_bit, low_width); }
    [[nodiscard]] constexpr int counter_bits() const noexcept {
        return field(counter_at_bit, low_width);
    }

    [[nodiscard]] constexpr Order order() const noexcept {
        return field(order_at_bit, 1) == 0 ? Order::node_above_counter : Order::counter_above_node;
    }

    // The bit each field starts at, counted from the lowest bit of the ID.
    [[nodiscard]] constexpr int timestamp_shift() const noexcept {
        return node_bits() + counter_bits();
    }
    [[nodiscard]] constexpr int node_shift() const noexcept {
        return order() == Order::node_above_counter ? counter_bits() : 0;
    }
    [[nodiscard]] constexpr int counter_shift() const noexcept {
        return order() == Order::node_above_counter ? 0 : node_bits();
    }

    // The greatest value of each field, and the greatest ID.
    [[nodiscard]] constexpr std::int64_t last_tick() const noexcept {
        return static_cast<std::int64_t>(mask(timestamp_bits()));
    }
    [[nodiscard]] constexpr std::int32_t last_node() const noexcept {
        return static_cast<std::int32_t>(mask(node_bits()));
    }
    [[nodiscard]] constexpr std::int32_t last_counter() const noexcept {
        return static_cast<std::int32_t>(mask(counter_bits()));
    }
    [[nodiscard]] constexpr Id last_id() const noexcept {
        return static_cast<Id>(mask(timestamp_bits() + timestamp_shift()));
    }

    // Tells whether the layout can have made this ID: not negative, no bit above the timestamp.
    [[nodiscard]] constexpr bool contains(Id id) const noexcept {
        return id >= 0 && id <= last_id();
    }

    // Tells whether a number is a count, 1, 2, 3, rather than an ID: it is negative, or of the
    // first day of the layout. The numbers of an ordinary sequence stay below those of later days.
    [[nodiscard]] constexpr bool is_count(Id number) const noexcept {
        constexpr std::int64_t seconds_in_day = 86'400;
        return number < 0 || tick_of(number) < seconds_in_day * ticks_per_second();
    }

    // Composes the ID of these fields. Each of them must be in range: 0 .. last_tick(),
    // last_node(), last_counter().
    [[nodiscard]] constexpr Id compose(const Fields &fields) const noexcept {
        return fields.tick << timestamp_shift() | Id{fields.node} << node_shift() |
               Id{fields.counter} << counter_shift();
    }

    // Split an ID that the layout contains() into its fields.
    [[nodiscard]] constexpr Fields split(Id id) const noexcept {
        return {.tick = tick_of(id), .node = node_of(id), .counter = counter_of(id)};
    }
    [[nodiscard]] constexpr std::int64_t tick_of(Id id) const noexcept {
        return id >> timestamp_shift();
    }
    [[nodiscard]] constexpr std::int32_t node_of(Id id) const noexcept {
        return static_cast<std::int32_t>(static_cast<std::uint64_t>(id) >> node_shift() &
                                         mask(node_bits()));
    }
    [[nodiscard]] constexpr std::int32_t counter_of(Id id) const noexcept {
        return static_cast<std::int32_t>(static_cast<std::uint64_t>(id) >> counter_shift() &
                                         mask(counter_bits()));
    }

    // The smallest and the greatest ID of a tick, 0 .. last_tick(), over all nodes.
    [[nodiscard]] constexpr Id first_id_of_tick(std::int64_t tick) const noexcept {
        return tick << timestamp_shift();
    }
    [[nodiscard]] constexpr Id last_id_of_tick(std::int64_t tick) const noexcept {
        return tick << timestamp_shift() | static_cast<Id>(mask(timestamp_shift()));
    }

    // How far apart the IDs of consecutive counters are.
    [[nodiscard]] constexpr Id counter_step() const noexcept { return Id{1} << counter_shift(); }

    // Finds the tick of a time; negative before the epoch. The time is in Unix microseconds, from
    // -2^62 (long before any clock) to 2^63-1.
    [[nodiscard]] constexpr std::int64_t tick_at(std::int64_t unix_us) const noexcept {
        const std::int64_t since_epoch = unix_us - epoch_us();
        return since_epoch >= 0 ? since_epoch / tick_us() : (since_epoch + 1) / tick_us() - 1;
    }

    // Unix microseconds at which a tick, 0 .. last_tick() + 1, begins.
    [[nodiscard]] constexpr std::int64_t unix_us(std::int64_t tick) const noexcept {
        return epoch_us() + tick * tick_us();
    }

    friend constexpr bool operator==(const Layout &, const Layout &) = default;

  private:
    // Where the parts stand in bits_.
    static constexpr int epoch_width = 42;
    static constexpr int tick_at_bit = 42, tick_width = 3;
    static constexpr int timestamp_at_bit = 45, timestamp_width = 6;
    static constexpr int node_at_bit = 51, counter_at_bit = 56, low_width = 5;
    static constexpr int order_at_bit = 61;

    static constexpr std::uint64_t mask(int width) noexcept {
        return (std::uint64_t{1} << width) - 1;
    }

    static constexpr std::int64_t power_of_ten(int exponent) noexcept {
        constexpr std::int64_t powers[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000};
        return powers[exponent];
    }

    [[nodiscard]] constexpr int field(int at_bit, int width) const noexcept {
        return static_cast<int>(bits_ >> at_bit & mask(width));
    }

    explicit constexpr Layout(std::uint64_t bits) noexcept : bits_(bits) {}

    std::uint64_t bits_;
};

constexpr std::optional<Layout> Layout::make(const Parts &parts) noexcept {
    const auto in = [](std::int64_t value, std::int64_t low, std::int64_t high) {
        return value >= low && value <= high;
    };
    if (!in(parts.epoch_ms, 0, static_cast<std::int64_t>(mask(epoch_width))) ||
        !in(parts.tick_exponent, 0, 6) || !in(parts.timestamp_bits, 1, 63) ||
        !in(parts.node_bits, 0, 31) || !in(parts.counter_bits, 0, 31) ||
        parts.timestamp_bits + parts.node_bits + parts.counter_bits > 63)
        return std::nullopt;

    const bool counter_first =
        parts.order == Order::counter_above_node && parts.node_bits > 0 && parts.counter_bits > 0;
    const auto part = [](int value, int at_bit) {
        return static_cast<std::uint64_t>(value) << at_bit;
    };
    const Layout layout{
        static_cast<std::uint64_t>(parts.epoch_ms) | part(parts.tick_exponent, tick_at_bit) |
        part(parts.timestamp_bits, timestamp_at_bit) | part(parts.node_bits, node_at_bit) |
        part(parts.counter_bits, counter_at_bit) | part(counter_first ? 1 : 0, order_at_bit)};

    // The last tick must end within 2^63-1 us. A division cannot overflow, as the product could.
    constexpr std::int64_t end_of_time = std::numeric_limits<std::int64_t>::max();
    if (layout.last_tick() >= (end_of_time - layout.epoch_us()) / layout.tick_us())
        return std::nullopt;
    return layout;
}

constexpr std::optional<Layout> Layout::from_bits(std::uint64_t bits) noexcept {
    const Layout read{bits};
    const auto layout = make({.epoch_ms = read.epoch_ms(),
                              .tick_exponent = read.tick_exponent(),
                              .timestamp_bits = read.timestamp_bits(),
                              .node_bits = read.node_bits(),
                              .counter_bits = read.counter_bits(),
                              .order = read.order()});
    return layout && layout->bits_ == bits ? layout : std::nullopt;
}

// The default layout: milliseconds since 2023-01-01 00:00:00 UTC in 41 bits, 10 bits of node,
// 4096 IDs a millisecond.
inline constexpr Layout default_layout =
    *Layout::make({.epoch_ms = 1'672'531'200'000,
                   .tick_exponent = 3,
                   .timestamp_bits = 41,
                   .node_bits = 10,
                   .counter_bits = 12,
                   .order = Layout::Order::node_above_counter});

static_assert(sizeof(Layout) == 8);

} // namespace snowflake
