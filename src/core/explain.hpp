#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// How an error reads where it becomes a text: it is printed, written down, or sent to other ranks, which its type does not
/// survive. Who has a config adds there what the config can do about it (trainer/advice.hpp).
using Explain = std::function<std::string(const std::exception&)>;

/// Nothing added.
inline std::string message_of(const std::exception& error) { return error.what(); }

}  // namespace trainrt
