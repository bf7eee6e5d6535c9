#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// How an error reads where it becomes a text: it is printed, written down, or sent to other ranks, which its type does not
/// survive. Who has a config adds there what the config can do about it (trainer/advice.hpp).
using Explain = std::function<std::string(const std::exception&)>;

/// Returns an error as a sentence for users: what an Error, or an exception of a train function, says itself; of one that
/// the C++ library or nlohmann::json threw, whose text names only a function of theirs, what it means and what to do.
std::string message_of(const std::exception& error);

}  // namespace trainrt
