#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <trainrt/dataset.hpp>

#include "program/protocol/batch_copy.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/shared_memory.hpp"

namespace trainrt::program {

/// Gives a program the batches of datasets, in memory that it shares. None of its calls is collective but data_fit.
/// UsageError for what a message says wrongly, and what the dataset throws.
class DatasetService {
 public:
  /// The dataset of a name; nothing if there is none.
  using Find = std::function<std::optional<Dataset>(const std::string& name)>;
  explicit DatasetService(Find find) : find_(std::move(find)) {}

  /// Takes note of how many batches count as done, if the message says so: `taken` (conversation.hpp).
  void note_taken(const Message& message);
  /// The answer to a message of data_look, data_begin, data_next, data_taken, data_end or data_fit (conversation.hpp);
  /// nothing to another.
  std::optional<Json> reply(const Message& message);

 private:
  /// A walk over the batches of one epoch.
  struct Walk {
    bool move_on();
    std::optional<Json> hand_over(const SharedMemory& memory, std::size_t& first);

    Batches batches;
    std::optional<Batches::iterator> at = {};  ///< none before the first batch
    std::vector<Dataset::Field> fields;        ///< that the program gets
    bool is_handed_over = true;                ///< the batch at hand, if there is one
    bool is_ahead = false;                     ///< the program says which batches count as done
    bool has_draws = false;                    ///< it gets random numbers for each sample
  };
  Json look(const Message& message) const;
  Json fit(const Message& message) const;
  Json begin(const Message& message);
  Json next(const Message& message);
  Json next_together(Walk& walk, SharedMemory& memory, std::size_t most_bytes);
  Json taken(const Message& message);
  Json end(const Message& message);
  Dataset dataset(const Message& message) const;
  std::map<std::int64_t, Walk>::iterator walk(std::int64_t number);
  SharedMemory& slot(const Message& message);

  Find find_;
  std::map<std::int64_t, Walk> walks_;
  std::int64_t last_walk_ = 0;
  std::map<std::int64_t, SharedMemory> slots_;  ///< the program's, under its numbers
};

}  // namespace trainrt::program
