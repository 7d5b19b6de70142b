"""Recommenders: the numbers of the program, and lists, predictions and models."""

from __future__ import annotations

import json
import pickle

import numpy as np
import polyad
import pytest


@pytest.fixture
def ratings(program, tmp_path):
    path = tmp_path / "ratings.tns"
    program("generate", "ratings", path, "--users", 200, "--items", 60, "--nnz", 4000, "-q")
    return path


@pytest.mark.parametrize(
    "keywords, fitting, words",
    [
        ({}, {}, []),
        ({"epochs": 7, "reg": 0.1, "lr": 0.02, "seed": 3}, {"test": 0.1},
         ["--epochs", 7, "--reg", 0.1, "--lr", 0.02, "--seed", 3, "--test", 0.1]),
        ({"method": "als", "epochs": 4, "dtype": "float64", "device": "cpu"}, {"test": "leave-one-out"},
         ["--method", "als", "--epochs", 4, "--precision", "double", "--test", "leave-one-out", "--device", "cpu"]),
        ({"implicit": True, "alpha": 2, "epochs": 5, "solver": "cg", "cg_steps": 2}, {},
         ["--implicit", "--alpha", 2, "--epochs", 5, "--solver", "cg", "--cg-steps", 2]),
        ({"bias": False, "schedule": "inverse", "decay": 0.2, "shrink": 1}, {"validate": 0.2},
         ["--no-bias", "--schedule", "inverse", "--decay", 0.2, "--shrink", 1, "--validate", 0.2]),
    ],
)
def test_same_bits_as_the_program(ratings, program, tmp_path, keywords, fitting, words):
    program("complete", ratings, "-r", 6, "-t", 2, "--out", tmp_path / "model", "-q", *words)
    theirs = polyad.Recommender.load(tmp_path / "model")
    ours = polyad.Recommender(6, threads=2, **keywords).fit(polyad.read(ratings), **fitting)
    for name in ["user_factors", "item_factors", "user_biases", "item_biases", "mean"]:
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    for user in [0, 7, 199]:
        for a, b in zip(ours.recommend(user, 5), theirs.recommend(user, 5), strict=True):
            assert np.array_equal(a, b)


def test_lists_leave_out_what_is_known(ratings):
    x = polyad.read(ratings)
    model = polyad.Recommender(4, epochs=3).fit(x)
    known = set(x.coords[1][x.coords[0] == 5].tolist())
    ids, scores = model.recommend(5, N=10)
    assert ids.shape == scores.shape == (10,) and not known & set(ids.tolist())
    assert (np.diff(scores) <= 0).all()
    assert known & set(model.recommend(5, N=60, filter_already_liked_items=False)[0].tolist())
    chosen = model.recommend(5, N=10, items=ids[:4], filter_items=ids[:1])[0]
    assert sorted(chosen) == sorted(ids[1:4])
    all_ids, all_scores = model.recommend([5, 6], N=60)
    assert all_ids.shape == (2, 60) and (all_ids[0, :10] == ids).all() and all_ids[0, -1] == -1
    assert all_scores[0, -1] == -np.inf
    new_ids, _ = model.recommend(user_items=([1, 3], [5, 4]), N=3)
    assert len(new_ids) == 3 and not {1, 3} & set(new_ids.tolist())


def test_similar(ratings):
    model = polyad.Recommender(4, epochs=3).fit(polyad.read(ratings))
    for similar in [model.similar_items, model.similar_users]:
        ids, scores = similar(3, N=4)
        assert len(ids) == 4 and (np.diff(scores) <= 0).all()
        assert (similar([3, 4], N=4)[0][0] == ids).all()


def test_predictions(ratings, program, tmp_path):
    x = polyad.read(ratings)
    model = polyad.Recommender(4, epochs=5, dtype="float64").fit(x)
    model.save(tmp_path / "model")
    table = program("predict", tmp_path / "model", ratings, "--no-clip", "--out", tmp_path / "table.tsv")
    lines = [line.split("\t") for line in (tmp_path / "table.tsv").read_text().splitlines()]
    column = lines[0].index("prediction")
    expected = [float(line[column]) for line in lines[1:]]
    assert table is not None
    assert np.allclose(model.predict(*x.coords), expected, rtol=1e-5)
    assert float(model.predict(3, 4)) == pytest.approx(
        model.mean + model.user_biases[3] + model.item_biases[4] + model.user_factors[3] @ model.item_factors[4]
    )
    with pytest.raises(polyad.Error):
        model.predict(200, 0)


def test_labels():
    people, films = ["Ada", "Ben", "Cleo"], ["Alien", "Brazil", "Casablanca", "Dune"]
    x = polyad.from_pieces(
        [np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 3, 0])], np.array([5.0, 3, 4, 2, 1, 5]), (3, 4),
        ["person", "film"], [people, films]
    )
    model = polyad.Recommender(2, epochs=20).fit(x)
    ids, _ = model.recommend("Ada", N=4)
    assert set(ids.tolist()) == {2, 3} and model.user_labels == people and model.item_labels == films
    assert model.predict("Ada", "Dune") == model.predict(0, 3)
    assert (model.similar_items("Dune", 2)[0] == model.similar_items(3, 2)[0]).all()
    with pytest.raises(ValueError, match="Zoe"):
        model.recommend("Zoe")


def test_callback_history_and_stop(ratings):
    seen = []
    model = polyad.Recommender(4, epochs=9).fit(
        polyad.read(ratings), test=0.1, callback=lambda epoch: (seen.append((epoch.epoch, epoch.test_rmse)), len(seen) < 3)[1]
    )
    assert model.stop == "callback" and [(e.epoch, e.test_rmse) for e in model.history] == seen and len(seen) == 3
    assert model.test_rmse is not None and model.info["rank"] == 4

    def fail(epoch):
        raise KeyError("enough")

    with pytest.raises(KeyError):
        polyad.Recommender(4).fit(polyad.read(ratings), callback=fail)


@pytest.mark.parametrize("keywords", [{}, {"method": "als"}, {"implicit": True}, {"schedule": "bold", "dtype": "float64"}])
def test_a_training_goes_on_from_its_checkpoint(ratings, tmp_path, keywords):
    x, place = polyad.read(ratings), tmp_path / "states"

    def fit(epochs, **options):
        return polyad.Recommender(4, epochs=epochs, threads=1, **keywords).fit(x, **options)

    whole = fit(9)
    begun = fit(50, checkpoint=place, every="1h", callback=lambda epoch: epoch.epoch < 3)
    assert begun.stop == "callback" and len(begun.history) == 3
    fit(6, checkpoint=place, every="1it", keep=1)
    assert sorted(file.name for file in place.iterdir() if file.name.isdigit()) == ["000006"]
    further = fit(9, checkpoint=place)
    assert further.info["checkpoint"]["resumed_iteration"] == 6
    assert [epoch.epoch for epoch in further.history] == [epoch.epoch for epoch in whole.history]
    for name in ("user_factors", "item_factors", "user_biases", "item_biases"):
        assert np.array_equal(getattr(further, name), getattr(whole, name))
    assert np.array_equal(further.recommend(1)[0], whole.recommend(1)[0])
    for other in ({"seed": 2}, {"reg": 0.7}):
        with pytest.raises(ValueError, match="another directory"):
            polyad.Recommender(4, epochs=9, threads=1, **keywords, **other).fit(x, checkpoint=place)


def test_a_time_limit_keeps_the_model_so_far(ratings):
    for limit in (0.3, "1s"):
        model = polyad.Recommender(4, epochs=10**7, lists="ratings").fit(polyad.read(ratings), time_limit=limit)
        assert model.stop == "time" and len(model.history) > 0 and len(model.recommend(1)[0]) == 10


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"every": "2it"}, "every requires checkpoint"),
        ({"keep": 3}, "keep requires checkpoint"),
        ({"checkpoint": "states", "every": "often"}, "every often: expected a time"),
        ({"checkpoint": "states", "keep": 0}, "keep 0: expected 1 or more"),
        ({"time_limit": "soon"}, "time_limit soon: expected a time"),
        ({"time_limit": -1}, "time_limit=-1: expected more than 0 seconds"),
    ],
)
def test_options_of_long_trainings_are_checked(ratings, tmp_path, monkeypatch, options, text):
    x = polyad.read(ratings)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ValueError, match=text):
        polyad.Recommender(4).fit(x, **options)
    assert not any((tmp_path / "here").iterdir())


def test_test_ratings_of_their_own(ratings):
    x = polyad.read(ratings)
    held_out = np.arange(x.nnz) % 10 == 0
    parts = [polyad.from_pieces([c[mask] for c in x.coords], x.values[mask], x.shape) for mask in (~held_out, held_out)]
    model = polyad.Recommender(4, epochs=6, patience=0, bias=True, dtype="float64").fit(parts[0], test=parts[1])
    low, high = parts[0].values.min(), parts[0].values.max()
    predicted = np.clip(model.predict(*parts[1].coords), low, high)
    assert model.test_rmse == pytest.approx(np.sqrt(np.mean((predicted - parts[1].values) ** 2)), rel=1e-6)


def test_save_load_pickle_and_report(ratings, tmp_path):
    model = polyad.Recommender(3, epochs=2).fit(polyad.read(ratings))
    model.save(tmp_path / "model")
    for again in [polyad.Recommender.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]:
        assert np.array_equal(again.user_factors, model.user_factors)
        assert np.array_equal(again.recommend(1)[0], model.recommend(1)[0])
    model.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000
    assert "not fitted" in repr(pickle.loads(pickle.dumps(polyad.Recommender(3))))


def test_faults():
    with pytest.raises(polyad.Error, match="fitted"):
        polyad.Recommender().recommend(0)
    x = polyad.from_pieces([np.array([0, 1])] * 2, np.ones(2), (2, 2))
    for keywords, option in [({"factors": 0}, "factors"), ({"lr": -1.0}, "lr"), ({"method": "magic"}, None), ({"device": "tpu"}, None)]:
        with pytest.raises(ValueError) as caught:
            polyad.Recommender(**keywords).fit(x)
        assert caught.value.code == "bad_option" and option in (None, caught.value.option)
    with pytest.raises(ValueError, match="leave-one-out"):
        polyad.Recommender().fit(x, test="some")


def test_new_items_get_the_rows_of_the_program(ratings, program, tmp_path):
    x = polyad.read(ratings)
    model = polyad.Recommender(4, epochs=5).fit(x)
    model.save(tmp_path / "model")
    new = [([1, 5, 9], [4.0, 2.5, 5.0]), ([0, 199], [1.0, 1.5])]
    (tmp_path / "new.txt").write_text(
        "".join(f"{u + 1} {61 + i} {r}\n" for i, (users, values) in enumerate(new) for u, r in zip(users, values, strict=True)))
    shown = program("recommend", tmp_path / "model", "--user", 8, "--top", 62, "--new-items", tmp_path / "new.txt", "-q", "--json", "-")
    before = model.shape
    assert model.add_items(new).tolist() == [60, 61]
    assert model.shape == (before[0], before[1] + 2) and model.item_factors.shape == (62, 4)
    ids, scores = model.recommend(7, N=62)
    listed = json.loads(shown)["recommendations"][0]["items"]
    assert [item["item"] - 1 for item in listed] == ids.tolist() and {60, 61} <= set(ids.tolist())
    with pytest.raises(ValueError, match="expected a list"):
        model.add_items({"film": ([1], [2.0])})
    with pytest.raises(ValueError, match="has 2 users and 1 ratings"):
        model.add_items([([1, 2], [3.0])])


def test_new_items_by_label():
    names = [("ann", "tea"), ("bob", "milk"), ("ann", "milk"), ("cid", "tea"), ("bob", "tea")]
    x = polyad.tensor(names, [5.0, 1.0, 2.0, 4.0, 3.0])
    model = polyad.Recommender(2, epochs=5).fit(x)
    ids = model.add_items({"juice": (["ann", "cid"], [5.0, 4.0])})
    assert model.item_labels[ids[0]] == "juice" and "juice" in [model.item_labels[i] for i in model.recommend("bob", N=3)[0]]


@pytest.mark.parametrize("options", [{}, {"implicit": True}, {"lists": "ratings"}, {"bias": False, "lists": "ratings"}])
def test_partial_fit_users_is_the_fold_in_of_the_program(ratings, program, tmp_path, options):
    words = {"implicit": ["--implicit"], "lists": ["--lists", "ratings"], "bias": ["--no-bias"]}
    chosen = [word for name in options for word in words[name]]
    program("complete", ratings, "-r", 4, "--epochs", 4, "-t", 1, "--out", tmp_path / "model", "-q", *chosen)
    rated = [([3, 1, 7], [5.0, 4.0, 1.5]), ([2, 50], [3.0, 4.5])]
    (tmp_path / "new.tsv").write_text("".join(f"{user}\t{item + 1}\t{rating}\n" for user, (items, values) in
                                              enumerate(rated) for item, rating in zip(items, values)))
    found = json.loads(program("recommend", tmp_path / "model", "--new-users", tmp_path / "new.tsv", "--top", 6, "-q", "--json", "-"))
    model = polyad.Recommender.load(tmp_path / "model")
    before = model.user_factors.copy()
    assert model.partial_fit_users([5, 200], rated) is model
    ids, scores = model.recommend([5, 200], N=6)
    theirs = [[item["item"] - 1 for item in user["items"]] for user in found["recommendations"]]
    assert ids.tolist() == theirs
    their_scores = [[item["rating"] for item in user["items"]] for user in found["recommendations"]]
    if options.get("lists") == "ratings" and options.get("bias", True):  # the model keeps biases in single precision
        assert np.allclose(scores, their_scores, rtol=1e-7, atol=0)
    else:
        assert scores.tolist() == their_scores
    assert model.shape == (201, 60)
    assert np.array_equal(np.delete(model.user_factors, [5, 200], axis=0), np.delete(before, 5, axis=0))
    model.save(tmp_path / "updated")
    again = polyad.Recommender.load(tmp_path / "updated")
    assert np.array_equal(again.recommend([5, 200], N=6)[0], ids)


def test_partial_fit_users_with_labels_and_matrices(ratings):
    x = polyad.read(ratings)
    labels = [[f"u{i}" for i in range(x.shape[0])], [f"i{i}" for i in range(x.shape[1])]]
    model = polyad.Recommender(4, epochs=3).fit(polyad.from_pieces(x.coords, x.values, x.shape, ["user", "item"], labels))
    rows = np.zeros((2, x.shape[1]))
    rows[0, [1, 5]] = [4, 2]
    rows[1, 3] = 5
    model.partial_fit_users(["u7", "somebody"], rows)
    assert model.user_labels[-1] == "somebody" and model.shape == (201, 60)
    alone, _ = model.recommend(user_items=([1, 5], [4, 2]), N=5)
    assert model.recommend("u7", N=5)[0].tolist() == alone.tolist()
    model.partial_fit_users(7, ([], []))
    assert not model.user_factors[7].any()
    for ids, given in [(["u1", "u1"], [([1], [1.0])] * 2), (["u1"], [([99], [1.0])]), (["u1"], [([1, 1], [1.0, 2.0])]),
                       (["u1", "u2"], [([1], [1.0])]), ([500], [([1], [1.0])])]:
        with pytest.raises(ValueError):
            model.partial_fit_users(ids, given)
    with pytest.raises(ValueError, match="expected one from 0"):
        polyad.Recommender(2, epochs=1).fit(x).partial_fit_users([10**9], [([1], [1.0])])
