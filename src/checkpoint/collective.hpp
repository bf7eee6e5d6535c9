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

/// Serializes numbers, strings and shapes into a byte string that another rank reads with Unpacker.
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
  /// Writes several values. Unpacker::all() of the same list reads them.
  template <class... Values>
  Packer& all(const Values&... values) {
    (put(values), ...);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads the values that a Packer wrote, in the same order. The bytes must outlive the object. Throws Error if the bytes
/// end early, which means that the ranks run different versions.
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
  /// Reads numbers and strings into variables.
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

/// Runs `work` on rank 0 and returns its string on every rank. If `work` throws, every rank throws Error with the same exit
/// code and the message that `explain` makes of the exception. Collective.
std::string from_root(Communicator& communicator, const std::function<std::string()>& work,
                      const Explain& explain = message_of);

/// Runs `work` on every rank and returns the strings of all ranks, in rank order, on every rank. If `work` throws on any
/// rank, every rank throws one Error that names each failed rank and its host. Its exit code is ExitCode::failed if any
/// rank failed with that, otherwise the code of the lowest failed rank. Collective.
std::vector<std::string> on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                                       const Explain& explain = message_of);

/// The results of try_on_every_rank(). The same on all ranks.
struct Gathered {
  std::vector<std::string> texts;     ///< one per rank; the message if the rank failed
  std::vector<std::string> failures;  ///< "rank 1 on n2: cannot ..."
  ExitCode code = ExitCode::failed;   ///< exit code of on_every_rank()
};
/// Runs `work` on every rank and returns results and failures of all ranks. Throws only if a rank throws CannotRead: then
/// every rank throws CannotRead. Collective.
Gathered try_on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                           const Explain& explain = message_of);

/// Runs `work` on every rank and returns the distinct lines of all ranks. If `work` throws on a rank, the message counts as
/// that rank's line. If a rank throws CannotRead, every rank throws CannotRead. Collective.
std::vector<std::string> distinct_lines(Communicator& communicator, const std::function<std::vector<std::string>()>& work);

/// Returns 60 bits of a hexadecimal digest, from the digit `first` on, for comparisons by a reduction.
inline std::int64_t number_in_digest(const std::string& digest, std::size_t first = 0) {
  return std::stoll(digest.substr(first, 15), nullptr, 16);
}

/// Returns this rank's number and host, "rank 1 on n2".
std::string rank_and_host(const Communicator& communicator);

}  // namespace trainrt::checkpoint
