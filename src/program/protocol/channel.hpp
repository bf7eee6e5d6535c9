#pragma once
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/descriptor.hpp"

namespace trainrt::program {

using Json = nlohmann::ordered_json;

/// A message that a program sends to its rank: a JSON object with a field "op", the name of the request.
struct Message {
  std::string op;
  Json body;
  Descriptor file;  ///< file descriptor that was sent with the message; empty if no descriptor was sent
};

/// The runtime's end of the socket between a rank and its program. Each message is a JSON object on one line (RFC
/// 8259), at most 64 MiB long and 64 levels deep. Only the train thread may use a Channel.
class Channel {
 public:
  /// Creates the socket, and stores the program's end in `theirs`.
  explicit Channel(Descriptor& theirs);
  /// Returns a Channel that uses an existing socket. The other end of the socket belongs to the program.
  static Channel over(Descriptor socket) { return Channel(std::move(socket), 0); }

  /// Returns the next message. Returns nothing if no message arrives within `limit_s`. When the program has closed its
  /// end of the socket, one call returns nothing at once, so that the caller can check whether the program has exited.
  /// Later calls return nothing after `limit_s`. Throws UsageError for a line that is not a message.
  std::optional<Message> receive(double limit_s);
  /// Returns whether a process still has the program's end of the socket open.
  bool is_open() const;
  /// Sends an answer to the program. Does nothing if the program has exited.
  void send(const Json& answer);
  /// Makes the next send() also send a copy of the file descriptor `file`.
  void attach(int file) { attached_ = file; }

 private:
  Channel(Descriptor&& socket, int) : socket_(std::move(socket)) {}
  bool read_more(double limit_s);
  std::optional<std::string> next_line();

  Descriptor socket_;
  bool closed_ = false;
  std::string unread_;
  std::size_t searched_ = 0;  ///< number of bytes at the start of `unread_` known to contain no newline
  Descriptor file_;           ///< file descriptor that arrived with the bytes in `unread_`
  int attached_ = -1;
};

}  // namespace trainrt::program
