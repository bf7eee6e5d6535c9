#pragma once
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/journal.hpp"

namespace trainrt::tune {

/// Writes down what the scheduler said, and in a file beside the journal's what of each of its files was read for that: the
/// first is what everybody reads, the second what a decision can be made again of (src/tune/README.md).
class DecisionLog {
 public:
  /// Of a writer's own files, which nobody else writes now.
  DecisionLog(const std::string& journal, int writer)
      : records_(journal, writer), reads_(JournalWriter::of_reads(journal, writer)) {}
  /// Durable when it returns. `read`: where the reader stood.
  void write(const Decision& decision, const Positions& read);

 private:
  JournalWriter records_, reads_;
  Positions before_;  ///< of the last decision here
  bool has_written_ = false;
};

}  // namespace trainrt::tune
