# Builds and installs the extension with PGXS:
#   make && make install            for the PostgreSQL whose pg_config is first in PATH
#   make PG_CONFIG=/path/to/pg_config && make install PG_CONFIG=/path/to/pg_config
# scripts/test runs all tests; make installcheck runs those of a server that is up.

EXTENSION   = snowflake
MODULE_big  = snowflake
# snowflake.control is the one source of the version; a unit test compares META.json with it.
EXTVERSION  = $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" $(EXTENSION).control)

OBJS        = $(patsubst %.cpp,%.o,$(sort $(wildcard src/*.cpp)))
SCRIPT      = $(EXTENSION)--$(EXTVERSION).sql
SCRIPT_PARTS = $(addprefix src/sql/,schema.sql layout.sql numbers.sql generate.sql watermark.sql decode.sql time.sql ranges.sql id.sql nodes.sql) \
               $(addprefix src/sql/convert/,expressions.sql) src/sql/compat.sql src/sql/sequences.sql \
               $(addprefix src/sql/convert/,access.sql references.sql columns.sql rights.sql dependents.sql makers.sql \
                annotations.sql) $(sort $(wildcard src/sql/convert/kinds/*.sql)) \
               $(addprefix src/sql/convert/,kinds.sql trials.sql obstacles.sql widening.sql defaults.sql increments.sql guard.sql \
                identity.sql strangers.sql steps.sql hints.sql back.sql state.sql locks.sql run.sql all.sql) \
               $(addprefix src/sql/convert/online/,shadows.sql drop.sql twins.sql fill.sql obstacles.sql swap.sql cancel.sql stages.sql plan.sql) \
               $(addprefix src/sql/convert/,plan.sql settings.sql new_columns.sql) src/sql/check.sql
DATA_built  = $(SCRIPT)
# For applications that make IDs themselves: the headers that know no server.
HEADERS_$(MODULE_big) = $(addprefix src/,layout.hpp layout_presets.hpp generator.hpp)

REGRESS     = $(sort $(patsubst sql/%.sql,%,$(wildcard sql/*.sql)))
REGRESS_OPTS = --load-extension=$(EXTENSION)
ISOLATION   = $(sort $(patsubst specs/%.spec,%,$(wildcard specs/*.spec)))
ISOLATION_OPTS = $(REGRESS_OPTS)
EXTRA_CLEAN = $(SCRIPT)

# No exceptions, no RTTI and no guards around static variables: nothing of the C++ runtime is
# needed where the server's errors are longjmps. Nothing is visible but what the server calls.
CXX_DIALECT = -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-semantic-interposition
PG_CXXFLAGS = $(CXX_DIALECT) -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Wextra -DSNOWFLAKE_VERSION='"$(EXTVERSION)"'

PG_CONFIG  ?= pg_config
PGXS       := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# What PGXS gives clang to make LLVM bitcode does not include PG_CXXFLAGS.
override BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

# Headers are few and small: every object depends on all of them.
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*.hpp) $(EXTENSION).control Makefile

$(SCRIPT): $(SCRIPT_PARTS) $(EXTENSION).control
	cat $(SCRIPT_PARTS) > $@
