#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

#include "core/output/error_message.hpp"

namespace trainrt::checkpoint {

/// What ranks send each other, as bytes: numbers and texts one after the other.
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
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Takes them out again in the same order. Running out of bytes throws Error: the ranks run different programs.
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

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw Error("a rank sent a message that ends too early: do all ranks run the same trainrt?");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
};

/// Runs `work` on rank 0 and gives its text to every rank. An exception there is thrown as Error on every rank, with the
/// same exit code and the message that `explain` makes of it. Collective.
std::string from_root(Communicator& communicator, const std::function<std::string()>& work,
                      const Explain& explain = message_of);

/// Runs `work` on every rank and gives everybody's texts to every rank, in rank order. Exceptions are thrown as one Error
/// on every rank that names each failed rank and its host, with their exit code, or failed if they differ. So no rank waits
/// for one that failed. Collective.
std::vector<std::string> on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                                       const Explain& explain = message_of);

/// The same, if failures are no exception: texts of the ranks that did it, and who could not and why. CannotRead on any
/// rank is thrown on all.
struct Gathered {
  std::vector<std::string> texts;     ///< one a rank
  std::vector<std::string> failures;  ///< "rank 1 on n2: cannot ..."
  ExitCode code = ExitCode::failed;   ///< of the failures: failed if any of them has that
};
Gathered try_on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                           const Explain& explain = message_of);

/// The lines of all ranks, each once; a rank whose work throws has that as its line. CannotRead on any rank is thrown on
/// all. Collective.
std::vector<std::string> distinct_lines(Communicator& communicator, const std::function<std::vector<std::string>()>& work);

/// "rank 1 on n2"
std::string who(const Communicator& communicator);

}  // namespace trainrt::checkpoint
