#include "core/spreadsheet.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("only a cell that a spreadsheet would execute gets an apostrophe") {
  for (const std::string formula :
       {"=1+1", "=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "-", "--1"})
    CHECK(guarded_cell(formula) == "'" + formula);
  for (const std::string text : {"", "a", "1", "-1", "-1.5e-7", "-inf", "a=1", "'", "'a", "it's", " =1"})
    CHECK(guarded_cell(text) == text);
}

TEST_CASE("unguarded_cell returns the original text") {
  for (const std::string text : {"", "a", "=1", "'=1", "''=1", "-1", "'-1", "''-1", "'a", "+", "'", "''", "@'"}) {
    INFO(text);
    CHECK(unguarded_cell(guarded_cell(text)) == text);
  }
}
