#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// A function that converts an exception to the text that users see: message_of(), or a function that also adds advice
/// about config keys (trainer/ending/advice.hpp). Layers below src/trainer, which do not know config keys, receive the
/// function as an argument.
using Explain = std::function<std::string(const std::exception&)>;

/// Returns the text of an error for users. An Error, or an exception that a train function throws, keeps its own text. An
/// exception of the C++ library or of nlohmann::json has a text that only names a function of that library; the result
/// states its meaning and a remedy instead.
std::string message_of(const std::exception& error);

}  // namespace trainrt
