#pragma once
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/descriptor.hpp"

namespace trainrt::program {

using Json = nlohmann::ordered_json;

/// A message of the program: a JSON object with a field "op".
struct Message {
  std::string op;
  Json body;
  Descriptor file;  ///< file descriptor that was sent with the message; empty without one
};

/// The runtime's end of the socket to a program. A message is a JSON object on one line (RFC 8259), at most 64 MiB long and
/// 64 levels deep. Only the train thread uses it.
class Channel {
 public:
  /// Creates both ends of the socket, and stores the program's end in `theirs`.
  explicit Channel(Descriptor& theirs);
  /// Uses an existing socket; its other end belongs to the program.
  static Channel over(Descriptor socket) { return Channel(std::move(socket), 0); }

  /// Returns the next message; nothing if none arrives within `limit_s`, or if the program has closed its end. Throws
  /// UsageError for a line that is not a message.
  std::optional<Message> receive(double limit_s);
  /// Returns whether some process has the other end open.
  bool is_open() const;
  /// Sends an answer. Does nothing if the program has exited.
  void send(const Json& answer);
  /// Sends a copy of this file descriptor with the next answer.
  void attach(int file) { attached_ = file; }

 private:
  Channel(Descriptor&& socket, int) : socket_(std::move(socket)) {}
  bool read_more(double limit_s);
  std::optional<std::string> next_line();

  Descriptor socket_;
  bool closed_ = false;
  std::string unread_;
  std::size_t searched_ = 0;  ///< length of the beginning of `unread_` that has no end of line
  Descriptor file_;           ///< received with `unread_`
  int attached_ = -1;
};

}  // namespace trainrt::program
