#include "cli/doctor/doctor_report.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "cli/terminal/print.hpp"
#include "core/output/log.hpp"
#include "core/version.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::cli::doctor {

void Report::add(std::string_view check, const Finding& finding) {
  ++counts_[static_cast<std::size_t>(finding.grade)];
  show(check, finding);
}

Grade Report::worst() const {
  if (count(Grade::error) > 0) return Grade::error;
  return count(Grade::warning) > 0 ? Grade::warning : Grade::ok;
}

namespace {

std::string one_line(std::string text) {
  for (auto& character : text)
    if (character == '\n') character = ' ';
  return text;
}

class TextReport : public Report {
 public:
  void show(std::string_view check, const Finding& finding) override {
    const auto advice = finding.advice.empty() ? "" : "; " + finding.advice;
    print(fmt::format("{:<8} {:<25} {}", doctor::name_of(finding.grade), check, one_line(finding.text + advice)));
  }

  void end() override {
    const auto next = count(Grade::error) > 0 ? "do what the lines with `error` say before a run starts here"
                      : count(Grade::warning) > 0
                          ? "a run can start here; the lines with `warning` say what could be better"
                          : "a run can start here";
    print(fmt::format("{} ok, {} warning{}, {} error{}: {}", count(Grade::ok), count(Grade::warning),
                      count(Grade::warning) == 1 ? "" : "s", count(Grade::error), count(Grade::error) == 1 ? "" : "s",
                      next));
  }

 private:
  /// At once: the next check may be the one that hangs.
  static void print(const std::string& line) {
    print_text(line + "\n");
    std::fflush(stdout);
  }
};

class JsonReport : public Report {
 public:
  void begin(const Examination& examination) override {
    const auto& world = examination.world();
    about_ = {{"ranks", world.size}, {"nodes", world.node_count}, {"storage", examination.storage()}};
  }

  void show(std::string_view check, const Finding& finding) override {
    checks_.push_back({{"name", check},
                       {"grade", doctor::name_of(finding.grade)},
                       {"text", finding.text},
                       {"advice", finding.advice},
                       {"figures", finding.figures}});
  }

  void end() override {
    Json whole = {{"trainrt", version}, {"grade", doctor::name_of(worst())}};
    whole.update(about_);
    whole["checks"] = checks_;
    print_json(whole);
    std::fflush(stdout);
  }

 private:
  Json about_ = Json::object();
  Json checks_ = Json::array();
};

class SilentReport : public Report {
 public:
  void fail_unseen(const Error& failure) override {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    log::error(trainer::with_advice(failure));
  }
};

}  // namespace

std::unique_ptr<Report> make_report(int rank, Form form) {
  if (rank != 0) return std::make_unique<SilentReport>();
  if (form == Form::json) return std::make_unique<JsonReport>();
  return std::make_unique<TextReport>();
}

}  // namespace trainrt::cli::doctor
