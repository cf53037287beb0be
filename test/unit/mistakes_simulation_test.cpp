// Servers that are joined, copied, restored and numbered as operators do it, mistakes included.
// Each kind of mistake is made many times over, once under the rules that prevent it and once
// without: how many IDs are made twice shows what each rule is worth.
//
// A server makes one ID a second, with the counter 0. Two servers that have the same number at the
// same second make the same ID.
#include "claims.hpp"

#include "random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <optional>
#include <vector>

namespace unit::mistakes_simulation_test {
namespace {

using namespace snowflake;
using namespace snowflake::testing;

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t beginning = default_layout.epoch_us() + 400 * 86'400 * second;

// Which rules hold. A rule that is off is as it was before it was made.
struct Rules {
    bool derived = true;   // a number that nobody chose is derived, else the lowest free one
    bool settings = true;  // settings are in the registry
    bool twins = true;     // originals and copies answer each other
    bool kept_free = true; // what is given up is kept free
    bool epoch = true;     // a clock before the epoch makes no claim
    bool removals = true;  // a server that has lost its number, and is back, is told
    bool passing = true;   // a third server passes on what it receives
    bool rivals = true;    // servers answer rivals
};

struct Server {
    Instance identity;
    std::uint64_t place = 0;
    int setting = 0;
    std::int64_t clock_is_off_by = 0;
    std::int64_t ahead = 0; // by how much its sequences are ahead of its clock, in seconds
    std::vector<Act> acts = {};
    bool is_stopped = false; // by the rule, when it last wanted to make an ID
    bool is_down = false;    // for now
};

class World {
  public:
    explicit World(Rules rules) : rules_(rules) {}

    std::size_t add(Server server) {
        servers_.push_back(std::move(server));
        return servers_.size() - 1;
    }
    Server &at(std::size_t i) { return servers_.at(i); }

    // From now on the receiver hears what the sender writes, a second later.
    void subscribe(std::size_t receiver, std::size_t sender) {
        links_.push_back({.receiver = receiver, .sender = sender});
    }

    [[nodiscard]] std::int64_t clock_of(const Server &server) const {
        return beginning + seconds_ * second + server.clock_is_off_by;
    }

    static Registry<Act> see(const Server &server) {
        return {server.acts, server.identity.system_identifier, server.identity.database,
                server.place};
    }

    void write(std::size_t i, Act act) {
        Server &server = at(i);
        act.id = {.high = 0x4000, .low = ++count_};
        act.place = server.place;
        act.said_at = see(server).next_said_at(act.about, clock_of(server));
        put(i, act);
    }

    // Does what claim_node() does; node 0: chooses. Returns whether there was a number.
    bool claim(std::size_t i, int node = 0) {
        Server &server = at(i);
        const std::int64_t now = clock_of(server);
        const auto view = see(server);
        if (rules_.epoch && now < default_layout.epoch_us())
            return false;
        if (node == 0)
            node = rules_.derived ? view.choose(now, [](int) { return 0; }) : lowest_free(server);
        else if (view.judge(node, now).standing != Standing::valid)
            return false;
        write(i, {.kind = Kind::claim,
                  .first = node,
                  .last = node,
                  .about = view.self(),
                  .claimed_at = now});
        return true;
    }

    void release(std::size_t i) {
        Server &server = at(i);
        const auto view = see(server);
        const Act *own = view.own_claim();
        ASSERT_NE(own, nullptr);
        const std::int64_t tolerance = rules_.kept_free ? clock_tolerance_us : 0;
        const std::int64_t ahead = rules_.kept_free ? server.ahead * second : 0;
        write(i, {.kind = Kind::release,
                  .first = own->first,
                  .last = own->last,
                  .about = view.self(),
                  .claimed_at = own->claimed_at,
                  .free_from = clock_of(server) + ahead + tolerance});
    }

    // Gives up all that another server has, as the operator of this one does.
    void remove(std::size_t i, const Instance &gone) {
        std::vector<Act> standing;
        for (const Act &act : at(i).acts)
            if (act.about == gone && see(at(i)).stands(act, act.first))
                standing.push_back(act);
        for (Act act : standing) {
            act.kind = Kind::remove;
            act.free_from = clock_of(at(i)) + clock_tolerance_us;
            write(i, act);
        }
    }

    void say_again(std::size_t i) {
        const auto verdict = see(at(i)).judge(at(i).setting, clock_of(at(i)));
        if (verdict.own == nullptr)
            return;
        Act act = *verdict.own;
        act.answers = {};
        write(i, act);
    }

    // Makes this server, a copy, an instance of its own, and lets it claim a number.
    void separate(std::size_t i) {
        Instance apart = at(i).identity;
        apart.copy = static_cast<std::int64_t>(++count_);
        write(i, {.kind = Kind::separate, .about = apart, .claimed_at = clock_of(at(i))});
        claim(i);
    }

    // Lets time pass, in which all servers make IDs.
    void run(std::int64_t duration) {
        for (const std::int64_t end = seconds_ + duration; seconds_ < end; ++seconds_) {
            while (!news_.empty() && news_.front().due <= seconds_) {
                hear(news_.front().receiver, news_.front().act);
                news_.pop_front();
            }
            for (std::size_t i = 0; i < servers_.size(); ++i)
                make_id(i);
        }
    }

    [[nodiscard]] std::int64_t made_twice() const { return made_twice_; }
    [[nodiscard]] std::int64_t ids() const { return static_cast<std::int64_t>(makers_.size()); }

  private:
    // Adds an act to those of a server, and sends it to all that hear the server.
    void put(std::size_t i, Act act) {
        act.written_here = true;
        at(i).acts.push_back(act);
        act.written_here = false;
        send(i, act);
    }

    void send(std::size_t i, const Act &act) {
        for (const Link &link : links_)
            if (link.sender == i)
                news_.push_back({.due = seconds_ + 1, .receiver = link.receiver, .act = act});
    }

    struct Link {
        std::size_t receiver;
        std::size_t sender;
    };
    struct News {
        std::int64_t due;
        std::size_t receiver;
        Act act;
    };

    // What the trigger and replication do: an act that is there already is passed over, and what is
    // new goes on to those that hear this server.
    void hear(std::size_t i, const Act &act) {
        Server &server = at(i);
        if (std::any_of(server.acts.begin(), server.acts.end(),
                        [&](const Act &one) { return one.id == act.id; }))
            return;
        server.acts.push_back(act);
        if (rules_.passing)
            send(i, act);
    }

    static int lowest_free(const Server &server) {
        const auto view = see(server);
        for (int node = 1; node <= last_claimable_node; ++node)
            if (!view.is_taken(node, 0))
                return node;
        return 0;
    }

    void make_id(std::size_t i) {
        Server &server = at(i);
        if (server.is_down)
            return;
        const auto view = see(server);
        const auto verdict = view.judge(server.setting, clock_of(server));
        server.is_stopped = verdict.standing != Standing::valid;
        auto lack = view.lack(verdict, rules_.settings);
        if (!rules_.rivals)
            lack.rival = nullptr;
        const Act back = lack.removal != nullptr ? *lack.removal : Act{};
        if (rules_.twins || lack.setting || lack.rival != nullptr)
            say(i, verdict, lack);
        if (server.is_stopped)
            return;
        if (rules_.removals && back.holds())
            write(i, {.kind = Kind::remove,
                      .first = verdict.node,
                      .last = verdict.node,
                      .about = back.about,
                      .claimed_at = back.claimed_at,
                      .free_from = clock_of(at(i))});
        const Id id = default_layout.compose(
            {.tick = default_layout.tick_at(clock_of(server) + server.ahead * second),
             .node = verdict.node,
             .counter = 0});
        if (!makers_.emplace(id, i).second)
            ++made_twice_;
    }

    // What the background worker does.
    void say(std::size_t i, const Verdict<Act> &verdict, const Lack<Act> &lack) {
        if (!lack.has_own())
            return;
        Act act{.kind = Kind::setting,
                .first = verdict.node,
                .last = verdict.node,
                .about = see(at(i)).self(),
                .claimed_at = clock_of(at(i))};
        if (verdict.own != nullptr)
            act = *verdict.own;
        const Act *answered = lack.answer != nullptr ? lack.answer : lack.rival;
        act.answers = id_of(answered);
        write(i, act);
    }

    static ActId id_of(const Act *act) { return act == nullptr ? ActId{} : act->id; }

    Rules rules_;
    std::vector<Server> servers_;
    std::vector<Link> links_;
    std::deque<News> news_;
    std::map<Id, std::size_t> makers_;
    std::int64_t seconds_ = 0;
    std::int64_t made_twice_ = 0;
    std::uint64_t count_ = 0;
};

Random &random() {
    static Random random(environment_number("SNOWFLAKE_SEED", 20230101));
    return random;
}

Server new_server() {
    return {
        .identity = {.system_identifier = random().between(1, INT64_MAX), .database = 5, .copy = 0},
        .place = static_cast<std::uint64_t>(random().between(1, INT64_MAX))};
}

// Runs one story under some rules, several times over, and returns how many IDs were made twice.
template <typename Story>
std::int64_t made_twice(Rules rules, Story story) {
    std::int64_t sum = 0;
    for (int round = 0; round < 50; ++round) {
        World world(rules);
        story(world);
        sum += world.made_twice();
    }
    return sum;
}

void print(const char *story, std::int64_t without, std::int64_t with) {
    std::cout << "  " << story << ": " << without << " IDs made twice without the rule, " << with
              << " with it\n";
}

void join(World &world, std::size_t one, std::size_t other) {
    world.subscribe(one, other);
    world.subscribe(other, one);
}

// One server claims; the other is made by dump and restore, hears only of what is written later,
// and claims.
TEST(Mistakes, OfServersThatCannotSeeEachOther) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        world.claim(north);
        world.run(10);
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        // The publication lacks the registry, so that nothing is heard.
        world.claim(south);
        world.run(0);
        world.run(100);
    };
    const std::int64_t without = made_twice({.derived = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("blind servers", without, with);
    EXPECT_GT(without, 50);
    EXPECT_EQ(with, 0);
}

// 200 servers of which none hears of any other.
TEST(Mistakes, OfManyServersThatHearOfNobody) {
    const auto pairs = [](Rules rules) {
        World world(rules);
        for (int i = 0; i < 200; ++i)
            world.claim(world.add(new_server()));
        world.run(1);
        return 200 - world.ids();
    };
    const std::int64_t without = pairs({.derived = false});
    const std::int64_t with = pairs({});
    print("200 blind servers, a second", without, with);
    EXPECT_EQ(without, 199);
    EXPECT_LT(with, 40); // 18 are expected
}

// Two servers have the same setting.
TEST(Mistakes, OfEqualSettings) {
    const auto story = [](World &world) {
        Server server = new_server();
        server.setting = 1;
        const std::size_t north = world.add(server);
        world.run(10);
        server = new_server();
        server.setting = 1;
        const std::size_t south = world.add(server);
        join(world, north, south);
        world.run(110);
        EXPECT_FALSE(world.at(north).is_stopped);
    };
    const std::int64_t without = made_twice({.settings = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("equal settings", without, with);
    EXPECT_EQ(without, 50 * 110);
    EXPECT_LE(with, 50 * 4); // until the later one has heard of it
}

// A server joins others, hears nothing of what they have said before, and claims the number of one.
TEST(Mistakes, OfAServerThatJoinsLate) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.claim(north, 7);
        world.claim(south, 8);
        world.run(10);
        const std::size_t east = world.add(new_server());
        join(world, north, east);
        join(world, south, east);
        world.claim(east, 7);
        world.run(100);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_FALSE(world.at(south).is_stopped);
    };
    const std::int64_t without = made_twice({.rivals = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("servers that join late", without, with);
    EXPECT_EQ(without, 50 * 100);
    EXPECT_LE(with, 50 * 3); // until it has heard the answer
}

// Two servers that are joined to a third alone have the same number.
TEST(Mistakes, OfSpokesOfAHub) {
    const auto story = [](World &world) {
        const std::size_t hub = world.add(new_server());
        world.claim(hub, 3);
        std::size_t spokes[2];
        for (std::size_t &spoke : spokes) {
            spoke = world.add(new_server());
            join(world, hub, spoke);
            world.claim(spoke, 7);
            world.run(10);
        }
        world.run(100);
        EXPECT_FALSE(world.at(hub).is_stopped);
        EXPECT_FALSE(world.at(spokes[0]).is_stopped);
    };
    const std::int64_t without = made_twice({.passing = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("spokes of a hub", without, with);
    EXPECT_EQ(without, 50 * 110);
    EXPECT_LE(with, 50 * 4); // until the later one has heard of it by way of the hub
}

// A server that is numbered by the setting is never stopped by one that comes later.
TEST(Mistakes, OfAClaimToTheNumberOfASetting) {
    const auto story = [](World &world) {
        Server server = new_server();
        server.setting = 1;
        const std::size_t north = world.add(server);
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.run(10);
        EXPECT_FALSE(world.claim(south, 1));
        world.run(10);
        EXPECT_FALSE(world.at(north).is_stopped);
    };
    EXPECT_EQ(made_twice({}, story), 0);
}

std::size_t copy_of(World &world, std::size_t original) {
    Server copy = world.at(original);
    copy.place = static_cast<std::uint64_t>(random().between(1, INT64_MAX));
    return world.add(copy);
}

// A physical copy runs beside its original, and nobody says so.
TEST(Mistakes, OfASilentCopy) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        world.claim(north);
        world.run(10);
        const std::size_t copy = copy_of(world, north);
        join(world, north, copy);
        world.run(100);
        EXPECT_FALSE(world.at(north).is_stopped);
    };
    const std::int64_t without = made_twice({.twins = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("silent copies", without, with);
    EXPECT_EQ(without, 50 * 100);
    EXPECT_LE(with, 50 * 4); // until the copy has heard the answer
}

// The same where the original does not hear the copy, until it says its claim again.
TEST(Mistakes, OfASilentCopyThatIsNotHeard) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        world.claim(north);
        world.run(10);
        const std::size_t copy = copy_of(world, north);
        world.subscribe(copy, north);
        world.run(10);
        world.say_again(north);
        world.run(100);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_TRUE(world.at(copy).is_stopped);
    };
    EXPECT_LE(made_twice({}, story), 50 * 13);
}

// The copy is joined to a third server alone, which hears both.
TEST(Mistakes, OfASilentCopyThatOnlyAThirdHears) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.claim(north);
        world.run(10);
        world.claim(south);
        const std::size_t copy = copy_of(world, north);
        join(world, south, copy);
        world.run(100);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_FALSE(world.at(south).is_stopped);
    };
    const std::int64_t without = made_twice({.passing = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("silent copies that a third hears", without, with);
    EXPECT_EQ(without, 50 * 100);
    EXPECT_LE(with, 50 * 6); // until the copy has heard the answer, by way of the third
}

// The original has stopped its copy, and then goes on in another place.
TEST(Mistakes, OfAnOriginalThatMovesAfterItsCopyHasSpoken) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        world.claim(north);
        world.run(10);
        const std::size_t copy = copy_of(world, north);
        join(world, north, copy);
        world.run(20);
        world.at(north).place = 1;
        world.run(50);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_TRUE(world.at(copy).is_stopped);
    };
    EXPECT_LE(made_twice({}, story), 50 * 4);
}

// The copy is separated before it makes its first ID, and the original goes on.
TEST(Mistakes, AreNotMadeOfASeparatedCopy) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        world.claim(north);
        world.run(10);
        const std::size_t copy = copy_of(world, north);
        join(world, north, copy);
        world.separate(copy);
        world.run(50);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_FALSE(world.at(copy).is_stopped);
    };
    EXPECT_EQ(made_twice({}, story), 0);
}

// A standby is promoted, and its primary is gone: it goes on at once and stays.
TEST(Mistakes, AreNotSeenInAFailover) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.claim(north);
        world.run(5);
        world.claim(south);
        world.run(5);
        world.at(north).place = 1; // the server went on elsewhere
        world.run(20);
        world.say_again(south);
        world.run(20);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_FALSE(world.at(south).is_stopped);
    };
    EXPECT_EQ(made_twice({}, story), 0);
}

// A server is restored to an earlier time, and its number has been passed on since.
TEST(Mistakes, OfARestoreToAnEarlierTime) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.claim(north, 7);
        world.run(5);
        const std::vector<Act> backup = world.at(north).acts;
        world.release(north);
        world.claim(north, 8);
        world.run(100);
        EXPECT_TRUE(world.claim(south, 7));
        world.run(5);
        world.at(north).acts = backup;
        // As the checklist says: what the others know of is copied before the first ID.
        for (const Act &act : world.at(south).acts)
            if (std::none_of(backup.begin(), backup.end(),
                             [&](const Act &one) { return one.id == act.id; })) {
                world.at(north).acts.push_back(act);
                world.at(north).acts.back().written_here = false;
            }
        world.run(50);
        EXPECT_FALSE(world.at(north).is_stopped);
        EXPECT_FALSE(world.at(south).is_stopped);
    };
    EXPECT_EQ(made_twice({}, story), 0);
}

// A server is lost and removed, and its number passed on. It comes back, has heard of nothing, is
// joined anew, and says what it had. The server that has the number now goes on.
TEST(Mistakes, OfALostServerThatComesBack) {
    const auto story = [](World &world) {
        const std::size_t lost = world.add(new_server());
        world.claim(lost, 7);
        world.run(5);
        const std::size_t north = world.add(new_server());
        for (const Act &act : world.at(lost).acts) {
            world.at(north).acts.push_back(act);
            world.at(north).acts.back().written_here = false;
        }
        world.at(lost).is_down = true;
        world.run(5);
        world.remove(north, world.at(lost).identity);
        world.run(100);
        EXPECT_TRUE(world.claim(north, 7));
        world.run(20);
        world.at(lost).is_down = false;
        join(world, lost, north);
        world.say_again(lost);
        world.say_again(north);
        world.run(100);
        EXPECT_FALSE(world.at(north).is_stopped);
    };
    const std::int64_t without = made_twice({.removals = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("lost servers that come back", without, with);
    EXPECT_EQ(without, 50 * 100);
    EXPECT_LE(with, 50 * 4); // until it has heard of its removal
}

// The same with a backup of a server that gave its number up since, and that hears of nothing but
// what is said later.
TEST(Mistakes, OfARestoredServerThatHearsOfNothing) {
    const auto story = [](World &world) {
        const std::size_t north = world.add(new_server());
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.claim(north, 7);
        world.run(5);
        const std::vector<Act> backup = world.at(north).acts;
        world.release(north);
        world.claim(north, 8);
        world.run(100);
        EXPECT_TRUE(world.claim(south, 7));
        world.run(5);
        world.at(north).acts = backup;
        world.at(north).place = 1; // elsewhere, which it says with its first ID
        world.run(50);
        EXPECT_FALSE(world.at(south).is_stopped);
    };
    const std::int64_t without = made_twice({.removals = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("restored servers that hear of nothing", without, with);
    EXPECT_EQ(without, 50 * 50);
    EXPECT_LE(with, 50 * 4);
}

// A number is given up while the sequences are 11 seconds ahead of the clock, and claimed at once.
TEST(Mistakes, OfANumberThatIsPassedOnTooSoon) {
    const auto story = [](World &world) {
        Server server = new_server();
        server.ahead = 11;
        const std::size_t north = world.add(server);
        const std::size_t south = world.add(new_server());
        join(world, north, south);
        world.claim(north, 7);
        world.run(20);
        world.release(north);
        world.run(2);
        while (!world.claim(south, 7))
            world.run(1);
        world.run(100);
    };
    const std::int64_t without = made_twice({.kept_free = false}, story);
    const std::int64_t with = made_twice({}, story);
    print("numbers passed on too soon", without, with);
    EXPECT_GT(without, 50 * 5);
    EXPECT_EQ(with, 0);
}

// A server whose clock stands in the year 2000 claims the number of another, of which it has not
// heard.
TEST(Mistakes, OfAClockBeforeTheEpoch) {
    int stopped = 0;
    for (const bool epoch : {false, true}) {
        World world({.epoch = epoch});
        const std::size_t north = world.add(new_server());
        world.claim(north, 7);
        world.run(5);
        Server server = new_server();
        server.clock_is_off_by = -(24LL * 365 * 86'400 * second);
        const std::size_t past = world.add(server);
        world.subscribe(north, past);
        EXPECT_NE(world.claim(past, 7), epoch);
        world.run(5);
        stopped += world.at(north).is_stopped ? 1 : 0;
    }
    EXPECT_EQ(stopped, 0); // also where the claim was made: it is worse than all others
}

} // namespace
} // namespace unit::mistakes_simulation_test
