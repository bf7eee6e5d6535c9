#pragma once
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <sys/wait.h>

#include "core/process/spawn.hpp"
#include "io/files/file.hpp"
#include "io/storage.hpp"
#include "support/cpp/scratch.hpp"

namespace trainrt::test {

/// Runs the object store of support/fakes/object_store.py in another process, with an empty bucket `data`. While this
/// object lives, the storages s3:// and gs:// of this process use the store. Must be created before the first storage is
/// opened.
class ObjectStore {
 public:
  ObjectStore() {
    const auto port_file = scratch_ / "url";
    pid_ = spawn({.command = {"/usr/bin/python3", "-c",
                              "import os, sys\n"
                              "sys.path.insert(0, sys.argv[1])\n"
                              "import object_store\n"
                              "own = object_store.Store(region='auto')\n"
                              "own.buckets['data'] = {}\n"
                              "open(sys.argv[2] + '.new', 'w').write(own.url)\n"
                              "os.rename(sys.argv[2] + '.new', sys.argv[2])\n"
                              "own.thread.join()\n",
                              TRAINRT_SOURCE_DIR "/tests/support/fakes", port_file},
                  .signal_at_parent_end = SIGKILL});
    for (int i = 0; i < 3000 && !std::filesystem::exists(port_file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto url = io::read_file(port_file);
    io::set_storage_settings({.s3_endpoint = url, .s3_region = "auto", .gs_endpoint = url});
    for (const auto& [name, value] : {std::pair{"AWS_ACCESS_KEY_ID", "AKIDTESTSTORE"},
                                      {"AWS_SECRET_ACCESS_KEY", "secret/With+Letters="},
                                      {"NO_PROXY", "*"},
                                      {"no_proxy", "*"}})
      ::setenv(name, value, 1);
  }
  ~ObjectStore() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ObjectStore(const ObjectStore&) = delete;

 private:
  Scratch scratch_;
  pid_t pid_ = -1;
};

}  // namespace trainrt::test
