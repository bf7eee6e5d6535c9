#include "io/objects/object_pages.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/storage_retry.hpp"

namespace trainrt::io {

ObjectPages::ObjectPages(const std::string& url) {
  const auto parts = storage_url(url).value();
  storage_ = storage_for_reading(parts);
  auto found = retried([&] { return storage_->find(parts.name); });
  if (!found) throw UsageError(fmt::format("'{}' does not exist", url));
  object_ = std::move(*found);
}

void ObjectPages::read(std::uint64_t offset, std::span<std::byte> into) {
  const auto available = offset < object_.size ? std::min<std::uint64_t>(into.size(), object_.size - offset) : 0;
  std::memset(into.data() + available, 0, into.size() - available);
  auto left = into.first(available);
  if (left.size() > page_bytes) {
    const ObjectPart part{offset, left};
    return retried([&] { storage_->read(object_, {&part, 1}); });
  }
  while (!left.empty()) {
    const auto& page = page_at(offset / page_bytes * page_bytes);
    const auto at = offset - page.begin;
    const auto count = std::min<std::uint64_t>(left.size(), page.bytes.size() - at);
    std::memcpy(left.data(), page.bytes.data() + at, count);
    left = left.subspan(count);
    offset += count;
  }
}

const ObjectPages::Page& ObjectPages::page_at(std::uint64_t begin) {
  const auto cached =
      std::ranges::find_if(pages_, [&](const Page& page) { return !page.bytes.empty() && page.begin == begin; });
  auto& page = cached != pages_.end() ? *cached : *std::ranges::min_element(pages_, {}, &Page::used);
  page.used = ++uses_;
  if (cached != pages_.end()) return page;
  page.bytes.clear();
  std::vector<std::byte> bytes(std::min<std::uint64_t>(page_bytes, object_.size - begin));
  const ObjectPart part{begin, bytes};
  retried([&] { storage_->read(object_, {&part, 1}); });
  page.begin = begin;
  page.bytes = std::move(bytes);
  return page;
}

}  // namespace trainrt::io
