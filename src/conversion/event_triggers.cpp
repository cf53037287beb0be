#include "event_triggers.hpp"

namespace snowflake::event_triggers {

// A call of an event trigger's function.
struct Call {
    const FmgrInfo *function;
    int settings_level; // 0: that of the server
    Call *outer;
};

namespace {

Watch watch{};
std::int64_t failure_count = 0;

needs_fmgr_hook_type next_needs_hook = nullptr;
fmgr_hook_type next_hook = nullptr;

bool needs_hook(Oid function) {
    if (next_needs_hook != nullptr && next_needs_hook(function))
        return true;
    return unlikely(watch.search_path != nullptr) && get_func_rettype(function) == EVENT_TRIGGEROID;
}

// The SET clauses of a function.
struct Settings {
    bool any; // the server has begun a nested level of settings for them, and ends it first
    bool search_path;
};

Settings settings_of(Oid function) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return {};
    bool is_null = true;
    const Datum settings = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proconfig, &is_null);
    Settings found{.any = !is_null, .search_path = false};
    if (!is_null) {
        Datum *items = nullptr;
        int count = 0;
        deconstruct_array(DatumGetArrayTypeP(settings), TEXTOID, -1, false, TYPALIGN_INT, &items,
                          nullptr, &count);
        constexpr char name[] = "search_path=";
        for (int i = 0; i < count && !found.search_path; ++i)
            found.search_path =
                pg_strncasecmp(TextDatumGetCString(items[i]), name, sizeof name - 1) == 0;
    }
    ReleaseSysCache(tuple);
    return found;
}

// An expression can call a function that returns event_trigger, too. The server calls that of an
// event trigger without an expression.
void started(FmgrInfo *function) {
    if (watch.search_path == nullptr || function->fn_expr != nullptr ||
        get_func_rettype(function->fn_oid) != EVENT_TRIGGEROID)
        return;
    auto *call = static_cast<Call *>(MemoryContextAlloc(function->fn_mcxt, sizeof(Call)));
    const Settings settings = settings_of(function->fn_oid);
    *call = {.function = function,
             .settings_level = settings.any ? 0 : NewGUCNestLevel(),
             .outer = watch.innermost};
    watch.innermost = call;
    if (!settings.search_path)
        server::set_search_path(watch.search_path);
}

void ended(const FmgrInfo *function, bool by_error) {
    Call *call = watch.innermost;
    if (call == nullptr || call->function != function)
        return;
    watch.innermost = call->outer;
    if (by_error)
        ++failure_count; // The end of the subtransaction takes the settings back.
    else if (call->settings_level != 0)
        AtEOXact_GUC(true, call->settings_level);
}

void function_called(FmgrHookEventType event, FmgrInfo *function, Datum *argument) {
    if (event == FHET_START)
        started(function);
    if (next_hook != nullptr)
        next_hook(event, function, argument);
    if (event != FHET_START)
        ended(function, event == FHET_ABORT);
}

} // namespace

Watch begin(const char *search_path) {
    const Watch before = watch;
    watch = {.search_path = search_path, .innermost = nullptr};
    return before;
}

void end(const Watch &before) {
    watch = before;
}

bool is_running() {
    return watch.innermost != nullptr;
}

std::int64_t failures() {
    return failure_count;
}

void init() {
    next_needs_hook = needs_fmgr_hook;
    needs_fmgr_hook = needs_hook;
    next_hook = fmgr_hook;
    fmgr_hook = function_called;
}

} // namespace snowflake::event_triggers
