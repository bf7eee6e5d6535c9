#include "data/bytes/ring.hpp"

#ifdef TRAINRT_LIBURING
#include <liburing.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/descriptor.hpp"

namespace trainrt::data {

#ifdef TRAINRT_LIBURING

namespace {

[[noreturn]] void fail_wait(int code) {
  throw Error(fmt::format("cannot wait for reads by io_uring: {}", std::strerror(-code)));
}

/// The submission queue and completion queue of io_uring for one thread.
class Ring {
 public:
  Ring() {
    int code = ::io_uring_queue_init(ring_parts, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
    if (code == -EINVAL) code = ::io_uring_queue_init(ring_parts, &ring_, 0);  // Linux before 6.1 refuses the flags
    if (code < 0)
      throw UsageError(
          fmt::format("the kernel of this node does not allow io_uring ({}). Set read_method = pread, "
                      "or ask the node's administrator (/proc/sys/kernel/io_uring_disabled, limits of containers)",
                      std::strerror(-code)));
  }
  ~Ring() { ::io_uring_queue_exit(&ring_); }
  Ring(const Ring&) = delete;

  std::array<std::int32_t, ring_parts> read(int fd, std::span<const FilePart> parts) {
    std::array<std::int32_t, ring_parts> results;
    results.fill(-EAGAIN);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto* const entry = ::io_uring_get_sqe(&ring_);
      const auto bytes = std::min(parts[i].into.size(), io::bytes_per_call);
      ::io_uring_prep_read(entry, fd, parts[i].into.data(), static_cast<unsigned>(bytes), parts[i].offset);
      ::io_uring_sqe_set_data64(entry, i);
    }
    for (std::size_t left = parts.size(); left > 0;) left -= collect(submit(), results);
    return results;
  }

 private:
  /// Submits the reads and waits until at least one has completed. Returns a negative errno on failure.
  int submit() {
    const int code = ::io_uring_submit_and_wait(&ring_, 1);
    return code == -EINTR || code == -EAGAIN || code == -EBUSY || code == -ENOMEM ? 0 : code;
  }

  /// Stores the results of completed reads in `results` and returns the number of these reads. If the queue fails, noexcept
  /// terminates the process, because an exception could free buffers into which the kernel still writes.
  std::size_t collect(int code, std::array<std::int32_t, ring_parts>& results) noexcept {
    if (code < 0) fail_wait(code);
    io_uring_cqe* done = nullptr;
    std::size_t count = 0;
    for (; ::io_uring_peek_cqe(&ring_, &done) == 0; ++count) {
      results[::io_uring_cqe_get_data64(done)] = done->res;
      ::io_uring_cqe_seen(&ring_, done);
    }
    return count;
  }

  io_uring ring_{};
};

}  // namespace

void require_ring() { Ring(); }

std::array<std::int32_t, ring_parts> read_by_ring(int fd, std::span<const FilePart> parts) {
  thread_local Ring ring;
  return ring.read(fd, parts);
}

#else

void require_ring() {
  throw UsageError(
      "this trainrt was built without io_uring. "
      "Set read_method = pread, or install the package liburing-dev and build trainrt again");
}

std::array<std::int32_t, ring_parts> read_by_ring(int, std::span<const FilePart>) {
  require_ring();
  return {};
}

#endif

}  // namespace trainrt::data
