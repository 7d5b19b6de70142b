#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "cli/output.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/output_files.hpp"
#include "polyad/tensor/generate/generate.hpp"

namespace polyad::cli {
namespace {

// What every kind of tensor has.
struct Args {
  CommonOptions common;
  std::string output;
  std::uint64_t seed = 1;
};

// x.tns.gz -> x-test.tns.gz, or with another extension.
std::filesystem::path beside(const std::filesystem::path& output, const std::string& suffix,
                             const std::string& extension = "") {
  const bool gzip = io::has_gzip_extension(output);
  const auto name = gzip ? output.stem() : output.filename();
  const std::string own = name.extension().string() + (gzip ? ".gz" : "");
  return output.parent_path() / (name.stem().string() + suffix + (extension.empty() ? own : extension));
}

// The phases of a command, their times, and what was written.
class Maker {
 public:
  // `beside`: a further file that is written.
  Maker(const Comm& comm, const Args& args, const std::string& kind, const std::filesystem::path& beside = {})
      : console_(comm, args.common, file_plan(comm, args, beside)), args_(args) {
    json_ = {{"kind", kind}, {"seed", args.seed}, {"files", nlohmann::ordered_json::array()}};
  }

  // Refuses, before they are drawn, nonzeros that the disk certainly has no space for.
  void expect(std::span<const Index> dims, Index num_nonzeros) const {
    tasks::require_space(args_.output, io::min_bytes(args_.output, dims, num_nonzeros),
                         "the tensor would take at least");
  }
  template <class Fn>
  auto draw(Fn fn) {
    return timings_.measure("generate", [&] { return console_.progress().during("drawing", fn); });
  }
  void write(const std::filesystem::path& path, const SparseTensor<double>& x) {
    tasks::require_space(path, io::predicted_bytes(path, x, {}), "the tensor would take about");
    console_.progress().begin("writing " + path.filename().string());
    timings_.measure("write", [&] { io::write_tensor(path, x, {}); });
    console_.progress().finish();
    tell(path, fmt::format("{} with {} nonzeros", dims_text(x.extents()), with_commas(x.num_nonzeros())));
    if (path == args_.output) {
      json_["dims"] = x.extents();
      json_["nnz"] = x.num_nonzeros();
    }
  }
  void tell(const std::filesystem::path& path, const std::string& what) {
    console_.say(fmt::format("{}: {}", path.string(), what));
    json_["files"].push_back(path.string());
  }
  void note(const std::string& key, double value) { json_[key] = value; }
  void finish() {
    for (const auto& [phase, seconds] : timings_.phases()) json_["seconds"][phase] = seconds;
    console_.result(json_);
  }

 private:
  static FilePlan file_plan(const Comm& comm, const Args& args, const std::filesystem::path& beside) {
    require_one_process(comm, "generate");
    io::output_format(args.output, {});  // a wrong name is told before the work
    FilePlan plan;
    plan.writes("the output", args.output).requires_of_last(no_labels_of(args.output));
    if (!beside.empty())
      plan.writes("what lies beside the output", beside).requires_of_last(no_labels_of(beside));
    return plan;
  }
  // Labels of a tensor that had this name would be taken for those of the new one, which has none.
  static std::function<void()> no_labels_of(const std::filesystem::path& output) {
    return [place = io::labels_of_tensor(output)] { io::check_label_files(place, {}); };
  }

  Console console_;
  const Args& args_;
  Timings timings_;
  nlohmann::ordered_json json_;
};

CLI::App* add_kind(CLI::App& generate, const std::string& name, const std::string& meaning, Args& args) {
  auto* kind = generate.add_subcommand(name, meaning);
  kind->add_option("output", args.output, "The file to write; its extension tells the format")->required();
  kind->add_option("--seed", args.seed, "The same seed gives the same file")
      ->capture_default_str()
      ->check(fault_of_seed);
  add_common_options(*kind, args.common);
  return kind;
}

struct SkewedArgs : Args {
  SkewedOptions skewed;
  std::string dims, block_dims, corner_dims;
  int fiber_mode = 0;  // from 1; 0: none
  bool ordered = false;
};

void run_skewed(const Comm& comm, const SkewedArgs& args, const std::string& kind) {
  Maker maker(comm, args, kind);
  SkewedOptions options = args.skewed;
  options.seed = args.seed;
  options.dims = parse_dims(args.dims, "--dims");
  options.fiber_mode = args.fiber_mode - 1;
  if (args.ordered) options.labels = Labels::ordered;
  if (!args.block_dims.empty()) options.block_dims = parse_dims(args.block_dims, "--block-dims");
  if (!args.corner_dims.empty()) options.corner_dims = parse_dims(args.corner_dims, "--corner-dims");
  maker.expect(options.dims, options.num_nonzeros);
  maker.write(args.output, maker.draw([&] { return generate_skewed(options); }));
  maker.finish();
}

void add_shape(CLI::App& kind, std::string& dims, Index& num_nonzeros) {
  kind.add_option("--dims", dims, "The dimensions, as in 1000x800x50")->required();
  kind.add_option("--nnz", num_nonzeros, "Number of nonzeros")->required()->check(CLI::NonNegativeNumber);
}

void add_skew(CLI::App& kind, SkewedArgs& args) {
  kind.add_option("--exponents", args.skewed.exponents,
                  "Zipf exponent per mode, as in 0.6,0.6,0.7 (0: uniform)")
      ->delimiter(',')
      ->check(fault_of_real);
  kind.add_option("--fiber-mode", args.fiber_mode, "Draw fibers along this mode (from 1)")
      ->check(CLI::PositiveNumber);
  kind.add_option("--fiber-mean", args.skewed.fiber_mean, "Mean draws per fiber")
      ->needs("--fiber-mode")
      ->check(fault_of_real);
}

void add_zipf(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<SkewedArgs>();
  auto* kind = add_kind(generate, "zipf", "Indices that follow a Zipf law in each mode", *args);
  add_shape(*kind, args->dims, args->skewed.num_nonzeros);
  add_skew(*kind, *args);
  kind->add_flag("--ordered", args->ordered, "Keep the frequent indices first instead of shuffling labels");
  kind->footer("Example: polyad generate zipf x.tns --dims 1000x800x50 --nnz 100000 --exponents 0.6,0.6,0.9");
  kind->callback([args, comm] { run_skewed(comm, *args, "zipf"); });
}

void add_communities(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<SkewedArgs>();
  args->skewed.num_blocks = 16;
  args->skewed.block_share = 0.3;
  auto* kind = add_kind(generate, "communities", "Dense blocks at random places in a Zipf background", *args);
  add_shape(*kind, args->dims, args->skewed.num_nonzeros);
  add_skew(*kind, *args);
  kind->add_option("--blocks", args->skewed.num_blocks, "Number of blocks")->capture_default_str();
  kind->add_option("--block-dims", args->block_dims, "Size of a block, as in 60x40x10")->required();
  kind->add_option("--block-share", args->skewed.block_share, "Share of the draws in blocks")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_flag("--ordered", args->ordered,
                 "Keep the indices of a block together instead of shuffling labels");
  kind->footer(
      "Example: polyad generate communities x.tns --dims 1000x800x50 --nnz 100000 --block-dims 60x40x10");
  kind->callback([args, comm] { run_skewed(comm, *args, "communities"); });
}

void add_corner(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<SkewedArgs>();
  args->ordered = true;  // near the diagonal means near only while labels keep their order
  args->skewed.corner_share = 0.3;
  args->skewed.diagonal_share = 0.5;
  auto* kind =
      add_kind(generate, "corner", "Near the diagonal, with a dense corner, as in friendship data", *args);
  add_shape(*kind, args->dims, args->skewed.num_nonzeros);
  kind->add_option("--exponents", args->skewed.exponents, "Zipf exponent per mode of the rest")
      ->delimiter(',')
      ->check(fault_of_real);
  kind->add_option("--corner-dims", args->corner_dims, "Size of the corner, as in 600x600x24")->required();
  kind->add_option("--corner-share", args->skewed.corner_share, "Share of the draws in the corner")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_option("--diagonal-share", args->skewed.diagonal_share, "Share near the diagonal")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_option("--diagonal-distance", args->skewed.diagonal_distance, "Mean distance from it")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->footer(
      "Example: polyad generate corner x.tns --dims 20000x20000x30 --nnz 100000 --corner-dims 60x60x10");
  kind->callback([args, comm] { run_skewed(comm, *args, "corner"); });
}

struct LikeArgs : Args {
  std::string name;
  double scale = 1;
  Index num_nonzeros = 0;
};

void add_like(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<LikeArgs>();
  auto* kind =
      generate.add_subcommand("like", "Tensors that resemble public ones: nell, netflix, delicious, fb");
  kind->add_option("name", args->name, "Which")->required()->check(CLI::IsMember(like_names()));
  kind->add_option("output", args->output, "The file to write; its extension tells the format")->required();
  kind->add_option("--scale", args->scale, "Multiplies dimensions and nonzeros")
      ->check(fault_of_real)
      ->check(CLI::PositiveNumber);
  kind->add_option("--nnz", args->num_nonzeros, "Number of nonzeros, whatever the scale")
      ->check(CLI::PositiveNumber);
  kind->add_option("--seed", args->seed, "The same seed gives the same file")
      ->capture_default_str()
      ->check(fault_of_seed);
  add_common_options(*kind, args->common);
  kind->footer("Example: polyad generate like nell x.ptb --scale 0.1");
  kind->callback([args, comm] {
    Maker maker(comm, *args, args->name);
    SkewedOptions options = like(args->name, args->scale);
    options.seed = args->seed;
    if (args->num_nonzeros > 0) options.num_nonzeros = args->num_nonzeros;
    maker.expect(options.dims, options.num_nonzeros);
    maker.write(args->output, maker.draw([&] { return generate_skewed(options); }));
    maker.finish();
  });
}

struct PlantedArgs : Args {
  PlantedOptions planted;
  std::string dims;
};

void add_planted(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<PlantedArgs>();
  args->planted.num_components = 4;
  auto* kind = add_kind(generate, "planted",
                        "A known low-rank tensor and noise; the truth is written beside it", *args);
  add_shape(*kind, args->dims, args->planted.num_nonzeros);
  kind->add_option("-r,--rank", args->planted.num_components, "Number of components")->capture_default_str();
  kind->add_option("--noise", args->planted.noise, "Relative to the values' root mean square")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->footer("Example: polyad generate planted x.tns --dims 300x200x100 --nnz 50000 -r 5 --noise 0.1");
  kind->callback([args, comm] {
    const auto truth = beside(args->output, "-truth", ".ktensor");
    Maker maker(comm, *args, "planted", truth);
    PlantedOptions options = args->planted;
    options.seed = args->seed;
    options.dims = parse_dims(args->dims, "--dims");
    maker.expect(options.dims, options.num_nonzeros);
    const Planted planted = maker.draw([&] { return generate_planted(options); });
    maker.write(args->output, planted.tensor);
    io::write_kruskal(truth, planted.truth, io::KruskalFormat::ktensor);
    maker.tell(truth, fmt::format("the {} components that were planted", planted.truth.num_components()));
    maker.finish();
  });
}

struct RatingsArgs : Args {
  RatingsOptions ratings;
};

void add_ratings(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<RatingsArgs>();
  auto& options = args->ratings;
  options.test_fraction = 0;
  auto* kind =
      add_kind(generate, "ratings", "Users x items, halves from 0.5 to 5, with latent factors", *args);
  kind->add_option("--users", options.num_users, "Number of users")->required()->check(CLI::PositiveNumber);
  kind->add_option("--items", options.num_items, "Number of items")->required()->check(CLI::PositiveNumber);
  kind->add_option("--nnz", options.num_ratings, "Number of ratings")
      ->required()
      ->check(CLI::NonNegativeNumber);
  kind->add_option("-r,--rank", options.num_factors, "Latent factors")->capture_default_str();
  kind->add_option("--noise", options.noise, "Standard deviation of the noise")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_option("--test", options.test_fraction, "Share of the ratings written beside as OUTPUT-test")
      ->check(fault_of_real);
  kind->footer("Example: polyad generate ratings r.tns --users 1000 --items 500 --nnz 50000 --test 0.1");
  kind->callback([args, comm] {
    RatingsOptions ratings = args->ratings;
    ratings.seed = args->seed;
    const auto test = beside(args->output, "-test");
    Maker maker(comm, *args, "ratings", ratings.test_fraction > 0 ? test : "");
    maker.expect(std::vector{ratings.num_users, ratings.num_items}, ratings.num_ratings);
    const Ratings made = maker.draw([&] { return generate_ratings(ratings); });
    maker.write(args->output, made.train);
    if (ratings.test_fraction > 0) maker.write(test, made.test);
    maker.note("noise_floor", made.noise_floor);
    maker.finish();
  });
}

}  // namespace

void add_generate(CLI::App& app, const Comm& comm) {
  auto* command =
      app.add_subcommand("generate", "Synthetic tensors and ratings, the same for any thread count");
  command->require_subcommand(1);
  command->footer("Example: polyad generate like nell x.ptb --scale 0.1");
  add_planted(*command, comm);
  add_zipf(*command, comm);
  add_communities(*command, comm);
  add_corner(*command, comm);
  add_ratings(*command, comm);
  add_like(*command, comm);
}

}  // namespace polyad::cli
