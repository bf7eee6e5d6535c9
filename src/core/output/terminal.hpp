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

/// Returns the size of the terminal that shows this process's standard output: its own terminal, or that of the mpiexec on
/// this host that started this process and reads its output from a pipe. Returns nullopt if the output goes elsewhere (a
/// file, srun), or if the terminal has no control sequences (TERM=dumb).
std::optional<TerminalSize> terminal_of_output();

/// Control sequences (ECMA-48, and the scrolling region of the DEC VT100) that reserve the last row of a terminal for a
/// status line, so that all other output scrolls above it.
namespace last_row {

/// Returns the sequence that reserves the row: its text scrolls up, and the cursor stays in its line.
std::string take(TerminalSize size);
/// Returns the sequence that shows `text` in the row; the cursor does not move. `text` must fit into the columns.
std::string show(TerminalSize size, std::string_view text);
/// Returns the sequence that clears the row and ends the reservation.
std::string give_back(TerminalSize size);

/// Stores whether this process has reserved the row, for restore_at_exit().
void note_taken(bool taken);
/// Writes the sequence that ends the reservation if the row is still reserved. For a process that ends without calling
/// destructors; async-signal-safe.
void restore_at_exit();

}  // namespace last_row

}  // namespace trainrt
