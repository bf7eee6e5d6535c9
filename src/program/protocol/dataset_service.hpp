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

/// Provides the batches of datasets to a program in shared memory. Only data_fit is collective. All functions throw\n///
/// UsageError for an invalid message, and the errors of the dataset.
class DatasetService {
 public:
  /// Returns the dataset with this name, or nothing.
  using Find = std::function<std::optional<Dataset>(const std::string& name)>;
  explicit DatasetService(Find find) : find_(std::move(find)) {}

  /// Records the number of batches that count as done, if the message has a field "taken".
  void note_taken(const Message& message);
  /// Returns the answer to a message data_look, data_begin, data_next, data_taken, data_end or data_fit; nothing for
  /// others.
  std::optional<Json> reply(const Message& message);

 private:
  /// An iteration over the batches of one epoch.
  struct Walk {
    bool move_on();
    std::optional<Json> hand_over(const SharedMemory& memory, std::size_t& first);

    Batches batches;
    std::optional<Batches::iterator> at = {};  ///< empty before the first batch
    std::vector<Dataset::Field> fields;        ///< fields that the program gets
    bool is_handed_over = true;                ///< the current batch was sent to the program
    bool is_ahead = false;                     ///< the program reports which batches count as done
    bool has_draws = false;                    ///< the program gets a random number for each sample
  };
  Json describe(const Message& message) const;
  Json fit(const Message& message) const;
  Json begin(const Message& message);
  Json next(const Message& message);
  Json next_together(Walk& walk, SharedMemory& memory, std::size_t max_bytes);
  Json taken(const Message& message);
  Json end(const Message& message);
  Dataset dataset(const Message& message) const;
  std::map<std::int64_t, Walk>::iterator walk(std::int64_t number);
  SharedMemory& slot(const Message& message);

  Find find_;
  std::map<std::int64_t, Walk> walks_;
  std::int64_t last_walk_ = 0;
  std::map<std::int64_t, SharedMemory> slots_;  ///< memories of the program, by the numbers that it gave them
};

}  // namespace trainrt::program
