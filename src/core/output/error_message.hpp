#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// Returns the text of an error, for example message_of(). Errors are passed on as text where they are printed, written to
/// a file or sent to other ranks. Layers that know the config pass a function that adds advice (trainer/advice.hpp).
using Explain = std::function<std::string(const std::exception&)>;

/// Returns the text of an error for users. An Error, and an exception of a train function, has its own text. An exception
/// of the C++ library or of nlohmann::json gets a text with its meaning and a remedy, since its own text only
/// names a function of that library.
std::string message_of(const std::exception& error);

}  // namespace trainrt
