#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <set>

#include <arpa/inet.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/start/process_limits.hpp"
#include "core/options.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// Returns the folder in which torch.utils.cpp_extension compiles extensions, such as the operators of DeepSpeed.
std::string torch_extensions_folder(const Environment& environment) {
  const auto value = [&](const char* name) { return environment.text(name).value_or(""); };
  if (const auto folder = value("TORCH_EXTENSIONS_DIR"); !folder.empty()) return folder;
  const auto cache = value("XDG_CACHE_HOME");
  return (cache.empty() ? value("HOME") + "/.cache" : cache) + "/torch_extensions";
}

/// Returns the paths of the files named `lock` in `folder` that are at least 10 minutes old. A running compilation has no
/// lock of this age. torch waits without a limit until such a file is removed.
std::vector<std::string> stale_locks_in(const std::string& folder) {
  constexpr std::chrono::minutes min_age(10);
  constexpr int max_depth = 3;  // py311_cpu/fused_adam/lock
  std::vector<std::string> locks;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder, std::filesystem::directory_options::skip_permission_denied,
                                                      error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() >= max_depth) entry.disable_recursion_pending();
    std::error_code removed;
    if (entry->path().filename() != "lock") continue;
    const auto age = std::filesystem::file_time_type::clock::now() - entry->last_write_time(removed);
    if (!removed && age >= min_age) locks.push_back(entry->path().string());
  }
  return locks;
}

Finding check_stale_locks(const DoctorRanks& ranks, Json& figures) {
  const auto folder = torch_extensions_folder(ranks.environment());
  const auto answers = ranks.ask_nodes([&] { return Json(stale_locks_in(folder)); });
  std::set<std::string> paths;
  for (const auto& locks : answers.values) paths.insert(locks.begin(), locks.end());
  figures = {{"folder", folder}, {"locks", paths}};
  std::string command = "rm";
  for (const auto& path : paths) command += " " + shell_quoted(path);
  return warning_if(
      ranks.problems_in(answers, [](const Json& locks) { return join(locks.get<std::vector<std::string>>()); }),
      "torch and DeepSpeed wait for such an old lock forever. If no program compiles extensions now, remove it: " + command,
      "no stale locks of torch extensions");
}

/// Returns whether `network`, such as "10.0.0.0/8" or "fd00::/8", contains an address.
bool is_in_network(const std::string& address, const std::string& network) {
  const auto slash = std::min(network.find('/'), network.size());
  const auto length = parse_integer(network.substr(std::min(slash + 1, network.size()))).value_or(-1);
  const int family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  std::array<unsigned char, 16> mine{}, base{};
  if (length < 0 || length > (family == AF_INET ? 32 : 128) || inet_pton(family, address.c_str(), mine.data()) != 1 ||
      inet_pton(family, network.substr(0, slash).c_str(), base.data()) != 1)
    return false;
  const auto bytes = static_cast<std::size_t>(length) / 8, bits = static_cast<std::size_t>(length) % 8;
  return std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(bytes), base.begin()) &&
         (bits == 0 || (mine[bytes] ^ base[bytes]) >> (8 - bits) == 0);
}

/// Returns whether gRPC connects to an address without its proxy, because of an entry of `no_proxy`. The entry is "*",
/// a network that contains the address, or a text at the end of the address (ignoring case).
bool is_excepted(const std::string& address, const std::string& no_proxy) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::any_of(words_in(no_proxy), [&](const std::string& entry) {
    if (entry == "*" || is_in_network(address, entry)) return true;
    const auto size = std::min(entry.size(), address.size());
    return std::ranges::equal(std::string_view(address).substr(address.size() - size), entry, {}, lower, lower);
  });
}

/// Returns the environment variable from which gRPC takes its proxy; "" if no variable is set.
std::string grpc_proxy(const Environment& environment) {
  for (const auto* variable : {"grpc_proxy", "https_proxy", "http_proxy"})
    if (!environment.text(variable).value_or("").empty()) return variable;
  return {};
}

/// Returns "http_proxy = http://proxy:3128 is used for 10.0.0.1, ..." if gRPC would connect to any of the addresses through
/// a proxy, else "". See https://github.com/grpc/grpc/blob/master/doc/environment_variables.md.
std::string proxy_problem(const Environment& environment, const std::vector<std::string>& addresses) {
  const auto variable = grpc_proxy(environment);
  const auto no_proxy = environment.text(environment.has("no_grpc_proxy") ? "no_grpc_proxy" : "no_proxy").value_or("");
  std::vector<std::string> found;
  for (const auto& address : addresses)
    if (!is_excepted(address, no_proxy)) add_if_new(found, address);
  if (variable.empty() || found.empty()) return {};
  found.resize(std::min<std::size_t>(found.size(), 4));
  auto proxy = *environment.text(variable);
  const auto scheme_end = proxy.find("://"), at = proxy.rfind('@');
  const auto begin = scheme_end == std::string::npos ? 0 : scheme_end + 3;
  if (at != std::string::npos) proxy.erase(begin, at + 1 - begin);  // name and password
  return fmt::format("{} = {} is used for {}", variable, proxy, join(found));
}

Finding check_proxy(const DoctorRanks& ranks, Json& figures) {
  const auto set = ranks.ask([&] { return Json(!grpc_proxy(ranks.environment()).empty()); });
  if (std::ranges::none_of(set.values, [](const Json& each) { return each.get<bool>(); })) return ok("no proxy is set");
  auto addresses = ranks.hosts();
  try {
    addresses = ranks.program_addresses().of_nodes;
  } catch (const ProbeFailed&) {  // the check `program_address` reports the reason
  }
  const auto answers = ranks.ask([&] { return Json{{"problem", proxy_problem(ranks.environment(), addresses)}}; });
  const auto fine = std::ranges::count(answers.all<std::string>("problem"), "");
  figures = {{"addresses", addresses}, {"ranks_in_trouble", ranks.world().size - fine}};
  return warning_if(ranks.problems_in(answers, "problem"),
                    "unset the proxy in the batch script, or add the addresses of all nodes to no_proxy: gRPC, which JAX "
                    "and TensorFlow use, connects the ranks through it",
                    "no_proxy contains the nodes of the run");
}

Finding check_limits(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] {
    const auto limits = own_limits();
    return Json{{"open_files", limits.open_files.soft},
                {"processes", limits.processes.soft},
                {"too_low", join(limits_too_low(limits))}};
  });
  const auto min_of = [&](const char* key) {
    const auto min = std::ranges::min(answers.all<std::uint64_t>(key));
    return min == unlimited ? "unlimited" : std::to_string(min);
  };
  const auto files = min_of("open_files"), processes = min_of("processes");
  figures = {{"open_files", files}, {"processes", processes}};
  return warning_if(ranks.problems_in(answers, "too_low"),
                    "set the limit in the batch script before srun, which passes limits on (--propagate), or ask the site",
                    fmt::format("{} open files, {} processes", files, processes));
}

constexpr std::array<Check, 3> program_environment_checks = {{
    {"stale_locks", "stale locks of torch extensions", check_stale_locks, "check TORCH_EXTENSIONS_DIR on that node"},
    {"proxy", "proxies between the ranks", check_proxy, "check the environment on that node"},
    {"limits", "the limits that programs inherit", check_limits, "check `ulimit -a` on that node"},
}};

}  // namespace

extern const CheckGroup program_environment;
const CheckGroup program_environment{.name = "program_environment",
                                     .help = "the environment of a program that trainrt starts",
                                     .order = 70,
                                     .checks = program_environment_checks,
                                     .needs_program = true};

}  // namespace trainrt::cli::doctor::plugins
