#include "calls.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <regex>

namespace attack {

namespace {

constexpr int none = -1;
constexpr int cwd = -2;

/// Indices of the arguments that name a file: a directory descriptor (or `cwd`) and a path, or only a descriptor.
struct Place {
  int directory = none;
  int path = none;
};

struct Rule {
  long number;
  const char* kind;
  Place first;
  Place second = {};
};

constexpr std::array rules = {
    Rule{SYS_open, "open", {cwd, 0}},
    Rule{SYS_openat, "open", {0, 1}},
    Rule{SYS_openat2, "open", {0, 1}},
    Rule{SYS_creat, "create", {cwd, 0}},
    Rule{SYS_read, "read", {0}},
    Rule{SYS_readv, "read", {0}},
    Rule{SYS_pread64, "read", {0}},
    Rule{SYS_preadv, "read", {0}},
    Rule{SYS_write, "write", {0}},
    Rule{SYS_writev, "write", {0}},
    Rule{SYS_pwrite64, "write", {0}},
    Rule{SYS_pwritev, "write", {0}},
    Rule{SYS_getdents64, "list", {0}},
    Rule{SYS_fsync, "sync", {0}},
    Rule{SYS_fdatasync, "sync", {0}},
    Rule{SYS_close, "close", {0}},
    Rule{SYS_rename, "rename", {cwd, 0}, {cwd, 1}},
    Rule{SYS_renameat, "rename", {0, 1}, {2, 3}},
    Rule{SYS_renameat2, "rename", {0, 1}, {2, 3}},
    Rule{SYS_link, "link", {cwd, 0}, {cwd, 1}},
    Rule{SYS_linkat, "link", {0, 1}, {2, 3}},
    Rule{SYS_symlink, "link", {cwd, 1}},
    Rule{SYS_symlinkat, "link", {1, 2}},
    Rule{SYS_mkdir, "mkdir", {cwd, 0}},
    Rule{SYS_mkdirat, "mkdir", {0, 1}},
    Rule{SYS_unlink, "unlink", {cwd, 0}},
    Rule{SYS_unlinkat, "unlink", {0, 1}},
    Rule{SYS_rmdir, "rmdir", {cwd, 0}},
    Rule{SYS_fallocate, "reserve", {0}},
    Rule{SYS_ftruncate, "truncate", {0}},
    Rule{SYS_truncate, "truncate", {cwd, 0}},
    Rule{SYS_stat, "stat", {cwd, 0}},
    Rule{SYS_lstat, "stat", {cwd, 0}},
    Rule{SYS_fstat, "stat", {0}},
    Rule{SYS_newfstatat, "stat", {0, 1}},
    Rule{SYS_statx, "stat", {0, 1}},
    Rule{SYS_access, "stat", {cwd, 0}},
    Rule{SYS_faccessat, "stat", {0, 1}},
    Rule{SYS_faccessat2, "stat", {0, 1}},
    Rule{SYS_utimensat, "touch", {0, 1}},
};

std::string link_target(const std::string& link) {
  std::string target(PATH_MAX, '\0');
  const auto length = ::readlink(link.c_str(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return target;
}

std::string text_at(pid_t tid, std::uint64_t address) {
  std::string text(PATH_MAX, '\0');
  const iovec here{text.data(), text.size()};
  const iovec there{reinterpret_cast<void*>(address), text.size()};
  const auto length = ::process_vm_readv(tid, &here, 1, &there, 1, 0);  // the read may cross the end of mapped memory
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text.substr(0, text.find('\0'));
}

/// Reads a word of the thread's memory, or returns 0. The first word of the struct of openat2(2) holds its flags.
std::uint64_t word_at(pid_t tid, std::uint64_t address) {
  std::uint64_t word = 0;
  const iovec here{&word, sizeof(word)};
  const iovec there{reinterpret_cast<void*>(address), sizeof(word)};
  return ::process_vm_readv(tid, &here, 1, &there, 1, 0) == sizeof(word) ? word : 0;
}

std::string of_descriptor(pid_t tid, std::uint64_t descriptor) {
  const auto number = static_cast<int>(descriptor);
  const auto folder = "/proc/" + std::to_string(tid);
  return link_target(number == AT_FDCWD ? folder + "/cwd" : folder + "/fd/" + std::to_string(number));
}

std::string absolute(pid_t tid, const Place& place, const std::array<std::uint64_t, 6>& arguments) {
  const auto argument = [&](int index) { return arguments.at(static_cast<std::size_t>(index)); };
  const auto path = place.path == none ? "" : text_at(tid, argument(place.path));
  if (path.starts_with('/')) return path;
  const auto base =
      of_descriptor(tid, place.directory == cwd ? static_cast<std::uint64_t>(AT_FDCWD) : argument(place.directory));
  return path.empty() ? base : base + "/" + path;
}

/// Removes host and pid from names of temporary files (".NAME.tmp.HOST.PID", "NAME.PID.part"), which differ between runs.
std::string steady(const std::string& path) {
  static const std::regex owner(R"(\.tmp\.[^/>]*\.\d+)"), process(R"(\.\d+\.part)");
  return std::regex_replace(std::regex_replace(path, owner, ".tmp"), process, ".part");
}

std::optional<std::string> below(const std::string& path, const std::string& directory) {
  if (path == directory) return ".";
  if (!path.starts_with(directory + "/")) return std::nullopt;
  return steady(path.substr(directory.size() + 1));
}

bool open_for_writing(pid_t tid, std::uint64_t descriptor) {
  std::ifstream info("/proc/" + std::to_string(tid) + "/fdinfo/" + std::to_string(static_cast<int>(descriptor)));
  std::string word;
  while (info >> word)
    if (word == "flags:" && info >> word) return (std::stoul(word, nullptr, 8) & O_ACCMODE) != O_RDONLY;
  return false;
}

/// Returns the kind of the call, which may depend on its arguments; "" for a call that is not attacked.
std::string kind_of(pid_t tid, const Rule& rule, const std::array<std::uint64_t, 6>& arguments) {
  if (rule.number == SYS_unlinkat && (arguments[2] & AT_REMOVEDIR) != 0) return "rmdir";
  if (rule.number == SYS_close && !open_for_writing(tid, arguments[0])) return "";
  if (rule.number == SYS_open || rule.number == SYS_openat || rule.number == SYS_openat2) {
    const auto flags = rule.number == SYS_openat2 ? word_at(tid, arguments[2]) : arguments[rule.number == SYS_open ? 1 : 2];
    if ((flags & (O_CREAT | O_TRUNC)) != 0) return "create";
  }
  return rule.kind;
}

}  // namespace

std::vector<long> watched_calls() {
  std::vector<long> numbers;
  for (const auto& rule : rules) numbers.push_back(rule.number);
  return numbers;
}

std::optional<Call> call_of(pid_t tid, std::uint64_t number, const std::array<std::uint64_t, 6>& arguments,
                            const std::string& directory) {
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& each) { return each.number == static_cast<long>(number); });
  if (rule == rules.end()) return std::nullopt;
  const auto from = below(absolute(tid, rule->first, arguments), directory);
  const auto to = rule->second.path == none ? std::nullopt : below(absolute(tid, rule->second, arguments), directory);
  if (!from && !to) return std::nullopt;
  const auto kind = kind_of(tid, *rule, arguments);
  if (kind.empty()) return std::nullopt;
  if (rule->second.path == none) return Call{kind, *from};
  return Call{kind, from.value_or("elsewhere") + ">" + to.value_or("elsewhere")};
}

}  // namespace attack
