#include "comm/shared_segment.hpp"

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

#include "core/host.hpp"

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

/// Pages that are reserved cannot fail later, when they are touched (SIGBUS).
void reserve(int fd, std::size_t offset, std::size_t bytes) {
  int code = 0;
  do {
    code = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (code == EINTR);
  if (code != 0) fail(fmt::format("no memory for {} bytes", bytes).c_str(), code);
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

Memory map(int fd, std::size_t total) {
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
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

}  // namespace

SharedSegment share_segment(Communicator& communicator, std::span<const int> node_of_rank, std::size_t bytes,
                            std::string& obstacle) {
  const auto self = static_cast<std::size_t>(communicator.rank());
  SharedSegment segment;
  std::size_t leader = self;
  std::size_t ranks = 0;
  for (std::size_t r = 0; r < node_of_rank.size(); ++r) {
    if (node_of_rank[r] != node_of_rank[self]) continue;
    leader = std::min(leader, r);
    if (r < self) ++segment.index;
    ++ranks;
  }
  segment.slice = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  segment.total = segment.slice * ranks;

  Address address;
  Descriptor fd;
  auto mine = attempt([&] {
    if (leader != self) return;
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
      if (leader != self) fd = open_other(address, segment.total);
      // Each rank its own slice, so that it lies in the memory next to its cores.
      reserve(fd.get(), static_cast<std::size_t>(segment.index) * segment.slice, segment.slice);
    });
  obstacle = first_obstacle(communicator, mine);  // all slices are reserved before anyone touches one
  if (!obstacle.empty()) return {};
  mine = attempt([&] { segment.memory = map(fd.get(), segment.total); });
  obstacle = first_obstacle(communicator, mine);
  segment.file = shared(std::move(fd));
  return obstacle.empty() ? segment : SharedSegment{};
}

}  // namespace trainrt::comm
