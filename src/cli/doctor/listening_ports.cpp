#include "cli/doctor/listening_ports.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t digits_of_a_word = 8;  // the kernel prints addresses as words in the order of the machine

std::optional<std::uint32_t> hexadecimal_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Address by the socket's inode.
std::map<std::string, std::string> listening_sockets() {
  std::map<std::string, std::string> found;
  std::ifstream first("/proc/self/net/tcp");
  if (!first) throw Error("/proc/self/net/tcp cannot be read");
  std::ifstream second("/proc/self/net/tcp6");  // not there without IPv6
  for (auto* table : {&first, &second})
    for (std::string line; std::getline(*table, line);) {
      std::istringstream in(line);
      std::array<std::string, 10> words;
      for (auto& word : words) in >> word;
      if (words[3] == "0A") found[words[9]] = address_of(words[1]);
    }
  return found;
}

/// Inodes of the sockets that a process has open; none if it may not be looked at.
std::set<std::string> sockets_of(const std::string& process) {
  std::set<std::string> inodes;
  std::error_code error;
  for (fs::directory_iterator entry("/proc/" + process + "/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const auto target = fs::read_symlink(entry->path(), gone).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

}  // namespace

std::string address_of(const std::string& hexadecimal) {
  const auto colon = hexadecimal.find(':');
  if (colon != digits_of_a_word && colon != 4 * digits_of_a_word) return {};
  std::array<std::uint32_t, 4> words{};
  for (std::size_t word = 0; word * digits_of_a_word < colon; ++word) {
    const auto number = hexadecimal_number(std::string_view(hexadecimal).substr(word * digits_of_a_word, digits_of_a_word));
    if (!number) return {};
    words[word] = *number;
  }
  const auto port = hexadecimal_number(std::string_view(hexadecimal).substr(colon + 1));
  const bool v6 = colon != digits_of_a_word;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!port || inet_ntop(v6 ? AF_INET6 : AF_INET, words.data(), text.data(), text.size()) == nullptr) return {};
  return v6 ? fmt::format("[{}]:{}", text.data(), *port) : fmt::format("{}:{}", text.data(), *port);
}

std::vector<std::string> listening_ports() {
  const auto listening = listening_sockets();
  const auto inherited = sockets_of(std::to_string(getppid()));
  std::vector<std::string> ports;
  for (const auto& inode : sockets_of("self"))
    if (const auto found = listening.find(inode); found != listening.end() && !inherited.contains(inode))
      ports.push_back(found->second);
  std::ranges::sort(ports);
  return ports;
}

}  // namespace trainrt::cli
