#include "polyad/algo/ratings/sgd_completion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/kernels/ratings/rating_start.hpp"
#include "polyad/kernels/ratings/sgd_sweep.hpp"

namespace polyad {
namespace {

// An epoch has gone astray when it met errors so much larger than those of predicting nothing.
constexpr double max_errors = 2;
constexpr int max_halvings = 40;
constexpr int halvings_until_anew = 3;  // of one epoch: then the rows that it begins with must be astray
constexpr double min_gain = 1e-4;       // of the test error, to be worth going on

// [part of this process].
template <class Real>
struct BothRows {
  std::vector<RatingRows<Real>> users, items;

  void copy(const BothRows& from) {
    users.resize(from.users.size());
    items.resize(from.items.size());
    for_each_part(std::ssize(users), [&](Index i) {
      kernels::copy_rows(from.users[std::size_t(i)], users[std::size_t(i)]);
      kernels::copy_rows(from.items[std::size_t(i)], items[std::size_t(i)]);
    });
  }
};

template <class Real>
class Trainer {
 public:
  Trainer(DistRatings<Real>& x, const CompletionOptions& options, const EarlierTraining<Real>* earlier)
      : x_(x),
        options_(options),
        first_epoch_(earlier != nullptr ? int(earlier->training.epochs) : 0),
        sizes_(options.step),
        sender_(x.comm, x.places, travelling_words(options)),
        evaluator_(x.comm, x.places, travelling_words(options)),
        earlier_(earlier),
        blocks_(x.parts.size()),
        rows_(start()),
        pulls_(x.parts.size()) {
    for_each_part(num_parts(), [&](Index i) {
      auto& part = x.parts[std::size_t(i)];
      for (auto& ratings : std::exchange(part.sub_epochs, {}))
        blocks_[std::size_t(i)].push_back(
            kernels::arrange_ratings(std::move(ratings), std::ssize(part.users), std::ssize(part.items)));
      pulls_[std::size_t(i)] = {kernels::row_pulls<Real>(options.shrinkage, part.user_ratings),
                                kernels::row_pulls<Real>(options.shrinkage, part.item_ratings)};
    });
  }

  CompletionResult<Real> run(const CompletionObserver& observe) {
    best_.copy(rows_);
    begin();
    for (int epoch = 0, without_gain = 0;
         epoch < options_.max_epochs && result_.stop == CompletionStop::epochs; ++epoch) {
      const auto record = sound_epoch(first_epoch_ + epoch, observe);
      without_gain = has_gained(record) ? 0 : without_gain + 1;
      if (is_best(record)) keep(record);
      if (options_.patience > 0 && without_gain >= options_.patience)
        result_.stop = CompletionStop::test_error;
    }
    rows_ = std::move(best_);
    finish();
    return std::move(result_);
  }

 private:
  Index num_parts() const { return std::ssize(x_.parts); }

  BothRows<Real> start() const {
    BothRows<Real> rows{std::vector<RatingRows<Real>>(x_.parts.size()),
                        std::vector<RatingRows<Real>>(x_.parts.size())};
    for_each_part(num_parts(), [&](Index i) {
      rows.users[std::size_t(i)] = start_of(x_.parts[std::size_t(i)], RatingSide::user);
      rows.items[std::size_t(i)] = start_of(x_.parts[std::size_t(i)], RatingSide::item);
    });
    return rows;
  }

  RatingRows<Real> start_of(const RatingPart<Real>& part, RatingSide side) const {
    const bool is_user = side == RatingSide::user;
    const auto& global = is_user ? part.users : part.items;
    const kernels::RatingStart how{options_.num_factors, options_.has_biases, is_adaptive(), options_.seed};
    auto rows =
        start_rows<Real>(how, side, global, is_user ? part.num_trained_users : part.num_trained_items);
    if (earlier_ == nullptr) return rows;
    const auto& squares = is_user ? earlier_->training.user_squares : earlier_->training.item_squares;
    const auto& places = is_user ? earlier_->user_rows : earlier_->item_rows;
    std::vector<Index> model_rows(global.begin(), global.end());
    for (Index& row : model_rows)
      if (!places.empty()) row = places[std::size_t(row)];
    return kernels::resumed_rows<Real>(std::move(rows), earlier_->model, squares, side, {x_.mean, x_.scale},
                                       model_rows);
  }

  bool is_adaptive() const { return options_.step.kind == StepSchedule::Kind::adagrad; }

  // An earlier model is tested before it is changed.
  void begin() {
    result_.best_epoch = first_epoch_;
    if (earlier_ != nullptr) {
      if (has_gone_astray(ErrorFigures{}))
        throw Error(Errc::bad_option, "the model to go on from does not fit these ratings");
      result_.last_step = earlier_->training.step;
    }
    if (earlier_ != nullptr || options_.max_epochs == 0) result_.test = test_figures();
    if (result_.test) error_to_beat_ = result_.test->rmse;
  }

  // Trains an epoch. If its errors grow without bound, it is undone and repeated with half the step size.
  EpochRecord sound_epoch(int epoch, const CompletionObserver& observe) {
    before_.copy(rows_);
    for (int halvings = 0; halvings < max_halvings; ++halvings) {
      auto record = one_epoch(epoch);
      if (record.was_undone) {
        record.began_anew = halvings == halvings_until_anew;
        if (record.began_anew) before_ = start();
        rows_.copy(before_);
        sizes_.halve();
      } else {
        sizes_.after_epoch(record.train.rmse);
      }
      result_.epochs.push_back(record);
      if (observe && !observe(record)) result_.stop = CompletionStop::observer;
      if (!record.was_undone || result_.stop == CompletionStop::observer) return record;
    }
    throw Error(
        Errc::bad_option,
        "the errors grow however small the step is; are the ratings numbers of reasonable size, and " +
            option_name("regularisation") + " not too large?");
  }

  EpochRecord one_epoch(int epoch) {
    const Stopwatch watch;
    EpochRecord record;
    record.epoch = epoch + 1;
    record.step = sizes_.of_epoch(epoch);
    const kernels::SgdStep step{record.step, options_.has_biases, is_adaptive(), options_.num_factors,
                                options_.is_explicit};
    SumsOfParts met(x_.parts.size());
    for (std::size_t t = 0; t < x_.steps.size(); ++t) {
      const Stopwatch learning;
      for_each_part(num_parts(), [&](Index part) {
        const auto i = std::size_t(part);
        met[i] += sgd_sweep(blocks_[i][t], rows_.users[i], rows_.items[i], pulls_[i], step);
      });
      result_.seconds.learn += learning.seconds();
      const Stopwatch communicating;
      const double waited = sender_.waiting_seconds();
      synchronise<Real>(x_.steps[t], sender_, rows_.items);
      const double waiting = sender_.waiting_seconds() - waited;
      result_.seconds.wait += waiting;
      result_.seconds.communicate += communicating.seconds() - waiting;
    }
    record.train = figures(met);
    record.was_undone = has_gone_astray(record.train);
    if (!record.was_undone) record.test = test_figures();
    record.seconds = watch.seconds();
    return record;
  }

  // By the errors that were met, and by those that some ratings would meet now. Collective.
  bool has_gone_astray(const ErrorFigures& met) const {
    constexpr std::size_t enough = 4096;
    SumsOfParts some(x_.parts.size());
    std::vector<Index> are_bounded(x_.parts.size());
    for_each_part(num_parts(), [&](Index part) {
      const auto i = std::size_t(part);
      for (const auto& blocks : blocks_[i]) {
        const std::span<const LocalRating<Real>> ratings(blocks.ratings);
        some[i] += kernels::rating_errors<Real>(
            ratings.first(std::min(ratings.size(), enough / blocks_[i].size() + 1)), rows_.users[i],
            rows_.items[i]);
      }
      are_bounded[i] = kernels::are_bounded(rows_.users[i]) && kernels::are_bounded(rows_.items[i]) ? 1 : 0;
    });
    const Index is_bounded = std::ranges::min(are_bounded);
    const double maximum = max_errors * x_.scale, now = figures(some).rmse;
    return x_.comm.all_reduce(is_bounded, Reduce::min) == 0 || !(met.rmse <= maximum) || !(now <= maximum);
  }

  // [part of this process].
  using SumsOfParts = std::vector<ErrorSums>;

  // Collective.
  ErrorFigures figures(const SumsOfParts& mine) const {
    ErrorSums sums;
    for (const auto& of_part : gather_by_part(x_.comm, x_.places, mine)) sums += of_part;
    const auto count = double(sums.count);
    if (count == 0) return {};
    return {x_.scale * std::sqrt(sums.squares / count), x_.scale * sums.magnitudes / count};
  }

  // That of the ratings, in the units of the training.
  RatingRange range() const {
    const auto in_units = [&](double rating) { return (rating - x_.mean) / x_.scale; };
    return {in_units(options_.range.least), in_units(options_.range.largest)};
  }

  std::optional<ErrorFigures> test_figures() {
    if (x_.num_test == 0) return std::nullopt;
    const Stopwatch watch;
    fetch(x_.visits);
    SumsOfParts sums(x_.parts.size());
    for_each_part(num_parts(), [&](Index part) {
      const auto i = std::size_t(part);
      sums[i] = kernels::rating_errors<Real>(x_.parts[i].test, rows_.users[i], rows_.items[i], range());
    });
    const auto result = figures(sums);
    result_.seconds.evaluate += watch.seconds();
    return result;
  }

  // Rows of items from those that have them.
  void fetch(const std::vector<RowMessages>& visits) {
    evaluator_.overwrite([&](Index part) -> const auto& { return visits[std::size_t(part)]; },
                         std::span(rows_.items));
  }

  bool is_best(const EpochRecord& record) const {
    if (record.was_undone) return false;
    return !record.test || !result_.test || options_.patience == 0 || record.test->rmse < result_.test->rmse;
  }

  // Whether the test error has fallen by enough to go on, since it last did.
  bool has_gained(const EpochRecord& record) {
    if (record.was_undone) return false;
    if (!record.test) return true;
    if (record.test->rmse >= (1 - min_gain) * error_to_beat_) return false;
    error_to_beat_ = record.test->rmse;
    return true;
  }

  void keep(const EpochRecord& record) {
    best_.copy(rows_);
    result_.best_epoch = record.epoch;
    result_.test = record.test;
    result_.last_step = record.step;
  }

  // The errors of the rows that are handed out, on all ratings that were learned from.
  void finish() {
    std::vector<std::vector<WantedColumn>> trained(x_.parts.size());
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& part = x_.parts[i];
      for (Index item = 0; item < part.num_trained_items; ++item)
        trained[i].push_back({part.items[item], LocalIndex(item)});
    }
    fetch(plan_visits(x_.comm, x_.places, x_.rotation, trained, x_.share_rows));
    SumsOfParts sums(x_.parts.size());
    for_each_part(num_parts(), [&](Index part) {
      const auto i = std::size_t(part);
      for (const auto& blocks : blocks_[i])
        sums[i] += kernels::rating_errors<Real>(blocks.ratings, rows_.users[i], rows_.items[i], range());
    });
    result_.train = figures(sums);
    result_.training = sender_.sent();
    result_.evaluation = evaluator_.sent();
    result_.users = std::move(rows_.users);
    result_.items = std::move(rows_.items);
  }

  DistRatings<Real>& x_;
  const CompletionOptions& options_;
  int first_epoch_;
  StepSizes sizes_;
  RowSender<Real> sender_, evaluator_;
  const EarlierTraining<Real>* earlier_;
  std::vector<std::vector<kernels::RatingBlocks<Real>>> blocks_;  // [part of this process][sub-epoch]
  BothRows<Real> rows_, before_, best_;
  std::vector<RatingPulls<Real>> pulls_;                            // [part of this process]
  double error_to_beat_ = std::numeric_limits<double>::infinity();  // on the test, to be worth going on
  CompletionResult<Real> result_;
};

}  // namespace

TravellingWords travelling_words(const CompletionOptions& options) {
  return {options.num_factors, options.has_biases, options.step.kind == StepSchedule::Kind::adagrad};
}

template <class Real>
EarlierTraining<Real> transposed(EarlierTraining<Real> earlier, RatingSide first) {
  earlier.model = transposed(std::move(earlier.model), first);
  earlier.training = transposed(std::move(earlier.training), first);
  if (first == RatingSide::item) std::swap(earlier.user_rows, earlier.item_rows);
  return earlier;
}

template <class Real>
void carry_over(const EarlierTraining<Real>& earlier, TrainedRows<Real>& trained) {
  auto& now = trained.model;
  const auto& then = earlier.model;
  kernels::keep_rows<Real>({then.users, then.user_biases, earlier.training.user_squares}, earlier.user_rows,
                           Real(then.mean - now.mean), {now.users, now.user_biases, trained.user_squares});
  kernels::keep_rows<Real>({then.items, then.item_biases, earlier.training.item_squares}, earlier.item_rows,
                           Real(0), {now.items, now.item_biases, trained.item_squares});
}

template <class Real>
CompletionResult<Real> sgd_completion(DistRatings<Real>& x, const CompletionOptions& options,
                                      const CompletionObserver& observe,
                                      const EarlierTraining<Real>* earlier) {
  return Trainer<Real>(x, options, earlier).run(observe);
}

template EarlierTraining<float> transposed(EarlierTraining<float>, RatingSide);
template EarlierTraining<double> transposed(EarlierTraining<double>, RatingSide);
template void carry_over(const EarlierTraining<float>&, TrainedRows<float>&);
template void carry_over(const EarlierTraining<double>&, TrainedRows<double>&);
template CompletionResult<float> sgd_completion(DistRatings<float>&, const CompletionOptions&,
                                                const CompletionObserver&, const EarlierTraining<float>*);
template CompletionResult<double> sgd_completion(DistRatings<double>&, const CompletionOptions&,
                                                 const CompletionObserver&, const EarlierTraining<double>*);

}  // namespace polyad
