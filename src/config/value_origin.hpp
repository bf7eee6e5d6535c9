#pragma once
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "core/options.hpp"

namespace trainrt::config {

/// Returns the origin of a config value for the start of an error message: "train.ini:4: " or "command line: ". Returns ""
/// if `given` does not contain the key, or if its value has no origin.
std::string origin_prefix(const Options& given, std::string_view key);

/// Returns an error message about the config value `key` with its origin and its key: "train.ini:4: train.function:
/// MESSAGE". The key is not added if the message begins with it.
std::string with_origin_of(const Options& given, std::string_view key, std::string_view message);

/// Calls `call`, which uses the config value `key`. If `call` throws an error of type Failure, throws a Failure with
/// the message that with_origin_of() returns.
template <class Failure = UsageError, class Call>
auto with_origin(const Options& given, std::string_view key, const Call& call) try {
  return call();
} catch (const Failure& error) {
  throw Failure(with_origin_of(given, key, error.what()));
}

}  // namespace trainrt::config
