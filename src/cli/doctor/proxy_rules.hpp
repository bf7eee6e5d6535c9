#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::cli {

/// Whether a list like no_proxy excepts an address: an entry is its end (of a name, with any case), a network
/// ("10.0.0.0/8", which gRPC knows since 2023), or "*".
bool is_excepted(const std::string& address, const std::string& no_proxy);

struct ProxyInTheWay {
  std::string variable;                ///< "https_proxy"
  std::string proxy;                   ///< its value, without a name and password
  std::vector<std::string> addresses;  ///< that go through it
};

/// The proxy that gRPC, by which JAX and TensorFlow connect, would take to these addresses: the first that is set of
/// grpc_proxy, https_proxy and http_proxy, unless no_grpc_proxy, or without it no_proxy, excepts them all
/// (https://github.com/grpc/grpc/blob/master/doc/environment_variables.md). Pure.
std::optional<ProxyInTheWay> proxy_in_the_way(const Environment& environment, std::span<const std::string> addresses);

}  // namespace trainrt::cli
