#include "checkpoint/format/manifest.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <trainrt/error.hpp>

#include "io/files/digest.hpp"
#include "mutations.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::checkpoint;
using Catch::Contains;

namespace {

const std::string a_digest(32, 'a');

Manifest example() {
  Manifest manifest;
  manifest.meta = {12,
                   24,
                   1200,
                   3,
                   2,
                   "2026-01-01T00:00:00Z",
                   {{"loss", 0.1}, {"high", INFINITY}, {"nan", std::nan("")}},
                   R"({"a":[1,{"b":2.5}]})"};
  manifest.shards = {{"shard-00000.h5", 1200, {{0, 1000, 100, a_digest}, {2, 1100, 100, a_digest}}},
                     {"shard-00001.h5", 50, {{1, 0, 50, a_digest}}}};
  manifest.files = {{"files/vocabulary.txt", 7, a_digest, -1}, {"files/rank-00001/log", 0, a_digest, 1}};
  return manifest;
}

/// Returns the text with one change and a valid digest.
std::string changed(const std::string& what, const std::string& by) {
  auto text = to_text(example());
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), by);
  const auto body = text.substr(0, text.rfind(",\n \"xxh3_128\""));
  return body + ",\n \"xxh3_128\": \"" + io::digest_of(body) + "\"\n}\n";
}

std::string why(const std::string& what, const std::string& by) {
  return error_of([&] { manifest_from(changed(what, by), "RUN/manifest.json"); });
}

}  // namespace

TEST_CASE("a manifest is parsed as it was written") {
  const auto text = to_text(example());
  const auto read = manifest_from(text, "m");
  CHECK(to_text(read) == text);
  CHECK(read.meta.number == 12);
  CHECK(read.meta.ranks == 3);
  CHECK(read.meta.metrics.at("loss") == 0.1);
  CHECK(std::isnan(read.meta.metrics.at("nan")));
  CHECK(read.meta.metrics.at("high") == INFINITY);
  CHECK(read.meta.metadata == R"({"a":[1,{"b":2.5}]})");
  REQUIRE(read.shards.size() == 2);
  CHECK(read.shards[0].hdf5_bytes() == 1000);
  CHECK(read.shards[0].parts[1].rank == 2);
  REQUIRE(read.files.size() == 2);
  CHECK(read.files[0].rank == -1);
  CHECK(read.files[1].rank == 1);
}

TEST_CASE("keys that older manifests lack are optional") {
  auto manifest = example();
  const auto plain = to_text(manifest);
  CHECK(plain.find("at_stop") == std::string::npos);
  CHECK_FALSE(manifest_from(plain, "m").meta.at_stop);
  CHECK(manifest_from(plain, "m").meta.iteration_s == 0);
  manifest.meta.at_stop = true;
  manifest.meta.iteration_s = 0.1;
  manifest.meta.has_directory = true;
  const auto read = manifest_from(to_text(manifest), "m");
  CHECK(read.meta.at_stop);
  CHECK(read.meta.has_directory);
  CHECK(read.meta.iteration_s == 0.1);
  CHECK(read.meta.validation.empty());
  manifest.meta.validation = R"({"fn_kwargs":{"limit":3}})";
  CHECK(manifest_from(to_text(manifest), "m").meta.validation == manifest.meta.validation);
  CHECK(read.meta.bits.empty());
  manifest.meta.bits = R"({"cpus":[[4,"x"]]})";
  CHECK(manifest_from(to_text(manifest), "m").meta.bits == manifest.meta.bits);
  CHECK_THAT(why(R"("metadata": {)", R"("bits": 1, "metadata": {)"), Contains("'bits'"));
  CHECK_THAT(why(R"("metadata": {)", R"("validation": [], "metadata": {)"), Contains("'validation'"));
  CHECK_THAT(why(R"("metadata": {)", R"("at_stop": 1, "metadata": {)"), Contains("'at_stop'"));
  CHECK_THAT(why(R"("metadata": {)", R"("directory": null, "metadata": {)"), Contains("'directory'"));
  CHECK_THAT(why(R"("metadata": {)", R"("iteration_s": -1, "metadata": {)"), Contains("'iteration_s'"));
}

TEST_CASE("merged metadata has the keys of both objects, and the second one's value for common keys") {
  CHECK(merged_metadata("{}", R"({"a": 1})") == R"({"a":1})");
  CHECK(merged_metadata(R"({"a": {"b": 1}, "c": 2})", R"({"a": {"d": 3}})") == R"({"a":{"d":3},"c":2})");
}

TEST_CASE("metadata that is not a JSON object is an error when a manifest is written") {
  for (const auto* bad : {"[]", "7", "{", "", "{} {}"}) {
    auto manifest = example();
    manifest.meta.metadata = bad;
    CHECK_THROWS_AS(to_text(manifest), Error);
  }
}

TEST_CASE("accepted metadata of any depth can be saved and loaded") {
  const auto nested = [](std::size_t levels) {
    return R"({"a":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  std::size_t levels = 2;
  for (; error_of([&] { check_metadata(nested(levels)); }).empty() && levels < 200; ++levels) {
    auto manifest = example();
    manifest.meta.metadata = nested(levels);
    CHECK(manifest_from(to_text(manifest), "m").meta.metadata == nested(levels));
  }
  CHECK(levels == 64);
  CHECK_THAT(error_of([&] { check_metadata(nested(1'000'000)); }), Contains("nested too deeply"));
}

TEST_CASE("every invalid manifest is an error, even with a valid digest") {
  CHECK_THAT(why(R"("version": 2)", R"("version": 1)"), Contains("'RUN/manifest.json': the manifest has 'version' 1"));
  CHECK_THAT(why("trainrt checkpoint", "another"), Contains("'format'"));
  CHECK_THAT(why(R"("index": 12)", R"("index": -12)"), Contains("'index' that is not an integer"));
  CHECK_THAT(why(R"("step": 1200)", R"("step": 1200.5)"), Contains("'step'"));
  CHECK_THAT(why(R"("step": 1200)", R"("more": 1, "step": 1200)"), Contains("unknown key 'more'"));
  CHECK_THAT(why(R"("step": 1200)", R"("steps": 1200)"), Contains("lacks 'step'"));
  CHECK_THAT(why(R"("ranks": 3)", R"("ranks": 0)"), Contains("'ranks' 0"));
  CHECK_THAT(why(R"("ranks": 3)", R"("ranks": 2)"), Contains("part of rank 2"));
  CHECK_THAT(why(R"("ranks": 3)", R"("ranks": 9223372036854775807)"), Contains("'ranks'"));
  CHECK_THAT(why("0.1", R"("x")"), Contains("metric 'loss'"));
  CHECK_THAT(why(R"("metadata": {)", R"("metadata": 5, "more": {)"), Contains("'metadata' that is not an object"));
  CHECK_THAT(why("shard-00001.h5", "shard-00002.h5"), Contains("not 'shard-00001.h5'"));
  CHECK_THAT(why("shard-00000.h5", "../shard-00000.h5"), Contains("../shard-00000.h5"));
  CHECK_THAT(why(R"("at": 1100)", R"("at": 1101)"), Contains("a gap or an overlap"));
  CHECK_THAT(why(R"("bytes": 1200)", R"("bytes": 1201)"), Contains("end before the end of the file"));
  CHECK_THAT(why(R"("bytes": 1200)", R"("bytes": 1199)"), Contains("after the end of the file"));
  CHECK_THAT(why(R"("bytes": 100)", R"("bytes": 9223372036854775807)"), Contains("after the end of the file"));
  CHECK_THAT(why(R"("bytes": 100)", R"("bytes": 0)"), Contains("'bytes' 0"));
  CHECK_THAT(why(R"("rank": 2)", R"("rank": 1)"), Contains("two parts of rank 1"));
  CHECK_THAT(why(a_digest, std::string(31, 'a')), Contains("not a digest"));
  CHECK_THAT(why("files/vocabulary.txt", "files/rank-00001/log"), Contains("lists 'files/rank-00001/log' twice"));
  for (const std::string name :
       {"manifest.json", "/etc/passwd", "files/../x", "files//x", "files/", "files", "x/y", "files/."})
    CHECK_THAT(why("files/vocabulary.txt", name), Contains("not a file below 'files'"));
  CHECK_THAT(why(R"("rank": null)", R"("rank": 3)"), Contains("file of rank 3"));
  CHECK_THAT(error_of([] { manifest_from("", "m"); }), Contains("is truncated"));
}

TEST_CASE("a mutated manifest throws Error or has the same contents") {
  const std::uint64_t seed = 3;
  std::mt19937_64 random(seed);
  const auto good = to_text(example());
  int wrong = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto damaged = mutated(good, random);
    try {
      wrong += to_text(manifest_from(damaged, "m")) == good ? 0 : 1;
    } catch (const Error&) {
    } catch (const std::exception& error) {
      UNSCOPED_INFO("round " << round << ": " << error.what());
      ++wrong;
    }
  }
  INFO("seed " << seed);
  CHECK(wrong == 0);
}

TEST_CASE("a mutated manifest with a valid digest throws Error or is parsed") {
  const std::uint64_t seed = 4;
  std::mt19937_64 random(seed);
  const auto good = to_text(example());
  const auto body = good.substr(0, good.rfind(",\n \"xxh3_128\""));
  int wrong = 0;
  for (int round = 0; round < 20000; ++round) try {
      const auto damaged = mutated(body, random);
      const auto read = manifest_from(damaged + ",\n \"xxh3_128\": \"" + io::digest_of(damaged) + "\"\n}\n", "m");
      wrong += to_text(manifest_from(to_text(read), "m")) == to_text(read) ? 0 : 1;
    } catch (const Error&) {
    } catch (const std::exception& error) {
      UNSCOPED_INFO("round " << round << ": " << error.what());
      ++wrong;
    }
  INFO("seed " << seed);
  CHECK(wrong == 0);
}

TEST_CASE("a manifest has exactly one part per rank") {
  CHECK_THAT(why("\"ranks\": 3", "\"ranks\": 2147483647"), Contains("parts of 3 of 2147483647 ranks"));
  CHECK_THAT(why("\"ranks\": 3", "\"ranks\": 2"), Contains("part of rank 2"));
}
