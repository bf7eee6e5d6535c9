#pragma once
#include <map>
#include <string>

#include "program/protocol/channel.hpp"
#include "program/rendezvous/rendezvous.hpp"

namespace trainrt::program {

/// A run that a program requests with the message 'open_run'.
struct RunRequest {
  std::map<std::string, std::string> settings;  ///< config keys and their values as text: "checkpoint.num_to_keep" -> "3"
  std::map<std::string, std::string> defaults;  ///< like `settings`; used for keys that no config and no option sets
  int number = 1;                               ///< number of the request, from 1 after the start of the program
};

/// Access keys of an object store, which a program may send with its first message.
struct StoreKeys {
  std::string key, secret, token;  ///< "" if the program has sent no keys; `token`: session token, or ""
};

/// Removes the field "store_keys" from `body` and returns it; empty keys if the field is missing. Must be called before the
/// message is copied. Throws UsageError, which does not quote the keys, if the field is invalid.
StoreKeys take_store_keys(Json& body);

/// Returns the RunRequest in a message 'open_run'. Throws UsageError if the message is invalid.
RunRequest run_request_from(const Json& body);

/// The run that a program has requested. The run may exist already.
struct RequestedRun {
  std::string name;
  std::string run_dir;
  bool is_finished = false;
};

/// Returns the answer to 'open_run' for a run that has already finished.
Json finished_fields(const Rendezvous& rendezvous, const RequestedRun& run);

}  // namespace trainrt::program
