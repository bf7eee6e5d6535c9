#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <trainrt/communicator.hpp>

#include "frameworks/trees/lightgbm/lightgbm_library.hpp"

namespace trainrt::frameworks::trees {

/// The network functions that LightGBM calls in the thread that creates the object. LightGBM's reduce-scatter and
/// all-gather are performed by a communicator.
///
/// LightGBM passes the reduction as a function on bytes. If the function adds numbers, the communicator's
/// reduce-scatter is used instead, which adds along a fixed tree of ranks. Other functions are called in rank order.
/// The bits of a result therefore do not depend on timing.
///
/// LightGBM's C API converts exceptions to error codes. If a collective throws an exception, this class therefore
/// stores the exception, and LightGBM's call returns an error code. check() then throws the stored exception. Later
/// collectives fail immediately.
class LightgbmNetwork {
 public:
  using Reduce = void(const char* from, char* into, int value_bytes, std::int32_t bytes);

  /// Does nothing if there is only one rank.
  LightgbmNetwork(const LightgbmLibrary& library, Communicator& communicator);
  ~LightgbmNetwork();
  LightgbmNetwork(const LightgbmNetwork&) = delete;

  /// Like LightgbmLibrary::check(), for a call of LightGBM that may have communicated. If an exception is stored,
  /// throws the stored exception instead. `takes_parameters`: the call used parameters from [loop], so that an error of
  /// LightGBM is a UsageError.
  void check(int code, bool takes_parameters = false) const;

  // Called by LightGBM.
  void reduce_scatter(const char* in, int value_bytes, std::span<const std::int32_t> bytes, char* out, Reduce* reduce);
  void all_gather(const char* in, std::span<const std::int32_t> starts, std::span<const std::int32_t> bytes, char* out);
  void keep_failure() { failure_ = std::current_exception(); }
  void refuse_after_failure() const;

 private:
  std::optional<DType> type_added_by(Reduce* reduce, int value_bytes);
  void reduce_in_rank_order(const char* in, int value_bytes, std::span<const std::int32_t> bytes, char* out,
                            Reduce* reduce);

  const LightgbmLibrary& library_;
  Communicator& communicator_;
  std::exception_ptr failure_;
  std::map<std::pair<Reduce*, int>, std::optional<DType>>
      added_;  ///< the type that a function adds, if any; by function and bytes of a value
  std::vector<std::size_t> counts_;
  std::vector<char> mine_, gathered_;
};

}  // namespace trainrt::frameworks::trees
