// Functions of ShardWriter::Job that are called on the training thread: they copy the State into staging memory. Tensors
// with TensorEntry::steady are not copied.
#include <algorithm>

#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/other_files.hpp"
#include "checkpoint/save/directory_copy.hpp"
#include "checkpoint/save/shard_image.hpp"
#include "checkpoint/save/shard_job.hpp"
#include "checkpoint/value_bytes.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

void ShardWriter::Job::stage(const State& state, const DirectoryFiles& given) {
  attempt([&] {
    stage_shard(state);
    const bool writes_common = plan_->rank == 0;
    for (const auto& entry : state.files())
      if (entry.each_rank || writes_common) stage_file(entry);
    for (const auto& file : given.files) stage_given(file);
    if (writes_common && !given.carried_from.empty()) carry(given.carried_from, state);
    values_text_ = values_now(state);
  });
  // Waits also after a failure, because copies from GPUs still use the state and the staging memory.
  attempt([&] { await_copies(writer_.copier_.record()); });
  writer_.options_.observer(Phase::staged);
  complete_one(true);
}

void ShardWriter::Job::stage_shard(const State& state) {
  const ShardImage image(*plan_, state, writer_.copier_);
  writer_.pins_ = writer_.pins_ || image.on_gpus();
  writer_.copier_.follow_default_streams();
  for (std::size_t i = 0; i < plan_->blocks.size() && !failed_; ++i) {
    const auto& extent = plan_->blocks[i];
    if (auto [steady, owner] = steady_bytes_of(extent, *plan_, state); owner) {
      submit(*outputs_.front(), i, std::move(owner), {extent.at, steady, {}, {}});
      continue;
    }
    auto block = std::make_shared<io::Block>(writer_.staging_block(*this, extent.bytes));
    const auto bytes = block->bytes().first(static_cast<std::size_t>(extent.bytes));
    Staged staged{extent.at, bytes};
    if (image.on_gpus()) {
      writer_.copier_.pin(block->bytes());
      staged.copied = image.copy(bytes, extent.at);
    } else {
      staged.digest = image.copy_and_digest(bytes, extent.at);
    }
    submit(*outputs_.front(), i, std::move(block), std::move(staged));
  }
}

void ShardWriter::Job::stage_file(const FileEntry& entry) {
  FileRecord record;
  record.name = file_name(entry, plan_->rank);
  record.rank = entry.each_rank ? plan_->rank : -1;
  io::FileReader reader(entry.path);
  auto& output = add_output(record.name, 0);
  output.blocks.resize(static_cast<std::size_t>(reader.size() / block_bytes + 1));
  for (std::size_t i = 0; !failed_; ++i) {
    auto block = std::make_shared<io::Block>(writer_.staging_block(*this, block_bytes));
    const auto count = reader.read(block->bytes());
    if (count == 0) break;
    if (i == output.blocks.size()) throw Error("'" + entry.path + "' grew while it was copied into a checkpoint");
    submit(output, i, block, {record.bytes, block->bytes().first(count)});
    record.bytes += count;
  }
  output.blocks.resize(blocks_of(record.bytes));
  result_.files.push_back(std::move(record));
}

/// Copies a file of a directory that was passed to report(). The copy is closed after its last block is written, not at the
/// end of the save, because a directory can have more files than a process can hold open.
void ShardWriter::Job::stage_given(const DirectoryFile& file) {
  DirectoryFileReader reader(file);
  FileRecord record{files_folder + "/" + file.name, 0, "", -1};
  auto& output = add_output(record.name, file.bytes > block_bytes ? file.bytes : 0);
  output.blocks.resize(blocks_of(file.bytes));
  for (std::size_t i = 0; i < output.blocks.size() && !failed_; ++i) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, file.bytes - record.bytes));
    auto block = std::make_shared<io::Block>(writer_.staging_block(*this, count));
    const auto bytes = block->bytes().first(count);
    reader.read(bytes);
    submit(output, i, block, {record.bytes, bytes});
    record.bytes += count;
  }
  if (!failed_) reader.end();
  output.end_part();
  result_.files.push_back(std::move(record));
}

void ShardWriter::Job::carry(const std::string& from, const State& state) {
  carried_ = carried_files(from, state);
  for (const auto& record : carried_) {
    ++open_;
    writer_.workers_.submit([job = shared_from_this(), &record, from = from + "/" + record.name] {
      job->attempt([&] {
        const auto to = job->directory_ + "/" + record.name;
        job->ensure_folder_of(to);
        io::retried_while_gone(run_of(run_of(job->directory_)), [&] { carry_file(from, record, to); });
        job->done_bytes_ += record.bytes;
      });
      job->complete_one(false);
    });
  }
}

std::string ShardWriter::Job::values_now(const State& state) const {
  auto entries = plan_->values;
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].bytes = bytes_of(state.values()[i]).size();
  return entries_text(entries);
}

void ShardWriter::Job::submit(Output& output, std::size_t number, std::shared_ptr<const void> memory, Staged staged) {
  ++open_;
  output.begin_part();
  output.blocks[number] = {staged.at, staged.bytes.size(), std::move(staged.digest)};
  writer_.workers_.submit([job = shared_from_this(), &output, number, memory = std::move(memory), bytes = staged.bytes,
                           copied = std::move(staged.copied)]() mutable {
    job->attempt([&] {
      job->await_copies(copied);
      if (!job->failed_) job->write(output, output.blocks[number], bytes);
      if (output.end_part() && !job->failed_) output.finish();
    });
    memory.reset();
    job->complete_one(false);
  });
}

}  // namespace trainrt::checkpoint
