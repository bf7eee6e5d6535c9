// Do file locks work in the storage, and do other nodes respect them? trainrt takes none; HDF5 in other programs does.
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/probe_file.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// Takes an exclusive lock at once, or says in errno why not.
bool lock_by_flock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0; }
bool lock_by_fcntl(int fd) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  return fcntl(fd, F_SETLK, &whole) == 0;
}

struct Kind {
  const char* name;
  bool (*lock)(int fd);
  const char* advice;
};
constexpr std::array kinds = {
    Kind{"flock", lock_by_flock,
         "trainrt locks nothing, but h5py and other HDF5 programs do: set HDF5_USE_FILE_LOCKING=FALSE for them"},
    Kind{"fcntl", lock_by_fcntl, "trainrt locks nothing; keep what locks so (SQLite, MPI-IO) on another file system"},
};

bool is_held(int reason) { return reason == EWOULDBLOCK || reason == EACCES; }

io::Descriptor open_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (fd < 0) io::fail("open", path, errno);
  return io::Descriptor(fd);
}

/// Of each kind: "locked", "held" by another rank, or the reason of a failure.
Json try_all(const io::Descriptor& file) {
  Json answers;
  for (const auto& kind : kinds)
    answers[kind.name] = kind.lock(file.get()) ? "locked" : is_held(errno) ? "held" : std::strerror(errno);
  return answers;
}

/// Rank 0's lock first, then those that another rank tried to take while it was held: null if none did.
std::vector<Json> try_on_ranks(const Examination& examination) {
  const auto& world = examination.world();
  const bool holds = world.rank == 0;
  const bool tries = !holds && (examination.leads_node() || (world.node_rank == 0 && world.local_rank == 1));
  const ProbeFile probe(examination.storage(), "lock");
  std::optional<io::Descriptor> held;
  auto answers = examination.ask([&] {
    if (!holds) return Json();
    held.emplace(open_file(probe.path(), O_CREAT));
    return Json{{"path", probe.path()}, {"locks", try_all(*held)}};
  });
  if (!answers.well()) return {};
  const std::string path = answers.of_rank.front().at("path");
  auto others = examination.ask([&] { return tries ? try_all(open_file(path, 0)) : Json(); });
  if (!others.well()) return {};
  others.of_rank.front() = answers.of_rank.front().at("locks");
  return others.of_rank;
}

/// "" if that kind works as it should.
std::string trouble_of(const Kind& kind, const Examination& examination, const std::vector<Json>& locks) {
  const std::string first = locks.front().at(kind.name);
  if (first != "locked") return fmt::format("{} does not work: {}", kind.name, first);
  std::vector<Trouble> troubles;
  for (std::size_t rank = 1; rank < locks.size(); ++rank) {
    if (locks[rank].is_null() || locks[rank].at(kind.name) == "held") continue;
    const std::string found = locks[rank].at(kind.name);
    troubles.push_back({static_cast<int>(rank), found == "locked" ? "does not see rank 0's lock" : found});
  }
  return troubles.empty() ? "" : fmt::format("{}: {}", kind.name, examination.describe(troubles));
}

Finding examine_file_locks(const Examination& examination) {
  const auto locks = try_on_ranks(examination);
  if (locks.empty()) return error("not every rank can open the same file", "see what `storage` says");
  Json figures;
  std::vector<std::string> troubles;
  std::vector<std::string> advice;
  for (const auto& kind : kinds) {
    const auto trouble = trouble_of(kind, examination, locks);
    figures[kind.name] = trouble.empty();
    if (trouble.empty()) continue;
    troubles.push_back(trouble);
    advice.emplace_back(kind.advice);
  }
  if (!troubles.empty()) return warning(join(troubles, "; "), join(advice, "; "), figures);
  return ok(examination.world().size == 1 ? "flock and fcntl work" : "flock and fcntl work, and other ranks respect them",
            figures);
}

}  // namespace

extern const Check file_locks;
const Check file_locks{.name = "file_locks",
                       .help = "whether file locks work in the storage, for HDF5 in other programs",
                       .place = 190,
                       .run = examine_file_locks};

}  // namespace trainrt::cli::doctor::plugins
