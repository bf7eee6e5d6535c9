#pragma once
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// What a committed checkpoint has of the directories that report() was given: all its files but those of the State.
std::vector<FileRecord> carried_files(const std::string& checkpoint_dir, const State& state);

/// Gives another checkpoint of the run that file, at `to`, where nothing is yet. Nobody writes into it any more: it is
/// linked, or copied if no link can be made. A copy that is not as the record says throws Error.
void carry_file(const std::string& from, const FileRecord& record, const std::string& to);

}  // namespace trainrt::checkpoint
