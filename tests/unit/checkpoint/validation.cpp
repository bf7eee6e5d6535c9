#include "checkpoint/format/validation.hpp"

#include <cmath>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/verify.hpp"
#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::checkpoint;
using Catch::Contains;
using trainrt::test::Scratch;

namespace {

std::string text_with(const std::string& metrics, const std::string& error = "null") {
  return R"({"format": "trainrt validation", "version": 1, "metrics": )" + metrics + R"(, "error": )" + error + "}";
}

/// Writes checkpoint 0 of a run, with a requested validation, loss 1 and accuracy 0.5.
std::string lay_checkpoint(const Scratch& run, const std::string& validation = "{}") {
  const auto directory = run / directory_name(0);
  io::make_directories(directory);
  Manifest manifest;
  manifest.meta.ranks = 1;
  manifest.meta.metrics = {{"loss", 1}, {"accuracy", 0.5}};
  manifest.meta.validation = validation;
  manifest.shards = {{shard_name(0), 100, {{0, 60, 40, std::string(32, 'a')}}}};
  io::write_file(directory + "/" + manifest_name, to_text(manifest));
  return directory;
}

}  // namespace

TEST_CASE("numbers of a validation replace metrics of the same name") {
  const Scratch run;
  const auto directory = lay_checkpoint(run);
  CHECK(list(run.path()).at(0).awaits_validation);
  CHECK(list(run.path()).at(0).metrics.at("accuracy") == 0.5);
  io::write_file(directory + "/" + validation_name,
                 text_with(R"({"accuracy": 0.75, "bad": null, "low": "-Infinity", "who": "me", "ok": true})"));
  const auto meta = list(run.path()).at(0);
  CHECK_FALSE(meta.awaits_validation);
  CHECK(meta.metrics.at("accuracy") == 0.75);
  CHECK(meta.metrics.at("loss") == 1);
  CHECK(std::isnan(meta.metrics.at("bad")));
  CHECK(meta.metrics.at("low") == -INFINITY);
  CHECK(meta.metrics.size() == 4);
  CHECK(read_manifest(directory).meta.metrics.at("accuracy") == 0.5);  // training resumes with the stored metrics
}

TEST_CASE("a failed validation is done and does not change the metrics") {
  const Scratch run;
  const auto directory = lay_checkpoint(run);
  io::write_file(directory + "/" + validation_name, text_with("{}", R"("no such luck")"));
  CHECK_FALSE(list(run.path()).at(0).awaits_validation);
  CHECK(list(run.path()).at(0).metrics.at("accuracy") == 0.5);
  CHECK(read_validation(directory)->error == "no such luck");
}

TEST_CASE("validation.json is ignored if the manifest requests no validation") {
  const Scratch run;
  const auto directory = lay_checkpoint(run, "");
  io::write_file(directory + "/" + validation_name, text_with(R"({"accuracy": 0.75})"));
  CHECK(list(run.path()).at(0).metrics.at("accuracy") == 0.5);
  CHECK_THAT(unlisted_files(directory).at(0), Contains(validation_name));
}

TEST_CASE("a damaged validation.json is reported, and the checkpoint awaits its validation") {
  const Scratch run;
  const auto directory = lay_checkpoint(run);
  const auto path = directory + "/" + validation_name;
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "parse error"},
           {text_with(R"({"a": [1]})"), "'a'"},
           {text_with("[]"), "'metrics'"},
           {text_with("{}", "7"), "'error'"},
           {R"({"format": "trainrt validation", "version": 2, "metrics": {}, "error": null})", "version"},
           {R"({"format": "trainrt validation", "version": 1, "metrics": {}, "error": null, "more": 1})", "more"}}) {
    io::remove_tree(path);
    io::write_file(path, text);
    CHECK(list(run.path()).at(0).awaits_validation);
    CHECK_THROWS_WITH(read_validation(directory), Contains(path) && Contains(why));
    CHECK_THAT(unlisted_files(directory).at(0), Contains(path) && Contains("validates the checkpoint again"));
  }
}
