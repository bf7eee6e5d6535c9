#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "io/hdf5/untrusted/schema.hpp"
#include "metrics/sink.hpp"
#include "metrics/typed_columns.hpp"
#include "support/cpp/skip.hpp"
#include "unit/metrics/open_sink.hpp"
#include "unit/metrics/support.hpp"

using namespace trainrt;
using namespace trainrt::metrics;

namespace {

std::unique_ptr<Sink> open(const char* name, const Scratch& dir) { return open_sink(name, dir.run()); }

Record loss(std::int64_t iteration, double value) {
  return {iteration, {{"loss", value}, {"_training_iteration", iteration}}};
}

/// Runs a script with Debian's Python and returns its output. Prints "skipped" and returns nullopt if h5py is missing.
std::optional<std::string> python(const Scratch& dir, const std::string& script) {
  if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0) {
    test::skip("/usr/bin/python3 has no h5py");
    return std::nullopt;
  }
  write(dir / "script.py", script);
  REQUIRE(std::system(("cd " + dir.path() + " && /usr/bin/python3 script.py > out 2>&1").c_str()) == 0);
  return read(dir / "out");
}

}  // namespace

TEST_CASE("sinks are selected by name, in the given order, with their options") {
  const std::vector<std::string> names = {"hdf5", "csv"};
  const auto chosen = choose_sinks(names, {{"hdf5", {}}, {"progress", {}}});
  REQUIRE(chosen.size() == 2);
  CHECK((chosen[0].kind->name == "hdf5" && chosen[1].kind->name == "csv"));
  CHECK(chosen[0].options.real("interval") == 30);
  Options options;
  options.set("interval", {"0.5", "x.ini:3"});
  CHECK(choose_sinks(names, {{"hdf5", options}})[0].options.real("interval") == 0.5);
  CHECK(choose_sinks({}, {{"hdf5", options}}).empty());
}

TEST_CASE("an unknown or repeated sink and an invalid option are errors that name it") {
  using Catch::Matchers::Contains;
  const auto choose = [](std::vector<std::string> names, std::map<std::string, Options> sections = {}) {
    return choose_sinks(names, sections);
  };
  CHECK_THROWS_WITH(choose({"cvs"}), Contains("'cvs'") && Contains("did you mean 'csv'"));
  CHECK_THROWS_WITH(choose({"csv", "csv"}), Contains("'csv' is named twice"));
  Options wrong;
  wrong.set("intervall", {"3", "x.ini:3"});
  CHECK_THROWS_WITH(choose({"csv"}, {{"hdf5", wrong}}),
                    Contains("x.ini:3") && Contains("[sink.hdf5]") && Contains("interval"));
  CHECK_THROWS_WITH(choose({"csv"}, {{"hdf4", {}}}), Contains("'hdf4'") && Contains("did you mean 'hdf5'"));
  CHECK_THROWS_WITH(choose({"mine"}),
                    Contains("valid names: csv, hdf5, ") && Contains(", tensorboard") && Contains(". To use"));
  Options misspelled;
  misspelled.set("programm", {"cat", "x.ini:5"});
  CHECK_THROWS_WITH(choose({}, {{"mine", misspelled}}),
                    Catch::StartsWith("x.ini:5: unknown key 'programm' in [sink.mine]"));
}

TEST_CASE("metrics.h5 is written at most once per interval") {
  Scratch dir;
  Options often, seldom;
  often.set("interval", {"0.001", "test"});
  for (const auto& [options, is_due] : {std::pair(often, true), std::pair(seldom, false)}) {
    auto sink = open_sink("hdf5", dir.run(), options);
    sink->begin({loss(1, 0.5)});
    sink->write(loss(2, 0.25));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto text = read(dir / "metrics.h5");
    sink->sync();
    CHECK((read(dir / "metrics.h5") != text) == is_due);
  }
}

TEST_CASE("progress.csv has one row per report") {
  Scratch dir;
  auto sink = open("csv", dir);
  sink->begin({});
  sink->write(loss(1, 0.5));
  CHECK(read(dir / "progress.csv") == "loss,_training_iteration\n0.5,1\n");
  sink->write(loss(2, std::nan("")));
  sink->write(loss(3, 0.1));
  CHECK(read(dir / "progress.csv") == "loss,_training_iteration\n0.5,1\nnan,2\n0.1,3\n");
}

TEST_CASE("after a restart progress.csv holds exactly the history") {
  Scratch dir;
  write(dir / "progress.csv", "loss\n1\n2\n3\nrubbish");
  auto sink = open("csv", dir);
  sink->begin({loss(1, 0.5), loss(2, 0.25)});
  CHECK(read(dir / "progress.csv") == "loss,_training_iteration\n0.5,1\n0.25,2\n");
  sink->write(loss(3, 0.125));
  CHECK(read(dir / "progress.csv") == "loss,_training_iteration\n0.5,1\n0.25,2\n0.125,3\n");
  sink->begin({});
  CHECK(read(dir / "progress.csv").empty());
}

TEST_CASE("a new key adds a column to progress.csv, which is empty in earlier rows") {
  Scratch dir;
  auto sink = open("csv", dir);
  sink->begin({loss(1, 0.5)});
  sink->write({2, {{"acc", 0.75}, {"_training_iteration", std::int64_t{2}}}});
  sink->write(loss(3, 0.25));
  CHECK(read(dir / "progress.csv") == "loss,_training_iteration,acc\n0.5,1,\n,2,0.75\n0.25,3,\n");
}

TEST_CASE("Python's csv module reads the quoting of progress.csv") {
  Scratch dir;
  auto sink = open("csv", dir);
  sink->begin({});
  sink->write(
      {1, {{"a,b", std::string("say \"hi\"")}, {"c", std::string("two\r\nlines, one cell")}, {"d", std::string("plain")}}});
  CHECK(read(dir / "progress.csv") == "\"a,b\",c,d\n\"say \"\"hi\"\"\",\"two\r\nlines, one cell\",plain\n");
}

TEST_CASE("h5py reads types, gaps, texts and nested keys of metrics.h5") {
  Scratch dir;
  auto sink = open("hdf5", dir);
  sink->begin({{1, {{"loss", 0.5}, {"n", std::int64_t{3}}, {"train/acc", 0.1}, {"note", std::string("h\xc3\xb6r")}}}});
  sink->write({2, {{"loss", std::nan("")}, {"n", std::int64_t{4}}, {"late", std::int64_t{9}}}});
  sink->write({3, {{"loss", 0.25}, {"n", std::int64_t{5}}, {"train/acc", 0.3}}});
  sink->end();
  const auto out = python(dir, R"(
import h5py
with h5py.File('metrics.h5', 'r') as f:
    print(f['iteration'][:].tolist(), f['iteration'].dtype)
    m = f['metrics']
    for key in ['loss', 'n', 'train/acc', 'late']:
        print(key, m[key][:].tolist(), m[key].dtype)
    print('note', [s.encode('utf-8') for s in m['note'].asstr()[:]])
    print(sorted(m), sorted(f))
)");
  if (!out) return;
  CHECK(*out ==
        "[1, 2, 3] int64\n"
        "loss [0.5, nan, 0.25] float64\n"
        "n [3, 4, 5] int64\n"
        "train/acc [0.1, nan, 0.3] float64\n"
        "late [nan, 9.0, nan] float64\n"
        "note [b'h\\xc3\\xb6r', b'', b'']\n"
        "['late', 'loss', 'n', 'note', 'train'] ['iteration', 'keys', 'kinds', 'metrics']\n");
}

TEST_CASE("metrics.h5 matches its schema, also without records") {
  Scratch dir;
  auto sink = open("hdf5", dir);
  sink->begin({});
  CHECK(io::check_schema(dir / "metrics.h5", "metrics").empty());
  sink->write({1, {{"a/b/c", 1.0}, {"text", std::string("x")}, {"whole", std::int64_t{1}}}});
  sink->end();
  CHECK(io::check_schema(dir / "metrics.h5", "metrics").empty());
}

TEST_CASE("each key has a unique name in metrics.h5") {
  const std::vector<std::string> keys{"a", "a/b", "a%2Fb", "x//y", "/x", "x/", ".", "..", "../up", "ok/fine", "\xc3\xa4"};
  Record record{1, {}};
  for (const auto& key : keys) record.values.emplace_back(key, 1.0);
  const auto names = hdf5_names(typed_columns({record}));
  CHECK(names == std::vector<std::string>{"a", "a%2Fb", "a%252Fb", "x%2F%2Fy", "%2Fx", "x%2F", "%2E", "%2E.", "%2E.%2Fup",
                                          "ok/fine", "\xc3\xa4"});
  Scratch dir;
  auto sink = open("hdf5", dir);
  sink->begin({record});
  CHECK(io::check_schema(dir / "metrics.h5", "metrics").empty());
  if (const auto out = python(dir, "import h5py; print(len(h5py.File('metrics.h5', 'r')['metrics']))"))
    CHECK(*out == "11\n");
}

TEST_CASE("metrics.h5 is not rewritten at every commit, but is complete at the end, also if it was damaged") {
  Scratch dir;
  write(dir / "metrics.h5", "not HDF5");
  auto sink = open("hdf5", dir);
  sink->begin({loss(1, 1)});
  const auto first = read(dir / "metrics.h5");
  CHECK(first.substr(1, 3) == "HDF");
  sink->write(loss(2, 2));
  sink->sync();
  CHECK(read(dir / "metrics.h5") == first);
  sink->end();
  CHECK(read(dir / "metrics.h5") != first);
  CHECK(std::filesystem::is_empty(dir / ".private"));
}

TEST_CASE("progress.csv has each row once after a time in which it could not be written") {
  Scratch dir;
  auto sink = open("csv", dir);
  sink->begin({});
  sink->write(loss(1, 0.5));
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{std::filesystem::file_size(dir / "progress.csv") + 3, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(sink->write(loss(2, 0.25)), Error);
  CHECK_THROWS_AS(sink->write(loss(3, 0.125)), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  sink->end();
  CHECK(read(dir / "progress.csv") == "loss,_training_iteration\n0.5,1\n0.25,2\n0.125,3\n");
}

namespace {

/// A script that reads an event file without TensorBoard: frames with a CRC-32C from its polynomial, messages from their
/// wire format.
constexpr const char* read_events = R"(
import struct
def crc(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    value ^= 0xffffffff
    return ((value >> 15 | value << 17) + 0xa282ead8) & 0xffffffff
assert crc(b'123456789') == ((0xe3069283 >> 15 | 0xe3069283 << 17) + 0xa282ead8) & 0xffffffff
def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at
def fields(data):
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else (4, at) if key & 7 == 5 else varint(data, at)
            value, at = data[at:at + size], at + size
        found.append((key >> 3, value))
    return found
data = open('events.out.tfevents.trainrt', 'rb').read()
at = 0
while at < len(data):
    size, check = struct.unpack('<QI', data[at:at + 12])
    assert crc(data[at:at + 8]) == check
    body, [check] = data[at + 12:at + 12 + size], struct.unpack('<I', data[at + 12 + size:at + 16 + size])
    assert len(body) == size and crc(body) == check
    at += 16 + size
    event = dict(fields(body))
    time = struct.unpack('<d', event.get(1, bytes(8)))[0]
    print(event.get(2, 0), time, event.get(3, b'').decode(), end='')
    for _, value in fields(event.get(5, b'')):
        value = dict(fields(value))
        if 5 in value:
            histo = dict(fields(value[5]))
            numbers = lambda key: struct.unpack(f'<{len(histo.get(key, b"")) // 8}d', histo.get(key, b''))
            print('', value[1].decode(), *(number for key in range(1, 8) for number in numbers(key)), end='')
            continue
        print('', value[1].decode(), struct.unpack('<f', value[2])[0] if 2 in value else dict(fields(value[8]))[8].decode(), end='')
    print()
)";

}  // namespace

TEST_CASE("after a restart the event file has the config and each report once") {
  Scratch dir;
  const auto record = [](std::int64_t i, double loss) {
    return Record{i,
                  {{"loss/train \xe2\x82\xac", loss},
                   {"note", std::string("a text")},
                   {"n", i * 10},
                   {"runtime/time_this_iter_s", 3.0},
                   {"_timestamp", 1000 + i},
                   {"_time_this_iter_s", 0.5},
                   {"_training_iteration", i}}};
  };
  const auto open = [&] {
    return choose_sinks(std::array<std::string, 1>{"tensorboard"}, {})
        .front()
        .kind->open({dir.run(), "demo", false, {}, "tensorboard", "id", {{"loop.lr", "0.1"}}});
  };
  auto sink = open();
  sink->begin({});
  for (const std::int64_t i : {1, 2, 3}) sink->write(record(i, 0.5));
  sink = open();  // a restart from the second report
  sink->begin({record(1, 0.5), record(2, 0.5)});
  sink->write(record(3, std::nan("")));
  const auto out = python(dir, read_events);
  if (!out) return;
  CHECK(*out ==
        "0 0.0 brain.Event:2\n"
        "0 0.0  config/text_summary ```\nloop.lr = 0.1\n```\n"
        "1 1001.0  loss/train \xe2\x82\xac 0.5 n 10.0 metric/runtime/time_this_iter_s 3.0 runtime/time_this_iter_s 0.5\n"
        "2 1002.0  loss/train \xe2\x82\xac 0.5 n 20.0 metric/runtime/time_this_iter_s 3.0 runtime/time_this_iter_s 0.5\n"
        "3 1003.0  loss/train \xe2\x82\xac nan n 30.0 metric/runtime/time_this_iter_s 3.0 runtime/time_this_iter_s 0.5\n");
}

namespace {

/// A run with the TensorBoard sink and a State of two values, with histograms at every second report.
class HistogramRun {
 public:
  HistogramRun() {
    state_.tensor("model/w", w_);
    state_.tensor("optimizer/w", w_);
    options_.set("histograms", {"model/*", "test"});
    options_.set("histogram_interval", {"2", "test"});
  }

  void start(std::int64_t reports) {
    sink_ = open_sink("tensorboard", dir_.run(), options_);
    std::vector<Record> history;
    for (std::int64_t i = 1; i <= reports; ++i) history.push_back(loss(i, 0.5));
    sink_->begin(history);
  }
  void report(std::int64_t iteration, float value) {
    w_ = {-1, value};
    const auto bytes_of = [](const TensorEntry& entry) {
      return std::span(static_cast<const std::byte*>(entry.local.data), entry.local.bytes());
    };
    if (sink_->wants_state(iteration)) sink_->at_state(state_, bytes_of);
    sink_->write(loss(iteration, 0.5));
  }
  const Scratch& dir() const { return dir_; }

  /// Returns the iterations that have a histogram of model/w, with its maximum: "2:4 4:8".
  std::string shown() const {
    std::string text;
    std::istringstream lines(python(dir_, read_events).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      double iteration = 0, time = 0, min = 0, max = 0;
      std::string tag;
      if (words >> iteration >> time >> tag >> min >> max && tag == "model/w")
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", iteration, max);
    }
    return text;
  }

 private:
  Scratch dir_;
  State state_;
  std::vector<float> w_ = {0, 0};
  Options options_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace

TEST_CASE("the event file has each selected histogram once, also after restarts and damage") {
  HistogramRun run;
  run.start(0);
  for (std::int64_t i = 1; i <= 6; ++i) run.report(i, static_cast<float>(i));
  if (!python(run.dir(), read_events)) return;
  CHECK(run.shown() == "2:2 4:4 6:6");
  run.start(5);  // a restart from the fifth report
  CHECK(run.shown() == "2:2 4:4");
  run.report(6, 60);
  CHECK(run.shown() == "2:2 4:4 6:60");
  const auto path = run.dir() / "events.out.tfevents.trainrt";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);  // as after a node failure
  run.start(6);
  CHECK(run.shown() == "2:2 4:4");
  std::ofstream(path, std::ios::trunc) << "no event file";
  run.start(2);
  CHECK(run.shown().empty());
  for (const std::int64_t i : {3, 4}) run.report(i, 1);
  CHECK(run.shown() == "4:1");
}

TEST_CASE("histograms are kept while the file cannot be written") {
  HistogramRun run;
  run.start(0);
  run.report(1, 1);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{std::filesystem::file_size(run.dir() / "events.out.tfevents.trainrt") + 3, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  for (const std::int64_t i : {2, 3, 4}) CHECK_THROWS_AS(run.report(i, static_cast<float>(i)), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  run.report(5, 5);
  if (python(run.dir(), read_events)) CHECK(run.shown() == "2:2 4:4");
}

TEST_CASE("metrics.prom has the last report in the format of Prometheus") {
  Scratch dir;
  Options options;
  for (const bool is_elsewhere : {false, true}) {
    if (is_elsewhere) options.set("folder", {dir.path(), "test"});
    auto sink = open_sink("prometheus", dir.run(), options);
    const auto path = dir / (is_elsewhere ? "trainrt_demo.prom" : "metrics.prom");
    sink->at_step(20);
    sink->begin({loss(1, 0.5), loss(2, 0.25)});
    CHECK(read(path).find("trainrt_metric{run=\"demo\",key=\"loss\"} 0.25\n") != std::string::npos);
    sink->expect_iterations(9);
    sink->at_step(30);
    sink->write(
        {3,
         {{"a \"b\"\\\n", std::nan("")}, {"up", HUGE_VAL}, {"down", -HUGE_VAL}, {"n", std::int64_t{7}}, {"note", "text"}}});
    sink->end();
    CHECK(read(path) ==
          "# HELP trainrt_running 1 while the run trains, 0 after its attempt has ended normally.\n"
          "# TYPE trainrt_running gauge\ntrainrt_running{run=\"demo\"} 0\n"
          "# HELP trainrt_step Number of completed steps of the run.\n# TYPE trainrt_step "
          "gauge\ntrainrt_step{run=\"demo\"} 30\n"
          "# HELP trainrt_iteration Number of reports of the run so far.\n"
          "# TYPE trainrt_iteration gauge\ntrainrt_iteration{run=\"demo\"} 3\n"
          "# HELP trainrt_iterations_expected Expected total number of reports of the run.\n"
          "# TYPE trainrt_iterations_expected gauge\ntrainrt_iterations_expected{run=\"demo\"} 9\n"
          "# HELP trainrt_metric A metric of the last report, by key.\n# TYPE trainrt_metric gauge\n"
          "trainrt_metric{run=\"demo\",key=\"a \\\"b\\\"\\\\\\n\"} NaN\n"
          "trainrt_metric{run=\"demo\",key=\"up\"} +Inf\ntrainrt_metric{run=\"demo\",key=\"down\"} -Inf\n"
          "trainrt_metric{run=\"demo\",key=\"n\"} 7\n");
  }
}
