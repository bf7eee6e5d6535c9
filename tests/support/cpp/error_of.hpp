#pragma once
#include <functional>
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::test {

/// Returns the message of the Error that `work` throws, or "" if it does not throw.
inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace trainrt::test
