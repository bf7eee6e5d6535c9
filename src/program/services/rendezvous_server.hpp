#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "program/rendezvous/meeting.hpp"
#include "program/services/service.hpp"
#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// The key-value store over HTTP by which Horovod's gloo finds the ranks, as `horovodrun` serves it (Horovod 0.28,
/// horovod/runner/http/http_server.py; its client is horovod/common/gloo/http_store.cc): PUT, GET and DELETE of /scope/key,
/// a request a connection. GET of what is not there is 404, and the client asks again. Keys live in memory only.
///
/// Horovod's client has no password to send: the secret is the first part of each request's path. A request without it
/// gets no answer.
///
/// A rank that has found the others DELETEs its own key. In a scope whose ranks are known (global, those of a node, those
/// with a local rank) the others may still read it: the scope is emptied when all have, and may be used again; in another
/// scope the key goes at once.
class RendezvousServer : public Service {
 public:
  /// `listener`: a socket that listens.
  RendezvousServer(const Meeting& meeting, Descriptor listener);

  static constexpr std::size_t most_value_bytes = 1U << 20U;
  static constexpr std::size_t most_bytes = 256U << 20U;  ///< of all values together

 private:
  struct Scope {
    std::map<std::string, std::string> values;
    std::set<std::string> finished;  ///< keys of the ranks that have found all others
  };
  struct Answer {
    int status = 200;
    std::string body;
  };

  void serve(const Peer& peer);
  Answer answer(const std::string& method, const std::string& target, const std::string& body);
  Answer put(const std::string& scope, const std::string& key, const std::string& value);
  Answer get(const std::string& scope, const std::string& key) const;
  Answer remove(const std::string& scope, const std::string& key);

  Meeting meeting_;
  std::map<std::string, std::size_t> ranks_of_scope_;
  std::map<std::string, Scope> scopes_;
  std::size_t bytes_ = 0;  ///< of all values
  TcpServer server_;       // last: its thread uses the rest
};

/// The value of HOROVOD_GLOO_RENDEZVOUS_ADDR, "10.0.0.1:4711/SECRET". Horovod's client requests
/// "http://ADDR:PORT/SCOPE/KEY", so that its path becomes "/SECRET:PORT/SCOPE/KEY". Pure.
std::string horovod_rendezvous_address(const Meeting& meeting, int port);

/// The name by which Horovod's ranks of a node know that they are on the same.
std::string horovod_host_name(int node);

}  // namespace trainrt::program
