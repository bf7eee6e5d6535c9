#pragma once
#include <cstdint>
#include <string>

#include <trainrt/options.hpp>

#include "config/intervals.hpp"

namespace trainrt::config {

/// What it is if the ranks do not hold the same.
enum class Replicas { error, warn, off };

/// The values of [checkpoint].
struct CheckpointKeys {
  CheckpointInterval every;
  std::int64_t num_to_keep = 0;  ///< 0 = all
  std::string score_attribute;   ///< the metric that says which are best, "" = the newest are
  bool score_is_maximized = true;
  FileLayout layout = FileLayout::node;
  bool async = true;
  std::uint64_t staging_bytes = 0;  ///< a rank
  std::int64_t max_failed = 0;      ///< in a row; 0 = any number
  int io_threads = 0;               ///< a rank
  bool read_back = false;
  Replicas replicas = Replicas::error;
  StepInterval replicas_every;  ///< between checkpoints
  std::string mirror;           ///< a URL or a path, "" = none
  double mirror_wait_s = 0;     ///< at the end of the run
};

}  // namespace trainrt::config
