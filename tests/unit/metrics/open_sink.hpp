#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>

#include "metrics/sink.hpp"

/// Opens a sink as a run does, with the options of its section.
inline std::unique_ptr<trainrt::metrics::Sink> open_sink(const std::string& name,
                                                         const trainrt::io::FencedDirectory& run_dir,
                                                         const trainrt::Options& given = {}) {
  const auto chosen = trainrt::metrics::choose_sinks(std::array{name}, {{name, given}});
  return chosen.front().kind->open({run_dir, "demo", false, chosen.front().options, name, "id"});
}
