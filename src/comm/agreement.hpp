#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "core/mistake.hpp"
#include "core/output/error_message.hpp"

namespace trainrt::comm {

/// An error that every rank throws at the same point of the program, with the same message. All ranks can therefore shut
/// down in order, and only rank 0 needs to report the error.
class AgreedError : public Error {
 public:
  using Error::Error;

  Mistake mistake = {};  ///< the mistake in the train function that caused the error; without a kind if unknown
};

/// Runs `work` on every rank. Collective. `explain`: function that returns the message for an exception.
/// - If `work` throws on any rank, every rank throws the same AgreedError, with the exit code and the message of the lowest
///   failing rank.
/// - The message ends with the failing ranks and their hosts, except if all ranks failed with the same message, or if only
///   rank 0 failed.
void collectively(Communicator& communicator, const std::function<void()>& work, const Explain& explain = message_of);
/// Runs `work` on rank 0 only. Collective. If `work` throws, every rank throws an AgreedError, as in collectively().
void collectively_on_first(Communicator& communicator, const std::function<void()>& work,
                           const Explain& explain = message_of);

/// The minimum and the maximum of one number over all ranks.
struct MinMax {
  std::int64_t min = 0;
  std::int64_t max = 0;

  bool alike() const { return min == max; }  ///< returns whether all ranks passed the same number
};

/// Returns, for each of `values`, the minimum and the maximum over all ranks, computed in one all-reduce. Collective; every
/// rank must pass the same number of values. `name`: name of the all-reduce in messages.
std::vector<MinMax> agree_min_max(Communicator& communicator, std::span<const std::int64_t> values,
                                  std::string_view name = {});
/// Returns the minimum and the maximum of `value` over all ranks. Collective. `name`: name of the all-reduce in messages.
MinMax agree_min_max(Communicator& communicator, std::int64_t value, std::string_view name = {});

}  // namespace trainrt::comm
