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

/// LightGBM's network, of the thread that makes this and as long as it lives: its reduce-scatter and all-gather by a
/// communicator. LightGBM sums by functions on bytes that it hands over; those that turn out to add numbers are done by
/// the communicator's reduce-scatter, whose order is one tree over the ranks, and the others in the order of the ranks: the
/// bits never depend on who comes first.
///
/// What a collective throws is kept, and LightGBM told to give up by an exception that its C API turns into an error code;
/// check() throws what was kept. After that nothing communicates any more.
class LightgbmNetwork {
 public:
  using Reduce = void(const char* from, char* into, int value_bytes, std::int32_t bytes);

  /// Of one rank: nothing.
  LightgbmNetwork(const LightgbmLibrary& library, Communicator& communicator);
  ~LightgbmNetwork();
  LightgbmNetwork(const LightgbmNetwork&) = delete;

  /// As LightgbmLibrary::check(), of a call that may have communicated.
  void check(int code, bool takes_parameters = false) const;

  // What LightGBM calls.
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
  std::map<std::pair<Reduce*, int>, std::optional<DType>> added_;  ///< by the functions seen so far
  std::vector<std::size_t> counts_;
  std::vector<char> mine_, gathered_;
};

}  // namespace trainrt::frameworks::trees
