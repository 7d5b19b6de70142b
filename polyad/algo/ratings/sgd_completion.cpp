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

  CompletionResult<Real> run(const CompletionObserver& observe, const RunControls<Real>& controls) {
    ask_ = controls.ask;
    if (controls.from != nullptr) {
      restore(*controls.from);
    } else {
      best_.copy(rows_);
      begin();
    }
    while (goes_on()) {
      const auto record = sound_epoch(first_epoch_ + num_epochs_, observe);
      if (!record.was_undone) ++num_epochs_;
      without_gain_ = has_gained(record) ? 0 : without_gain_ + 1;
      if (is_best(record)) keep(record);
      if (controls.pause) pause(controls, record);
    }
    rows_ = std::move(best_);
    finish();
    return std::move(result_);
  }

 private:
  Index num_parts() const { return std::ssize(x_.parts); }

  // Whether there is a further epoch.
  bool goes_on() {
    if (options_.patience > 0 && without_gain_ >= options_.patience)
      result_.stop = CompletionStop::test_error;
    return result_.stop == CompletionStop::epochs && num_epochs_ < options_.max_epochs;
  }

  void pause(const RunControls<Real>& controls, const EpochRecord& record) {
    const bool is_end = !goes_on();
    const auto add_state = [this](RunState<Real>& state) { save(state); };
    const auto reason = controls.pause({record.epoch, record.train.rmse, is_end, add_state, asked_});
    if (reason && !is_end) result_.stop = completion_stop(*reason);
  }

  // The rows of the best epoch are kept apart only where that is not the last.
  bool is_last_best() const {
    return !result_.epochs.empty() && result_.best_epoch == result_.epochs.back().epoch;
  }

  void save(RunState<Real>& state) {
    auto& numbers = state.numbers;
    put_epochs(numbers, result_.epochs);
    const auto sizes = sizes_.state();
    const auto test = result_.test.value_or(ErrorFigures{});
    for (const double number :
         {double(num_epochs_), double(without_gain_), double(result_.best_epoch), result_.last_step,
          error_to_beat_, sizes.size, sizes.last_rmse, double(result_.test.has_value()), test.rmse, test.mae})
      numbers.put(number);
    std::vector<BothRows<Real>*> kept{&rows_};
    if (!is_last_best()) kept.push_back(&best_);
    state.num_vectors = std::ssize(kept);
    state.num_columns = sender_.words().per_row();
    state.rows = own_rows(std::move(kept));
  }

  void restore(RunRestart<Real>& from) {
    auto& numbers = from.numbers;
    result_.epochs = take_epochs(numbers);
    result_.num_restored = std::ssize(result_.epochs);
    num_epochs_ = numbers.take_int();
    without_gain_ = numbers.take_int();
    result_.best_epoch = numbers.take_int();
    result_.last_step = numbers.take();
    error_to_beat_ = numbers.take();
    StepSizes::State sizes;
    sizes.size = numbers.take();
    sizes.last_rmse = numbers.take();
    sizes_.restore(sizes);
    const bool has_test = numbers.take() != 0;
    ErrorFigures test;
    test.rmse = numbers.take();
    test.mae = numbers.take();
    if (has_test) result_.test = test;
    best_.copy(rows_);
    std::vector<BothRows<Real>*> kept{&rows_};
    if (!is_last_best()) kept.push_back(&best_);
    const Index count = std::ssize(kept);
    from.fill(own_rows(std::move(kept)), count, sender_.words().per_row());
    fetch(visits_of_trained());  // parts that share an item begin with its row
    if (is_last_best()) best_.copy(rows_);
  }

  // Users of the parts of this process, and items whose rows these have between epochs. Every other row is
  // sent to where it is used before it is used.
  OwnRows<Real> own_rows(std::vector<BothRows<Real>*> kept) {
    if (own_numbers_.empty()) number_own_rows();
    const Index words = sender_.words().per_row();
    OwnRows<Real> own;
    for (const auto& numbers : own_numbers_) own.numbers.emplace_back(numbers);
    own.width = std::ssize(kept) * words;
    own.read = [this, kept, words](int side, Index row, Real* to) {
      const auto [part, local] = own_places_[side][row];
      for (const auto* both : kept) {
        sender_.pack((side == 0 ? both->users : both->items)[part], local, to);
        to += words;
      }
    };
    own.write = [this, kept, words](int side, Index row, const Real* from) {
      const auto [part, local] = own_places_[side][row];
      for (auto* both : kept) {
        sender_.unpack(from, (side == 0 ? both->users : both->items)[part], local);
        from += words;
      }
    };
    return own;
  }

  void number_own_rows() {
    own_numbers_.resize(2);
    own_places_.resize(2);
    const auto add = [&](std::size_t side, std::size_t part, std::span<const Index> global, Index local) {
      own_numbers_[side].push_back(global[std::size_t(local)]);
      own_places_[side].push_back({part, local});
    };
    for (std::size_t i = 0; i < x_.parts.size(); ++i) {
      const auto& part = x_.parts[i];
      for (Index user = 0; user < part.num_trained_users; ++user) add(0, i, part.users, user);
      for (const LocalIndex item : part.owned_items) add(1, i, part.items, item);
    }
  }

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

  // By the errors that were met, and by those that some ratings would meet now. Hears what processes ask for.
  // Collective.
  bool has_gone_astray(const ErrorFigures& met) {
    constexpr std::size_t enough = 4096;
    SumsOfParts some(x_.parts.size());
    std::vector<char> are_bounded(x_.parts.size());
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
    std::vector<double> num_unbounded{double(std::ranges::count(are_bounded, 0))};
    asked_ = add_up_with_requests(x_.comm, num_unbounded, ask_);
    const double maximum = max_errors * x_.scale, now = figures(some).rmse;
    return num_unbounded[0] > 0 || !(met.rmse <= maximum) || !(now <= maximum);
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
    const auto visits_of = [&](Index part) -> const RowMessages& { return visits[std::size_t(part)]; };
    evaluator_.overwrite(visits_of, std::span(rows_.items));
  }

  // Of all rows of items that parts learn. Collective.
  std::vector<RowMessages> visits_of_trained() const {
    std::vector<std::vector<WantedColumn>> trained(x_.parts.size());
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& part = x_.parts[i];
      for (Index item = 0; item < part.num_trained_items; ++item)
        trained[i].push_back({part.items[item], LocalIndex(item)});
    }
    return plan_visits(x_.comm, x_.places, x_.rotation, trained, x_.share_rows);
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
    fetch(visits_of_trained());
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
  int num_epochs_ = 0, without_gain_ = 0;  // so far; since the test error fell by enough
  StepSizes sizes_;
  RowSender<Real> sender_, evaluator_;
  const EarlierTraining<Real>* earlier_;
  std::vector<std::vector<kernels::RatingBlocks<Real>>> blocks_;  // [part of this process][sub-epoch]
  BothRows<Real> rows_, before_, best_;
  std::vector<RatingPulls<Real>> pulls_;                            // [part of this process]
  double error_to_beat_ = std::numeric_limits<double>::infinity();  // on the test, to be worth going on
  // [side][row that this process owns between epochs]: its global number, and where it is.
  struct RowPlace {
    std::size_t part = 0;
    Index local = 0;
  };
  std::vector<Array<Index>> own_numbers_;
  std::vector<std::vector<RowPlace>> own_places_;
  AskProcess ask_;
  RunRequests asked_;  // in the last epoch
  CompletionResult<Real> result_;
};

}  // namespace

CompletionStop completion_stop(StopReason reason) {
  return reason == StopReason::time_limit ? CompletionStop::time_limit : CompletionStop::interrupted;
}

void put_epochs(StateNumbers& numbers, std::span<const EpochRecord> epochs) {
  numbers.put(double(epochs.size()));
  for (const auto& record : epochs) {
    const auto test = record.test.value_or(ErrorFigures{});
    for (const double number : {double(record.epoch), record.step, record.loss, record.train.rmse,
                                record.train.mae, double(record.test.has_value()), test.rmse, test.mae,
                                record.seconds, double(record.was_undone), double(record.began_anew)})
      numbers.put(number);
  }
}

std::vector<EpochRecord> take_epochs(StateNumbers& numbers) {
  std::vector<EpochRecord> epochs;
  const double count = numbers.take();
  while (double(epochs.size()) < count) {
    EpochRecord record;
    record.epoch = numbers.take_int();
    record.step = numbers.take();
    record.loss = numbers.take();
    record.train.rmse = numbers.take();
    record.train.mae = numbers.take();
    const bool has_test = numbers.take() != 0;
    ErrorFigures test;
    test.rmse = numbers.take();
    test.mae = numbers.take();
    if (has_test) record.test = test;
    record.seconds = numbers.take();
    record.was_undone = numbers.take() != 0;
    record.began_anew = numbers.take() != 0;
    epochs.push_back(record);
  }
  return epochs;
}

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
                                      const CompletionObserver& observe, const EarlierTraining<Real>* earlier,
                                      const RunControls<Real>& controls) {
  return Trainer<Real>(x, options, earlier).run(observe, controls);
}

template EarlierTraining<float> transposed(EarlierTraining<float>, RatingSide);
template EarlierTraining<double> transposed(EarlierTraining<double>, RatingSide);
template void carry_over(const EarlierTraining<float>&, TrainedRows<float>&);
template void carry_over(const EarlierTraining<double>&, TrainedRows<double>&);
template CompletionResult<float> sgd_completion(DistRatings<float>&, const CompletionOptions&,
                                                const CompletionObserver&, const EarlierTraining<float>*,
                                                const RunControls<float>&);
template CompletionResult<double> sgd_completion(DistRatings<double>&, const CompletionOptions&,
                                                 const CompletionObserver&, const EarlierTraining<double>*,
                                                 const RunControls<double>&);

}  // namespace polyad
