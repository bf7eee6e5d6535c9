#include "core/output/log.hpp"

#include <atomic>
#include <utility>

#include "core/output/output_capture.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt::log {

namespace {

std::atomic<int> the_rank{0};
std::atomic<int> the_size{1};
std::atomic<bool> is_quiet{false};
std::function<std::string(std::string)> the_edit;

/// Writes a message of the runtime to standard error, with control characters escaped. If writing fails, the message is
/// dropped.
void put_message(const std::string& text) try {
  OutputCapture::write(OutputCapture::Stream::error, printable_text(the_edit ? the_edit(text) : text) + '\n');
} catch (const std::exception&) {
}

std::string prefix() {
  if (the_size <= 1) return "trainrt: ";
  return "trainrt: rank " + std::to_string(the_rank) + ": ";
}

}  // namespace

void set_rank(int rank, int size) {
  the_rank = rank;
  the_size = size;
}

void set_quiet(bool quiet) { is_quiet = quiet; }

void set_edit(std::function<std::string(std::string)> edit) { the_edit = std::move(edit); }

void info(const std::string& text) {
  if (the_rank == 0 && !is_quiet) put_message("trainrt: " + text);
}

void worker(std::string_view text) {
  if (is_quiet) return;
  for (const auto& line : printable_lines(text)) put_message(prefix() + line);
}

void details(const std::string& lines) { put_message(lines.ends_with('\n') ? lines.substr(0, lines.size() - 1) : lines); }

void warning(const std::string& text) { put_message(prefix() + "warning: " + text); }

void run_warning(const std::string& text) {
  if (the_rank == 0) put_message("trainrt: warning: " + text);
}

void error(const std::string& text) { put_message(prefix() + "error: " + text); }

void run_error(const std::string& text) {
  if (the_rank == 0) put_message("trainrt: error: " + text);
}

}  // namespace trainrt::log
