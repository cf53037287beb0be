#include "announcer.hpp"

#include "registry.hpp"
#include "server/clock.hpp"
#include "settings.hpp"

namespace snowflake::announcer {

namespace {

// The arguments of the background worker, besides the number of the setting.
struct Order {
    Oid database;
    TransactionId after;
    Task task;
};
static_assert(sizeof(Order) <= BGW_EXTRALEN);

// The transactions in which a worker was last started for each task.
LocalTransactionId started_in[] = {InvalidLocalTransactionId, InvalidLocalTransactionId};

// Whether an act decides whose a number is, or keeps it free.
bool is_in_force(const registry::Registry &registry, const registry::StoredAct &act,
                 std::int64_t now_us) {
    return registry.stands(act, act.first) || (act.ends() && act.free_from > now_us &&
                                               registry.standing(act.about, act.first) == &act);
}

} // namespace

void start(Task task, TransactionId after) {
    LocalTransactionId &before = started_in[static_cast<int>(task)];
    if (RecoveryInProgress() || !IsUnderPostmaster || before == server::current_transaction())
        return;
    before = server::current_transaction();
    const Order order{.database = MyDatabaseId, .after = after, .task = task};
    BackgroundWorker worker{};
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    strlcpy(worker.bgw_library_name, "$libdir/snowflake", sizeof worker.bgw_library_name);
    strlcpy(worker.bgw_function_name, "snowflake_announcer_main", sizeof worker.bgw_function_name);
    snprintf(worker.bgw_name, sizeof worker.bgw_name, "snowflake announcer");
    strlcpy(worker.bgw_type, "snowflake announcer", sizeof worker.bgw_type);
    worker.bgw_main_arg = Int32GetDatum(settings::node_for_registry());
    memcpy(worker.bgw_extra, &order, sizeof order);
    if (!RegisterDynamicBackgroundWorker(&worker, nullptr))
        ereport(WARNING, errmsg("other instances cannot be told of the snowflake node of this one"),
                errdetail("No background worker is free to tell them."),
                errhint("Raise max_worker_processes, or run: SELECT snowflake.claim_node();"));
}

void repeat() {
    const std::int64_t now_us = clock_us();
    const registry::Registry registry = registry::of(registry::read());
    for (const registry::StoredAct &act : registry.acts())
        if (is_in_force(registry, act, now_us)) {
            registry::take_away(act.id); // one row is enough
            registry::write(act);
        }
}

void ask() {
    registry::StoredAct act = registry::begin_act(registry::of({}), {}, clock_us());
    act.kind = Kind::ask;
    registry::write(act);
    registry::take_away(act.id); // it is for others, and sent with the commit all the same
}

bool say_what_lacks(int setting) {
    const std::int64_t now_us = clock_us();
    const registry::Registry registry = registry::of(registry::read());
    const auto verdict = registry.judge(setting, now_us);
    const auto lack = registry.lack(verdict, setting != 0);
    if (lack.removal != nullptr) // its writer is back, and has to be told
        registry::give_up(registry, Kind::remove, *lack.removal, verdict.node, verdict.node, now_us,
                          now_us);
    if (!lack.has_own())
        return lack.any();
    const Instance &self = registry.self();
    registry::StoredAct act = verdict.own != nullptr
                                  ? registry::repeat(registry, self, *verdict.own, now_us)
                                  : registry::begin_act(registry, self, now_us);
    if (lack.setting) {
        act.kind = Kind::setting;
        act.first = act.last = setting;
        registry::date_claim(act, registry, now_us);
    }
    if (const auto *answered = lack.answer != nullptr ? lack.answer : lack.rival)
        act.answers = answered->id;
    registry::write_again(act, lack.place);
    return true;
}

} // namespace snowflake::announcer

extern "C" {

// The main function of the background worker.
PGDLLEXPORT void snowflake_announcer_main(Datum setting);
void snowflake_announcer_main(Datum setting) {
    using namespace snowflake;
    announcer::Order order{};
    memcpy(&order, MyBgworkerEntry->bgw_extra, sizeof order);
    BackgroundWorkerUnblockSignals();
    BackgroundWorkerInitializeConnectionByOid(order.database, InvalidOid, 0);
    StartTransactionCommand();
    // The server gives a worker the settings of its database, too: it acts as nobody else, waits,
    // and calls no function of others.
    SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, 0);
    SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
#if PG_VERSION_NUM >= 170000
    SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
#endif
    SetConfigOption("search_path", "pg_catalog, pg_temp", PGC_SUSET, PGC_S_OVERRIDE);
    if (TransactionIdIsValid(order.after))
        XactLockTableWait(order.after, nullptr, nullptr, XLTW_None);
    XactReadOnly = false;
    PushActiveSnapshot(GetTransactionSnapshot());
    if (registry::lock_unless_one_waits(static_cast<std::uint16_t>(order.task))) {
        if (order.task == announcer::Task::repeat)
            announcer::repeat();
        else
            (void)announcer::say_what_lacks(DatumGetInt32(setting));
    }
    PopActiveSnapshot();
    CommitTransactionCommand();
}

} // extern "C"
