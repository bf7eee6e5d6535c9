#include "rundir/records/bit_facts.hpp"

#include <catch2/catch.hpp>

#include "rundir/records/attempt_record.hpp"

using namespace trainrt::rundir;

TEST_CASE("texts of ranks are found by rank, and equal ones of consecutive ranks are stored once") {
  const RankTexts texts({"a", "a", "b"});
  CHECK(texts.to_json().dump() == R"([[2,"a"],[1,"b"]])");
  CHECK((texts.of(0) == "a" && texts.of(1) == "a" && texts.of(2) == "b" && texts.of(3).empty()));
  CHECK(RankTexts::from_json(texts.to_json()) == texts);
}

TEST_CASE("the first rank with another text is found") {
  const RankTexts texts({"a", "a", "b"});
  CHECK(texts.first_difference(texts) == -1);
  CHECK(texts.first_difference(RankTexts({"a", "b", "b"})) == 1);
  CHECK(texts.first_difference(RankTexts({"a", "a"})) == 2);
  CHECK(texts.first_difference(RankTexts({"a", "a", "b", "b"})) == 3);
  CHECK(RankTexts().first_difference(texts) == 0);
}

TEST_CASE("facts that one of two attempts does not know are no difference") {
  const BitFacts known{.threads = RankTexts({"1"}), .cpus = RankTexts({"x"}), .versions = {{"C library", "2.36"}}};
  CHECK(differences(BitFacts{}, known).empty());
  CHECK(differences(known, BitFacts{}).empty());
  auto newer = known;
  newer.versions["C library"] = "2.39";
  CHECK(differences(known, newer) == std::vector<std::string>{"the version of the C library was 2.36 and is 2.39"});
}

TEST_CASE("another GPU, variable or build of a library is a difference with both values") {
  BitFacts before{.gpus = RankTexts({"A100", "A100"}),
                  .variables = std::map<std::string, RankTexts>{},
                  .libraries = {{"OpenBLAS", RankTexts({"libopenblas.so (build 1)", "libopenblas.so (build 1)"})},
                                {"NCCL", RankTexts({"libnccl.so.2.18.3", "libnccl.so.2.18.3"})}}};
  auto now = before;
  CHECK(differences(before, now).empty());
  now.gpus = RankTexts({"A100", "H100"});
  now.variables->emplace("OPENBLAS_CORETYPE", RankTexts({"", "Haswell"}));
  now.libraries.erase("NCCL");  // loaded later, perhaps
  now.libraries["OpenBLAS"] = RankTexts({"libopenblas.so (build 2)", "libopenblas.so (build 2)"});
  now.libraries["PyTorch"] = RankTexts({"libtorch_cpu.so", "libtorch_cpu.so"});
  CHECK(differences(before, now) ==
        std::vector<std::string>{"the kind of GPU of rank 1 was A100 and is H100",
                                 "OPENBLAS_CORETYPE of rank 1 was not set and is Haswell",
                                 "OpenBLAS of rank 0 was libopenblas.so (build 1) and is libopenblas.so (build 2)"});
  CHECK(bit_facts_from(to_json(now)) == now);
  before.variables.reset();  // a record of an older version
  CHECK(differences(before, now).size() == 2);
}

TEST_CASE("files of a library that a rank has not loaded in both attempts are no difference") {
  const auto with = [](const char* first, const char* second) {
    return BitFacts{.libraries = {{"cuBLAS", RankTexts({first, second})}}};
  };
  const auto before = with("libcublas.so.12 (build 1)", "");
  CHECK(differences(before, with("libcublas.so.12 (build 1), libcublasLt.so.12 (build 7)", "libcublas.so.12 (build 1)"))
            .empty());
  CHECK(differences(before, with("libcublasLt.so.12 (build 7)", "")).empty());
  CHECK(differences(before, with("", "")).empty());
  CHECK(differences(before, with("libcublas.so.12 (build 1), libcublas.so.12 (build 2)", "")).empty());
  CHECK(differences(before, with("libcublas.so.13 (build 2), libcublasLt.so.13 (build 8)", "")) ==
        std::vector<std::string>{"cuBLAS of rank 0 was libcublas.so.12 (build 1) and is libcublas.so.13 (build 2)"});
}

TEST_CASE("the record of an attempt stores its facts, and a record without facts is read") {
  AttemptRecord record{.number = 1, .ranks = 2};
  CHECK(attempt_record_from(to_text(record)).bits.empty());
  record.bits = {.threads = RankTexts({"1", "2"}), .cpus = RankTexts({"x", "x"}), .versions = {{"C library", "2.36"}}};
  const auto read = attempt_record_from(to_text(record)).bits;
  CHECK((read.threads == record.bits.threads && read.cpus == record.bits.cpus && read.versions == record.bits.versions));
}

TEST_CASE("invalid facts in a record are an error") {
  for (const auto* text : {R"({"threads": [[0, "1"]], "cpus": [], "versions": {}})",
                           R"({"threads": [[1]], "cpus": [], "versions": {}})", R"({"threads": 1})", R"([])"})
    CHECK_THROWS(bit_facts_from(nlohmann::ordered_json::parse(text)));
}
