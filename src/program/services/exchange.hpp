#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// Server on rank 0 through which all ranks exchange texts in numbered rounds. The exchange does not use the
/// collectives of the run, and each rank may enter a round at any time. To enter, a rank connects and sends a header
/// with the secret, and its text. When the last rank has entered, every rank gets the texts of all ranks. When the
/// program of a rank has exited, every round that this rank has not entered fails on all ranks with an error that names
/// the rank.
class ExchangeServer {
 public:
  ExchangeServer(Descriptor listener, int size, std::string secret, std::function<bool(const std::string&)> is_of_this_run);

  static constexpr std::uint32_t max_bytes = 16U << 20U;  ///< maximum size of one text

 private:
  struct Round {
    std::map<int, std::string> texts;
    std::vector<Peer> waiting;
  };

  void serve(Peer peer);
  void end_round_if_it_is_over(int number);

  int size_;
  std::string secret_;
  std::function<bool(const std::string&)> is_of_this_run_;  ///< returns whether a caller's address belongs to this run
  std::map<int, Round> rounds_;
  std::map<int, bool> exited_;  ///< ranks with exited programs
  TcpServer server_;            // declared last because its thread uses the other members
};

/// Address and secret of the ExchangeServer, with which a rank connects to it.
struct ExchangeAddress {
  std::string address;
  int port = 0;
  std::string secret;
  int rank = 0;
  int end = -1;  ///< descriptor that becomes readable to cancel the wait
};

/// Enters a round with the text `mine`, waits until all ranks have entered the round, and returns their texts in the
/// order of the ranks. Throws Error if the program of another rank has exited, if `limit_s` has passed, or if the
/// server does not answer.
std::vector<std::string> exchange(const ExchangeAddress& server, int round, const std::string& mine, double limit_s);

/// Reports to the ExchangeServer that the program of this rank has exited. Does nothing if the server no longer runs.
void leave_exchange(const ExchangeAddress& server);

}  // namespace trainrt::program
