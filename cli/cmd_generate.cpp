#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

// What every kind of tensor has.
struct GenerateArgs {
  CommonOptions common;
  std::string output;
  std::uint64_t seed = 1;
};

void generate_to(const Comm& comm, const GenerateArgs& args, const GenerateOptions& options,
                 const std::string& kind) {
  require_one_process(comm, "generate");
  FilePlan plan;
  plan.writes_unlabelled("the output", args.output);
  plan.writes_unlabelled("what lies beside the output", generated_beside(options, args.output));
  const Console console(comm, args.common, plan);
  const auto result = generate_file(console.context(), options, args.output, kind);
  console.say(result.summary());
  console.result(result.json());
}

void add_output(CLI::App* kind, GenerateArgs& args) {
  kind->add_option("output", args.output, "The file to write; its extension selects the format")->required();
  add_seed_option(*kind, args.seed, "Seed of the random numbers; the same seed gives the same file");
  add_common_options(*kind, args.common);
}

CLI::App* add_kind(CLI::App& generate, const std::string& name, const std::string& meaning,
                   GenerateArgs& args) {
  auto* kind = generate.add_subcommand(name, meaning);
  add_output(kind, args);
  return kind;
}

struct SkewedArgs : GenerateArgs {
  SkewedOptions skewed;
  std::string dims, block_dims, corner_dims;
  int fiber_mode = 0;  // from 1; 0: none
  bool ordered = false;
};

void run_skewed(const Comm& comm, const SkewedArgs& args, const std::string& kind) {
  SkewedOptions options = args.skewed;
  options.seed = args.seed;
  options.dims = parse_dims(args.dims, "--dims");
  options.fiber_mode = args.fiber_mode - 1;
  if (args.ordered) options.index_order = IndexOrder::ordered;
  if (!args.block_dims.empty()) options.block_dims = parse_dims(args.block_dims, "--block-dims");
  if (!args.corner_dims.empty()) options.corner_dims = parse_dims(args.corner_dims, "--corner-dims");
  generate_to(comm, args, options, kind);
}

void add_shape(CLI::App& kind, std::string& dims, Index& num_nonzeros) {
  kind.add_option("--dims", dims, "The dimensions, as in 1000x800x50")->required();
  kind.add_option("--nnz", num_nonzeros, "Number of nonzeros")->required()->check(from_zero());
}

void add_skew(CLI::App& kind, SkewedArgs& args) {
  kind.add_option("--exponents", args.skewed.exponents,
                  "Zipf exponent of each mode, as in 0.6,0.6,0.7 (default 0: uniform)")
      ->delimiter(',')
      ->check(fault_of_real);
  kind.add_option("--fiber-mode", args.fiber_mode, "Draw whole fibers along this mode, counted from 1")
      ->check(above_zero());
  kind.add_option("--fiber-mean", args.skewed.fiber_mean, "Mean number of draws per fiber (default 1)")
      ->needs("--fiber-mode")
      ->check(fault_of_real);
}

void add_zipf(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<SkewedArgs>();
  auto* kind = add_kind(generate, "zipf", "Indices that follow a Zipf law in each mode", *args);
  add_shape(*kind, args->dims, args->skewed.num_nonzeros);
  add_skew(*kind, *args);
  kind->add_flag("--ordered", args->ordered, "Number indices by frequency instead of in random order");
  kind->footer("Example: polyad generate zipf x.tns --dims 1000x800x50 --nnz 100000 --exponents 0.6,0.6,0.9");
  kind->callback([args, comm] { run_skewed(comm, *args, "zipf"); });
}

void add_communities(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<SkewedArgs>();
  args->skewed.num_blocks = 16;
  args->skewed.block_share = 0.3;
  auto* kind =
      add_kind(generate, "communities", "Dense blocks at random positions in a Zipf background", *args);
  add_shape(*kind, args->dims, args->skewed.num_nonzeros);
  add_skew(*kind, *args);
  kind->add_option("--blocks", args->skewed.num_blocks, "Number of blocks")->capture_default_str();
  kind->add_option("--block-dims", args->block_dims, "Size of a block, as in 60x40x10")->required();
  kind->add_option("--block-share", args->skewed.block_share, "Fraction of the draws in blocks")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_flag("--ordered", args->ordered,
                 "Keep the indices of a block together instead of numbering them in random order");
  kind->footer(
      "Example: polyad generate communities x.tns --dims 1000x800x50 --nnz 100000 --block-dims 60x40x10");
  kind->callback([args, comm] { run_skewed(comm, *args, "communities"); });
}

void add_corner(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<SkewedArgs>();
  args->ordered = true;  // near the diagonal means near only while labels keep their order
  args->skewed.corner_share = 0.3;
  args->skewed.diagonal_share = 0.5;
  auto* kind = add_kind(generate, "corner",
                        "Nonzeros near the diagonal and in a dense corner, as in friendship data", *args);
  add_shape(*kind, args->dims, args->skewed.num_nonzeros);
  kind->add_option("--exponents", args->skewed.exponents, "Zipf exponent of each mode for the other nonzeros")
      ->delimiter(',')
      ->check(fault_of_real);
  kind->add_option("--corner-dims", args->corner_dims, "Size of the corner, as in 600x600x24")->required();
  kind->add_option("--corner-share", args->skewed.corner_share, "Fraction of the draws in the corner")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_option("--diagonal-share", args->skewed.diagonal_share, "Fraction of the draws near the diagonal")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_option("--diagonal-distance", args->skewed.diagonal_distance, "Mean distance from the diagonal")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->footer(
      "Example: polyad generate corner x.tns --dims 20000x20000x30 --nnz 100000 --corner-dims 60x60x10");
  kind->callback([args, comm] { run_skewed(comm, *args, "corner"); });
}

struct LikeArgs : GenerateArgs {
  std::string name;
  double scale = 1;
  Index num_nonzeros = 0;
};

void add_like(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<LikeArgs>();
  auto* kind =
      generate.add_subcommand("like", "Tensors that resemble public ones: nell, netflix, delicious, fb");
  kind->add_option("name", args->name, "Which tensor to resemble")
      ->required()
      ->check(CLI::IsMember(like_names()));
  add_output(kind, *args);
  kind->add_option("--scale", args->scale, "Factor for dimensions and nonzeros (default 1)")
      ->check(fault_of_real)
      ->check(above_zero());
  kind->add_option("--nnz", args->num_nonzeros, "Number of nonzeros (default: that of the scale)")
      ->check(above_zero());
  kind->footer("Example: polyad generate like nell x.ptb --scale 0.1");
  kind->callback([args, comm] {
    SkewedOptions options = options_like(args->name, args->scale);
    options.seed = args->seed;
    if (args->num_nonzeros > 0) options.num_nonzeros = args->num_nonzeros;
    generate_to(comm, *args, options, args->name);
  });
}

struct PlantedArgs : GenerateArgs {
  PlantedOptions planted;
  std::string dims;
};

void add_planted(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<PlantedArgs>();
  args->planted.num_components = 4;
  auto* kind =
      add_kind(generate, "planted",
               "A tensor of known rank with noise; its components are written to NAME-truth.ktensor", *args);
  add_shape(*kind, args->dims, args->planted.num_nonzeros);
  kind->add_option("-r,--rank", args->planted.num_components, "Number of components")->capture_default_str();
  auto* observed =
      kind->add_option("--observed", args->planted.observed,
                       "Draw dense components, and write this share of all cells, as in 0.05, for "
                       "cpd --missing; in place of --nnz")
          ->check(fault_of_real);
  auto* nonzeros = kind->get_option("--nnz")->required(false)->excludes(observed);
  kind->add_option("--noise", args->planted.noise,
                   "Standard deviation of the noise, relative to the root mean square of the values")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->footer("Example: polyad generate planted x.tns --dims 300x200x100 --nnz 50000 -r 5 --noise 0.1");
  kind->callback([args, comm, observed, nonzeros] {
    PlantedOptions options = args->planted;
    options.seed = args->seed;
    options.dims = parse_dims(args->dims, "--dims");
    if (nonzeros->count() == observed->count()) throw CLI::RequiredError("--nnz or --observed");
    generate_to(comm, *args, options, "planted");
  });
}

struct RatingsArgs : GenerateArgs {
  RatingsOptions ratings;
};

void add_ratings(CLI::App& generate, const Comm& comm) {
  auto args = std::make_shared<RatingsArgs>();
  auto& options = args->ratings;
  options.test_fraction = 0;
  auto* kind =
      add_kind(generate, "ratings",
               "Ratings of items by users, from 0.5 to 5 in steps of 0.5, with latent factors", *args);
  kind->add_option("--users", options.num_users, "Number of users")->required()->check(above_zero());
  kind->add_option("--items", options.num_items, "Number of items")->required()->check(above_zero());
  kind->add_option("--nnz", options.num_ratings, "Number of ratings")->required()->check(from_zero());
  kind->add_option("-r,--rank", options.num_factors, "Number of latent factors")->capture_default_str();
  kind->add_option("--noise", options.noise, "Standard deviation of the noise")
      ->capture_default_str()
      ->check(fault_of_real);
  kind->add_option("--test", options.test_fraction,
                   "Fraction of the ratings that is written to NAME-test instead (default 0)")
      ->check(fault_of_real);
  kind->footer("Example: polyad generate ratings r.tns --users 1000 --items 500 --nnz 50000 --test 0.1");
  kind->callback([args, comm] {
    RatingsOptions ratings = args->ratings;
    ratings.seed = args->seed;
    generate_to(comm, *args, ratings, "ratings");
  });
}

}  // namespace

void add_generate(CLI::App& app, const Comm& comm) {
  auto* command = app.add_subcommand(
      "generate", "Generate synthetic tensors and ratings, the same for any number of threads");
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
