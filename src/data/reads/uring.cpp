#ifdef TRAINRT_LIBURING
#include <liburing.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/file_reader.hpp"
#include "io/uninterrupted.hpp"

namespace trainrt::data {

namespace {

#ifdef TRAINRT_LIBURING

constexpr unsigned in_flight = 64;

[[noreturn]] void lost(int code) {
  throw Error(fmt::format("io_uring, waiting for what is being read: {}", std::strerror(-code)));
}

/// The kernel's queues of one thread.
class Ring {
 public:
  Ring() {
    int code = ::io_uring_queue_init(in_flight, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
    if (code == -EINVAL) code = ::io_uring_queue_init(in_flight, &ring_, 0);  // before Linux 6.1
    if (code < 0)
      throw UsageError(
          fmt::format("the kernel of this node does not give io_uring ({}): set read = pread, or ask whoever "
                      "runs the node (/proc/sys/kernel/io_uring_disabled, limits of containers)",
                      std::strerror(-code)));
  }
  ~Ring() { ::io_uring_queue_exit(&ring_); }
  Ring(const Ring&) = delete;

  /// How many bytes came of each of up to `in_flight` parts, or a negative error. When it returns, or throws, the kernel
  /// writes to none of them any more.
  std::array<std::int32_t, in_flight> read(int fd, std::span<const FilePart> parts) {
    std::array<std::int32_t, in_flight> came;
    came.fill(-EAGAIN);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto* const entry = ::io_uring_get_sqe(&ring_);
      const auto bytes = std::min(parts[i].into.size(), io::bytes_per_call);
      ::io_uring_prep_read(entry, fd, parts[i].into.data(), static_cast<unsigned>(bytes), parts[i].offset);
      ::io_uring_sqe_set_data64(entry, i);
    }
    for (std::size_t left = parts.size(); left > 0;) left -= take(submit(), came);
    return came;
  }

 private:
  /// Waits for one at least.
  int submit() {
    const int code = ::io_uring_submit_and_wait(&ring_, 1);
    return code == -EINTR || code == -EAGAIN || code == -EBUSY || code == -ENOMEM ? 0 : code;
  }

  /// Ends the process if the kernel does not know its queues any more: nobody knows then what it still writes to.
  std::size_t take(int code, std::array<std::int32_t, in_flight>& came) noexcept {
    if (code < 0) lost(code);
    io_uring_cqe* done = nullptr;
    std::size_t count = 0;
    for (; ::io_uring_peek_cqe(&ring_, &done) == 0; ++count) {
      came[::io_uring_cqe_get_data64(done)] = done->res;
      ::io_uring_cqe_seen(&ring_, done);
    }
    return count;
  }

  io_uring ring_{};
};

Ring& ring_of_thread() {
  thread_local Ring ring;
  return ring;
}

class RingReader final : public FileReader {
 public:
  RingReader(int fd, const DataFile& file) : fd_(fd), file_(file), plain_(plain_reader(fd, file)) {}
  std::size_t most_in_flight() const override { return in_flight; }
  /// What did not come, or not all of it, is read by pread, which says what is wrong.
  void read(std::span<const FilePart> parts) const override {
    if (parts.size() == 1) return plain_->read(parts);
    for (; !parts.empty(); parts = parts.subspan(std::min<std::size_t>(in_flight, parts.size()))) {
      const auto lot = parts.first(std::min<std::size_t>(in_flight, parts.size()));
      const auto came = ring_of_thread().read(fd_, lot);
      for (std::size_t i = 0; i < lot.size(); ++i)
        read_part(fd_, file_, lot[i], static_cast<std::size_t>(std::max(came[i], 0)));
    }
  }

 private:
  int fd_;
  const DataFile& file_;
  std::unique_ptr<FileReader> plain_;
};

void require_ring() { Ring(); }

std::unique_ptr<FileReader> ring_reader(int fd, const DataFile& file) { return std::make_unique<RingReader>(fd, file); }

#else

void require_ring() {
  throw UsageError(
      "this trainrt was built without io_uring: set read = pread, or install the package liburing-dev and build it again");
}

std::unique_ptr<FileReader> ring_reader(int fd, const DataFile& file) { return plain_reader(fd, file); }

#endif

}  // namespace

namespace plugins {

extern const ReadWay uring{.name = "uring",
                           .help = "the pieces of a batch all at once, by io_uring: for shuffled samples on fast storage",
                           .require = require_ring,
                           .open = ring_reader};

}  // namespace plugins

}  // namespace trainrt::data
