#include "polyad/tasks/doctor.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "polyad/comm/collective.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/version.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

TEST(Doctor, finds_that_threads_and_messages_work) {
  const Context context(Comm::world());
  const auto found = doctor(context);
  EXPECT_TRUE(found.works());
  EXPECT_EQ(found.processes, context.comm().size());
  EXPECT_EQ(found.shares_memory, context.comm().size() > 1);
  EXPECT_EQ(found.version, POLYAD_VERSION);
  EXPECT_GT(found.available_memory_bytes, 0);
  EXPECT_GE(found.memory_bytes, found.available_memory_bytes);
  EXPECT_FALSE(found.machine);
  const auto json = nlohmann::json::parse(found.json());
  EXPECT_EQ(json["processes"], context.comm().size());
  EXPECT_FALSE(json.contains("machine"));
  EXPECT_TRUE(found.summary().starts_with("polyad " POLYAD_VERSION " built with "));
}

TEST(Doctor, stores_the_machine_model_that_later_runs_use) {
  const Context context(Comm::world());
  const test::TemporaryFolder folder;  // only that of process 0 is used
  const auto file = folder / "new" / "machine.json";
  setenv("POLYAD_MACHINE", file.c_str(), 1);
  EXPECT_EQ(machine_file(), file);
  const auto found = doctor(context, {.calibrate = true});
  ASSERT_TRUE(found.machine);
  const auto known = tasks::load_machine(context.comm());
  EXPECT_EQ(known.model, *found.machine);
  EXPECT_GT(found.machine->per_near_gather, 0);
  EXPECT_LE(found.machine->per_near_gather, found.machine->per_far_gather);
  unsetenv("POLYAD_MACHINE");
}

TEST(Doctor, the_machine_file_keeps_what_was_measured_of_a_gpu) {
  const Context context(Comm::world());
  const test::TemporaryFolder folder;  // only that of process 0 is used
  const auto file = folder / "machine.json";
  setenv("POLYAD_MACHINE", file.c_str(), 1);
  const auto write = [&](const std::optional<GpuModel>& gpu) {
    context.comm().barrier();
    if (context.comm().rank() == 0) tasks::save_machine(file, {}, gpu, 1);
    context.comm().barrier();
  };
  write({});
  EXPECT_FALSE(tasks::load_machine(context.comm()).gpu);
  GpuModel gpu;
  gpu.per_copied_byte = 1.0 / 3;
  gpu.per_mode = 2e-7;
  write(gpu);
  const auto known = tasks::load_machine(context.comm());
  EXPECT_EQ(known.gpu, gpu);
  EXPECT_EQ(known.model, MachineModel());
  gpu.per_far_byte = -1;
  write(gpu);
  EXPECT_THROW(tasks::load_machine(context.comm()), Error);
  unsetenv("POLYAD_MACHINE");
}

TEST(Doctor, a_machine_file_of_an_earlier_version_keeps_the_defaults_of_what_it_lacks) {
  const Context context(Comm::world());
  const test::TemporaryFolder folder;
  const auto file =
      folder.write("machine.json",
                   R"({"seconds_per_message": 1, "seconds_per_word": 2, "seconds_per_packed_word": 3,
          "seconds_per_near_gather": 4, "seconds_per_far_gather": 5, "seconds_per_row": 6})");
  setenv("POLYAD_MACHINE", file.c_str(), 1);
  MachineModel expected;
  expected.per_message = 1;
  expected.per_word = 2;
  expected.per_packed_word = 3;
  expected.per_near_gather = 4;
  expected.per_far_gather = 5;
  expected.per_row = 6;
  EXPECT_EQ(tasks::load_machine(context.comm()).model, expected);
  unsetenv("POLYAD_MACHINE");
}

TEST(Doctor, does_not_calibrate_where_the_result_cannot_be_written) {
  const Context context(Comm::world());
  setenv("POLYAD_MACHINE", "/dev/null/machine.json", 1);
  try {
    doctor(context, {.calibrate = true});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::io);
  }
  unsetenv("POLYAD_MACHINE");
}

}  // namespace
}  // namespace polyad
