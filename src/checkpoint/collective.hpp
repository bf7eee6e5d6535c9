#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

#include "core/output/error_message.hpp"

namespace trainrt::checkpoint {

/// Serializes integers, strings and tensor shapes into a byte string, to send them to another rank, which reads them with
/// Unpacker.
class Packer {
 public:
  Packer& put(std::integral auto value) {
    const auto number = static_cast<std::int64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Packer& put(std::string_view text) {
    put(text.size());
    bytes_ += text;
    return *this;
  }
  Packer& put(const Shape& shape) {
    put(shape.size());
    for (const auto extent : shape) put(extent);
    return *this;
  }
  /// Appends several values. Unpacker::all() with variables of the same types, in the same order, reads them.
  template <class... Values>
  Packer& all(const Values&... values) {
    (put(values), ...);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Deserializes the values that a Packer on another rank wrote, in the same order. The byte string must outlive the
/// Unpacker. Throws Error if the byte string ends early, which means that the ranks run different versions of trainrt.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(static_cast<std::size_t>(number()))); }
  Shape shape() {
    Shape shape;
    for (auto left = number(); left > 0; --left) shape.push_back(number());
    return shape;
  }
  /// Reads one integer or string into each variable, in the order of the arguments.
  template <class... Values>
  void all(Values&... values) {
    (read(values), ...);
  }

 private:
  void read(std::string& value) { value = text(); }
  void read(std::integral auto& value) { value = static_cast<std::remove_reference_t<decltype(value)>>(number()); }
  std::string_view take(std::size_t count) {
    if (count > rest_.size())
      throw Error("a message from another rank ends too early. All ranks must run the same version of trainrt");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
};

/// Runs `work` on rank 0 and broadcasts the string that it returns: every rank returns that string. If `work` throws, every
/// rank throws an Error with the exit code of the exception and with the message that `explain` returns for it. Collective.
std::string from_root(Communicator& communicator, const std::function<std::string()>& work,
                      const Explain& explain = message_of);

/// Runs `work` on every rank and gathers the strings that it returns: every rank returns the strings of all ranks, in rank
/// order. If `work` throws on any rank, every rank throws one Error that names each failed rank and its host. The exit code
/// of that Error is ExitCode::failed if any rank failed with ExitCode::failed, otherwise the code of the lowest failed
/// rank. Collective.
std::vector<std::string> on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                                       const Explain& explain = message_of);

/// The gathered results of try_on_every_rank(), the same on all ranks.
struct Gathered {
  /// The string that each rank's function returned, or its error message if the rank failed; in rank order.
  std::vector<std::string> texts;
  std::vector<std::string> failures;  ///< error messages of the failed ranks, such as "rank 1 on n2: cannot ..."
  ExitCode code = ExitCode::failed;   ///< exit code that on_every_rank() gives to its Error
};
/// Runs `work` on every rank and returns the results and the failures of all ranks, instead of throwing for a failed rank.
/// Only a CannotRead is thrown: if `work` throws CannotRead on any rank, every rank throws CannotRead. Collective.
Gathered try_on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                           const Explain& explain = message_of);

/// Runs `work`, which returns lines of text, on every rank, and returns the distinct lines of all ranks. If `work` throws
/// on a rank, the error message counts as that rank's line. If `work` throws CannotRead on any rank, every rank throws
/// CannotRead. Collective.
std::vector<std::string> distinct_lines(Communicator& communicator, const std::function<std::vector<std::string>()>& work);

/// Returns 60 bits of a hexadecimal digest, from the digit at index `first` on, as an integer that ranks can compare with
/// an all-reduce.
inline std::int64_t number_in_digest(const std::string& digest, std::size_t first = 0) {
  return std::stoll(digest.substr(first, 15), nullptr, 16);
}

/// Returns this rank's number and host name, such as "rank 1 on n2", for messages.
std::string rank_and_host(const Communicator& communicator);

}  // namespace trainrt::checkpoint
