raise RuntimeError('the package was run')
