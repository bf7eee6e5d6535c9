#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// A list of indices of samples, in the order in which a text lists them. Needs 16 bytes of memory for each range of
/// consecutive samples.
class RowRanges {
 public:
  /// Parses a list of ranges and numbers, separated by commas or line breaks: "0:800, 1000, 900:950". In a range
  /// FIRST:END, END is the first sample that is not included. Throws UsageError, which quotes the invalid item.
  explicit RowRanges(std::string_view text);

  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }  ///< number of samples in the list
  std::uint64_t operator[](std::uint64_t index) const;                     ///< element `index` < size() of the list
  std::uint64_t max() const { return max_; }                               ///< the largest sample; 0 if the list is empty

  /// `count` consecutive samples from `first` on.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::size_t runs() const { return firsts_.size(); }
  Run run(std::size_t number) const { return {firsts_[number], ends_[number] - (number == 0 ? 0 : ends_[number - 1])}; }

 private:
  void add(std::string_view word);

  std::vector<std::uint64_t> firsts_;  ///< first sample of each run
  std::vector<std::uint64_t> ends_;    ///< for each run, the number of samples up to the end of the run
  std::uint64_t max_ = 0;
};

/// Returns the text of a list of samples: `given` itself, or the content of FILE if `given` is "@FILE". Throws UsageError
/// if FILE is empty.
std::string text_of_rows(const std::string& given);

}  // namespace trainrt::data
