// Reads manifest.json of a checkpoint: the raw input, and the input with a corrected digest, so that mutations get past
// that check.
#include "checkpoint/format/manifest.hpp"

#include "io/files/digest.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

const std::string path = "run/checkpoint_000007/manifest.json";

std::string sealed(const std::string& body) { return body + ",\n \"xxh3_128\": \"" + io::digest_of(body) + "\"\n}\n"; }

void check(const std::string& text) {
  const auto manifest = unless_refused([&] { return checkpoint::manifest_from(text, path); });
  if (!manifest) return;
  const auto written = checkpoint::to_text(*manifest);
  const auto again = checkpoint::manifest_from(written, path);
  require(checkpoint::to_text(again) == written, "a manifest that is read and written again stays the same");
  require(again.shards.size() == manifest->shards.size() && again.files.size() == manifest->files.size(),
          "a manifest that is written again lists the same shards and files");
}

}  // namespace

std::vector<std::string> seeds() {
  const auto whole = source_file("tests/golden/runs/0.1.0/checkpoint/checkpoint_000007/manifest.json");
  const auto body = whole.substr(0, whole.rfind(",\n \"xxh3_128\""));
  return {whole, body, body.substr(0, body.size() / 2), deep_json()};
}

std::vector<std::string> words() {
  return {"\"format\"",
          "\"version\"",
          "\"index\"",
          "\"iteration\"",
          "\"step\"",
          "\"ranks\"",
          "\"attempt\"",
          "\"created\"",
          "\"metrics\"",
          "\"metadata\"",
          "\"shards\"",
          "\"files\"",
          "\"parts\"",
          "\"name\"",
          "\"bytes\"",
          "\"at\"",
          "\"rank\"",
          "\"xxh3_128\"",
          "null",
          "{}",
          "[]",
          "9223372036854775807",
          "18446744073709551615",
          "1e999",
          "-1",
          "files/../x"};
}

void read(const std::string& input) {
  check(input);
  check(sealed(input));
}

}  // namespace trainrt::fuzz
