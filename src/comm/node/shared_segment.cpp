#include "comm/node/shared_segment.hpp"

#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/reserve_pages.hpp"
#include "core/host.hpp"
#include "core/process/memory.hpp"
#include "core/process/page_size.hpp"

namespace trainrt::comm {

namespace {

/// Throws std::runtime_error for a failed system call. attempt() converts the exception to a text.
[[noreturn]] void fail(const char* what, int code = errno) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(code)));
}

std::uint64_t nonce() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

/// The address of a shared memory file. The other ranks of a node open the file of the node's first rank as
/// /proc/PROCESS/fd/FD. Process ids are not unique across containers, so this path may lead to another file. Only the last
/// page of the right file contains `nonce`.
struct SegmentAddress {
  pid_t process = 0;
  int fd = -1;
  std::uint64_t nonce = 0;
};

void reserve(int fd, std::size_t offset, std::size_t bytes) {
  if (const int code = reserve_pages(fd, offset, bytes); code != 0)
    fail(fmt::format("cannot reserve {} bytes of memory", bytes).c_str(), code);
}

/// A file descriptor that is closed when its last owner is destroyed.
using SharedFd = std::shared_ptr<const int>;

/// Takes ownership of `fd`, the result of the system call with the name `call`. Throws std::runtime_error if `fd` is
/// negative.
SharedFd owned(int fd, const char* call) {
  if (fd < 0) fail(call);
  return {new int(fd), [](const int* number) {
            close(*number);
            delete number;
          }};
}

SharedFd make(std::size_t total, std::uint64_t mark) {
  auto fd = owned(memfd_create("trainrt", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create");
  if (ftruncate(*fd, static_cast<off_t>(total + page_size())) != 0) fail("ftruncate");
  if (fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail("F_ADD_SEALS");
  reserve(*fd, total, page_size());
  if (pwrite(*fd, &mark, sizeof mark, static_cast<off_t>(total)) != sizeof mark) fail("pwrite");
  return fd;
}

SharedFd open_other(const SegmentAddress& address, std::size_t total) {
  const auto path = fmt::format("/proc/{}/fd/{}", address.process, address.fd);
  auto fd = owned(open(path.c_str(), O_RDWR | O_CLOEXEC), path.c_str());
  std::uint64_t found = 0;
  if (pread(*fd, &found, sizeof found, static_cast<off_t>(total)) != sizeof found || found != address.nonce)
    throw std::runtime_error(path + " is not the shared memory of the node's first rank");
  return fd;
}

Memory map(int fd, std::size_t total, int flags) {
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return Memory(static_cast<std::byte*>(memory), [total](std::byte* p) { munmap(p, total); });
}

/// Runs `function`. Returns the message of the std::runtime_error that it throws, or "" if it succeeds.
template <class Function>
std::string attempt(Function&& function) {
  try {
    function();
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

/// Gathers the failures of all ranks. Returns the failure of the lowest failed rank, with its rank number and host, or ""
/// if no rank failed. `mine`: the failure of this rank, or "". Collective.
std::string first_failure(const SegmentRanks& ranks, const std::string& mine) {
  const auto text_of_rank = mine.empty() ? mine : fmt::format("rank {} ({}): {}", ranks.rank, host_name(), mine);
  for (const auto& text : ranks.gather(text_of_rank))
    if (!text.empty()) return text;
  return {};
}

/// The ranks on the same node as this rank.
struct NodeRanks {
  std::size_t leader = 0;  ///< lowest rank on the node
  int index = 0;           ///< index of this rank among the ranks of the node
  std::size_t count = 0;
};

NodeRanks node_ranks_of(const SegmentRanks& ranks) {
  const auto self = static_cast<std::size_t>(ranks.rank);
  NodeRanks found{.leader = self};
  for (std::size_t r = 0; r < ranks.node_of.size(); ++r) {
    if (ranks.node_of[r] != ranks.node_of[self]) continue;
    found.leader = std::min(found.leader, r);
    if (r < self) ++found.index;
    ++found.count;
  }
  return found;
}

/// The pages of a shared memory segment that this rank reserves before any rank accesses the segment.
struct PageRange {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  int map_flags = 0;
};

/// Returns `bytes` rounded up to complete pages, at least one. A program maps its slice with mmap(2), whose offsets must be
/// multiples of the page size.
std::size_t whole_pages(std::size_t bytes) { return round_up_to_page(std::max<std::size_t>(bytes, 1)); }

/// Creates the shared memory and the file descriptor of `segment`; the caller has set its sizes and its index. Collective.
SharedSegment shared_by(const SegmentRanks& ranks, std::size_t leader, SharedSegment segment, const PageRange& reserved,
                        std::string& failure) {
  const bool leads = leader == static_cast<std::size_t>(ranks.rank);
  SegmentAddress address;
  SharedFd fd;
  auto mine = attempt([&] {
    if (!leads) return;
    if (segment.slice == 0)
      // the free memory is checked here, because the pages are not reserved in advance
      require_memory(segment.total, "the memory that the ranks of a node share");
    address.nonce = nonce();
    fd = make(segment.total, address.nonce);
    address.process = getpid();
    address.fd = *fd;
  });
  const auto all = ranks.gather(std::string_view(reinterpret_cast<const char*>(&address), sizeof address));
  std::memcpy(&address, all[leader].data(), sizeof address);
  if (mine.empty())
    mine = attempt([&] {
      if (address.fd < 0) throw std::runtime_error("the first rank of this node could not create shared memory");
      if (!leads) fd = open_other(address, segment.total);
      reserve(*fd, reserved.offset, reserved.bytes);
    });
  // first_failure() is collective: when it returns, all ranks have reserved their pages, and no page was accessed.
  failure = first_failure(ranks, mine);
  if (!failure.empty()) return {};
  mine = attempt([&] { segment.memory = map(*fd, segment.total, reserved.map_flags); });
  failure = first_failure(ranks, mine);
  segment.file = std::move(fd);
  return failure.empty() ? segment : SharedSegment{};
}

}  // namespace

SharedSegment share_segment(const SegmentRanks& ranks, std::size_t bytes, std::string& failure) {
  const auto here = node_ranks_of(ranks);
  SharedSegment segment;
  segment.index = here.index;
  segment.slice = whole_pages(bytes);
  segment.total = segment.slice * here.count;
  // Each rank reserves the pages of its own slice, so that they are in the memory next to the rank's cores.
  const PageRange own{static_cast<std::size_t>(here.index) * segment.slice, segment.slice, MAP_POPULATE};
  return shared_by(ranks, here.leader, segment, own, failure);
}

SharedSegment share_on_demand(const SegmentRanks& ranks, std::size_t bytes, std::size_t reserved, std::string& failure) {
  const auto here = node_ranks_of(ranks);
  SharedSegment segment;
  segment.index = here.index;
  segment.total = whole_pages(bytes);
  return shared_by(ranks, here.leader, segment, {0, here.index == 0 ? reserved : 0, 0}, failure);
}

}  // namespace trainrt::comm
