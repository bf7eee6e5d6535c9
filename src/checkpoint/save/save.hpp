#pragma once
#include "checkpoint/save/saver.hpp"

namespace trainrt::checkpoint {

/// Saves one checkpoint and waits until it is committed and its view is written. Collective. The result is the same on all
/// ranks. A checkpoint that some rank cannot write is dropped everywhere and its remains are removed; nothing committed is
/// touched. Values that differ between ranks throw Error (it is a bug of the train function), as does a directory of that
/// index that exists already: then another attempt owns the run now.
SaveResult save(const State& state, const SaverOptions& options, const Meta& meta, Communicator& communicator);

}  // namespace trainrt::checkpoint
