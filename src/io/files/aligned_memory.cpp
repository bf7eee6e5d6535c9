#include "io/files/aligned_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/process/page_size.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
// Upper limit of `bytes`: more than any machine has, and so small that round_up_to_page() cannot overflow.
constexpr std::size_t max_bytes = std::size_t{1} << 62;

#ifdef MADV_POPULATE_WRITE
constexpr int populate_write = MADV_POPULATE_WRITE;
#else
constexpr int populate_write = 23;  // value since Linux 5.14, for builds with older headers; older kernels return EINVAL
#endif

[[noreturn]] void no_memory(std::size_t bytes, int reason) {
  throw StorageError(fmt::format("cannot allocate {} bytes of memory for input and output: "
                                 "{}; give the job more memory, or start fewer ranks per node",
                                 bytes, std::generic_category().message(reason)),
                     reason, "");
}

/// Maps `bytes` bytes of anonymous memory by mmap(2). Returns nullptr and sets errno on failure.
std::byte* map(std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

/// Maps `bytes` bytes of memory at an address that is a multiple of the huge page size. For this, the function maps one
/// huge page more than needed, then unmaps the excess at both ends. (Linux itself aligns large mappings only since 6.7.)
std::byte* map_on_huge_pages(std::size_t bytes) {
  std::byte* const data = map(bytes + huge_page);
  if (data == nullptr) return nullptr;
  const auto lead = (huge_page - reinterpret_cast<std::uintptr_t>(data) % huge_page) % huge_page;
  if (lead > 0) ::munmap(data, lead);
  ::munmap(data + lead + bytes, huge_page - lead);
  return data + lead;
}

void touch_pages(std::byte* data, std::size_t bytes) {
  if (::madvise(data, bytes, populate_write) == 0) return;
  if (errno == ENOMEM) no_memory(bytes, errno);
  for (std::size_t at = 0; at < bytes; at += io_alignment) static_cast<volatile std::byte*>(data)[at] = std::byte{0};
}

}  // namespace

AlignedMemory::AlignedMemory(std::size_t bytes, std::size_t touched) {
  if (bytes == 0) return;
  if (bytes > max_bytes) no_memory(bytes, ENOMEM);
  const auto pages = round_up_to_page(bytes);
  data_ = {pages < huge_page ? map(pages) : map_on_huge_pages(pages), Unmap{bytes}};
  if (data_ == nullptr) no_memory(bytes, errno);
  touch(touched);
}

void AlignedMemory::touch(std::size_t count) {
  const auto pages = round_up_to_page(std::min(count, bytes().size()));
  if (pages <= touched_) return;
  // MADV_HUGEPAGE is only a hint: if it fails, small pages are used. Not for less than a huge page, because a complete
  // huge page would be allocated.
  if (pages >= huge_page) ::madvise(data_.get(), pages, MADV_HUGEPAGE);
  touch_pages(data_.get() + touched_, pages - touched_);
  touched_ = pages;
}

void AlignedMemory::Unmap::operator()(std::byte* data) const { ::munmap(data, round_up_to_page(size)); }

}  // namespace trainrt::io
