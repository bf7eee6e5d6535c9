#include "checkpoint/save/shard_image.hpp"

#include <algorithm>
#include <cstring>

#include "checkpoint/device_memory.hpp"
#include "checkpoint/value_bytes.hpp"
#include "io/files/aligned_memory.hpp"
#include "io/files/digest.hpp"

namespace trainrt::checkpoint {

namespace {

/// Copies the byte range of a file that both `from` and `into` cover. `from` holds the file's bytes from offset `at` on,
/// `into` those from offset `window` on. `copy` is called like memcpy(), only if the range is not empty.
template <class Copy>
void overlay(std::span<std::byte> into, std::uint64_t window, std::span<const std::byte> from, std::uint64_t at,
             Copy&& copy) {
  const auto first = std::max(window, at);
  const auto last = std::min(window + into.size(), at + from.size());
  if (first < last) copy(into.data() + (first - window), from.data() + (first - at), last - first);
}

/// Returns an iterator to the first element of ShardPlan::sources that ends after offset `byte` of the shard file.
auto first_after(std::uint64_t byte, const ShardPlan& plan) {
  return std::ranges::partition_point(plan.sources,
                                      [byte](const auto& source) { return source.at + source.bytes <= byte; });
}

}  // namespace

SteadyBytes steady_bytes_of(const BlockExtent& block, const ShardPlan& plan, const State& state) {
  const auto source = first_after(block.at, plan);
  if (source == plan.sources.end() || block.at < source->at || block.at + block.bytes > source->at + source->bytes)
    return {};
  const auto& entry = state.tensors()[source->tensor];
  const auto* bytes = static_cast<const std::byte*>(entry.local.data) + source->first + (block.at - source->at);
  if (!entry.steady || reinterpret_cast<std::uintptr_t>(bytes) % io::io_alignment != 0) return {};
  return {{bytes, static_cast<std::size_t>(block.bytes)}, entry.steady};
}

ShardImage::ShardImage(const ShardPlan& plan, const State& state, device::Copier& copier)
    : plan_(plan), state_(state), copier_(copier) {
  for (const auto& value : state.values()) values_.push_back(bytes_of(value));
  for (const auto& value : plan.values) {
    values_begin_ = std::min(values_begin_, value.at);
    values_end_ = std::max(values_end_, value.at + value.bytes);
  }
  for (const auto& entry : state.tensors()) gpus_.push_back(gpu_of(entry, copier.runtime()));
}

bool ShardImage::on_gpus() const {
  return std::any_of(gpus_.begin(), gpus_.end(), [](int gpu) { return gpu >= 0; });
}

std::string ShardImage::copy_and_digest(std::span<std::byte> into, std::uint64_t window) const {
  constexpr std::size_t cached_bytes = std::size_t{128} << 10;
  io::Digest digest;
  for (std::size_t done = 0; done < into.size(); done += cached_bytes) {
    const auto piece = into.subspan(done, std::min(cached_bytes, into.size() - done));
    copy(piece, window + done);
    digest.update(piece);
  }
  return digest.hex();
}

device::Events ShardImage::copy(std::span<std::byte> into, std::uint64_t window) const {
  bool from_gpus = false;
  auto cursor = window;
  const auto end = window + into.size();
  for (auto source = first_after(window, plan_); source != plan_.sources.end() && source->at < end; ++source) {
    if (source->at > cursor) structure(into.subspan(cursor - window, source->at - cursor), cursor);
    from_gpus = overlay_source(into, window, *source) || from_gpus;
    cursor = source->at + source->bytes;
  }
  if (cursor < end) structure(into.subspan(cursor - window), cursor);
  if (window < values_end_ && values_begin_ < end) overlay_values(into, window);
  return from_gpus ? copier_.record() : device::Events{};
}

/// Copies the bytes of `source` that are in the byte range of `into`, which begins at offset `window` of the file. Returns
/// whether a GPU makes the copy, which then continues in the background.
bool ShardImage::overlay_source(std::span<std::byte> into, std::uint64_t window, const TensorSource& source) const {
  const auto& entry = state_.tensors()[source.tensor];
  const auto gpu = gpus_[source.tensor];
  const std::span bytes(static_cast<const std::byte*>(entry.local.data) + source.first,
                        static_cast<std::size_t>(source.bytes));
  if (gpu < 0) {
    overlay(into, window, bytes, source.at, std::memcpy);
    return false;
  }
  overlay(into, window, bytes, source.at,
          [&](std::byte* to, const std::byte* from, std::size_t count) { copier_.to_host(to, from, gpu, count); });
  return true;
}

void ShardImage::overlay_values(std::span<std::byte> into, std::uint64_t window) const {
  for (std::size_t i = 0; i < plan_.values.size(); ++i)
    overlay(into, window, std::as_bytes(std::span(values_[i].data(), values_[i].size())), plan_.values[i].at, std::memcpy);
}

void ShardImage::structure(std::span<std::byte> into, std::uint64_t at) const {
  const auto front = plan_.structure->front();
  const auto there = at < front.size() ? std::min<std::size_t>(into.size(), front.size() - at) : 0;
  if (there > 0) std::memcpy(into.data(), front.data() + at, there);
  if (there < into.size()) std::memset(into.data() + there, 0, into.size() - there);
}

}  // namespace trainrt::checkpoint
