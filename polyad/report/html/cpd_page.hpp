#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/report/component_summary.hpp"
#include "polyad/report/html/csv_download.hpp"
#include "polyad/report/html/run_record.hpp"

namespace polyad::report {

// Contents of the HTML report of a decomposition. Texts may contain anything; the report escapes them.
struct CpdPageContents {
  std::string title;  // the name of the file, say
  std::string input;  // its path
  Index num_nonzeros = 0;
  double tensor_norm = 0;
  std::string method;  // "alternating least squares"
  std::string format;
  std::string round, plan;             // what "iteration" or "evaluation" passes over the nonzeros, and how
  std::vector<int> mode_order;         // from 0; empty: all at once
  std::vector<double> fit_trajectory;  // [iteration]
  int model_iteration = 0;             // from 1: that the model is of; 0 where there was none
  std::string stop_reason;             // "converged"
  int threads = 1, processes = 1;
  std::string device = "cpu";  // or the number and the name of a GPU
  std::vector<std::pair<std::string, double>> phase_seconds;
  Index peak_memory_bytes = 0, predicted_memory_bytes = 0;  // 0: not known
  ComponentSummary summary;                                 // its own warnings are shown too
  std::span<const ModeLabels> labels;                       // of the modes; not copied
  std::vector<std::string> warnings;
  RunRecord record;
  std::vector<CsvFile> downloads;  // weights and factors; empty: they are too large

  double fit() const { return model_iteration == 0 ? 0 : fit_trajectory[model_iteration - 1]; }
  double residual_norm() const { return (1 - fit()) * tensor_norm; }
  // The share of the squared norm that the model explains; below 0 for a model worse than none.
  double explained() const { return 1 - (1 - fit()) * (1 - fit()); }
};

// One HTML file that needs nothing else: no network, no script. It is well-formed XML too. Its size is
// bounded: components beyond the heaviest few dozen get a line instead of plots, and the page says so.
std::string cpd_page(const CpdPageContents& contents);

}  // namespace polyad::report
