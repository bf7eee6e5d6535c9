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

namespace trainrt::comm {

namespace {

constexpr std::size_t page = 4096;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// An obstacle on this rank; becomes text for all.
[[noreturn]] void fail(const char* what, int code = errno) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(code)));
}

std::uint64_t nonce() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

/// What the first rank of a node tells the others: where its descriptor is found, and what stands in the last page, so that
/// nobody mistakes another process for it (containers may number processes anew).
struct Address {
  pid_t process = 0;
  int fd = -1;
  std::uint64_t nonce = 0;
};

void reserve(int fd, std::size_t offset, std::size_t bytes) {
  if (const int code = reserve_pages(fd, offset, bytes); code != 0)
    fail(fmt::format("no memory for {} bytes", bytes).c_str(), code);
}

Descriptor make(std::size_t total, std::uint64_t mark) {
  Descriptor fd(memfd_create("trainrt", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd.get() < 0) fail("memfd_create");
  if (ftruncate(fd.get(), static_cast<off_t>(total + page)) != 0) fail("ftruncate");
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail("F_ADD_SEALS");
  reserve(fd.get(), total, page);
  if (pwrite(fd.get(), &mark, sizeof mark, static_cast<off_t>(total)) != sizeof mark) fail("pwrite");
  return fd;
}

Descriptor open_other(const Address& address, std::size_t total) {
  const auto path = fmt::format("/proc/{}/fd/{}", address.process, address.fd);
  Descriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd.get() < 0) fail(path.c_str());
  std::uint64_t found = 0;
  if (pread(fd.get(), &found, sizeof found, static_cast<off_t>(total)) != sizeof found || found != address.nonce)
    throw std::runtime_error(path + " is not what the other rank has made");
  return fd;
}

std::shared_ptr<const int> shared(Descriptor fd) {
  return {new int(fd.release()), [](const int* number) {
            close(*number);
            delete number;
          }};
}

Memory map(int fd, std::size_t total, int flags) {
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return Memory(static_cast<std::byte*>(memory), [total](std::byte* p) { munmap(p, total); });
}

/// Runs this rank's part; returns what stood in its way.
template <class Function>
std::string attempt(Function&& function) {
  try {
    function();
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string first_obstacle(Communicator& communicator, const std::string& mine) {
  const auto said = mine.empty() ? mine : fmt::format("rank {} ({}): {}", communicator.rank(), host_name(), mine);
  for (const auto& text : communicator.all_gather(said))
    if (!text.empty()) return text;
  return {};
}

/// The ranks of this one's node.
struct Neighbours {
  std::size_t leader = 0;  ///< the lowest of them
  int index = 0;           ///< how many are below this one
  std::size_t count = 0;
};

Neighbours neighbours_of(std::size_t self, std::span<const int> node_of_rank) {
  Neighbours found{.leader = self};
  for (std::size_t r = 0; r < node_of_rank.size(); ++r) {
    if (node_of_rank[r] != node_of_rank[self]) continue;
    found.leader = std::min(found.leader, r);
    if (r < self) ++found.index;
    ++found.count;
  }
  return found;
}

/// Which pages of the segment this rank takes before anyone touches one.
struct Taken {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  int map_flags = 0;
};

std::size_t whole_pages(std::size_t bytes) { return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page; }

/// Makes what `segment` describes.
SharedSegment shared_by(Communicator& communicator, std::size_t leader, SharedSegment segment, const Taken& taken,
                        std::string& obstacle) {
  const bool leads = leader == static_cast<std::size_t>(communicator.rank());
  Address address;
  Descriptor fd;
  auto mine = attempt([&] {
    if (!leads) return;
    if (segment.slice == 0) require_memory(segment.total, "what the ranks of a node share");  // nobody reserves it
    address.nonce = nonce();
    fd = make(segment.total, address.nonce);
    address.process = getpid();
    address.fd = fd.get();
  });
  const auto all = communicator.all_gather(std::string_view(reinterpret_cast<const char*>(&address), sizeof address));
  std::memcpy(&address, all[leader].data(), sizeof address);
  if (mine.empty())
    mine = attempt([&] {
      if (address.fd < 0) throw std::runtime_error("the first rank of this node could make no shared memory");
      if (!leads) fd = open_other(address, segment.total);
      reserve(fd.get(), taken.offset, taken.bytes);
    });
  obstacle = first_obstacle(communicator, mine);  // all is reserved before anyone touches a page
  if (!obstacle.empty()) return {};
  mine = attempt([&] { segment.memory = map(fd.get(), segment.total, taken.map_flags); });
  obstacle = first_obstacle(communicator, mine);
  segment.file = shared(std::move(fd));
  return obstacle.empty() ? segment : SharedSegment{};
}

}  // namespace

SharedSegment share_segment(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                            std::string& obstacle) {
  const auto here = neighbours_of(static_cast<std::size_t>(communicator.rank()), node_of_rank);
  SharedSegment segment;
  segment.index = here.index;
  segment.slice = whole_pages(bytes);
  segment.total = segment.slice * here.count;
  // Each rank its own slice, so that it lies in the memory next to its cores.
  const Taken own{static_cast<std::size_t>(here.index) * segment.slice, segment.slice, MAP_POPULATE};
  return shared_by(communicator, here.leader, segment, own, obstacle);
}

SharedSegment share_on_demand(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                              std::size_t reserved, std::string& obstacle) {
  const auto here = neighbours_of(static_cast<std::size_t>(communicator.rank()), node_of_rank);
  SharedSegment segment;
  segment.index = here.index;
  segment.total = whole_pages(bytes);
  return shared_by(communicator, here.leader, segment, {0, here.index == 0 ? reserved : 0, 0}, obstacle);
}

}  // namespace trainrt::comm
