#include "frameworks/program/meeting.hpp"

#include <fmt/format.h>

namespace trainrt::program {

std::string endpoint(std::string_view address, int port) {
  return address.find(':') == std::string_view::npos ? fmt::format("{}:{}", address, port)
                                                     : fmt::format("[{}]:{}", address, port);
}

}  // namespace trainrt::program
