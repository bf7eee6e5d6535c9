#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// A function that returns the text of an error for users, for example message_of(). Errors are passed on as text when they
/// are printed, written to a file or sent to other ranks. Layers that know the config use a function that adds advice
/// (trainer/ending/advice.hpp).
using Explain = std::function<std::string(const std::exception&)>;

/// Returns the text of an error for users. An Error, or an exception that a train function throws, keeps its own text. The
/// text of an exception of the C++ library or of nlohmann::json only names a function of that library, so it is replaced by
/// its meaning and a remedy.
std::string message_of(const std::exception& error);

}  // namespace trainrt
