"""What is written out for speed agrees with what is declared."""

import numpy as np

from pa_env.kernel.layout import (
    INFO,
    OBSERVATIONS,
    SCORES,
    RoundResult,
    Score,
    SummaryBlock,
    SummaryNumber,
    block_columns,
    overall_column,
    round_info,
    shown_columns,
    summary_size,
)


def test_an_info_has_the_columns_that_it_is_named_after() -> None:
    row = np.arange(len(RoundResult) + 2, dtype=np.float64)
    info = round_info(row[None])
    for name in INFO[:-1]:
        assert info[name] == RoundResult[name.upper()]
    assert info["optimal_incentives"].tolist() == row[RoundResult.OPTIMAL :].tolist()
    assert tuple(info) == INFO


def test_the_first_results_are_scores_in_their_order() -> None:
    for name in SCORES[:5]:
        assert RoundResult[name.upper()] == Score[name.upper()]


def test_observations_cover_the_summary_once() -> None:
    k = 4
    columns = [np.arange(summary_size(k))[block_columns(block, k)] for block in SummaryBlock]
    columns += [np.array([overall_column(number, k)]) for number in SummaryNumber]
    assert np.concatenate(columns).tolist() == list(range(summary_size(k)))
    assert shown_columns("summary", k).tolist() == list(range(summary_size(k)))
    assert shown_columns("learning", k).tolist() == list(range(summary_size(k)))
    assert set(OBSERVATIONS) == {"summary", "last", "learning"}
