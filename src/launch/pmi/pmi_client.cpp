#include "launch/pmi/pmi_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "launch/pmi/hex_text.hpp"

namespace trainrt::launch {

namespace {

constexpr const char* connection_ended =
    "the process that started the ranks has closed its connection to this rank: another rank ended, or did not start in "
    "time";
constexpr const char* starter_died = "the process that started the ranks has died";

constexpr double max_poll_ms = 2e9;

/// Returns the value of `key` in an answer such as "cmd=get_result rc=0 value=61"; "" if the answer does not have the key.
std::string value_in(const std::string& line, const std::string& key) {
  const auto at = (" " + line).find(" " + key + "=");
  if (at == std::string::npos) return {};
  const auto from = at + key.size() + 1;
  return line.substr(from, line.find(' ', from) - from);
}

}  // namespace

PmiClient::PmiClient(int socket, int rank, int size, double timeout_seconds)
    : socket_(socket), starter_(getppid()), rank_(rank), size_(size), timeout_seconds_(timeout_seconds) {
  fcntl(socket_, F_SETFD, FD_CLOEXEC);
}

std::string PmiClient::read_line() {
  std::string line;
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd readable{socket_, POLLIN, 0};
    const int ready = poll(&readable, 1, static_cast<int>(std::min(timeout_seconds_ * 1000, max_poll_ms)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0)
      throw Error(fmt::format("the process that started the ranks did not answer within {} s: check whether it is stopped",
                              timeout_seconds_));
    const auto got = recv(socket_, buffer.data(), buffer.size(), MSG_PEEK);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_without_connection();
    // Only the bytes of this line are taken: a later answer may be for MPI, which may use the socket after this object.
    const std::string_view seen(buffer.data(), static_cast<std::size_t>(got));
    const auto end = seen.find('\n');
    const auto taken = end == std::string_view::npos ? seen.size() : end + 1;
    if (recv(socket_, buffer.data(), taken, 0) < 0) fail_without_connection();
    line += seen.substr(0, end);
    if (end != std::string_view::npos) return line;
  }
}

std::string PmiClient::request(const std::string& line) {
  struct Waiting {
    explicit Waiting(std::atomic<bool>& f) : flag(f) { flag = true; }
    ~Waiting() { flag = false; }
    std::atomic<bool>& flag;
  } const waiting(is_waiting_);
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto sent = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail_without_connection();
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return read_line();
}

std::vector<std::string> PmiClient::gather(const std::string& text) {
  const auto number = gathers_++;
  const auto key_of = [&](int rank) { return fmt::format("trainrt.gather.{}.{}", number, rank); };
  request(fmt::format("cmd=put kvsname=trainrt key={} value={}\n", key_of(rank_), hex_of(text)));
  request("cmd=barrier_in\n");
  std::vector<std::string> texts;
  for (int rank = 0; rank < size_; ++rank)
    texts.push_back(
        bytes_of_hex(value_in(request(fmt::format("cmd=get kvsname=trainrt key={}\n", key_of(rank))), "value")));
  return texts;
}

void PmiClient::finalize() try { request("cmd=finalize\n"); } catch (const Error&) {
  if (getppid() == starter_) throw;  // otherwise no process waits for this report
}

/// Throws an error for a closed connection: `starter_died` if the process that started this rank has died, otherwise
/// `connection_ended`. A process that dies closes its connections before its children get another parent, so the
/// function waits up to 0.2 s for another parent.
void PmiClient::fail_without_connection() const {
  constexpr int polls = 20;
  for (int poll = 0; poll < polls; ++poll) {
    if (getppid() != starter_) throw Error(starter_died);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw Error(connection_ended);
}

void PmiClient::abort(int code) noexcept {
  if (is_waiting_) return;
  const auto line = fmt::format("cmd=abort exitcode={}\n", code);
  static_cast<void>(send(socket_, line.data(), line.size(), MSG_NOSIGNAL));
}

}  // namespace trainrt::launch
