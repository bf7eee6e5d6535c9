#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "program/rendezvous/rendezvous.hpp"
#include "program/services/service.hpp"
#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// An HTTP key-value store through which Horovod's gloo ranks find each other. The store is compatible with the server
/// of `horovodrun` (Horovod 0.28, horovod/runner/http/http_server.py; client: horovod/common/gloo/http_store.cc). It
/// accepts PUT, GET and DELETE of /SCOPE/KEY, one request per connection. GET of a missing key returns 404, and the
/// client retries. The values are kept in memory.
///
/// Horovod's client cannot send a password, so the path of each request begins with the secret. A request without the
/// secret gets no answer.
///
/// A rank that has found all other ranks sends DELETE for its own key. The ranks of some scopes are known: all ranks,
/// the ranks of a node, or the ranks with an equal local rank. In such a scope, a slower rank may still read a deleted
/// key. The store therefore keeps the values of the scope until all ranks of the scope have sent DELETE, and then
/// removes the scope, which may be used again. In other scopes, DELETE removes the key at once.
class HorovodStore : public Service {
 public:
  /// `listener`: a listening socket, on which the store accepts connections.
  HorovodStore(const Rendezvous& rendezvous, Descriptor listener);

  static constexpr std::size_t max_value_bytes = 1U << 20U;
  static constexpr std::size_t max_bytes = 256U << 20U;  ///< maximum total size of all values

 private:
  struct Scope {
    std::map<std::string, std::string> values;
    std::set<std::string> finished;  ///< keys of the ranks that have sent DELETE
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
  std::size_t bytes_ = 0;  ///< total size of all values
  TcpServer server_;       // declared last because its thread uses the other members
};

/// Returns the value of HOROVOD_GLOO_RENDEZVOUS_ADDR, such as `10.0.0.1:4711/SECRET`. Horovod's client appends
/// `:PORT/SCOPE/KEY` to this value, and then requests the path `/SECRET:PORT/SCOPE/KEY` from the store. Pure function.
std::string horovod_rendezvous_address(const Rendezvous& rendezvous, int port);

/// Returns a host name of the node number `node`, for HOROVOD_HOSTNAME. Horovod concludes from equal host names that
/// ranks are on one node.
std::string horovod_host_name(int node);

}  // namespace trainrt::program
