#include "polyad/tasks/detail/ratings/choose_lists.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "polyad/base/memory.hpp"
#include "polyad/base/random.hpp"
#include "polyad/comm/lone_work.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/kernels/ratings/ranking_metrics.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"

namespace polyad::tasks {
namespace {

constexpr Index fewest_ratings = 20000;  // with fewer, differences between settings are mostly chance
constexpr Index most_users = 20000;      // whose lists are measured
constexpr double held_share = 0.1;
constexpr int trial_sweeps = 6;  // with four, settings can hardly be told apart
constexpr Index list_length = 10;
constexpr double least_gain = 1.02;  // of the NDCG, for settings other than the usual ones
constexpr std::uint64_t seed_of_choice = 0x6c69737473, stream_of_users = 1;

// Users with few ratings gain by factors that items with many ratings do not rule; with many ratings per
// user the first is better.
constexpr std::array trial_shrinkages{list_shrinkage, Shrinkage{0.05, 20, 8}};
struct TrialWeights {
  double popularity, neighbours;  // which gain with more popularity
};
constexpr std::array trial_weights{TrialWeights{usual_popularity, 0}, TrialWeights{0.5, 0.2},
                                   TrialWeights{0.5, 0.35}, TrialWeights{1, 0.5}};

// A sample of the users keeps the ratings that lists are measured by.
SparseTensor<double> of_sample(const SparseTensor<double>& ratings, std::uint64_t seed) {
  const double share = double(most_users) / double(ratings.extent(0));
  if (share >= 1) return ratings;
  const Random random(seed, stream_of_users);
  SparseTensor<double> sample(ratings.extents());
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    const Index user = ratings.indices(0)[z], item = ratings.indices(1)[z];
    if (random.uniform(std::uint64_t(user)) < share)
      sample.append(std::array{user, item}, ratings.values()[z]);
  }
  return sample;
}

// Sorted, on process 0. Collective.
SparseTensor<double> on_process_0(const Comm& comm, const SparseTensor<double>& own) {
  auto all = move_nonzeros(comm, own, std::vector<int>(std::size_t(own.num_nonzeros()), 0));
  keep_last_ratings(all);  // which sorts them; there are no others
  return all;
}

std::optional<StopReason> reason_of(CompletionStop stop) {
  if (stop == CompletionStop::interrupted) return StopReason::interrupted;
  if (stop == CompletionStop::time_limit) return StopReason::time_limit;
  return std::nullopt;
}

// Leaves out items of a single rating, which hardly a list contains, whatever the settings, and which are
// many.
void keep_known_items(SparseTensor<double>& ratings) {
  std::vector<Index> counts(std::size_t(ratings.extent(1)), 0);
  for (const Index item : ratings.indices(1)) ++counts[item];
  Index kept = 0;
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    if (counts[ratings.indices(1)[z]] == 1) continue;
    for (int m = 0; m < 2; ++m) ratings.indices(m)[kept] = ratings.indices(m)[z];
    ratings.values()[kept++] = ratings.values()[z];
  }
  ratings.resize(kept);
}

// The model of the first ratings of all processes is measured on the others. Ratings are gathered when the
// training has ended, so that the memory of both is not needed at once. `neighbours`, which all trials have
// in common, are found by the first. Collective.
template <class Real>
ListChoice trials_of(const Context& context, const SplitRatings& own, double power,
                     const AlsCompletionOptions& als, const CpControl<Real>& control,
                     std::optional<kernels::ItemNeighbours>& neighbours) {
  const Comm& comm = context.comm();
  const auto& extents = own.train.extents();
  std::optional<StopReason> cut_short;
  auto model = [&] {
    const auto result =
        als_completion<Real>(comm, {powers_of(comm, own.train, power), SparseTensor<double>(extents)}, als,
                             context.progress(), {}, [&](const DistTensor<Real>&) { return control; });
    cut_short = reason_of(result.stop);
    return cut_short ? RatingModel<Real>{} : gather_model(comm, result, extents[0], extents[1], als);
  }();
  if (cut_short) return {{}, {}, cut_short};
  auto train = on_process_0(comm, own.train);
  keep_known_items(train);
  const auto test = on_process_0(comm, own.test);
  auto ndcg = alone(comm, 0, [&] {
    std::array<Array<Real>, trial_weights.size()> biases;
    std::vector<kernels::ScoreTerms<Real>> terms;
    for (std::size_t t = 0; t < trial_weights.size(); ++t) {
      rank_by(model, train, trial_weights[t].popularity, trial_weights[t].neighbours, {*als.alpha, power});
      biases[t].assign(model.item_biases.begin(), model.item_biases.end());
      terms.push_back({biases[t], trial_weights[t].neighbours});
    }
    if (!neighbours)
      neighbours = kernels::find_neighbours(group_by_user(train), model.num_items(), model.confidence);
    return kernels::measure_ndcg<Real>(model, train, test, list_length, {}, terms, &*neighbours);
  });
  comm.broadcast(ndcg, 0);
  ListChoice measured;
  for (std::size_t t = 0; t < trial_weights.size(); ++t)
    measured.trials.push_back(
        {als.shrinkage, trial_weights[t].popularity, trial_weights[t].neighbours, ndcg[t]});
  return measured;
}

}  // namespace

ListSettings usual_list_settings(const CompleteOptions& options) {
  return {{options.implicit && options.regularisation ? *options.regularisation : list_shrinkage.per_rating,
           options.implicit && options.shrinkage ? *options.shrinkage : list_shrinkage.per_row},
          options.popularity.value_or(usual_popularity),
          options.neighbours.value_or(0)};
}

bool chooses_lists(const CompleteOptions& options, Index num_ratings) {
  const bool names_ridge = options.implicit && (options.regularisation || options.shrinkage);
  const bool has_lists = options.implicit || trains_lists(options);
  return has_lists && !options.popularity && !options.neighbours && !names_ridge && options.max_epochs > 0 &&
         num_ratings >= fewest_ratings;
}

template <class Real>
ListChoice choose_lists(const Context& context, const SparseTensor<double>& own,
                        const CompleteOptions& options, double power, const CpControl<Real>& control) {
  ListChoice choice{usual_list_settings(options)};
  const Comm& comm = context.comm();
  if (!chooses_lists(options, comm.all_reduce(own.num_nonzeros()))) return choice;
  const std::uint64_t seed = options.seed ^ seed_of_choice;
  auto split = split_ratings(own, {RatingSplit::Kind::fraction, held_share, seed});
  split.test = of_sample(split.test, seed);
  std::optional<kernels::ItemNeighbours> neighbours;
  for (const auto& shrinkage : trial_shrinkages) {
    auto als = list_options(options, shrinkage);
    als.max_sweeps = std::min(als.max_sweeps, trial_sweeps);
    const auto compared = trials_of<Real>(context, split, power, als, control, neighbours);
    if (compared.cut_short) return {choice.settings, {}, compared.cut_short};
    std::ranges::copy(compared.trials, std::back_inserter(choice.trials));
  }
  trim_memory();  // of the trials
  const auto best = std::ranges::max_element(choice.trials, {}, &report::ListTrial::ndcg);
  auto& chosen = best->ndcg > least_gain * choice.trials.front().ndcg ? *best : choice.trials.front();
  chosen.is_chosen = true;
  choice.settings = {chosen.shrinkage, chosen.popularity, chosen.neighbours};
  return choice;
}

template ListChoice choose_lists<float>(const Context&, const SparseTensor<double>&, const CompleteOptions&,
                                        double, const CpControl<float>&);
template ListChoice choose_lists<double>(const Context&, const SparseTensor<double>&, const CompleteOptions&,
                                         double, const CpControl<double>&);

}  // namespace polyad::tasks
