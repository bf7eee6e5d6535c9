#pragma once
#include <exception>
#include <string>

namespace trainrt::trainer {

/// Returns advice for a user on an error of a lower layer, or "". The advice names keys of the config, which lower layers
/// do not know; it depends on the type and the fields of the error. Pure function.
std::string advice_for(const std::exception& error);

/// Returns the message of an error with its advice: "MESSAGE; ADVICE", or with the advice on a separate line if the message
/// has several lines. Must be called before an error is stored as text or sent to other ranks, which loses its type.
std::string with_advice(const std::exception& error);

/// The same for commands that write one output file and no run. If the storage is full, the advice is another output file
/// instead of config keys.
std::string with_output_advice(const std::exception& error);

}  // namespace trainrt::trainer
