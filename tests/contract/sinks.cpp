// Checks the contract of every metric sink of sink_table().
#include <algorithm>
#include <filesystem>
#include <map>

#include <fnmatch.h>

#include <catch2/catch.hpp>

#include "metrics/record.hpp"
#include "metrics/sink.hpp"
#include "unit/metrics/open_sink.hpp"
#include "unit/metrics/support.hpp"

using namespace trainrt;

namespace {

std::vector<metrics::Record> history_of(std::int64_t iterations) {
  std::vector<metrics::Record> history;
  for (std::int64_t i = 1; i <= iterations; ++i)
    history.push_back({i, {{"loss", 1.0 / static_cast<double>(i)}, {"note", "text"}, {"_training_iteration", i}}});
  return history;
}

/// Returns the content of each file that a sink has written, by name.
std::map<std::string, std::string> files_in(const Scratch& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    if (entry.path().filename() != ".private") files[entry.path().filename()] = read(entry.path());
  return files;
}

/// Returns the sinks that can be opened without options.
std::vector<const metrics::SinkKind*> sinks_without_required_options() {
  std::vector<const metrics::SinkKind*> kinds;
  for (const auto* kind : metrics::sink_table())
    if (std::ranges::none_of(kind->options, [](const auto& option) { return option.required; })) kinds.push_back(kind);
  return kinds;
}

/// Runs an attempt: opens the sink after `before` reports of an earlier attempt, and writes the reports up to `all`.
void attempt(const metrics::SinkKind& kind, const Scratch& dir, std::int64_t before, std::int64_t all) {
  const auto sink = open_sink(std::string(kind.name), dir.run());
  sink->at_step(before);
  sink->begin(history_of(before));
  sink->expect_iterations(all);
  for (const auto& record : history_of(all)) {
    if (record.iteration <= before) continue;
    sink->at_step(record.iteration);
    sink->write(record);
    sink->sync();
  }
  sink->end();
}

}  // namespace

TEST_CASE("every sink leaves the same files after restarts as without, and no temporary files") {
  for (const auto* kind : sinks_without_required_options()) {
    INFO(kind->name);
    const Scratch whole, parts;
    attempt(*kind, whole, 0, 4);
    attempt(*kind, parts, 0, 3);
    attempt(*kind, parts, 2, 4);
    const auto wanted = files_in(whole);
    const auto found = files_in(parts);
    CHECK(found.size() == wanted.size());
    for (const auto& [name, bytes] : wanted) {
      INFO(name);
      CHECK(found.contains(name));
      const std::string pattern(kind->help.substr(0, kind->help.find(':')));
      CHECK(fnmatch(pattern.c_str(), name.c_str(), 0) == 0);  // tests find the files of a sink by this part of its help
    }
  }
}

TEST_CASE("every sink replaces a damaged file") {
  for (const auto* kind : sinks_without_required_options()) {
    const Scratch dir;
    attempt(*kind, dir, 0, 2);
    for (const auto& [name, bytes] : files_in(dir)) {
      INFO(kind->name << ": " << name);
      write(dir / name, "rubbish");
      attempt(*kind, dir, 2, 3);
      const auto now = files_in(dir).at(name);
      CHECK(now.size() >= bytes.size());
      CHECK(now.find("rubbish") == std::string::npos);
    }
  }
}
