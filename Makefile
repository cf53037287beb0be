# Builds and installs the extension with PGXS:
#   make && make install            for the PostgreSQL whose pg_config is first in PATH
#   make PG_CONFIG=/path/to/pg_config && make install PG_CONFIG=/path/to/pg_config
# scripts/test runs all tests; make installcheck runs those of a server that is up.

EXTENSION   = snowflake
MODULE_big  = snowflake
# snowflake.control is the one source of the version; a unit test compares META.json with it.
EXTVERSION  = $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" $(EXTENSION).control)

# Each folder of src/ is compiled as one file, because most of the time goes into the server's headers. So a private name must be
# the only one in its folder.
FOLDERS     = $(sort $(patsubst src/%/,%,$(dir $(wildcard src/*/*.cpp))))
OBJS        = src/module.o $(FOLDERS:%=build/objects/%.o)
SCRIPT      = $(EXTENSION)--$(EXTVERSION).sql
# The parts that make the objects, in the order in which they need each other: parts FOLDER,FILES
parts       = $(patsubst %,src/sql/$(1)/%.sql,$(2))
conversion_parts = $(call parts,conversion/$(1),$(2))
OBJECT_PARTS = $(call parts,layout,layout numbers) $(call parts,sequence,generate) \
               $(call parts,watermark,watermark) $(call parts,layout,decode time ranges id) $(call parts,nodes,nodes) \
               $(call parts,sequence,sequence_uses minimum redirect id_seq_layout sequences) \
               $(call conversion_parts,model,expressions refusals access names references wishes) $(call conversion_parts,find,columns) \
               $(call conversion_parts,model,rights inserters partitions) $(call conversion_parts,find,dependents trust grants) \
               $(call conversion_parts,model,annotations) $(sort $(wildcard src/sql/conversion/kinds/*.sql)) \
               src/sql/conversion/kinds.sql src/sql/conversion/walk.sql $(call conversion_parts,find,trials) \
               $(call conversion_parts,plan,obstacles layout widening defaults increments guard identity strangers) \
               $(call conversion_parts,plan,steps hints writers back) \
               src/sql/partitions/table.sql $(call conversion_parts,run,state locks run all) \
               $(call conversion_parts,online,shadows drop twins partitions views fill obstacles subscribers swap cancel stages progress plan) \
               $(call conversion_parts,plan,plan) $(call parts,partitions,dependents obstacles exchange back stages plan) \
               $(call conversion_parts,run,set_layout widen new_columns) \
               $(call parts,check,finding keys sources ranges installation check) src/sql/settings.sql src/sql/rights.sql
SCRIPT_PARTS = src/sql/schema.sql src/sql/lock.sql $(OBJECT_PARTS) src/sql/installed.sql

# Each earlier version has an update script to this one. Those of pgEdge's extension of the same name make the same
# objects from the same parts, between what has to be done before and after; version 1.0 is refused.
PGEDGE_UPDATES = $(patsubst %,$(EXTENSION)--%--$(EXTVERSION).sql,1.1 1.2 2.0 2.2 2.3 2.4 2.5.0 2.6.0)
PGEDGE_PARTS = src/sql/schema.sql src/sql/upgrade/from_pgedge_begin.sql src/sql/lock.sql src/sql/upgrade/from_pgedge.sql \
               $(OBJECT_PARTS) src/sql/upgrade/from_pgedge_end.sql src/sql/installed.sql
REFUSED_UPDATE = $(EXTENSION)--1.0--$(EXTVERSION).sql
DATA_built  = $(SCRIPT) $(PGEDGE_UPDATES) $(REFUSED_UPDATE)
# For applications that make IDs themselves: the headers that know no server.
HEADERS_$(MODULE_big) = $(addprefix src/pure/,layout.hpp layout_presets.hpp generator.hpp)

REGRESS     = $(sort $(patsubst sql/%.sql,%,$(wildcard sql/*.sql)))
REGRESS_OPTS = --load-extension=$(EXTENSION)
ISOLATION   = $(sort $(patsubst specs/%.spec,%,$(wildcard specs/*.spec)))
ISOLATION_OPTS = $(REGRESS_OPTS)
EXTRA_CLEAN = $(DATA_built) build/objects

# No exceptions, no RTTI and no guards around static variables: nothing of the C++ runtime is
# needed where the server's errors are longjmps. Nothing is visible but what the server calls.
CXX_DIALECT = -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-semantic-interposition
PG_CXXFLAGS = $(CXX_DIALECT) -fvisibility=hidden -fvisibility-inlines-hidden -Isrc -Wall -Wextra -DSNOWFLAKE_VERSION='"$(EXTVERSION)"'

PG_CONFIG  ?= pg_config
PGXS       := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# What PGXS gives clang to make LLVM bitcode does not include PG_CXXFLAGS.
override BITCODE_CXXFLAGS += $(PG_CXXFLAGS)

# Headers are few and small: every object depends on all of them.
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*/*.hpp) $(EXTENSION).control Makefile

# The directory is newer than its files when one of them was added or removed.
.SECONDEXPANSION:
$(FOLDERS:%=build/objects/%.cpp): build/objects/%.cpp: src/$$* $$(wildcard src/$$*/*.cpp)
	@mkdir -p $(@D)
	printf '#include "%s"\n' $(patsubst src/%,%,$(filter %.cpp,$^)) > $@

# Joins parts of a script, behind a line that psql shows to those who run the script by hand: write_script COMMAND,PARTS
write_script = { printf '%s\n' '\echo Use "$(1)" to load this file. \quit'; cat $(2); } > $@

$(SCRIPT): $(SCRIPT_PARTS) $(EXTENSION).control Makefile
	$(call write_script,CREATE EXTENSION snowflake,$(SCRIPT_PARTS))

$(PGEDGE_UPDATES): $(PGEDGE_PARTS) $(EXTENSION).control Makefile
	$(call write_script,ALTER EXTENSION snowflake UPDATE,$(PGEDGE_PARTS))

$(REFUSED_UPDATE): src/sql/upgrade/from_pgedge_1.0.sql $(EXTENSION).control Makefile
	$(call write_script,ALTER EXTENSION snowflake UPDATE,$<)

# Makes the archive of a commit that PGXN takes: build/snowflake-VERSION.zip
COMMIT      = HEAD
DIST        = $(EXTENSION)-$(EXTVERSION)
.PHONY: dist
dist:
	@test "$$(grep -c '"version": "$(EXTVERSION)"' META.json)" = 2 || \
	    { echo "META.json is not of version $(EXTVERSION), which snowflake.control says" >&2; exit 1; }
	mkdir -p build
	git archive --format=zip --prefix=$(DIST)/ -o build/$(DIST).zip $(COMMIT)
