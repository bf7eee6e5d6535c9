#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// The place where the ranks exchange texts round by round, at whatever time each of them comes, beside the run's own
/// collectives: a server of the first rank's, which answers only those who know the secret of this start. One connection a
/// rank and round: a header, the rank's text, then, when all have come, the texts of all ranks.
///
/// A rank whose program has ended is waited for no more: a round that it has not come to fails on all ranks, with its
/// number in the message.
class ExchangeServer {
 public:
  ExchangeServer(Descriptor listener, int size, std::string secret, std::function<bool(const std::string&)> is_of_this_run);

  static constexpr std::uint32_t most_bytes = 16U << 20U;  ///< of a rank's text

 private:
  struct Round {
    std::map<int, std::string> texts;
    std::vector<Peer> waiting;
  };

  void serve(Peer peer);
  void end_round_if_it_is_over(int number);

  int size_;
  std::string secret_;
  std::function<bool(const std::string&)> is_of_this_run_;  ///< the address of who connects
  std::map<int, Round> rounds_;
  std::map<int, bool> gone_;  ///< by rank: its program has ended
  TcpServer server_;          // last: its thread uses the rest
};

/// A rank's way to it.
struct ExchangePlace {
  std::string address;
  int port = 0;
  std::string secret;
  int rank = 0;
  int end = -1;  ///< readable once nobody wants to wait any more
};

/// Waits for all ranks to come to this round, and returns the texts of all, by rank. Throws Error if one cannot come any
/// more, or does not come within `limit_s`, or the server is gone.
std::vector<std::string> exchange(const ExchangePlace& place, int round, const std::string& mine, double limit_s);

/// No round is to wait for this rank any more. Nothing happens if the server is gone.
void leave_exchange(const ExchangePlace& place);

}  // namespace trainrt::program
