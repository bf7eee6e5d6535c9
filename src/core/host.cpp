#include "core/host.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"

namespace trainrt {

namespace {

std::string text_of(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return text.data();
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::string node_name() { return Environment::of_process().text("SLURMD_NODENAME").value_or(host_name()); }

std::string host_address() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "127.0.0.1";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (usable && entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET)
      return text_of(*reinterpret_cast<const sockaddr_in*>(entry->ifa_addr));
  }
  return "127.0.0.1";
}

std::string pid_scope() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 128> space{};
  const auto length = readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
  return boot + "/" + std::string(space.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

std::vector<std::string> command_of_process() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string utc_now() { return utc_before(0); }

std::string utc_before(double seconds) {
  const auto now = std::time(nullptr) - static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

double seconds_between(const std::string& from, const std::string& to) {
  const auto moment = [](const std::string& text) {
    std::tm parts{};
    const auto* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (end == nullptr || *end != '\0') throw Error("'" + text + "' is not a UTC time such as 2026-11-21T01:02:03Z");
    return timegm(&parts);
  };
  return std::difftime(moment(to), moment(from));
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace trainrt
