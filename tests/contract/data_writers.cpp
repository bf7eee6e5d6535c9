// Checks the contract of every writer of `trainrt data convert`, as listed by data_writer_table().
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "cli/data/convert/data_writer.hpp"
#include "data/section/open_dataset.hpp"
#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::cli::datasets;
using Catch::Matchers::Contains;

namespace {

/// Lets the data formats find the modules of this build.
const bool modules_are_found = [] {
  const auto build = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path();
  return setenv("TRAINRT_MODULE_PATH", (build / "modules").c_str(), 0) == 0;
}();

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const Dataset::Field number{"x", DType::f64, {}}, integer{"n", DType::i64, {}}, flag{"flag", DType::boolean, {}};
const Dataset::Field text{"word", DType::u8, {}, true}, list{"ids", DType::i64, {}, true};

template <class T>
data::Column column_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {0, {bytes.begin(), bytes.end()}, {}};
}

template <class Values>
data::Column varying_column(const std::vector<Values>& samples) {
  data::Column column;
  for (const auto& sample : samples) {
    const auto bytes = std::as_bytes(std::span(sample));
    column.values.insert(column.values.end(), bytes.begin(), bytes.end());
    column.ends.push_back(column.values.size());
  }
  return column;
}

/// Returns columns with values that are easily changed by mistake, except infinity, which JSON cannot represent.
std::vector<data::Column> numbers_of(std::uint64_t rows) {
  const std::vector<double> xs{0.1, nan, -0.0, 1e300, 5e-324};
  std::vector<double> x;
  std::vector<std::int64_t> n;
  std::vector<std::uint8_t> flags;
  for (std::uint64_t i = 0; i < rows; ++i) {
    x.push_back(xs[i % xs.size()]);
    n.push_back(i % 2 == 0 ? static_cast<std::int64_t>(i) : std::numeric_limits<std::int64_t>::min() + 1);
    flags.push_back(i % 2);
  }
  return {column_of(x), column_of(n), column_of(flags)};
}

/// Returns the rows `first` to `first + count` - 1 of columns with samples of one size.
std::vector<data::Column> part_of(const std::vector<data::Column>& columns, const std::vector<Dataset::Field>& fields,
                                  std::uint64_t first, std::uint64_t count) {
  std::vector<data::Column> part;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto bytes = data::sample_bytes(fields[i]);
    const auto rows = std::span(columns[i].values).subspan(first * bytes, count * bytes);
    part.push_back({0, {rows.begin(), rows.end()}, {}});
  }
  return part;
}

/// Writes a file in one block, or in two if the samples have one size. If `is_killed`, stops before the file is complete.
void write_file(const DataWriter& writer, const WriterJob& job, const std::vector<data::Column>& columns,
                const std::string& path, bool is_killed = false) {
  ResumableFile file(path, {{"source"}, "job"}, writer.is_resumable(job), false);
  const auto rows = writer.open(job, file);
  const auto append = [&](std::uint64_t first, std::uint64_t count, std::vector<data::Column> block) {
    rows->append(rows->prepare({first, count, std::move(block)}));
  };
  const bool is_fixed = std::ranges::none_of(job.fields, &Dataset::Field::varies);
  const auto half = is_fixed ? job.rows / 2 : 0;
  if (half > 0) append(0, half, part_of(columns, job.fields, 0, half));
  if (is_killed) return;
  if (half > 0)
    append(half, job.rows - half, part_of(columns, job.fields, half, job.rows - half));
  else if (job.rows > 0)
    append(0, job.rows, columns);
  file.complete(rows->finish(), half > 0 ? 2 : 1);
  file.put_in_place();
  file.forget();
}

std::shared_ptr<DatasetImpl> open_file(const std::string& path) {
  Options section;
  section.set("source", {path, "test"});
  return data::open_dataset("train", section, data::list_dataset("train", section), {}, 1);
}

/// Checks that the file contains exactly these values, bit for bit.
void check_equal_bits(const std::string& path, const WriterJob& job, const std::vector<data::Column>& columns) {
  const auto dataset = open_file(path);
  REQUIRE(dataset->source()->size() == job.rows);
  const auto& fields = dataset->source()->fields();
  REQUIRE(fields.size() == job.fields.size());
  std::vector<std::uint64_t> samples(job.rows);
  for (std::uint64_t i = 0; i < job.rows; ++i) samples[i] = i;
  for (std::size_t i = 0; i < job.fields.size(); ++i) {
    INFO(job.fields[i].name);
    const auto found = std::ranges::find(fields, job.fields[i].name, &Dataset::Field::name);
    REQUIRE(found != fields.end());
    CHECK(found->dtype == job.fields[i].dtype);
    data::Column column{static_cast<std::size_t>(found - fields.begin()), {}, {}};
    dataset->source()->read(samples, {&column, 1});
    CHECK(column.values == columns[i].values);
    CHECK(column.ends == columns[i].ends);
  }
}

/// Returns why the writer refuses the job; "" if it accepts it.
std::string refusal(const DataWriter& writer, const WriterJob& job) {
  try {
    writer.require(job);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

/// Returns a job with fields of single numbers.
WriterJob number_job(std::uint64_t rows) { return {.fields = {number, integer, flag}, .rows = rows}; }

std::string name_of_file(const DataWriter& writer) { return "out" + std::string(writer.extension); }

/// Returns the names of the files in a folder.
std::vector<std::string> names_in(const test::Scratch& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  return names;
}

template <class Check>
void for_each_writer(const Check& check) {
  for (const auto* writer : data_writer_table()) {
    INFO(writer->name);
    if (const auto why = refusal(*writer, number_job(1)); why.find("was built without") == std::string::npos)
      check(*writer);
  }
}

}  // namespace

TEST_CASE("a file of any data writer is read back with equal bits, with every compression and with checksums") {
  for_each_writer([](const DataWriter& writer) {
    auto compressions = writer.compressions;
    compressions.emplace_back("");
    for (const auto compression : compressions)
      for (const bool checksums : {false, true})
        for (const std::uint64_t rows : {1, 2, 7, 3000}) {
          CAPTURE(compression, checksums, rows);
          auto job = number_job(rows);
          job.compression = compression;
          job.checksums = checksums && writer.has_checksums;
          if (!refusal(writer, job).empty()) continue;  // a compression that this machine does not have
          const test::Scratch folder;
          const auto columns = numbers_of(rows);
          write_file(writer, job, columns, folder / name_of_file(writer));
          if (rows == 1 || rows > 2) check_equal_bits(folder / name_of_file(writer), job, columns);
          CHECK(names_in(folder) == std::vector<std::string>{name_of_file(writer)});
        }
  });
}

TEST_CASE("a file of any data writer without samples is refused when it is read") {
  for_each_writer([](const DataWriter& writer) {
    const test::Scratch folder;
    write_file(writer, number_job(0), numbers_of(0), folder / name_of_file(writer));
    CHECK_THROWS_AS(open_file(folder / name_of_file(writer)), UsageError);
  });
}

TEST_CASE("texts and lists are read back with equal bytes, or the data writer refuses them and names the field") {
  const auto words = varying_column(std::vector<std::string>{"one", "", "a, \"b\"\nc", "\xc3\xa4"});
  const auto ids = varying_column(std::vector<std::vector<std::int64_t>>{{1, 2}, {}, {3}, {-4, 5, 6}});
  for_each_writer([&](const DataWriter& writer) {
    for (const auto& [field, column] : {std::pair(text, words), std::pair(list, ids)}) {
      INFO(field.name);
      const WriterJob job{.fields = {field, integer}, .rows = 4};
      const test::Scratch folder;
      if (const auto why = refusal(writer, job); !why.empty()) {
        CHECK_THAT(why, Contains("'" + field.name + "'") && Contains("--columns"));
        continue;
      }
      const std::vector<data::Column> columns{column, column_of(std::vector<std::int64_t>{1, 2, 3, 4})};
      write_file(writer, job, columns, folder / name_of_file(writer));
      check_equal_bits(folder / name_of_file(writer), job, columns);
    }
  });
}

TEST_CASE("a killed conversion of any data writer leaves no file with the name of the output, and can be repeated") {
  for_each_writer([](const DataWriter& writer) {
    const auto job = number_job(5);
    const auto columns = numbers_of(5);
    const test::Scratch folder, undisturbed;
    write_file(writer, job, columns, folder / name_of_file(writer), true);
    CHECK_FALSE(std::filesystem::exists(folder / name_of_file(writer)));
    for (const auto& name : names_in(folder)) CHECK(name.starts_with("."));
    write_file(writer, job, columns, folder / name_of_file(writer));
    write_file(writer, job, columns, undisturbed / name_of_file(writer));
    CHECK(io::read_file(folder / name_of_file(writer)) == io::read_file(undisturbed / name_of_file(writer)));
    CHECK(names_in(folder) == std::vector<std::string>{name_of_file(writer)});
  });
}

TEST_CASE("every data writer is selected by its own file extension") {
  for (const auto* writer : data_writer_table()) {
    INFO(writer->name);
    CHECK(writer->extension.starts_with("."));
    CHECK(&data_writer_for("folder/" + name_of_file(*writer)) == writer);
  }
  CHECK_THROWS_WITH(data_writer_for("out.xls"), Contains("out.xls") && Contains(".h5"));
}
