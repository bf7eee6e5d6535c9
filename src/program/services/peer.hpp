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

/// One end of a TCP connection whose reads and writes wait, each for a limited time, and no longer than until `end` is
/// readable. After a failure nothing more is to be done with it than to let it go.
class Peer {
 public:
  /// `end`: of who owns the thread, which outlives this.
  Peer(Descriptor socket, int end);

  /// All of the bytes; false if they do not come within `limit_s`.
  bool read(std::span<char> bytes, double limit_s) const;
  /// As many as have come, one at least; 0 if none come within `limit_s`.
  std::size_t read_some(std::span<char> bytes, double limit_s) const;
  bool write(std::string_view bytes, double limit_s) const;
  /// Of the other end, as text: "10.0.0.2"; "" if it is gone.
  std::string address() const;

  int get() const { return socket_.get(); }
  /// Appends the bytes that have arrived to `bytes`, up to a length of `max_bytes`, without waiting. Returns false if the
  /// other end is gone.
  bool take_arrived(std::string& bytes, std::size_t max_bytes) const;
  /// The next reads return `bytes` first.
  void put_back(std::string bytes) { put_back_ = std::move(bytes); }

 private:
  bool wait_for(short events, double until_s) const;

  Descriptor socket_;
  int end_;
  mutable std::string put_back_;  ///< a part of what can be read, as the kernel's buffer is
};

/// A connection to a server's; throws Error if there is none within `limit_s`. `address`: IPv4 or IPv6 as numbers.
Peer peer_at(const std::string& address, int port, int end, double limit_s);

}  // namespace trainrt::program
