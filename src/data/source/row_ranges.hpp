#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// Which samples the key `rows` chooses, in the order in which it names them: 16 bytes for each run of neighbours.
class RowRanges {
 public:
  /// "0:800, 1000, 900:950": FIRST:END (END is not among them), or one number; commas or ends of lines between them.
  /// UsageError that quotes what is something else.
  explicit RowRanges(std::string_view text);

  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  /// The sample at place `at` < size().
  std::uint64_t operator[](std::uint64_t at) const;
  std::uint64_t largest() const { return largest_; }

  /// Neighbours, in the order in which they are named.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::size_t runs() const { return firsts_.size(); }
  Run run(std::size_t number) const { return {firsts_[number], ends_[number] - (number == 0 ? 0 : ends_[number - 1])}; }

 private:
  void add(std::string_view word);

  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> ends_;  ///< rows in all up to the end of each run of neighbours
  std::uint64_t largest_ = 0;
};

/// The text of the key `rows`: what is given, or what the file behind "@" holds.
std::string text_of_rows(const std::string& given);

}  // namespace trainrt::data
