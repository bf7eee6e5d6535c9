#include "program/children/failure_output.hpp"

#include <csignal>

#include <catch2/catch.hpp>

#include "program/children/python_exception.hpp"

using namespace trainrt::program;

namespace {

const std::string traceback = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    step()\n";

std::string frames(int count) {
  std::string text = "Exception raised from check at ../aten/src/ATen/Check.cpp:12 (most recent call first):\n";
  for (int i = 0; i < count; ++i) text += "frame #" + std::to_string(i) + ": c10::Error::Error() + 0x33 (libc10.so)\n";
  return text;
}

struct Row {
  const char* story;
  std::string output;
  std::string exception;
};

}  // namespace

TEST_CASE("the exception that ended a Python program is found in its output") {
  const std::vector<Row> rows = {
      {"nothing was printed", "", ""},
      {"no traceback", "step 1\nstep 2\nSegmentation failure\n", ""},
      {"one exception", "step 1\n" + traceback + "ValueError: bad batch\n", "ValueError: bad batch"},
      {"without a message", traceback + "KeyboardInterrupt\n", "KeyboardInterrupt"},
      {"an exception of a class in a module", traceback + "torch.cuda.OutOfMemoryError: CUDA out of memory.\n",
       "torch.cuda.OutOfMemoryError: CUDA out of memory."},
      {"C++ frames after the message", traceback + "RuntimeError: Connection closed by peer\n" + frames(30) + "\n\n",
       "RuntimeError: Connection closed by peer"},
      {"the first line of a message of several lines", traceback + "RuntimeError: sizes differ:\n  a: 1\nb: 2\n",
       "RuntimeError: sizes differ:"},
      {"the last of chained exceptions",
       traceback + "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n" + traceback +
           "ValueError: bad batch\n",
       "ValueError: bad batch"},
      {"a cause",
       traceback + "OSError: gone\n\nThe above exception was the direct cause of the following exception:\n\n" + traceback +
           "RuntimeError: no data\n",
       "RuntimeError: no data"},
      {"a worker of a DataLoader",
       traceback + "RuntimeError: Caught ValueError in DataLoader worker process 0.\nOriginal " + traceback +
           "ValueError: bad sample\n",
       "ValueError: bad sample"},
      {"lines with the rank as a prefix by torch",
       "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"t.py\", line 3, in f\n[rank1]:     g()\n"
       "[rank1]: ValueError: bad batch\n",
       "ValueError: bad batch"},
      {"a group",
       "  + Exception Group Traceback (most recent call last):\n  |   File \"t.py\", line 1, in <module>\n  |     f()\n"
       "  | ExceptionGroup: two failed (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n"
       "    | Traceback (most recent call last):\n    |   File \"t.py\", line 9, in g\n    | ValueError: bad batch\n"
       "    +---------------- 2 ----------------\n    | TypeError: x\n    +------------------------------------\n",
       "ExceptionGroup: two failed (2 sub-exceptions), first ValueError: bad batch"},
      {"a syntax error without a traceback",
       "  File \"t.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n", "SyntaxError: invalid syntax"},
      {"an exception that Python ignored",
       traceback + "ValueError: bad batch\nException ignored in: <function f>\n" + traceback + "TypeError: x\n",
       "ValueError: bad batch"},
      {"an exception far above the end", traceback + "ValueError: x\n" + frames(200), ""},
      {"a truncated traceback", traceback, ""},
      {"carriage returns", "Traceback (most recent call last):\r\n  File \"t.py\", line 3\r\nValueError: bad batch\r\n",
       "ValueError: bad batch"}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(python_exception(row.output) == row.exception);
  }
}

TEST_CASE("an error of argparse names the wrong arguments, and a restart would fail again") {
  const auto found = failure_output("usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --bad\n");
  CHECK(found.exception == "train.py: error: unrecognized arguments: --bad");
  CHECK(is_permanent(ExitStatus{.exit_code = 2}, found.exception));
  CHECK_FALSE(is_permanent(ExitStatus{.exit_code = 1}, found.exception));
  for (const auto* line : {"a log line: error: disk", "step 3: an error: x", ": error: y", "train.py: error:"})
    CHECK(failure_output(line).exception == "");
}

TEST_CASE("the error has the exception in its first line, then the last lines of the output without control characters") {
  std::string output = "first\n";
  for (int i = 0; i < 30; ++i) output += "line " + std::to_string(i) + "\n";
  const auto found = failure_output(output + "\x1b[31mred\n" + traceback + "ValueError: bad\x07 batch\n");
  CHECK(found.exception == "ValueError: bad\\x07 batch");
  CHECK(found.lines.starts_with("line 15\n"));
  CHECK(found.lines.find("\\x1b[31mred\n") != std::string::npos);
  CHECK(found.lines.ends_with("\nValueError: bad\\x07 batch"));
  CHECK(exit_in_words({.exit_code = 1}, found) == "exited with 1: ValueError: bad\\x07 batch");
  CHECK(exit_in_words({.signal = SIGKILL}, found) == "was ended by SIGKILL");
  CHECK(failure_output(std::string(100'000, 'x')).lines == "..." + std::string(8192, 'x'));
}
