#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "cli/doctor/examination.hpp"

namespace trainrt::cli::doctor {

/// What all-reduces cost, as the slowest of the ranks sees it.
struct AllReduceSpeed {
  double latency_seconds = 0;   ///< of one of 8 bytes
  std::size_t bytes = 0;        ///< of the buffer that was reduced
  double bytes_per_second = 0;  ///< of that buffer: its bytes by the time of a call
  bool right = true;            ///< every rank got the sums that it should have got
};

/// Measures on memory that the communicator allocates (f32). Collective. Takes about a second; on a slow network the buffer
/// is smaller.
AllReduceSpeed measure_all_reduce(Communicator& communicator);

Json to_json(const AllReduceSpeed& speed);
AllReduceSpeed speed_of(const Json& json);

/// "12.3 GB/s (16 MiB), 8 bytes in 1.2 us"
std::string to_text(const AllReduceSpeed& speed);

}  // namespace trainrt::cli::doctor
