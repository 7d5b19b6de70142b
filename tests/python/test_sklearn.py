"""The estimators of polyad.sklearn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import polyad

sklearn = pytest.importorskip("sklearn")

from polyad.sklearn import CP, TensorFeatures  # noqa: E402


def planted(seed: int, shape: tuple[int, ...], rank: int, *, nonneg: bool = True) -> Any:
    rng = np.random.default_rng(seed)
    factors = [rng.random((extent, rank)) if nonneg else rng.normal(size=(extent, rank)) for extent in shape]
    dense = np.zeros(shape)
    for r in range(rank):
        outer = factors[0][:, r]
        for factor in factors[1:]:
            outer = np.multiply.outer(outer, factor[:, r])
        dense += outer
    return dense


def rebuilt(scores: Any, components: Any) -> Any:
    parts = [components] if isinstance(components, np.ndarray) else components
    letters = "bcdef"[: len(parts)]
    words = "ar," + ",".join("r" + letter for letter in letters) + "->a" + letters
    return np.einsum(words, scores, *parts)


@pytest.mark.parametrize("shape", [(12, 9), (12, 7, 5), (9, 5, 4, 3)])
@pytest.mark.parametrize("nonneg", [False, True])
def test_scores_and_components_make_up_the_samples(shape: tuple[int, ...], nonneg: bool) -> None:
    x = planted(1, shape, 2)
    estimator = CP(2, nonneg=nonneg, max_iter=2000, tol=1e-12, starts=2)
    scores = estimator.fit_transform(x)
    assert scores.shape == (shape[0], 2) and estimator.n_iter_ == estimator.model_.history.iterations
    assert np.abs(rebuilt(scores, estimator.components_) - x).max() < 1e-2
    if nonneg:
        assert scores.min() >= 0
    assert estimator.score(x) == pytest.approx(1, abs=1e-2)
    np.testing.assert_allclose(estimator.transform(x[3:5]), scores[3:5], atol=1e-8)


def test_components_of_matrices_are_an_array_as_those_of_nmf() -> None:
    estimator = CP(2).fit(planted(1, (12, 9), 2))
    assert estimator.components_.shape == (2, 9)
    three = CP(2).fit(planted(1, (12, 9, 4), 2))
    assert [component.shape for component in three.components_] == [(2, 9), (2, 4)]


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_new_samples_are_least_squares(seed: int) -> None:
    estimator = CP(3).fit(planted(seed, (10, 6, 5), 3))
    new = np.random.default_rng(seed + 100).random((4, 6, 5))
    products = rebuilt(np.eye(3), estimator.components_).reshape(3, -1)
    expected = np.linalg.lstsq(products.T, new.reshape(4, -1).T, rcond=None)[0].T
    np.testing.assert_allclose(estimator.transform(new), expected, atol=1e-8)
    error = np.linalg.norm(new.reshape(4, -1) - expected @ products) / np.linalg.norm(new)
    assert estimator.score(new) == pytest.approx(1 - error, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_nonnegative_scores_are_those_of_scipy(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    estimator = CP(3, nonneg=True).fit(planted(seed, (10, 6, 5), 3))
    new = np.random.default_rng(seed + 100).normal(size=(6, 6, 5))
    products = rebuilt(np.eye(3), estimator.components_).reshape(3, -1)
    expected = [optimize.nnls(products.T, row)[0] for row in new.reshape(6, -1)]
    np.testing.assert_allclose(estimator.transform(new), expected, atol=1e-6)


def test_unknown_cells_are_not_zero() -> None:
    x = planted(3, (30, 12, 8), 2)
    rng = np.random.default_rng(5)
    holes = np.where(rng.random(x.shape) < 0.4, np.nan, x)
    estimator = CP(2, missing=True, reg=0.0, starts=3, max_iter=300, tol=1e-10).fit(holes)
    new = planted(3, (30, 12, 8), 2)[:5]
    with_holes = np.where(rng.random(new.shape) < 0.4, np.nan, new)
    assert np.abs(rebuilt(estimator.transform(with_holes), estimator.components_) - new).max() < 1e-2
    assert estimator.score(with_holes) == pytest.approx(1, abs=1e-2)


def test_sparse_samples_are_taken() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = sparse.random_array((20, 15), density=0.3, rng=np.random.default_rng(1)).tocsr()
    by_sparse, by_dense = CP(3).fit(x), CP(3).fit(x.toarray())
    np.testing.assert_allclose(by_sparse.transform(x), by_dense.transform(x.toarray()), atol=1e-8)


def test_entries_of_one_cell_are_added() -> None:
    x = planted(1, (6, 5, 4), 2)
    estimator = CP(2).fit(x)
    coords = np.stack(np.nonzero(x))
    twice = polyad.tensor((np.hstack([coords, coords]), np.tile(x[tuple(coords)] / 2, 2)))
    np.testing.assert_allclose(estimator.transform(twice), estimator.transform(x), atol=1e-10)
    assert estimator.score(twice) == pytest.approx(estimator.score(x))


def test_parameters_clones_and_pickles() -> None:
    from sklearn.base import clone

    estimator = CP(3, nonneg=True, random_state=7)
    assert (
        estimator.get_params()["n_components"] == 3
        and clone(estimator).get_params() == estimator.get_params()
    )
    x = planted(1, (12, 7, 5), 2)
    fitted = estimator.fit(x)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_allclose(again.transform(x), fitted.transform(x), atol=1e-12)
    assert list(fitted.get_feature_names_out()) == ["cp0", "cp1", "cp2"]
    assert polyad.cp(x, 3, nonneg=True, seed=7).fit == fitted.fit_
    random = CP(2, random_state=np.random.RandomState(3)).fit(x)
    assert random.fit_ == CP(2, random_state=np.random.RandomState(3)).fit(x).fit_


def test_the_number_of_components_can_be_searched() -> None:
    from sklearn.model_selection import GridSearchCV

    x = planted(2, (24, 7, 6), 3, nonneg=False)
    search = GridSearchCV(CP(max_iter=300), {"n_components": [1, 2, 3]}, cv=3).fit(x)
    assert search.best_params_ == {"n_components": 3}


def test_what_does_not_fit_is_explained() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        CP(2).transform(np.ones((2, 2)))
    with pytest.raises(ValueError, match="order 1: expected 2"):
        CP(2).fit(np.ones(3))
    with pytest.raises(ValueError, match=r"expected samples of the shape \(7, 5\)"):
        CP(2).fit(planted(1, (12, 7, 5), 2)).transform(np.ones((2, 7, 6)))


# --- tables of events ---


def events(seed: int, rows: int, users: int) -> dict[str, Any]:
    """Even users read in the morning, odd ones shop in the evening."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, users, rows)
    is_odd = who % 2 == 1
    hour = np.where(is_odd, rng.integers(18, 22, rows), rng.integers(7, 11, rows))
    page = np.where(is_odd, rng.choice(["shop", "cart"], rows), rng.choice(["news", "blog"], rows))
    day = rng.integers(1, 20, rows)
    when = [f"2014-04-{d:02}T{h:02}:15" for d, h in zip(day, hour)]
    return {
        "user": [f"u{n}" for n in who],
        "page": page.tolist(),
        "when": when,
        "odd": is_odd,
        "weight": rng.random(rows),
    }


COLUMNS = ["user", "page", "when:hour-of-day"]


def test_rows_get_the_scores_of_their_entries() -> None:
    table = events(1, 800, 10)
    features = TensorFeatures(COLUMNS, n_components=2).fit(table)
    scores = features.transform(table)
    assert scores.shape == (800, 2) and scores.min() >= 0
    names, by_entry = features.entries(table)
    assert names == sorted({*table["user"]})
    np.testing.assert_array_equal(scores, by_entry[[names.index(user) for user in table["user"]]])
    strongest = scores.argmax(axis=1)
    assert len({*strongest[table["odd"]]}) == 1 and {*strongest[table["odd"]]} != {*strongest[~table["odd"]]}
    assert features.components_["page"].shape == (2, 4) and features.labels_["page"] == [
        "blog",
        "cart",
        "news",
        "shop",
    ]
    assert list(features.get_feature_names_out()) == ["tensorfeatures0", "tensorfeatures1"]


def test_scores_of_the_table_of_fit_are_those_of_the_model() -> None:
    table = events(2, 600, 8)
    features = TensorFeatures(COLUMNS, n_components=2, values="weight", max_iter=500, tol=1e-12).fit(table)
    _, scores = features.entries(table)
    expected = features.model_.factors[0] * features.model_.weights
    np.testing.assert_allclose(scores, expected, atol=1e-3 * expected.max())


def test_new_entries_get_scores_and_new_names_are_left_out() -> None:
    features = TensorFeatures(COLUMNS, n_components=2).fit(events(1, 800, 10))
    new = {
        "user": ["x", "x", "y"],
        "page": ["news", "never seen", "cart"],
        "when": ["2015-01-01T08:00"] * 2 + ["2015-01-02T19:30"],
    }
    with pytest.warns(UserWarning, match="1 of 3 rows have names that the table of fit did not have"):
        scores = features.transform(new)
    assert scores.shape == (3, 2) and (scores[0] == scores[1]).all()
    assert scores[0].argmax() != scores[2].argmax()
    silent = {name: column[:1] for name, column in {**new, "page": ["never seen"]}.items()}
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        assert features.transform(silent).tolist() == [[0, 0]]


def test_scores_of_another_column() -> None:
    table = events(1, 800, 10)
    features = TensorFeatures(COLUMNS, mode="page", n_components=2).fit(table)
    names, scores = features.entries(table)
    assert names == ["blog", "cart", "news", "shop"]
    assert scores.argmax(axis=1)[0] == scores.argmax(axis=1)[2] != scores.argmax(axis=1)[1]
    with pytest.raises(
        ValueError, match="mode='town': expected one of columns, which are 'user', 'page', 'when'"
    ):
        TensorFeatures(COLUMNS, mode="town").fit(table)
    with pytest.raises(ValueError, match="order 1: expected 2"):
        TensorFeatures(["user"]).fit(table)


def test_features_stand_in_a_pipeline_and_give_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = pandas.DataFrame(events(1, 800, 10))
    pipeline = make_pipeline(TensorFeatures(COLUMNS, n_components=2), StandardScaler(), LogisticRegression())
    pipeline.fit(table, table["odd"])
    other = pandas.DataFrame(events(7, 300, 6))
    assert pipeline.score(other, other["odd"]) == 1.0
    shown = TensorFeatures(COLUMNS, n_components=2).set_output(transform="pandas").fit(table).transform(table)
    assert list(shown.columns) == ["tensorfeatures0", "tensorfeatures1"] and len(shown) == 800
