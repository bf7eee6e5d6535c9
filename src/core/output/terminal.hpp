#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt {

struct TerminalSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool operator==(const TerminalSize&) const = default;
};

/// The terminal that shows this process's standard output: its own, or that of the mpiexec on this host that started it
/// and reads its output from a pipe. None if the output goes elsewhere (a file, srun), or the terminal knows no control
/// sequences (TERM=dumb).
std::optional<TerminalSize> terminal_of_output();

/// Control sequences (ECMA-48, and the DEC VT100's for the scrolling region) that keep a terminal's last row apart, so that
/// all other output scrolls above it.
namespace last_row {

/// Takes the row: what stands there moves up, and the cursor stays in its line.
std::string take(TerminalSize size);
/// Shows a text in it; the cursor stays where it is. The caller cuts the text to the columns.
std::string show(TerminalSize size, std::string_view text);
/// Gives it back, empty.
std::string give_back(TerminalSize size);

/// Remembers that this process has taken the row, for give_back_at_exit().
void note_taken(bool taken);
/// If the row is still taken, the whole screen scrolls again. For ends without destructors; async-signal-safe.
void give_back_at_exit();

}  // namespace last_row

}  // namespace trainrt
