#include "data/order/epoch_order.hpp"

#include "core/text/text.hpp"

namespace trainrt::data {

std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch) {
  return mix_seed(run_seed, stable_hash(dataset), static_cast<std::uint64_t>(epoch));
}

void EpochOrder::list(std::uint64_t first, std::span<std::uint64_t> into) const {
  while (!into.empty()) {
    const auto begin = first % size_;
    const auto lot = into.first(std::min<std::uint64_t>(into.size(), size_ - begin));
    const auto fill = [begin, lot](const auto& order) {
      if constexpr (requires { order.list(begin, lot); })
        order.list(begin, lot);
      else
        for (std::size_t i = 0; i < lot.size(); ++i) lot[i] = order[begin + i];
    };
    std::visit(fill, order_);
    first += lot.size();
    into = into.subspan(lot.size());
  }
}

}  // namespace trainrt::data
