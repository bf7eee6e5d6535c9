#include <cmath>
#include <limits>
#include <numeric>

#include <catch2/catch.hpp>

#include "cli/checkpoints/tensor_statistics.hpp"
#include "cli/checkpoints/tensor_stream.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/table.hpp"
#include "core/small_floats.hpp"

using namespace trainrt;
using namespace trainrt::cli;

namespace {

template <class T>
TensorStatistics statistics_of(DType dtype, const std::vector<T>& elements, std::size_t pieces = 1) {
  StatisticsGatherer gatherer(dtype);
  const std::span all(elements);
  const auto each = (elements.size() + pieces - 1) / pieces;
  for (std::size_t at = 0; at < elements.size(); at += each)
    gatherer.add(std::as_bytes(all.subspan(at, std::min(each, elements.size() - at))));
  return gatherer.result();
}

}  // namespace

TEST_CASE("small floats have the values of their specifications") {
  CHECK(from_f16(0x3c00) == 1);
  CHECK(from_f16(0xc000) == -2);
  CHECK(from_f16(0x7bff) == 65504);
  CHECK(from_f16(0x0001) == std::ldexp(1.0F, -24));
  CHECK(from_f16(0x03ff) == std::ldexp(1023.0F, -24));
  CHECK(std::signbit(from_f16(0x8000)));
  CHECK(from_f16(0xfc00) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_f16(0x7c01)));
  CHECK(from_bf16(0x3f80) == 1);
  CHECK(from_bf16(0xff80) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_bf16(0x7fc0)));
  // OCP OFP8, table 1
  CHECK(from_f8e4m3(0x38) == 1);
  CHECK(from_f8e4m3(0x7e) == 448);
  CHECK(from_f8e4m3(0x01) == std::ldexp(1.0F, -9));
  CHECK(from_f8e4m3(0x08) == std::ldexp(1.0F, -6));
  CHECK(from_f8e4m3(0x78) == 256);
  CHECK(std::isnan(from_f8e4m3(0x7f)));
  CHECK(std::isnan(from_f8e4m3(0xff)));
  CHECK(from_f8e5m2(0x3c) == 1);
  CHECK(from_f8e5m2(0x7b) == 57344);
  CHECK(from_f8e5m2(0x01) == std::ldexp(1.0F, -16));
  CHECK(from_f8e5m2(0xfc) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_f8e5m2(0x7d)));
}

TEST_CASE("statistics count what is not finite apart, and are the same in any pieces") {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> few{1, -3, 0, nan, infinity, -0.0F, 4, -infinity};
  const auto found = statistics_of(DType::f32, few);
  CHECK(found.count == 8);
  CHECK(found.nan == 1);
  CHECK(found.infinite == 2);
  CHECK(found.zero == 2);
  CHECK(std::get<double>(*found.min) == -3);
  CHECK(std::get<double>(*found.max) == 4);
  CHECK(*found.mean == Approx(0.4));
  CHECK(*found.deviation == Approx(std::sqrt(26.0 / 5 - 0.16)));

  std::vector<double> far(100000);
  std::iota(far.begin(), far.end(), 1e9);
  for (const std::size_t pieces : {1, 3, 17}) {
    const auto one = statistics_of(DType::f64, far, pieces);
    CHECK(*one.mean == Approx(1e9 + 49999.5).epsilon(1e-15));
    CHECK(*one.deviation == Approx(std::sqrt((1e10 - 1) / 12)).epsilon(1e-12));
  }
}

TEST_CASE("statistics of integers keep every digit, and those of nothing say so") {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  const auto found = statistics_of<std::int64_t>(DType::i64, {large, -large, 0});
  CHECK(std::get<std::int64_t>(*found.max) == large);
  CHECK(std::get<std::int64_t>(*found.min) == -large);
  CHECK(statistics_of<std::uint8_t>(DType::boolean, {1, 0, 1, 1}).mean == 0.75);
  CHECK(std::get<std::int64_t>(*statistics_of<std::uint8_t>(DType::u8, {250, 3}).max) == 250);
  CHECK(std::get<std::int64_t>(*statistics_of<std::int8_t>(DType::i8, {-128, 3}).min) == -128);
  CHECK(std::get<double>(*statistics_of<std::uint8_t>(DType::f8e4m3, {0x7e, 0xff}).max) == 448);
  const auto none = statistics_of<float>(DType::f32, {std::numeric_limits<float>::quiet_NaN()});
  CHECK_FALSE(none.min);
  CHECK_FALSE(none.mean);
  CHECK(statistics_of<float>(DType::f32, {}).count == 0);
}

TEST_CASE("a tensor is cut into contiguous boxes that follow each other and stay below the limit") {
  for (const Shape& shape : std::vector<Shape>{{}, {7}, {5, 3}, {2, 3, 4}, {1, 1, 50}, {4, 1, 6, 2}, {0, 3}}) {
    for (const std::uint64_t limit : {1, 4, 8, 20, 47, 96, 1000}) {
      INFO(to_string(shape) << " " << limit);
      std::int64_t next = 0;
      for (const auto& box : contiguous_boxes(shape, 4, limit)) {
        std::int64_t first = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) first = first * shape[axis] + box.offset[axis];
        CHECK(first == next);
        next += element_count(box.shape);
        CHECK((static_cast<std::uint64_t>(element_count(box.shape)) * 4 <= limit || element_count(box.shape) == 1));
        // Contiguous: behind the first axis longer than 1, all axes are whole.
        std::size_t axis = 0;
        while (axis < shape.size() && box.shape[axis] == 1) ++axis;
        for (++axis; axis < shape.size(); ++axis) CHECK(box.shape[axis] == shape[axis]);
      }
      CHECK(next == element_count(shape));
    }
  }
}

TEST_CASE("progress of bytes is a bar on a terminal and a line a minute in a log") {
  CHECK(bytes_text(17) == "17 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(1288490188, 2576980377) == "1.2 of 2.4 GiB");
  double now = 0;
  std::string screen;
  const auto run = [&](bool terminal, bool quiet) {
    screen.clear();
    now = 0;
    ProgressLine progress(
        "verify", quiet,
        {.terminal = terminal, .write = [&](std::string_view text) { screen += text; }, .now = [&] { return now; }});
    for (std::uint64_t done = 0; done <= 150; ++done, now += 1) progress.show(done << 20, 150 << 20);
  };
  run(true, false);
  CHECK_THAT(screen, Catch::Contains("\rverify  [##########----------]  50%  75.0 of 150.0 MiB\x1b[K"));
  CHECK_THAT(screen, Catch::EndsWith("\r\x1b[K"));
  run(false, false);
  CHECK(
      screen ==
      "verify  [########------------]  40%  60.0 of 150.0 MiB\nverify  [################----]  80%  120.0 of 150.0 MiB\n");
  run(true, true);
  CHECK(screen.empty());
}

TEST_CASE("columns of a table line up, whatever the names hold") {
  Table table({{"name"}, {"bytes", true}});
  table.add({"größe", "7"});
  table.add({"x", "1234567"});
  CHECK(table.text("") == "name     bytes\ngröße        7\nx      1234567\n");
  CHECK(printable("a\x1b[2J") == "\"a\\u001b[2J\"");
  CHECK(printable("größe") == "größe");
}
