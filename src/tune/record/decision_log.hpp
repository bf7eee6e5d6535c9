#pragma once
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/journal.hpp"

namespace trainrt::tune {

/// Records a scheduler's decisions in the journal, and in a second file how many bytes of each journal file had been read
/// for each decision, so that it can be reproduced (src/tune/details.md).
class DecisionLog {
 public:
  /// Appends to the files of `writer`. No other process may write them meanwhile.
  DecisionLog(const std::string& journal, int writer)
      : records_(journal, writer), reads_(JournalWriter::of_reads(journal, writer)) {}
  /// Writes a decision that was made after reading up to `read`. It is durable on return.
  void write(const Decision& decision, const Positions& read);

 private:
  JournalWriter records_, reads_;
  Positions before_;  ///< positions of the previous decision
  bool has_written_ = false;
};

}  // namespace trainrt::tune
