#include "launch/pmi/pmi_socket.hpp"

#include <poll.h>
#include <sys/stat.h>

#include "core/options.hpp"

namespace trainrt::launch {

bool has_pmi_socket(const Environment& environment) {
  const auto text = environment.text("PMI_FD");
  if (!text) return true;
  const auto number = parse_integer(*text);
  struct stat info {};
  if (!number || *number < 0 || fstat(static_cast<int>(*number), &info) != 0) return false;
  return S_ISSOCK(info.st_mode) || S_ISFIFO(info.st_mode);
}

bool has_hung_up(int socket) {
  pollfd state{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return poll(&state, 1, 0) > 0;
}

}  // namespace trainrt::launch
