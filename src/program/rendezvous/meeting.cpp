#include "program/rendezvous/meeting.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace trainrt::program {

bool is_of(const Meeting& meeting, std::string_view address) {
  return address.starts_with("127.") || address == "::1" ||
         std::ranges::find(meeting.addresses, address) != meeting.addresses.end();
}

std::string endpoint(std::string_view address, int port) {
  return address.find(':') == std::string_view::npos ? fmt::format("{}:{}", address, port)
                                                     : fmt::format("[{}]:{}", address, port);
}

}  // namespace trainrt::program
