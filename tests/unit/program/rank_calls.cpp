#include "program/protocol/rank_calls.hpp"

#include <catch2/catch.hpp>

using namespace trainrt::program;
using Catch::Contains;
using Catch::Equals;
using Kind = RankCall::Kind;

namespace {

RankCall in_call(const std::string& place) { return {Kind::waiting, place, "step() at t.py:3"}; }
RankCall computing(const std::string& last_call) { return {Kind::computing, "", last_call}; }

std::string first_sentence(const std::string& text) { return text.substr(0, text.find(". ")); }

}  // namespace

TEST_CASE("ranks that left are named before the waiting ranks, each with its call") {
  const std::vector<RankCall> two = {in_call("report() at t.py:12"), {Kind::left, "the program", ""}};
  CHECK_THAT(first_sentence(mismatch_in_words(two)),
             Equals("rank 1 left the program while rank 0 waits in report() at t.py:12"));
  const std::vector<RankCall> many = {{Kind::left, "the train function", "report() at t.py:7"},
                                      in_call("report() at t.py:12"),
                                      in_call("report() at t.py:12"),
                                      {Kind::left, "the train function", "report() at t.py:7"},
                                      computing(""),
                                      in_call("barrier() at t.py:9")};
  CHECK_THAT(first_sentence(mismatch_in_words(many)),
             Equals("ranks 0,3 left the train function (last call: report() at t.py:7) while ranks 1-2 wait in report() at "
                    "t.py:12, rank 5 in barrier() at t.py:9"));
  const std::vector<RankCall> all = {{Kind::left, "the train function", ""}, {Kind::left, "the program", ""}};
  CHECK_THAT(first_sentence(mismatch_in_words(all)), Equals("rank 0 left the train function, rank 1 left the program"));
}

TEST_CASE("ranks in different calls are listed by call") {
  const std::vector<RankCall> ranks = {in_call("all_reduce() at t.py:5"), in_call("all_reduce() at t.py:5"),
                                       in_call("barrier() at t.py:7")};
  CHECK_THAT(
      first_sentence(mismatch_in_words(ranks)),
      Equals(
          "the ranks do not make the same call: ranks 0-1 are in all_reduce() at t.py:5, rank 2 in barrier() at t.py:7"));
}

TEST_CASE("missing ranks are named with their last calls, and the text stays short for thousands of calls") {
  std::vector<RankCall> ranks = {in_call("report() at t.py:12"), computing("report() at t.py:7"), computing("")};
  CHECK_THAT(missing_in_words(ranks), Equals("rank 1 (last call: report() at t.py:7), rank 2"));
  for (int line = 0; line < 4000; ++line) ranks.push_back(in_call("step() at t.py:" + std::to_string(line)));
  CHECK_THAT(mismatch_in_words(ranks), Contains("and 3993 more"));
  CHECK(mismatch_in_words(ranks).size() < 1000);
}
