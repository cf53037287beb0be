# Compares the versions in META.json with the control file's, which is the one source: PGXN would
# otherwise offer the extension under a version that CREATE EXTENSION does not install.
#
#   cmake -D TOP=top-level-directory -P version_test.cmake
cmake_minimum_required(VERSION 3.20)
file(STRINGS "${TOP}/snowflake.control" line REGEX "^default_version *=")
if(NOT line MATCHES "^default_version *= *'([0-9]+\\.[0-9]+\\.[0-9]+)'$")
  message(FATAL_ERROR "snowflake.control has no version: ${line}")
endif()
set(version "${CMAKE_MATCH_1}")

file(READ "${TOP}/META.json" meta)
string(JSON of_distribution GET "${meta}" version)
string(JSON of_extension GET "${meta}" provides snowflake version)
foreach(other IN ITEMS "${of_distribution}" "${of_extension}")
  if(NOT other STREQUAL version)
    message(FATAL_ERROR "META.json says ${other}, snowflake.control says ${version}")
  endif()
endforeach()
