// Memory that the ranks of a node share: anonymous files (memfd), and /dev/shm, which MPI and NCCL use.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "comm/mpi/mpi_transports.hpp"
#include "io/files/file.hpp"
#include "io/files/file_system.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr std::uint64_t enough = std::uint64_t{256} << 20;  // containers start with 64 MiB
constexpr std::uint64_t token = 0x7472'6169'6e72'7421;

io::Descriptor make_memfd() {
  io::Descriptor fd(memfd_create("trainrt-doctor", MFD_CLOEXEC));
  if (fd.get() < 0 || pwrite(fd.get(), &token, sizeof token, 0) != sizeof token)
    throw Error(fmt::format("memfd_create does not work: {}", std::strerror(errno)));
  return fd;
}

/// Memory that another rank of this node has made, as the node's communicator reaches it.
void require_reach(int process, int fd) {
  const auto path = fmt::format("/proc/{}/fd/{}", process, fd);
  const io::Descriptor theirs(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (theirs.get() < 0) throw Error(fmt::format("cannot open memory of another rank: {}", std::strerror(errno)));
  std::uint64_t found = 0;
  if (pread(theirs.get(), &found, sizeof found, 0) != sizeof found || found != token)
    throw Error("finds another process where a rank of this node should be (each is in a container of its own?)");
}

/// What keeps the ranks of a node from reaching each other's memory.
std::vector<Trouble> troubles_of_sharing(const Examination& examination) {
  std::optional<io::Descriptor> mine;
  const auto made = examination.ask_nodes([&] {
    mine.emplace(make_memfd());
    return Json{{"process", getpid()}, {"fd", mine->get()}};
  });
  if (!made.well()) return made.troubles;
  const auto& first = made.of_rank[static_cast<std::size_t>(examination.world().node_rank)];
  const auto reached = examination.ask([&] {
    if (!examination.leads_node()) require_reach(first.at("process"), first.at("fd"));
    return Json();
  });
  return reached.troubles;
}

Finding examine_shared_memory(const Examination& examination) {
  if (const auto troubles = troubles_of_sharing(examination); !troubles.empty())
    return warning(
        examination.describe(troubles),
        "the ranks of that node talk over MPI, slower: start all of a node in one container and as one user, and "
        "without hidepid on /proc");
  const auto answers = examination.ask_nodes([&] {
    const auto free_bytes = io::file_system_of("/dev/shm").free_bytes;
    const auto facts = comm::ucx_facts(examination.world(), examination.environment());
    auto trouble = facts.shm_problem;
    if (!trouble.empty() && !facts.sysv_problem.empty()) trouble += "; " + facts.sysv_problem;
    if (trouble.empty() && free_bytes < enough) trouble = fmt::format("/dev/shm has {} MiB free", free_bytes >> 20);
    return Json{{"free_bytes", free_bytes}, {"trouble", trouble}};
  });
  if (!answers.well())
    return warning(examination.describe(answers.troubles), "MPI and NCCL want it: have it mounted there");
  std::uint64_t least = ~std::uint64_t{0};
  std::vector<Trouble> small;
  for (std::size_t node = 0; node < answers.of_rank.size(); ++node) {
    const auto& answer = answers.of_rank[node];
    least = std::min(least, answer.at("free_bytes").get<std::uint64_t>());
    if (const auto trouble = answer.at("trouble").get<std::string>(); !trouble.empty())
      small.push_back({examination.leaders()[node], trouble});
  }
  const Json figures = {{"least_free_bytes_in_dev_shm", least}};
  if (!small.empty())
    return warning(examination.describe(small),
                   "NCCL fails if it is full, and MPI goes without it, by System V shared memory if there is some: remove "
                   "what lies there, or start the container with a larger --shm-size",
                   figures);
  return ok(
      fmt::format("ranks of a node can share it; /dev/shm has {:.1f} GiB free", static_cast<double>(least) / (1 << 30)),
      figures);
}

}  // namespace

extern const Check shared_memory;
const Check shared_memory{.name = "shared_memory",
                          .help = "memory that the ranks of a node share: memfd, /dev/shm",
                          .place = 110,
                          .run = examine_shared_memory};

}  // namespace trainrt::cli::doctor::plugins
