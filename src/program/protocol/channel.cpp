#include "program/protocol/channel.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"

namespace trainrt::program {

namespace {

constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

/// Returns the first 80 bytes of a message that is quoted in an error message.
std::string beginning(const std::string& text) {
  constexpr std::size_t max_bytes = 80;
  return text.size() <= max_bytes ? text : text.substr(0, max_bytes) + "...";
}

Message parsed(const std::string& line) {
  if (is_nested_deeper(line, max_json_depth))
    throw UsageError(
        fmt::format("train.program: the program sent a message with more than {} nested arrays and objects: {}",
                    max_json_depth, beginning(line)));
  auto body = Json::parse(line, nullptr, false);
  if (!body.is_object() || !body.contains("op") || !body["op"].is_string())
    throw UsageError("train.program: the program sent an invalid message; it must be a JSON object with a string \"op\": " +
                     beginning(line));
  auto op = body["op"].get<std::string>();
  return {std::move(op), std::move(body), {}};
}

/// Returns the first file descriptor in the control messages of `header`, and closes all other descriptors in them.
Descriptor file_in(msghdr& header) {
  Descriptor found;
  for (auto* control = CMSG_FIRSTHDR(&header); control != nullptr; control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const auto count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
      Descriptor file(number);
      if (!found) found = std::move(file);
    }
  }
  return found;
}

/// Sends `size` bytes and, unless `file` is negative, the file descriptor `file`. Returns the result of send(2).
ssize_t send_with(int socket, const char* bytes, std::size_t size, int file) {
  if (file < 0) return ::send(socket, bytes, size, MSG_NOSIGNAL);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{.iov_base = const_cast<char*>(bytes), .iov_len = size};  // sendmsg() does not write to the bytes
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  auto* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  return sendmsg(socket, &header, MSG_NOSIGNAL);
}

}  // namespace

Channel::Channel(Descriptor& theirs) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(fmt::format("train.program: cannot create a socket for the program: {}", std::strerror(errno)));
  socket_ = Descriptor(ends[0]);
  theirs = Descriptor(ends[1]);
}

std::optional<std::string> Channel::next_line() {
  const auto end = unread_.find('\n', searched_);
  searched_ = unread_.size();
  if (end == std::string::npos) {
    if (unread_.size() > max_line_bytes)
      throw UsageError(fmt::format("train.program: the program sent a line of more than {} bytes", max_line_bytes));
    return std::nullopt;
  }
  auto line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

/// Waits at most `limit_s` for bytes from the program, and appends them to `unread_`. Returns false if no bytes
/// arrived.
bool Channel::read_more(double limit_s) {
  pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(std::ceil(limit_s * 1000))) <= 0) return false;
  std::array<char, 65536> bytes{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const auto count = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) {
    closed_ = true;
    return false;
  }
  if (auto file = file_in(header)) file_ = std::move(file);
  unread_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<Message> Channel::receive(double limit_s) {
  const bool was_closed = closed_;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  for (;;) {
    if (const auto line = next_line()) {
      auto message = parsed(*line);
      message.file = std::move(file_);
      return message;
    }
    const double left_s = std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
    if (closed_ && !was_closed) return std::nullopt;
    if (closed_) {  // the program is about to exit, or continues without the socket
      std::this_thread::sleep_for(std::chrono::duration<double>(std::max(left_s, 0.0)));
      return std::nullopt;
    }
    if (!read_more(std::max(left_s, 0.0)) && !closed_)
      return std::nullopt;  // read_more(0) has read the bytes that had already arrived
  }
}

bool Channel::is_open() const {
  pollfd end{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  return poll(&end, 1, 0) == 0;
}

void Channel::send(const Json& answer) {
  auto text = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  int file = std::exchange(attached_, -1);
  for (std::size_t at = 0; at < text.size();) {
    const auto count = send_with(socket_.get(), text.data() + at, text.size() - at, file);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    file = -1;
    at += static_cast<std::size_t>(count);
  }
}

}  // namespace trainrt::program
