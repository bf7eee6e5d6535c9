// Reads the messages of a training program, which are JSON objects, one per line. The protocol, its channel and the
// mirrored State are the real ones; the run and the process are fakes. An empty line ends a batch: all lines of a batch
// arrive at once, the first one with a file descriptor.
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <trainrt/context.hpp>

#include "checkpoint/format/manifest.hpp"
#include "core/text/text.hpp"
#include "data/batches/dataset_impl.hpp"
#include "metrics/record_json.hpp"
#include "program/children/child.hpp"
#include "program/protocol/program_protocol.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt {

namespace {

/// Reads and writes every byte, so that AddressSanitizer reports invalid memory.
void touch(void* data, std::size_t bytes) {
  auto* at = static_cast<volatile char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) at[i] = at[i];
}

void touch(const State& state) {
  for (const auto& tensor : state.tensors()) touch(tensor.local.data, tensor.local.bytes());
}

/// A communicator of one rank that reads every byte of its arguments.
class Alone final : public Communicator {
 public:
  Alone() : Communicator(0, 1) {}
  std::string_view name() const override { return "alone"; }
  Ticket start(const Collective& collective) override {
    touch(collective.buffer.data, collective.buffer.bytes());
    if (collective.kind == Collective::Kind::all_gather && collective.part != collective.buffer.data)
      std::memcpy(collective.buffer.data, collective.part, collective.buffer.bytes());
    return 1;
  }
  bool test(Ticket) override { return true; }
  void wait(Ticket) override {}
  void start_maximum(const Maximum&) override {}
  Maximum finish_maximum(std::string_view) override { return {}; }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }
};

/// Requires that the manifest of a checkpoint with these texts can be read again.
void check_manifest(const std::string& metadata, const std::map<std::string, double>& metrics) {
  checkpoint::Manifest manifest;
  manifest.meta = {.number = 1,
                   .iteration = 1,
                   .step = 1,
                   .ranks = 1,
                   .attempt = 1,
                   .created = "",
                   .metrics = metrics,
                   .metadata = metadata};
  const std::string digest(32, '0');
  manifest.shards = {{"shard-00000.h5", 8, {{0, 4, 4, digest}}}};
  checkpoint::manifest_from(checkpoint::to_text(manifest), "manifest.json");
}

}  // namespace

/// A dataset of three samples, each with two numbers and a text.
class Samples final : public data::Source {
 public:
  std::uint64_t size() const override { return 3; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return true; }
  void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
    for (auto& column : columns) {
      const bool varies = fields_[column.field].varies;
      column.values.assign(samples.size() * (varies ? 1 : 8), std::byte{'x'});
      column.ends.clear();
      for (std::size_t i = 0; varies && i < samples.size(); ++i) column.ends.push_back(i + 1);
    }
  }

 private:
  std::vector<Dataset::Field> fields_{{"x", DType::f32, {2}}, {"t", DType::u8, {}, true}};
};

/// The fake run.
class Session {
 public:
  void save() {
    if (state == nullptr) return;
    state->bring_up_to_date();
    touch(*state);
    check_manifest(metadata, metrics);
  }

  std::string name = "fuzz";
  std::string metadata = "{}";
  std::map<std::string, double> metrics;
  std::int64_t steps = 0;
  State* state = nullptr;
  Alone communicator;
};

int Context::world_rank() const { return 0; }
int Context::world_size() const { return 1; }
int Context::local_rank() const { return 0; }
int Context::local_world_size() const { return 1; }
int Context::node_rank() const { return 0; }
std::span<const int> Context::gpus() const { return {}; }
const std::string& Context::run_name() const { return session_.name; }
const std::string& Context::run_dir() const { return session_.name; }
std::uint64_t Context::seed() const { return 1; }
std::uint64_t Context::step_seed() const { return 1; }
std::int64_t Context::step_count() const { return session_.steps; }
Communicator& Context::communicator() { return session_.communicator; }
void Context::expect_iterations(std::int64_t) {}
void Context::request_stop(std::string_view) {}
void Context::save() { session_.save(); }
void Context::stop_point() { session_.save(); }

void Context::log(std::string_view text) const {
  for (const auto& line : printable_lines(text))
    fuzz::require(is_utf8(line) && line.find('\x1b') == std::string::npos, "log lines have no control characters");
}

void Context::read(std::string_view key, LoopValue& value, bool) const {
  if (key == "lr") value = "0.1";
}

void Context::step() {
  ++session_.steps;
  session_.save();
}

bool Context::restore(State& state) {
  session_.state = &state;
  return false;
}

bool Context::restore() { return false; }
std::optional<CheckpointPlace> Context::checkpoint() const { return CheckpointPlace{1, session_.name, true}; }
bool Context::has_dataset(std::string_view name) const { return name == "train"; }

Dataset Context::dataset(std::string_view name) {
  data::DatasetPlan plan;
  plan.name = name;
  plan.source = std::make_shared<Samples>();
  return Dataset(std::make_shared<DatasetImpl>(std::move(plan)));
}

bool Context::is_checkpoint_on_its_way() const { return session_.steps % 2 == 0; }
bool Context::is_saved() const { return session_.steps % 3 == 0; }
void Context::advance_checkpoint() {}
ReportOptions Context::report_options() const { return {}; }
void Context::load(const State& state, const std::string&) { touch(state); }

void Context::report(const Metrics& metrics, const DirectoryCheckpoint& directory, const ReportOptions&) {
  fuzz::require(directory.path.empty() || directory.path.front() == '/', "a directory has an absolute path");
  checkpoint::check_metadata(directory.metadata);
  if (directory.state != nullptr) touch(*directory.state);
  check_manifest(checkpoint::merged_metadata(session_.metadata, directory.metadata), session_.metrics);
  metrics::Record record{1, {}};
  for (const auto& [name, value] : metrics) {
    const auto* number = std::get_if<Number>(&value.get());
    if (number != nullptr) session_.metrics[name] = number->value;
    record.values.emplace_back(
        name, number != nullptr ? metrics::Record::Value(number->value) : std::get<std::string>(value.get()));
  }
  const auto line = metrics::to_json(record);
  fuzz::require(line.find('\n') == std::string::npos, "a report is one line");
  fuzz::require(metrics::from_json(line).has_value() || record.find(metrics::iteration_key) != nullptr,
                "a report that was taken can be read again");
  session_.save();
}

void Context::checkpoint_metadata(std::string_view json) {
  checkpoint::check_metadata(json);
  session_.metadata = json;
}

namespace program {

Child::~Child() = default;
Child::Child(const ChildPlan&) {}
const std::optional<ExitStatus>& Child::exit_status() { return exit_status_; }
std::string Child::output_tail() const { return "the end\n"; }
double Child::exit_age_s() const { return 0; }
bool Child::ends_within(double) { return false; }
bool Child::is_over() { return exit_status_.has_value(); }
void LiveStacks::enable(pid_t, int, std::shared_ptr<OutputTee>) {}
void LiveStacks::disable() {}
void LiveStacks::note_call(const std::string& place) { last_call_ = place; }
std::string LiveStacks::last_call() const { return last_call_; }

}  // namespace program

namespace fuzz {

namespace {

constexpr const char* enough = "'enough'";  // in the error for an unknown message

int sealed_memory() {
  const int file = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  require(file >= 0 && ftruncate(file, 4096) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0,
          "the fuzz target has memory to share");
  return file;
}

void send(int socket, std::string text, int file) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  auto* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  require(sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == ssize_t(text.size()),
          "the messages fit into the socket");
}

/// Requires that each answer is one line of JSON of a known kind.
void check_answers(int socket) {
  std::string answers;
  char bytes[4096];
  for (ssize_t count; (count = recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0;) answers.append(bytes, count);
  for (std::size_t at = 0; at < answers.size();) {
    const auto end = answers.find('\n', at);
    require(end != std::string::npos, "an answer is a complete line");
    const auto answer = program::Json::parse(answers.substr(at, end - at));
    require(answer.contains("ok") || answer.contains("error") || answer.contains("save"), "an answer is of a known kind");
    at = end + 1;
  }
}

std::vector<std::string> batches_of(const std::string& input) {
  std::vector<std::string> batches;
  for (std::size_t at = 0; at < input.size();) {
    const auto end = std::min(input.find("\n\n", at), input.size());
    batches.push_back(input.substr(at, end - at));
    at = end + 2;
  }
  return batches;
}

/// Handles messages until the unknown message `enough`, and returns whether it was reached.
bool serve(program::ProgramProtocol& protocol, program::Channel& channel) try {
  auto first = channel.receive(1);
  require(first.has_value(), "a sent message is received");
  protocol.serve(std::move(*first));
  return false;
} catch (const Error& error) {
  require(std::strlen(error.what()) <= longest_message(), "the message of an error has a bounded length");
  return std::string_view(error.what()).find(enough) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> seeds() {
  return {
      "{\"op\":\"hello\",\"protocol\":1,\"client\":\"python\",\"pid\":12,\"stacks_signal\":64}\n\n{\"op\":\"config\","
      "\"key\":\"lr\"}\n"
      "{\"op\":\"step\"}\n{\"op\":\"report\",\"metrics\":{\"loss\":0.5,\"n\":{\"value\":1,\"weight\":2,\"reduce\":\"sum\"},"
      "\"text\":\"a\",\"no\":null,\"inf\":{\"float\":\"inf\"}}}\n{\"op\":\"save\"}\n{\"op\":\"done\"}",
      "{\"op\":\"restore\",\"memory\":4096,\"tensors\":[{\"name\":\"w\",\"dtype\":\"f32\",\"shape\":[4,8],\"at\":0,"
      "\"placement\":\"replicated\"},{\"name\":\"s\",\"dtype\":\"f64\",\"shape\":[2],\"at\":128,\"placement\":\"sharded\","
      "\"axis\":0,\"first\":2,\"global_extent\":8}],\"values\":{\"epoch\":1,\"x\":0.5,\"b\":true,\"t\":\"u\"},"
      "\"files\":[{\"name\":\"o.pt\",\"path\":\"/tmp/o\",\"per_rank\":true}]}\n\n{\"op\":\"step\"}\n"
      "{\"op\":\"state\",\"values\":{\"epoch\":2,\"x\":1.5,\"b\":false,\"t\":\"v\"}}",
      "{\"op\":\"imported\"}\n{\"op\":\"open_run\",\"protocol\":1,\"settings\":{\"run.name\":\"mine\"},\"number\":2}\n\n"
      "{\"op\":\"open_run\",\"protocol\":1,\"settings\":{}}\n{\"op\":\"close_run\"}",
      "{\"op\":\"all_reduce\",\"memory\":4096,\"dtype\":\"f32\",\"count\":16,\"reduce\":\"mean\"}\n\n"
      "{\"op\":\"metadata\",\"json\":{\"a\":[1,{}]}}\n{\"op\":\"request_stop\",\"reason\":\"r\"}\n{\"op\":\"barrier\"}\n"
      "{\"op\":\"expect_iterations\",\"total\":3}\n{\"op\":\"begins\"}\n{\"op\":\"log\",\"text\":\"a\\u001b[2J\\nb\"}\n{"
      "\"op\":\"stop_point\"}",
      "{\"op\":\"broadcast\",\"memory\":4096,\"dtype\":\"f32\",\"shape\":[4,4],\"root\":0}\n\n"
      "{\"op\":\"all_gather\",\"memory\":4096,\"dtype\":\"i64\",\"shape\":[8]}\n{\"op\":\"share\",\"bytes\":4096}\n{\"op\":"
      "\"step\"}",
      "{\"op\":\"restore\",\"tensors\":[],\"values\":{\"seen\":1,\"loss\":0.5},\"sums\":[\"seen\",\"loss\"],"
      "\"files\":[]}\n\n{\"op\":\"state\",\"values\":{\"seen\":2,\"loss\":1.5}}\n{\"op\":\"save\"}",
      "{\"op\":\"restore\",\"by_directory\":true}\n\n{\"op\":\"checkpoint\"}\n{\"op\":\"report\",\"metrics\":{},"
      "\"of_first_rank\":true,\"directory\":\"/"
      "d\",\"directory_metadata\":{\"a\":[{}]},\"same_files\":\"rank0\"}\n{\"op\":\"checkpoint\"}",
      "{\"op\":\"report\",\"metrics\":{},\"memory\":4096,\"tensors\":[{\"name\":\"w\",\"dtype\":\"f32\",\"shape\":[2,2],"
      "\"at\":0,"
      "\"placement\":\"slab\",\"offset\":[0,2],\"global_shape\":[2,8]}],\"values\":{\"epoch\":1}}\n\n{\"op\":\"load\","
      "\"path\":\"/d\","
      "\"memory\":4096,\"tensors\":[{\"name\":\"w\",\"dtype\":\"f32\",\"shape\":[2,8],\"at\":64,\"placement\":"
      "\"replicated\"}],"
      "\"values\":{\"epoch\":1}}\n{\"op\":\"step\"}",
      "{\"op\":\"data_look\",\"name\":\"train\"}\n\n"
      "{\"op\":\"data_begin\",\"name\":\"train\",\"batch_size\":2,\"remainder\":\"pad\"}\n\n"
      "{\"op\":\"data_next\",\"walk\":1,\"slot\":0,\"memory\":4096}\n{\"op\":\"data_next\",\"walk\":1,\"slot\":0}\n"
      "{\"op\":\"data_next\",\"walk\":1,\"slot\":0}\n{\"op\":\"step\"}",
      "{\"op\":\"data_begin\",\"name\":\"train\",\"batch_size\":1,\"remainder\":\"drop\",\"epoch\":1,\"fields\":[\"x\"]}"
      "\n\n"
      "{\"op\":\"data_next\",\"walk\":1,\"slot\":7}\n\n{\"op\":\"data_next\",\"walk\":1,\"slot\":7,\"memory\":4096}\n"
      "{\"op\":\"data_end\",\"walk\":1}\n{\"op\":\"step\"}",
      "{\"op\":\"data_begin\",\"name\":\"train\",\"batch_size\":2,\"remainder\":\"pad\",\"ahead\":true,\"draws\":true}\n\n"
      "{\"op\":\"data_next\",\"walk\":1,\"slot\":0,\"memory\":4096}\n{\"op\":\"data_taken\",\"walk\":1,\"batches\":1}\n"
      "{\"op\":\"step\"}",
      "{\"op\":\"data_begin\",\"name\":\"train\",\"batch_size\":2,\"remainder\":\"pad\",\"ahead\":true}\n\n"
      "{\"op\":\"data_next\",\"walk\":1,\"slot\":0,\"memory\":4096,\"together\":4096}\n"
      "{\"op\":\"data_next\",\"walk\":1,\"slot\":0,\"together\":64,\"taken\":{\"1\":1}}\n{\"op\":\"step\",\"taken\":{\"1\":"
      "2}}",
      "{\"op\":\"metadata\",\"json\":" + deep_json() + "}",
      "{\"op\":\"report\",\"metrics\":{},\"directory_metadata\":{\"x\":" + deep_json() + "}}",
      "{\"op\":\"step\",\"x\":" + deep_json() + "}"};
}

std::vector<std::string> words() {
  return {"{\"op\":\"",
          "\"hello\"",
          "\"config\"",
          "\"restore\"",
          "\"step\"",
          "\"report\"",
          "\"stop_point\"",
          "\"save\"",
          "\"barrier\"",
          "\"request_stop\"",
          "\"log\"",
          "\"expect_iterations\"",
          "\"begins\"",
          "\"data_look\"",
          "\"data_begin\"",
          "\"data_next\"",
          "\"data_end\"",
          "\"data_taken\"",
          "\"name\":\"train\"",
          "\"batch_size\":",
          "\"remainder\":\"uneven\"",
          "\"fields\":[\"t\"]",
          "\"ahead\":true",
          "\"together\":4096",
          "\"taken\":{\"1\":1}",
          "\"draws\":true",
          "\"batches\":",
          "\"walk\":1",
          "\"slot\":",
          "\"metadata\"",
          "\"all_reduce\"",
          "\"broadcast\"",
          "\"all_gather\"",
          "\"share\"",
          "\"bytes\":",
          "\"checkpoint\"",
          "\"by_directory\":true",
          "\"of_first_rank\":true",
          "\"directory\":\"/",
          "\"directory_metadata\":",
          "\"root\":",
          "\"sums\":",
          "\"stacks_signal\":",
          "\"failed\"",
          "\"done\"",
          "\"state\"",
          "\"values\":",
          "\"tensors\":",
          "\"files\":",
          "\"memory\":4096",
          "\"dtype\":",
          "\"shape\":",
          "\"at\":",
          "\"placement\":",
          "\"sharded\"",
          "\"per_rank\"",
          "\"sum\"",
          "\"axis\":",
          "\"first\":",
          "\"global_extent\":",
          "\"count\":",
          "\"reduce\":",
          "{\"float\":\"nan\"}",
          "\"value\":",
          "\"weight\":",
          "\n\n",
          "9223372036854775807",
          "18446744073709551615",
          "1e999"};
}

void read(const std::string& input) {
  static const int memory = sealed_memory();
  Session session;
  Context ctx(session);
  Descriptor theirs;
  program::Channel channel(theirs);
  program::Child child({});
  program::LiveStacks stacks;
  program::ProgramProtocol protocol(
      ctx, channel, child,
      {.wait_limit_s = 1,
       .look_up = [](const program::RunRequest& request) -> program::RequestedRun {
         return {"run", request.settings.empty() ? "/runs/run" : "/runs/other", request.number == 2};
       }},
      stacks);
  const std::string last = "\n{\"op\":\"enough\"}\n";
  for (const auto& batch : batches_of(input)) {
    send(theirs.get(), batch + last, memory);
    if (!serve(protocol, channel)) break;
  }
  check_answers(theirs.get());
}

}  // namespace fuzz

}  // namespace trainrt
