#include "checkpoint/save/save.hpp"

#include "checkpoint/collective.hpp"

namespace trainrt::checkpoint {

SaveResult save(const State& state, const SaverOptions& options, const Meta& meta, Communicator& communicator) {
  Saver saver(options, communicator);
  const auto failed = saver.start(state, {meta, {}});
  auto result = failed ? *failed : saver.finish().value();
  on_every_rank(communicator, [&] {  // no rank looks before the view is there
    saver.drain();
    return std::string();
  });
  return result;
}

}  // namespace trainrt::checkpoint
