"""Performance of the whole load, as in AISBench."""

summarizer = dict(
    attr='performance',
    calculator=dict(
        type='DefaultPerfMetricCalculator', stats_list=['Average', 'Min', 'Max', 'Median', 'P75', 'P90', 'P99']
    ),
)
