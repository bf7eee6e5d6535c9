#pragma once
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/journal.hpp"

namespace trainrt::tune {

/// Records the decisions of a scheduler in the journal. For each decision, a second file records how many bytes of each
/// journal file had been read, so that the decision can be reproduced (src/tune/details.md).
class DecisionLog {
 public:
  /// Appends to the files of process number `writer` of the sweep. No other process may write to them while the object
  /// exists.
  DecisionLog(const std::string& journal, int writer)
      : records_(journal, writer), reads_(JournalWriter::of_reads(journal, writer)) {}
  /// Records a decision that was made after reading the journal up to `read`. The record is durable when the function
  /// returns.
  void write(const Decision& decision, const Positions& read);

 private:
  JournalWriter records_, reads_;
  Positions before_;  ///< positions of the previous decision
  bool has_written_ = false;
};

}  // namespace trainrt::tune
