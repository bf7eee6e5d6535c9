// Memory that the ranks of a node share: anonymous files (memfd), and /dev/shm, which MPI and NCCL use.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <trainrt/error.hpp>

#include "cli/doctor_check.hpp"
#include "io/file.hpp"
#include "io/file_system.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr std::uint64_t enough = std::uint64_t{256} << 20;  // containers start with 64 MiB

void require_memfd() {
  const io::Descriptor fd(memfd_create("trainrt-doctor", MFD_CLOEXEC));
  if (fd.get() < 0 || ftruncate(fd.get(), 4096) != 0)
    throw Error(fmt::format("memfd_create does not work: {}", std::strerror(errno)));
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (page == MAP_FAILED) throw Error(fmt::format("cannot map a memfd: {}", std::strerror(errno)));
  munmap(page, 4096);
}

Finding examine(const Examination& examination) {
  const auto answers = examination.ask_nodes([] {
    require_memfd();
    return Json(io::file_system_of("/dev/shm").free_bytes);
  });
  if (!answers.well())
    return error(examination.told(answers.troubles), "ranks of a node cannot share memory there: ask who runs the nodes");
  std::uint64_t least = ~std::uint64_t{0};
  std::vector<Trouble> small;
  for (std::size_t node = 0; node < answers.of_rank.size(); ++node) {
    const auto free_bytes = answers.of_rank[node].get<std::uint64_t>();
    least = std::min(least, free_bytes);
    if (free_bytes < enough)
      small.push_back({examination.leaders()[node], fmt::format("/dev/shm has {} MiB free", free_bytes >> 20)});
  }
  const Json figures = {{"least_free_bytes_in_dev_shm", least}};
  if (!small.empty())
    return warning(examination.told(small),
                   "MPI and NCCL fail where it is full: remove what lies there, or start the container with a larger "
                   "--shm-size",
                   figures);
  return ok(fmt::format("memfd works, /dev/shm has {:.1f} GiB free", static_cast<double>(least) / (1 << 30)), figures);
}

}  // namespace

extern const Check shared_memory;
const Check shared_memory{.name = "shared_memory",
                          .help = "memory that the ranks of a node share: memfd, /dev/shm",
                          .place = 110,
                          .run = examine};

}  // namespace trainrt::cli::doctor::plugins
