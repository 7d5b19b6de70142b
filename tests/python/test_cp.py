"""CP decomposition: the numbers of the program, and what the model and its callbacks do."""

from __future__ import annotations

import gc
import html
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
import xml.etree.ElementTree

import numpy as np
import polyad
import pytest


def dense(model: polyad.CPModel) -> np.ndarray:
    letters = "abcdefgh"[: model.ndim]
    return np.einsum("z," + ",".join(f"{letter}z" for letter in letters) + "->" + letters, model.weights, *model.factors)


def assert_same(a: polyad.CPModel, b: polyad.CPModel) -> None:
    assert np.array_equal(a.weights, b.weights)
    assert all(np.array_equal(x, y) for x, y in zip(a.factors, b.factors, strict=True))


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({}, []),
        ({"nonneg": True, "max_iter": 9, "seed": 6}, ["--nonneg", "--iters", 9, "--seed", 6]),
        ({"nonneg": ["package", 0], "tol": 0, "max_iter": 4}, ["--nonneg=1,2", "--tol", 0, "--iters", 4]),
        ({"method": "opt", "max_iter": 5, "init": "normal"}, ["--method", "opt", "--iters", 5, "--init", "normal"]),
        ({"dtype": "float32", "format": "coo", "max_iter": 4}, ["--precision", "single", "--format", "coo", "--iters", 4]),
        ({"device": "cpu", "max_iter": 4}, ["--device", "cpu", "--iters", 4]),
        ({"starts": 3, "max_iter": 3, "init": "uniform"}, ["--starts", 3, "--iters", 3, "--init", "uniform"]),
        ({"missing": True, "test": 0.2, "reg": 0.01, "max_iter": 3}, ["--missing", "--test", 0.2, "--reg", 0.01, "--iters", 3]),
        ({"implicit": True, "alpha": 2, "shrink": 3, "max_iter": 3}, ["--implicit", "--alpha", 2, "--shrink", 3, "--iters", 3]),
        ({"mode_order": [3, 1, 0, 2], "max_iter": 3}, ["--mode-order", "4,2,1,3", "--iters", 3]),
    ],
)
def test_same_bits_as_the_program(debian, program, tmp_path, keywords, words):
    program("cpd", debian, "-r", 5, "-t", 2, "--out", tmp_path / "model.npz", "-q", *words)
    theirs = polyad.CPModel.load(tmp_path / "model.npz")
    ours = polyad.cp(polyad.read(debian), 5, threads=2, **keywords)
    assert_same(ours, theirs)


def test_the_model_is_the_pair_of_tensorly(make_tensor):
    x = make_tensor(1)
    model = polyad.cp(x, 3)
    weights, factors = model
    assert weights.shape == (3,) and [factor.shape for factor in factors] == [(9, 3), (7, 3), (5, 3)]
    whole = np.zeros(x.shape)
    np.add.at(whole, x.coords, x.values)
    assert model.fit == pytest.approx(1 - np.linalg.norm(whole - dense(model)) / np.linalg.norm(whole), abs=1e-9)
    assert model.rank == 3 and model.shape == x.shape and model.history.iterations == len(model.history.fits)
    assert model.info["rank"] == 3 and model.info["fit"] == pytest.approx(model.fit)


def test_factors_are_not_copied_and_outlive_the_model(make_tensor):
    model = polyad.cp(make_tensor(2), 2)
    assert model.factors[0] is model.factors[0] and model.factors[0].base is not None
    factors = model.factors
    kept = [factor.copy() for factor in factors]
    del model
    gc.collect()
    assert all(np.array_equal(a, b) for a, b in zip(factors, kept))


def test_callback_sees_iterations_and_stops(make_tensor):
    seen = []
    model = polyad.cp(make_tensor(3), 3, max_iter=30, tol=0, callback=lambda it: (seen.append(it), it.iteration < 4)[1])
    assert [it.iteration for it in seen] == [1, 2, 3, 4]
    assert model.stop == "callback" and model.history.iterations == 4
    assert np.array_equal(model.history.fits, [it.fit for it in seen])
    assert polyad.cp(make_tensor(3), 3, tol=0, callback=lambda it: np.bool_(False)).history.iterations == 1
    quiet = polyad.cp(make_tensor(3), 3, max_iter=5, tol=0, callback=lambda it: None)
    assert quiet.stop == "iterations" and quiet.history.iterations == 5


def test_exceptions_of_callbacks_propagate(make_tensor):
    class Own(Exception):
        pass

    def fail(it):
        if it.iteration == 3:
            raise Own("enough")

    for _ in range(20):
        with pytest.raises(Own, match="enough"):
            polyad.cp(make_tensor(4), 2, tol=0, callback=fail)


def test_ctrl_c_returns_the_model_so_far(make_tensor):
    def interrupt(it):
        if it.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(UserWarning, match="interrupted"):
        model = polyad.cp(make_tensor(5), 2, max_iter=10**6, tol=0, callback=interrupt)
    assert model.stop == "interrupted" and model.history.iterations in (3, 4)


def test_ctrl_c_from_outside_without_a_callback():
    script = """
import os, signal, threading, numpy as np, polyad, warnings
warnings.simplefilter("ignore")
random = np.random.default_rng(1)
x = polyad.from_pieces([random.integers(0, 40, 5000) for _ in range(3)], random.normal(size=5000), (40, 40, 40))
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
model = polyad.cp(x, 4, max_iter=2**31 - 1, tol=0)
print(model.stop)
"""
    result = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=600,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert result.stdout == "interrupted\n", result.stderr


def test_other_threads_run_meanwhile(make_tensor):
    counted = []

    def count():
        while not done.is_set():
            counted.append(len(counted))

    done = threading.Event()
    counter = threading.Thread(target=count)
    counter.start()
    try:
        polyad.cp(make_tensor(6, (40, 30, 20), 5000), 8, max_iter=200, tol=0)
    finally:
        done.set()
        counter.join()
    assert len(counted) > 10


def test_several_threads_decompose_at_once(make_tensor):
    x = make_tensor(7, (20, 15, 10), 1000)
    expected = polyad.cp(x, 3, threads=1)
    found: list[polyad.CPModel] = []
    workers = [threading.Thread(target=lambda: found.append(polyad.cp(x, 3, threads=1))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    for model in found:
        assert_same(model, expected)


def test_threads_by_context_and_by_argument(make_tensor):
    x = make_tensor(8)
    with polyad.threads(2):
        assert polyad.cp(x, 2).info["threads"] == 2
        assert polyad.cp(x, 2, threads=1).info["threads"] == 1
        with polyad.threads(1):
            assert polyad.cp(x, 2).info["threads"] == 1


def test_components_have_labels(make_tensor):
    model = polyad.cp(make_tensor(9, labelled=True), 2)
    column = np.abs(model.factors[1][:, 0])
    (label, value), *others = model[0].top("mode1", 3)
    assert label == f"1-{column.argmax()}" and abs(value) == column.max() and len(others) == 2
    rows = model.components(top=2)
    assert len(rows) == 2 * 3 * 2 and {row["mode"] for row in rows} == {"mode0", "mode1", "mode2"}
    assert "0-" in repr(model[-1]) and "mode1" in repr(rows)
    unlabelled = polyad.cp(make_tensor(9), 2)
    assert isinstance(unlabelled[0].top(0, 1)[0][0], int)
    with pytest.raises(IndexError):
        model[2]
    with pytest.raises(polyad.Error, match="mode9"):
        model[0].top("mode9")


def test_predictions_in_every_form(make_tensor):
    x = make_tensor(10, labelled=True)
    model = polyad.cp(x, 3)
    whole = dense(model)
    expected = whole[x.coords]
    places = np.stack(x.coords, axis=1)
    labels = [tuple(f"{mode}-{i}" for mode, i in enumerate(place)) for place in places]
    for coords in [x, x.coords, places, places.tolist(), labels]:
        assert np.allclose(model.predict(coords), expected, atol=1e-12)
    assert model.predict((1, 2, 3)) == pytest.approx(whole[1, 2, 3])
    assert model.predict(("0-1", 2, "2-3")) == pytest.approx(whole[1, 2, 3])
    for wrong in [[(0, 0)], [(0, 0, 99)], [(0, 0, "nobody")]]:
        with pytest.raises(polyad.Error):
            model.predict(wrong)


def test_residuals(make_tensor):
    x = make_tensor(11, labelled=True)
    model = polyad.cp(x, 2)
    residuals = model.residuals(x)
    expected = x.values - dense(model)[x.coords]
    assert np.allclose(residuals.values, expected, atol=1e-12)
    order = np.argsort(-np.abs(expected))
    largest = residuals.largest(4)
    assert [entry["residual"] for entry in largest] == pytest.approx(expected[order[:4]].tolist())
    assert largest[0]["place"] == tuple(f"{mode}-{column[order[0]]}" for mode, column in enumerate(x.coords))
    assert len(residuals.largest(10**6)) == x.nnz and residuals.largest(0) == []


def test_save_load_and_report(make_tensor, tmp_path):
    model = polyad.cp(make_tensor(12, labelled=True), 3)
    for name in ["folder", "x.ktensor", "x.npz"]:
        model.save(tmp_path / name)
        again = polyad.CPModel.load(tmp_path / name)
        assert_same(again, model)
        assert again.labels == model.labels
    assert polyad.CPModel.load(tmp_path / "folder").fit == model.fit
    with pytest.raises(polyad.Error):
        model.save(tmp_path / "folder", overwrite=False)
    model.report(tmp_path / "page.html")
    assert "0-1" in (tmp_path / "page.html").read_text()


def test_html_for_notebooks(make_tensor, tmp_path):
    model = polyad.cp(make_tensor(12, labelled=True), 3)
    shown = model._repr_html_()
    page = html.unescape(shown.split('srcdoc="')[1].split('"')[0])
    cards = xml.etree.ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>")).iter("article")
    assert len(list(cards)) == 3 and "0-1" in page
    for name in ["folder", "x.ktensor", "x.npz"]:
        model.save(tmp_path / name)
        assert html.unescape(polyad.CPModel.load(tmp_path / name)._repr_html_()).count("<article") == 3


def test_pickle(make_tensor):
    model = polyad.cp(make_tensor(13, labelled=True), 3, callback=lambda it: it.iteration < 3)
    again = pickle.loads(pickle.dumps(model))
    assert_same(again, model)
    assert (again.fit, again.stop, again.labels, again.modes) == (model.fit, model.stop, model.labels, model.modes)
    assert np.array_equal(again.history.fits, model.history.fits)
    x = make_tensor(13)
    partly = polyad.cp(polyad.from_pieces(x.coords, x.values, x.shape, ["a", "b", "c"], [None, list("ABCDEFG"), None]), 2)
    again = pickle.loads(pickle.dumps(partly))
    assert again.modes == ("a", "b", "c") and again.labels == partly.labels


def test_going_on_from_a_model(make_tensor):
    x = make_tensor(14)
    begun = polyad.cp(x, 3, max_iter=5, tol=0)
    further = polyad.cp(x, 3, max_iter=5, tol=0, init=begun)
    assert further.fit >= begun.fit - 1e-12
    assert further.history.fits[0] >= begun.fit - 1e-9


def test_weights_of_cells(make_tensor):
    x = make_tensor(15)
    equal = polyad.cp(x, 2, missing=True, weights=np.full(x.nnz, 3.0))
    assert np.allclose(equal.weights, polyad.cp(x, 2, missing=True).weights, rtol=1e-6)
    strong = np.ones(x.nnz)
    strong[0] = 1000
    weighted = polyad.cp(x, 2, missing=True, weights=strong)
    assert abs(weighted.residuals(x).values[0]) < abs(equal.residuals(x).values[0]) + 1e-9
    with pytest.raises(polyad.Error, match="missing"):
        polyad.cp(x, 2, weights=strong)


def test_biases_are_the_last_components(make_tensor, program, tmp_path):
    x = make_tensor(16)
    model = polyad.cp(x, 2, missing=True, biases=True, max_iter=6, tol=0, threads=1)
    assert model.rank == 2 + 1 + x.ndim  # components, mean, and a bias per mode
    x.save(tmp_path / "x.tns")
    program("cpd", tmp_path / "x.tns", "-r", 2, "--missing", "--biases", "-i", 6, "--tol", 0, "-t", 1, "--out", tmp_path / "m", "-q")
    theirs = polyad.CPModel.load(tmp_path / "m")
    assert np.array_equal(model.weights, theirs.weights)
    assert all(np.array_equal(a, b) for a, b in zip(model.factors, theirs.factors, strict=True))
    with pytest.raises(polyad.Error, match="missing"):
        polyad.cp(x, 2, biases=True)


@pytest.mark.parametrize(
    "keywords, option",
    [
        ({"rank": 0}, "rank"),
        ({"max_iter": -1}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"starts": 0}, "starts"),
        ({"method": "magic"}, None),
        ({"init": "magic"}, None),
        ({"init": 3}, "init"),
        ({"format": "magic"}, None),
        ({"device": "tpu"}, None),
        ({"time_limit": 0}, "time_limit"),
        ({"dtype": "float16"}, "dtype"),
        ({"nonneg": [7]}, "mode"),
        ({"nonneg": "nobody"}, "mode"),
        ({"reg": 0.1}, "reg"),
        ({"progress": "loud"}, "progress"),
        ({"memory": "lots"}, None),
        ({"threads": 10**6}, "threads"),
        ({"method": "opt", "nonneg": True}, "nonneg"),
    ],
)
def test_bad_options_are_named(make_tensor, keywords, option):
    keywords = {"rank": 2, **keywords}
    with pytest.raises(ValueError) as caught:
        polyad.cp(make_tensor(16), **keywords)
    assert isinstance(caught.value, polyad.Error) and caught.value.code == "bad_option"
    if option:
        assert caught.value.option == option


def test_memory_is_refused_before_the_work(make_tensor):
    with pytest.raises(MemoryError, match="does not fit|would need") as caught:
        polyad.cp(make_tensor(17), 4, memory="1MB")
    assert isinstance(caught.value, polyad.Error) and caught.value.code == "resource"


def test_warnings_of_the_library():
    twice = polyad.from_pieces([np.array([0, 0, 1]), np.array([0, 0, 1])], np.ones(3), (2, 2))
    with pytest.warns(UserWarning, match="duplicate") as caught:
        polyad.cp(twice, 1)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            polyad.cp(twice, 1)


def test_nothing_is_printed(make_tensor, capfd):
    polyad.cp(make_tensor(18), 2, max_iter=100, tol=0)
    assert capfd.readouterr() == ("", "")


def test_progress_is_told_to_a_function(make_tensor):
    told = threading.Event()
    states = []

    def show(state):
        states.append((state.phase, str(state)))
        told.set()

    polyad.cp(make_tensor(19), 2, max_iter=3, tol=0, progress=show, callback=lambda it: told.wait(60))
    assert states and all(phase and phase in text for phase, text in states)


def test_progress_is_told_to_bars(make_tensor):
    told = threading.Event()
    phases = []

    class Bar:  # as tqdm.tqdm is
        def __init__(self, total=None, desc=None, unit=None):
            phases.append(desc)

        def update(self, steps):
            told.set()

        def close(self):
            pass

    polyad.cp(make_tensor(19), 2, max_iter=3, tol=0, progress=Bar, callback=lambda it: told.wait(60))
    assert phases and all(phases)


def test_exceptions_of_progress_end_no_run_but_propagate(make_tensor):
    told = threading.Event()
    iterations = []

    def fail(state):
        told.set()
        raise RuntimeError("no")

    def wait(it):
        iterations.append(it.iteration)
        told.wait(60)

    with pytest.raises(RuntimeError, match="no"):
        polyad.cp(make_tensor(19), 2, max_iter=3, tol=0, progress=fail, callback=wait)
    assert iterations == [1, 2, 3]


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_runs_leak_nothing(make_tensor):
    x = make_tensor(20, (60, 50, 40), 5000, labelled=True)

    def work(times):
        for i in range(times):
            model = polyad.cp(x, 8, max_iter=1, callback=lambda it: True, threads=1)
            model.factors, model.info, model.labels, x.values, x.labels
            try:
                polyad.cp(x, 0)
            except polyad.Error:
                pass

    work(100)
    gc.collect()
    before = resident()
    work(500)
    gc.collect()
    assert resident() - before < 8e6


def test_a_run_goes_on_from_its_checkpoint(make_tensor, tmp_path):
    x = make_tensor(3)
    for seed, options in enumerate([{}, {"method": "opt"}, {"missing": True}, {"dtype": "float32"}]):
        place = tmp_path / str(seed)
        given = {"rank": 3, "tol": 0, "threads": 1, "seed": seed, **options}
        whole = polyad.cp(x, max_iter=8, **given)
        begun = polyad.cp(x, max_iter=50, checkpoint=place, callback=lambda it: it.iteration < 3, **given)
        assert begun.stop == "callback" and begun.history.iterations == 3
        polyad.cp(x, max_iter=5, checkpoint=place, every="1it", keep=1, **given)
        assert [file.name for file in place.iterdir() if file.is_dir()] == ["000005"]
        further = polyad.cp(x, max_iter=8, checkpoint=place, **given)
        assert all((a == b).all() for a, b in zip(further.factors, whole.factors))
        assert further.info["checkpoint"]["resumed_iteration"] == 5
        with pytest.raises(ValueError, match="another directory"):
            polyad.cp(make_tensor(4), max_iter=8, checkpoint=place, **given)


def test_time_limit(make_tensor):
    for limit in (0.2, "1s"):
        model = polyad.cp(make_tensor(1), 2, max_iter=10**9, tol=0, time_limit=limit)
        assert model.stop == model.history.stop == "time" and model.history.iterations > 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"every": "2it"}, "every requires checkpoint"),
        ({"keep": 3}, "keep requires checkpoint"),
        ({"checkpoint": "states", "every": "often"}, "every often: expected a time"),
        ({"checkpoint": "states", "keep": 0}, "keep 0: expected 1 or more"),
        ({"max_iter": 1e3}, "max_iter=1000.0: expected a whole number"),
        ({"seed": -1}, "seed=-1: expected a whole number from 0"),
        ({"tol": "small"}, "tol='small': expected a number"),
        ({"time_limit": "soon"}, "time_limit soon: expected a time"),
        ({"time_limit": -1}, "time_limit=-1: expected more than 0 seconds"),
        ({"distribution": "thin"}, "distribution='thin': expected one of auto, coarse, medium, fine"),
        ({"grid": (1, 1)}, "grid 1x1: expected a number for each of the 3 modes"),
        ({"grid": (2, 1, 1)}, "2 processes"),
        ({"partition": [0.5]}, "expected a name, a file, or a part for each"),
        ({"partition": [0, 1]}, "require distribution='fine'"),
    ],
)
def test_options_of_long_and_distributed_runs_are_checked(make_tensor, tmp_path, monkeypatch, options, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=text):
        polyad.cp(make_tensor(1), 2, **options)
    assert not any(tmp_path.iterdir())


def test_a_partition_serves_one_process_too(make_tensor):
    x = make_tensor(1)
    parts = polyad.partition(x, 3, effort="fast", cache=False)
    assert parts.scheme == "fine" and (polyad.cp(x, 2, partition=parts).weights == polyad.cp(x, 2).weights).all()
    with pytest.raises(ValueError, match="the partition is fine"):
        polyad.cp(x, 2, partition=parts, distribution="coarse")
