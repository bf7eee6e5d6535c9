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

/// Provides the batches of datasets to a program in shared memory. Only the message 'data_fit' is collective. The
/// functions throw UsageError for an invalid message, and pass on the errors of the Dataset.
class DatasetService {
 public:
  /// Returns the dataset with the name `name`, or nothing if there is no such dataset.
  using Find = std::function<std::optional<Dataset>(const std::string& name)>;
  explicit DatasetService(Find find) : find_(std::move(find)) {}

  /// If the message has a field "taken", records how many batches of each iteration (Walk) the program has processed.
  void note_taken(const Message& message);
  /// Returns the answer to a message 'data_look', 'data_begin', 'data_next', 'data_taken', 'data_end' or 'data_fit', or
  /// nothing for any other message.
  std::optional<Json> reply(const Message& message);

 private:
  /// An iteration over the batches of one epoch of a dataset. The program identifies a walk by its number.
  struct Walk {
    bool move_on();
    std::optional<Json> hand_over(const SharedMemory& memory, std::size_t& first);

    Batches batches;
    std::optional<Batches::iterator> at = {};  ///< position in `batches`; empty before the first batch
    std::vector<Dataset::Field> fields;        ///< fields that are sent to the program
    bool is_handed_over = true;                ///< the batch at `at` was sent to the program
    bool is_ahead = false;                     ///< the program reports how many batches it has processed
    bool has_draws = false;                    ///< a random number for each sample is sent to the program
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
  std::map<std::int64_t, SharedMemory> slots_;  ///< shared memories of the program, by the slot number in its messages
};

}  // namespace trainrt::program
