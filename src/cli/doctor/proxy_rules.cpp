#include "cli/doctor/proxy_rules.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <arpa/inet.h>

#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

bool ends_alike(const std::string& text, const std::string& end) {
  if (end.size() > text.size()) return false;
  return std::equal(end.begin(), end.end(), text.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

/// Its bytes in network order: 4 or 16; none if it is no address.
std::vector<unsigned char> bytes_of(const std::string& address) {
  const int family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  std::vector<unsigned char> bytes(family == AF_INET ? 4 : 16);
  if (inet_pton(family, address.c_str(), bytes.data()) != 1) bytes.clear();
  return bytes;
}

/// `network`: "10.0.0.0/8".
bool is_in_network(const std::string& address, const std::string& network) {
  const auto slash = network.find('/');
  if (slash == std::string::npos) return false;
  std::size_t bits = 0;
  const auto* end = network.data() + network.size();
  const auto parsed = std::from_chars(network.data() + slash + 1, end, bits);
  const auto mine = bytes_of(address);
  const auto base = bytes_of(network.substr(0, slash));
  if (parsed.ec != std::errc() || parsed.ptr != end || mine.empty() || mine.size() != base.size()) return false;
  if (bits > 8 * mine.size()) return false;
  for (std::size_t bit = 0; bit < bits; ++bit)
    if (((mine[bit / 8] ^ base[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
  return true;
}

/// "http://proxy:3128" of "http://name:password@proxy:3128".
std::string without_password(const std::string& url) {
  const auto at = url.rfind('@');
  if (at == std::string::npos) return url;
  const auto begin = url.find("://");
  return (begin == std::string::npos ? "" : url.substr(0, begin + 3)) + url.substr(at + 1);
}

}  // namespace

bool is_excepted(const std::string& address, const std::string& no_proxy) {
  return std::ranges::any_of(words_in(no_proxy), [&](const std::string& entry) {
    return entry == "*" || ends_alike(address, entry) || is_in_network(address, entry);
  });
}

std::optional<ProxyInTheWay> proxy_in_the_way(const Environment& environment, std::span<const std::string> addresses) {
  const auto exceptions = environment.text("no_grpc_proxy");
  const auto no_proxy = exceptions ? *exceptions : environment.text("no_proxy").value_or("");
  for (const auto* variable : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    const auto proxy = environment.text(variable).value_or("");
    if (proxy.empty()) continue;
    ProxyInTheWay found{variable, without_password(proxy), {}};
    for (const auto& address : addresses)
      if (!is_excepted(address, no_proxy) && std::ranges::find(found.addresses, address) == found.addresses.end())
        found.addresses.push_back(address);
    return found.addresses.empty() ? std::nullopt : std::optional(std::move(found));
  }
  return std::nullopt;
}

}  // namespace trainrt::cli
