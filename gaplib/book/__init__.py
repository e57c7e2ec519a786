"""What the book needs beyond the core: notebooks and their parameters, the paper as data, figures, sweeps."""
