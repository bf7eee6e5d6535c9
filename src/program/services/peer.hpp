#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"

namespace trainrt::program {

/// One end of a TCP connection. Each read and write has a time limit, and returns early when the descriptor `end`
/// becomes readable. After a failed read or write, the Peer may only be destroyed.
class Peer {
 public:
  /// `end`: descriptor that cancels reads and writes when it becomes readable; must stay open while this object exists.
  Peer(Descriptor socket, int end);

  /// Reads until `bytes` is full. Returns false if the bytes do not arrive within `limit_s`.
  bool read(std::span<char> bytes, double limit_s) const;
  /// Reads at least one byte and returns the number of bytes read, or 0 if no byte arrives within `limit_s`.
  std::size_t read_some(std::span<char> bytes, double limit_s) const;
  bool write(std::string_view bytes, double limit_s) const;
  /// Returns the address of the other end, "10.0.0.2", or "" if the connection is closed.
  std::string address() const;

  int get() const { return socket_.get(); }
  /// Appends the bytes that have already arrived to `bytes`, until `bytes` contains `max_bytes` bytes. Does not wait.
  /// Returns false if the other end has closed the connection.
  bool take_arrived(std::string& bytes, std::size_t max_bytes) const;
  /// Puts `bytes` in front of the bytes that the next reads return.
  void put_back(std::string bytes) { put_back_ = std::move(bytes); }

 private:
  bool wait_for(short events, double until_s) const;

  Descriptor socket_;
  int end_;
  mutable std::string put_back_;  ///< mutable, so that const reads can consume it, like the kernel's buffer
};

/// Connects to a server at the numeric IPv4 or IPv6 address `address`. Throws Error if the connection fails or takes
/// longer than `limit_s`.
Peer connect_to(const std::string& address, int port, int end, double limit_s);

}  // namespace trainrt::program
