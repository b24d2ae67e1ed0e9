"""Benchmarks of tasks x principals x seeds: played, kept, summed up and shown.

Inside::

    blocks.py      a block: one principal in one task on some seeds
    plan.py        the blocks of a benchmark
    pool.py        local processes that play blocks
    warm.py        their imports, loaded once
    ray.py         Ray, likewise
    isolation.py   principals played again without a game in their process
    sweep.py       a whole benchmark, by any engine, and its progress
    store.py       the folder of results
    manifest.py    benchmark.json: versions, tasks and principals behind the results
    results.py     results as one table
    statistics.py  intervals, differences to the best, slopes, scores across tasks
    formatting.py  numbers as text
    summaries.py   scores, curves and behaviour of a benchmark's principals
    standings.py   the best principals, how surely; all principals in all tasks; the leaderboard
    submission.py  checks of others' results before they enter a leaderboard
    tables.py      tables for terminals, pages and papers
    figures.py     figures of a task, and heat maps
    page.py        one HTML page
    report.py      the report folder
"""
