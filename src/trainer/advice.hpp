#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt::trainer {

/// What a user can do about an error, in terms of the config: the layers below know no keys, their errors carry types and
/// fields. "" if there is nothing to add. Pure.
std::string advice_for(const std::exception& error);

/// The message with the advice: "MESSAGE; ADVICE", or on a line of its own after a message of several lines. For where an
/// error becomes a text: it is printed, written down, or sent to other ranks, which its type does not survive.
std::string with_advice(const std::exception& error);

/// Runs `work`; an Error is thrown on as an Error with the advice in its text, and the same exit code. Other exceptions
/// pass.
void advised(const std::function<void()>& work);

}  // namespace trainrt::trainer
