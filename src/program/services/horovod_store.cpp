#include "program/services/horovod_store.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace trainrt::program {

namespace {

namespace http = boost::beast::http;

constexpr double request_limit_s = 3;  // time limit of a request, as in Horovod's own server

/// Returns the number of ranks in each of Horovod's scopes. A scope is a group of ranks: all ranks, the ranks of one node,
/// or the ranks with the same local rank on all nodes.
std::map<std::string, std::size_t> known_scopes(const Rendezvous& rendezvous) {
  std::map<std::string, std::size_t> ranks;
  std::map<int, int> local_sizes;
  for (const int node : rendezvous.nodes) {
    ++ranks["global"];
    ++ranks["local_" + horovod_host_name(node)];
    ++ranks[fmt::format("cross_{}", local_sizes[node]++)];
  }
  return ranks;
}

struct Request {
  int status = 200;  ///< HTTP status; not 200 if the request is invalid
  std::string method;
  std::string path;
  std::string body;
};

/// Returns the HTTP request that the peer sends, or nothing if the peer closes the connection or the request does not
/// arrive within the time limit.
std::optional<Request> request_from(const Peer& peer) {
  http::request_parser<http::string_body> parser;
  parser.eager(true);
  parser.header_limit(TcpServer::max_greeting_bytes);
  parser.body_limit(HorovodStore::max_value_bytes);
  std::string pending;
  std::array<char, 4096> bytes{};
  while (!parser.is_done()) {
    const auto count = peer.read_some(bytes, request_limit_s);
    if (count == 0) return std::nullopt;
    pending.append(bytes.data(), count);
    boost::beast::error_code error;
    pending.erase(0, parser.put(boost::asio::buffer(pending), error));
    if (error == http::error::body_limit) return Request{413, "", "", ""};
    if (error && error != http::error::need_more) return Request{400, "", "", ""};
  }
  const auto& request = parser.get();
  return Request{200, std::string(request.method_string()), std::string(request.target()), request.body()};
}

}  // namespace

std::string horovod_host_name(int node) { return fmt::format("node{}", node); }

std::string horovod_rendezvous_address(const Rendezvous& rendezvous, int port) {
  return fmt::format("{}/{}", endpoint(rendezvous.addresses.at(0), port), rendezvous.secret);
}

HorovodStore::HorovodStore(const Rendezvous& rendezvous, Descriptor listener)
    : rendezvous_(rendezvous),
      ranks_of_scope_(known_scopes(rendezvous)),
      server_(std::move(listener), {[this](const std::string& address) { return is_of_this_run(rendezvous_, address); },
                                    [this](const Peer&, std::string_view received, std::size_t) {
                                      return admission_by_path(received, rendezvous_.secret);
                                    },
                                    [this](const Peer& peer) { serve(peer); }, max_pending_for(rendezvous.size)}) {}

void HorovodStore::serve(const Peer& peer) {
  const auto request = request_from(peer);
  if (!request) return;
  const auto reply =
      request->status == 200 ? answer(request->method, request->path, request->body) : Answer{request->status, ""};
  const auto reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  peer.write(fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", reply.status,
                         std::string_view(reason.data(), reason.size()), reply.body.size(), reply.body),
             request_limit_s);
}

HorovodStore::Answer HorovodStore::answer(const std::string& method, const std::string& target, const std::string& body) {
  const auto path = target.substr(std::min(target.size(), target.find('/', 1)));  // path without the leading secret
  const auto slash = path.find('/', 1);
  if (path.empty() || path.front() != '/' || slash == std::string::npos || path.find('/', slash + 1) != std::string::npos)
    return {400, ""};
  const auto scope = path.substr(1, slash - 1);
  const auto key = path.substr(slash + 1);
  if (method == "PUT") return put(scope, key, body);
  if (method == "GET") return get(scope, key);
  if (method == "DELETE") return remove(scope, key);
  return {405, ""};
}

HorovodStore::Answer HorovodStore::put(const std::string& scope, const std::string& key, const std::string& value) {
  auto& kept = scopes_[scope].values[key];
  if (bytes_ - kept.size() + value.size() > max_bytes) return {507, ""};
  bytes_ = bytes_ - kept.size() + value.size();
  kept = value;
  return {};
}

HorovodStore::Answer HorovodStore::get(const std::string& scope, const std::string& key) const {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end() || !found->second.values.contains(key)) return {404, ""};
  return {200, found->second.values.at(key)};
}

HorovodStore::Answer HorovodStore::remove(const std::string& scope, const std::string& key) {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) return {};
  auto& [values, finished] = found->second;
  const auto ranks = ranks_of_scope_.find(scope);
  if (ranks != ranks_of_scope_.end()) {
    finished.insert(key);
    if (finished.size() < ranks->second) return {};
    for (const auto& [name, value] : values) bytes_ -= value.size();
    scopes_.erase(found);
  } else if (const auto value = values.find(key); value != values.end()) {
    bytes_ -= value->second.size();
    values.erase(value);
  }
  return {};
}

}  // namespace trainrt::program
