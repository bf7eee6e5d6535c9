#pragma once
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/descriptor.hpp"

namespace trainrt::program {

using Json = nlohmann::ordered_json;

/// What the program sent: an object with a field "op", and a file if one travelled with it.
struct Message {
  std::string op;
  Json body;
  Descriptor file;
};

/// The runtime's end of the socket to a program: JSON objects, one a line (RFC 8259; at most 64 MiB each, nested at
/// most 64 deep). Only the train
/// thread uses it.
class Channel {
 public:
  /// Makes both ends. The program's is `theirs`.
  explicit Channel(Descriptor& theirs);
  /// Over a socket that is there: its other end is the program's.
  static Channel over(Descriptor socket) { return Channel(std::move(socket), 0); }

  /// The next message; nothing if none comes within so many seconds, or if the program has closed its end. What is no
  /// message throws UsageError.
  std::optional<Message> receive(double limit_s);
  /// Does some process hold the other end?
  bool is_open() const;
  /// If the program is gone, nothing happens: its end tells why.
  void send(const Json& answer);
  /// A copy of this descriptor travels with the next answer.
  void attach(int file) { attached_ = file; }

 private:
  Channel(Descriptor&& socket, int) : socket_(std::move(socket)) {}
  bool read_more(double limit_s);
  std::optional<std::string> next_line();

  Descriptor socket_;
  bool closed_ = false;
  std::string unread_;
  std::size_t searched_ = 0;  // of unread_, without an end of line
  Descriptor file_;           // that came with it
  int attached_ = -1;
};

}  // namespace trainrt::program
