#include "polyad/tasks/detail/ratings/list_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/tasks/detail/checkpoints/training_control.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tensor/ratings/rating_power.hpp"
#include "polyad/tensor/ratings/rating_weight.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace polyad::tasks {
namespace {

void refuse_without_lists(bool is_given, const char* field) {
  if (is_given)
    refuse_option(fmt::format("{} has no effect: it requires {}, or {} ranking", option_name(field),
                              option_name("implicit"), option_name("lists")));
}

}  // namespace

bool trains_lists(const CompleteOptions& options) {
  return !options.implicit && options.lists != ListsBy::ratings;
}

void check_lists(const CompleteOptions& options) {
  const CompleteOptions usual;
  require_enumerator("lists", options.lists, ListsBy::ratings);
  if (const double weight = options.popularity.value_or(0); !(weight >= 0 && std::isfinite(weight)))
    refuse_option(fmt::format("{} {}: expected 0 or more", option_name("popularity"), weight));
  if (const double weight = options.neighbours.value_or(0); !(weight >= 0 && std::isfinite(weight)))
    refuse_option(fmt::format("{} {}: expected 0 or more", option_name("neighbours"), weight));
  if (options.implicit && options.lists != ListsBy::automatic)
    refuse_option(fmt::format("{} trains one model, for lists: {} has no effect", option_name("implicit"),
                              option_name("lists")));
  if (options.implicit || trains_lists(options)) return;
  refuse_without_lists(options.alpha != usual.alpha, "alpha");
  refuse_without_lists(options.popularity.has_value(), "popularity");
  refuse_without_lists(options.neighbours.has_value(), "neighbours");
}

AlsCompletionOptions list_options(const CompleteOptions& options, const Shrinkage& shrinkage) {
  AlsCompletionOptions als;
  als.num_factors = options.factors;
  als.max_sweeps = options.max_epochs;
  if (!options.resume.empty()) als.max_sweeps = std::max(als.max_sweeps, CompleteOptions{}.max_epochs);
  als.shrinkage = shrinkage;
  als.has_biases = false;
  als.patience = 0;
  als.tolerance = 1e-4;
  als.seed = options.seed;
  als.alpha = options.alpha;
  als.cg_steps = cg_steps_of(options);
  als.gpu = options.device.index;
  return als;
}

SparseTensor<double> powers_of(const Comm& comm, SparseTensor<double> own, double power) {
  double sum = 0;
  for (const double rating : own.values()) sum += std::abs(rating);
  const auto count = double(comm.all_reduce(own.num_nonzeros()));
  const double all = comm.all_reduce(sum);
  const RatingPower raised{power, all > 0 ? all / count : 1};
  for (double& rating : own.values()) rating = raised(rating);
  return own;
}

template <class Real>
void rank_by(RatingModel<Real>& model, const SparseTensor<double>& ratings, double popularity,
             double neighbours, const RatingConfidence& confidence) {
  model.neighbours = neighbours;
  model.confidence = confidence;
  model.item_biases.assign(std::size_t(model.num_items()), Real(0));
  const auto weight = weight_in_popularity(model, ratings.values());
  const auto num_users = double(count_slices(ratings.indices(0), ratings.extent(0)).slices.size());
  std::vector<double> shares(std::size_t(model.num_items()), 0);
  double count = 0, sum = 0;
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    if (!(ratings.values()[z] > 0)) continue;
    const double of_rating = weight(ratings.values()[z]);
    shares[ratings.indices(1)[z]] += of_rating;
    sum += of_rating;
    ++count;
  }
  if (sum == 0) return;
  const double scale = popularity * (count / sum) / num_users;
  for (Index item = 0; item < model.num_items(); ++item) model.item_biases[item] = Real(scale * shares[item]);
}

template <class Real>
TrainedLists<Real> train_lists(const Context& context, SparseTensor<double> own,
                               const CompleteOptions& options, TrainingControl<Real>& control) {
  const Stopwatch watch;
  auto choice = control.choose(own, list_power);
  const auto& settings = choice.settings;
  TrainedLists<Real> trained{list_options(options, settings.shrinkage),
                             {},
                             settings.popularity,
                             settings.neighbours,
                             0,
                             std::move(choice.trials),
                             choice.cut_short};
  if (trained.cut_short) return trained;
  auto powers = powers_of(context.comm(), std::move(own), list_power);
  const auto extents = powers.extents();
  trained.result = als_completion<Real>(context.comm(), {std::move(powers), SparseTensor<double>(extents)},
                                        trained.options, context.progress(), {},
                                        [&](const DistTensor<Real>& x) { return control.control(x); });
  trained.seconds = watch.seconds();
  return trained;
}

template <class Real>
ListModel<Real> gather_lists(const Comm& comm, const TrainedLists<Real>& trained,
                             const SparseTensor<double>& ratings) {
  ListModel<Real> lists;
  lists.model = gather_model(comm, trained.result, ratings.extent(0), ratings.extent(1), trained.options);
  lists.shrinkage = trained.options.shrinkage;
  lists.alpha = *trained.options.alpha;
  lists.power = list_power;
  if (comm.rank() == 0)
    rank_by(lists.model, ratings, trained.popularity, trained.neighbours, {lists.alpha, lists.power});
  return lists;
}

template void rank_by(RatingModel<float>&, const SparseTensor<double>&, double, double,
                      const RatingConfidence&);
template void rank_by(RatingModel<double>&, const SparseTensor<double>&, double, double,
                      const RatingConfidence&);
template TrainedLists<float> train_lists(const Context&, SparseTensor<double>, const CompleteOptions&,
                                         TrainingControl<float>&);
template TrainedLists<double> train_lists(const Context&, SparseTensor<double>, const CompleteOptions&,
                                          TrainingControl<double>&);
template ListModel<float> gather_lists(const Comm&, const TrainedLists<float>&, const SparseTensor<double>&);
template ListModel<double> gather_lists(const Comm&, const TrainedLists<double>&,
                                        const SparseTensor<double>&);

}  // namespace polyad::tasks
