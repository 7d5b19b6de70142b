#pragma once

// All of the public API; see docs/library.md. To use a
// communicator of MPI, also include polyad/comm/mpi_comm.hpp.

#include "polyad/comm/runtime.hpp"  // IWYU pragma: export
#include "polyad/tasks/check.hpp"
#include "polyad/tasks/checkpoint.hpp"          // IWYU pragma: export
#include "polyad/tasks/compare.hpp"             // IWYU pragma: export
#include "polyad/tasks/complete.hpp"            // IWYU pragma: export
#include "polyad/tasks/complete_texts.hpp"      // IWYU pragma: export
#include "polyad/tasks/context.hpp"             // IWYU pragma: export
#include "polyad/tasks/contract.hpp"            // IWYU pragma: export
#include "polyad/tasks/convert.hpp"             // IWYU pragma: export
#include "polyad/tasks/cross_validate.hpp"      // IWYU pragma: export
#include "polyad/tasks/decompose.hpp"           // IWYU pragma: export
#include "polyad/tasks/distribution_texts.hpp"  // IWYU pragma: export
#include "polyad/tasks/doctor.hpp"              // IWYU pragma: export
#include "polyad/tasks/every_process.hpp"       // IWYU pragma: export
#include "polyad/tasks/file_plan.hpp"           // IWYU pragma: export
#include "polyad/tasks/generate.hpp"            // IWYU pragma: export
#include "polyad/tasks/get_data.hpp"            // IWYU pragma: export
#include "polyad/tasks/load.hpp"                // IWYU pragma: export
#include "polyad/tasks/load_model.hpp"          // IWYU pragma: export
#include "polyad/tasks/load_texts.hpp"          // IWYU pragma: export
#include "polyad/tasks/look.hpp"                // IWYU pragma: export
#include "polyad/tasks/option_values.hpp"       // IWYU pragma: export
#include "polyad/tasks/partition.hpp"           // IWYU pragma: export
#include "polyad/tasks/plan.hpp"                // IWYU pragma: export
#include "polyad/tasks/plan_complete.hpp"       // IWYU pragma: export
#include "polyad/tasks/predict.hpp"             // IWYU pragma: export
#include "polyad/tasks/program.hpp"             // IWYU pragma: export
#include "polyad/tasks/rank.hpp"                // IWYU pragma: export
#include "polyad/tasks/recommend.hpp"           // IWYU pragma: export
#include "polyad/tasks/save.hpp"                // IWYU pragma: export
#include "polyad/tasks/search_complete.hpp"     // IWYU pragma: export
#include "polyad/tasks/stats.hpp"               // IWYU pragma: export
#include "polyad/version.hpp"                   // IWYU pragma: export
