#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt {

/// The size of a terminal in characters.
struct TerminalSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool operator==(const TerminalSize&) const = default;
};

/// Returns the size of the terminal that shows this process's standard output. If an mpiexec on this host started this
/// process and reads its output from a pipe, this is the terminal of mpiexec. Returns nullopt if the output goes to a file
/// or another program (srun, for example), or if the terminal has no control sequences (TERM=dumb).
std::optional<TerminalSize> terminal_of_output();

/// Control sequences that reserve the last row of a terminal for a status line (ECMA-48, and the scrolling region of the
/// DEC VT100). All other output scrolls above the status line.
namespace last_row {

/// Returns the control sequence that reserves the last row of the terminal for a status line. Text in the last row scrolls
/// up, and the cursor stays in its line of text.
std::string take(TerminalSize size);
/// Returns the control sequence that shows `text` in the reserved last row; the cursor does not move. Precondition: `text`
/// fits into the columns of the terminal.
std::string show(TerminalSize size, std::string_view text);
/// Returns the control sequence that clears the reserved last row and ends the reservation.
std::string give_back(TerminalSize size);

/// Records whether this process has reserved the terminal's last row. restore_at_exit() reads the record.
void note_taken(bool taken);
/// If the terminal's last row is still reserved, writes the control sequence that ends the reservation. For a process that
/// ends without calling destructors. Async-signal-safe.
void restore_at_exit();

}  // namespace last_row

}  // namespace trainrt
