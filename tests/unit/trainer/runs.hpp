#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include <trainrt/trainrt.hpp>

#include "support/cpp/ranks.hpp"
#include "support/cpp/scratch.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::test {

inline config::RunSpec spec_in(const std::string& folder,
                               std::initializer_list<std::pair<const char*, const char*>> more = {}) {
  Options options;
  const auto set = [&](const char* key, const std::string& value) { options.set(key, {value, "test"}); };
  set("run.name", "r");
  set("run.storage_path", folder);
  set("train.function", "test");
  set("data.train.format", "synthetic");
  set("data.train.samples", "100");
  set("data.train.shuffle", "true");
  for (const auto& [key, value] : more) set(key, value);
  return config::make_run_spec(options);
}

/// Runs a train function on `size` ranks, which are threads; returns rank 0's outcome.
inline trainer::RunOutcome run_on(int size, const config::RunSpec& spec, void (*train)(Context&)) {
  trainer::RunOutcome outcome;
  run_launched(size, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto mine = trainer::run(spec, {"test", train}, launch, *communicator);
    if (launch.world().rank == 0) outcome = mine;
  });
  return outcome;
}

}  // namespace trainrt::test
