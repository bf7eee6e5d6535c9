#pragma once
#include <exception>
#include <string>

namespace trainrt::trainer {

/// What a user can do about an error, in terms of the config: the layers below know no keys, their errors carry types and
/// fields. "" if there is nothing to add. Pure.
std::string advice_for(const std::exception& error);

/// The message with the advice: "MESSAGE; ADVICE", or on a line of its own after a message of several lines. For when
/// an error becomes a text: it is printed, written down, or sent to other ranks, which its type does not survive.
std::string with_advice(const std::exception& error);

/// The same for commands that write one file of the user's choice, and no run: keys of the config do not help them.
std::string with_output_advice(const std::exception& error);

}  // namespace trainrt::trainer
