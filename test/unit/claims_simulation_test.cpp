// A simulated cluster of as many instances as there are node numbers. Claims reach other instances
// late, and do not reach them while the network is split. The simulation shows that the rule of
// claims keeps its promise: instances that have heard of each other make no ID twice, every double
// claim ends the same way for all instances, and it lives no longer than the news of it takes.
#include "claims.hpp"
#include "generator.hpp"

#include "random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace unit::claims_simulation_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr std::int64_t millisecond = 1'000; // in microseconds, as all times here
constexpr std::int64_t second = 1'000 * millisecond;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t year = 365 * 24 * 60 * minute;

constexpr int node_count = 1023;

// A busy session takes notice of a claim within a second after its arrival.
constexpr std::int64_t longest_hearing = second;

// How long an instance whose number is refused waits for somebody to let it claim another.
constexpr std::int64_t longest_reaction = 2 * minute;

// How far a clock is off at most.
constexpr std::int64_t longest_skew = 5 * minute;

// What happens to an instance at some time. Events of the same time happen in the order of their
// numbers.
struct Event {
    enum class Kind : std::uint8_t {
        join,
        make_ids,
        react,
        hear,
        leave
    };

    std::int64_t at = 0;
    std::int64_t number = 0; // of the event
    int instance = 0;
    Kind kind = Kind::join;
    Act act{};             // that the instance hears of
    std::int64_t life = 0; // the life of the instance that the event is meant for

    bool operator>(const Event &other) const {
        return at != other.at ? at > other.at : number > other.number;
    }
};

// IDs of one reservation.
struct Run {
    Id first;
    std::int64_t count;
    int instance;
};

// The acts that an instance knows, by number.
class Acts {
  public:
    void add(const Act &act) {
        by_node_.at(static_cast<std::size_t>(act.first)).push_back(act);
        all_.push_back(act);
    }

    [[nodiscard]] const std::vector<Act> &of(std::int64_t node) const {
        return by_node_.at(static_cast<std::size_t>(node));
    }
    [[nodiscard]] const std::vector<Act> &all() const { return all_; }

  private:
    std::vector<std::vector<Act>> by_node_{node_count + 1};
    std::vector<Act> all_;
};

Instance identity(std::int64_t identifier) {
    return {.system_identifier = identifier, .database = 1, .copy = 0};
}

// What an instance sees of one number, or of all.
Registry<Act> see(const std::vector<Act> &acts, std::int64_t identifier) {
    return {acts, identifier, 1, static_cast<std::uint64_t>(identifier)};
}

struct Instance {
    std::int64_t identifier;
    std::int64_t clock_is_off_by;
    std::int64_t life = 0;  // counts its joins
    Acts seen;              // the rows of snowflake.nodes here
    std::optional<Act> own; // the claim among them
    Id last = no_id;
    int side = 0; // of a split
};

// What a simulation has shown.
struct Outcome {
    std::int64_t double_claims = 0;
    std::int64_t longest_double_claim = 0;
    std::int64_t ids = 0;
    std::int64_t ids_made_twice = 0;
};

class Cluster {
  public:
    Cluster(std::int64_t longest_delay, Random random)
        : longest_delay_(longest_delay), random_(random) {
        for (int i = 0; i < node_count; ++i)
            instances_.push_back({.identifier = random_.between(1, no_end),
                                  .clock_is_off_by = random_.between(-longest_skew, longest_skew),
                                  .seen = {},
                                  .own = {}});
        heard_.assign(instances_.size(), std::vector<std::int64_t>(instances_.size(), 0));
    }

    void join_at(std::int64_t at, int i) { add({.at = at, .instance = i, .kind = Kind::join}); }
    void leave_at(std::int64_t at, int i) { add({.at = at, .instance = i, .kind = Kind::leave}); }

    // Splits the network: no news gets from the one half to the other before this time.
    void split(std::int64_t until) {
        split_until_ = until;
        for (Instance &instance : instances_)
            instance.side = random_.one_in(2) ? 1 : 0;
    }

    void run_until(std::int64_t end) {
        while (!events_.empty() && events_.top().at <= end && !::testing::Test::HasFailure()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.at;
            happens(event);
        }
        now_ = end;
    }

    // Expects that every number has one instance, and every instance one number.
    void expect_settled() {
        for (int node = 1; node <= node_count; ++node) {
            ASSERT_EQ(truth_.at(static_cast<std::size_t>(node)).size(), 1U) << "node " << node;
            for (Instance &instance : instances_)
                ASSERT_EQ(standing_claims(instance, node), 1) << "seen of node " << node;
        }
        for (Instance &instance : instances_)
            ASSERT_EQ(judge_for(instance).standing, Standing::valid);
    }

    // Expects that only instances that claimed a number without knowing of each other have made IDs
    // twice.
    Outcome outcome() {
        std::sort(runs_.begin(), runs_.end(),
                  [](const Run &one, const Run &other) { return one.first < other.first; });
        Id end = no_id;
        int maker = 0;
        for (const Run &run : runs_) {
            if (run.first < end) {
                ++outcome_.ids_made_twice;
                EXPECT_TRUE(rivals_.contains(std::minmax(maker, run.instance)))
                    << run.first << " was made by " << maker << " and " << run.instance;
            }
            if (run.first + run.count > end) {
                end = run.first + run.count;
                maker = run.instance;
            }
        }
        return outcome_;
    }

  private:
    using Kind = Event::Kind;
    static constexpr std::int64_t no_end = INT64_MAX;

    struct Made {
        int by;
        std::int64_t at;
    };

    Instance &at(int i) { return instances_.at(static_cast<std::size_t>(i)); }

    void add(Event event) {
        event.number = ++event_count_;
        events_.push(event);
    }

    void happens(const Event &event) {
        Instance &instance = at(event.instance);
        switch (event.kind) {
        case Kind::join:
            ++instance.life;
            claim(event.instance);
            break;
        case Kind::hear:
            instance.seen.add(event.act);
            break;
        case Kind::make_ids:
            if (event.life == instance.life)
                make_ids(event.instance);
            break;
        case Kind::react:
            if (event.life == instance.life) {
                withdraw(event.instance);
                claim(event.instance);
            }
            break;
        case Kind::leave:
            ++instance.life;
            withdraw(event.instance);
            instance.identifier = random_.between(1, no_end); // another instance joins later
            instance.clock_is_off_by = random_.between(-longest_skew, longest_skew);
            instance.last = no_id;
            break;
        }
    }

    // The time by the instance's clock. Clocks of claims show whole seconds, so that some claims
    // are of the same time.
    [[nodiscard]] std::int64_t clock_of(const Instance &instance) const {
        return default_layout.epoch_us() + year + now_ + instance.clock_is_off_by;
    }

    static std::int64_t standing_claims(const Instance &instance, std::int32_t node) {
        const std::vector<Act> &acts = instance.seen.of(node);
        const auto view = see(acts, instance.identifier);
        return std::count_if(acts.begin(), acts.end(),
                             [&](const Act &act) { return view.stands(act, node); });
    }

    // Does what snowflake.claim_node() does.
    void claim(int i) {
        Instance &instance = at(i);
        const std::int64_t now = clock_of(instance);
        const auto view = see(instance.seen.all(), instance.identifier);
        const int node = view.choose(now, [](std::int32_t) { return 0; });
        if (node == 0) {
            add({.at = now_ + longest_delay_ + second,
                 .instance = i,
                 .kind = Kind::react,
                 .life = instance.life});
            return;
        }
        instance.own = new_act(i, snowflake::Kind::claim, node);
        instance.own->claimed_at = now / second * second;
        for (const Act &rival : truth_.at(static_cast<std::size_t>(node)))
            remember_rivals(i, rival);
        truth_.at(static_cast<std::size_t>(node)).push_back(*instance.own);
        made_[instance.identifier] = {.by = i, .at = now_};
        tell_all(i, *instance.own);
        make_ids(i);
    }

    Act new_act(int i, snowflake::Kind kind, int node) {
        const Instance &instance = at(i);
        const auto view = see(instance.seen.of(node), instance.identifier);
        return {.id = {.high = 1, .low = ++act_count_},
                .kind = kind,
                .first = node,
                .last = node,
                .about = identity(instance.identifier),
                .place = static_cast<std::uint64_t>(instance.identifier),
                .claimed_at = 0,
                .said_at = view.next_said_at(identity(instance.identifier), clock_of(instance)),
                .free_from = 0,
                .answers = {},
                .written_here = false};
    }

    // Gives the number up. It is kept free until all clocks are past the last of its IDs; clocks
    // are farther apart here than the tolerance.
    void withdraw(int i) {
        Instance &instance = at(i);
        if (!instance.own)
            return;
        const int node = instance.own->first;
        Act given_up = new_act(i, snowflake::Kind::release, node);
        given_up.free_from = clock_of(instance) + 2 * longest_skew;
        auto &claims = truth_.at(static_cast<std::size_t>(node));
        std::erase_if(claims, [&](const Act &act) { return act.id == instance.own->id; });
        tell_all(i, given_up);
        instance.own.reset();
    }

    void remember_rivals(int i, const Act &rival) {
        ++outcome_.double_claims;
        rivals_.insert(std::minmax(i, made_.at(rival.about.system_identifier).by));
    }

    // Sends the news of an act to all instances. News of one instance arrives in its order, as in
    // replication; the instance itself knows at once.
    void tell_all(int i, const Act &act) {
        const Instance &teller = at(i);
        for (int other = 0; other < node_count; ++other) {
            const bool apart = now_ < split_until_ && at(other).side != teller.side;
            const std::int64_t leaves = apart ? split_until_ : now_;
            std::int64_t &heard =
                heard_.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(other));
            heard = std::max(heard, leaves + random_.between(0, longest_delay_) +
                                        random_.between(0, longest_hearing));
            const Event news{.at = heard, .instance = other, .kind = Kind::hear, .act = act};
            if (other != i) {
                add(news);
                continue;
            }
            Act own = act;
            own.written_here = true;
            at(i).seen.add(own);
        }
    }

    // The acts on other numbers make no difference, and there are many.
    [[nodiscard]] Verdict<Act> judge_for(const Instance &instance) const {
        if (!instance.own)
            return {};
        return see(instance.seen.of(instance.own->first), instance.identifier)
            .judge(0, clock_of(instance));
    }

    void make_ids(int i) {
        Instance &instance = at(i);
        const Verdict<Act> verdict = judge_for(instance);
        if (verdict.standing == Standing::taken) {
            add({.at = now_ + random_.between(0, longest_reaction),
                 .instance = i,
                 .kind = Kind::react,
                 .life = instance.life});
            return;
        }
        ASSERT_EQ(verdict.standing, Standing::valid);
        expect_news_is_due(*instance.own);

        const Reservation got = reserve(default_layout, instance.last,
                                        {.now = default_layout.tick_at(clock_of(instance)),
                                         .node = verdict.node,
                                         .wanted = random_.between(1, 100)});
        ASSERT_EQ(got.refusal, Refusal::none);
        instance.last = got.last;
        outcome_.ids += got.count;
        runs_.push_back({.first = got.first, .count = got.count, .instance = i});
        add({.at = now_ + random_.of_any_size(minute),
             .instance = i,
             .kind = Kind::make_ids,
             .life = instance.life});
    }

    // Expects that an instance which makes IDs against a better claim cannot have heard of it yet.
    void expect_news_is_due(const Act &own) {
        for (const Act &other : truth_.at(static_cast<std::size_t>(own.first))) {
            if (!is_better(other.claimed_at, other.about, own.claimed_at, own.about))
                continue;
            const std::int64_t since = std::max(made_.at(own.about.system_identifier).at,
                                                made_.at(other.about.system_identifier).at);
            outcome_.longest_double_claim = std::max(outcome_.longest_double_claim, now_ - since);
            ASSERT_LE(now_, std::max(since, split_until_) + longest_delay_ + longest_hearing);
        }
    }

    std::int64_t longest_delay_;
    Random random_;
    std::int64_t now_ = 0;
    std::int64_t split_until_ = 0;
    std::int64_t event_count_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<Instance> instances_;
    std::vector<std::vector<std::int64_t>> heard_; // when the last news of one arrives at another
    std::vector<std::vector<Act>> truth_{node_count + 1}; // the claims that exist, by number
    std::uint64_t act_count_ = 0;
    std::map<std::int64_t, Made> made_;    // the last claim of an identifier
    std::set<std::pair<int, int>> rivals_; // that claimed a number unaware of each other
    std::vector<Run> runs_;
    Outcome outcome_;
};

// Instances claim a number once they have heard of all claims before.
TEST(SimulatedClaims, MakeNoIdTwiceWhereNewsIsWaitedFor) {
    constexpr std::int64_t longest_delay = 2 * second;
    constexpr std::int64_t between_claims = longest_delay + longest_hearing + 1;
    Cluster cluster(longest_delay, seeded_random());
    std::int64_t now = 0;
    for (int i = 0; i < node_count; ++i, now += between_claims)
        cluster.join_at(now, i);
    cluster.run_until(now);
    cluster.expect_settled();

    // The network splits and heals. No instance joins meanwhile, but every one makes IDs.
    cluster.split(now + 10 * minute);
    cluster.run_until(now += 11 * minute);

    // One instance in ten is replaced.
    for (int i = 0; i < node_count; i += 10)
        cluster.leave_at(now, i);
    // By the slowest clock, the numbers are free when those that the fastest has given up are.
    now += 4 * longest_skew + between_claims;
    for (int i = 0; i < node_count; i += 10, now += between_claims)
        cluster.join_at(now, i);
    cluster.run_until(now + minute);
    cluster.expect_settled();

    const Outcome outcome = cluster.outcome();
    std::cout << "  IDs: " << outcome.ids << '\n';
    EXPECT_GT(outcome.ids, 1'000'000);
    EXPECT_EQ(outcome.double_claims, 0);
    EXPECT_EQ(outcome.ids_made_twice, 0);
}

void print(std::int64_t longest_delay, std::int64_t split, const Outcome &outcome) {
    std::cout << "  news takes up to " << longest_delay / millisecond << " ms, split for "
              << split / second << " s: " << outcome.double_claims
              << " double claims, the longest for " << outcome.longest_double_claim / millisecond
              << " ms, " << outcome.ids << " IDs, " << outcome.ids_made_twice << " made twice\n";
}

// Instances claim numbers without waiting for news.
void expect_double_claims_end(std::int64_t longest_delay, std::int64_t split) {
    Cluster cluster(longest_delay, seeded_random());
    std::int64_t now = 0;
    if (split > 0)
        cluster.split(split);
    for (int i = 0; i < node_count; ++i, now += (longest_delay + longest_hearing) * 2 / 3)
        cluster.join_at(now, i);
    // An instance that loses its number claims again, and may lose again.
    cluster.run_until(std::max(now, split) + 20 * longest_reaction);
    cluster.expect_settled();

    const Outcome outcome = cluster.outcome();
    print(longest_delay, split, outcome);
    EXPECT_GT(outcome.double_claims, 0);
    EXPECT_LE(outcome.longest_double_claim, split + longest_delay + longest_hearing);
}

TEST(SimulatedClaims, DoubleClaimsLiveAsLongAsTheNewsTakes) {
    for (const std::int64_t longest_delay : {10 * millisecond, 1 * second, 10 * second})
        expect_double_claims_end(longest_delay, 0);
}

TEST(SimulatedClaims, DoubleClaimsOfASplitEndWithIt) {
    expect_double_claims_end(1 * second, 5 * minute);
}

} // namespace
} // namespace unit::claims_simulation_test
