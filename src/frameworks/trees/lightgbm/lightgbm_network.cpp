#include "frameworks/trees/lightgbm/lightgbm_network.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

thread_local LightgbmNetwork* network_of_thread = nullptr;

/// Calls a collective. Stores its exception and throws std::runtime_error, which LightGBM's C API converts to an error.
template <class Call>
void guarded(const Call& call) {
  auto& network = *network_of_thread;
  network.refuse_after_failure();
  try {
    call(network);
  } catch (...) {
    network.keep_failure();
  }
  network.refuse_after_failure();
}

std::span<const std::int32_t> of_ranks(const std::int32_t* values, int ranks) {
  return {values, static_cast<std::size_t>(ranks)};
}

void reduce_scatter_of_lightgbm(char* in, std::int32_t /*in_bytes*/, int value_bytes, const std::int32_t* /*starts*/,
                                const std::int32_t* bytes, int ranks, char* out, std::int32_t /*out_bytes*/,
                                LightgbmNetwork::Reduce* const& reduce) {
  guarded([&](auto& network) { network.reduce_scatter(in, value_bytes, of_ranks(bytes, ranks), out, reduce); });
}

void all_gather_of_lightgbm(char* in, std::int32_t /*in_bytes*/, const std::int32_t* starts, const std::int32_t* bytes,
                            int ranks, char* out, std::int32_t /*out_bytes*/) {
  guarded([&](auto& network) { network.all_gather(in, of_ranks(starts, ranks), of_ranks(bytes, ranks), out); });
}

/// Returns whether `reduce` adds numbers of type T, element by element. Tests it with numbers of different magnitudes.
template <class T>
bool adds(LightgbmNetwork::Reduce* reduce, int value_bytes) {
  constexpr std::size_t count = 96;  // a multiple of every value size in use
  std::uint64_t bits = 0x9e3779b97f4a7c15;
  std::vector<T> from(count), into(count), sum(count);
  const auto draw = [&bits] {
    bits = bits * 6364136223846793005U + 1442695040888963407U;
    const auto integer = static_cast<double>(static_cast<std::int64_t>(bits) >> 40);  // 24 bits, signed
    return static_cast<T>(integer * static_cast<double>(1U << (bits >> 35U & 7U)) / (std::is_integral_v<T> ? 1 : 3));
  };
  for (std::size_t i = 0; i < count; ++i) {
    from[i] = draw();
    into[i] = draw();
    sum[i] = into[i] + from[i];
  }
  reduce(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(into.data()), value_bytes,
         static_cast<std::int32_t>(count * sizeof(T)));
  return std::memcmp(into.data(), sum.data(), count * sizeof(T)) == 0;
}

}  // namespace

LightgbmNetwork::LightgbmNetwork(const LightgbmLibrary& library, Communicator& communicator)
    : library_(library), communicator_(communicator), counts_(static_cast<std::size_t>(communicator.size())) {
  if (communicator.size() == 1) return;
  network_of_thread = this;
  library_.check(library_.network_init(communicator.size(), communicator.rank(),
                                       reinterpret_cast<void*>(&reduce_scatter_of_lightgbm),
                                       reinterpret_cast<void*>(&all_gather_of_lightgbm)));
}

LightgbmNetwork::~LightgbmNetwork() {
  if (communicator_.size() == 1) return;
  library_.network_free();
  network_of_thread = nullptr;
}

void LightgbmNetwork::check(int code, bool takes_parameters) const {
  if (failure_) std::rethrow_exception(failure_);
  library_.check(code, takes_parameters);
}

void LightgbmNetwork::refuse_after_failure() const {
  if (failure_) throw std::runtime_error("a collective of the ranks has failed");
}

void LightgbmNetwork::all_gather(const char* in, std::span<const std::int32_t> starts, std::span<const std::int32_t> bytes,
                                 char* out) {
  bool is_dense = true;
  std::size_t total = 0;
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    is_dense = is_dense && static_cast<std::size_t>(starts[rank]) == total;
    counts_[rank] = static_cast<std::size_t>(bytes[rank]);
    total += counts_[rank];
  }
  mine_.assign(in, in + counts_[static_cast<std::size_t>(communicator_.rank())]);  // `in` may be a part of `out`
  if (!is_dense) gathered_.resize(total);
  auto* const into = is_dense ? out : gathered_.data();
  communicator_.all_gather(mine_.data(), counts_, Buffer{into, total, DType::u8}, "LightGBM's all-gather");
  if (is_dense) return;
  std::size_t at = 0;
  for (std::size_t rank = 0; rank < bytes.size(); at += counts_[rank], ++rank)
    std::memcpy(out + starts[rank], gathered_.data() + at, counts_[rank]);
}

std::optional<DType> LightgbmNetwork::type_added_by(Reduce* reduce, int value_bytes) {
  const auto [place, is_new] = added_.try_emplace({reduce, value_bytes});
  if (!is_new) return place->second;
  if (adds<double>(reduce, value_bytes))
    place->second = DType::f64;
  else if (adds<std::int64_t>(reduce, value_bytes))  // also pairs of 32 bits that are added as one number
    place->second = DType::i64;
  else if (adds<std::int32_t>(reduce, value_bytes))
    place->second = DType::i32;
  return place->second;
}

void LightgbmNetwork::reduce_scatter(const char* in, int value_bytes, std::span<const std::int32_t> bytes, char* out,
                                     Reduce* reduce) {
  constexpr int max_value_bytes = 16;  // a gradient and a hessian
  const auto type = value_bytes <= max_value_bytes ? type_added_by(reduce, value_bytes) : std::nullopt;
  const auto is_multiple = [&](std::int32_t part) { return static_cast<std::size_t>(part) % size_of(*type) == 0; };
  if (!type || !std::ranges::all_of(bytes, is_multiple)) return reduce_in_rank_order(in, value_bytes, bytes, out, reduce);
  std::size_t total = 0;
  for (std::size_t rank = 0; rank < bytes.size(); ++rank)
    total += counts_[rank] = static_cast<std::size_t>(bytes[rank]) / size_of(*type);
  communicator_.reduce_scatter(Buffer{const_cast<char*>(in), total, *type}, counts_, out, Op::sum, "LightGBM's histograms");
}

/// Reduces the array in parts, one for each rank, and each part in chunks, to limit the memory that is used.
void LightgbmNetwork::reduce_in_rank_order(const char* in, int value_bytes, std::span<const std::int32_t> bytes, char* out,
                                           Reduce* reduce) {
  const auto ranks = bytes.size(), own = static_cast<std::size_t>(communicator_.rank());
  constexpr std::size_t max_bytes = 1 << 20;  // of a chunk of all ranks
  const auto value = static_cast<std::size_t>(value_bytes);
  const auto max_chunk = std::max<std::size_t>(max_bytes / ranks / value, 1) * value;
  for (std::size_t rank = 0; rank < ranks; in += bytes[rank], ++rank)
    for (std::size_t at = 0, part = static_cast<std::size_t>(bytes[rank]); at < part; at += max_chunk) {
      const auto chunk = std::min(max_chunk, part - at);
      std::ranges::fill(counts_, chunk);
      gathered_.resize(ranks * chunk);
      communicator_.all_gather(in + at, counts_, Buffer{gathered_.data(), ranks * chunk, DType::u8},
                               "LightGBM's reduce-scatter");
      if (rank != own) continue;
      std::memcpy(out + at, gathered_.data(), chunk);
      for (std::size_t from = 1; from < ranks; ++from)
        reduce(gathered_.data() + from * chunk, out + at, value_bytes, static_cast<std::int32_t>(chunk));
    }
}

}  // namespace trainrt::frameworks::trees
