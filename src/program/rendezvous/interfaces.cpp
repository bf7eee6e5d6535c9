#include "program/rendezvous/interfaces.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace trainrt::program {

namespace {

bool is_link_local(const sockaddr* address) {
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 16) == 0xa9fe;  // 169.254/16, RFC 3927
}

}  // namespace

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  if (address->sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (bytes == nullptr || inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr) return {};
  constexpr std::string_view mapped_prefix = "::ffff:";
  const std::string_view found = text.data();
  return std::string(found.starts_with(mapped_prefix) && found.find('.') != std::string_view::npos
                         ? found.substr(mapped_prefix.size())
                         : found);
}

std::vector<InterfaceAddress> addresses_of_this_node() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
  std::vector<InterfaceAddress> found;
  for (const auto* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0 || (entry->ifa_flags & IFF_RUNNING) == 0) continue;
    const bool is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    const auto address = text_of(entry->ifa_addr);
    if (address.empty() || is_link_local(entry->ifa_addr) || (is_loopback && address != "127.0.0.1")) continue;
    found.push_back({entry->ifa_name, address, is_loopback});
  }
  std::ranges::stable_partition(found, [](const auto& each) { return each.address.find(':') == std::string::npos; });
  return found;
}

std::string interface_with(const std::string& address, const std::vector<InterfaceAddress>& addresses) {
  const auto found = std::ranges::find(addresses, address, &InterfaceAddress::address);
  return found == addresses.end() ? std::string() : found->interface;
}

}  // namespace trainrt::program
