#pragma once
#include <map>
#include <string>

#include "program/protocol/channel.hpp"
#include "program/rendezvous/program_place.hpp"

namespace trainrt::program {

/// A run that a program asks for: message 'open_run'.
struct RunRequest {
  std::map<std::string, std::string> settings;  ///< config keys: "checkpoint.num_to_keep", and their texts
  int number = 1;                               ///< of the run among those that this start of the program asks for
};

/// UsageError if the message is malformed.
RunRequest run_request_from(const Json& body);

/// What has become of a run that is asked for.
struct RequestedRun {
  std::string name;
  std::string run_dir;
  bool is_finished = false;
};

/// The answer to a request for a run that has finished already.
Json finished_fields(const ProgramPlace& place, const RequestedRun& run);

}  // namespace trainrt::program
