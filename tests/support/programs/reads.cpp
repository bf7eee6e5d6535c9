// A train function that reads the dataset `read` and writes it to the folder [loop] out: for each rank R the numbers of its
// samples (R.samples, u64), the values of each field (R.FIELD.values) and, if its length varies, the bytes per sample
// (R.FIELD.bytes, u64); and once a description of the fields (file `fields`, lines of "name type varies [shape]").
//   g++ -shared -fPIC -std=c++20 -Iinclude reads.cpp -o libreads.so
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <trainrt/trainrt.hpp>

namespace {

void append(const std::string& path, const void* data, std::size_t bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());  // a field may be named "group/name"
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!file.flush()) throw trainrt::Error("cannot write " + path);
}

void write_varying(const trainrt::Batch& batch, const std::string& field, const std::string& path) {
  for (std::size_t sample = 0; sample < batch.size(); ++sample) {
    const auto values = batch.varying(field, sample);
    const std::uint64_t bytes = values.bytes();
    append(path + "bytes", &bytes, sizeof bytes);
    append(path + "values", values.data, bytes);
  }
}

void train(trainrt::Context& ctx) {
  auto data = ctx.dataset("read");
  const auto out = ctx.config<std::string>("out") + "/", own = out + std::to_string(ctx.world_rank()) + ".";
  if (ctx.world_rank() == 0) {
    std::ofstream file(out + "fields");
    for (const auto& field : data.fields())
      file << field.name << ' ' << trainrt::name_of(field.dtype) << ' ' << field.varies << ' '
           << trainrt::to_string(field.sample_shape) << '\n';
  }
  for (const auto& batch :
       data.epoch(0).batches(static_cast<std::size_t>(ctx.config<int>("batch_size")), trainrt::Remainder::uneven)) {
    append(own + "samples", batch.indices().data(), batch.indices().size_bytes());
    for (const auto& field : data.fields()) {
      const auto path = own + field.name + ".";
      if (field.varies)
        write_varying(batch, field.name, path);
      else
        append(path + "values", batch.field(field.name).data, batch.field(field.name).bytes());
    }
  }
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("reads", train)
