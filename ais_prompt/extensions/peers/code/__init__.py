"""Run the code of OpenCompass and AISBench: loaders, evaluators and postprocessors, in a worker process."""
