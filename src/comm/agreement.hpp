#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "core/output/error_message.hpp"

namespace trainrt::comm {

/// An error that every rank throws at the same point, with the same message. All ranks can therefore leave in order, and it
/// is enough that rank 0 reports it.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// Runs `work` on every rank. Collective. If `work` throws on any rank, every rank throws the same AgreedError, with the
/// exit code and the message of the lowest failing rank; `explain` makes the message from the exception. The failing ranks
/// and their hosts are appended, unless all ranks failed with the same message.
void collectively(Communicator& communicator, const std::function<void()>& work, const Explain& explain = message_of);
/// Runs `work` on rank 0 only. Collective. If it throws, every rank throws an AgreedError, as in collectively().
void collectively_on_first(Communicator& communicator, const std::function<void()>& work,
                           const Explain& explain = message_of);

/// The minimum and the maximum of one number over all ranks.
struct MinMax {
  std::int64_t min = 0;
  std::int64_t max = 0;

  bool alike() const { return min == max; }  ///< whether all ranks passed the same number
};

/// Computes the minimum and the maximum over all ranks of each of `values`, in one reduction. Collective; every rank must
/// pass the same number of values. `name` is the name of the reduction in messages.
std::vector<MinMax> agree_min_max(Communicator& communicator, std::span<const std::int64_t> values,
                                  std::string_view name = {});
/// Computes the minimum and the maximum of one `value` over all ranks. Collective.
MinMax agree_min_max(Communicator& communicator, std::int64_t value, std::string_view name = {});

}  // namespace trainrt::comm
