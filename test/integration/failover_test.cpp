// Two servers take turns. In each round the primary is killed while clients use it, and the standby
// is promoted; pg_rewind makes the killed server the standby of the next round.
#include "ids.hpp"
#include "load.hpp"
#include "server.hpp"

#include <iostream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace integration::failover_test {
namespace {

// An asynchronous standby may not know all IDs that its primary handed out. The clock then keeps
// the next ones above, unless a sequence was ahead of it. A synchronous standby knows all of them,
// committed or not, so only there sequences may be ahead of the clock.
struct Kind {
    std::string name;
    bool synchronous;
    std::vector<Task> tasks;

    friend std::ostream &operator<<(std::ostream &out, const Kind &kind) {
        return out << kind.name;
    }
};

Task committing(const std::string &sequence, Id stride = 1) {
    return {.sequence = sequence, .stride = stride};
}
Task never_committing(const std::string &sequence, Id stride = 1) {
    return {.sequence = sequence, .stride = stride, .preparation = {"BEGIN"}};
}

std::vector<Kind> kinds() {
    return {
        {"Asynchronous",
         false,
         {committing("in_time"), never_committing("in_time"), committing("cached"),
          never_committing("cached"), committing("snowflake.id_seq")}},
        {"Synchronous",
         true,
         {committing("in_time"), never_committing("in_time"), committing("ahead"),
          never_committing("ahead"), committing("wide", 4096), never_committing("wide", 4096),
          committing("cached_ahead"), never_committing("cached_ahead")}},
    };
}

// Makes a sequence; its name says of which kind.
void create(Session &session, const std::string &sequence) {
    if (sequence == "snowflake.id_seq")
        return;
    const bool cached = sequence.starts_with("cached");
    session.run("CREATE SEQUENCE IF NOT EXISTS " + sequence + (cached ? " CACHE 50" : "") +
                (sequence == "wide" ? " INCREMENT 4096" : ""));
    if (sequence.ends_with("ahead"))
        session.run(setval(sequence, hour_ahead()));
}

// Makes commits on the primary wait for the standby, or not, from the next statement on.
void wait_for_standby(const Server &primary, bool synchronous) {
    Session session(primary);
    wait_for(session, "EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')");
    session.run(std::string("ALTER SYSTEM SET synchronous_standby_names = '") +
                (synchronous ? "*" : "") + "'");
    session.run("SELECT pg_reload_conf()");
    wait_for(session, std::string("EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = '") +
                          (synchronous ? "sync" : "async") + "')");
    session.run("CHECKPOINT"); // sessions wait once the checkpointer has read the setting
}

// Waits until the clock is past all IDs. The promotion before has put the sequences ahead of it by
// up to a second.
void wait_for_the_clock(const Book &book, const std::vector<Task> &tasks) {
    for (const Task &task : tasks)
        while (unix_ms_now() <= unix_ms_of(book.above(task.sequence)))
            pause_between_looks();
}

class Failover : public testing::TestWithParam<Kind> {};

TEST_P(Failover, LosesNoId) {
    const Kind &kind = GetParam();
    Random random = make_random();
    Server first(1, {"autovacuum = off", "fsync = off", "wal_log_hints = on",
                     "wal_keep_size = 100MB", "wal_receiver_status_interval = 1s"});
    {
        Session session(first);
        session.run("CREATE EXTENSION snowflake");
        for (const Task &task : kind.tasks)
            create(session, task.sequence);
    }
    Server second = Server::standby_of(first);

    Book book;
    Server *primary = &first;
    Server *standby = &second;
    const int failovers = is_long_run() ? 10 : 5;
    for (int round = 0; round < failovers; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        wait_for_standby(*primary, kind.synchronous);
        if (!kind.synchronous)
            wait_for_the_clock(book, kind.tasks);
        const Load load(*primary, kind.tasks, random);
        load.wait_for_ids(between(random, 1, 1000));
        if (HasFailure())
            return;
        primary->kill_all();
        standby->promote();

        load.enter_in(book);
        Session session(*standby);
        // The promoted server has no standby yet that a commit could wait for.
        session.run("SET synchronous_commit = local");
        for (const Task &task : kind.tasks)
            book.enter(task.sequence, {session.number(nextval(task.sequence))}, task.stride);
        if (HasFailure())
            return;

        primary->rewind_to_follow(*standby);
        std::swap(primary, standby);
    }
    std::cout << failovers << " failovers, " << book.size() << " IDs\n";
}

INSTANTIATE_TEST_SUITE_P(Kinds, Failover, testing::ValuesIn(kinds()),
                         [](const auto &instance) { return instance.param.name; });

} // namespace
} // namespace integration::failover_test
