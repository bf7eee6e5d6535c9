#pragma once
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::data {

/// Returns call(). If it throws UsageError, puts `context` and ": " in front of the message.
template <class Call>
decltype(auto) in_context(const std::string& context, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(context + ": " + error.what());
}

}  // namespace trainrt::data
