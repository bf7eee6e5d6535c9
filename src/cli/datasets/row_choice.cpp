#include "cli/datasets/row_choice.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "data/order/shuffle.hpp"
#include "data/source/kept_rows.hpp"
#include "data/source/selected_source.hpp"

namespace trainrt::cli::datasets {

namespace {

constexpr auto word_bits = data::KeptRows::word_bits;
using Selected = data::SelectedSource<data::KeptRows>;

std::uint64_t words_of(std::uint64_t samples) { return (samples + word_bits - 1) / word_bits; }

void set_bit(std::vector<std::uint64_t>& bits, std::uint64_t at) {
  bits[at / word_bits] |= std::uint64_t{1} << (at % word_bits);
}

}  // namespace

std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed) {
  const auto size = source->size();
  const auto first = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(size)));
  if (first == 0 || first >= size)
    throw UsageError(fmt::format("--split {}: of {} samples one of the parts would be empty", share, size));
  constexpr std::uint64_t for_splits = 2, piece = 1 << 16;
  const data::Shuffle shuffle(size, mix_seed(seed, for_splits));
  std::vector<std::uint64_t> chosen(words_of(size)), numbers;
  for (std::uint64_t at = 0; at < first; at += piece) {
    numbers.resize(std::min(piece, first - at));
    shuffle.list(at, numbers);
    for (const auto number : numbers) set_bit(chosen, number);
  }
  auto others = chosen;
  for (auto& word : others) word = ~word;
  if (size % word_bits != 0) others.back() &= (std::uint64_t{1} << (size % word_bits)) - 1;
  return {std::make_shared<Selected>(source, data::KeptRows(std::move(chosen))),
          std::make_shared<Selected>(source, data::KeptRows(std::move(others)))};
}

}  // namespace trainrt::cli::datasets
