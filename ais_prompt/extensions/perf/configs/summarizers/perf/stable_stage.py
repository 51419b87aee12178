"""Performance of the requests that start while all places are taken, as in AISBench."""

summarizer = dict(
    attr='performance',
    calculator=dict(
        type='StablePerfMetricCalculator', stats_list=['Average', 'Min', 'Max', 'Median', 'P75', 'P90', 'P99']
    ),
)
