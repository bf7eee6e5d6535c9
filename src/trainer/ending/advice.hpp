#pragma once
#include <exception>
#include <string>

namespace trainrt::trainer {

/// Returns advice for the user on `error`, or "". The advice names config keys, because the code that throws the error
/// does not know them. The type and the members of the error determine the advice. Pure function.
std::string advice_for(const std::exception& error);

/// Returns the message of `error` with the advice for it: "MESSAGE; ADVICE". If the message has several lines, the advice
/// is on a separate line. Must be called before the error is stored as text or sent to other ranks, since its type is then
/// lost.
std::string with_advice(const std::exception& error);

/// Same as with_advice(), but for commands that write an output file (-o) instead of a run: if the storage is full or
/// read-only, the advice is to choose another output file.
std::string with_output_advice(const std::exception& error);

}  // namespace trainrt::trainer
