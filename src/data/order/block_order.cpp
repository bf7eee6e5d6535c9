#include "data/order/block_order.hpp"

#include <algorithm>
#include <numeric>

#include <trainrt/random.hpp>

namespace trainrt::data {

namespace {

enum Purpose : std::uint64_t { for_blocks = 1, for_rest = 2, for_window = 3 };

}  // namespace

BlockOrder::BlockOrder(std::uint64_t size, std::uint64_t seed, Blocks blocks) : size_(size), seed_(seed), blocks_(blocks) {
  const auto whole = size / blocks_.samples;
  rest_ = size % blocks_.samples;
  windows_ = std::max<std::uint64_t>(1, (whole + blocks_.window - 1) / blocks_.window);
  window_of_rest_ = mix_seed(seed, for_rest) % windows_;
  order_of_blocks_ = Permutation::quick(whole, mix_seed(seed, for_blocks));
  for (std::uint64_t window = 0; windows_ <= max_prepared && window < windows_; ++window)
    prepared_.push_back(inside(window));
  if (whole > max_listed) return;
  std::vector<std::uint64_t> blocks_in_order(whole);
  std::iota(blocks_in_order.begin(), blocks_in_order.end(), std::uint64_t{0});
  order_of_blocks_.map(blocks_in_order);
  listed_.assign(blocks_in_order.begin(), blocks_in_order.end());
}

std::uint64_t BlockOrder::first_of(std::uint64_t window) const {
  const auto blocks = std::min(window * blocks_.window, order_of_blocks_.size());
  return blocks * blocks_.samples + (window > window_of_rest_ ? rest_ : 0);
}

std::uint64_t BlockOrder::end_of(std::uint64_t window) const {
  return window + 1 == windows_ ? size_ : first_of(window + 1);
}

Permutation BlockOrder::inside(std::uint64_t window) const {
  return Permutation::quick(end_of(window) - first_of(window), mix_seed(seed_, for_window, window));
}

std::uint64_t BlockOrder::window_of(std::uint64_t position) const {
  const auto samples = blocks_.window * blocks_.samples;  // number of samples of a complete window
  const auto window = std::min(position / samples, windows_ - 1);
  return position < first_of(window) ? window - 1 : window;
}

std::uint64_t BlockOrder::operator[](std::uint64_t position) const {
  std::uint64_t sample = 0;
  list_window(window_of(position), position, {&sample, 1});
  return sample;
}

void BlockOrder::list(std::uint64_t first, std::span<std::uint64_t> into) const {
  while (!into.empty()) {
    const auto window = window_of(first);
    const auto here = std::min<std::uint64_t>(into.size(), end_of(window) - first);
    list_window(window, first, into.first(here));
    into = into.subspan(here);
    first += here;
  }
}

/// Fills `into` with the samples at the positions from `first` on. All these positions must be in the window `window`.
void BlockOrder::list_window(std::uint64_t window, std::uint64_t first, std::span<std::uint64_t> into) const {
  const auto begin = first_of(window);
  std::iota(into.begin(), into.end(), first - begin);
  if (prepared_.empty())
    inside(window).map(into);
  else
    prepared_[window].map(into);
  const auto blocks_here = (end_of(window) - begin - (window == window_of_rest_ ? rest_ : 0)) / blocks_.samples;
  for (auto& at : into) {
    const auto block = at / blocks_.samples, within = at % blocks_.samples;
    at = block < blocks_here ? block_at(window * blocks_.window + block) * blocks_.samples + within
                             : size_ - rest_ + (at - blocks_here * blocks_.samples);
  }
}

std::uint64_t BlockOrder::block_at(std::uint64_t position) const {
  return listed_.empty() ? order_of_blocks_[position] : listed_[position];
}

}  // namespace trainrt::data
