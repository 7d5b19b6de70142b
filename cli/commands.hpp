#pragma once

#include <CLI/App.hpp>

#include "polyad/comm/comm.hpp"

namespace polyad::cli {

// Every command adds itself to the program; it runs when the user calls it.
void add_stats(CLI::App& app, const Comm& comm);
void add_get(CLI::App& app, const Comm& comm);
void add_look(CLI::App& app, const Comm& comm);
void add_check(CLI::App& app, const Comm& comm);
void add_convert(CLI::App& app, const Comm& comm);
void add_generate(CLI::App& app, const Comm& comm);
void add_cpd(CLI::App& app, const Comm& comm);
void add_complete(CLI::App& app, const Comm& comm);
void add_partition(CLI::App& app, const Comm& comm);
void add_predict(CLI::App& app, const Comm& comm);
void add_plan(CLI::App& app, const Comm& comm);
void add_compare(CLI::App& app, const Comm& comm);
void add_rank(CLI::App& app, const Comm& comm);
void add_recommend(CLI::App& app, const Comm& comm);
void add_contract(CLI::App& app, const Comm& comm);
void add_doctor(CLI::App& app, const Comm& comm);
void add_help(CLI::App& app, const Comm& comm);
void add_completion(CLI::App& app, const Comm& comm);

}  // namespace polyad::cli
