#include "checkpoint/save/private_directory.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <trainrt/error.hpp>

#include <unistd.h>

#include "core/host.hpp"
#include "core/options.hpp"
#include "core/process/processes.hpp"
#include "io/files/digest.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::string_view private_prefix = ".saving-";
constexpr double day_s = 24 * 3600;

struct ProcessIdentity {
  std::string host;
  int pid = 0;
  unsigned long long start = 0;
  std::string scope;
};

ProcessIdentity this_process() {
  const int pid = static_cast<int>(getpid());
  return {host_name(), pid, process_start_time(pid), io::digest_of(std::string_view(pid_scope())).substr(0, 8)};
}

/// Returns the process that created a private directory, from the directory's name; nullopt if the name is not one of
/// private_directory_name().
std::optional<ProcessIdentity> owner_of(const std::string& name) {
  if (!name.starts_with(private_prefix)) return std::nullopt;
  auto rest = name.substr(private_prefix.size());
  // The last four fields of the name: PID, START, SCOPE and NUMBER. Parsed from the end, because the host name may contain
  // dots.
  std::array<std::string, 4> fields;
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    const auto dot = rest.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    *field = rest.substr(dot + 1);
    rest.resize(dot);
  }
  const auto pid = parse_integer(fields[0]);
  const auto start = parse_integer(fields[1]);
  if (!pid || !start || *start < 0 || !parse_integer(fields[3])) return std::nullopt;
  return ProcessIdentity{rest, static_cast<int>(*pid), static_cast<unsigned long long>(*start), fields[2]};
}

/// Returns whether the process `owner` is running. Returns nullopt if this process, `me`, cannot find out, because
/// `owner` belongs to another host, boot or pid namespace.
std::optional<bool> is_alive(const ProcessIdentity& owner, const ProcessIdentity& me) {
  if (owner.host != me.host || owner.scope != me.scope || me.start == 0) return std::nullopt;
  return process_start_time(owner.pid) == owner.start;
}

}  // namespace

std::string private_directory_name() {
  static std::atomic<int> count{0};
  const auto me = this_process();
  return std::string(private_prefix) + me.host + "." + std::to_string(me.pid) + "." + std::to_string(me.start) + "." +
         me.scope + "." + std::to_string(++count);
}

void remove_abandoned(const std::string& directory, const std::function<void(const std::string&)>& warn) {
  if (!io::exists(directory)) return;
  const auto me = this_process();
  for (const auto& name : io::list_directory(directory)) {
    const auto owner = owner_of(name);
    if (!owner) continue;
    const auto path = directory + "/" + name;
    try {
      const auto alive = is_alive(*owner, me);
      if (alive ? !*alive : io::age_seconds(path) > day_s)
        io::remove_tree(path);
      else if (alive)
        warn("process " + std::to_string(owner->pid) + " also saves into '" + directory +
             "'. Only one program at a time may save into a directory: stop one of the two programs, or choose another "
             "directory");
    } catch (const Error& error) {
      warn("cannot remove the files of a killed process: " + std::string(error.what()));
    }
  }
}

}  // namespace trainrt::checkpoint
