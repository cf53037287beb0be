#include "announcer.hpp"

#include "registry.hpp"
#include "server/clock.hpp"

namespace snowflake::announcer {

namespace {

// What the background worker is started with, besides the number of the setting.
struct Task {
    Oid database;
    TransactionId after;
    bool repeats; // instead of saying what lacks
};
static_assert(sizeof(Task) <= BGW_EXTRALEN);

// Tells an instance that has lost its number, and is back without knowing it.
void say_removal(const registry::Registry &registry, registry::Acts all, const Lack &lack,
                 std::int32_t node, std::int64_t now_us) {
    const auto is_meant = [&lack](const registry::StoredAct &act) {
        return act.id == lack.removal;
    };
    if (const auto back = std::find_if(all.begin(), all.end(), is_meant); back != all.end())
        registry::give_up(registry, Kind::remove, *back, node, node, now_us, now_us);
}

// Whether an act decides whose a number is, or keeps it free.
bool is_in_force(const registry::Registry &registry, const registry::StoredAct &act,
                 std::int64_t now_us) {
    return registry.stands(act, act.first) || (act.ends() && act.free_from > now_us &&
                                               registry.standing(act.about, act.first) == &act);
}

void start_worker(int setting, const Task &task) {
    if (RecoveryInProgress() || !IsUnderPostmaster)
        return;
    BackgroundWorker worker{};
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    strlcpy(worker.bgw_library_name, "$libdir/snowflake", sizeof worker.bgw_library_name);
    strlcpy(worker.bgw_function_name, "snowflake_announcer_main", sizeof worker.bgw_function_name);
    snprintf(worker.bgw_name, sizeof worker.bgw_name, "snowflake announcer");
    strlcpy(worker.bgw_type, "snowflake announcer", sizeof worker.bgw_type);
    worker.bgw_main_arg = Int32GetDatum(setting);
    memcpy(worker.bgw_extra, &task, sizeof task);
    if (!RegisterDynamicBackgroundWorker(&worker, nullptr))
        ereport(WARNING, errmsg("other instances cannot be told of the snowflake node of this one"),
                errdetail("No background worker is free to tell them."),
                errhint("Raise max_worker_processes, or run: SELECT snowflake.claim_node();"));
}

} // namespace

void start(int setting, TransactionId after) {
    start_worker(setting, {.database = MyDatabaseId, .after = after, .repeats = false});
}

void start_repeating() {
    start_worker(0, {.database = MyDatabaseId, .after = InvalidTransactionId, .repeats = true});
}

void repeat() {
    const std::int64_t now_us = clock_us();
    const registry::Acts all = registry::read();
    const registry::Registry registry = registry::of(all);
    for (const registry::StoredAct &act : all)
        if (is_in_force(registry, act, now_us))
            registry::write(act);
}

void ask() {
    registry::StoredAct act = registry::begin_act(registry::of({}), {}, clock_us());
    act.kind = Kind::ask;
    registry::write(act);
}

bool say_what_lacks(int setting) {
    const std::int64_t now_us = clock_us();
    const registry::Acts all = registry::read();
    const registry::Registry registry = registry::of(all);
    const auto verdict = registry.judge(setting, now_us);
    const Lack lack = registry.lack(verdict, setting != 0);
    if (!lack.any())
        return false;
    if (lack.removal != ActId{})
        say_removal(registry, all, lack, verdict.node, now_us);
    if (!lack.setting && !lack.place && lack.answer == ActId{} && lack.rival == ActId{})
        return true;
    const Instance &self = registry.self();
    registry::StoredAct act = verdict.own != nullptr
                                  ? registry::repeat(registry, self, *verdict.own, now_us)
                                  : registry::begin_act(registry, self, now_us);
    if (lack.setting) {
        act.kind = Kind::setting;
        act.first = act.last = setting;
        registry::date_claim(act, registry, now_us);
    }
    act.answers = lack.answer != ActId{} ? lack.answer : lack.rival;
    registry::write_again(act, lack.place);
    return true;
}

} // namespace snowflake::announcer

extern "C" {

// The main function of the background worker.
PGDLLEXPORT void snowflake_announcer_main(Datum setting);
void snowflake_announcer_main(Datum setting) {
    using namespace snowflake;
    announcer::Task task{};
    memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof task);
    BackgroundWorkerUnblockSignals();
    BackgroundWorkerInitializeConnectionByOid(task.database, InvalidOid, 0);
    StartTransactionCommand();
    if (TransactionIdIsValid(task.after))
        XactLockTableWait(task.after, nullptr, nullptr, XLTW_None);
    XactReadOnly = false;
    PushActiveSnapshot(GetTransactionSnapshot());
    // Somebody who claims a number at this moment will leave nothing unsaid, or the next session
    // asks again.
    if (task.repeats) {
        registry::lock();
        announcer::repeat();
    } else if (registry::lock_without_waiting()) {
        (void)announcer::say_what_lacks(DatumGetInt32(setting));
    }
    PopActiveSnapshot();
    CommitTransactionCommand();
}

} // extern "C"
