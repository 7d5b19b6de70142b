#include "polyad/tasks/generate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/loaded_model.hpp"
#include "polyad/tasks/detail/output/output_files.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

namespace fs = std::filesystem;

// What process 0 makes; nothing on the others. Collective.
template <class Fn>
auto drawn(const Context& context, Fn fn) {
  const tasks::TaskScope scope(context);
  const OneProcessWorks patience;
  context.progress().begin("drawing");
  using Made = std::invoke_result_t<Fn>;
  auto made = collectively(context.comm(), [&] {
    return context.comm().rank() == 0 ? std::optional<Made>(fn()) : std::optional<Made>();
  });
  context.progress().finish();
  return made;
}

// x.tns.gz -> x-test.tns.gz, or with another extension.
fs::path beside(const fs::path& output, const std::string& suffix, const std::string& extension = "") {
  const bool gzip = io::has_gzip_extension(output);
  const auto name = gzip ? output.stem() : output.filename();
  const std::string own = name.extension().string() + (gzip ? ".gz" : "");
  return output.parent_path() / (name.stem().string() + suffix + (extension.empty() ? own : extension));
}

// Labels of a tensor that had this name would be taken for those of the new one, which has none.
void require_no_labels(const fs::path& output) {
  io::check_label_files(io::labels_of_tensor(output), {});
}

// Draws tensors and writes them to files, with the times of both.
class FileMaker {
 public:
  FileMaker(const Context& context, fs::path output, const std::string& kind)
      : context_(context), output_(std::move(output)) {
    json_ = {{"kind", kind}, {"seed", 0}, {"files", nlohmann::ordered_json::array()}};
  }

  void make(const SkewedOptions& options) {
    expect(options.dims, options.num_nonzeros, options.seed);
    write(output_, draw([&] { return generate_skewed(options); }));
  }
  void make(const PlantedOptions& options) {
    expect(options.dims, options.num_nonzeros, options.seed);
    const auto planted = draw([&] { return generate_planted(options); });
    write(output_, planted.tensor);
    const auto truth = generated_beside(options, output_);
    io::write_kruskal(truth, planted.truth, io::KruskalFormat::ktensor);
    add_file(truth, "the planted " + report::counted(planted.truth.num_components(), "component"));
  }
  void make(const RatingsOptions& options) {
    expect({options.num_users, options.num_items}, options.num_ratings, options.seed);
    const auto ratings = draw([&] { return generate_ratings(options); });
    write(output_, ratings.train);
    if (const auto test = generated_beside(options, output_); !test.empty()) write(test, ratings.test);
    json_["noise_floor"] = ratings.noise_floor;
  }

  GeneratedFiles result() {
    tasks::add_seconds(json_, timings_);
    return {{text_, tasks::json_text(json_)}, files_};
  }

 private:
  // Refuses, before they are drawn, nonzeros that the disk certainly has no space for.
  void expect(const std::vector<Index>& dims, Index num_nonzeros, std::uint64_t seed) {
    json_["seed"] = seed;
    tasks::require_space(output_, io::min_bytes(output_, dims, num_nonzeros),
                         "the tensor would take at least");
  }
  template <class Fn>
  std::invoke_result_t<Fn> draw(Fn fn) {
    return timings_.measure("generate", [&] { return context_.progress().during("drawing", fn); });
  }
  void write(const fs::path& path, const SparseTensor<double>& x) {
    tasks::require_space(path, io::predicted_bytes(path, x, {}), "the tensor would take about");
    context_.progress().begin("writing " + path.filename().string());
    timings_.measure("write", [&] { io::write_tensor(path, x, {}); });
    context_.progress().finish();
    add_file(path, fmt::format("{} with {}", report::dims_text(x.extents()),
                               report::counted(x.num_nonzeros(), "nonzero")));
    if (path != output_) return;
    json_["dims"] = x.extents();
    json_["nnz"] = x.num_nonzeros();
  }
  void add_file(const fs::path& path, const std::string& content) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : "\n", path.string(), content);
    json_["files"].push_back(path.string());
    files_.push_back(path);
  }

  const Context& context_;
  fs::path output_;
  Timings timings_;
  std::string text_;
  nlohmann::ordered_json json_;
  std::vector<fs::path> files_;
};

}  // namespace

Tensor generate(const Context& context, const SkewedOptions& options) {
  auto x = drawn(context, [&] { return generate_skewed(options); });
  return make_tensor(x ? std::move(*x) : SparseTensor<double>(options.dims));
}

PlantedTensor generate(const Context& context, const PlantedOptions& options) {
  const Comm& comm = context.comm();
  auto planted = drawn(context, [&] { return generate_planted(options); });
  if (!planted) planted.emplace(SparseTensor<double>(options.dims), Kruskal<double>());
  auto& truth = planted->truth;
  const Index num_components = comm.broadcast(truth.num_components(), 0);
  collectively(comm, [&] {
    if (comm.rank() == 0) return;
    truth.weights.resize(std::size_t(num_components));
    for (const Index dim : options.dims) truth.factors.emplace_back(dim, num_components);
  });
  comm.broadcast(std::span<double>(truth.weights), 0);
  for (auto& factor : truth.factors) comm.broadcast(std::span<double>(factor.flat()), 0);
  auto state = std::make_shared<tasks::LoadedModel>(comm, std::vector<ModeLabels>(options.dims.size()),
                                                    std::move(truth), nlohmann::ordered_json());
  return {make_tensor(std::move(planted->tensor)), CpModel(std::move(state))};
}

GeneratedRatings generate(const Context& context, const RatingsOptions& options) {
  auto ratings = drawn(context, [&] { return generate_ratings(options); });
  const std::vector<Index> dims{options.num_users, options.num_items};
  if (!ratings) ratings.emplace(SparseTensor<double>(dims), SparseTensor<double>(dims), 0.0);
  return {make_tensor(std::move(ratings->train)), make_tensor(std::move(ratings->test)),
          context.comm().broadcast(ratings->noise_floor, 0)};
}

fs::path generated_beside(const GenerateOptions& options, const fs::path& output) {
  if (std::holds_alternative<PlantedOptions>(options)) return beside(output, "-truth", ".ktensor");
  const auto* ratings = std::get_if<RatingsOptions>(&options);
  return ratings != nullptr && ratings->test_fraction > 0 ? beside(output, "-test") : fs::path();
}

GeneratedFiles generate_file(const Context& context, const GenerateOptions& options, const fs::path& output,
                             const std::string& kind) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "generating a file");
  io::output_format(output, {});
  require_no_labels(output);
  if (const auto second = generated_beside(options, output); !second.empty()) require_no_labels(second);
  FileMaker maker(context, output, kind);
  std::visit([&](const auto& chosen) { maker.make(chosen); }, options);
  return maker.result();
}

}  // namespace polyad
