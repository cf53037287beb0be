// Servers that are made of others: from a base backup with archived WAL, all of it or up to a point
// in time; as a copy that runs beside the original; and by pg_upgrade.
#include "load.hpp"
#include "server.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace integration::restore_test {
namespace {

const std::array<Sequence, 5> sequences{{
    {"in_time", "CREATE SEQUENCE in_time", 1, false},
    {"cached", "CREATE SEQUENCE cached CACHE 50", 1, false},
    {"ahead", "CREATE SEQUENCE ahead", 1, true},
    {"cached_ahead", "CREATE SEQUENCE cached_ahead CACHE 50", 1, true},
    {"wide", "CREATE SEQUENCE wide INCREMENT 4096", 4096, true},
}};

// Makes some IDs of each sequence.
void make_ids(Session &session, Book &book) {
    constexpr int some = 1500;
    for (const Sequence &sequence : sequences)
        book.enter(sequence.name, session.numbers(nextval(sequence.name, some)), sequence.stride);
}

// Checks that the next ID of each sequence is above all in the book. Without ahead_too it checks
// only those sequences whose IDs the clock keeps above.
void expect_to_go_on(const Server &server, Book &book, bool ahead_too) {
    Session session(server);
    for (const Sequence &sequence : sequences) {
        const Id next = session.number(nextval(sequence.name));
        if (ahead_too || !sequence.ahead)
            book.enter(sequence.name, {next}, sequence.stride);
    }
}

// A server that archives its WAL, and a base backup of it; IDs were made before and after.
class Restore : public testing::Test {
  protected:
    void SetUp() override {
        const std::string archive = directory_.path() / "archive";
        std::filesystem::create_directory(archive);
        original_.emplace(
            1, std::vector<std::string>{"autovacuum = off", "fsync = off", "archive_mode = on",
                                        "archive_command = 'cp %p " + archive + "/%f'"});
        restore_command_ = "restore_command = 'cp " + archive + "/%f %p'";
        create_sequences(*original_, sequences);
        Session session(*original_);
        make_ids(session, book_);
        original_->run_successfully("pg_basebackup", {"-d", original_->conninfo(), "-D", backup(),
                                                      "--checkpoint=fast", "--no-sync"});
        make_ids(session, book_);
    }

    // Archives all WAL so far, and kills the server.
    void lose_the_original() {
        Session session(*original_);
        const std::string last = session.text("SELECT pg_walfile_name(pg_current_wal_lsn())");
        session.run("SELECT pg_create_restore_point('end')");
        session.run("SELECT pg_switch_wal()");
        wait_for(session,
                 "coalesce(last_archived_wal >= '" + last + "', false) FROM pg_stat_archiver");
        original_->kill_all();
    }

    Server &original() { return *original_; }
    Book &book() { return book_; }
    [[nodiscard]] std::filesystem::path backup() const { return directory_.path() / "backup"; }
    [[nodiscard]] const std::string &restore_command() const { return restore_command_; }

  private:
    TemporaryDirectory directory_;
    std::optional<Server> original_;
    std::string restore_command_;
    Book book_;
};

TEST_F(Restore, GoesOnAboveAllThatIsInTheArchive) {
    Session session(original());
    make_ids(session, book());
    lose_the_original();
    const Server restored = Server::restored_from(backup(), original(), {restore_command()});
    Session waiting(restored);
    wait_for(waiting, "NOT pg_is_in_recovery()");
    expect_to_go_on(restored, book(), true);
}

// The sequences forget what came after the point in time. The clock keeps their IDs above it all
// the same, unless a sequence was ahead of the clock: that one goes on above what came before the
// point.
TEST_F(Restore, GoesOnAboveAPointInTime) {
    Session session(original());
    session.run("SELECT pg_create_restore_point('before_the_mistake')");
    Book before = book();
    make_ids(session, book());
    lose_the_original();

    const Server restored =
        Server::restored_from(backup(), original(),
                              {restore_command(), "recovery_target_name = 'before_the_mistake'",
                               "recovery_target_action = 'promote'"});
    Session waiting(restored);
    wait_for(waiting, "NOT pg_is_in_recovery()");
    Book after = book();
    expect_to_go_on(restored, before, true);
    expect_to_go_on(restored, after, false);
}

// The old server is the PostgreSQL that the variable SNOWFLAKE_OLD_PG_CONFIG names. Without it, the
// upgrade is from the same version, and goes through the same steps.
TEST(Upgrade, GoesOnAbove) {
    const std::vector<std::string> settings{"autovacuum = off", "fsync = off"};
    const char *old = std::getenv("SNOWFLAKE_OLD_PG_CONFIG");
    Server before = old == nullptr ? Server(1, settings) : Server::of_version(old, 1, settings);
    create_sequences(before, sequences);
    Book book;
    {
        Session session(before);
        make_ids(session, book);
    }
    Session(before).run("SELECT snowflake.claim_node()");
    before.stop();
    Server after(1, settings);
    after.upgrade_from(before);
    Session(after).run("SELECT snowflake.take_over_node(true)");
    expect_to_go_on(after, book, true);
}

TEST(Copy, LivesBesideTheOriginalUnderItsOwnNode) {
    const Server original(1, {"autovacuum = off", "fsync = off"});
    create_sequences(original, sequences);
    Session first(original);
    Book book;
    make_ids(first, book);

    const Server copy = Server::copy_of(original, {"snowflake.node = 2"});
    Random random = make_random();
    std::vector<Task> tasks;
    tasks.reserve(sequences.size());
    for (const Sequence &sequence : sequences)
        tasks.push_back({.sequence = sequence.name, .stride = sequence.stride});
    constexpr int some = 500;
    const Load here(original, tasks, random);
    const Load there(copy, tasks, random);
    here.wait_for_ids(some);
    there.wait_for_ids(some);
    here.stop();
    there.stop();

    // Both servers go on above the IDs from before the copy, and have no ID in common.
    Book of_the_copy = book;
    here.enter_in(book);
    there.enter_in(of_the_copy);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        std::vector<Id> all = here.clients().at(i)->ids();
        const std::vector<Id> &others = there.clients().at(i)->ids();
        all.insert(all.end(), others.begin(), others.end());
        EXPECT_TRUE(disjoint(all, sequences.at(i).stride)) << "of " << sequences.at(i).name;
    }
}

} // namespace
} // namespace integration::restore_test
