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

/// One end of a TCP connection. Reads and writes wait for a limited time and return early when the descriptor `end` becomes
/// readable. After a failed call the connection can only be destroyed.
class Peer {
 public:
  /// `end` must outlive this object.
  Peer(Descriptor socket, int end);

  /// Fills `bytes`. Returns false if they do not arrive within `limit_s`.
  bool read(std::span<char> bytes, double limit_s) const;
  /// Reads at least one byte, and returns the number of bytes; 0 if none arrive within `limit_s`.
  std::size_t read_some(std::span<char> bytes, double limit_s) const;
  bool write(std::string_view bytes, double limit_s) const;
  /// Returns the address of the other end, "10.0.0.2", or "" if the connection is closed.
  std::string address() const;

  int get() const { return socket_.get(); }
  /// Appends bytes that have already arrived to `bytes`, up to a length of `max_bytes`. Does not wait. Returns false if the
  /// other end has closed the connection.
  bool take_arrived(std::string& bytes, std::size_t max_bytes) const;
  /// Makes the next reads return `bytes` first.
  void put_back(std::string bytes) { put_back_ = std::move(bytes); }

 private:
  bool wait_for(short events, double until_s) const;

  Descriptor socket_;
  int end_;
  mutable std::string put_back_;  ///< mutable because, like the kernel's buffer, it is no visible state
};

/// Connects to a server. `address` is a numeric IPv4 or IPv6 address. Throws Error if that fails or takes longer than
/// `limit_s`.
Peer connect_to(const std::string& address, int port, int end, double limit_s);

}  // namespace trainrt::program
