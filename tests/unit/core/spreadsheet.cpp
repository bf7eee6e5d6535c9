#include "core/spreadsheet.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("a cell that a spreadsheet would run gets an apostrophe, and no other does") {
  for (const std::string formula :
       {"=1+1", "=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "-", "--1"})
    CHECK(guarded_cell(formula) == "'" + formula);
  for (const std::string text : {"", "a", "1", "-1", "-1.5e-7", "-inf", "a=1", "'", "'a", "it's", " =1"})
    CHECK(guarded_cell(text) == text);
}

TEST_CASE("what was guarded comes back as it was") {
  for (const std::string text : {"", "a", "=1", "'=1", "''=1", "-1", "'-1", "''-1", "'a", "+", "'", "''", "@'"}) {
    INFO(text);
    CHECK(unguarded_cell(guarded_cell(text)) == text);
  }
}
