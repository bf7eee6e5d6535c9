#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "program/rendezvous/rendezvous.hpp"
#include "program/services/service.hpp"
#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// The HTTP key-value store through which Horovod's gloo ranks find each other, compatible with the server of `horovodrun`
/// (Horovod 0.28, horovod/runner/http/http_server.py; client: horovod/common/gloo/http_store.cc): PUT, GET and DELETE of
/// /scope/key, one request per connection. GET of a missing key returns 404, and the client retries. Keys are kept in
/// memory.
///
/// Horovod's client cannot send a password, so the secret is the first part of the path of each request. A request without
/// the secret gets no answer.
///
/// A rank that has found the others DELETEs its own key. In a scope with known ranks (all ranks, the ranks of a node,
/// the ranks with one local rank) the other ranks may still read the key: the scope is cleared when all its ranks have sent
/// DELETE, and may be used again. In other scopes the key is deleted at once.
class HorovodStore : public Service {
 public:
  /// `listener`: a listening socket.
  HorovodStore(const Rendezvous& rendezvous, Descriptor listener);

  static constexpr std::size_t max_value_bytes = 1U << 20U;
  static constexpr std::size_t max_bytes = 256U << 20U;  ///< of all values together

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

  Rendezvous rendezvous_;
  std::map<std::string, std::size_t> ranks_of_scope_;
  std::map<std::string, Scope> scopes_;
  std::size_t bytes_ = 0;  ///< of all values
  TcpServer server_;       // declared last because its thread uses the other members
};

/// Returns the value of HOROVOD_GLOO_RENDEZVOUS_ADDR, "10.0.0.1:4711/SECRET". Horovod's client requests
/// "http://ADDR:PORT/SCOPE/KEY", so that the path becomes "/SECRET:PORT/SCOPE/KEY". Pure.
std::string horovod_rendezvous_address(const Rendezvous& rendezvous, int port);

/// Returns the host name by which Horovod's ranks recognise that they share a node.
std::string horovod_host_name(int node);

}  // namespace trainrt::program
